# culprit diff and variance: profiles of the store against each other, exactly, as simulations have
# no chance in them.
. tests/e2e/lib.sh

export CULPRIT_STORE=$scratch/profiles.db

# work() counts in a loop, idle() hardly; the second build has one more function in front of them.
build() {
    mkdir -p "$scratch/$1"
    cat >"$scratch/$1/program.c" <<PROGRAM
$2
volatile unsigned total;
__attribute__((noinline)) void work(unsigned n) { for (unsigned i = 0; i < n; i++) total += i; }
__attribute__((noinline)) void idle(unsigned n) { for (unsigned i = 0; i < n; i++) total ^= i; }
int main(void) { work($3); idle(1000); return 0; }
PROGRAM
    gcc -O1 -o "$scratch/$1/program" "$scratch/$1/program.c"
}
if skip_without gcc "profiles are compared"; then
    finish
fi
build one "" 20000
build two "__attribute__((noinline)) int more(int a) { return a * a + 1; }" 60000
save() {
    run sim --save --output "$scratch/report" --store "$1" "${@:2}" >"$scratch/said" 2>&1 || cat "$scratch/said"
}
saved() {
    save "$CULPRIT_STORE" -- "$scratch/one/program" && save "$CULPRIT_STORE" -- "$scratch/two/program" &&
        save "$CULPRIT_STORE" -- "$scratch/one/program" && save "$scratch/other.db" -- "$scratch/two/program"
}
check "profiles to compare" saved
by_process() {
    run top --by process >"$scratch/text" && tr -s ' \n' ' ' <"$scratch/text" | grep 'a simulated run is one process, .*--by image' &&
        run top --by image >"$scratch/text" && ! grep 'is one process' "$scratch/text"
}
check "processes of a simulation are not told apart, and it says so" by_process

# A program compares with itself rebuilt: work() is one row, though it lies elsewhere.
rebuilt() {
    run diff --json --top 0 "$@" >"$scratch/diff.json" && python3 -S - "$scratch/diff.json" <<'PYTHON'
import json, sys
diff = json.load(open(sys.argv[1]))
assert diff["compared"] == "share" and diff["row_count"] == len(diff["rows"])
rows = [r for r in diff["rows"] if r["image"].endswith("/program")]
work, = [r for r in rows if r["procedure"] == "work"]
idle, = [r for r in rows if r["procedure"] == "idle"]
assert 2.5 < work["after"] / work["before"] < 3.5 and 0.8 < idle["after"] / idle["before"] < 1.2, (work, idle)
assert work == diff["rows"][0] and work["change"] > 0 > idle["change"] and work["sigmas"] is None
totals = [diff[side]["event"]["total"] for side in ("before", "after")]
for key, total in zip(("before", "after"), totals):
    assert abs(sum(r[key] for r in diff["rows"]) - total) < 1e-6 * total
    assert abs(work["measure_" + key] - work[key] / total) < 1e-9
changes = [abs(r["change"]) for r in diff["rows"]]
assert changes == sorted(changes, reverse=True) and abs(sum(r["change"] for r in diff["rows"])) < 1e-9
PYTHON
}
check "two epochs" rebuilt --epoch 1 --epoch 2
check "a list of two epochs" rebuilt --epoch 1..2
check "two stores" rebuilt --epoch 1 "$CULPRIT_STORE" "$scratch/other.db"
check "two stores, each with its epochs" rebuilt --epoch 3 --epoch 1 "$CULPRIT_STORE" "$scratch/other.db"

# The two builds under names of their own: work() is still one row, and the sums stand below.
renamed() {
    cp "$scratch/one/program" "$scratch/old" && cp "$scratch/two/program" "$scratch/new" &&
        save "$scratch/names.db" -- "$scratch/old" && save "$scratch/names.db" -- "$scratch/new" || return 1
    run diff --json --top 0 --store "$scratch/names.db" --epoch 1,2 >"$scratch/diff.json" &&
        run diff --compare count --store "$scratch/names.db" --epoch 1,2 >"$scratch/text" &&
        python3 -S - "$scratch/diff.json" "$scratch/text" <<'PYTHON'
import json, re, sys
diff = json.load(open(sys.argv[1]))
work, = [r for r in diff["rows"] if r["procedure"] == "work"]
assert work["image"].endswith("/new") and 2.5 < work["after"] / work["before"] < 3.5, work
more, = [r for r in diff["rows"] if r["procedure"] == "main"]
assert more["before"] > 0 and more["after"] > 0
assert any(n.startswith("old and new are taken for two builds") for n in diff["notes"])
text = open(sys.argv[2]).read()
before, after = (diff[side]["event"]["total"] for side in ("before", "after"))
total = re.search(r"^ +([0-9,]+) +([0-9,]+) +([+-][0-9,]+)  total$", text, re.M)
figures = [int(f.replace(",", "")) for f in total.groups()]
assert abs(figures[0] - before) <= 1 and abs(figures[1] - after) <= 1, (figures, before, after)
assert abs(figures[2] - (after - before)) <= 1 and re.search(r"[+-]\d{1,3},\d{3}", text)
PYTHON
}
check "two builds of one program under two names" renamed

