# Exit statuses, mistakes in one line, where reports go, Ctrl-C.
. tests/e2e/lib.sh

status_is() {
    local wanted=$1
    shift
    "$@" >"$scratch/out" 2>"$scratch/err"
    local status=$?
    tail -n 5 "$scratch/err"
    [ "$status" = "$wanted" ] || { echo "status is $status, not $wanted"; return 1; }
}
check "the command's exit status is kept" status_is 7 run sim --limit 10K -- sh -c 'exit 7'
check "a killed command gives 128 and the signal" status_is 137 run sim --limit 10K -- sh -c 'kill -9 $$'
killed_is_told() {
    run sim --limit 10K --json -o "$scratch/killed.json" -- sh -c 'kill -9 $$'
    grep -q 'signal 9 (Killed) ended the command"' "$scratch/killed.json" &&
        run sim --limit 10K --json -o "$scratch/well.json" -- true && ! grep -q 'ended the command' "$scratch/well.json"
}
check "which signal it was" killed_is_told
check "threads that --stop ends are no failure" \
    status_is 0 run explain --limit 400K --stop -- "$WORKLOADS/x86_64/queue"
check "explain keeps the exit status too" status_is 3 run explain --machine alpha21164 -- sh -c 'exit 3'
check "a missing command gives 127" fails_with 127 'nosuchcommand' run sim -- nosuchcommand
check "a file that is no program gives 126" fails_with 126 'passwd' run sim -- /etc/passwd
sed 's#/lib64/ld-linux-x86-64#/lib64/ld-linux-nowhere#' /bin/true >"$scratch/homeless"
chmod +x "$scratch/homeless"
check "a program without its loader" fails_with 126 'ld-linux-nowhere.*-static' run sim -- "$scratch/homeless"
printf '#!/nowhere/sh\n' >"$scratch/script"
chmod +x "$scratch/script"
check "a script without its interpreter" fails_with 126 'interpreter /nowhere/sh' run sim -- "$scratch/script"
check "help is on standard output" status_is 0 sh -c '"$CULPRIT" --help | grep -q explain'
check "every verb has help with an example" sh -c \
    'for verb in sim explain trace machines; do "$CULPRIT" $verb --help | grep -A1 "^Examples*:" | grep -q culprit || exit 1; done'
help_is_whole() {
    for verb in $(run --help | sed -n 's/^  \([a-z][a-z]*\) .*/\1/p' | grep -vx culprit); do
        run "$verb" --help >"$scratch/help" || return 1
        [ -z "$(tail -c 1 "$scratch/help")" ] || { echo "$verb: no end of line"; return 1; }
        awk '/^ [A-Z].*:$/ { heading = $0; getline; if (/^ *$/) { print heading; found = 1 } } END { exit found }' \
            "$scratch/help" || { echo "$verb: nothing below a heading"; return 1; }
        awk '/^Example/ { inside = 1; next } /^$/ { inside = 0 } inside && !/^  [a-z].*[^>|\\]$/ { print; found = 1 }
            END { exit found }' "$scratch/help" || { echo "$verb: an example that cannot be pasted"; return 1; }
        grep -E '^ [A-Z].*:$' "$scratch/help" | sort | uniq -d | grep . && { echo "$verb: twice"; return 1; }
    done
    return 0
}
check "every help ends its last line, with each heading once" help_is_whole
check "--version" sh -c '"$CULPRIT" --version | grep -qx "culprit [0-9.]*"'

