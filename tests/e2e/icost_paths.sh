# culprit icost --critical, --slack and --loads: sums close, and programs with a known answer have
# it.
. tests/e2e/lib.sh

report=$scratch/report.json

told_names='path, slack, loads, pieces = (r.get(key) for key in ("critical_path", "slack", "loads", "pieces"))
def icost(a, b):
    return next(p["icost"]["percent"] for p in loads["pairs"] if p["loads"] == [a, b])
print(json.dumps({"path": path, "loads": loads}, indent=1)[:4000])'

sums_close() {
    seq 30000 | awk '{ print ($1 * 7919) % 30011 }' >"$scratch/numbers"
    run trace --stop --limit 60K --output "$scratch/sort.ctrace" -- sort "$scratch/numbers" >/dev/null 2>&1
    run icost --multisim=none --critical --slack --loads=5 --top 0 --json --output "$report" "$scratch/sort.ctrace" &&
        told 'sum(e["cycles"] for e in path["edges"]) == pieces["cycles"]' \
            'sum(i["cycles"] for i in path["instructions"]) <= pieces["cycles"]' \
            'all(sum(e["cycles"] for e in i["edges"]) == i["cycles"] for i in path["instructions"])' \
            'pieces["uops"] == pieces["of_uops"]' \
            'abs(pieces["cycles"] - r["cycles"]) < 0.1 * r["cycles"]' \
            'sum(b["executions"] for b in slack["histogram"]) == slack["executions"]' \
            'sum(i["executions"] for i in slack["instructions"]) == slack["executions"]' \
            'all(0 <= i["least"] <= i["mean"] for i in slack["instructions"])' \
            'loads["together"]["cycles"] < loads["dmiss"]["cycles"]' \
            'len(loads["loads"]) == 5 and len(loads["pairs"]) == 10' \
            'all(l["misses"] <= l["executions"] for l in loads["loads"])'
}
check "cycles of edges sum to the path, executions to those of the slack" sums_close

x86=$WORKLOADS/x86_64

chase() {
    run icost --multisim=none --critical --slack --loads --from chase_one --stop --limit 60K --json --output "$report" -- \
        "$x86/chase" 20000 1 131072 >/dev/null &&
        told 'path["instructions"][0]["function"] == "chase_one"' \
            'path["instructions"][0]["percent"] > 90' \
            'next(e for e in path["edges"] if e["edge"] == "EP miss")["percent"] > 90' \
            'loads["loads"][0]["cost"]["percent"] > 90' \
            'loads["loads"][0]["text"] == path["instructions"][0]["text"]' \
            'any(i["least"] == 0 for i in slack["instructions"])'
}
parallel() {
    run icost --multisim=none --loads --from walk_both --stop --limit 60K --json --output "$report" -- \
        "$x86/lists" 20000 262144 >/dev/null &&
        told 'icost(0, 1) > 80' 'all(l["cost"]["percent"] < 10 for l in loads["loads"])' \
            'loads["together"]["percent"] > 90' '"prefetch both" in loads["reading"][0]'
}
serial() {
    run icost --multisim=none --loads --from walk_twice_as_fast --stop --limit 60K --json --output "$report" -- \
        "$x86/lists" 20000 262144 >/dev/null &&
        told 'icost(0, 1) < -30' 'all(l["cost"]["percent"] > 30 for l in loads["loads"][:2])' \
            'loads["loads"][2]["cost"]["percent"] < 10' \
            '"prefetching one is enough" in loads["reading"][0]'
}
for test in "chase: one load is the critical path" "parallel: two lists are worth prefetching together only" \
    "serial: of two loads in series prefetching one is enough"; do
    skip_without x86_64-workloads "$test" || check "$test" "${test%%:*}"
done

text_fits() {
    run icost --multisim=none --critical --slack --loads --output "$scratch/text" "$scratch/sort.ctrace" \
        "$scratch/sort.ctrace" && cat "$scratch/text" &&
        [ "$(grep -c '^critical path of [0-9]' "$scratch/text")" = 2 ] &&
        grep -q '^ interaction, % of time' "$scratch/text" &&
        python3 -S -c 'import sys; assert all(len(line) <= 101 for line in open(sys.argv[1]))' "$scratch/text"
}
check "the text has a part for each trace and fits 100 columns" text_fits

