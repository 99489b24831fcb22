# A week of a machine that runs 500 images: what the daemon collects of a mixture of programs in
# RECORD seconds (120) is replayed as 1008 merges, ten minutes apart, of 630 million samples, a tenth
# of two processors' time at 5200 Hz. The store stays under 15 MB (DCPI's took 13), a merge takes
# well under a second, and top answers in under one.
. tests/e2e/lib.sh
. tests/live.sh
record=${RECORD:-120} merges=${MERGES:-1008} samples=${SAMPLES:-630000000}
week=${CULPRIT_BUILD#"$PWD"/}/bench/store_week

if [ -n "$live" ]; then
    skip "a week in the store" "$live"
    finish
fi

# Many programs with what they load, again and again.
mixture() {
    local end=$((SECONDS + record))
    tar -C /usr -cf "$scratch/tar" include 2>/dev/null
    while [ $SECONDS -lt $end ]; do
        gcc -O2 -Isrc -D_GNU_SOURCE -c -o "$scratch/o" src/graph/evaluate.c
        head -c 20000000 "$scratch/tar" | gzip -9 | gzip -d
        head -c 3000000 "$scratch/tar" | xz | xz -d
        head -c 5000000 "$scratch/tar" | bzip2 | bzip2 -d
        python3 -c 'import json; print(len(json.dumps([{"a": i} for i in range(300000)])))'
        perl -e 'my %h; $h{$_ % 1000} .= $_ for 1 .. 1000000; print join "", sort values %h'
        sqlite3 :memory: 'with recursive c(x) as (select 1 union all select x + 1 from c where
            x < 500000) select sum(x), count(distinct x % 777) from c'
        for page in docs/man/*.1; do groff -mdoc -Tutf8 "$page"; done
        find /usr -name '*.h' | sort | md5sum
        objdump -d /bin/bash
        nm -D /lib/*/libc.so.6 | sort
        mawk '{ n += NF } END { print n }' "$scratch/tar"
        grep -c struct "$scratch/tar"
        tar -tf "$scratch/tar" | diff - /dev/null
        for _ in $(seq 200); do /bin/true; done
    done >/dev/null 2>&1
    true
}

recorded() {
    start_daemon --merge 1min && mixture && flush && stop_daemon && run epochs && run top
}
check "collects for $record s" recorded

make_week() {
    make -s "$week" && "$week" "$CULPRIT_STORE" "$scratch/week.db" 500 "$merges" "$samples" 1 "$1" \
        >"$scratch/week.json" && cat "$scratch/week.json"
}
told() {
    python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$scratch/week.json" "$1"
}
under() {
    awk -v is="$1" -v most="$2" 'BEGIN { print is; exit !(is > 0 && is < most) }'
}
seconds() {
    local start=$EPOCHREALTIME
    "$@" >/dev/null && awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }'
}

check "replays it as a week" make_week 0
check "under 15 MB" under "$(told bytes)" 15e6
check "a merge takes under half a second" under "$(told merge_seconds_mean)" 0.5
check "the whole is good" run epochs --store "$scratch/week.db" check
for by in procedure image process; do
    run top --store "$scratch/week.db" --by $by >/dev/null # files are read once
    check "top --by $by answers in under a second" \
        under "$(seconds run top --store "$scratch/week.db" --by $by)" 1
done
check "epochs does" under "$(seconds run epochs --store "$scratch/week.db")" 1
finish
