# culprit validate --host: what a command takes here beside its simulation. How fast this machine is,
# and how near the two are, is no part of it.
. tests/e2e/lib.sh

report=$scratch/report.json
seq 4000 | awk '{ print ($1 * 7919) % 40009, $1 }' >"$scratch/numbers"
# Long enough on any processor that the kernel, which looks at each tick, sees user code.
seq 60000 | awk '{ print ($1 * 7919) % 40009, $1 }' >"$scratch/many"
samples() { perf_paranoid=$(cat /proc/sys/kernel/perf_event_paranoid 2>/dev/null) && [ "$perf_paranoid" -le 2 ]; }

compared() {
    run validate --host --machine zen4 --regions 12 --runs 2 --top 0 --json --output "$report" -- \
        sort -n "$scratch/many" >"$scratch/sorted" && same_file "$scratch/sorted" <(sort -n "$scratch/many") &&
        told 'r["verb"] == "validate" and r["reference"] == "host" and r["machine"] == "zen4"' \
            'not r["partial"] and len(r["runs"]) == 2' \
            'r["measured"]["cycles"] == min(run["cycles"] for run in r["runs"])' \
            'all(abs(run["cycles"] / (run["user_seconds"] * run["clock_ghz"] * 1e9 + 1e-9) - 1) < 1e-6 for run in r["runs"])' \
            'all(run["page_faults"] > 0 and run["clock_ghz"] > 0.1 for run in r["runs"])' \
            'r["cycles"] > r["instructions"] / 8' \
            'all(run["cycles_interval"][0] <= run["cycles"] <= run["cycles_interval"][1] for run in r["runs"])' \
            'all(run["cycles_interval"][1] < (run["user_seconds"] + run["system_seconds"]) * run["clock_ghz"] * 1e9 + 1 for run in r["runs"])' \
            '(r["cycles_error"] is None) == (max(abs(end - r["measured"]["cycles"]) for end in r["measured"]["cycles_interval"]) > 0.25 * r["measured"]["cycles"])' \
            'r["cycles_error"] is None or abs(r["cycles"] / r["measured"]["cycles"] - 1 - r["cycles_error"]) < 1e-6' \
            '(r["by_procedure"] is None) == (r["not_sampled"] is not None)' \
            'r["next"].startswith("culprit explain --machine zen4 -- sort -n ")'
}
check "a command is explained, measured and compared" compared

sums() {
    told_names='p = r["by_procedure"]; rows = p["procedures"]
difference = lambda row: abs(row["predicted_cycles"] - row["measured_cycles"])' \
        told 'len(rows) == p["procedure_count"]' \
        'abs(sum(row["samples"] for row in rows) - p["samples"]) < 0.5' \
        'abs(sum(row["measured_cycles"] for row in rows) / r["measured"]["cycles"] - 1) < 1e-6' \
        'abs(sum(row["predicted_cycles"] for row in rows) / r["cycles"] - 1) < 0.01' \
        '[difference(row) for row in rows] == sorted(map(difference, rows), reverse=True)' \
        'p["rank_correlation"] is None or -1.000001 <= p["rank_correlation"] <= 1.000001' \
        'p["rank_repeats"] is None or -1.000001 <= p["rank_repeats"] <= 1.000001' \
        'p["ranked"] == min(10, sum(row["samples"] > 0 for row in rows))'
}
if samples; then
    check "cycles of procedures sum to those of the command" sums
else
    skip "cycles of procedures sum to those of the command" "kernel.perf_event_paranoid permits no samples"
fi

# The third run of a pipe would find nothing if it were not kept. Of a run of some milliseconds the
# kernel, which looks at each tick, may say that it was all its own: then it is tried again.
piped() {
    run validate --host --machine zen4 --regions 12 --runs 1 --output "$scratch/text" -- sort -n \
        < <(cat "$scratch/more") >"$scratch/sorted"
}
standard_input() {
    for _ in 1 2 3 4 5 6 7 8; do cat "$scratch/numbers"; done >"$scratch/more"
    for _ in 1 2 3 4 5 6; do
        piped || return 1
        grep -q "^measured:  *0 cycles" "$scratch/text" || break
    done
    same_file "$scratch/sorted" <(sort -n "$scratch/more") && fits_100 "$scratch/text" &&
        cat "$scratch/text" && grep -q "^measured: .* cycles, .* in user mode at .* GHz: one run$" "$scratch/text" &&
        grep -q "^predicted: .* cycles on machine zen4: \([+-]\|too short here to be compared: take a longer input\)" "$scratch/text" &&
        grep -q "^where they differ: cycles of procedures" "$scratch/text" &&
        grep -q "^not compared: .* in the kernel" "$scratch/text" && grep -q "^next: culprit explain" "$scratch/text"
}
check "a pipe is kept for all runs, and the text tells both sides" standard_input

# Each run that is measured reads what the emulated one did.
counts_runs() {
    printf '' >"$scratch/log"
    run validate --host --rerun --machine zen4 --runs 2 --output /dev/null -- \
        sh -c 'wc -c >>"$1"; exit 3' sh "$scratch/log" < <(cat "$scratch/numbers")
    [ $? = 3 ] && sort "$scratch/log" | uniq -c && cat "$scratch/log" &&
        [ "$(sort -u "$scratch/log")" = "$(wc -c <"$scratch/numbers")" ] && [ "$(wc -l <"$scratch/log")" -ge 3 ]
}
check "with --rerun also what changes the world, and its exit status stays" counts_runs

