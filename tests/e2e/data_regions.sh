# explain of data objects and lines of Python by regions: each region begins with what was allocated
# and called before it, so that objects, lines and callers are those of the whole run.
. tests/e2e/lib.sh
gcc -O1 -g -fno-inline -o "$scratch/objects" tests/guests/data_objects.c
cp tests/guests/data_objects.c "$scratch"
cd "$scratch" || exit 1

cat >compare.py <<'PROGRAM'
"""Every row of 5 % of the whole run's misses is in the explanation, within a tenth of all misses;
units sum to the stack's, exactly."""
import json, sys
explained, whole = [json.load(open(name)) for name in sys.argv[1:3]]
assert explained["regions"]["simulated"] >= 2, explained["regions"]
OF_MEMORY = ("DR-L1", "DR-TLB", "DR-SQ", "FL-MO", "ST-L1", "ST-TLB", "ST-LLC", "ST-FW", "ST-CO")
misses = sum(cycles for events, cycles in explained["stack"].items()
             if any(event in OF_MEMORY for event in events.split("+")))
data = explained["data"]
assert abs(misses * explained["units_per_cycle"] - data["units"]) < 1, (misses, data["units"])
assert sum(row["units"] for row in data["objects"]) == data["units"]
def shares(report):
    rows = report["data"]["objects"]
    return {(row["kind"], row["name"]): row["units"] / report["data"]["units"] for row in rows}
one, other = shares(explained), shares(whole)
assert one and list(one)[0] == list(other)[0], (list(one)[:3], list(other)[:3])
for row, share in other.items():
    assert share < 0.05 or abs(one.get(row, 0) - share) < 0.1, (row, share, one.get(row))
assert data["unknown_units"] < 0.02 * data["units"], data["unknown_units"]
notes = " ".join(explained["notes"])
assert "windows" not in notes and "systematic" not in notes, notes
PROGRAM
by_regions="--regions-over 200k --regions 8 --top 500 --json"
alike() { # NAME COMMAND...
    local name=$1
    shift
    run explain --no-what-if $by_regions --data -o "$name.explained" -- "$@" >/dev/null &&
        run sim --data --top 500 --json -o "$name.whole" -- "$@" >/dev/null &&
        python3 -S compare.py "$name.explained" "$name.whole"
}
for kernel in list hash grown; do
    check "by regions the misses of $kernel belong to the same objects" alike "$kernel" ./objects "$kernel"
done
in_second_run() {
    run explain --no-what-if $by_regions --keep 0 --data -o second -- ./objects tree >tree.out &&
        run sim --data --top 500 --json -o tree.whole -- ./objects tree >/dev/null &&
        python3 -S compare.py second tree.whole
}
check "and those that a second run is captured for" in_second_run
with_calls() {
    run explain --no-what-if $by_regions --data --tree -o with -- ./objects list >/dev/null &&
        python3 -S compare.py with list.whole &&
        python3 -S -c 'import json; assert "nodes" in json.dumps(json.load(open("with"))["tree"])'
}
check "together with who called whom" with_calls
by_object() {
    run explain --no-what-if --regions-over 200k --regions 8 --wide --by object -- ./objects list 2>&1 >/dev/null |
        grep -q 'heap *make_list_node data_objects.c:35 < nodes < main'
}
check "as rows" by_object

# Regions of a list, cut out of the trace of the whole run.
run trace --data -o list.ctrace -- ./objects list >/dev/null 2>&1
run bbv --size 200k -o list.bb list.ctrace >/dev/null 2>&1
run regions --max-clusters 6 -o list.csv list.bb >/dev/null 2>&1
of_list() {
    run sim --regions list.csv --data --tree --top 500 --json -o cut list.ctrace &&
        python3 -S compare.py cut list.whole &&
        python3 -S -c '
import json
report = json.load(open("cut"))
text = json.dumps(report["tree"])
assert "nodes" in text and "_start" in text
assert abs(sum(frame["total"] for frame in report["tree"]
               if frame["parent"] is None) / report["cycles"] - 1) < 0.02'
}
check "regions of a list that are cut out of the trace of the run have its objects and callers" of_list
no_past() {
    fails_with 2 'what was called and allocated before them' run sim --regions list.csv --tree &&
        run trace --limit 500k -o short.ctrace -- ./objects list >/dev/null 2>&1 &&
        fails_with 1 'its regions were chosen from a run of' run sim --regions list.csv --tree short.ctrace
}
check "not without it, or from another run's" no_past

