# culprit sim --regions: regions of a list, simulated side by side, combined into the whole run.
. tests/e2e/lib.sh

seq 100000 | awk '{ print ($1 * 7919) % 100003, $1 }' >"$scratch/numbers"
report=$scratch/report.json
run trace --stop --limit 8M -o "$scratch/full.ctrace" -- gzip -9 -c "$scratch/numbers" \
    >/dev/null 2>"$scratch/said" || cat "$scratch/said"

combined() {
    local jobs
    region_list "$scratch/three.csv" x86_64 "gzip -9" 10000003 full.ctrace 0:250001:0.1 1250000:1750000:0.55 2500000:2750000:0.35
    for jobs in 1 2 5; do
        run sim --regions "$scratch/three.csv" --jobs "$jobs" --top 0 --json --output "$report" || return 1
        [ "$jobs" != 1 ] || python3 -S tests/e2e/check_report.py "$report" 'r["instructions"] == 10000003' \
            'r["instructions_simulated"] == 1000001' \
            'r["regions"]["cpi_half_interval_95"] is None' \
            '{key: r["regions"][key] for key in ("count", "simulated", "slices", "warmed_instructions")} == {"count": 3, "simulated": 3, "slices": 40, "warmed_instructions": 3750000}' \
            'r["sampling"] is None' 'not r["partial"]' \
            'any("validate" in n for n in r["notes"])'|| return 1
        grep -vE '"(seconds|instructions_per_second|next)":' "$report" >"$scratch/jobs$jobs"
    done
    same_file "$scratch/jobs1" "$scratch/jobs2" && same_file "$scratch/jobs1" "$scratch/jobs5"
}
check "regions combine exactly, whatever the jobs" combined

# A region without an end marker is as long as it was when it was profiled.
captured_beyond() {
    sed 's/,full.ctrace,2500000,2750000,/,full.ctrace,2500000,5000000,/' "$scratch/three.csv" >"$scratch/beyond_end.csv"
    ! same_file "$scratch/three.csv" "$scratch/beyond_end.csv" &&
        run sim --regions "$scratch/beyond_end.csv" --top 0 --json --output "$report" &&
        grep -vE '"(seconds|instructions_per_second|next)":' "$report" | cmp - "$scratch/jobs1"
}
check "a region captured beyond its end is simulated to its end" captured_beyond

# Two runs of 3 and 5 million instructions whose regions were chosen together. Each region stands for
# its share of the 8 million, whichever run it is in: combined CPI is the sum of weights times CPIs.
# cpi_of START:END, alone.
cpi_of() {
    region_list "$scratch/alone.csv" x86_64 "gzip -9" 8000000 full.ctrace "$1:1"
    run sim --regions "$scratch/alone.csv" --json --output "$scratch/alone.json" &&
        python3 -S -c 'import json, sys; print(repr(json.load(open(sys.argv[1]))["cpi"]))' "$scratch/alone.json"
}
# merged_list RUN INSTRUCTIONS START:END:WEIGHT...: $scratch/mergedRUN.csv
merged_list() {
    region_list "$scratch/merged$1.csv" x86_64 "run $1" "$2" full.ctrace "${@:3}"
    sed -i "s/^# method: .*/&\n# merged: $1 3 8000000/" "$scratch/merged$1.csv"
}
merged() {
    merged_list 0 3000000 1000000:1200000:0.25
    merged_list 1 5000000 2000000:2100000:0.5 3000000:3300000:0.25
    run sim --regions "$scratch/merged0.csv" --regions "$scratch/merged1.csv" --top 0 --json --output "$report" &&
        python3 -S tests/e2e/check_report.py "$report" 'r["instructions"] == 8000000' \
            'r["regions"]["count"] == 3' 'r["program"] == "run 0, run 1"' 'len(r["threads"]) == 2' \
            "abs(r['cpi'] / (0.25 * $(cpi_of 1000000:1200000) + 0.5 * $(cpi_of 2000000:2100000) + 0.25 * $(cpi_of 3000000:3300000)) - 1) < 1e-5" ||
        return 1
    fails_with 1 "stand for 25.0 % of 3 merged runs" run sim --regions "$scratch/merged0.csv" &&
        fails_with 1 "are both of run 0" run sim --regions "$scratch/merged0.csv" --regions "$scratch/merged0.csv" &&
        fails_with 1 "its weights are of its own run alone" \
            run sim --regions "$scratch/three.csv" --regions "$scratch/merged0.csv" &&
        fails_with 1 "stand for 25.0 % of 3 merged runs, not for one run" run icost --regions "$scratch/merged0.csv" &&
        fails_with 1 "stand for 25.0 % of 3 merged runs, not for one run" run predict --regions "$scratch/merged0.csv" ||
        return 1
    sed -i 's/^# merged: .*/# merged: 3 3 8000000/' "$scratch/merged0.csv"
    fails_with 1 "not '# merged: RUN RUNS INSTRUCTIONS'" run sim --regions "$scratch/merged0.csv"
}
check "lists of merged runs combine by their weights among all" merged