check "an unknown verb names the nearest" fails_with 2 "did you mean 'explain'" run explian
check "an unknown option" fails_with 2 "bogus.*--help" run sim --bogus x.ctrace
check "an option that is nearly one" fails_with 2 "did you mean '--limit'" run sim --limti 3 x.ctrace
check "a beginning of several options" fails_with 125 "could be --regions, --regions-over, " run explain --re -- true
check "a verb that is nearly one" fails_with 2 "did you mean 'explain'" run explian
check "help for what is no verb" fails_with 2 "did you mean 'explain'" run help explian
help_of_verb() {
    run help explain >"$scratch/help" && run explain --help >"$scratch/long" &&
        same_file "$scratch/help" "$scratch/long" && grep -q 'regions-over' "$scratch/help"
}
check "help VERB is VERB --help" help_of_verb
check "an unknown option before a command" fails_with 125 "bogus" run sim --bogus -- true
check "an option without its value" fails_with 2 "needs a value" run sim --limit
check "a count that is none" fails_with 2 "not a count" run sim --limit 5Q x.ctrace
check "nothing to do" fails_with 2 "what to simulate" run sim
check "an unknown machine" fails_with 125 "nomachine.*zen4" run sim --machine nomachine -- true
check "an unknown figure" fails_with 125 "core.robb" run sim --set core.robb=1 -- true
check "an unknown idealisation" fails_with 125 "magic.*bmisp" run sim --ideal magic -- true
check "a function that is not there" fails_with 125 "no_such_function" \
    run sim --from no_such_function -- true
check "an output that cannot be written" fails_with 125 "/nonexistent/x" \
    run sim --output /nonexistent/x -- touch "$scratch/ran"
check "... before the command runs" test ! -e "$scratch/ran"
check "a trace that is missing" fails_with 1 "missing.ctrace" run sim missing.ctrace

separate() {
    run sim --limit 10K -- echo hello >"$scratch/out" 2>"$scratch/err"
    [ "$(cat "$scratch/out")" = hello ] && grep -q 'instructions.*CPI' "$scratch/err"
}
check "standard output is the command's" separate

output_file() {
    ln -sf report.txt "$scratch/link"
    echo old >"$scratch/report.txt"
    chmod 640 "$scratch/report.txt"
    run sim --limit 10K --output "$scratch/link" -- true 2>"$scratch/err" &&
        [ ! -s "$scratch/err" ] && [ -L "$scratch/link" ] && grep -q CPI "$scratch/report.txt" &&
        [ "$(stat -c %a "$scratch/report.txt")" = 640 ] &&
        [ -z "$(find "$scratch" -name 'report.txt.*')" ]
}
check "--output replaces the file behind a link and nothing else" output_file
check "--output to a device writes there" sh -c \
    '"$CULPRIT" sim --limit 10K --output /dev/stdout -- true | grep -q CPI'
one_file_for_both() {
    local verb
    echo old >"$scratch/picture"
    ln -sf picture "$scratch/shown"
    for verb in contend icost predict throughput; do
        fails_with 2 "--svg .*--output" run "$verb" --svg a.svg -o a.svg x.ctrace &&
            fails_with 2 "--svg .*--output" run "$verb" --svg - --output - x.ctrace &&
            fails_with 2 "--svg .*--output" run "$verb" --svg "$scratch/picture" \
                --output "$scratch/shown" x.ctrace || return 1
    done
    fails_with 1 "standard output.*--output FILE" run contend --svg - x.ctrace &&
        fails_with 1 "x.ctrace" run contend --svg /dev/null --output /dev/null x.ctrace &&
        fails_with 125 "--svg .*--output" run icost --svg a.svg -o a.svg -- touch "$scratch/ran" &&
        [ ! -e "$scratch/ran" ] && [ "$(cat "$scratch/picture")" = old ] && [ ! -e a.svg ]
}
check "one file for both the report and the picture is refused" one_file_for_both
no_colour() {
    run sim --limit 10K -- true 2>&1 | cat >"$scratch/out"
    ! grep -q $'\033' "$scratch/out"
}
check "no colour in a pipe" no_colour

