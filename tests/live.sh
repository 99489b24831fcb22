# Sourced, after tests/e2e/lib.sh, by the tests of the daemon. `$live` is why it cannot run here, or
# empty. A daemon of a test has a run folder and a store of its own.

export CULPRIT_RUN=$scratch/run CULPRIT_STORE=$scratch/profiles.db
daemon=0
trap '[ "$daemon" = 0 ] || kill -KILL "$daemon" 2>/dev/null; umount "$scratch"/mount 2>/dev/null
rm -rf "$scratch"' EXIT

# start_daemon OPTIONS...: returns when it collects; what it says goes to $scratch/daemon.log. As
# `$as`, a command in front of it, has it.
as=
start_daemon() {
    $as "$CULPRIT" daemon "$@" >"$scratch/daemon.log" 2>&1 &
    daemon=$!
    for _ in $(seq 6000); do
        "$CULPRIT" daemon --status >/dev/null 2>&1 && return
        kill -0 "$daemon" 2>/dev/null || break
        sleep 0.05
    done
    daemon=0
    cat "$scratch/daemon.log"
    return 1
}

# stop_daemon [SIGNAL]: returns its exit status.
stop_daemon() {
    local process=$daemon
    daemon=0
    kill "-${1:-TERM}" "$process"
    wait "$process" 2>/dev/null
}

# status KEY...: numbers or texts of the running daemon's status, in one line.
status() {
    local said key values=()
    # One that merges, on a machine that has much else to do, answers late.
    until said=$("$CULPRIT" daemon --status --json); do
        [ "$daemon" != 0 ] && kill -0 "$daemon" || return
    done
    for key; do # without another program: it is asked for often
        [[ $said =~ \"$key\":\ (\"[^\"]*\"|[^,\}$'\n']*) ]] || { echo "no $key in $said" >&2; return 1; }
        values+=("${BASH_REMATCH[1]//\"/}")
    done
    echo "${values[@]}"
}

# flush: returns when everything counted so far is in the store; fails when it cannot be.
flush() {
    local before after
    before=$(status merges failed_merges)
    "$CULPRIT" daemon --flush || return
    for _ in $(seq 6000); do
        after=$(status merges failed_merges)
        [ "${after% *}" = "${before% *}" ] || return 0
        [ "$after" = "$before" ] || return 1
        sleep 0.05
    done
    return 1
}

# named NAME: the name that a process of this test has: the daemon counts the whole machine, and
# another test, or another checkout's, may run the same.
named() {
    printf '%.8s%s' "$1" $$
}

# samples NAME [EPOCHS]: of processes so named in the store.
samples() {
    "$CULPRIT" top --by process --epoch "${2:-last}" --top 0 --json |
        python3 -S -c 'import json, sys
print(round(sum(next(iter(row["values"].values())) for row in json.load(sys.stdin)["rows"]
                if row["process"] == sys.argv[1])))' "$(named "$1")"
}

live=
if start_daemon --rate 100 --no-symbols; then
    stop_daemon
else
    live=$(head -n 1 "$scratch/daemon.log")
fi