# A region that was not captured: the others stand for it, unless it is more than a quarter.
lost() {
    local verb
    sed -E '/^cluster .*,1,1,0,250001,/s/,full.ctrace,.*/,,,,/' "$scratch/three.csv" >"$scratch/lost.csv"
    region_list "$scratch/left.csv" x86_64 "gzip -9" 10000003 full.ctrace 1250000:1750000:0.6111111111 2500000:2750000:0.3888888889
    run sim --regions "$scratch/left.csv" --json --output "$scratch/left.json" &&
        run sim --regions "$scratch/lost.csv" --json --output "$report" &&
        python3 -S - "$report" "$scratch/left.json" <<'END' || return 1
import json, sys
lost, left = (json.load(open(path)) for path in sys.argv[1:])
assert lost["regions"]["count"] == 2 and abs(lost["cycles"] / left["cycles"] - 1) < 1e-6
assert any("1 region, 10.0 % of the run, not captured: the others stand for it" in n for n in lost["notes"])
END
    for verb in "predict --regions" "icost --regions"; do
        run $verb "$scratch/lost.csv" >"$scratch/said" && grep -q '1 region, 10.0 %' "$scratch/said" || return 1
    done
    sed -E '/^cluster .*,2,2,1250000,/s/,full.ctrace,.*/,,,,/' "$scratch/three.csv" >"$scratch/lost.csv"
    fails_with 1 "1 of 3 regions have no trace, 55 % of the run, which is too much" run sim --regions "$scratch/lost.csv"
}
check "the other regions stand for one that was not captured" lost

# The region that is everything is the plain simulation.
everything() {
    region_list "$scratch/all.csv" x86_64 "gzip -9" 1000000 "$scratch/1M.ctrace" 0:1000000:1
    run trace --stop --limit 1M -o "$scratch/1M.ctrace" -- gzip -9 -c "$scratch/numbers" >/dev/null 2>&1
    run sim --regions "$scratch/all.csv" --top 0 --json --output "$report" &&
        run sim --top 0 --json --output "$scratch/plain.json" "$scratch/1M.ctrace" &&
        python3 -S - "$report" "$scratch/plain.json" <<'END'
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
    region_list "$scratch/one.csv" x86_64 "gzip -9" 10000000 full.ctrace 2000000:2500000:1
    run sim --regions "$scratch/one.csv" --warm-up 0 --json --output "$scratch/cold.json" &&
        run sim --regions "$scratch/one.csv" --json --output "$report" &&
        python3 -S - "$report" "$scratch/cold.json" <<'END'
import json, sys
warm, cold = (json.load(open(path)) for path in sys.argv[1:])
assert warm["cycles"] < cold["cycles"], (warm["cycles"], cold["cycles"])
assert warm["statistics"]["l1d"]["misses"] < cold["statistics"]["l1d"]["misses"]
assert cold["regions"]["warmed_instructions"] == 0
assert warm["regions"]["warmed_instructions"] == 2000000
END
}
check "what comes before a region warms caches" warms