children() {
    run sim --limit 10M -- sh -c 'sh -c true; true' 2>"$scratch/err" &&
        grep -q 'not included' "$scratch/err" && grep -q 'next: culprit sim --follow' "$scratch/err" &&
        run sim --follow --limit 10M -- sh -c 'sh -c true; true' 2>"$scratch/err" &&
        grep -q 'processes are included' "$scratch/err"
}
check "children are named, or included with --follow" children
# Blocked in a system call; the report is whole.
report=$scratch/timed
timed() {
    mkfifo "$scratch/never" && exec 9<>"$scratch/never" &&
        run sim --for 1s --json -o "$report" -- cat <&9 2>"$scratch/err" &&
        told 'not r["partial"]' 'r["instructions"] > 0' \
            'sum("captured for 1 s" in n for n in r["notes"]) == 1' &&
        grep -q 'answers .* times later' "$scratch/err" || return 1
    run explain --machine alpha21164 --for 1s --json -o "$report" -- sh -c 'trap "" TERM; read line' <&9 &&
        told 'not r["partial"]' 'r["instructions"] > 0' || return 1
    run trace --for 1s -o "$scratch/timed.ctrace" -- cat <&9 &&
        run sim --json -o "$report" "$scratch/timed.ctrace" && told 'not r["partial"]' || return 1
    run sim --for 100s -- sh -c 'exit 7' 2>"$scratch/err"
    [ $? = 7 ] && fails_with 2 "--for" run sim --for 1s "$scratch/timed.ctrace" &&
        fails_with 125 "--for" run sim --for 0 -- true
}
check "--for ends what does not end by itself" timed
timed_elsewhere() {
    run bbv --for 1s --size 10K -o "$scratch/timed.bb" -- cat <&9 2>"$scratch/err" &&
        grep -q 'note: captured for 1 s' "$scratch/err" &&
        fails_with 125 "--for" run bbv --for 0 -- cat &&
        run profilers --for 1s --json -o "$report" -- cat <&9 2>"$scratch/err" &&
        told 'not r["partial"]' 'r["instructions"] > 0' || return 1
    fails_with 125 "--on-signal: slices are counted from the beginning" run bbv --on-signal USR1 -- true &&
        fails_with 125 "--for: capture with it by 'culprit trace'" run icost --for 1s -- true &&
        fails_with 125 "--for: not here: the whole run" run validate --for 1s -- true &&
        fails_with 125 "--for: not here \(--time T" run record --for 1s -- true
}
check "--for and --on-signal elsewhere" timed_elsewhere
# While nothing has been selected so far: one line, and no file.
interrupted_early() {
    local verb process status
    for verb in "sim --skip 1T" "profilers --skip 1T" "icost --skip 1T" "predict --skip 1T" \
        "trace --skip 1T -o $scratch/early.ctrace" "bbv --skip 1T -o $scratch/early.bb" \
        "contend --skip 1T --profile $scratch/early.locality"; do
        rm -f "$scratch/began"
        "$CULPRIT" $verb -- sh -c 'echo >"$0"; read line' "$scratch/began" <&9 9<&- >"$scratch/out" 2>"$scratch/err" &
        process=$!
        until_true $process test -e "$scratch/began" || return 1
        kill -INT $process
        status=0
        wait $process || status=$?
        without_progress "$scratch/err" >"$scratch/said"
        [ $status = 130 ] && [ ! -s "$scratch/out" ] && [ "$(wc -l <"$scratch/said")" = 1 ] &&
            grep -q interrupt "$scratch/said" && [ -z "$(find "$scratch" -name 'early.*')" ] ||
            { echo "$verb: $status"; cat "$scratch/said"; ls "$scratch"; return 1; }
    done
}
check "an interrupt before anything was selected" interrupted_early
# Of a trace that comes through a pipe, and stops coming.
interrupted_trace() {
    local verb process status
    run trace --limit 100K --stop -o "$scratch/short.ctrace" -- sh -c "while :; do :; done" 2>/dev/null
    mkfifo "$scratch/slow.ctrace"
    for verb in sim profilers icost predict contend throughput; do
        "$CULPRIT" $verb "$scratch/slow.ctrace" >"$scratch/out" 2>"$scratch/err" &
        process=$!
        exec 8>"$scratch/slow.ctrace"
        head -c 4000 "$scratch/short.ctrace" >&8
        sleep 0.1
        kill -INT $process
        exec 8>&-
        status=0
        wait $process || status=$?
        [ $status = 130 ] || { echo "$verb: $status"; cat "$scratch/err"; return 1; }
    done
}
check "... of a trace" interrupted_trace
no_children() {
    local verb
    for verb in sim profilers icost; do
        run $verb --no-follow --limit 50K -- sh -c 'true; (exit 0)' >"$scratch/out" 2>&1 &&
            ! grep -e 'next: .*--follow' "$scratch/out" || { echo "$verb"; cat "$scratch/out"; return 1; }
    done
    run explain --machine alpha21164 --no-follow -- sh -c 'true; (exit 0)' >"$scratch/out" 2>&1 &&
        ! grep -e 'next: .*--follow' "$scratch/out" &&
        run trace --no-follow -o "$scratch/one.ctrace" -- sh -c 'true; (exit 0)' 2>/dev/null &&
        fails_with 125 "--no-follow" run sim --no-follow --follow -- true &&
        fails_with 2 "--no-follow" run sim --no-follow "$scratch/one.ctrace"
}
check "--no-follow is the default, and may be said" no_children
# Nothing is claimed of a file that was not written.
full_disk() {
    fails_with 125 "/dev/full: cannot write" run bbv -o /dev/full -- true
}
check "bbv says nothing of a file that it could not write" full_disk
# A file larger than the shell allows: one line, and its command is ended by the signal as ever.
file_limit() {
    local limit='File too large, the limit is 10240 bytes .*ulimit -f'
    run trace --limit 100K --stop -o "$scratch/whole.ctrace" -- sh -c "while :; do :; done" >/dev/null 2>&1
    run trace --import "$scratch/whole.ctrace" --format champsim -o "$scratch/whole.champsim" 2>/dev/null || return 1
    (
        ulimit -f 10
        status_is 1 run trace --import "$scratch/whole.champsim" -o "$scratch/limited.ctrace" &&
            grep -q "limited.ctrace: cannot write more than 10240 bytes: $limit" "$scratch/err" &&
            fails_with 125 "shared memory.*$limit" run sim -o "$scratch/report" -- true &&
            fails_with 1 "--output .*report: cannot write: $limit" run sim --json -o "$scratch/report" "$scratch/whole.ctrace"
    ) && run trace --info "$scratch/limited.ctrace" | grep -q cut
}
check "a limit of the size of files is told, and what was written can be read" file_limit
command_is_limited() {
    (ulimit -S -f 10; run stat --output "$scratch/limited" -- sh -c 'exec yes >"$0"' "$scratch/yes"; [ $? = $((128 + $(kill -l XFSZ))) ])
}
check "... and ends a command that meets it" command_is_limited
standard_output_is_taken() {
    fails_with 2 "--output -: standard output has" run bbv -o - x.ctrace &&
        fails_with 2 "--counts -: standard output has" run bbv --counts - x.ctrace &&
        fails_with 2 "--slices -: standard output has" run sim --slices - x.ctrace &&
        fails_with 2 "--kanata -: standard output has" run sim --kanata - x.ctrace &&
        fails_with 2 "--output -: standard output has" run regions -o - x.bb &&
        fails_with 2 "--weights -: standard output has" run regions --weights - x.bb &&
        fails_with 125 "--output -: standard output has" run trace --regions x.csv -o - -- true &&
        fails_with 2 "--store -: standard output has" run sim --save --store - x.ctrace &&
        fails_with 2 "--cfg -: standard output has" run annotate --cfg - main &&
        [ ! -e ./- ]
}
check "a file beside the report is not standard output" standard_output_is_taken
# Ctrl-C ends the capture; what was captured is simulated.
timed_interrupted() {
    "$CULPRIT" sim --for 100s --json -o "$report" -- perl -e '$SIG{INT} = sub { exit 4 };
        open($ready, ">", $ARGV[0]) && print($ready "ready") && close($ready);
        sleep(1) while 1' "$scratch/ready" <&9 9<&- &
    local process=$!
    until_true $process test -s "$scratch/ready" || return 1
    kill -INT $process
    wait $process
    local status=$?
    told 'r["partial"]' 'r["instructions"] > 1e5' && [ $status != 0 ]
}
check "--for and Ctrl-C: what was captured is simulated" timed_interrupted
# The command says by a file that it is there; the loop ends at the limit.
on_signal() {
    "$CULPRIT" sim --on-signal USR1 --limit 2M --stop --json -o "$report" -- \
        sh -c 'echo >"$0"; while :; do :; done' "$scratch/there" 2>"$scratch/err" &
    local process=$!
    until_true $process test -e "$scratch/there" || return 1
    grep -q "waiting for SIGUSR1: kill -USR1 $process$" "$scratch/err" && kill -USR1 $process
    wait $process &&
        told 'r["instructions"] == 2000000' 'not r["partial"]' \
            'any("captured from the signal on" in n for n in r["notes"])' || return 1
    run trace --on-signal SIGUSR2 -o "$scratch/never.ctrace" -- true 2>"$scratch/err"
    [ $? = 125 ] && grep -q 'the run ended before the signal' "$scratch/err" || return 1
    fails_with 125 'USR1 or USR2' run explain --on-signal HUP -- true &&
        fails_with 125 'leave out --skip' run sim --on-signal USR1 --skip 5 -- true &&
        fails_with 2 'while a command runs' run sim --on-signal USR1 "$scratch/timed.ctrace"
}
check "--on-signal: the command runs uncaptured until it comes" on_signal
# The daemon is in the background when its parent ends; it ends with the input.
daemon() {
    local option
    for option in --no-check --follow; do
        mkfifo "$scratch/open$option" && exec 8<>"$scratch/open$option" || return 1
        run trace $option --for 1s -o "$scratch/daemon.ctrace" -- \
            sh -c '(echo $$; read line) <"$0" & ' "$scratch/open$option" >/dev/null 2>"$scratch/err" || return 1
        run trace --info "$scratch/daemon.ctrace" >"$scratch/info$option"
        echo end >&8
        exec 8>&-
    done
    cat "$scratch"/info*
    grep -q 'left running in the background, uncaptured' "$scratch/info--no-check" &&
        ! grep -q 'left running' "$scratch/info--follow"
}
check "a daemon is told of, or ended with --follow" daemon
# Of children that the windows of systematic sampling pass by, too.
all_followed() {
    run explain --json --no-what-if --systematic -o "$scratch/many" -- \
        sh -c 'gzip -9c /bin/sh; for i in 1 2 3 4 5 6 7 8; do /bin/true; done' >/dev/null &&
        report=$scratch/many told 'r["children"]["count"] == 9'
}
check "all children that are followed count" all_followed
report=$scratch/shares
shares() {
    local wrapper='gzip -9c "$0"; grep -c x "$0"; true'
    head -c 500000 /bin/bash >"$scratch/half"
    run sim --json -o "$report" -- sh -c "$wrapper" "$scratch/half" >/dev/null &&
        told 'r["children"]["largest"] == "gzip" and not r["children"]["included"]' \
            'r["children"]["share"] > 0.5 and r["children"]["seconds"] > 0' \
            'sum("(/usr/bin/gzip) is not included" in n for n in r["notes"]) == 1' || return 1
    run sim --limit 2M --follow --json -o "$report" -- sh -c "$wrapper" "$scratch/half" >/dev/null &&
        told 'r["children"]["included"] and r["children"]["share"] > 0.5' \
            'r["children"]["seconds"] == 0 and r["children"]["largest"] == "gzip"' 'not r["children"]["at_most"]' || return 1
    run sim --json -o "$report" -- sh -c '(true); (true); true' >/dev/null && told 'r["children"]["at_most"]' &&
        run sim --top 1 -- sh -c '(true); (true); true' 2>&1 | grep -qE '^at most [0-9.]+ % was spent in 2 children' || return 1
    run sim --json -o "$report" -- true && told 'r["children"] is None' || return 1
    run sim --top 1 -- sh -c "$wrapper" "$scratch/half" 2>"$scratch/err" >/dev/null
    cat "$scratch/err"
    without_progress "$scratch/err" | sed -n 2p | grep -qE '^(at most )?[0-9.]+ % was spent in .*gzip.*: --follow$'
}
check "the second line says what share children had" shares
# Each is known by what it executes, however soon it ends. Which of them takes longest is not
# asked: with the start of the emulator they take nearly the same.
short_children() {
    local round
    for round in 1 2 3; do
        run sim --json -o "$report" -- sh -c 'seq 10000 | sort -n | tail -1; :' >/dev/null &&
            told 'r["children"]["count"] >= 2 and r["children"]["largest"] in ("seq", "sort", "tail")' || return 1
    done
}
check "... also children that end at once" short_children

