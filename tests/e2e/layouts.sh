# Layouts of memory: a program whose cycles follow from where its stack lies, by hand; one that
# depends on nothing; two builds that differ by luck of layout alone, and two that do differ.
. tests/e2e/lib.sh

if skip_without gcc "layouts are compared"; then
    finish
fi
quiet=(--set l1d.prefetcher=none) # what a set lacks is not fetched before it is asked for
build() { # NAME ROOM
    gcc -g -O1 -static -DROOM="$2" -o "$scratch/$1" "$scratch/conflict.c"
}
cat >"$scratch/conflict.c" <<'PROGRAM'
#include <stdio.h>
#include <stdlib.h>
/* 2048 bytes of each of eight pages, which fill half of the sets of an L1 of eight ways of 4096
 * bytes; and sixteen lines of the stack: one that lies in that half is a ninth in its set, which
 * then misses nine times in each round. Each load waits for the one before it. */
static char table[8 * 4096] __attribute__((aligned(4096)));
__attribute__((noinline)) static long read_lines(const volatile char *stack) {
    long at = 0;
    for (int page = 0; page < 8; page++)
        for (int line = 0; line < 32; line++)
            at = ((const volatile char *)table)[page * 4096 + line * 64 + at];
    for (int line = 0; line < 16; line++)
        at = stack[line * 64 + at];
    return at;
}
int main(int count, char **arguments) {
    char room[ROOM] __attribute__((aligned(16))) = {0};
    __asm__ volatile("" ::"r"(room) : "memory");
    char stack[1024] __attribute__((aligned(16))) = {0};
    long sum = 0;
    for (int i = 0; i < (count > 1 ? atoi(arguments[1]) : 100); i++)
        sum += read_lines(stack);
    if (count > 2)
        printf("%d\n", (int)((unsigned long)stack % 4096));
    return sum != 0;
}
PROGRAM
build near 16
build far 2048
cat >"$scratch/nothing.s" <<'PROGRAM'
    .globl _start
_start:
    mov $20000, %ecx
    .p2align 6 # it lies in one line under each layout
1:  imul %rax, %rax
    dec %ecx
    jnz 1b
    mov $60, %eax
    xor %edi, %edi
    syscall
PROGRAM
gcc -nostdlib -static -o "$scratch/nothing" "$scratch/nothing.s"

report=$scratch/layouts.json
# The lines of the stack that are one too many, from where it lies under layout 0. Layouts with as
# many take the same cycles but for those that begin and end the program; each line costs nine
# misses of at least eight cycles in each of 100 rounds.
follows_the_stack() {
    run sim --repeatable -o /dev/null -- "$scratch/near" 1 where >"$scratch/where" &&
        run explain --layouts 10 "${quiet[@]}" --json -o "$report" -- "$scratch/near" || return 1
    python3 -S - "$report" "$(cat "$scratch/where")" <<'PYTHON'
import json, sys
report, where = json.load(open(sys.argv[1])), int(sys.argv[2])
lines = {}
for run in report["layouts"]:
    at = [(where - run["stack_bytes"] + 64 * i) % 4096 for i in range(16)]
    lines[run["layout"]] = sum(a - a % 64 < 2048 for a in at)
cycles = {run["layout"]: run["cycles"] for run in report["layouts"]}
print(sorted((lines[i], cycles[i]) for i in cycles))
least = min(cycles[i] for i in cycles if not lines[i])
assert len({lines[i] for i in cycles}) > 4
for i in cycles:
    each = (cycles[i] - least) / (900 * lines[i]) if lines[i] else 0
    assert each == 0 and cycles[i] < 1.01 * least or 8 <= each <= 13, (i, lines[i], each)
first = report["functions"][0]
assert first["function"] == "read_lines" and first["component"] == "l1_miss", first
assert first["variance_share"] > 0.95
PYTHON
}
check "cycles follow from where the stack lies" follows_the_stack

under_its_number() { # also alone, and with as many at once as there are
    local number
    for number in 0 3; do
        run sim --repeatable --layout $number "${quiet[@]}" --json -o "$scratch/one.json" -- "$scratch/near" || return 1
        python3 -S -c "import json, sys
one, all = (json.load(open(name)) for name in sys.argv[1:3])
assert one['cycles'] == all['layouts'][$number]['cycles']" "$scratch/one.json" "$report" || return 1
    done
    run explain --layouts 10 --jobs 1 "${quiet[@]}" --json -o "$scratch/again.json" -- "$scratch/near" &&
        cmp "$report" "$scratch/again.json"
}
check "each is the run under its number" under_its_number

