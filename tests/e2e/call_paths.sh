# sim and explain --tree, --callers, --folded: who called whom in a simulation. Programs of several
# kinds keep a log of their own calls, with which every chain of callers must agree.
. tests/e2e/lib.sh
root=$PWD

guest() { # NAME COMPILER SOURCE
    "$2" -w -g -O1 -fno-inline -no-pie -finstrument-functions -fno-optimize-sibling-calls \
        -I tests/guests -o "$scratch/$1" "tests/guests/$3" 2>"$scratch/why"
}
as_logged() { # NAME
    run sim --tree --json -o "$scratch/$1.json" -- "$scratch/$1" 2 >"$scratch/$1.log" &&
        python3 -S tests/e2e/call_log.py "$scratch/$1" "$scratch/$1.log" "$scratch/$1.json"
}
for program in c:gcc:c coroutines:gcc:c signals:gcc:c cpp:g++:cc; do
    IFS=: read -r name compiler suffix <<<"$program"
    what="the calls of calls_$name are those that it logs"
    if skip_without "$compiler" "$what"; then
        continue
    fi
    guest "$name" "$compiler" "calls_$name.$suffix" || cat "$scratch/why"
    check "$what" as_logged "$name"
done

# Whatever a signal comes behind, what its handler puts in is called from there, and what was called
# before is as before.
cat >"$scratch/pushed.py" <<'PROGRAM'
import json, sys
tree = json.load(open(sys.argv[1]))["tree"]
name = lambda frame: frame.get("procedure")
own = {"main", "spin", "leaf", "other", "handler", "pushed", "work"}
callers, calls = {}, {}
for frame in tree:
    if name(frame) in own:
        callers.setdefault(name(frame), set()).add(name(tree[frame["parent"]]))
        calls[name(frame)] = calls.get(name(frame), 0) + frame["calls"]
print(callers, calls)
assert callers["leaf"] == callers["other"] == {"spin"} and callers["spin"] == {"main"}
assert callers["work"] == {"pushed"} and callers["pushed"] & {"spin", "leaf", "other"}
assert "handler" not in callers["pushed"] and "pushed" not in callers["handler"]
assert calls["pushed"] == calls["work"] == calls["handler"] == calls["spin"] == 40
assert calls["leaf"] == calls["other"] > 40
PROGRAM
pushed_calls() {
    cc -O1 -o "$scratch/pushed" tests/guests/pushed_calls.c &&
        run sim --tree --json -o "$scratch/pushed.json" -- "$scratch/pushed" &&
        python3 -S "$scratch/pushed.py" "$scratch/pushed.json"
}
check "calls that a signal's handler puts in are of what it interrupted" pushed_calls

# The log's checker sees a difference: another run has more calls.
other_log() {
    "$scratch/c" 3 >"$scratch/other.log"
    ! python3 -S tests/e2e/call_log.py "$scratch/c" "$scratch/other.log" "$scratch/c.json"
}
check "another log is not taken for it" other_log

cat >"$scratch/sums.py" <<'PROGRAM'
import json, sys
report = json.load(open(sys.argv[1]))
tree = report["tree"]
own = lambda key: sum(frame[key] for frame in tree)
assert abs(own("self") - report["cycles"]) < 1e-6 * report["cycles"], "cycles"
assert own("self_instructions") == report["instructions"], "instructions"
assert abs(tree[0]["total"] - report["cycles"]) < 1e-6 * report["cycles"], "total"
events = {}
for number, frame in enumerate(tree):
    assert number == 0 or frame["parent"] < number
    assert abs(sum(part["cycles"] for part in frame["stack"]) - frame["self"]) < 1e-6 * report["cycles"]
    for part in frame["stack"]:
        events[part["events"]] = events.get(part["events"], 0) + part["cycles"]
for name, cycles in report["stack"].items():
    assert abs(events.get(name, 0) - cycles) < 1, name
PROGRAM
check "the tree's cycles, instructions and events sum to the run's" \
    python3 -S "$scratch/sums.py" "$scratch/c.json"

cd "$scratch" || exit 1
run trace -o c.ctrace -- ./c 20 >/dev/null 2>&1
check "explain shows the tree" run explain --no-what-if --tree --least 5 -o tree.txt c.ctrace
check "main is below the C library's start" \
    bash -c "grep -A1 __libc_start_call_main tree.txt | tail -n 1 | grep -qE ' main +c '"
