# Epochs on their way to a server of PostgreSQL, and what may happen to it. Samples are counted end to end.
. tests/e2e/lib.sh
. tests/postgres.sh
if [ -n "$no_server" ]; then
    skip "epochs are sent" "$no_server"
    finish
fi
export CULPRIT_RUN=$scratch/run
make_store() {
    rm -f "$1" "$1"-wal "$1"-shm && python3 -S -B tests/fleet/make_store.py "$@"
}
# push STORE [LOGIN]: all of its epochs.
push() {
    run epochs export --push "$(address "${2:-owner}")" --epoch all --store "$1"
}
# What stores hold: epochs, samples of profiles, samples of trees, unknown and dropped.
count_files() {
    for store; do
        sqlite3 "$store" 'SELECT (SELECT count(*) FROM session), (SELECT coalesce(sum(total), 0) FROM profile),
            (SELECT coalesce(sum(total), 0) FROM calls), (SELECT coalesce(sum(unknown), 0) FROM session),
            (SELECT coalesce(sum(dropped), 0) FROM session)'
    done | awk -F '|' '{ for (i = 1; i <= 5; i++) sum[i] += $i }
        END { printf "%d|%d|%d|%d|%d\n", sum[1], sum[2], sum[3], sum[4], sum[5] }'
}
count_server() {
    sql 'SELECT (SELECT count(*) FROM culprit.session), (SELECT coalesce(sum(total), 0) FROM culprit.profile),
        (SELECT coalesce(sum(total), 0) FROM culprit.calls), (SELECT coalesce(sum(unknown), 0) FROM culprit.session),
        (SELECT coalesce(sum(dropped), 0) FROM culprit.session)'
}
# all_there STORE...: the server has what they have, no sample less and none more.
all_there() {
    local files there
    files=$(count_files "$@") there=$(count_server)
    [ "$files" = "$there" ] || { echo "files $files, server $there"; return 1; }
    run epochs check --store "$(address owner)"
}

check "a server starts" make_server

# ---- every verb that reads
one=$scratch/one.db
sent() {
    new_fleet && make_store "$one" epochs=4 && push "$one" && all_there "$one"
}
check "epochs are sent" sent
for arguments in "top --epoch all" "top --epoch 1 --json" "top --epoch all --by image" "top --epoch all --by process --json" \
    "top --epoch all --by cgroup" "top --epoch 2 --tree" "top --epoch 2 --callers" "top --epoch all --by build" \
    "top --epoch all --image image0" "top --since 2026-01-01T01:00 --json" "top --host web1 --epoch 1..2" \
    "variance --epoch 1 --epoch 2 --epoch 3" "variance --epoch 1 --epoch 2 --json" "diff --epoch 1 --epoch 4" \
    "diff --epoch 1 --epoch 4 --json" "diff --epoch 1 --epoch 4 --by image" \
    "epochs" "epochs --json" "epochs --epoch 2..3 --wide"; do
    # shellcheck disable=SC2086
    check "culprit $arguments says the same" same_on_server "$one" $arguments
done
check "code that is gone is gone" same_status_on_server 1 "$one" annotate --epoch all procedure1
exported() {
    for format in folded csv pprof; do
        run epochs export --format $format --epoch all --store "$one" "$scratch/file.$format" >/dev/null &&
            run epochs export --format $format --epoch all --store "$(address owner)" "$scratch/server.$format" >/dev/null &&
            cmp "$scratch/file.$format" "$scratch/server.$format" || return
    done
}
check "exports are the same" exported
copied() {
    run epochs import "$(address owner)" --store "$scratch/copy.db" && [ "$(count_files "$scratch/copy.db")" = "$(count_files "$one")" ] &&
        run epochs check --store "$scratch/copy.db"
}
check "a file made of the server holds the same" copied

# ---- names
hostile=$scratch/hostile.db
names() {
    new_fleet && make_store "$hostile" hostile=1 images=30 processes=30 rows=3 epochs=2 && push "$hostile" &&
        all_there "$hostile" &&
        [ "$(sql "SELECT string_agg(encode(path, 'hex'), ',' ORDER BY path) FROM culprit.image")" = \
            "$(sqlite3 "$hostile" "SELECT group_concat(path, ',') FROM
                (SELECT lower(hex(CAST(path AS BLOB))) AS path FROM image ORDER BY CAST(image.path AS BLOB))")" ]
}
check "SQL in names of images and commands is a name" names
for arguments in "top --epoch all --top 0 --json" "top --epoch all --by process --top 0" "top --epoch 1 --tree --json" \
    "top --epoch all --by cgroup --json"; do
    # shellcheck disable=SC2086
    check "culprit $arguments says the same of them" same_on_server "$hostile" $arguments