by_regions() {
    run explain --layouts 4 "${quiet[@]}" --regions-over 500k --regions 12 --json -o "$scratch/regions.json" -- \
        "$scratch/near" 2000 && run explain --layouts 4 "${quiet[@]}" --json -o "$report" -- "$scratch/near" 2000 || return 1
    python3 -S - "$scratch/regions.json" "$report" <<'PYTHON'
import json, sys
some, all = (json.load(open(name))["layouts"] for name in sys.argv[1:3])
print([(a["cycles"], b["cycles"]) for a, b in zip(some, all)])
assert len(some) == len(all) == 4 and some[0]["cycles"] != all[0]["cycles"] # it was by regions
assert all[3]["cycles"] > 1.1 * all[0]["cycles"]
for a, b in zip(some, all):
    assert abs(a["cycles"] / b["cycles"] - 1) < 0.03
PYTHON
}
check "the same regions are found under each" by_regions

check "nothing depends on nothing" grep -q 'cycles under each of 6 layouts$' \
    <(run explain --layouts 6 -- "$scratch/nothing" 2>&1)

first_line() {
    run compare "${quiet[@]}" "$@" 2>"$scratch/said" | head -n 1
}
luck_is_no_difference() {
    local once many
    once=$(first_line "$scratch/near" "$scratch/far")
    many=$(first_line --layouts 9 "$scratch/near" "$scratch/far")
    printf '%s\n' "$once" "$many"
    [[ $once =~ ^[+-][1-9][0-9]\. ]] &&
        [[ $many =~ \
            ^"no difference: "[+-][0-9.]+" % cycles (-"[0-9.]+" to +"[0-9.]+" %) over 9 layouts"$ ]]
}
check "a difference that layout alone makes is none" luck_is_no_difference
check "a program does not differ from itself under any" test \
    "$(first_line --layouts 3 "$scratch/near" "$scratch/near")" = "no difference: the same cycles under each of 3 layouts"

more_work() {
    run compare "${quiet[@]}" --layouts 7 --json -o "$report" "$scratch/near" "$scratch/near 130" &&
        told "r['verdict'] == 'slower' and r['layouts']['count'] == 7" \
            "r['layouts']['least_percent'] > 5 and r['layouts']['low_percent'] == r['layouts']['least_percent']" \
            "abs(r['layouts']['confidence'] - (1 - 2 / 2 ** 7)) < 1e-9" \
            "r['changes'][0]['function'] == 'read_lines'" \
            "abs(sum(r['after']['components'].values()) - r['after']['elapsed_cycles']) < 100"
}
check "more work is a difference under each" more_work

