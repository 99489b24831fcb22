# Daemons that send what they collect to a server of PostgreSQL. Samples are counted end to end.
. tests/e2e/lib.sh
. tests/live.sh
. tests/postgres.sh
trap '[ "$daemon" = 0 ] || kill -KILL "$daemon" 2>/dev/null; stop_server immediate >/dev/null 2>&1; rm -rf "$scratch"' EXIT
if [ -n "$no_server$live" ]; then
    skip "a daemon sends its epochs" "${no_server:-$live}"
    finish
fi

options="--no-symbols --rate 500"
store=$CULPRIT_STORE
samples_of_file() {
    sqlite3 "$store" 'SELECT count(*), (SELECT sum(total) FROM profile) FROM session WHERE "end" <> 0'
}
samples_of_server() {
    sql 'SELECT count(*), (SELECT sum(total) FROM culprit.profile) FROM culprit.session'
}
all_there() {
    local file there
    file=$(samples_of_file) there=$(samples_of_server)
    [ "$file" = "$there" ] || { echo "file $file, server $there"; return 1; }
}
# An epoch with something in it.
epoch() {
    local until=$((SECONDS + 1))
    while ((SECONDS <= until)); do :; done
    "$CULPRIT" epochs new
}
# Within a minute, however busy the machine.
soon() {
    for _ in $(seq 600); do
        "$@" && return
        sleep 0.1
    done
    echo "not: $*"
    cat "$scratch/daemon.log"
    return 1
}
waits() {
    [ "$(status push_waiting)" = "$1" ]
}
sent() {
    [ "$(status push_sent)" = "$1" ]
}
told() {
    grep -qE "$1" "$scratch/daemon.log"
}

# Of each, no daemon is left over.
check_daemon() {
    check "$@"
    [ "$daemon" = 0 ] || stop_daemon KILL
}

check "a server starts" make_server
sends() {
    new_fleet && start_daemon $options --push "$(address owner)" && epoch && epoch && soon sent 2 &&
        run daemon --status >"$scratch/status" && grep '^push ' "$scratch/status" && fits_100 "$scratch/status" &&
        run daemon --stop && daemon=0 && sql 'SELECT id, epoch FROM culprit.session' && all_there
}
check_daemon "epochs that have ended are sent, the last one when it stops" sends
same() {
    same_on_server "$store" top --epoch all --json && same_on_server "$store" top --epoch 2 --by process &&
        same_on_server "$store" variance --epoch 1 --epoch 2 && same_on_server "$store" epochs
}
check "what is read there is the same" same

away() {
    stop_server >/dev/null
    start_daemon $options --push "$(address owner)" && epoch && epoch && soon told 'cannot send: .*epochs wait' &&
        waits 2 && [ -n "$(status push_problem)" ] && epoch && waits 3 && start_server && soon waits 0 &&
        soon told 'again; all that waited is there' && [ -z "$(status push_problem)" ] && all_there &&
        [ "$(grep -c 'cannot send' "$scratch/daemon.log")" -le 2 ]
}
check "while the server is away epochs wait, and are sent when it is back" away
restarted() {
    stop_server immediate >/dev/null
    epoch && start_server && epoch && soon waits 0 && all_there
}
check "a server that dies and starts again has everything once" restarted
killed() {
    stop_server >/dev/null
    epoch && epoch && waits 2 && stop_daemon KILL
    start_server && start_daemon $options --push "$(address owner)" && soon sent 2 && stop_daemon && all_there
}
check_daemon "what waited when the daemon was killed is sent by the next one" killed
newer() {
    sql 'UPDATE culprit.label SET version = 9' && start_daemon $options --push "$(address owner)" && epoch &&
        soon told 'cannot send: .*is a store of version 9' && waits 1 &&
        sql 'UPDATE culprit.label SET version = 1' && soon waits 0 && stop_daemon && all_there
}
check_daemon "a server of another version is refused, and sent to when it is not any more" newer
refused() {
    sql "CREATE ROLE other LOGIN IN ROLE culprit_host" && start_daemon $options --push "$(address other)" && epoch &&
        soon told "cannot send: .*refused: epochs of host" && waits 1 &&
        sql "INSERT INTO culprit.writer VALUES('other', '$(uname -n)')" && soon waits 0 && stop_daemon && all_there
}
check_daemon "a login of another host is refused" refused

# Pruning spares what waits, and the queue is bounded.
spared() {
    stop_server >/dev/null
    rm -f "$store"*
    start_daemon $options --epoch 1h --keep 1s --push "$(address owner)" && epoch && epoch && epoch && sleep 1.1 && run daemon --flush &&
        waits 3 && [ "$(sqlite3 "$store" 'SELECT count(*) FROM session WHERE "end" <> 0')" = 3 ] && start_server && new_fleet &&
        soon waits 0 && [ "$(sql 'SELECT count(*) FROM culprit.session')" = 3 ] && sleep 1.1 && run daemon --flush &&
        [ "$(sqlite3 "$store" 'SELECT count(*) FROM session WHERE "end" <> 0')" = 0 ] && stop_daemon
}
check_daemon "pruning spares what waits" spared
given_up() {
    local bytes
    stop_server >/dev/null
    rm -f "$store"*
    start_daemon $options --queue 1 --push "$(address owner)" && epoch && soon told 'found no room among' &&
        epoch && waits 0 && [ "$(status push_given_up)" = 2 ] && run daemon --status | grep -q '^ *2 found no room' && start_server &&
        stop_daemon && [ "$(sqlite3 "$store" 'SELECT count(*) FROM sent WHERE given_up')" = 3 ]
}
check_daemon "what finds no room among those that wait is given up, and counted" given_up
no_password() {
    start_daemon $options --push "postgresql://owner:secret@/fleet?host=$server" && epoch && run daemon --status >"$scratch/status" &&
        run daemon --status --json >>"$scratch/status" && stop_daemon && ! grep secret "$scratch/status" "$scratch/daemon.log"
}
check_daemon "no password is shown" no_password
finish