# The command here ends by itself only after a long time.
interrupted() {
    local times=$1 targets=()
    "$CULPRIT" sim --json --output "$scratch/partial" -- sh -c 'while :; do :; done' \
        2>"$scratch/err" &
    local process=$! status
    until_used $process 0.5
    for ((; times > 0; times--)); do
        targets+=("$process")
    done
    kill -INT "${targets[@]}" # in one command: nothing comes between
    wait $process
    status=$?
    cat "$scratch/err"
    [ $status = 130 ] || { echo "status $status"; return 1; }
    python3 -S - "$scratch/partial" <<'END'
import json, sys
r = json.load(open(sys.argv[1]))
assert r["partial"] and r["instructions"] > 0 and "PARTIAL" in r["notes"][0]
assert sum(r["commit_states"].values()) == r["cycles"]
END
}
# A second interrupt ends culprit at once, long before what was captured is simulated; what it had
# made below TMPDIR goes with it. Those that come soon after the first belong to it.
nothing_left() {
    local process status
    mkdir -p "$scratch/tmp" && touch "$scratch/loops" || return
    set -m
    TMPDIR=$scratch/tmp "$CULPRIT" explain --output "$scratch/abandoned" -- \
        sh -c 'while [ -e "$0" ]; do :; done' "$scratch/loops" 2>/dev/null &
    process=$!
    set +m
    until_used $process 0.5
    ls -A "$scratch/tmp" >"$scratch/before"
    while kill -INT $process 2>/dev/null; do
        sleep 0.1
    done
    wait $process
    status=$?
    rm "$scratch/loops"
    [ -s "$scratch/before" ] || { echo "nothing in TMPDIR to begin with"; return 1; }
    [ -z "$(ls -A "$scratch/tmp")" ] || { ls -A "$scratch/tmp"; return 1; }
    [ ! -e "$scratch/abandoned" ] || { echo "a report all the same"; return 1; }
    [ $status = 130 ] || { echo "status $status"; return 1; }
}
check "a second interrupt leaves no temporary files" nothing_left