done

# ---- many at once, with images in common
together() {
    local senders=() stores=() failed=0
    new_fleet || return
    for i in 1 2 3 4 5 6; do
        make_store "$scratch/host$i.db" host="host$i" from=$i images=40 epochs=3 || return
        stores+=("$scratch/host$i.db")
    done
    for i in 1 2 3 4 5 6 1 2; do # and two of them twice
        push "$scratch/host$i.db" >"$scratch/push.$i.${#senders[@]}" 2>&1 &
        senders+=($!)
    done
    for sender in "${senders[@]}"; do wait "$sender" || failed=1; done
    cat "$scratch"/push.*
    [ $failed = 0 ] && all_there "${stores[@]}" &&
        # 20 with a build id, once; 20 without, for each host
        [ "$(sql 'SELECT count(*), count(*) FILTER (WHERE build_id <> '"''"') FROM culprit.image')" = "140|20" ] &&
        [ "$(sql 'SELECT count(DISTINCT code) FROM culprit.symbols')" = 140 ]
}
check "hosts that send at once, some twice, neither lock each other out nor double anything" together
symbols_of_all() {
    # Of the first image, what each host alone knew is named.
    run top --epoch all --store "$(address owner)" --image image0 --top 0 --json >"$scratch/named.json" &&
        ! sql "SELECT 1 FROM culprit.symbols WHERE length(data) > 4000 LIMIT 1" | grep -q 1 &&
        [ "$(sql "SELECT count(*) FROM culprit.symbols WHERE code = (SELECT code FROM culprit.image WHERE path = '/usr/bin/image0')")" -ge 6 ]
}
check "symbols of one build come from all hosts" symbols_of_all

# ---- the server goes away
# Held up in the middle of an epoch, by a lock on the table that it copies into. Its partition is there.
held_up() {
    sql 'SELECT culprit.day_of(1767225600000000000)' >/dev/null || return
    psql -X -h "$server" -U owner -d fleet -qAt -c 'BEGIN; LOCK TABLE culprit.profile IN SHARE MODE; SELECT pg_sleep(60)' \
        >"$scratch/.lock" 2>&1 &
    until [ "$(sql "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'BEGIN; LOCK%' AND wait_event = 'PgSleep'")" = 1 ]; do
        sleep 0.05
    done
}
in_copy() {
    [ "$(sql "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'COPY profile%' AND wait_event_type = 'Lock'")" = 1 ]
}
killed_in_copy() {
    new_fleet && make_store "$one" epochs=3 images=200 rows=50 && held_up || return
    push "$one" >"$scratch/push" 2>"$scratch/push.err" &
    local sender=$!
    until_true $sender in_copy || return
    stop_server immediate >/dev/null
    ! wait $sender && cat "$scratch/push.err" && [ "$(wc -l <"$scratch/push.err")" = 1 ] &&
        grep -q "host=$server" "$scratch/push.err" && start_server &&
        [ "$(count_server)" = "0|0|0|0|0" ] && push "$one" && all_there "$one"
}
check "killed in the middle of an epoch, it has nothing of it, and then all" killed_in_copy
sender_killed() {
    new_fleet && make_store "$one" epochs=3 images=200 rows=50 && held_up || return
    push "$one" >"$scratch/push" 2>&1 &
    local sender=$!
    until_true $sender in_copy || return
    pkill -KILL -P $sender 2>/dev/null
    kill -KILL $sender
    wait $sender 2>/dev/null
    sql "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'BEGIN; LOCK%'" >/dev/null
    push "$one" && all_there "$one"
}
check "the sender killed in the middle of an epoch, the next one sends it" sender_killed
# What was committed without the sender's knowledge.
forgotten() {
    sqlite3 "$one" 'DELETE FROM sent; DELETE FROM sent_symbols' && push "$one" | grep -q '3 were there already' && all_there "$one"
}
check "what it does not know to be there is not doubled" forgotten

# A tablespace on a small file system.
full() {
    mkdir "$scratch/small" && mount -t tmpfs -o size=24m none "$scratch/small" 2>"$scratch/.mount" || return 77
    mounted=1
    chown "$server_user" "$scratch/small"
    sql "CREATE TABLESPACE small LOCATION '$scratch/small'" && database=postgres sql 'DROP DATABASE fleet' &&
        database=postgres sql 'CREATE DATABASE fleet TABLESPACE small' && run epochs init --store "$(address owner)" &&
        make_store "$one" epochs=12 images=300 rows=1500 trees=0 processes=2 || return
    fails_with 1 "host=$server: cannot write: the server's disk is full" push "$one" &&
        mount -o remount,size=200m "$scratch/small" && [ "$(count_server | cut -d '|' -f 1)" -lt 12 ] && push "$one" &&
        all_there "$one"
}
mounted=
if [ "$(id -u)" = 0 ] && mkdir "$scratch/try" && mount -t tmpfs none "$scratch/try" 2>/dev/null; then
    umount "$scratch/try"
    check "its disk full, it has whole epochs, and the others when there is room" full
    database=postgres sql 'DROP DATABASE IF EXISTS fleet' && database=postgres sql 'DROP TABLESPACE IF EXISTS small'
    [ -z "$mounted" ] || umount "$scratch/small"
