# culprit explain: its intervals hold what a simulation of everything takes.
. tests/e2e/lib.sh

cc -O1 -o "$scratch/uneven" tests/guests/uneven.c

# Data decide how long the same code takes. The first regions leave much open, so more are taken, all
# slices here; of fewer the interval holds what all slices took. Where slices begin depends on the
# environment's size, and with it which are chosen: twice the interval is not left by chance.
takes_more() {
    run explain --keep 0 --regions-over 20M --json --top 0 --output "$scratch/more" -- "$scratch/uneven" 180 >/dev/null &&
        json more '160 < r["regions"]["count"] == r["regions"]["slices"]' "$(note '160 regions left')" \
            'r["regions"]["cpi_half_interval_95"] == 0' \
            'any(cost["cost"]["percent"] > 1 for cost in r["what_if"]["costs"])'
}
check "regions that leave much open are not all that is taken" takes_more

interval() {
    run explain --keep 0 --regions-over 20M --regions 40 --json --top 0 --output "$scratch/some" -- "$scratch/uneven" 180 >/dev/null &&
        json some 'r["regions"]["count"] == 40' 'r["regions"]["cpi_half_interval_95"] > 0.03 * r["cpi"]' \
            "not ($(note 'regions left'))" "$(note 'CPI within ±')" &&
        python3 - "$scratch/some" "$scratch/more" <<'END'
import json, sys
some, more = (json.load(open(path)) for path in sys.argv[1:])
print(some["cpi"], more["cpi"], some["regions"])
assert abs(some["cpi"] - more["cpi"]) <= 2 * some["regions"]["cpi_half_interval_95"]
halves = some["regions"]["component_half_intervals_95"]
for name, cycles in more["components"].items():
    off = abs(some["components"][name] - cycles * some["instructions"] / more["instructions"])
    assert off <= 2 * halves[name] + 1e-3 * some["cycles"], (name, off, halves[name])
assert halves["mispredict"] > 0.01 * some["cycles"]
END
}
check "the interval holds what all slices took, the stack's too" interval

seq 34000 >"$scratch/numbers"
run trace -o "$scratch/gzip.ctrace" -- gzip -9 -c "$scratch/numbers" >/dev/null 2>&1
covers() {
    run explain --systematic "$scratch/gzip.ctrace" --json --top 0 >"$scratch/report" &&
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

finish
