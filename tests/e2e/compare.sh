# culprit compare: two builds of a program, of which one has a larger struct, told with function, line
# and event, from commands, traces and reports alike.
. tests/e2e/lib.sh

if skip_without gcc "builds are compared"; then
    finish
fi
# sum() reads a field of each struct, which begins a cache line of its own once it has 64 bytes.
build() {
    {
        echo "struct row { long key; $2 };"
        cat <<'PROGRAM'
struct row rows[4000];
__attribute__((noinline)) long sum(void) {
    long all = 0;
    for (int i = 0; i < 4000; i++)
        all += rows[i].key;
    return all;
}
__attribute__((noinline)) unsigned hash(void) {
    unsigned all = 1;
    for (int i = 0; i < 10000; i++)
        all = all * 33 + (unsigned)i;
    return all;
}
int main(void) {
    return sum() + sum() + sum() + hash() == 7;
}
PROGRAM
    } >"$scratch/$1.c"
    gcc -g -O1 -static -o "$scratch/$1" "$scratch/$1.c" # without the work of the loader
}
build old ""
build new "long more[7];"
# The report alone: on a slow machine there are lines of progress beside it.
compare() {
    run compare "$@" 2>"$scratch/said"
}
first_line() {
    compare "$@" | head -n 1
}

compare "$scratch/old" "$scratch/new" >"$scratch/compared"
told_line=$(head -n 1 "$scratch/compared")

names_the_cause() {
    [[ $told_line =~ \
        ^\+[0-9.]+\ %\ cycles:\ sum\ \+[0-9.]+\ %\ \((L1|LLC)\ misses\ at\ new.c:6:\ struct\ row\ grew\ from\ 8\ to\ 64\ bytes\)$ ]]
}
check "the function, the line and the event that changed are named" names_the_cause
no_difference() {
    [ "$(first_line "$scratch/old" "$scratch/old")" = "no difference: the same cycles" ]
}
check "a program does not differ from itself" no_difference
by_status() {
    run compare --fail-above 1 "$scratch/old" "$scratch/new" >/dev/null
    [ $? = 1 ] && run compare --fail-above 90% "$scratch/old" "$scratch/new" && run compare --fail-above 0 "$scratch/new" "$scratch/old" &&
        fails_with 125 'cannot run' run compare --fail-above 1 "$scratch/old" "$scratch/nothing" &&
        printf 'exit $1\n' >"$scratch/ends" && printf 'kill $$\n' >"$scratch/killed" &&
        fails_with 125 'ended with status 0, and .* with 3' run compare --fail-above 1 -o /dev/null "sh $scratch/ends 0" "sh $scratch/ends 3" &&
        fails_with 125 'ended with signal 15' run compare --fail-above 1 -o /dev/null "sh $scratch/killed" "sh $scratch/killed"
}
check "the status tells whether it is slower, where that is asked for" by_status

# One function does more, the other one less: neither is what made the little that is left.
cat >"$scratch/against.c" <<'PROGRAM'
__attribute__((noinline)) unsigned up(unsigned count) {
    unsigned all = 1;
    for (unsigned i = 0; i < count; i++)
        all = all * 33 + i;
    return all;
}
__attribute__((noinline)) unsigned down(unsigned count) {
    unsigned all = 1;
    for (unsigned i = 0; i < count; i++)
        all = all * 35 + i;
    return all;
}
int main(void) {
    return up(UP) + down(DOWN) == 7;
}
PROGRAM
both_directions() {
    gcc -g -O1 -DUP=25000 -DDOWN=29000 -o "$scratch/before" "$scratch/against.c" &&
        gcc -g -O1 -DUP=30500 -DDOWN=25000 -o "$scratch/after" "$scratch/against.c" || return 1
    compare "$scratch/before" "$scratch/after" >"$scratch/text"
    tr '\n' ' ' <"$scratch/text" | tr -s ' ' | grep -qE '^\+0\.[0-9]+ % cycles: up \+[0-9.]+ % \(more instructions at against.c:[0-9]\), against down -[0-9.]+ % \(fewer instructions at against.c:1[0-9]\) before' &&
        ! grep -qE -- '-0\.0+ %' "$scratch/text" || { cat "$scratch/text"; return 1; }
}
check "what changed the other way is told, where that is nearly all; nothing is -0.00 %" both_directions
# Of 2.1 million cycles one function takes some 3900 more, the other some 900 less.
small_against() {
    sed 's/return up(UP)/return up(600000 + UP)/' "$scratch/against.c" >"$scratch/small.c"
    gcc -g -O1 -DUP=1000 -DDOWN=1220 -o "$scratch/before" "$scratch/small.c" &&
        gcc -g -O1 -DUP=2300 -DDOWN=1000 -o "$scratch/after" "$scratch/small.c" || return 1
    compare "$scratch/before" "$scratch/after" | tee "$scratch/text" | tr '\n' ' ' | tr -s ' ' |
        grep -qE '^\+0\.1 % cycles: up \+0\.[12] % .* against down -0\.0[1-9][0-9] % '
}
check "what would be 0.0 has more digits" small_against

