# culprit validate: every step's share of the error, from files.
. tests/e2e/lib.sh

seq 20000 | awk '{ print ($1 * 7919) % 300007, $1 }' >"$scratch/numbers"
report=$scratch/report.json
run trace --stop --limit 4M -o "$scratch/full.ctrace" -- gzip -9 -c "$scratch/numbers" \
    >/dev/null 2>"$scratch/said" || cat "$scratch/said"

# checked FILE EXPRESSION over the report r...
checked() {
    python3 -S - "$@" <<'END'
import json, sys
r = json.load(open(sys.argv[1]))
near = lambda a, b: abs(a - b) < 1e-9
for figures in [r["choice"]["whole"], r["choice"]["regions"]] + [t["regions"] for t in r["cold_start"]]:
    assert near(sum(figures["commit_states"].values()), figures["cpi"]), figures
    assert near(sum(figures["events"].values()), figures["cpi"]), figures
within = sum(region["weight"] * region["cpi"] for region in r["regions"])
assert near(within, r["choice"]["regions"]["cpi"]), within
for i, trial in enumerate(r["cold_start"]):
    alone = sum(region["weight"] * region["cpi_alone"][i] for region in r["regions"])
    assert near(alone, trial["regions"]["cpi"])
    assert near((1 + trial["cpi_error"]) * (1 + r["choice"]["cpi_error"]), 1 + trial["total_cpi_error"])
for expression in sys.argv[2:]:
    assert eval(expression), expression + " in " + json.dumps(r)[:3000]
END
}

# Regions that together are the run: nothing is left to choice.
all_of_it() {
    region_list "$scratch/all.csv" x86_64 "gzip -9" 4000000 full.ctrace 0:1500000:0.375:0 1500000:4000000:0.625:0
    run validate "$scratch/all.csv" --full "$scratch/full.ctrace" --warm-up 0,500K,all --json \
        --output "$report" &&
        checked "$report" 'abs(r["choice"]["cpi_error"]) < 1e-9' 'r["instructions"] == 4000000' \
            'len(r["cold_start"]) == 4' '[t["captured"] for t in r["cold_start"]] == [False] * 3 + [True]' \
            'r["cold_start"][0]["cpi_error"] > r["cold_start"][2]["cpi_error"]' \
            'abs(r["cold_start"][2]["cpi_error"]) < 0.01' \
            'r["cold_start"][2]["regions"] == r["cold_start"][3]["regions"]' \
            'r["markers"] == {"failure": None, "reached": 2, "in_order": True, "moved": 0, "largest_skew": 0, "region": None}'
}
check "regions that are everything are right but for their cold start" all_of_it

# The figures of a region within the full run are those that sim --slices has of it.
one_of_many() {
    region_list "$scratch/one.csv" x86_64 "gzip -9" 4000000 full.ctrace 1000000:1500000:0.5:0 3000000:3500000:0.5:12
    run validate "$scratch/one.csv" --full "$scratch/full.ctrace" --warm-up all --json \
        --output "$report" &&
        run sim --slices "$scratch/slices.csv" --slice-size 500K --output /dev/null "$scratch/full.ctrace" &&
        checked "$report" 'r["choice"]["cpi_error"] != 0' 'r["markers"]["moved"] == 1' \
            'r["markers"]["largest_skew"] == 12' 'r["markers"]["region"] == 2' &&
        python3 -S - "$report" "$scratch/slices.csv" <<'END'
import csv, json, sys
r = json.load(open(sys.argv[1]))
slices = [int(row["cycles"]) / int(row["instructions"]) for row in csv.DictReader(open(sys.argv[2]))]
for region, cpi in zip(r["regions"], (slices[2], slices[6])):
    assert abs(region["cpi"] - cpi) < 0.01 * cpi, (region, cpi)  # a slice ends some instructions later
END
}
check "regions within the full run are its slices" one_of_many

text() {
    run validate "$scratch/one.csv" --full "$scratch/full.ctrace" --warm-up 0 --output "$scratch/text" &&
        cat "$scratch/text" &&
        python3 -S -c 'import sys
for line in open(sys.argv[1]):
    assert len(line.rstrip("\n")) <= 100, line' "$scratch/text" &&
        grep -q "^1 choice" "$scratch/text" && grep -q "^2 markers" "$scratch/text" &&
        grep -q "^3 cold start" "$scratch/text" && grep -q "region 2 most: by +12" "$scratch/text" &&
        grep -q "no hardware counters" "$scratch/text" && grep -q "^next: culprit" "$scratch/text"
}
check "the text tells each step's share" text

beyond() {
    region_list "$scratch/beyond.csv" x86_64 "gzip -9" 4000000 full.ctrace 0:500000:0.5:0 3750000:4250000:0.5:0
    fails_with 1 "full.ctrace: region 2 \(instructions 3750000 to 4250000 of thread 0\) does not lie in it" \
        run validate "$scratch/beyond.csv" --full "$scratch/full.ctrace"
}
live() {
    run validate --limit 3M --size 500K --max-clusters 3 --warm-up 0,1M --json --output "$report" -- \
        gzip -9 -c "$scratch/numbers" >"$scratch/got" &&
        same_file "$scratch/got" <(gzip -9 -c "$scratch/numbers") &&
        checked "$report" 'r["instructions"] == 3000000' '1 <= len(r["regions"]) <= 3' \
            'r["markers"]["reached"] == len(r["regions"])' 'r["markers"]["moved"] == 0' \
            'r["markers"]["failure"] is None' 'r["markers_not_tried"] is None' \
            '[(t["warm_up"], t["captured"]) for t in r["cold_start"]] == [(0, False), (1000000, False), (None, True)]' \
            'abs(r["cold_start"][1]["regions"]["cpi"] / r["cold_start"][2]["regions"]["cpi"] - 1) < 0.01' \
            'r["next"].startswith("culprit ")'
}
check "a command is captured, profiled, run again and compared" live

