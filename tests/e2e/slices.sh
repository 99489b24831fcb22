# culprit sim --slices: what each slice took sums to what the run took.
. tests/e2e/lib.sh

seq 60000 | awk '{ print ($1 * 7919) % 300007, $1 }' >"$scratch/numbers"
report=$scratch/report.json
slices=$scratch/slices.csv

# sums [EXPRESSION over the report r and the lines s]...
sums() {
    python3 -S - "$report" "$slices" "$@" <<'END'
import csv, json, sys
r = json.load(open(sys.argv[1]))
s = [{k: int(v) for k, v in row.items()} for row in csv.DictReader(open(sys.argv[2]))]
states = ("computing", "stalled", "flushed", "drained")
for row in s:
    assert sum(row[k] for k in states) == row["cycles"], row
    assert sum(v for k, v in row.items() if k.startswith("units_")) == 840 * row["cycles"], row
for state in states:
    assert sum(row[state] for row in s) == r["commit_states"][state], state
assert sum(row["instructions"] for row in s) == r["instructions"]
assert sum(row["cycles"] for row in s) == r["cycles"]
for level in "l1i", "l1d", "l2", "llc":
    assert sum(row[level + "_misses"] for row in s) == r["statistics"][level]["misses"], level
base = sum(row["units_base"] for row in s) / 840
assert abs(base - r["stack"]["Base"]) < 1e-6 * r["cycles"]
for expression in sys.argv[3:]:
    assert eval(expression), expression
END
}

of_a_size() {
    run sim --limit 2M --slices "$slices" --slice-size 300K --json --output "$report" -- \
        gzip -9 -c "$scratch/numbers" | cmp - <(gzip -9 -c "$scratch/numbers") &&
        sums 'len(s) == 7' '[row["first"] for row in s] == [i * 300000 for i in range(7)]' \
            's[6]["instructions"] <= 200000'
}
check "slices of a size sum to the run" of_a_size

of_threads() {
    run sim --slices "$slices" --slice-size 10K --json --output "$report" -- \
        "$WORKLOADS/x86_64/threads" 5000 3 >/dev/null &&
        sums 'len({row["thread"] for row in s}) >= 4' \
            's == sorted(s, key=lambda row: (row["thread"], row["first"]))'
}
skip_without x86_64-workloads "threads" || check "slices of threads sum to the run" of_threads

like_a_table() {
    {
        echo "culprit-slices 1"
        echo "isa x86_64"
        echo "command gzip"
        echo "size 400000"
        echo "image 0 - /usr/bin/gzip"
        echo "process 0 1 /usr/bin/gzip"
        echo "block 1 0 4000 5"
        echo "slice 0 0 0 400007 0 4000 1"
        echo "slice 0 0 400007 400001 0 4000 9"
        echo "end 800008"
    } >"$scratch/gzip.bb.slices"
    run sim --limit 1M --slices "$slices" --slices-like "$scratch/gzip.bb.slices" --json \
        --output "$report" -- gzip -9 -c "$scratch/numbers" >/dev/null &&
        sums '[(row["first"], row["instructions"]) for row in s][:2] == [(0, 400007), (400007, 400001)]' \
            'len(s) == 3'
}
check "slices end where a table says" like_a_table

check "no such table" fails_with 125 "nothere.*No such file" \
    run sim --slices "$slices" --slices-like "$scratch/nothere" -- true
check "positions count from the beginning" fails_with 125 "without --skip" \
    run sim --slices "$slices" --skip 5 -- true
check "a size without a file" fails_with 125 "add --slices FILE" run sim --slice-size 5 -- true

finish