report=$scratch/compared.json
exact_changes() {
    run compare --json --top 0 -o "$report" "$scratch/old" "$scratch/new" &&
        told "r['verdict'] == 'slower' and r['half_interval_95'] == 0" \
            "abs(sum(c['change'] for c in r['changes']) - (r['after']['elapsed_cycles'] - r['before']['elapsed_cycles'])) < 1" \
            "abs(sum(r['after']['components'].values()) - r['after']['elapsed_cycles']) < 1" \
            "r['changes'][0]['function'] == 'sum' and r['changes'][0]['line_after']['line'] == 6" \
            "r['changes'][0]['resized'] == {'type': 'struct row', 'size_before': 8, 'size_after': 64}" \
            "r['changes'][0]['before']['instructions'] == r['changes'][0]['after']['instructions']"
}
check "the changes of functions sum to the change of cycles" exact_changes

same_from_files() {
    local with # a report does not tell of types
    run sim --repeatable --json --top 0 -o "$scratch/old.json" -- "$scratch/old" &&
        run compare --machine zen5 "$scratch/old.json" "$scratch/old" | grep -qx 'machines zen4 before, zen5 after' &&
        run sim --repeatable --machine zen5 --json --top 0 -o "$scratch/other.json" -- "$scratch/old" &&
        [ "$(first_line "$scratch/other.json" "$scratch/old")" = "no difference: the same cycles" ] &&
        run trace --repeatable -o "$scratch/new.ctrace" -- "$scratch/new" >/dev/null 2>&1 || return 1
    with=$(first_line "$scratch/old" "$scratch/new.ctrace")
    [ "$with" = "$told_line" ] &&
        [ "$(first_line "$scratch/old.json" "$scratch/new.ctrace")" = "${with%: struct*})" ]
}
check "reports and traces tell the same as commands" same_from_files

# A report by regions whose CPI is known to so much, of about 0.9, either way.
estimate() {
    python3 -S - "$scratch/old.json" "$1" >"$scratch/estimate.json" <<'PYTHON'
import json, sys
report = json.load(open(sys.argv[1]))
report["regions"] = {"count": 9, "cpi_half_interval_95": float(sys.argv[2])}
json.dump(report, sys.stdout)
PYTHON
}
within_the_interval() {
    estimate 0.001 && [[ $(first_line "$scratch/estimate.json" "$scratch/new") =~ ^\+[0-9.]+\ ±\ 0\.[0-9]\ %\ cycles:\ sum ]] &&
        estimate 9 && [[ $(first_line "$scratch/estimate.json" "$scratch/new") =~ ^"no difference: +"[0-9.]+" ± "[0-9.]+" % cycles"$ ]] &&
        run compare --json -o "$report" "$scratch/estimate.json" "$scratch/new" && told "r['verdict'] == 'same'"
}
check "a difference within the interval of an estimate is none" within_the_interval
# A function that is inlined in one build alone.
cat >"$scratch/inlined.c" <<'PROGRAM'
unsigned data[4000];
static __attribute__((HOW)) unsigned step(unsigned a, unsigned b) {
    return (a ^ b) * 33 + (a >> 7);
}
__attribute__((noinline)) unsigned mix(void) {
    unsigned sum = 1;
    for (int i = 0; i < 4000; i++)
        sum += step(data[i], (unsigned)i);
    return sum;
}
int main(void) {
    unsigned sum = 0;
    for (int k = 0; k < 8; k++) {
        sum += mix();
        __asm__ volatile("" ::: "memory");
    }
    return sum == 7;
}
PROGRAM
inlined() {
    gcc -g -O2 -static -DHOW=always_inline -o "$scratch/in" "$scratch/inlined.c" &&
        gcc -g -O2 -static -DHOW=noinline -o "$scratch/out" "$scratch/inlined.c" || return 1
    [[ $(compare "$scratch/in" "$scratch/out" | head -n 2 | tr -s '\n ' ' ') =~ 'step +'.*'(no longer inlined in mix; ' ]] &&
        [[ $(compare "$scratch/out" "$scratch/in" | head -n 2 | tr -s '\n ' ' ') =~ 'step -'.*'(now inlined in mix; ' ]]
}
check "a function that is inlined in one build alone is compared with itself" inlined
renamed() {
    sed 's/mix/blend/g; s/\* 33/* 35/' "$scratch/inlined.c" >"$scratch/renamed.c"
    gcc -g -O2 -DHOW=always_inline -o "$scratch/renamed" "$scratch/renamed.c" &&
        gcc -g -O2 -DHOW=always_inline -o "$scratch/named" "$scratch/inlined.c" &&
        strip -o "$scratch/stripped" "$scratch/named" || return 1
    compare --top 3 "$scratch/named" "$scratch/renamed" >"$scratch/text"
    compare --top 3 "$scratch/stripped" "$scratch/renamed" >>"$scratch/text"
    cat "$scratch/text"
    [ "$(grep -cE 'blend .*\(was (mix|stripped\+0x[0-9a-f]+); ' "$scratch/text")" = 2 ]
}
check "a function of another name, or of none, is found by its instructions" renamed
markdown() {
    compare --markdown --top 1 "$scratch/old" "$scratch/new" >"$scratch/table" &&
        grep -q '^\*\*+.* cycles: sum ' "$scratch/table" && grep -q '^| +.* | `sum` | ' "$scratch/table"
}
check "the report can be Markdown" markdown
fits() {
    fits_100 "$scratch/compared"
}
check "the report fits the page" fits