counts() {
    run diff --json --compare count --epoch 1,3 >"$scratch/same.json" &&
        run diff --json --compare count --top 1 --epoch 1,2 >"$scratch/more.json" &&
        python3 -S - "$scratch/same.json" "$scratch/more.json" <<'PYTHON'
import json, sys
same, more = (json.load(open(name)) for name in sys.argv[1:])
assert all(r["change"] == 0 == r["after"] - r["before"] for r in same["rows"])
assert len(more["rows"]) == 1 and more["rows"][0]["procedure"] == "work"
assert abs(more["rows"][0]["change"] - more["rows"][0]["after"] + more["rows"][0]["before"]) < 1e-6
PYTHON
}
check "counts, of the same program nothing changed" counts

text() {
    run diff --epoch 1 --epoch 2 >"$scratch/text" && ! grep -qE '^.{101}| $' "$scratch/text" &&
        grep -qE '^before: epoch 1: .*/one/program$' "$scratch/text" &&
        grep -qE '^ +[0-9,]+ +[0-9.]+ % +[0-9,]+ +[0-9.]+ % +\+[0-9.]+  work +program$' "$scratch/text" &&
        grep -qE "^next: culprit top --epoch 2 --image program$" "$scratch/text" || { cat "$scratch/text"; return 1; }
}
check "as text" text

# The range of work() over three sets, from the three totals.
varies() {
    run variance --json --top 0 --epoch 1..3 >"$scratch/variance.json" && python3 -S - "$scratch/variance.json" <<'PYTHON'
import json, statistics, sys
report = json.load(open(sys.argv[1]))
assert len(report["sets"]) == 3
work, = [r for r in report["rows"] if r["procedure"] == "work"]
values = work["values"]
assert values[0] == values[2] < values[1] and work["sets"] == 3
assert abs(work["range"] - (max(values) - min(values)) / sum(values)) < 1e-12
assert abs(work["deviation"] - statistics.stdev(values)) < 1e-6
assert abs(work["share"] - sum(values) / report["total"]) < 1e-12
assert abs(report["total"] - sum(s["event"]["total"] for s in report["sets"])) < 1e-3
ranges = [r["range"] for r in report["rows"]]
assert ranges == sorted(ranges, reverse=True)
PYTHON
}
check "variance over three epochs" varies

variance_text() {
    run variance --epoch 1 --epoch 2 --epoch 3 >"$scratch/text" && ! grep -qE '^.{101}| $' "$scratch/text" &&
        grep -qE '^set 2: epoch 2: .*/two/program$' "$scratch/text" &&
        grep -qE '^ range% +sum +sum% +N +mean +std-dev +min +max  procedure$' "$scratch/text" &&
        grep -qE '^ *[0-9.]+% +[0-9,]+ +[0-9.]+% +3 .*  work$' "$scratch/text" &&
        grep -qE '^ - left out: [0-9]+ rows with less than 1 %' "$scratch/text" &&
        grep -qE '^next: culprit diff --epoch [13] --epoch 2$' "$scratch/text" || { cat "$scratch/text"; return 1; }
}
check "variance as text" variance_text

check "one set is no comparison" fails_with 1 'two sets are compared' run diff
check "three sets are too many" fails_with 1 'two sets are compared, not 3' run diff --epoch 1..3
check "three stores are too many" fails_with 2 'at most 2 stores' run diff a b c
check "a number of an epoch is no store" fails_with 2 '1: no such store \(an epoch is named by --epoch 1\)' run diff 1 2
check "no such measure" fails_with 2 'one of share, count, rate' run diff --compare size
check "a simulation has no rate" fails_with 1 'no length' run diff --compare rate --epoch 1..2
check "lists for some stores only" fails_with 1 '3 lists of epochs' \
    run diff --epoch 1 --epoch 1 --epoch 1 "$CULPRIT_STORE" "$scratch/other.db"
check "variance of one set" fails_with 1 'two sets are compared' run variance
check "variance by epoch" fails_with 2 'epochs are what is compared' run variance --by epoch --epoch 1..2
check "variance of several events" fails_with 2 'one at a time' run variance --event a --event b
finish
