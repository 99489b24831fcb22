"""Checks a JSON report: check_report.py REPORT [EXPRESSION over the report r, which must hold]..."""
import json
import sys

r = json.load(open(sys.argv[1]))
total = r["units"]
assert r["units_per_cycle"] == 840 and total == r["cycles"] * 840, "units"
assert sum(r["commit_states"].values()) == r["cycles"], "commit states"
assert abs(sum(r["stack"].values()) - r["cycles"]) < 1e-6 * r["cycles"], "stack"
assert abs(sum(r["components"].values()) - r["cycles"]) < 1e-6 * r["cycles"], "components"
for table in "functions", "hot_instructions":
    assert sum(row["units"] for row in r[table]) == total, table
    assert sum(row["instructions"] for row in r[table]) == r["instructions"], table
    for row in r[table]:
        assert abs(sum(row["stack"].values()) - row["cycles"]) < 1e-6 * max(1, row["cycles"])
if len(r["functions"]) == r["function_count"] and len(r["hot_instructions"]) == r["instruction_count"]:
    by_function, by_instruction = {}, {}
    for table, sums in (("functions", by_function), ("hot_instructions", by_instruction)):
        for row in r[table]:
            place = row["image"], row["function"]
            sums[place] = sums.get(place, 0) + row["units"]
    assert by_function == by_instruction, "functions against their instructions"
assert sum(t["cycles"] for t in r["threads"]) == r["cycles"], "threads"
assert abs(r["cpi"] - r["cycles"] / r["instructions"]) < 1e-9, "cpi"
for expression in sys.argv[2:]:
    assert eval(expression), expression + " in " + repr({k: r[k] for k in ("instructions", "cycles")})
