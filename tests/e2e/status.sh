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
check "explain keeps the exit status too" status_is 3 run explain -- sh -c 'exit 3'
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
    'for verb in sim explain trace machines; do "$CULPRIT" $verb --help | grep -A1 "^Example:" | grep -q culprit || exit 1; done'
check "--version" sh -c '"$CULPRIT" --version | grep -qx "culprit [0-9.]*"'

check "an unknown verb names the nearest" fails_with 2 "did you mean 'explain'" run explian
check "an unknown option" fails_with 2 "bogus.*--help" run sim --bogus x.ctrace
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

# The command here ends by itself only after a long time.
interrupted() {
    local signals=$1
    "$CULPRIT" sim --json --output "$scratch/partial" -- sh -c 'while :; do :; done' \
        2>"$scratch/err" &
    local process=$! status
    until_used $process 1
    for ((; signals > 0; signals--)); do
        kill -INT $process
        sleep 0.02
    done
    wait $process
    status=$?
    cat "$scratch/err"
    [ $status = 130 ] || { echo "status $status"; return 1; }
    python3 - "$scratch/partial" <<'END'
import json, sys
r = json.load(open(sys.argv[1]))
assert r["partial"] and r["instructions"] > 0 and "PARTIAL" in r["notes"][0]
assert sum(r["commit_states"].values()) == r["cycles"]
END
}
# A shell starts background commands with SIGINT ignored; set -m prevents that.
set -m
check "an interrupt gives the partial report, marked" interrupted 1
check "so do two at once, as timeout sends them" interrupted 2
set +m

# A terminal that goes away takes the program along, and no scratch file stays; nohup prevents that.
hung_up() {
    local before=$1 wanted=$2 process status
    $before "$CULPRIT" sim --limit 1G --output "$scratch/hung_up" -- sh -c 'sleep 4; exit 3' \
        2>"$scratch/err" &
    process=$!
    sleep 2
    kill -HUP $process
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
        run machines list --json | python3 -c 'import json, sys
assert any(m["name"] == "zen4" for m in json.load(sys.stdin)["machines"])'
}
check "machines: list, show, check; what is shown loads back" machines
printf 'base = zen4\n[core]\nrob = -3\n' >"$scratch/bad.ini"
check "machines check names file, line and key" fails_with 1 'bad.ini.*3.*rob' \
    run machines check "$scratch/bad.ini"

finish
