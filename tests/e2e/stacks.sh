# record --stacks, top --tree, top --callers: who called whom, in programs of several kinds.
. tests/e2e/lib.sh
. tests/live.sh
cd "$scratch" || exit 1
store=$scratch/profiles.db

run record --store "$store" -- true 2>"$scratch/why"
if grep -q 'is not permitted: it needs CAP_PERFMON' "$scratch/why"; then
    skip "record --stacks" "$(head -n 1 "$scratch/why")"
    finish
fi

# main → outer → middle → leaf, which spins; with an argument also a handler of signals that spins,
# or so many frames below leaf.
cat >chain.c <<'PROGRAM'
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#define APART __attribute__((noinline, noclone))
static volatile unsigned long spins, done;
static APART void spin(unsigned times) {
    for (unsigned i = 0; i < times; i++)
        spins++;
}
static clock_t now(void) {
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return used.tv_sec * 1000 + used.tv_nsec / 1000000;
}
static APART void handle(int number) {
    (void)number;
    for (clock_t end = now() + 4; now() < end;)
        spin(10000);
    spins++;
}
static APART int deep(int levels) {
    volatile char room[400];
    room[0] = 0;
    if (!levels)
        for (int i = 0; i < 20; i++)
            spin(1000000);
    else
        room[0] = (char)deep(levels - 1);
    return room[0] + 1;
}
static APART void leaf(const char *how) {
    clock_t end = clock() + CLOCKS_PER_SEC / 8;
    while (clock() < end)
        if (how && !strcmp(how, "deep"))
            deep(100);
        else
            spin(1000000);
    done++;
}
static APART void middle(const char *how) {
    leaf(how);
    done++;
}
static APART void outer(const char *how) {
    middle(how);
    done++;
}
int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : NULL;
    if (how && !strcmp(how, "signals")) {
        struct itimerval every = {{0, 12000}, {0, 12000}};
        signal(SIGPROF, handle);
        setitimer(ITIMER_PROF, &every, NULL);
    }
    outer(how);
    return 0;
}
PROGRAM
cc -O2 -fomit-frame-pointer -o chain chain.c || exit 1
cc -O2 -fno-omit-frame-pointer -fno-asynchronous-unwind-tables -o pointers chain.c || exit 1
cc -O2 -static -o static chain.c || exit 1
cp chain stripped && strip stripped

record() {
    run record --store "$store" --json --output summary --stacks "$@" >/dev/null
}
top() {
    run top --store "$store" "$@"
}
# whole SHARE: of the last recording's stacks at least so many hundredths are whole.
whole() {
    python3 -S - "$1" <<'PYTHON'
import json, sys
said = json.load(open("summary"))
stacks = said["stacks"]
print(stacks, said["samples"])
assert sum(stacks.values()) == said["samples"] > 50
assert stacks["whole"] * 100 >= int(sys.argv[1]) * said["samples"]
PYTHON
}
# holds CHAIN SHARE: so many hundredths of the last epoch's samples lie in these procedures, each
# called by the one before, and what they call. In user code: what the machine does in its
# interrupts besides is its own.
holds() {
    top ${process:+--process $process} --tree --json >tree.json && python3 -S - "$@" <<'PYTHON'
import json, sys
tree = json.load(open("tree.json"))["tree"]
chain, share = sys.argv[1].split(" > "), int(sys.argv[2])
names = [[]]
found = 0
for number, frame in enumerate(tree):
    assert (frame["parent"] is None) == (number == 0)
    if number == 0:
        continue
    assert frame["parent"] < number
    above = names[frame["parent"]]
    names.append(above + [frame["procedure"].split("(")[0]])
    if names[-1][-len(chain):] == chain and chain[-1] not in above:
        found += frame["total"]
self = sum(frame["self"] for frame in tree)
assert abs(self - tree[0]["total"]) < 1e-6 * self, (self, tree[0])
print(found, "of", tree[0]["total"])
assert found * 100 >= share * tree[0]["total"], "\n".join(" > ".join(name) for name in names)
PYTHON
}