# One that is killed leaves at most a folder, which the next one removes; one in use stays.
killed() {
    local process
    rm -rf "$scratch/tmp" && mkdir "$scratch/tmp" && touch "$scratch/loops" || return
    TMPDIR=$scratch/tmp "$CULPRIT" explain --output /dev/null -- \
        sh -c 'while [ -e "$0" ]; do :; done' "$scratch/loops" 2>/dev/null &
    process=$!
    until_true $process sh -c '[ -n "$(ls -A "$0")" ]' "$scratch/tmp" || return
    TMPDIR=$scratch/tmp run explain --machine alpha21164 --output /dev/null -- true || return
    ls -A "$scratch/tmp" >"$scratch/used"
    kill -KILL $process
    wait $process
    rm "$scratch/loops"
    ls -A "$scratch/tmp" >"$scratch/left"
    TMPDIR=$scratch/tmp run explain --machine alpha21164 --output /dev/null -- true || return
    [ "$(wc -l <"$scratch/used")" = 1 ] && cmp "$scratch/used" "$scratch/left" && [ -z "$(ls -A "$scratch/tmp")" ]
}
check "what a killed one left is removed by the next" killed

# The reader of a report that goes early takes the temporary files along.
closed() {
    TMPDIR=$scratch/tmp run icost --limit 50K -- seq 2000 2>&1 | head -n 1 >/dev/null
    [ -z "$(ls -A "$scratch/tmp")" ]
}
check "a closed pipe leaves no temporary files" closed

