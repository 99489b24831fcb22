# culprit sim --regions: regions of a list, simulated side by side, combined into the whole run.
. tests/e2e/lib.sh

seq 300000 | awk '{ print ($1 * 7919) % 300007, $1 }' >"$scratch/numbers"
report=$scratch/report.json
run trace --limit 40M -o "$scratch/full.ctrace" -- gzip -9 -c "$scratch/numbers" \
    >/dev/null 2>"$scratch/said" || cat "$scratch/said"

combined() {
    local jobs
    region_list "$scratch/three.csv" x86_64 "gzip -9" 40000003 full.ctrace 0:1000001:0.1 5000000:7000000:0.55 30000000:31000000:0.35
    for jobs in 1 2 5; do
        run sim --regions "$scratch/three.csv" --jobs "$jobs" --top 0 --json --output "$report" &&
            python3 tests/e2e/check_report.py "$report" 'r["instructions"] == 40000003' \
                'r["instructions_simulated"] == 4000001' \
                'r["regions"] == {"count": 3, "simulated": 3, "slices": 40, "warmed_instructions": 35000000}' \
                'r["sampling"] is None' 'not r["partial"]' \
                'any("validate" in n for n in r["notes"])' || return 1
        grep -vE '"(seconds|instructions_per_second|next)":' "$report" >"$scratch/jobs$jobs"
    done
    same_file "$scratch/jobs1" "$scratch/jobs2" && same_file "$scratch/jobs1" "$scratch/jobs5"
}
check "regions combine exactly, whatever the jobs" combined

# A region without an end marker is as long as it was when it was profiled.
captured_beyond() {
    sed 's/,full.ctrace,30000000,31000000,/,full.ctrace,30000000,40000000,/' "$scratch/three.csv" >"$scratch/beyond_end.csv"
    ! same_file "$scratch/three.csv" "$scratch/beyond_end.csv" &&
        run sim --regions "$scratch/beyond_end.csv" --top 0 --json --output "$report" &&
        grep -vE '"(seconds|instructions_per_second|next)":' "$report" | cmp - "$scratch/jobs1"
}
check "a region captured beyond its end is simulated to its end" captured_beyond

# The region that is everything is the plain simulation.
everything() {
    region_list "$scratch/all.csv" x86_64 "gzip -9" 2000000 "$scratch/2M.ctrace" 0:2000000:1
    run trace --limit 2M -o "$scratch/2M.ctrace" -- gzip -9 -c "$scratch/numbers" >/dev/null 2>&1
    run sim --regions "$scratch/all.csv" --top 0 --json --output "$report" &&
        run sim --top 0 --json --output "$scratch/plain.json" "$scratch/2M.ctrace" &&
        python3 - "$report" "$scratch/plain.json" <<'END'
import json, sys
a, b = (json.load(open(path)) for path in sys.argv[1:])
for key in ("instructions", "cycles", "units", "commit_states", "stack", "threads", "statistics",
            "function_count", "instruction_count"):
    assert a[key] == b[key], key
order = lambda row: (row["image"], row["offset"], row["units"], row["text"])
for table in "functions", "hot_instructions":
    assert sorted(a[table], key=order) == sorted(b[table], key=order), table
END
}
check "one region that is everything gives what the plain simulation gives" everything

# Slices of the full run are what a region takes with everything before it warmed, nearly.
warms() {
    region_list "$scratch/one.csv" x86_64 "gzip -9" 40000000 full.ctrace 20000000:22000000:1
    run sim --regions "$scratch/one.csv" --warm-up 0 --json --output "$scratch/cold.json" &&
        run sim --regions "$scratch/one.csv" --json --output "$report" &&
        python3 - "$report" "$scratch/cold.json" <<'END'
import json, sys
warm, cold = (json.load(open(path)) for path in sys.argv[1:])
assert warm["cycles"] < cold["cycles"], (warm["cycles"], cold["cycles"])
assert warm["statistics"]["l1d"]["misses"] < cold["statistics"]["l1d"]["misses"]
assert cold["regions"]["warmed_instructions"] == 0
assert warm["regions"]["warmed_instructions"] == 20000000
END
}
check "what comes before a region warms caches" warms

