# culprit explain of long runs: by regions in a second run, and what keeps it from that.
. tests/e2e/lib.sh

RUN_LIMIT=120
# A slice has at least a million instructions, and of forty slices or less every one is a region:
# gzip -9 of the numbers has 57, of which some stand for others; of few, and sort of lines, about 16.
numbers=$scratch/numbers
seq 33000 >"$numbers"
few=$scratch/few
seq 10000 >"$few"
lines=$scratch/lines
seq 20000 >"$lines"
export LC_ALL=C # sort compares bytes: a shorter run
cc -O1 -o "$scratch/late_effect" tests/guests/late_effect.c
cc -O1 -o "$scratch/wanders" tests/guests/wanders.c

# json NAME CONDITION...: the report there holds what it must, and sums.
json() {
    local name=$1
    shift
    python3 tests/e2e/check_report.py "$scratch/$name" "$@"
}
note() {
    echo "any('$1' in n for n in r['notes'])"
}

by_regions() {
    run explain --regions-over 20M --json --top 0 --output "$scratch/regions" -- \
        gzip -9 -c "$numbers" >"$scratch/out" &&
        gzip -9 -c "$numbers" | same_file - "$scratch/out" &&
        json regions 'r["regions"]["count"] > 1' 'r["regions"]["simulated"] == r["regions"]["count"]' \
            'r["instructions_simulated"] < r["instructions"]' \
            'r["instructions"] == r["instructions_executed"]' 'not r["partial"]' "$(note regions)"
}
check "a long run is explained by regions, and its output comes once" by_regions

like_exact() {
    run explain --exact --json --top 0 --output "$scratch/exact" -- gzip -9 -c "$numbers" >/dev/null &&
        python3 - "$scratch/regions" "$scratch/exact" <<'END'
import json, sys
regions, exact = (json.load(open(path)) for path in sys.argv[1:])
print(regions["cpi"], exact["cpi"])
assert regions["instructions"] == exact["instructions"]
assert abs(regions["cpi"] / exact["cpi"] - 1) < 0.05
for name, units in exact["components"].items():
    share, other = units / exact["units"], regions["components"][name] / regions["units"]
    assert abs(share - other) < 0.03, (name, share, other)
END
}
check "its CPI and stack are near the full simulation's" like_exact

from_trace() {
    run trace -o "$scratch/gzip.ctrace" -- gzip -9 -c "$numbers" >/dev/null 2>&1 &&
        run explain --regions-over 20M --json --top 0 "$scratch/gzip.ctrace" >"$scratch/trace" &&
        json trace 'r["regions"]["count"] > 1' 'not r["partial"]' &&
        python3 - "$scratch/regions" "$scratch/trace" <<'END'
import json, sys
live, trace = (json.load(open(path)) for path in sys.argv[1:])
print(live["cpi"], trace["cpi"])
assert live["instructions"] == trace["instructions"]
assert abs(trace["cpi"] / live["cpi"] - 1) < 0.02
END
}
check "a trace is explained by its regions as the run is" from_trace

cut_trace() {
    size=$(stat -c %s "$scratch/gzip.ctrace") &&
        head -c $((size / 4)) "$scratch/gzip.ctrace" >"$scratch/cut.ctrace" &&
        run explain --regions-over 5M --json --top 0 "$scratch/cut.ctrace" >"$scratch/cut" &&
        json cut 'r["regions"]["count"] > 1' 'r["partial"]' "$(note 'cut short')"
}
check "a trace that was cut is explained as far as it goes" cut_trace

short_run() {
    run explain --json --top 0 --output "$scratch/short" -- gzip -9 -c "$few" >/dev/null &&
        json short 'r["regions"] is None' 'r["sampling"] is None' \
            'r["instructions_simulated"] == r["instructions_executed"]'
}
check "a short run is simulated in full" short_run

from_pipe() {
    cat "$lines" | run explain --regions-over 5M --json --top 0 --output "$scratch/pipe" -- \
        sort --parallel=1 >"$scratch/out" &&
        sort "$lines" | same_file - "$scratch/out" &&
        json pipe 'r["regions"]["count"] > 1'
}
check "standard input from a pipe is there for the second run" from_pipe

