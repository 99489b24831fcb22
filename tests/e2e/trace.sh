# culprit trace: what is captured into a file is what a live simulation sees.
. tests/e2e/lib.sh

seq 2000 >"$scratch/numbers"
trace=$scratch/gzip.ctrace

records() {
    run trace -o "$trace" -- gzip -c "$scratch/numbers" >"$scratch/got" 2>"$scratch/err" || return 1
    same_file "$scratch/got" <(gzip -c "$scratch/numbers") && grep -q 'next: culprit sim' "$scratch/err"
}
check "trace keeps the command's output" records

# value KEY FILE
value() {
    python3 -S -c 'import json, sys; print(json.load(open(sys.argv[2]))[sys.argv[1]])' "$1" "$2"
}

same_as_live() {
    run trace --info "$trace" --json >"$scratch/info" || return 1
    run sim --json "$trace" >"$scratch/file.json" || return 1
    run sim --json --output "$scratch/live.json" -- gzip -c "$scratch/numbers" >/dev/null || return 1
    for key in program instructions; do
        echo "$key: $(value $key "$scratch/file.json") $(value $key "$scratch/live.json")"
        [ "$(value $key "$scratch/file.json")" = "$(value $key "$scratch/live.json")" ] || return 1
    done
    python3 -S -c 'import sys; a, b = map(int, sys.argv[1:]); assert abs(a - b) < b / 1000, (a, b)' \
        "$(value instructions "$scratch/info")" "$(value instructions "$scratch/file.json")"
}
check "a trace and a live run give the same instructions" same_as_live

# Also of a program that the command becomes.
quoted() {
    local command="sh -c 'exec env a=1 true \"\$@\"' name 'a b' ''"
    run trace -o "$scratch/quoted.ctrace" -- sh -c 'exec env a=1 true "$@"' name 'a b' '' 2>/dev/null &&
        run trace --info "$scratch/quoted.ctrace" --json >"$scratch/info" &&
        value command "$scratch/info" && [ "$(value command "$scratch/info")" = "$command" ] &&
        run sim --top 0 --json "$scratch/quoted.ctrace" >"$scratch/quoted.json" &&
        [ "$(value program "$scratch/quoted.json")" = "$command" ] &&
        run bbv -o "$scratch/quoted.bb" -- env a=1 true 'a b' '' 2>/dev/null && grep '^origin' "$scratch/quoted.bb.slices" &&
        grep -q "^origin 1 .* true 'a b' ''$" "$scratch/quoted.bb.slices"
}
check "a command is kept with the quotes that a shell needs" quoted

twice() {
    run sim "$trace" --json --top 0 | grep -v second >"$scratch/a" &&
        run sim "$trace" --json --top 0 | grep -v second >"$scratch/b" && same_file "$scratch/a" "$scratch/b"
}
check "the same trace gives the same bytes" twice

window() {
    run sim "$trace" --skip 100K --limit 50K --json >"$scratch/window.json" &&
        [ "$(value instructions "$scratch/window.json")" = 50000 ]
}
check "--skip and --limit cut a trace to the instruction" window

from_symbol() {
    run trace -o "$scratch/branchy.ctrace" -- "$WORKLOADS/riscv64/branchy" 1000 500 >/dev/null 2>&1 &&
        run sim "$scratch/branchy.ctrace" --from main --json --top 0 >"$scratch/main.json" &&
        run sim "$scratch/branchy.ctrace" --json >"$scratch/whole.json" &&
        [ "$(value instructions "$scratch/main.json")" -lt "$(value instructions "$scratch/whole.json")" ] &&
        python3 -S -c 'import json, sys
names = [f["function"] for f in json.load(open(sys.argv[1]))["functions"]]
assert "main" in names and "_start" not in names, names' "$scratch/main.json"
}
skip_without riscv64-workloads "--from begins at a function" || check "--from begins at a function" from_symbol

compressed() {
    run trace --compress -o "$scratch/small.ctrace" -- gzip -c "$scratch/numbers" >/dev/null 2>&1 &&
        [ "$(stat -c %s "$scratch/small.ctrace")" -lt "$(stat -c %s "$trace")" ] &&
        run sim --json "$scratch/small.ctrace" >"$scratch/small.json" &&
        [ "$(value instructions "$scratch/small.json")" = "$(value instructions "$scratch/file.json")" ]
}
check "--compress makes it smaller, and it reads the same" compressed

piped() {
    run sim --json - <"$trace" >"$scratch/pipe.json" &&
        [ "$(value cycles "$scratch/pipe.json")" = "$(value cycles "$scratch/file.json")" ]
}
check "a trace is read from standard input" piped