cat >work.py <<'PROGRAM'
def hot(n):
    total = 0
    for i in range(n):
        total += i * i % 7 + i * 3 % 5
    return total


def words(n):
    found = {}
    for i in range(n):
        found[str(i % 97)] = i
    return found


def deep(n):
    return deep(n - 1) if n else hot(6000)


deep(20)
words(3000)
hot(3000)
PROGRAM
python=$(python3 -S -c 'import sys; print(sys.executable)')
# What the interpreter does before it has a program is most of such a run, and no line's.
run trace --repeatable --from Py_RunMain -o python.ctrace -- "$python" -I -S work.py >/dev/null 2>&1
lines_alike() {
    run explain --no-what-if $by_regions --regions 16 --python --callers=hot --folded folded.txt -o python.explained python.ctrace &&
        run sim --python --top 300 --json -o python.whole python.ctrace &&
        python3 -S -c '
import json
explained, whole = [json.load(open("python." + name)) for name in ("explained", "whole")]
assert explained["regions"]["simulated"] >= 4
def shares(report):
    return {(row["function"], row["line"]): row["cycles"] / report["cycles"]
            for row in report["python"]["lines"] if row["file"].endswith("work.py")}
one, other = shares(explained), shares(whole)
for row, share in other.items():
    assert share < 0.03 or abs(one.get(row, 0) - share) < 0.1, (row, share, one.get(row))
assert max(one, key=one.get) == max(other, key=other.get) == ("hot", 4), (one, other)'
}
check "lines of Python are those of the whole run" lines_alike
# Recursion is folded.
check "and what called them, from before their region" grep -q "<module>;deep;hot;" folded.txt

cat >threads.c <<'PROGRAM'
#include <pthread.h>
#include <stdlib.h>
static volatile unsigned long sink;
__attribute__((noinline)) static unsigned char *make(void) { return calloc(1, 1 << 18); }
static void *look_up(void *block) {
    unsigned found = 0;
    for (unsigned i = 0; i < 70000; i++)
        found = ((unsigned char *)block)[((i + found) * 2654435761u >> 8) % (1 << 18)];
    sink = found;
    return NULL;
}
int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, look_up, make());
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
PROGRAM
gcc -O1 -g -fno-inline -pthread -o threads threads.c
threads_alike() {
    run explain --no-what-if --regions-over 180k --regions 6 --top 500 --json --data --tree -o threads.explained -- ./threads &&
        run sim --data --top 500 --json -o threads.whole -- ./threads &&
        python3 -S -c '
import json
explained, whole = [json.load(open("threads." + name)) for name in ("explained", "whole")]
assert explained["together"] and whole["together"]
def first(report):
    row = report["data"]["objects"][0]
    return row["kind"], row["name"]
assert first(explained) == first(whole) == ("heap", "make threads.c:4 < main"), (first(explained), first(whole))
share = lambda report: report["data"]["objects"][0]["units"] / report["data"]["units"]
assert abs(share(explained) - share(whole)) < 0.1, (share(explained), share(whole))
for report in (explained, whole):
    assert sum(row["units"] for row in report["data"]["objects"]) == report["data"]["units"]
    assert not any("not simulated together" in note or "windows" in note for note in report["notes"])
assert "look_up" in json.dumps(explained["tree"])'
}
check "threads by regions are simulated together, with their data and callers" threads_alike
finish