check "functions called have branches" grep -qE '[├└] fib +c ' tree.txt
check "each line has its CPI and cycle stack" grep -qE ' main +c +[0-9.]+ +Base [0-9.]+ ' tree.txt
check "on a narrow page there is less" env COLUMNS=60 "$CULPRIT" explain --no-what-if --tree -o narrow.txt c.ctrace
check "and it fits" test "$(grep -E '%' narrow.txt | wc -L)" -le 200

run sim --callers=compare -o callers.txt c.ctrace
check "the callers of a function" grep -A6 -E '^ *[0-9.]+ % +compare ' callers.txt
check "its outermost caller is the last" bash -c "grep -nE 'compare|qsort|main ' callers.txt | sort -t: -n -c"
run sim --callers --top 4 -o most.txt c.ctrace
check "callers of those that took most" grep -qE '^ *[0-9.]+ % +leaf ' most.txt

run sim --by path --top 3 -o paths.txt c.ctrace
check "chains of callers as rows" \
    grep -qE '^ *[0-9.]+ % +[0-9.]+  .*main > .*msort_with_tmp.* > compare' paths.txt
check "as many as were asked for" test "$(grep -c ' > ' paths.txt)" = 3

# A long run by regions of it: each begins with the calls that had not returned there.
cat >regions.py <<'PROGRAM'
import json, sys
def chains(report):
    paths, found = [()], {}
    for frame in report["tree"][1:]:
        paths.append(paths[frame["parent"]] + (frame["procedure"],))
        found[paths[-1]] = frame["instructions"] / report["instructions"]
    return found
part, whole = (json.load(open(path)) for path in sys.argv[1:3])
assert part["instructions_simulated"] < part["instructions_executed"] == whole["instructions_simulated"]
one, all = chains(part), chains(whole)
assert set(one) <= set(all), set(one) - set(all)
for chain, share in all.items():
    assert abs(one.get(chain, 0) - share) < float(sys.argv[3]), (chain, share, one.get(chain, 0))
PROGRAM
by_regions() { # PROGRAM ROUNDS OFF OPTION...
    local program=$1 rounds=$2 off=$3
    shift 3
    run explain --no-what-if --regions-over 1M --regions 12 "$@" --tree --json -o "$program.part" -- "./$program" "$rounds" >/dev/null &&
        run explain --no-what-if --exact --tree --json -o "$program.whole" -- "./$program" "$rounds" >/dev/null &&
        python3 -S regions.py "$program.part" "$program.whole" "$off" && python3 -S sums.py "$program.part"
}
cc -w -g -O1 -fno-inline -I "$root/tests/guests" -o turns "$root/tests/guests/calls_coroutines.c"
check "regions of coroutines begin with their callers, in a second run" by_regions turns 500 0.01 --keep 500k
if ! skip_without g++ "regions with exceptions begin with theirs, from what was kept"; then
    g++ -w -g -O1 -fno-inline -I "$root/tests/guests" -o throws "$root/tests/guests/calls_cpp.cc"
    check "regions with exceptions begin with theirs, from what was kept" by_regions throws 10 0.1
fi

cat >inlined.c <<'PROGRAM'
#define ALWAYS static inline __attribute__((always_inline))
#define APART __attribute__((noinline, noclone))
static volatile unsigned sink;
ALWAYS void innermost(unsigned n) {
    unsigned i = 0;
    do
        sink += i;
    while (++i < n);
}
ALWAYS void inner(unsigned n) {
    sink++;
    innermost(n);
    sink--;
}
APART void leaf(void) {
    sink++;
}
ALWAYS void twice(void) {
    leaf();
    sink++;
    leaf();
}
APART void outer(unsigned n) {
    inner(n);
    twice();
}
int main(void) {
    for (int i = 0; i < 20; i++)
        outer(40);
    twice();
    return 0;
}
PROGRAM
cc -O1 -g -o inlined inlined.c || exit 1
cat >inlined.py <<'PROGRAM'
import json, sys
report = json.load(open(sys.argv[1]))
paths, found = [()], {}
for frame in report["tree"][1:]:
    paths.append(paths[frame["parent"]] + (frame["procedure"],))
    found[paths[-1][-4:]] = frame