# The whole way: profile, choose, capture, simulate; against the full simulation.
whole_way() {
    local small=$scratch/small
    head -n 5000 "$scratch/numbers" >"$small"
    run bbv --size 500K -o "$small.bb" -- gzip -9 -c "$small" >/dev/null &&
        run regions --max-clusters 4 -o "$small.csv" "$small.bb" >/dev/null &&
        run trace --regions "$small.csv" --warm-up 2M -o "$small" -- gzip -9 -c "$small" >/dev/null &&
        run sim --regions "$small.regions.csv" --top 0 --json --output "$report" &&
        python3 tests/e2e/check_report.py "$report" 'r["regions"]["simulated"] >= 2' &&
        run sim --json --output "$scratch/full.json" -- gzip -9 -c "$small" >/dev/null &&
        python3 - "$report" "$scratch/full.json" <<'END'
import json, sys
regions, full = (json.load(open(path)) for path in sys.argv[1:])
assert regions["instructions"] == full["instructions"], (regions["instructions"], full["instructions"])
assert abs(regions["cpi"] / full["cpi"] - 1) < 0.1, (regions["cpi"], full["cpi"])
END
}
check "regions that were profiled, chosen and captured tell the whole run's CPI" whole_way

text_is_honest() {
    run sim --regions "$scratch/three.csv" --top 3 --output "$scratch/text" &&
        python3 -c 'import sys
for line in open(sys.argv[1]):
    assert len(line.rstrip("\n")) <= 100, line' "$scratch/text" &&
        tr -s ' \n' ' ' <"$scratch/text" >"$scratch/line" &&
        grep -q "estimated from 3 regions chosen from 40 slices: 4.00 M of 40.0 M" "$scratch/line" &&
        ! grep -qE "±|95 %|empty at the start" "$scratch/line"
}
check "the text says what the estimate rests on, and claims no interval" text_is_honest

interrupted() {
    region_list "$scratch/long.csv" x86_64 "gzip -9" 40000000 full.ctrace 0:10000:0.4 20000:40000000:0.6
    "$CULPRIT" sim --regions "$scratch/long.csv" --jobs 1 --top 0 --json --output "$report" &
    until_used $! 1
    kill -INT $!
    wait $!
    [ $? = 130 ] || { echo "status"; return 1; }
    python3 tests/e2e/check_report.py "$report" 'r["partial"]' 'r["instructions"] == 40000000' \
        'r["regions"]["simulated"] == 1' \
        'any("1 of 2 regions" in n for n in r["notes"])'
}
check "interrupted, the regions done stand for all" interrupted

ends_early() {
    region_list "$scratch/beyond.csv" x86_64 "gzip -9" 40000000 full.ctrace 0:10000:0.5 39000000:41000000:0.5
    fails_with 1 "region 2: .*full.ctrace: it ends 1000000 instructions early" \
        run sim --regions "$scratch/beyond.csv"
}
check "a trace that ends early is named, with its region" ends_early
missing() {
    region_list "$scratch/missing.csv" x86_64 "gzip -9" 40000000 nothere.ctrace 0:10000:1
    fails_with 1 "region 1: $scratch/nothere.ctrace: " run sim --regions "$scratch/missing.csv"
}
check "a trace that is missing is named, with its region" missing
uncaptured() {
    cut -d, -f1-18 "$scratch/three.csv" >"$scratch/uncaptured.csv"
    fails_with 1 "region 1 has no trace \(capture it with" run sim --regions "$scratch/uncaptured.csv"
}
check "a list that was not captured" uncaptured
check "a list and a command" fails_with 125 "the list names its traces" \
    run sim --regions "$scratch/three.csv" -- true
check "jobs without a list" fails_with 2 "add --regions LIST" run sim --jobs 2 "$scratch/full.ctrace"
check "no jobs" fails_with 2 "from 1 to 1024" run sim --regions "$scratch/three.csv" --jobs 0

finish