# Where BPF is not permitted stacks are copied; else they are walked in the interrupt.
copied() {
    cp "$CULPRIT" . && chmod 755 "$scratch" && mkdir -p unprivileged && chmod 777 unprivileged || return 1
    setpriv --reuid 65534 --regid 65534 --clear-groups ./culprit record --store "$store" --json \
        --output unprivileged/summary --stacks "$@" >/dev/null && cp unprivileged/summary summary
}
# both SHARE CHAIN SHARE COMMAND...: in both ways.
both() {
    local store=$store
    record -- "${@:4}" && whole "$1" && holds "$2" "$3" || return 1
    [ "$(id -u)" = 0 ] || return 0
    store=$scratch/unprivileged/profiles.db
    copied -- "${@:4}" && whole "$1" && holds "$2" "$3"
}

by_unwind_tables() {
    both 98 'main > outer > middle > leaf > spin' 80 ./chain
}
# A function that calls none has no frame, which hides who called it.
by_frame_pointers() {
    both 90 'main > outer > middle' 80 ./pointers
}
of_a_static_program() {
    both 98 'main > outer > middle > leaf > spin' 80 ./static
}
of_a_stripped_program() {
    record -- ./stripped && whole 98
}
across_a_signal() {
    both 98 'leaf > spin > handle' 3 ./chain signals
}
# A context that was made begins where makecontext() says, in a program that may have frame pointers.
of_a_made_context() {
    cat >context.c <<'PROGRAM'
#include <time.h>
#include <ucontext.h>
#define APART __attribute__((noinline, noclone))
static ucontext_t first, second;
static char stack[1 << 16];
static volatile unsigned long spins;
static APART void spin(void) {
    for (clock_t end = clock() + CLOCKS_PER_SEC / 8; clock() < end;)
        for (int i = 0; i < 100000; i++)
            spins++;
}
static APART void routine(void) {
    spin();
    spins++;
}
int main(void) {
    getcontext(&second);
    second.uc_stack.ss_sp = stack;
    second.uc_stack.ss_size = sizeof stack;
    second.uc_link = &first;
    makecontext(&second, routine, 0);
    swapcontext(&first, &second);
    return 0;
}
PROGRAM
    local option
    for option in -fomit-frame-pointer -fno-omit-frame-pointer -static; do
        cc -O2 "$option" -o context context.c && record -- ./context && whole 98 && holds 'routine > spin' 80 ||
            { echo "$option"; return 1; }
    done
}
# But for the first samples, whose unwind tables have yet to be read.
walked_at_once() {
    [ "$(id -u)" = 0 ] || return 0
    record --stack-bytes 8192 -- ./chain deep && whole 80
}
deeper_than_the_copy() {
    local store=$scratch/profiles.db copied=record
    [ "$(id -u)" != 0 ] || copied=copied store=$scratch/unprivileged/profiles.db
    "$copied" --stack-bytes 8192 -- ./chain deep || return 1
    whole 98 && return 1
    top --tree >tree && cat tree && grep -q '\[deeper callers\]' tree &&
        tr -s ' \n' ' ' <tree | grep -q 'more of a stack than was copied' &&
        holds '[deeper callers] > deep' 80 || return 1
    "$copied" --stack-bytes 61440 -- ./chain deep && whole 98 && holds 'leaf > deep' 80
}
of_go() {
    command -v go >/dev/null || return 1
    mkdir -p go && cat >go/main.go <<'PROGRAM'
package main

var spins int

//go:noinline
func inner() {
	for i := 0; i < 1000000; i++ {
		spins++
	}
}

//go:noinline
func outer(rounds int) {
	for i := 0; i < rounds; i++ {
		inner()
	}
}
func main() {
	done := make(chan bool)
	go func() { outer(600); done <- true }()
	<-done
}
PROGRAM
    (cd go && HOME=$scratch GOFLAGS=-mod=mod go build -o ../gone main.go) || return 1
    cp gone gone-stripped && strip gone-stripped
    record -- ./gone && whole 95 && holds 'main.main.func1 > main.outer > main.inner' 80 &&
        record -- ./gone-stripped && whole 95 &&
        holds 'main.main.func1 > main.outer > main.inner' 80
}
of_python() {
    record -- python3 -c 'print(sum(i * i for i in range(3000000)))' && whole 98
}
in_the_kernel() {
    record -- dd if=/dev/zero of=/dev/null bs=64 count=1000000 2>/dev/null && whole 98 || return 1
    [ "$(python3 -S -c 'import json; print(json.load(open("summary"))["kernel_samples"])')" -eq 0 ] ||
        holds read 10
}