by_name() {
    cat "$trace" | run sim --json "$1" >"$scratch/pipe.json" &&
        [ "$(value cycles "$scratch/pipe.json")" = "$(value cycles "$scratch/file.json")" ]
}
check "... from a pipe" by_name -
check "... by the name that the system has for it" by_name /dev/stdin
substituted() {
    run sim --json <(cat "$trace") >"$scratch/pipe.json" &&
        [ "$(value cycles "$scratch/pipe.json")" = "$(value cycles "$scratch/file.json")" ]
}
check "... from a pipe of the shell's" substituted

truncated() {
    head -c $(($(stat -c %s "$trace") / 2)) "$trace" >"$scratch/cut.ctrace"
    run sim --json --output "$scratch/cut.json" "$scratch/cut.ctrace" 2>"$scratch/err"
    local status=$?
    cat "$scratch/err"
    [ $status -le 1 ] && [ "$(value instructions "$scratch/cut.json")" -gt 0 ] &&
        [ "$(value partial "$scratch/cut.json")" = True ] &&
        run sim --limit 1K "$scratch/cut.ctrace" >"$scratch/begin" &&
        ! grep -qi partial "$scratch/begin" &&
        run sim "$scratch/cut.ctrace" >"$scratch/text" 2>"$scratch/err"
    grep -q ' (partial)$' "$scratch/text" && grep -q 'cut short after' "$scratch/text"
}
check "what is there of a cut trace is reported, marked partial" truncated
imported() {
    run trace --import "$scratch/cut.ctrace" -o "$scratch/imported.ctrace" 2>"$scratch/err" &&
        grep -q '(partial)$' "$scratch/err" || { cat "$scratch/err"; return 1; }
    run trace --info "$scratch/imported.ctrace" >"$scratch/info" && grep '^note.*cut short after' "$scratch/info" || return 1
    run sim --json --output "$scratch/imported.json" "$scratch/imported.ctrace" 2>/dev/null
    [ "$(value partial "$scratch/imported.json")" = True ] &&
        [ "$(value cycles "$scratch/imported.json")" = "$(value cycles "$scratch/cut.json")" ]
}
check "... also once it was imported" imported
imported_over() {
    cp "$scratch/imported.ctrace" "$scratch/over.ctrace" &&
        fails_with 1 'over.ctrace: the trace that is imported is read from there' \
            run trace --import "$scratch/over.ctrace" -o "$scratch/over.ctrace" &&
        cmp "$scratch/imported.ctrace" "$scratch/over.ctrace"
}
check "a trace is not imported over itself" imported_over

limited() {
    run trace --limit 20K -o "$scratch/limited.ctrace" -- gzip -c "$scratch/numbers" >/dev/null 2>&1 &&
        run trace --info "$scratch/limited.ctrace" >"$scratch/info" &&
        grep '^note  *the capture ended at its limit of 20,000 instructions (--limit): ' "$scratch/info" &&
        run sim --json "$scratch/limited.ctrace" >"$scratch/limited.json" && grep -q 'ended at its limit of 20,000' "$scratch/limited.json" &&
        run trace --limit 1G -o "$scratch/whole.ctrace" -- gzip -c "$scratch/numbers" >/dev/null 2>&1 &&
        run trace --info "$scratch/whole.ctrace" >"$scratch/info" && ! grep '^note' "$scratch/info"
}
check "a trace tells that --limit ended it" limited

# flipped AT FILE: one byte of the file is another
flipped() {
    python3 -S -c 'import sys
with open(sys.argv[2], "r+b") as file:
    file.seek(int(sys.argv[1]))
    byte = file.read(1)[0]
    file.seek(int(sys.argv[1]))
    file.write(bytes([byte ^ 1]))' "$1" "$2"
}

checked() {
    run trace --check -o "$scratch/checked.ctrace" -- gzip -c "$scratch/numbers" >/dev/null 2>&1 &&
        run trace --info "$scratch/checked.ctrace" --check >"$scratch/info" && grep '^checked' "$scratch/info" &&
        run trace --info "$scratch/checked.ctrace" --check --json >"$scratch/info" && [ "$(value checked "$scratch/info")" = True ] &&
        run trace --info "$scratch/checked.ctrace" --json >"$scratch/info" && [ "$(value checked "$scratch/info")" = False ] &&
        flipped $(($(stat -c %s "$scratch/checked.ctrace") / 2)) "$scratch/checked.ctrace" || return 1
    run trace --info "$scratch/checked.ctrace" --check >"$scratch/info" 2>"$scratch/err"
    [ $? = 1 ] && grep 'the file is damaged' "$scratch/err" && grep '^instructions' "$scratch/info" && ! grep '^checked' "$scratch/info" &&
        run trace --info "$scratch/cut.ctrace" --check >"$scratch/info" 2>"$scratch/err"
    [ $? = 1 ] && grep 'cut.ctrace is cut short after' "$scratch/err" && grep '^note.*cut short after' "$scratch/info"
}
check "--check reads all of a trace, after a capture or with --info" checked
check "... once" fails_with 125 'give one of them' run trace --check --no-check -- true
check "... not of a pipe" fails_with 125 'cannot be read once more' run trace --check -o - -- true

