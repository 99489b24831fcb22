# --levels: slots by top-down level, which sum at every level, of runs that are simulated whole, by
# regions, by windows and with threads together; where there are none it says so.
. tests/e2e/lib.sh
cd "$scratch" || exit 1

# Divisions, each of what the one before made.
cat >divide.c <<'PROGRAM'
__attribute__((noinline)) unsigned long divide(unsigned long n, unsigned long by) {
    for (int i = 0; i < 20000; i++)
        n = (n | 1ul << 62) / by;
    return n;
}
int main(int argc, char **argv) {
    volatile unsigned long kept = 0;
    for (int i = 0; i < (argc > 1 ? 12 : 1); i++)
        kept += divide((unsigned long)argc, 3);
    return kept == 0 && argv;
}
PROGRAM
cc -O1 -g -static -o divide divide.c || exit 1
cat >levels.py <<'PROGRAM'
import json, sys
def sums(levels):
    """The parts of every level sum to it; returns the sum of the first."""
    for i, level in enumerate(levels):
        parts = []
        for part in levels[i + 1:]:
            if part["depth"] <= level["depth"]:
                break
            if part["depth"] == level["depth"] + 1:
                parts.append(part["slots"])
        assert not parts or sum(parts) == level["slots"], level
    return sum(level["slots"] for level in levels if level["depth"] == 1)
report = json.load(open(sys.argv[1]))
top = report["top_down"]
assert top["slots"] == report["cycles"] * top["dispatch_width"] == sums(top["levels"])
retiring = lambda levels: next(l["slots"] for l in levels if l["name"] == "Retiring")
# Of an estimate both are scaled to whole numbers, slots cell by cell.
uops = report["statistics"]["uops"]
near = 1e-4 * uops if report["regions"] or report["sampling"] else 0
# zen4 keeps a load and its operation as one, but for what is compared exactly.
least = uops / 2 if sys.argv[2] == "other" else uops
assert least - near <= retiring(top["levels"]) <= uops + near, (retiring(top["levels"]), uops)
for row in top["rows"]:
    assert sums(row["levels"]) == row["slots"]
if sys.argv[2] != "loop":
    assert sum(row["slots"] for row in top["rows"]) == top["slots"]
if sys.argv[2] == "other":
    sys.exit()
rows = [row for row in top["rows"] if row["function"] == "divide"]
row = max(rows, key=lambda row: row["slots"])
share = {l["name"]: l["slots"] / row["slots"] for l in row["levels"]}
assert share["Divider"] > 0.8 and share["Core Bound"] >= share["Divider"], share
PROGRAM
apart=(--set core.fuse_loads=no)
sums_by() {
    run sim --levels --by "$1" --top 0 --machine zen4 "${apart[@]}" --json -o "$1.json" -- ./divide 2>why &&
        python3 -S levels.py "$1.json" "$1" || { cat why; return 1; }
}
for by in function line instruction loop; do
    check "levels by $by sum to the slots, and divisions are the divider's" sums_by "$by"
done
images_sum() {
    run sim --levels --by image --top 0 --machine zen4 --json -o image.json -- ./divide 2>why &&
        python3 -S - <<'PROGRAM'
import json
top = json.load(open("image.json"))["top_down"]
assert sum(row["slots"] for row in top["rows"]) == top["slots"] > 0
PROGRAM
}
check "levels by image sum to the slots" images_sum

# The same loop, long enough to be explained by regions of it; threads that are simulated together,
# in full and by regions; processes, sampled by windows.
estimates_sum() {
    kind=$1
    shift
    run explain --no-what-if --levels --top 0 --machine zen4 --json -o est.json "$@" >out 2>why &&
        python3 -S levels.py est.json "$kind" || { cat why; return 1; }
}
by_regions() {
    estimates_sum function "${apart[@]}" --regions-over 100K --regions 5 -- ./divide more &&
        python3 -S -c 'import json; assert json.load(open("est.json"))["regions"]["simulated"] > 1'
}
check "levels by regions sum to the slots of the whole run" by_regions
check "levels of threads together sum to their cycles" \
    estimates_sum other -- "$WORKLOADS/x86_64/queue" uneven 2 100
threads_by_regions() {
    estimates_sum other --regions-over 300K --regions 5 -- "$WORKLOADS/x86_64/queue" uneven 2 200 &&
        python3 -S -c 'import json; assert json.load(open("est.json"))["regions"]["simulated"] > 1'
}
check "so do those of threads by regions" threads_by_regions
check "levels of windows sum to the slots that they stand for" \
    estimates_sum other --systematic --warm 1K -- sh -c './divide more; ls -l / | sort'
listed_regions_sum() {
    run trace -o whole.ctrace -- ./divide more >out 2>why &&
        region_list list.csv x86_64 "./divide more" 1600003 whole.ctrace 0:250000:0.2 600000:850000:0.8 &&
        run sim --regions list.csv --levels --top 0 --machine zen4 "${apart[@]}" --json -o est.json 2>why &&
        python3 -S levels.py est.json function || { cat why; return 1; }
}
check "so do those of the regions of a list" listed_regions_sum

tree_fits() {
    COLUMNS=80 run sim --levels --machine zen4 -o text -- ./divide && grep -q '^ Backend Bound ' text &&
        grep -q '^     Divider ' text && ! grep -q 'cycles by event' text &&
        [ "$(wc -L <text)" -le 80 ]
}
check "the tree is on a page of 80 columns" tree_fits

check "a core in order has no levels" fails_with 125 'a core in order' \
    run sim --levels --machine alpha21164 -- ./divide
check "nor has unlimited bandwidth" fails_with 125 'without limits of bandwidth' \
    run sim --levels --ideal bw -- ./divide
check "levels are not of paths" fails_with 125 'by function, line' run sim --levels --by path -- ./divide
check "nor beside a tree of calls" fails_with 125 'takes the place of' run sim --levels --tree -- ./divide

finish
