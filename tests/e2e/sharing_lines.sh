# Lines that move between the cores of threads: true or false sharing, whose data they are, and what
# a remedy saves, on programs with known answers.
. tests/e2e/lib.sh

# shared NAME PROGRAM ARGUMENTS...: captures it, and $scratch/NAME.json is what culprit tells.
shared() {
    local name=$1
    shift
    run trace --output "$scratch/$name.ctrace" -- "$WORKLOADS/x86_64/$1" "${@:2}" \
        >/dev/null 2>"$scratch/$name.said" &&
        run sharing --cores 4 --json "$scratch/$name.ctrace" >"$scratch/$name.json"
}

# about NAME PYTHON: true of its report d, whose costliest line is l.
about() {
    python3 -S - "$scratch/$1.json" "$2" <<'PYTHON'
import json, sys
d = json.load(open(sys.argv[1]))
l = d["lines"][0]
objects = [o["name"] for o in l["objects"]]
waited = l["waited_cycles"] / d["waited_cycles"]
places = {p["thread"]: p for p in l["places"] if p["moves"]}
best = max([r["saving"] for r in d["remedies"]], default=0)
ok = eval(f"({sys.argv[2]})")
if not ok:
    print(l["objects"], l["sharing"], l["false_share"], waited, d["remedies"])
sys.exit(not ok)
PYTHON
}

# within_a_third NAME FIXED: the padding simulated saves what the fixed program saves.
within_a_third() {
    python3 -S - "$scratch/$1.json" "$scratch/$2.json" <<'PYTHON'
import json, sys
broken, fixed = (json.load(open(path)) for path in sys.argv[1:])
gain = 1 - fixed["elapsed_cycles"] / broken["elapsed_cycles"]
padding = broken["remedies"][0]
print(gain, padding)
assert padding["remedy"] == "padding" and padding["address"] is None
assert gain > 0.05 and abs(padding["saving"] - gain) <= gain / 3
PYTHON
}

if ! has x86_64-workloads; then
    skip "lines that move between cores" "no x86_64-workloads here"
    finish
    exit
fi

check "counters in one line are captured" shared together counters together 4 80000
check "it is false sharing, of the array by its name" about together \
    'l["sharing"] == "false" and objects == ["near_counters"] and waited > 0.9'
check "each thread has its own bytes" about together \
    'all(p["written_bytes"] == [[8 * t, 8 * t + 7]] for t, p in places.items() if t and p["writes"])'
check "and a place in the source" about together \
    'any(p["file"] and p["line"] for p in l["places"])'
check "counters apart are captured" shared apart counters apart 4 80000
check "nothing is noticed of them" about apart 'd["remedies"] == [] and d["waited_cycles"] < 20000'

check "padding is predicted to save what it saves" within_a_third together apart

check "one counter is captured" shared shared counters shared 4 16000
check "it is true sharing, which copies end" about shared \
    'l["sharing"] == "true" and objects == ["shared_counter"] and waited > 0.9 and best > 0.3 and
     all(r["remedy"] == "private copies" for r in d["remedies"])'
check "private counters are captured" shared private counters private 4 50000
check "nothing is noticed of them" about private 'd["remedies"] == []'

check "structures in an array are captured" shared static tallies static 4 25000
check "they share lines falsely" about static 'l["sharing"] == "false" and objects == ["tallies"]'
check "padded structures are captured" shared padded tallies static-padded 4 25000
check "padding is predicted to save what it saves" within_a_third static padded
check "structures of malloc() are captured" shared heap tallies heap 4 25000
check "they have no name, but an address" about heap \
    'l["sharing"] == "false" and l["objects"][0]["kind"] == "memory" and objects == [None]'

check "a lock of readers is captured" shared readers readmostly rwlock 3 3000
check "its word is shared truly" about readers 'l["sharing"] == "true" and objects == ["readers_lock"]'

check "a table behind a lock is captured" shared mutex readmostly mutex 3 2000
check "the lock is shared truly" about mutex \
    'l["sharing"] == "true" and l["objects"][0]["name"].endswith("lock")'

told() {
    run sharing --cores 4 --alone 0 "$scratch/together.ctrace" >"$scratch/text" &&
        grep -q '^near_counters (512 B, counters): false sharing, ' "$scratch/text" &&
        grep -qE '[0-9] %.* padding: [0-9]+ lines? of false sharing' "$scratch/text" &&
        grep -q 'none of them waited for noticeably' "$scratch/text" && fits_100 "$scratch/text" || return 1
    COLUMNS=60 run sharing --cores 4 --alone 0 "$scratch/together.ctrace" >"$scratch/narrow" &&
        ! sed '/^next: /,$d' "$scratch/narrow" | grep -E '.{61}'
}
check "the text says so" told

live() {
    run sharing --cores 2 -- "$WORKLOADS/x86_64/counters" together 2 5000 >"$scratch/out" 2>"$scratch/text" &&
        grep -q '^counters ' "$scratch/out" && grep -q '^near_counters .*: false sharing' "$scratch/text"
}
check "a command keeps its output, and is told of" live

alone() {
    run sharing -- sh -c 'exit 3' >"$scratch/out" 2>"$scratch/text"
    [ $? = 3 ] && grep -q '^It has one thread: no line moves between cores.$' "$scratch/text"
}
check "a program without threads is told of in one line" alone

of_a_cut_trace() {
    local text=$scratch/cut
    run trace --output "$scratch/alone.ctrace" -- "$WORKLOADS/x86_64/chase" 100 >/dev/null 2>&1 &&
        head -c $(($(stat -c %s "$scratch/alone.ctrace") * 3 / 4)) "$scratch/alone.ctrace" >"$scratch/cut.ctrace" &&
        run sharing "$scratch/cut.ctrace" >"$text" &&
        grep -q ' (partial)$' "$text" && grep -q '^It has one thread' "$text" &&
        grep -q '^ - the trace is cut short after [1-9]' "$text" || { cat "$text"; return 1; }
}
check "that a trace of one thread is cut short is told" of_a_cut_trace

run trace --no-addresses --output "$scratch/bare.ctrace" -- "$WORKLOADS/x86_64/counters" together 2 100 \
    >/dev/null 2>&1
several() {
    run sharing --follow --cores 2 --json -- sh -c \
        "$WORKLOADS/x86_64/counters together 2 5000; $WORKLOADS/x86_64/counters shared 2 3000" \
        >"$scratch/several.json" 2>"$scratch/text" &&
        about several '{o["name"] for line in d["lines"][:2] for o in line["objects"]} ==
            {"near_counters", "shared_counter"}'
}
check "of several programs each has its own data" several

check "a trace without addresses is refused" fails_with 1 'no memory addresses' \
    run sharing "$scratch/bare.ctrace"
check "a part of a trace is refused" fails_with 1 'only a part of the run' \
    run sharing --limit 1000 "$scratch/together.ctrace"
check "nothing to do is a mistake" fails_with 2 'which program' run sharing

finish