# By SIGPIPE, as a program that is not traced: the trace is longer than what waits to be written.
reader_gone() {
    run trace --limit 12M -o - -- perl -e '$sum += $_ for 1..1000000' 2>"$scratch/err" | head -c 2000000 >/dev/null
    [ "${PIPESTATUS[0]}" = 141 ] && [ ! -s "$scratch/err" ]
}
check "... and ends quietly when nobody reads that any more" reader_gone

# By then more than a megabyte has been captured, which is what is written at once.
overwritten() {
    seq 30000 >"$scratch/many"
    run trace --follow -o "$scratch/own.ctrace" -- \
        sh -c 'gzip -9c "$0" >/dev/null; : >"$1"' "$scratch/many" "$scratch/own.ctrace" 2>"$scratch/err"
    [ $? = 125 ] && grep '^culprit: what was written cannot be read again: ' "$scratch/err" &&
        rm "$scratch/own.ctrace" &&
        run trace --no-check --follow -o "$scratch/own.ctrace" -- \
            sh -c 'gzip -9c "$0" >/dev/null; : >"$1"' "$scratch/many" "$scratch/own.ctrace"
}
check "a trace that the command itself overwrites is found to be damaged" overwritten

twice_at_once() {
    mkfifo "$scratch/wait" || return 1
    run trace -o "$scratch/one.ctrace" -- cat "$scratch/wait" >/dev/null 2>&1 &
    local first=$! second=0
    while kill -0 "$first" 2>/dev/null && ! [ -e "$scratch/one.ctrace" ]; do sleep 0.05; done
    fails_with 125 "one.ctrace: another culprit is writing it" run trace -o "$scratch/one.ctrace" -- true || second=1
    echo >"$scratch/wait"
    wait "$first" && [ "$second" = 0 ] && run trace --info "$scratch/one.ctrace" >/dev/null
}
check "a trace that another culprit writes is let be" twice_at_once

full_disk() {
    run trace -o /dev/full -- true 2>"$scratch/err"
    [ $? = 125 ] && [ "$(grep -c 'No space left on device$' "$scratch/err")" = 1 ] &&
        without_progress "$scratch/err" | sed -n 1p | grep '^culprit: /dev/full: cannot write more than 0 bytes' &&
        without_progress "$scratch/err" | sed -n 2p | grep '^/dev/full: .* (partial)$'
}
check "a full disk is told before what was written" full_disk

printf 'not a trace at all, but long enough to be looked at' >"$scratch/junk.ctrace"
check "--info with a command" fails_with 125 "^culprit trace: --info: it reads a trace and runs no command .leave out 'true'.$" \
    run trace --info file.ctrace -- true
check "--import with a command" fails_with 125 "^culprit trace: --import: it reads a trace" \
    run trace --import file.ctrace -- true
check "a file that is no trace" fails_with 1 'junk.ctrace' run sim "$scratch/junk.ctrace"
check "... nor for --info" fails_with 1 'junk.ctrace' run trace --info "$scratch/junk.ctrace"

no_addresses() {
    run trace --no-addresses -o "$scratch/blocks.ctrace" -- true 2>/dev/null &&
        fails_with 1 'blocks.ctrace.*no memory addresses' run sim "$scratch/blocks.ctrace"
}
check "a trace without addresses is not simulated" no_addresses

in_order="--machine alpha21164"
samples() {
    run explain $in_order "$trace" >"$scratch/explained" && grep -q 'what the words mean' "$scratch/explained" &&
        ! grep -q 'sampling error' "$scratch/explained" && run explain $in_order --exact "$trace" | grep -v second >"$scratch/exact" &&
        same_file <(grep -v second "$scratch/explained" | grep -v '^next') <(grep -v '^next' "$scratch/exact")
}
check "explain simulates a short run whole" samples

check "--info without its file says so" \
    fails_with 2 '^culprit trace: --info: which file\? \(culprit trace --info FILE\.ctrace --json\)$' run trace --info --json file.ctrace

finish