once() {
    printf '' >"$scratch/log"
    fails_with 125 "predicted: [0-9.]+ [kM] cycles on machine zen4; the command cannot be repeated \(.*\), so it was not measured; --rerun does" \
        run validate --host --machine zen4 -- sh -c 'echo once >>"$1"' sh "$scratch/log" &&
        [ "$(cat "$scratch/log")" = once ]
}
check "a command that changes the world is run once and not measured; the prediction is told" once

# A program that puts another in its own place when its file $0.run is there: none is in the run that
# is simulated, nor before the first that is measured.
put_program() {
    printf '%s\n' '#!/bin/sh' '[ ! -e "$0.run" ] || exec mv "$0.new" "$0"' ': >"$0.run"' >"$1"
    printf '%s\n' '#!/bin/sh' '# another' >"$1.new"
    rm -f "$1.run" && chmod +x "$1" "$1.new"
}
is_refused() {
    fails_with 125 "^culprit: .*/replaced: the file has changed since it was simulated: its code is another now, so the two were not compared \(validate it again, or bring back the same build\)$" \
        run validate --host --rerun --machine zen4 --runs 1 --output "$scratch/unequal" -- "$1" && [ ! -e "$scratch/unequal" ]
}
replaced() {
    put_program "$scratch/replaced" && : >"$scratch/replaced.run" && is_refused "$scratch/replaced" &&
        put_program "$scratch/replaced" && is_refused "$scratch/replaced" && grep another "$scratch/replaced"
}
check "a program replaced before or while it is measured is not compared" replaced
# The same bytes in another file are the same program.
copied() {
    printf '%s\n' '#!/bin/sh' 'cp "$0" "$0.copy" && exec mv "$0.copy" "$0"' >"$scratch/copied"
    chmod +x "$scratch/copied"
    run validate --host --rerun --machine zen4 --runs 1 --output /dev/null -- "$scratch/copied"
}
check "... but for a copy of it" copied

# The command has time to be interrupted in.
set -m
interrupted_early() {
    "$CULPRIT" validate --host --rerun --machine zen4 --runs 1 --output "$scratch/none" -- \
        sh -c 'echo ready >>"$0"; sleep 5' "$scratch/ready" 2>"$scratch/said" &
    local process=$!
    until_true $process test -s "$scratch/ready" || return 1
    kill -INT $process
    fails_with 130 "^culprit: interrupted before the command was captured and simulated whole: it was not measured" \
        ended $process && [ "$(cat "$scratch/ready")" = ready ] && [ ! -e "$scratch/none" ]
}
ended() {
    wait "$1"
    local status=$?
    cat "$scratch/said" >&2
    return $status
}
check "an interrupt while it is captured: nothing is compared" interrupted_early

# Whoever writes the pipe never ends: the test itself.
interrupted_reading() {
    rm -f "$scratch/none" "$scratch/pipe" && mkfifo "$scratch/pipe" && exec 9<>"$scratch/pipe" || return 1
    "$CULPRIT" validate --host --machine zen4 --runs 1 --output "$scratch/none" -- cat \
        <"$scratch/pipe" >"$scratch/out" 2>"$scratch/said" 9>&- &
    local process=$!
    until_true $process grep -q '^reading standard input to its end, for all runs (Ctrl-C ends it)' "$scratch/said" &&
        kill -INT $process && fails_with 130 '^culprit: interrupted while standard input was read: nothing was run' ended $process &&
        [ ! -s "$scratch/out" ] && [ ! -e "$scratch/none" ]
    local status=$?
    exec 9>&-
    return $status
}
check "an interrupt while a pipe that never ends is read: nothing is run" interrupted_reading

# The second run that is measured is interrupted while it waits, and ends as it would have.
has_lines() { [ -e "$1" ] && [ "$(wc -l <"$1")" -ge "$2" ]; }
interrupted_late() {
    rm -f "$scratch/runs" "$scratch/runs.go"
    "$CULPRIT" validate --host --rerun --machine zen4 --runs 3 --json --output "$report" -- \
        sh -c 'trap : INT; echo run >>"$0"; [ "$(wc -l <"$0")" -lt 3 ] || until [ -e "$0.go" ]; do sleep 0.1; done' \
        "$scratch/runs" \
        2>"$scratch/said" &
    local process=$!
    until_true $process has_lines "$scratch/runs" 3 || { cat "$scratch/said"; return 1; }
    kill -INT $process
    touch "$scratch/runs.go"
    wait $process
    [ $? = 130 ] && told 'r["partial"]' 'len(r["runs"]) == 1' \
        'r["notes"][0] == "PARTIAL: interrupted after 1 of 3 timed runs and 0 of 3 with samples"' \
        'r["not_sampled"] == "interrupted before a run with samples"' || { cat "$scratch/said"; return 1; }
}
check "an interrupt while it is measured: the report says what was cut" interrupted_late
set +m
check "a command that is not there: 127" fails_with 127 "no-such-program" \
    run validate --host --machine zen4 -- /no-such-program
check "options of regions are refused" fails_with 125 "without --limit, --size" \
    run validate --host --limit 1M -- true
check "options of --host alone are refused" fails_with 125 "only with --host" \
    run validate --runs 3 -- true
check "a list is refused" fails_with 2 "which command" run validate --host a.csv
check "the trace of a list is refused" fails_with 125 "^culprit validate: --host: without --full" \
    run validate --host --full b.ctrace -- true

leaves_nothing() {
    mkdir "$scratch/temporary"
    TMPDIR=$scratch/temporary run validate --host --machine zen4 --runs 1 --output /dev/null -- \
        cat "$scratch/numbers" >/dev/null &&
        [ -z "$(ls -A "$scratch/temporary")" ]
}
check "nothing is left behind" leaves_nothing

finish