# A shell starts background commands with SIGINT ignored; set -m prevents that.
set -m
check "an interrupt gives the partial report, marked" interrupted 1
check "so do two at once, as timeout sends them" interrupted 2

# The command has ended well, and what it did is simulated for long.
ended_before() {
    local process command
    "$CULPRIT" explain --regions-over 1G --json -o "$report" -- \
        sh -c 'i=0; while [ $i -lt 8000 ]; do i=$((i + 1)); done; echo $$ >"$0.new"; mv "$0.new" "$0"' "$scratch/ended" &
    process=$!
    until_true $process test -e "$scratch/ended" || return 1
    command=$(cat "$scratch/ended")
    while kill -0 "$command" 2>/dev/null; do
        sleep 0.05
    done
    kill -INT $process
    wait $process
    [ $? = 130 ] && told 'r["partial"]'
}
check "... also of a command that had ended" ended_before

# Nothing but the simulation is under way, of a cache that has room for one line.
trace_ended() {
    local process
    run trace --limit 100M --stop -o "$scratch/long.ctrace" -- sh -c 'while :; do :; done' || return 1
    "$CULPRIT" sim --set l1d.size=64 --set l1d.ways=1 --json -o "$report" "$scratch/long.ctrace" &
    process=$!
    until_used $process 0.5
    kill -TERM $process
    wait $process
    [ $? = 143 ] && told 'r["partial"]' 'r["instructions"] > 1e5'
}
check "SIGTERM ends the simulation of a trace" trace_ended
set +m