reads_alike() {
    [ "$(seq 600 | first_line 'sort' 'sort -r')" != "no difference: the same cycles" ] &&
        [ "$(seq 600 | first_line wc wc -l)" = "no difference: the same cycles" ]
}
check "both commands read the same input and get the arguments" reads_alike
tells_status() {
    compare "$scratch/old" false >"$scratch/text" && grep -q 'false: it ended with status 1' "$scratch/text"
}
check "the status of a command that fails is told" tells_status

run sim --json -o "$scratch/short.json" -- "$scratch/old"
echo '{"program": 3}' >"$scratch/odd.json"
echo 'no object' >"$scratch/none.json"
check "a report without all instructions is refused" fails_with 1 'with --json --top 0' \
    run compare "$scratch/short.json" "$scratch/new"
check "JSON of another kind is refused" fails_with 1 'no report of' \
    run compare "$scratch/odd.json" "$scratch/new"
check "what is no JSON is refused" fails_with 1 'line 1' run compare "$scratch/none.json" "$scratch/new"
# Before the first has run.
second_is_missing() {
    rm -f "$scratch/ran"
    fails_with 127 '^culprit: cannot run ./nowhere: No such file' run compare "touch $scratch/ran" ./nowhere && [ ! -e "$scratch/ran" ]
}
check "a second command that is not there is told at once" second_is_missing
check "a command that is not there is told" fails_with 127 'cannot run' \
    run compare "$scratch/old" "$scratch/nothing"
check "one run is too few" fails_with 2 'what with what' run compare "$scratch/old"

# A thread waits for the other: what functions take is compared with the sum over threads.
of_threads() {
    run compare --json -o "$scratch/threads.json" "$WORKLOADS/x86_64/barrier uneven 2 1" "$WORKLOADS/x86_64/barrier uneven 2 2" >/dev/null &&
        python3 -S - "$scratch/threads.json" <<'PYTHON'
import json, sys
report = json.load(open(sys.argv[1]))
before, after = (sum(report[side]["components"].values()) for side in ("before", "after"))
assert before > 1.05 * report["before"]["elapsed_cycles"]
assert abs(report["percent"] - 100 * (report["after"]["elapsed_cycles"] / report["before"]["elapsed_cycles"] - 1)) < 1e-6
for change in report["changes"]:
    assert abs(change["percent"] - 100 * change["change"] / before) < 1e-6, change
assert " % elapsed cycles; summed over threads: " in report["sentence"], report["sentence"]
assert any("threads take turns in another order in each run" in note for note in report["notes"]), report["notes"]
PYTHON
}
if [ -x "$WORKLOADS/x86_64/barrier" ]; then
    check "of threads elapsed cycles are told apart from their sum" of_threads
else
    skip "of threads elapsed cycles are told apart from their sum" "no x86_64-workloads here"
fi

finish
