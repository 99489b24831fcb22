# sim and explain --data, --by object: which data the cycles of misses belong to. Kernels whose
# misses belong to one object each must have them there, and all objects sum to the run's misses.
. tests/e2e/lib.sh

gcc -O1 -g -fno-inline -o "$scratch/objects" tests/guests/data_objects.c
cp tests/guests/data_objects.c "$scratch"
cd "$scratch" || exit 1

cat >objects.py <<'PROGRAM'
import json, sys
report = json.load(open(sys.argv[1]))
data, objects = report["data"], report["data"]["objects"]
OF_MEMORY = ("DR-L1", "DR-TLB", "DR-SQ", "FL-MO", "ST-L1", "ST-TLB", "ST-LLC", "ST-FW", "ST-CO")
misses = sum(cycles for events, cycles in report["stack"].items()
             if any(event in OF_MEMORY for event in events.split("+")))
units = report["units_per_cycle"]
assert abs(misses * units - data["units"]) < 1, "the run's misses"
assert sum(row["units"] for row in objects) == data["units"], "sum of objects"
for row in objects:
    assert abs(sum(row["stack"].values()) - row["cycles"]) < 1e-3, row
assert len(objects) == data["object_count"]
unknown = sum(row["units"] for row in objects if row["kind"] == "unknown")
assert unknown == data["unknown_units"]
if len(sys.argv) > 2:
    kind, name = sys.argv[2:]
    largest = objects[0]
    assert largest["kind"] == kind and largest["name"].startswith(name), largest
    assert unknown < 0.01 * data["units"], unknown
PROGRAM
of_kernel() { # KERNEL KIND NAME
    run sim --by object --top 500 --machine zen4 --json -o "$1.json" -- ./objects "$1" >"$1.out" &&
        python3 -S objects.py "$1.json" "$2" "$3"
}
for kernel in "structs|heap|make_records data_objects.c:29 < structs < main" \
    "hash|heap|make_buckets data_objects.c:32 < main" \
    "list|heap|make_list_node data_objects.c:35 < nodes < main" \
    "tree|heap|make_tree_node data_objects.c:38 < nodes < main" "table|variable|table" \
    "stack|frame|stack" "remade|heap|make_second " "grown|heap|grow "; do
    IFS='|' read -r name kind object <<<"$kernel"
    check "the misses of $name belong to its object, and all sum to the run's" \
        of_kernel "$name" "$kind" "$object"
done
check "the block that was made second lies where the first did" grep -q same remade.out

# A trace keeps what was allocated.
run trace --data -o kept.ctrace -- ./objects list >/dev/null 2>&1
run sim --by object --top 500 --machine zen4 --json -o kept.json kept.ctrace
same_objects() {
    python3 -S -c 'import json, sys
first, second = [json.load(open(name))["data"] for name in sys.argv[1:]]
assert first == second' list.json kept.json
}
check "a trace has the same objects" same_objects
run sim --by image --top 0 -o images.txt kept.ctrace
check "no instruction of the library that tells of allocations is in it" \
    bash -c "grep -q libc.so images.txt && ! grep -q allocations images.txt"
run trace -o plain.ctrace -- ./objects list >/dev/null 2>&1
check "a trace without them says so" \
    bash -c "'$CULPRIT' sim --data plain.ctrace | grep -q 'nothing tells of memory'"

# What the table looks like.
run explain --no-what-if --data -o report.txt kept.ctrace
check "explain has the table, behind the instructions" \
    bash -c "grep -n 'cycles of misses by data: .* has an object' report.txt"
check "and the caller of the allocation" grep -q 'heap  *make_list_node data_objects.c:35' report.txt
check "by object, nothing else" \
    bash -c "'$CULPRIT' sim --by object kept.ctrace | grep -c '^  share' | grep -qx 1"
check "on a narrow page it fits" \
    bash -c "test \$(COLUMNS=60 '$CULPRIT' sim --by object -o /dev/stdout kept.ctrace | grep % | wc -L) -le 200"

# A process that is forked goes on with what it has; one that is exec'ed begins anew.
cat >forks.c <<'PROGRAM'
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile unsigned long sink;
__attribute__((noinline)) static unsigned char *make(void) { return calloc(1, 1 << 18); }
int main(int count, char **arguments) {
    unsigned char *block = make();
    unsigned found = 0;
    if (count > 1 || fork() == 0) {
        for (unsigned i = 0; i < 50000; i++)
            found = block[((i + found) * 2654435761u >> 8) % (1 << 18)];
        sink = found;
        if (count == 1)
            execl(arguments[0], arguments[0], "again", NULL);
        return 0;
    }
    return wait(NULL) < 0;
}
PROGRAM
gcc -O1 -g -fno-inline -o forks forks.c
in_child() {
    run sim --follow --by object --top 500 --machine zen4 --json -o forks.json -- ./forks &&
        python3 -S objects.py forks.json heap "make forks.c:5 < main"
}
check "a fork's child has its parent's blocks, a program that is exec'ed its own" in_child