# A terminal that goes away takes the program along, and no scratch file stays; nohup prevents that.
hung_up() {
    local before=$1 wanted=$2 process status
    rm -f "$scratch/there"
    $before "$CULPRIT" sim --limit 1G --output "$scratch/hung_up" -- \
        sh -c 'echo >"$0"; read line; exit 3' "$scratch/there" <&9 2>"$scratch/err" &
    process=$!
    until_true $process test -e "$scratch/there"
    kill -HUP $process
    [ "$wanted" = 129 ] || echo >&9
    wait $process
    status=$?
    cat "$scratch/err"
    [ $status = "$wanted" ] || { echo "status $status, not $wanted"; return 1; }
    grep -q CPI "$scratch/hung_up" && [ -z "$(find "$scratch" -name 'hung_up.*')" ]
}
check "a hangup gives the partial report" hung_up "" 129
check "nohup outlives a hangup" hung_up nohup 3

check "a thread that is not there is named" fails_with 125 'no instruction.*no thread 7' \
    run sim --thread 7 -- true
run trace -o "$scratch/true.ctrace" -- true 2>/dev/null
check "... also of a trace" fails_with 1 'no instruction.*no thread 7' \
    run sim --thread 7 "$scratch/true.ctrace"
check "--skip beyond the end" fails_with 125 'no instruction.*within --skip 1000000000' \
    run sim --skip 1G -- true
check "... also of a trace" fails_with 1 'no instruction.*within --skip 1000000000' \
    run sim --json --skip 1G "$scratch/true.ctrace"
nothing_captured() {
    local verb
    for verb in "trace -o $scratch/none.ctrace" "bbv -o $scratch/none.bb" sim explain icost predict profilers \
        "contend --profile $scratch/none.locality"; do
        echo "$verb $*"
        fails_with 125 "${pattern:?}" run $verb "$@" -- true || return 1
    done
    [ -z "$(find "$scratch" -name 'none*' ! -name '*.slices' ! -name '*.bb')" ]
}
pattern='ended after [0-9,]+ instructions, within --skip 1000000000$'
check "--skip beyond the end: every verb says how long the run was, and leaves no trace" nothing_captured --skip 1G
pattern='there was no thread 7, the last was 0$'
check "... and --thread which threads there were" nothing_captured --thread 7
never_entered() {
    fails_with 125 'the function nothing_such was never entered' \
        run trace --from nothing_such -o "$scratch/none.ctrace" -- true && [ ! -e "$scratch/none.ctrace" ]
}
check "... and --from that it was never entered" never_entered

