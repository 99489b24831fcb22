# The daemon over a mixture of work, DURATION seconds (600) at 5200 samples per second and processor:
# unknown samples under 0.1 %, none dropped, samples of each process within 1 % of its processor
# time, under 64 MB resident; and 10,000 processes in a minute.
. tests/e2e/lib.sh
. tests/live.sh
duration=${DURATION:-600}

if [ -n "$live" ]; then
    skip "a mixture of work" "$live"
    finish
fi

mixture() {
    mkdir "$scratch/mix"
    start_daemon --drain 30s --merge 1min &&
        python3 tests/live_mix.py "$duration" "$scratch/mix" >"$scratch/mix.json" || return
    status resident_bytes >"$scratch/resident"
    flush && run daemon --status && "$CULPRIT" top --by process --top 0 --json >"$scratch/top.json"
}
check "collects over $duration s of mixed work" mixture

account() {
    python3 - "$scratch/mix.json" "$scratch/top.json" "${1:-1}" <<'PYTHON'
import json, sys
mix, top, limit = json.load(open(sys.argv[1])), json.load(open(sys.argv[2])), float(sys.argv[3])
counted = {}
for row in top["rows"]:
    name = "mix-sh" if row["process"] == "mix-true" else row["process"]
    counted[name] = counted.get(name, 0) + next(iter(row["values"].values()))
worst = {"mix-sh": 0}
for name, seconds in mix["seconds"].items():
    off = 100 * (counted.get(name, 0) / (seconds * 5200) - 1)
    group = name if name == "mix-sh" else "others"
    worst[group] = max(worst.get(group, 0), abs(off))
    print(f"{name:12} {mix['processes'][name]:6} processes, {seconds:8.2f} s, "
          f"{counted.get(name, 0):9} samples: {off:+.2f} %")
# A timer's interrupt that comes while a process begins, ends or is switched, with interrupts off, is
# taken in the next process: of processes that live for a millisecond some 1.5 % go elsewhere.
assert worst["others"] <= limit and worst["mix-sh"] <= 2 * limit, worst
PYTHON
}
check "samples are within 1 % of processor time, of a storm of short processes within 2 %" account 1
check "none were dropped" test "$(status dropped)" = 0
check "under 0.1 % are unknown" awk -v unknown="$(status unknown)" -v all="$(status attributed)" \
    'BEGIN { print unknown, all; exit !(all > 0 && unknown < 0.001 * all) }'
check "the daemon takes under 64 MB" awk -v bytes="$(cat "$scratch/resident")" \
    'BEGIN { print bytes; exit !(bytes > 0 && bytes < 64e6) }'

many_processes() {
    short=$scratch/$(named many-true)
    cp /bin/true "$short"
    local start=$SECONDS started=0
    while [ $started -lt 10000 ] && [ $((SECONDS - start)) -lt 120 ]; do
        for _ in $(seq 100); do "$short"; done
        started=$((started + 100))
    done
    flush || return
    echo "$started processes in $((SECONDS - start)) s"
    run daemon --status
    [ "$started" = 10000 ] && [ "$(status dropped)" = 0 ] && [ "$(samples many-true)" -gt 1000 ]
}
check "10,000 short processes in a row" many_processes
check "stopped, it has written everything" stop_daemon
finish
