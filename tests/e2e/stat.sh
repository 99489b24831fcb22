# culprit stat: what the kernel accounts of a command.
. tests/e2e/lib.sh

# A command that uses a known amount of each: 0.3 s of processor time, 64 MB, five waits.
cat >"$scratch/known.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
int main(int argc, char **argv) {
    struct timespec used, rest = {0, 10000000};
    volatile unsigned turns = 0;
    char *memory = malloc(64 << 20);
    memset(memory, 1, 64 << 20);
    for (int i = 0; i < 5; i++)
        nanosleep(&rest, NULL);
    do {
        for (int i = 0; i < 10000; i++)
            turns += memory[i];
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    } while (used.tv_sec + used.tv_nsec * 1e-9 < 0.3);
    puts("done");
    return argc > 1 ? atoi(argv[1]) : 0;
}
C
gcc -O1 -o "$scratch/known" "$scratch/known.c" || exit 1

report=$scratch/report.json
once() {
    run stat --json -o "$report" -- "$scratch/known" >"$scratch/out" && [ "$(cat "$scratch/out")" = done ] &&
        told 'len(r["runs"]) == 1' 'not r["partial"]' \
            'r["runs"][0]["user_seconds"] + r["runs"][0]["system_seconds"] >= 0.29' \
            'r["runs"][0]["wall_seconds"] >= 0.3 + 0.05 - 0.011' \
            'abs(r["runs"][0]["processors"] - (r["runs"][0]["user_seconds"] + r["runs"][0]["system_seconds"]) / r["runs"][0]["wall_seconds"]) < 1e-9' \
            '64 << 20 <= r["runs"][0]["resident_bytes"] < 80 << 20' 'r["runs"][0]["waits"] >= 5' \
            'r["figures"]["waits"]["median"] == r["runs"][0]["waits"]' &&
        # By huge pages there may be fewer.
        told '32 <= r["runs"][0]["minor_faults"] + r["runs"][0]["major_faults"] < 40000'
}
check "one run: time, memory, faults and switches" once

several() {
    run stat -r 3 --json -- "$scratch/known" >"$report" 2>"$scratch/err" &&
        [ "$(grep -c done "$scratch/err")" = 3 ] && told 'len(r["runs"]) == 3' \
        'all(sorted(one[name] for one in r["runs"]) == [f["least"], f["median"], f["most"]] for name, f in r["figures"].items())'
}
check "several runs: median, least and most" several

text() {
    run stat -r 2 -- "$scratch/known" >"$scratch/out" 2>"$scratch/text" && fits_100 "$scratch/text" &&
        grep -qE '^ +median of 2 +least +most$' "$scratch/text" &&
        grep -qE '^memory of the largest process +6[4-9][.0-9]* MiB' "$scratch/text" &&
        grep -qx "next: culprit record -- $scratch/known" "$scratch/text" || { cat "$scratch/text"; return 1; }
}
check "as text" text

# Children that are waited for count; the one that is not does not.
children() {
    run stat --json -o "$report" -- sh -c '"$1"; "$1"; "$1"' sh "$scratch/known" >/dev/null &&
        told 'r["runs"][0]["user_seconds"] + r["runs"][0]["system_seconds"] >= 0.88'
}
check "children are counted" children