else
    skip "its disk full, it has whole epochs, and the others when there is room" "no small file system can be mounted"
fi

# ---- who sends
same_name() {
    new_fleet && make_store "$one" host=web epochs=2 && make_store "$scratch/two.db" host=web epochs=3 from=1 &&
        push "$one" || return
    if unshare -m true 2>/dev/null && [ -e /etc/machine-id ]; then # it is another machine
        echo 0123456789abcdef0123456789abcdef >"$scratch/machine-id"
        unshare -m sh -c "mount --bind '$scratch/machine-id' /etc/machine-id && exec '$CULPRIT' epochs export \
            --push '$(address owner)' --epoch all --store '$scratch/two.db'" >"$scratch/.said" &&
            grep -q '^host name web is in use by 1 other machine as well' "$scratch/.said" || return
    else
        push "$scratch/two.db" || return
    fi
    all_there "$one" "$scratch/two.db" && [ "$(sql 'SELECT count(DISTINCT identity) FROM culprit.session')" = 2 ]
}
check "two machines of one name are told apart" same_name
cloned() {
    new_fleet && make_store "$one" epochs=2 && push "$one" && cp "$one" "$scratch/clone.db" || return
    # What each collects from then on has the same number.
    for store in "$one" "$scratch/clone.db"; do
        sqlite3 "$store" "INSERT INTO session SELECT 3, kind, name, host, kernel, processor, weight, start + $RANDOM + 10000000000000,
            \"end\" + 10000000100000, unknown, dropped, saved FROM session WHERE id = 2" || return
    done
    push "$one" && push "$scratch/clone.db" && [ "$(count_server | cut -d '|' -f 1)" = 4 ]
}
check "a store that was cloned loses nothing" cloned

# What was sent and what waits are not made one; what waits is not pruned.
waiting() {
    new_fleet && make_store "$one" host="$(uname -n)" epochs=3 && run epochs export --push "$(address owner)" --epoch 1 --store "$one" &&
        fails_with 1 'some of these epochs were sent to a server' run epochs merge 1..2 --store "$one" &&
        run epochs prune --older 1d --store "$one" | grep -q '^2 epochs wait to be sent, and stay' &&
        [ "$(count_files "$one" | cut -d '|' -f 1)" = 2 ] && run epochs export --push "$(address owner)" --store "$one" &&
        [ "$(count_server | cut -d '|' -f 1)" = 3 ] && run epochs prune --older 1d --store "$one" &&
        [ "$(count_files "$one" | cut -d '|' -f 1)" = 0 ]
}
check "what waits is neither merged into what was sent nor pruned" waiting

# ---- clocks
clocks() {
    local now
    now=$(date +%s)
    new_fleet && make_store "$one" first=$((now + 3600)) epochs=2 && make_store "$scratch/two.db" host=late first=$((now - 7200)) epochs=2 &&
        make_store "$scratch/three.db" host=lost first=1000 epochs=2 && make_store "$scratch/four.db" host=ahead first=$((now + 40 * 86400)) &&
        for store in "$one" "$scratch/two.db" "$scratch/three.db" "$scratch/four.db"; do push "$store" || return; done &&
        all_there "$one" "$scratch/two.db" "$scratch/three.db" "$scratch/four.db" &&
        [ "$(sql "SELECT count(DISTINCT day) FROM culprit.session WHERE host IN ('lost', 'ahead')")" = 1 ] &&
        [ "$(run epochs --store "$(address owner)" | grep -c ' daemon$')" = 8 ]
}
check "clocks an hour off, or years, lose nothing" clocks
back_in_time() {
    # The clock is set back between two epochs: numbers go on, starts do not.
    new_fleet && make_store "$one" epochs=3 && sqlite3 "$one" "UPDATE session SET start = start - 7200000000000 WHERE id = 3" &&
        push "$one" && all_there "$one" && [ "$(sql "SELECT string_agg(epoch::text, ' ' ORDER BY id) FROM culprit.session")" = "1 2 3" ]
}
check "a clock that is set back loses nothing" back_in_time
finish