# Of threads, the path goes from one to the other: all instructions on it are the elapsed time.
threads() {
    local critical=$WORKLOADS/x86_64/critical
    run icost --multisim=none --critical --top 0 --json -o "$scratch/path.json" -- "$critical" long 2 4 >/dev/null 2>&1 &&
        python3 -S - "$scratch/path.json" <<'END_OF_PATH'
import json, sys
path = json.load(open(sys.argv[1]))["thread_path"]
together, rows = path["together"], path["instructions"]
assert abs(sum(row["share"] for row in rows) * together["elapsed_cycles"] - together["critical_path"]["running"]) < 1
assert together["critical_path"]["running"] == together["elapsed_cycles"]
assert path["instruction_rows"] == len(rows) and rows == sorted(rows, key=lambda row: -row["share"])
assert rows[0]["function"] == "result_of" and rows[0]["file"].endswith("threaded.h")
assert any(wait["critical_cycles"] for wait in together["waits"])
END_OF_PATH
    run trace -o "$scratch/threads.ctrace" -- "$critical" long 2 4 >/dev/null 2>&1 &&
        run icost --multisim=none --critical --limit 400K "$scratch/threads.ctrace" >"$scratch/text" &&
        grep -q '^critical path across threads: not told, each thread is simulated alone: only a part' "$scratch/text"
}
if has x86_64-workloads; then
    check "the critical path goes across threads" threads
else
    skip "the critical path goes across threads" "no x86_64-workloads here"
fi

refuses() {
    local said
    said=$(run icost --loads=65 "$scratch/sort.ctrace" 2>&1)
    [ $? = 2 ] && grep -q 'loads 65: from 1 to 64' <<<"$said" || return 1
    said=$(run icost --critical --ideal dl1 "$scratch/sort.ctrace" 2>&1)
    [ $? = 2 ] && grep -q 'ideal' <<<"$said"
}
check "what cannot be shown is refused" refuses

# Where functions are shown, a stripped program's have no names, and why is told.
names_are_missed() {
    cp "$WORKLOADS/riscv64/chase" "$scratch/stripped" && riscv64-linux-gnu-strip "$scratch/stripped" &&
        run icost --multisim=none --critical --limit 50K -- "$scratch/stripped" 2>"$scratch/text" >/dev/null &&
        grep -q 'functions without names, in stripped files: stripped' "$scratch/text"
}
skip_without riscv64-linux-gnu-strip "missing names are told of" ||
    check "missing names are told of" names_are_missed

# Of a command whose children are left out their share stands in the head.
children_have_a_share() {
    run icost --multisim=none -- sh -c 'seq 100000 | sort -n | tail -1; :' 2>"$scratch/text" >/dev/null &&
        sed -n 3p "$scratch/text" | grep -q '% was spent in .*: --follow'
}
check "the share of children is told" children_have_a_share

# Who called whom beside what causes cost: its cycles are those simulated, the graph's length is near.
call_tree() {
    run icost --multisim=none --tree --folded "$scratch/folded" --json --output "$report" "$scratch/sort.ctrace" &&
        told 'abs(sum(f["self"] for f in r["tree"]) - r["tree"][0]["total"]) < 1e-3' \
            'abs(r["tree"][0]["total"] - r["cycles"]) < 0.01 * r["cycles"]' \
            'sum(f["self_instructions"] for f in r["tree"]) == r["instructions"]' \
            'r["sets"] and not "procedures" in r' &&
        run icost --multisim=none --tree --least 5 --output "$scratch/text" "$scratch/sort.ctrace" &&
        grep -qE '^ *[0-9.]+ % +[0-9.]+ % .*_dl_relocate_object ' "$scratch/text"
}
check "its call tree sums to the run" call_tree
check "what is told in place of --by path" fails_with 2 "category PARTS@FUNCTION" run icost --by path
check "of one run alone" fails_with 2 "they are of a single run" run icost --tree --regions nowhere.csv

finish