# Where the linker puts two arrays decides whether they share sets: only another order of the objects
# changes that.
mkdir "$scratch/link"
cat >"$scratch/link/main.c" <<'PROGRAM'
extern char table[], other[];
__attribute__((noinline)) static long read_lines(const volatile char *large, const volatile char *small) {
    long at = 0;
    for (int page = 0; page < 8; page++)
        for (int line = 0; line < 32; line++)
            at = large[page * 4096 + line * 64 + at];
    for (int line = 0; line < 16; line++)
        at = small[line * 64 + at];
    return at;
}
int main(void) {
    long sum = 0;
    for (int i = 0; i < 100; i++)
        sum += read_lines(table, other);
    return sum != 0;
}
PROGRAM
echo 'char table[8 * 4096] __attribute__((aligned(4096)));' >"$scratch/link/table.c"
echo 'char other[1024] __attribute__((aligned(64)));' >"$scratch/link/other.c"
echo 'char room[2048] __attribute__((aligned(64)));' >"$scratch/link/room.c"
(cd "$scratch/link" && gcc -g -O1 -c ./*.c && gcc -static -o luck main.o table.o room.o other.o &&
    gcc -static -o none main.o table.o other.o room.o)
o=$scratch/link
link_order() {
    local luck="gcc -static -o {} $o/main.o $o/table.o $o/room.o $o/other.o"
    local none="gcc -static -o {} $o/main.o $o/table.o $o/other.o $o/room.o"
    local without with
    without=$(first_line --layouts 7 "$o/luck" "$o/none")
    with=$(first_line --layouts 7 --relink "$luck" --relink "$none" "$o/luck" "$o/none")
    printf '%s\n' "$without" "$with"
    run explain --layouts 8 "${quiet[@]}" --json -o "$report" --relink "$luck" -- "$o/luck" || return 1
    told "r['spread_percent'] > 30 and r['functions'][0]['function'] == 'read_lines'" "r['program'] == '$o/luck'" &&
        [[ $without =~ ^"+"[34] && $with =~ ^"no difference: " ]]
}
check "another order of linking is a layout, too" link_order
check "a linker that fails is told" fails_with 125 'failed under layout' \
    run explain --layouts 2 --relink 'false {}' -- "$o/luck"
check "where the program goes is to be said" fails_with 125 'where the program goes' \
    run explain --layouts 2 --relink 'gcc -o luck' -- "$o/luck"

interrupted() {
    "$CULPRIT" explain --layouts 1000 --jobs 1 -o "$scratch/text" -- "$scratch/near" 300 &
    local process=$!
    until_used $process 0.4
    kill -INT $process
    wait $process
    grep -qE 'interrupted after [0-9]+ of 1000 layouts' "$scratch/text"
}
set -m
check "an interrupt leaves the layouts until then" interrupted
set +m
cat >"$scratch/threads.c" <<'PROGRAM'
#include <pthread.h>
static void *work(void *place) {
    for (volatile int i = 0; i < 1000; i++)
        ;
    return place;
}
int main(void) {
    pthread_t thread;
    return pthread_create(&thread, NULL, work, NULL) || pthread_join(thread, NULL);
}
PROGRAM
threads_are_told() {
    gcc -O1 -pthread -o "$scratch/threads" "$scratch/threads.c" &&
        run compare --layouts 2 "$scratch/threads" "$scratch/near" >"$scratch/text" 2>&1 &&
        [ "$(tr -s ' \n' ' ' <"$scratch/text" | grep -o 'has threads, whose order may be another' | wc -l)" = 1 ]
}
check "that threads run in another order each time is told" threads_are_told
fits() {
    run explain --layouts 3 -- "$scratch/near" 2>"$scratch/text" && fits_100 "$scratch/text" &&
        run compare --layouts 3 "$scratch/near" "$scratch/far" >"$scratch/text" && fits_100 "$scratch/text"
}
check "the reports fit the page" fits
status_of_command() {
    run explain --layouts 2 -- sh -c 'exit 3'
    [ $? = 3 ]
}
check "the status is the command's" status_of_command
ends_by_signal() {
    run explain --layouts 2 -- sh -c 'kill $$'
    [ $? = 143 ]
}
check "a command takes signals under layouts, too" ends_by_signal
check "and hears of its children" timeout 60 "$CULPRIT" explain --layouts 2 -- sh -c 'true & wait'
nothing_yet() {
    "$CULPRIT" compare --layouts 2 --fail-above 1% "$scratch/near" "$scratch/near" 1000000 &
    until_used $! 0.2
    kill $!
    wait $!
    [ $? = 143 ]
}
check "an interrupt before the first layout has the signal's status" nothing_yet
not_explained() { # what ran until then: nobody has asked for that
    "$CULPRIT" explain --layouts 2 -- "$scratch/near" 100000000 2>"$scratch/said" &
    until_used $! 0.5
    kill $!
    wait $!
    [ $? = 143 ] && grep -q 'interrupted before the first layout' "$scratch/said" && ! grep -q 'regions' "$scratch/said"
}
check "nor is a long run explained up to there" not_explained
# A loop of some 50 bytes, which a cycle fetches where it lies in one line of 64, and a function before it of 16, 32,
# 48 or 64 bytes: of one run some differ, and with the functions elsewhere under each layout none does.
cat >"$scratch/loop.c" <<'PROGRAM'
__asm__(".text; .p2align 4; .type before, @function; before: .skip 16 * " FILL " + 16; .size before, . - before;"
        ".p2align 4; .globl around; .type around, @function; around: mov $200000, %ecx; 1: .rept 6; nopl 0(%rax,%rax,1); .endr;"
        "sub $1, %ecx; jnz 1b; ret; .size around, . - around");
void around(void);
int main(void) {
    around();
    return 0;
}
PROGRAM
for fill in 0 1 2 3; do
    gcc -O1 -DFILL="\"$fill\"" -o "$scratch/loop$fill" "$scratch/loop.c" &&
        run sim --repeatable --json -o "$scratch/loop$fill.json" -- "$scratch/loop$fill" || exit 1
done
luck_of_the_linker() {
    local ends
    ends=$(python3 -S - "$scratch" <<'PROGRAM'
import json, sys
cycles = sorted((json.load(open(f"{sys.argv[1]}/loop{fill}.json"))["cycles"], fill) for fill in range(4))
assert cycles[3][0] > 1.05 * cycles[0][0], cycles
print(cycles[0][1], cycles[3][1])
PROGRAM
    ) || return 1
    run compare --layouts 4 --json -o "$report" "$scratch/loop${ends% *}" "$scratch/loop${ends#* }" &&
        told_names='l = r["layouts"]' told 'l["cycles_after"][0] > 1.05 * l["cycles_before"][0]' \
            'all(abs(a / b - 1) < 0.01 for a, b in list(zip(l["cycles_before"], l["cycles_after"]))[1:])'
}
check "where the linker puts a function is no difference" luck_of_the_linker
check "a command that is not there is told" fails_with 127 'cannot run' run compare --layouts 2 "$scratch/near" "$scratch/nowhere"
check "a trace has one layout" fails_with 2 'layouts are of commands' run compare --layouts 2 "$scratch/a.ctrace" "$scratch/b.ctrace"
check "so has a run that is not the same everywhere" fails_with 2 'not with --no-repeatable' \
    run compare --no-repeatable --layouts 2 "$scratch/near" "$scratch/far"
check "a layout needs --repeatable" fails_with 125 'needs --repeatable' run sim --layout 2 -- "$scratch/near"
finish