# leaf is called by middle, that by outer, that by main, and calls spin. The procedure with most samples
# is spin, but where the kernel has more to do in a short run.
callers() {
    local hottest
    record -- ./chain || return 1
    top --callers=leaf >callers && cat callers || return 1
    awk '/ leaf /, /^$/ { print $3 }' callers | head -n 4 | tr '\n' ' ' |
        grep -qx 'leaf middle outer main ' || return 1
    hottest=$(top --json | python3 -S -c 'import json, sys; print(json.load(sys.stdin)["rows"][0]["procedure"])') &&
        top --callers --top 1 >callers && cat callers &&
        [ "$(awk '/%/ { print $3; exit }' callers)" = "$hottest" ] || return 1
    [ "$hottest" = spin ] || top --callers=spin >callers || return 1
    awk '/%/ { print $3 }' callers | head -n 5 | tr '\n' ' ' | grep -qx 'spin leaf middle outer main '
}
callers_in_json() {
    top --callers=middle --json >callers.json && python3 -S - <<'PYTHON'
import json
said = json.load(open("callers.json"))
assert said["inclusive"]
procedure, = said["procedures"]
first = procedure["callers"][0]
assert procedure["procedure"] == first["procedure"] == "middle" and first["parent"] is None
assert abs(first["total"] - procedure["total"]) < 1e-6
assert sum(frame["self"] for frame in procedure["callers"]) == procedure["total"]
assert procedure["callers"][1]["procedure"] == "outer"
PYTHON
}

refusals() {
    run record --store "$store" -- true 2>/dev/null
    top --tree 2>said && return 1
    grep -q "has no samples with call stacks ('culprit record --stacks'" said || return 1
    record -- ./chain
    top --callers=nothing-like-it 2>said && return 1
    grep -q 'nothing-like-it: no stack has such a procedure' said || return 1
    top --tree --callers 2>said && return 1
    grep -q 'one at a time' said || return 1
    top --tree --by line 2>said && return 1
    grep -q 'without --by' said
    run record --stack-bytes 100 -- true 2>said && return 1
    grep -q -- '--stack-bytes' said
}

# What the store holds is whole, also when epochs become one, and goes with them.
kept_and_merged() {
    rm -f "$store"*
    record -- ./chain && record -- ./chain || return 1
    run epochs merge --store "$store" 1..2 && run epochs check --store "$store" || return 1
    holds 'main > outer > middle > leaf > spin' 80 || return 1
    run epochs export --store "$store" copy.db && store=$scratch/copy.db &&
        holds 'main > outer > middle > leaf > spin' 80
}

# Flame graphs, pprof and perf script get the callers as well.
exported() {
    record -- ./chain || return 1
    run epochs export --store "$store" --format folded folded && tail -n 3 folded &&
        grep -qE '^chain;(.*;)?main;outer;middle;leaf;spin [0-9]+$' folded || return 1
    awk '{ sum += $NF } END { print sum }' folded >sum
    [ "$(cat sum)" -eq "$(python3 -S -c 'import json; print(json.load(open("summary"))["samples"])')" ] ||
        return 1
    run epochs export --store "$store" --format perf-script script &&
        tr -d '\n' <script | grep -qE 'spin\+[^)]*\)[^(]*leaf\+[^)]*\)[^(]*middle\+' || return 1
    run epochs export --store "$store" --format pprof pprof &&
        HOME=$scratch go tool pprof -symbolize=none -peek '^middle$' pprof >peek && cat peek &&
        grep -qE '100% \| +outer' peek && grep -qE '\| +leaf' peek
}

# What was exported comes back with its callers; so does what perf found by its own means.
imported() {
    local format store_of=$store
    for format in perf-script pprof; do
        store=$scratch/imported-$format.db
        run epochs import --store "$store" "${format/perf-/}" >/dev/null &&
            run epochs check --store "$store" && holds 'main > outer > middle > leaf > spin' 80 ||
            return 1
    done
    has perf && perf record -q -e cpu-clock -F 997 --call-graph dwarf,8192 -o perf.data -- ./chain \
        2>/dev/null >/dev/null || { store=$store_of && return 0; }
    store=$scratch/imported-perf.db
    perf script --show-mmap-events --show-task-events -i perf.data 2>/dev/null |
        run epochs import --store "$store" - >/dev/null &&
        holds 'main > outer > middle > leaf > spin' 60 && store=$store_of
}

