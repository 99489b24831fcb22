# A hundred captures of a program with threads, each with another window: every one ends, with the
# program's own output and exit status, and simulates no more than it was asked for.
. tests/e2e/lib.sh

threads=$WORKLOADS/x86_64/threads
expected=$("$threads" 20000 6)

# one OPTIONS...
one() {
    run sim --json --output "$scratch/report" "$@" -- "$threads" 20000 6 >"$scratch/output" || return
    [ "$(cat "$scratch/output")" = "$expected" ] || { echo "the output differs"; return 1; }
    python3 - "$scratch/report" <<'PYTHON'
import json, sys
report = json.load(open(sys.argv[1]))
assert sum(report["commit_states"].values()) == report["cycles"], "states do not sum to cycles"
assert sum(thread["cycles"] for thread in report["threads"]) == report["cycles"], "threads do not"
PYTHON
}

many() {
    local i
    for ((i = 0; i < 20; i++)); do
        one "$@" || { echo "round $i"; return 1; }
    done
}

skipped() {
    local i
    for ((i = 0; i < 20; i++)); do
        one --skip $((i * 100000 + 1)) --limit $((i * 20000 + 10000)) || { echo "round $i"; return 1; }
    done
}

check "twenty whole captures" many
check "twenty windows" skipped
check "twenty of one thread" many --thread 3
check "twenty from a function" many --from work --limit 500K
check "twenty short ones" many --limit 100K

finish