cat >threads.c <<'PROGRAM'
#include <pthread.h>
#include <stdlib.h>
static volatile unsigned long sink;
__attribute__((noinline)) static unsigned char *make(void) { return calloc(1, 1 << 18); }
static void *look_up(void *block) {
    unsigned found = 0;
    for (unsigned i = 0; i < 30000; i++)
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
of_threads() { # ALONE
    run sim $1 --by object --top 500 --machine zen4 --json -o threads.json -- ./threads &&
        python3 -S objects.py threads.json heap "make threads.c:4 < main"
}
check "threads that are simulated together know each other's blocks" of_threads ""
check "and who made them" python3 -S -c '
import json
report = json.load(open("threads.json"))
assert report["together"] and all(t["begin_cycle"] > 0 for t in report["threads"][1:]), report["threads"]'
explained() { # OPTION WHAT
    run explain --no-what-if $1 --data -o explained.txt -- ./threads && tr -s ' \n' ' ' <explained.txt | grep -q "$2"
}
check "explain simulates them together" explained "" 'simulated together on the cores of one chip'
check "and with --fields" explained --fields 'simulated together on the cores of one chip'
check "where it samples it tells why not" explained --systematic \
    'not simulated together: systematic sampling takes each thread by itself'
check "and those that are not" of_threads --alone

# Allocators that are linked into the program are seen by their symbols.
statically() { # COMPILER KERNEL KIND NAME
    "$1" -O1 -g -static -fno-inline -o static data_objects.c &&
        run sim --by object --top 500 --machine zen4 --json -o static.json -- ./static "$2" &&
        python3 -S objects.py static.json "$3" "$4"
}
check "of a statically linked program variables are known" statically gcc table variable table
check "and blocks" statically gcc list heap "make_list_node data_objects.c:35 < nodes < main"
check "as is what grows by realloc" statically gcc grown heap "grow "
check "without symbols it says that blocks are not known" bash -c \
    "strip static && '$CULPRIT' sim --by object -- ./static list 2>&1 | grep -q 'no symbol of an allocator'"
for compiler in musl-gcc riscv64-linux-gnu-gcc; do
    if command -v "$compiler" >/dev/null; then
        check "blocks of a static program are known ($compiler)" statically "$compiler" tree heap \
            "make_tree_node data_objects.c:38 < nodes < main"
    else
        skip "blocks of a static program ($compiler)" "needs $compiler"
    fi
done
cat >go.go <<'PROGRAM'
package main

type node struct {
	next *node
	key  [7]int
}

//go:noinline
func make_node(next *node, key int) *node { return &node{next, [7]int{key}} }
func main() {
	var list *node
	for i := 0; i < 20000; i++ {
		list = make_node(list, i)
	}
	sum := 0
	for round := 0; round < 4; round++ {
		for at := list; at != nil; at = at.next {
			sum += at.key[0]
		}
	}
	println(sum)
}
PROGRAM
# Beside other programs Go's runtime interrupts what runs for 10 ms, wherever that is, and has it call
# runtime.asyncPreempt from there: main.main's callees are the same afterwards.
of_go() {
    GO111MODULE=off GOFLAGS= go build -ldflags=-s -o go go.go && GOGC=off run sim --alone \
        --by object --top 500 --machine zen4 --json -o go.json -- ./go && python3 -S -c '
import json
rows = [r for r in json.load(open("go.json"))["data"]["objects"] if r["kind"] == "heap"]
assert rows[0]["name"].startswith("main.make_node go.go:9 < main.main"), rows[:3]'
}
if command -v go >/dev/null; then
    check "of Go, stripped, heap is known by who allocated it" of_go
else
    skip "heap of Go" "needs go"
fi

check_refused() { # WHAT WHY ARGUMENT...
    local what=$1 why=$2
    shift 2
    check "$what" bash -c "'$CULPRIT' $* 2>&1 | grep -q -- '$why'"
}
check_refused "regions that were captured have no objects" "allocated before" \
    sim --by object --regions list.csv
check_refused "nor have traces of them" "leave out --data" trace --data --regions list.csv -- true

finish