check "by unwind tables" by_unwind_tables
check "by frame pointers, without tables" by_frame_pointers
check "of a static program" of_a_static_program
check "of a stripped program" of_a_stripped_program
check "across the frame of a signal" across_a_signal
check "of a context that was made" of_a_made_context
check "stacks deeper than any copy, walked at once" walked_at_once
check "stacks deeper than the copy are counted and shown" deeper_than_the_copy
check "of Go, also stripped" of_go
check "of Python's interpreter" of_python
check "from the kernel to who entered it" in_the_kernel
check "callers of a procedure, and of the hottest" callers
check "callers as JSON" callers_in_json
check "what cannot be shown is said" refusals
check "merged, and copied to another store" kept_and_merged
check "exported to flame graphs, pprof and perf script" exported
check "imported with callers" imported
# Ten stacks of main and one more: 4, 3, and three of 1, which are 30 % together; and two procedures that
# call each other, at depths from 1 to 9.
summed() {
    local store=small.db
    python3 -S -c '
address = {name: 0x1000 + 0x100 * i for i, name in enumerate("main a b c d e even odd".split())}
def sample(*callers):
    print("x 7 1.000000:          1 cycles:")
    for name in reversed(callers):
        print("\t%16x %s+0x10 (/nowhere/x)" % (address[name] + 0x10, name))
    print()
for name in "aaaabbbcde":
    sample("main", name)
' >small.perf &&
        run epochs import --store $store small.perf >/dev/null && run top --store $store --tree --least 20 >text || return 1
    tr -s ' ' <text | grep -q '^ 40.0 % 40.0 % ├ a x' && tr -s ' ' <text | grep -q '^ 30.0 % 30.0 % ├ b x' &&
        tr -s ' ' <text | grep -q '^ 30.0 % └ others (3)$' || { cat text; return 1; }
    run top --store $store --tree --least 35 | tr -s ' ' | grep -q '^ 60.0 % └ others (4)$' &&
        ! run top --store $store --tree --least 0 | grep others || return 1
    python3 -S -c '
print("".join("x 7 1.000000:          1 cycles:\n" + "".join("\t%16x %s+0x10 (/nowhere/x)\n" % ((0x2010, "odd") if (depth - i) % 2 else (0x1010, "even"))
    for i in range(depth)) + "\n" for depth in range(1, 10)))' >deep.perf &&
        run epochs import --store deep.db deep.perf >/dev/null && run top --store deep.db --tree --least 0 >text
    [ "$(grep -cE '(even|odd) +x$' text)" = 3 ] || { cat text; return 1; }
}
check "frames that are few are summed, and recursion is folded" summed

# The daemon, of processes that ran before it and of those that come, and of many that are short.
if [ -n "$live" ]; then
    skip "by the daemon" "$live"
    finish
fi
# Once in three times: other tests sample as well, beside which perf aborts now and then.
perf_beside() {
    ! has perf && return
    for _ in 1 2 3; do
        perf record -q -e cpu-clock -o beside.data -- true && return
    done
    echo "perf does not work beside the daemon"
    return 1
}
by_the_daemon() {
    local before
    store=$CULPRIT_STORE
    for _ in 1 2 3; do ./chain; done &
    before=$!
    start_daemon --stacks --rate 997 --stack-bytes 8192 || return 1
    for _ in $(seq 200); do ./short; done
    # Others sample beside it, perf and culprit itself.
    perf_beside && run record --stacks --store beside.db -- ./short || return 1
    ./chain signals
    wait "$before"
    flush || return 1
    run daemon --status
    # What finds no room, where the daemon itself hardly runs, is counted.
    run daemon --status --json | python3 -S -c 'import json, sys
said = json.load(sys.stdin)
assert said["attributed"] + said["dropped"] == said["samples"], said
assert said["stacks_whole"] > 100, said' || return 1
    process=chain holds 'main > outer > middle > leaf > spin' 70 || return 1
    top --callers=leaf --process chain | tr -s ' \n' ' ' |
        grep -q 'leaf chain .*middle chain .*outer chain .*main chain' || return 1
    run epochs check --store "$store" && run daemon --stop
    daemon=0
}
cp /bin/true short
check "by the daemon" by_the_daemon
finish