# The command waits for the end of its input, which comes when the progress has been read.
runs_on() {
    mkfifo "$scratch/wait"
    run trace --limit 1K -o "$scratch/wait.ctrace" -- cat <"$scratch/wait" >"$scratch/out" 2>"$scratch/err" &
    local process=$!
    exec 7>"$scratch/wait"
    until_true $process grep -q 'limit of 1.00 k instructions reached; the command runs on (--stop ends it)' "$scratch/err"
    echo later >&7
    exec 7>&-
    wait $process && grep -q '1.00 k instructions' "$scratch/err" && grep -qx later "$scratch/out"
    local status=$?
    cat "$scratch/err"
    return $status
}
check "after --limit progress says that the command runs on" runs_on
stops() {
    local verb
    for verb in "trace -o $scratch/stop.ctrace" "bbv -o $scratch/stop.bb" sim explain icost predict profilers \
        "contend --profile $scratch/stop.locality" "validate --size 1K"; do
        echo "$verb"
        run $verb --limit 5K --stop -- sleep 1000 >"$scratch/out" 2>&1 || { cat "$scratch/out"; return 1; }
    done
}
check "--stop ends the command at the limit, with status 0" stops
check "--stop needs --limit" fails_with 125 'stop.*limit' run sim --stop -- true
check "... and a command" fails_with 2 'stop: only while a command runs' run sim --limit 5 --stop "$scratch/true.ctrace"
one_instruction() {
    run sim --limit 1 "$scratch/true.ctrace" >"$scratch/out" && grep -q '^1 instruction, ' "$scratch/out" &&
        ! grep -E '(^|[^0-9.])1 (instructions|cycles|threads|processes|windows|images)' "$scratch/out" &&
        run trace --info "$scratch/true.ctrace" | grep 'threads  *1 of 1 process$'
}
check "one instruction, one process" one_instruction
check "a window of cycles without its file" fails_with 2 '--kanata-from.*--kanata FILE' \
    run sim --kanata-from 5 "$scratch/true.ctrace"
check "... or its length" fails_with 2 '--kanata-cycles.*--kanata FILE' \
    run sim --kanata-cycles 5 "$scratch/true.ctrace"

machines() {
    run machines | grep -q zen4 && run machines show boom-tea >"$scratch/copy.ini" &&
        run machines check "$scratch/copy.ini" &&
        run machines show boom-tea --json >"$scratch/a" &&
        run machines show "$scratch/copy.ini" --json >"$scratch/b" && same_file "$scratch/a" "$scratch/b" &&
        python3 -S -c 'import json, sys
assert json.load(open(sys.argv[1]))["forms"] == ""' "$scratch/a" &&
        run machines list --json | python3 -S -c 'import json, sys
assert any(m["name"] == "zen4" for m in json.load(sys.stdin)["machines"])'
}
check "machines: list, show, check; what is shown loads back" machines
machines_checked_json() {
    run machines check --json machines/granite-rapids.ini | python3 -S -c '
import json, sys
sys.path.insert(0, "tests/e2e")
import check_schemas
checked = json.load(sys.stdin)
assert not list(check_schemas.mistakes(check_schemas.Validators(), "machines", checked)), checked
assert checked["machine"] == "granite-rapids" and checked["forms"]["count"] > 0, checked
del checked["forms"]
assert list(check_schemas.mistakes(check_schemas.Validators(), "machines", checked))'
}
check "machines check --json: file, machine and forms, as the schema says" machines_checked_json
not_utf8() {
    local file=$scratch/$'m\xff.ini'
    LC_ALL=C sed $'s/^description.*/description = caf\xe9/' machines/boom-tea.ini >"$file" || return 1
    run machines check --json "$file" | grep -q '"checked_file": ".*/m.*\.ini"' &&
        run machines show --json "$file" | grep -q '"description": "caf'
}
check "machine files whose name or text is no UTF-8 are told of in JSON" not_utf8
check "machines with a name alone says how to see it" fails_with 2 \
    "boom-tea: did you mean 'culprit machines show boom-tea'" run machines boom-tea
for more in "" "--by instruction --top 0"; do
    check "a JSON report that cannot be written names its file${more:+, a large one}" \
        fails_with 1 '^culprit: --output /dev/full: cannot write: No space left' \
        run sim --json $more -o /dev/full "$scratch/true.ctrace"
done
printf 'base = zen4\n[core]\nrob = -3\n' >"$scratch/bad.ini"
check "machines check names file, line and key" fails_with 1 'bad.ini.*3.*rob' \
    run machines check "$scratch/bad.ini"

finish