# The whole way: profile, choose, capture, simulate; against the full simulation. Which slices are
# chosen depends on the environment's size, with which one in twenty lies outside an interval of 95 %,
# but not by as much again.
whole_way() {
    local small=$scratch/small
    head -n 5000 "$scratch/numbers" >"$small"
    run bbv --size 500K -o "$small.bb" -- gzip -9 -c "$small" >/dev/null &&
        run regions --max-clusters 4 --split 20 -o "$small.csv" "$small.bb" >/dev/null &&
        run trace --regions "$small.csv" --warm-up 2M -o "$small" -- gzip -9 -c "$small" >/dev/null &&
        run sim --regions "$small.regions.csv" --top 0 --json --output "$report" &&
        python3 -S tests/e2e/check_report.py "$report" 'r["regions"]["simulated"] >= 2' &&
        run sim --json --output "$scratch/full.json" -- gzip -9 -c "$small" >/dev/null &&
        python3 -S - "$report" "$scratch/full.json" <<'END'
import json, sys
regions, full = (json.load(open(path)) for path in sys.argv[1:])
assert regions["instructions"] == full["instructions"], (regions["instructions"], full["instructions"])
assert abs(regions["cpi"] / full["cpi"] - 1) < 0.1, (regions["cpi"], full["cpi"])
half = regions["regions"]["cpi_half_interval_95"]
assert 0 < half < 0.3 * full["cpi"] and abs(regions["cpi"] - full["cpi"]) <= 2 * half, (half, full["cpi"])
END
}
check "regions that were profiled, chosen and captured tell the whole run's CPI" whole_way

text_is_honest() {
    run sim --regions "$scratch/three.csv" --top 3 --output "$scratch/text" &&
        python3 -S -c 'import sys
for line in open(sys.argv[1]):
    assert len(line.rstrip("\n")) <= 100, line' "$scratch/text" &&
        tr -s ' \n' ' ' <"$scratch/text" >"$scratch/line" &&
        grep -q "estimated from 3 regions chosen from 40 slices: 1.00 M of 10.0 M" "$scratch/line" &&
        ! grep -qE "±|95 %|empty at the start" "$scratch/line"
}
check "the text says what the estimate rests on, and claims no interval" text_is_honest

interrupted() {
    region_list "$scratch/long.csv" x86_64 "gzip -9" 8000000 full.ctrace 0:10000:0.4 20000:8000000:0.6
    "$CULPRIT" sim --regions "$scratch/long.csv" --jobs 1 --top 0 --json --output "$report" &
    until_used $! 0.3
    kill -INT $!
    wait $!
    [ $? = 130 ] || { echo "status"; return 1; }
    python3 -S tests/e2e/check_report.py "$report" 'r["partial"]' 'r["instructions"] == 8000000' \
        'r["regions"]["simulated"] == 1' \
        'r["notes"][0].startswith("PARTIAL: 1 of 2 regions")' 'r["regions"]["cpi_half_interval_95"] is None'
}
check "interrupted, the regions done stand for all" interrupted

ends_early() {
    region_list "$scratch/beyond.csv" x86_64 "gzip -9" 8000000 full.ctrace 0:10000:0.5 7000000:9000000:0.5
    fails_with 1 "region 2: .*full.ctrace: it ends 1000000 instructions early" \
        run sim --regions "$scratch/beyond.csv"
}
check "a trace that ends early is named, with its region" ends_early
missing() {
    region_list "$scratch/missing.csv" x86_64 "gzip -9" 8000000 nothere.ctrace 0:10000:1
    fails_with 1 "region 1: $scratch/nothere.ctrace: " run sim --regions "$scratch/missing.csv"
}
check "a trace that is missing is named, with its region" missing
uncaptured() {
    cut -d, -f1-18 "$scratch/three.csv" >"$scratch/uncaptured.csv"
    fails_with 1 "no region has a trace \(capture them with" run sim --regions "$scratch/uncaptured.csv"
}
check "a list that was not captured" uncaptured
check "a list and a command" fails_with 125 "the list names its traces" \
    run sim --regions "$scratch/three.csv" -- true
check "jobs without a list" fails_with 2 "add --regions LIST" run sim --jobs 2 "$scratch/full.ctrace"
check "no jobs" fails_with 2 "from 1 to 1024" run sim --regions "$scratch/three.csv" --jobs 0

finish