failing() {
    run stat -r 5 --json -o "$report" -- "$scratch/known" 3 >/dev/null
    [ $? = 3 ] && told 'len(r["runs"]) == 1' 'r["partial"]' 'r["notes"] == ["a run ended with status 3: no more were made"]'
}
check "a run that fails ends the series, with its exit status" failing
killed() {
    run stat --json -o "$report" -- sh -c 'kill -TERM $$' >/dev/null
    [ $? = 143 ] && told 'len(r["runs"]) == 1' 'r["notes"] == ["signal 15 (Terminated) ended the command"]' || return 1
    run stat -r 2 -- sh -c 'kill -SEGV $$' 2>"$scratch/text"
    [ $? = 139 ] && grep -qx 'signal 11 (Segmentation fault) ended the command' "$scratch/text"
}
check "a run that a signal ends" killed
# SIGTERM to culprit is passed on.
told_to_end() {
    local process status
    "$CULPRIT" stat -r 100 --json -o "$report" -- sleep 60 &
    process=$!
    until_true "$process" eval '[ -n "$(cat /proc/$process/task/*/children 2>/dev/null)" ]'
    kill -TERM "$process"
    wait "$process"
    status=$?
    [ "$status" = 143 ] && told 'len(r["runs"]) == 1' 'r["partial"]' 'r["runs"][0]["wall_seconds"] < 50'
}
check "told to end, it ends the command and tells of it" told_to_end
ended_again() {
    interrupted_twice "$1" "$2" stat -r 100 --json -o "$report" 2>"$scratch/said" &&
        grep -qx 'culprit: the command goes on; another signal ends it' "$scratch/said" &&
        told 'len(r["runs"]) == 1' 'r["partial"]' 'r["runs"][0]["wall_seconds"] > 1'
}
check "a second interrupt ends a command that ignores it, and it tells of it" ended_again 143 INT
check "also one that ignores SIGTERM" ended_again 137 'INT TERM'
# What cannot be run is told in the same words, and with the same status, whoever was to run it.
touch "$scratch/plain"
refused_alike() {
    local status=$1 reason=$2 name=$3
    fails_with "$status" "^culprit: cannot run ${name:-''}: $reason\$" run stat -- "$name" &&
        fails_with "$status" "^culprit: cannot run ${name:-''}: $reason\$" run record --store "$scratch/profiles.db" -- "$name" &&
        fails_with "$status" "^culprit: cannot run ${name:-''}: $reason\$" run sim -- "$name"
}
check "no such command" refused_alike 127 'No such file or directory' no_such_program
not_in_path() {
    (cd "$scratch" && fails_with 127 '^culprit: cannot run known: No such file or directory: it is not in PATH, but here: ./known$' run stat -- known)
}
check "a program of this folder that is not in PATH" not_in_path
check "an empty command" refused_alike 127 'No such file or directory' ''
check "a command below a file" refused_alike 127 'Not a directory' "$scratch/plain/command"
check "a folder as a command" refused_alike 126 'Is a directory' "$scratch"
check "a file that is not executable" refused_alike 126 'Permission denied' "$scratch/plain"
# Which a shell would otherwise read.
printf '\177ELF\n' >"$scratch/broken" && echo 'echo read' >"$scratch/unmarked" && chmod +x "$scratch/broken" "$scratch/unmarked"
broken() {
    fails_with 126 "^culprit: cannot run $scratch/broken: Exec format error: it is damaged" run stat -- "$scratch/broken" &&
        fails_with 126 "^culprit: cannot run $scratch/broken: Exec format error: it is damaged" run record --store "$scratch/profiles.db" -- "$scratch/broken" &&
        [ "$(run stat -o "$scratch/text" -- "$scratch/unmarked")" = read ] &&
        fails_with 126 "begins with #!: name what runs it .sh $scratch/unmarked.\$" run sim -- "$scratch/unmarked"
}
check "an ELF file that cannot be run is not read by a shell; a script without #! is" broken
check "no command" fails_with 2 'which command' run stat
check "no runs" fails_with 125 'repeat 0' run stat -r 0 -- true
# A word of each of 8000 lines is read, and their sum is even or odd.
cat >"$scratch/lines.c" <<'PROGRAM'
static volatile unsigned lines[8000 * 16];
int main(void) {
    unsigned sum = 0;
    for (int i = 0; i < 8000; i++)
        sum += lines[i * 16] & 1 ? 3 : (unsigned)i;
    return sum == 1;
}
PROGRAM
cc -O1 -static -o "$scratch/lines" "$scratch/lines.c" || exit 1
# The counts of a simulation are those of explain: every level has its parts, and the first has all slots.
simulated() {
    local counted
    run explain --json --no-what-if -o "$report" -- "$scratch/lines" >/dev/null || return 1
    counted=$(python3 -S -c 'import json, sys; r = json.load(open(sys.argv[1])); print(r["cycles"], r["instructions"])' "$report")
    run stat --simulated --json -o "$report" -- "$scratch/lines" >/dev/null &&
        told "r['simulated'] and r['cycles_half_interval_95'] == 0" \
            "(r['counts']['cycles'], r['counts']['instructions']) == (${counted/ /, })" \
            "r['counts']['slots'] == r['counts']['cycles'] * r['top_down']['dispatch_width']" \
            "sum(l['slots'] for l in r['top_down']['levels'] if l['depth'] == 1) == r['counts']['slots']" \
            "r['counts']['branch_misses'] < r['counts']['branches'] and r['counts']['l1d_misses'] > 4000"
}
check "the counts of a simulation are those that explain has" simulated
cat >"$scratch/rounds.c" <<'C'
#include <stdio.h>
int main(void) {
    volatile unsigned sum = 0;
    for (unsigned i = 0; i < 17000000; i++)
        sum += i;
    puts("done");
    return 3;
}
C
simulated_text() {
    gcc -O1 -o "$scratch/rounds" "$scratch/rounds.c" || return 1
    run stat --simulated --regions 10 -- "$scratch/rounds" >"$scratch/out" 2>"$scratch/text"
    [ $? = 3 ] && [ "$(cat "$scratch/out")" = done ] && fits_100 "$scratch/text" &&
        grep -qE '^ +[0-9,]+  cycles +#   5.000  GHz +\( ± [0-9.]+ % \)$' "$scratch/text" &&
        grep -qE '^ +[0-9,]+  branch-misses +# +[0-9.]+ % of all branches$' "$scratch/text" &&
        grep -qE '^ +[0-9,]+    Memory Bound +# +[0-9.]+ % of all slots$' "$scratch/text" &&
        grep -qx "next: culprit explain --levels -- $scratch/rounds" "$scratch/text" || { cat "$scratch/text"; return 1; }
}
check "a long run's counts are estimated, with the interval of its cycles" simulated_text
check "a simulation is not repeated" fails_with 125 'same counts' run stat --simulated -r 2 -- true
check "a machine is of a simulation" fails_with 125 'add --simulated' run stat --machine zen4 -- true
check "regions are, too" fails_with 125 'add --simulated' run stat --regions 10 -- true
check "a simulated command that is not there" fails_with 127 'cannot run' run stat --simulated -- "$scratch/nothing"

finish
