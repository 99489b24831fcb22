# sim and explain --by loop: the loop nest of functions, with rounds, cycles and what they are spent on.
. tests/e2e/lib.sh
cd "$scratch" || exit 1

# nest: 40 times 25 rounds, in which every outer one calls work, which has a loop of 10; alone: 300
# rounds, begun 6 times; never: a loop that does not run.
cat >nest.c <<'PROGRAM'
#define APART __attribute__((noinline, noclone))
static volatile unsigned sink;
APART void work(unsigned n) {
    unsigned i = 0;
    do
        sink += i;
    while (++i < n);
}
APART void nest(unsigned outer, unsigned inner) {
    unsigned i = 0, k;
    do {
        work(10);
        k = 0;
        do
            sink += k;
        while (++k < inner);
        sink++;
    } while (++i < outer);
}
APART void alone(unsigned n) {
    unsigned i = 0;
    do
        sink += i;
    while (++i < n);
}
APART void never(unsigned n) {
    for (unsigned i = 0; i < n; i++)
        sink += i;
}
int main(void) {
    nest(40, 25);
    for (int i = 0; i < 6; i++)
        alone(50);
    never(0);
    return 0;
}
PROGRAM
cc -O1 -g -static -fno-unroll-loops -o nest nest.c || exit 1
run sim --by loop --top 0 --json -o nest.json -- ./nest 2>why || cat why
cat >loops.py <<'PROGRAM'
import json
report = json.load(open("nest.json"))
loops = report["loops"]
of = lambda name: [loop for loop in loops if loop["function"] == name]
(outer, inner), (work,), (alone,) = of("nest"), of("work"), of("alone")
assert (outer["rounds"], outer["entries"], outer["depth"], outer["outer"]) == (40, 1, 1, None), outer
assert (inner["rounds"], inner["entries"], inner["depth"]) == (1000, 40, 2), inner
assert loops[inner["outer"]] is outer
assert (work["rounds"], work["entries"]) == (400, 40), work
assert (alone["rounds"], alone["entries"]) == (300, 6), alone
assert not of("never")
assert inner["instructions"] % 1000 == 0 and work["instructions"] % 400 == 0
assert abs(outer["cycles"] - outer["self_cycles"] - inner["cycles"]) < 1e-6
assert inner["called_cycles"] == 0 and alone["called_cycles"] == 0
assert outer["called_cycles"] >= work["cycles"] > 0
for loop in loops:
    assert abs(sum(loop["stack"].values()) - loop["cycles"]) < 1e-6 * report["cycles"], loop
    assert loop["self_cycles"] <= loop["cycles"] + 1e-6
    assert loop["outer"] is None or loops[loop["outer"]]["depth"] == loop["depth"] - 1
function = {row["function"]: row for row in report["functions"]}
assert outer["cycles"] <= function["nest"]["cycles"] + 1e-6
assert len(loops) == report["loop_count"]
outermost = [loop["cycles"] for loop in loops if loop["outer"] is None]
assert outermost == sorted(outermost, reverse=True)
PROGRAM
check "rounds, entries and cycles of loops are exact" python3 -S loops.py

run explain --no-what-if --by loop --top 20 -o nest.txt -- ./nest 2>why || cat why
check "the text has a nest, the inner loop indented" \
    bash -c "grep -A1 -E ' nest\+0x[0-9a-f]+ nest.c:1[0-9] ' nest.txt | grep -qE '   +nest\+0x'"
check "with rounds, and rounds of each entry" grep -qE ' 1.00 k +25\.0 .* nest\+' nest.txt
check "on 80 columns it fits" env COLUMNS=80 "$CULPRIT" sim --by loop -o narrow.txt -- ./nest

# Names of templates are shortened, so that what tells loops apart stays.
templates() {
    cat >templates.cc <<'PROGRAM'
#include <map>
#include <string>
template <class Key, class Value> struct index_of_everything {
    std::map<Key, Value> all;
    __attribute__((noinline)) unsigned long sum_all_values(unsigned n) {
        volatile unsigned long sum = all.size();
        for (unsigned i = 0; i < n; i++)
            for (unsigned k = 0; k < 20; k++)
                sum = sum + i;
        return sum;
    }
};
int main(int argc, char **) {
    index_of_everything<std::string, unsigned> index;
    return index.sum_all_values(2000 + argc) == 1;
}
PROGRAM
    g++ -O1 -g -o templates templates.cc && run trace -o templates.ctrace -- ./templates >/dev/null 2>&1 || return 1
    local columns
    for columns in 80 100 140; do
        COLUMNS=$columns run sim --by loop -o narrow.txt templates.ctrace &&
            [ "$(grep -cE '  …?[^ ]*sum_all_values\+0x[0-9a-f]+' narrow.txt)" = 2 ] || { cat narrow.txt; return 1; }
    done
    run sim --by loop --wide -o wide.txt templates.ctrace &&
        grep -q 'index_of_everything<std::.*, unsigned int>::sum_all_values(unsigned int)+0x[0-9a-f]* templates.cc:[0-9]' wide.txt &&
        run sim --by loop --json -o loops.json templates.ctrace &&
        report=loops.json told 'any(l["function"].endswith("::sum_all_values(unsigned int)") for l in r["loops"])'
}
skip_without g++ "loops of a template are told apart" || check "loops of a template are told apart" templates
finish