# What is proposed takes the place of what was typed: given once more behind it, it would do nothing.
next_replaces() {
    run validate --limit 2M --size 500K --max-clusters=1 --warm-up 0 --json --output "$report" -- \
        gzip -9 -c "$scratch/numbers" >/dev/null || return 1
    checked "$report" 'r["next"].count("--warm-up") == 1' 'r["next"].count("--max-clusters") == 1' \
        '"--warm-up 100M,300M" in r["next"] or "--max-clusters 60" in r["next"]'
}
check "the next command says an option once" next_replaces

changes_the_world() {
    run validate --warm-up 0 --json --output "$report" -- \
        sh -c 'echo once >>"$1"; exit 7' sh "$scratch/written"
    [ $? = 7 ] && [ "$(cat "$scratch/written")" = once ] || return 1
    checked "$report" 'r["markers"] is None' '"run again; --rerun" in r["markers_not_tried"]' &&
        run validate --rerun --warm-up 0 --output /dev/null -- \
            sh -c 'echo twice >>"$1"' sh "$scratch/written"
    [ "$(grep -c twice "$scratch/written")" = 2 ] || [ "$(grep -c twice "$scratch/written")" = 3 ]
}
check "a command that changes the world is run once, or as told" changes_the_world

# A pipe is gone once read, so it is kept, as a file, which is read in other pieces.
standard_input() {
    cat "$scratch/numbers" | run validate --limit 1M --size 500K --warm-up 0 --json \
        --output "$report" -- gzip -c >"$scratch/got" &&
        gzip -dc "$scratch/got" | cmp - "$scratch/numbers" &&
        checked "$report" 'r["markers"]["reached"] == len(r["regions"])' \
            'abs(r["markers"]["largest_skew"]) < 1000' &&
        run validate --limit 1M --size 500K --warm-up 0 --json --output "$report" -- gzip -c \
            <"$scratch/numbers" >/dev/null &&
        checked "$report" 'r["markers"]["reached"] == len(r["regions"])' 'r["markers"]["moved"] == 0'
}
check "standard input is there for the second run, from a pipe or a file" standard_input

full_disk() {
    mkdir -p "$scratch/small" && mount -t tmpfs -o size=64k tmpfs "$scratch/small" || return 1
    TMPDIR=$scratch/small run validate --limit 5M --size 1M --warm-up 0 -- gzip -c "$scratch/numbers" \
        >/dev/null 2>"$scratch/error"
    local status=$?
    umount "$scratch/small"
    [ $status = 125 ] && grep -q "a temporary file in $scratch/small: cannot write.*No space left on device (TMPDIR=FOLDER names another)\$" "$scratch/error" &&
        ! grep culprit- "$scratch/error"
}
if [ "$(id -u)" = 0 ] && mkdir -p "$scratch/probe" && mount -t tmpfs -o size=64k tmpfs "$scratch/probe" 2>/dev/null; then
    umount "$scratch/probe"
    check "no room for the trace: 125" full_disk
else
    skip "no room for the trace: 125" "no right to mount here"
fi

leaves_nothing() {
    mkdir "$scratch/temporary"
    TMPDIR=$scratch/temporary run validate --limit 500K --size 500K --warm-up 0 --output /dev/null -- \
        gzip -c "$scratch/numbers" >/dev/null &&
        [ -z "$(ls -A "$scratch/temporary")" ]
}
check "temporary files go away" leaves_nothing
check "a command that is not there" fails_with 127 "nosuchcommand" run validate -- nosuchcommand
check "a list and a command" fails_with 125 "either a list or a command" \
    run validate "$scratch/all.csv" -- true

check "a region that is not in the trace is named" beyond
check "a trace that is missing" fails_with 1 "nothere.ctrace" \
    run validate "$scratch/all.csv" --full "$scratch/nothere.ctrace"
check "nothing to validate" fails_with 2 "what to validate" run validate
check "a warm-up that is no count" fails_with 2 "5Q: not a count" \
    run validate "$scratch/all.csv" --full x.ctrace --warm-up 0,5Q


# Instructions that fault are counted alike by all: the last region lies in the trace.
faults() {
    cc -O1 -o "$scratch/faults" tests/guests/faults.c || return
    run validate --size 100K --json --output "$report" -- "$scratch/faults" >/dev/null &&
        checked "$report" 'r["markers"]["failure"] is None' 'r["markers"]["in_order"]' \
            'r["markers"]["largest_skew"] == 0'
}
check "a program that handles two hundred faults" faults

# The rest of the block in which the command crashes counts as executed in lists of regions.
crashed() {
    cc -O1 -x c -o "$scratch/crash" - <<'PROGRAM' || return
int main(int count, char **words) {
    volatile int sum = 0;
    for (int i = 0; i < 100000; i++) sum += i;
    *(volatile int *)(long)(count - 1) = sum;
    return sum + words[0][0];
}
PROGRAM
    run validate --size 100K --json -o "$report" -- "$scratch/crash"
    local status=$?
    [ $status = 139 ] && checked "$report" 'abs(r["choice"]["cpi_error"]) < 0.05' \
        'r["markers"]["reached"] == len(r["regions"])'
}
check "of a command that crashes" crashed

finish
