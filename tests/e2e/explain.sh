# culprit explain: long runs are sampled, with weights that still sum exactly.
. tests/e2e/lib.sh

RUN_LIMIT=120
seq 40000 >"$scratch/numbers"
run trace -o "$scratch/gzip.ctrace" -- gzip -9 -c "$scratch/numbers" >/dev/null 2>&1

sampled() {
    run explain --systematic "$scratch/gzip.ctrace" --json --top 0 >"$scratch/report" &&
        python3 tests/e2e/check_report.py "$scratch/report" 'r["sampling"]["windows"] > 8' \
            'r["instructions_simulated"] < r["instructions_executed"]' \
            '0.9 < r["instructions"] / r["instructions_executed"] <= 1' \
            'r["sampling"]["cpi_half_interval_95"] > 0' \
            'any("sampling error" in n for n in r["notes"])' 'any("--warm" in n for n in r["notes"])' \
            'len(r["what_if"]["costs"]) == 8 and len(r["what_if"]["pairs"]) == 28' \
            'all(0 <= c["cost"]["percent"] < 100 for c in r["what_if"]["costs"])'
}
check "a long run is sampled; weighted cycles sum exactly" sampled

covers() {
    run explain --exact "$scratch/gzip.ctrace" --json --top 1 >"$scratch/exact" &&
        python3 - "$scratch/report" "$scratch/exact" <<'END'
import json, sys
sampled, exact = (json.load(open(path)) for path in sys.argv[1:])
print(sampled["cpi"], sampled["sampling"], exact["cpi"])
assert exact["sampling"] is None
assert exact["instructions"] == exact["instructions_executed"] == sampled["instructions_executed"]
# Another gzip may fall among the 5 % outside the interval, but not beyond twice as much.
half = sampled["sampling"]["cpi_half_interval_95"]
assert half < 0.05 * exact["cpi"]
assert abs(sampled["cpi"] - exact["cpi"]) < 2 * half
END
}
check "the sampled CPI is near the exact one" covers

# The costs are those of icost, which takes all instructions.
what_if() {
    run icost --json "$scratch/gzip.ctrace" >"$scratch/icost" &&
        python3 - "$scratch/exact" "$scratch/icost" <<'END'
import json, sys
some, every = (json.load(open(path)) for path in sys.argv[1:])
costs = {c["category"]: c["cost"]["percent"] for c in some["what_if"]["costs"]}
for s in every["sets"]:
    if len(s["members"]) == 1:
        print(s["members"][0], costs[s["members"][0]], s["cost"]["percent"])
        assert abs(costs[s["members"][0]] - s["cost"]["percent"]) < 4
END
}
check "what if, from a part of the instructions, is near icost" what_if

words() {
    run explain --limit 300K -- gzip -c "$scratch/numbers" 2>"$scratch/text" >/dev/null &&
        for word in 'what the words mean' execute mispredict 'L1 miss' stalled kernel 'what if' 'overlap' 'next: culprit explain'; do
            grep -q "$word" "$scratch/text" || { echo "no $word"; return 1; }
        done
}
check "every word is explained" words

finish
