# culprit compare of longer runs: by regions of the same work in both builds, found by functions and
# loops that are executed equally often.
. tests/e2e/lib.sh

if skip_without gcc "builds are compared"; then
    finish
fi
# What step() does differs in the later build; how often it is called, and what lies between, does
# not. A build of more rounds has other work.
cat >"$scratch/program.c" <<'PROGRAM'
unsigned data[4096], by = 3;
__attribute__((noinline)) unsigned step(unsigned a) {
    return a OPERATION by;
}
__attribute__((noinline)) unsigned mix(unsigned from) {
    unsigned sum = from;
    for (int i = 0; i < 4096; i++)
        sum = sum * 33 + (data[i] ^= sum);
    return sum;
}
__attribute__((noinline)) unsigned steps(unsigned count) {
    unsigned sum = 0;
    for (unsigned i = 0; i < count; i++)
        sum += step(sum + i);
    return sum;
}
int main(void) {
    unsigned sum = 1;
    for (unsigned i = 0; i < ROUNDS; i++)
        sum += mix(sum) + steps(100 + i % 7 * 60);
    return sum == 7;
}
PROGRAM
build() { # NAME ROUNDS OPERATION FLAGS...
    gcc -g -O1 "-DROUNDS=$2" "-DOPERATION=$3" "${@:4}" -o "$scratch/$1" "$scratch/program.c"
}
build old 400 '>>' && build new 400 / || exit 1
# Fewer rounds, without the work of the loader, where it is not about the interval.
build fewer 240 '>>' -static && build fewer_new 240 / -static && build unlike 300 / -static &&
    build stripped 240 / -static -s || exit 1
echo "exec $scratch/fewer" >"$scratch/exec"
regions=(--regions-over 1M --regions 16)
report=$scratch/compared.json

# The difference of all instructions lies within the interval, which is narrower than 0.7 of what the
# intervals of both would leave.
near_the_truth() {
    local exact
    run compare --full --json -o "$report" "$scratch/old" "$scratch/new" || return 1
    exact=$(python3 -S -c 'import json, sys; print(json.load(open(sys.argv[1]))["percent"])' "$report")
    run compare "${regions[@]}" --json -o "$report" "$scratch/old" "$scratch/new" &&
        told "r['pairs']['regions'] >= 8 and r['verdict'] == 'slower' and r['percent'] > 10" \
            "abs(r['percent'] - $exact) <= r['half_interval_95'] > 0" \
            "r['half_interval_95'] < 70 * sum(r[side]['half_interval_95'] ** 2 for side in ('before', 'after')) ** 0.5 / r['before']['elapsed_cycles']" \
            "r['changes'][0]['function'] == 'step'"
}
check "the difference is that of all instructions, within an interval narrower than those of both runs" near_the_truth
same_work() {
    local text
    text=$(run compare "${regions[@]}" "$scratch/fewer" "$scratch/fewer" 2>&1)
    [[ $text == "no difference: "* && $text == *"estimated from "*" regions of the same work in both"* ]]
}
check "a build is no different from itself, by regions" same_work
stripped() {
    run compare "${regions[@]}" --json -o "$report" "$scratch/fewer" "$scratch/stripped" &&
        told "r['pairs']['regions'] >= 8 and r['percent'] > 10"
}
check "the work is found in a stripped build, by its instructions" stripped
from_traces() {
    run trace --repeatable -o "$scratch/fewer.ctrace" -- "$scratch/fewer" >"$scratch/said" 2>&1 &&
        run compare "${regions[@]}" --json -o "$report" "$scratch/fewer.ctrace" "$scratch/fewer_new" &&
        told "r['pairs']['regions'] >= 8 and r['percent'] > 10"
}
check "a trace is compared by regions as well" from_traces

in_full() { # REASON OPTION... OLD NEW
    run compare --regions-over 1M "${@:2}" >"$scratch/text" 2>&1
    tr '\n' ' ' <"$scratch/text" | tr -s ' ' |
        grep -q "every instruction was simulated, not regions: $1" || { cat "$scratch/text"; return 1; }
}
check "of runs that do other work every instruction is simulated, and why is told" \
    in_full '.*of the same work' "$scratch/fewer" "$scratch/unlike"
check "of a program in another's place likewise" in_full 'it runs another program in its place' \
    "sh $scratch/exec" "$scratch/fewer"
short() {
    run compare --regions-over 100M --json -o "$report" "$scratch/fewer" "$scratch/fewer_new" &&
        told "r['pairs'] is None and r['half_interval_95'] == 0"
}
check "of short runs every instruction is simulated" short
check "all instructions and regions of them are asked for in turn" \
    fails_with 2 'without --regions-over' run compare --full --regions-over 1M "$scratch/old" "$scratch/new"
check "regions are not of layouts" fails_with 2 'not with --layouts' \
    run compare --layouts 2 --regions 10 "$scratch/old" "$scratch/new"

finish