frames = {chain[chain.index("main"):]: frame for chain, frame in found.items() if "main" in chain}
assert ("main", "outer", "inner", "innermost") in frames, sorted(frames)
assert ("main", "outer", "twice", "leaf") in frames and ("main", "twice", "leaf") in frames
# innermost: 800 rounds of as many instructions each
assert frames["main", "outer", "inner", "innermost"]["self_instructions"] % 800 <= 40
assert frames["main", "outer", "twice", "leaf"]["calls"] == 40
assert frames["main", "twice", "leaf"]["calls"] == 2
assert frames["main", "outer", "inner"]["self_instructions"] > 0
assert abs(sum(frame["self"] for frame in report["tree"]) - report["cycles"]) < 1e-6 * report["cycles"]
PROGRAM
run sim --tree --inlined --json -o inlined.json -- ./inlined 2>why || cat why
check "inlined functions have frames, with their own instructions" python3 -S inlined.py inlined.json
run sim --tree --json -o plain.json -- ./inlined 2>why
check "only when they are asked for" bash -c "! grep -q innermost plain.json"

cat >same_tree.py <<'PROGRAM'
import json, sys
def chains(path):
    tree, paths, totals = json.load(open(path))["tree"], [()], {}
    for frame in tree[1:]:
        paths.append(paths[frame["parent"]] + (frame["procedure"],))
        if frame["total"] >= 1:
            totals[paths[-1]] = frame["total"]
        for part in frame["stack"]:
            if part["cycles"] >= 1:
                totals[paths[-1], part["events"]] = part["cycles"]
    return totals
one, other = chains(sys.argv[1]), chains(sys.argv[2])
assert len(one) > 100 and set(one) == set(other), set(one) ^ set(other)
for chain, total in one.items():
    assert abs(other[chain] - total) <= 1e-6 * total + 0.01, (chain, total, other[chain])
PROGRAM
run sim --tree --json --save --store profiles.db -o sim.json c.ctrace
run top --store profiles.db --tree --json -o top.json
check "a saved run keeps its tree, with the events" python3 -S same_tree.py sim.json top.json
run epochs export --store profiles.db --format folded saved.folded >/dev/null
check "other tools get it, too" grep -qE '^c;_start;.*;main;.*;fib;leaf [0-9]+$' saved.folded

run explain --no-what-if --regions-over 1M --regions 12 --tree --json --save --store regions.db -o sim.json -- ./turns 500 >/dev/null
run top --store regions.db --tree --json -o top.json
check "of a run by regions, too" python3 -S same_tree.py sim.json top.json
run sim --folded c.folded --json -o plain.json c.ctrace
check "their whole cycles sum to the run's" test "$(awk '{ sum += $NF } END { print sum }' c.folded)" = \
    "$(python3 -S -c 'import json; print(json.load(open("plain.json"))["cycles"])')"
run sim --folded c.folded -o plain.txt c.ctrace
check "folded stacks by event" grep -qE '(^|;)main;.*;fib;leaf;\[Base\] [0-9]+$' c.folded
full_disk() {
    fails_with 1 "^culprit: --$1 /dev/full: cannot write: No space left on device$" run sim "--$1" /dev/full -o kept.txt c.ctrace &&
        grep -q 'what this rests on' kept.txt && rm kept.txt
}
check "folded stacks that cannot be written are told, and the report is there" full_disk folded
check "so is a page" full_disk html
check "beside the tables" grep -q ' function ' plain.txt

run sim --callers=nosuch -o nosuch.txt c.ctrace
check "a procedure that is not there" grep -q -- "- --callers nosuch: no stack has such a procedure" nosuch.txt
check "does not take the report away" grep -q ' function ' nosuch.txt
check "not both at once" fails_with 2 "one at a time" run sim --tree --callers c.ctrace
run sim --tree --by line -o both.txt c.ctrace
check "a tree, and the table of --by" grep -q '  share    CPI  function' both.txt
check "not the same chains twice" fails_with 2 "the same chains as of --tree, as rows" \
    run sim --tree --by path c.ctrace
run sim --python -o none.txt c.ctrace
check "Python where none was run" grep -q "no Python was run" none.txt
check "--least without frames" fails_with 2 "it is about --tree and --callers" run sim --least 5 c.ctrace
check "not of lists of regions alone" fails_with 2 "give the trace of the whole run" run sim --tree --regions nowhere.csv
finish