from_file() {
    { read -r first && run explain --regions-over 5M --json --top 0 --output "$scratch/file" -- \
        sort --parallel=1 >"$scratch/out"; } <"$lines" &&
        tail -n +2 "$lines" | sort | same_file - "$scratch/out" &&
        json file 'r["regions"]["count"] > 1'
}
check "standard input from a file begins where it stood, twice" from_file

status_kept() {
    mkdir "$scratch/temporary"
    TMPDIR=$scratch/temporary run explain --regions-over 5M --output "$scratch/text" -- \
        gzip -9 -c "$few" /nowhere >/dev/null 2>&1
    [ $? = 1 ] && grep -q "estimated from" "$scratch/text"
}
check "the exit status is the first run's" status_kept

left_over() {
    [ -z "$(ls -A "$scratch/temporary")" ]
}
check "no temporary file is left" left_over

harmful() {
    cp "$few" "$scratch/big"
    run explain --regions-over 5M --json --top 0 --output "$scratch/once" -- gzip -9 "$scratch/big" &&
        [ ! -e "$scratch/big" ] && gunzip -c "$scratch/big.gz" | same_file - "$few" &&
        json once 'r["regions"] is None' "$(note 'writing')" "$(note --rerun)"
}
check "a command that changes the world is run once" harmful

late() {
    run explain --regions-over 5M --json --top 0 --output "$scratch/late" -- \
        "$scratch/late_effect" "$scratch/made" 600000 &&
        [ "$(wc -l <"$scratch/made")" = 1 ] &&
        json late 'r["regions"]["count"] >= 1' "$(note 'by regions up to')" "$(note 'from there on')" \
            'r["instructions"] == r["instructions_executed"]'
}
check "up to its first change a run is repeated, from there on sampled" late

rerun() {
    rm -f "$scratch/made"
    run explain --regions-over 5M --rerun --json --top 0 --output "$scratch/rerun" -- \
        "$scratch/late_effect" "$scratch/made" 600000 &&
        json rerun 'r["regions"]["count"] >= 1' 'r["sampling"] is None' &&
        [ "$(wc -l <"$scratch/made")" -ge 1 ]
}
check "--rerun runs it twice all the same" rerun

inherited() {
    run explain --regions-over 10M --json --top 0 --output "$scratch/inherited" -- \
        bash -c 'echo once >&3; for ((i = 0; i < 800; i++)); do :; done' 3>>"$scratch/three" &&
        json inherited 'r["regions"]["count"] >= 1' && [ "$(cat "$scratch/three")" = once ]
}
check "what the second run writes to inherited descriptors goes nowhere" inherited

threads() {
    run explain --regions-over 5M --json --top 0 --output "$scratch/threads" -- \
        "$WORKLOADS/x86_64/threads" >/dev/null &&
        json threads 'r["regions"] is None' "$(note 'several threads')"
}
skip_without x86_64-workloads "threads are sampled in one pass" ||
    check "threads are sampled in one pass" threads

wanders() {
    run explain --regions-over 5M --json --top 0 --output "$scratch/wanders.json" -- "$scratch/wanders" >/dev/null &&
        json wanders.json "$(note 'another way') or $(note 'not quite as the first')"
}
check "a run that does not repeat itself is told so" wanders

systematic() {
    run explain --systematic --json --top 0 --output "$scratch/systematic" -- gzip -9 -c "$numbers" >/dev/null &&
        json systematic 'r["regions"] is None' 'r["sampling"]["windows"] > 0'
}
check "--systematic takes one run" systematic

no_folder() {
    TMPDIR=/nowhere run explain -- true 2>"$scratch/error"
    [ $? = 125 ] && [ "$(wc -l <"$scratch/error")" = 1 ] && grep -q TMPDIR "$scratch/error"
}
check "no place for temporary files: one line" no_folder

interrupted() {
    timeout -s INT 1 "$CULPRIT" explain -- gzip -9 -c /dev/zero >/dev/null 2>"$scratch/error"
    [ "$(wc -l <"$scratch/error")" = 1 ] && grep -q "before any was simulated" "$scratch/error"
}
check "interrupted while profiling: one line" interrupted

finish
