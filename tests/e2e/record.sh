# record: what a command and its children spend their time in, on this machine, as saved.
. tests/e2e/lib.sh
unset CULPRIT_STORE
export HOME=$scratch
cd "$scratch" || exit 1
root=$OLDPWD store=$scratch/profiles.db
guest() {
    cc -O1 -Wl,--build-id -o "$1" "$root/tests/guests/$1.c" || exit 1
}

# record OPTIONS... COMMAND...: into the store; the summary goes to $scratch/summary.
record() {
    run record --store "$store" --output "$scratch/summary" "$@"
}
# key NAME: of the last summary, recorded with --json.
key() {
    python3 -S -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' \
        "$scratch/summary" "$1"
}
# samples WHERE: in the last epoch.
samples() {
    sqlite3 "$store" "SELECT coalesce(sum(profile.total), 0) FROM profile
        JOIN image ON image.id = profile.image JOIN process ON process.id = profile.process
        WHERE profile.session = (SELECT max(id) FROM session) AND ($1)"
}
# share WHERE LEAST: of the last epoch's samples of user code at least so many percent are that part.
# How many there are of the kernel is the machine's: what it does besides is in its interrupts.
share() {
    local part all
    part=$(samples "image.kind != 1 AND ($1)") all=$(samples "image.kind != 1")
    echo "$part of $all samples"
    sqlite3 "$store" "SELECT hex(build_id), path, image.kind, command, executable, total FROM profile
        JOIN image ON image.id = profile.image JOIN process ON process.id = profile.process
        WHERE profile.session = (SELECT max(id) FROM session) ORDER BY total DESC LIMIT 12"
    [ "$all" -gt 0 ] && [ $((part * 100)) -ge $((all * $2)) ]
}
none_unknown() {
    echo "$(key unknown) unknown of $(key samples)"
    [ $(($(key unknown) * 1000)) -le "$(key samples)" ]
}
build_id() {
    readelf -n "$1" | awk '/Build ID:/ { print toupper($3) }'
}

# Where nobody may sample there is nothing to test.
run record --store "$store" -- true 2>"$scratch/why"
if grep -q 'is not permitted: it needs CAP_PERFMON' "$scratch/why"; then
    skip "record" "$(head -n 1 "$scratch/why")"
    finish
fi
cc -O1 -Wl,--build-id -o spin -x c - <<'PROGRAM' || exit 1
#include <stdlib.h>
#include <time.h>
int main(int argc, char **argv) {
    clock_t end = clock() + (clock_t)((argc > 1 ? atof(argv[1]) : 1) * CLOCKS_PER_SEC);
    volatile unsigned long spins = 0;
    while (clock() < end)
        for (int i = 0; i < 1000000; i++)
            spins++;
    return argc > 2 ? atoi(argv[2]) : 0;
}
PROGRAM
guest makes_code
guest loads_often

# ---- as much as the processor was used

one_recording() {
    local used
    TIMEFORMAT='%U %S'
    used=$({ time run record --json --store "$store" --output "$scratch/summary" -- ./spin 0.6; } 2>&1)
    python3 -S - "$scratch/summary" $used <<'PYTHON'
import json, sys
summary, used = json.load(open(sys.argv[1])), sum(map(float, sys.argv[2:]))
event = summary["events"][0]
if event["name"] != "cpu-clock":
    sys.exit(0)
told = summary["samples"] * event["period"] / 1e9
print(f"{told:.3f} s of samples; the command and culprit used {used:.3f} s")
# culprit's own start is in what was used
sys.exit(not (told < used * 1.02 and told > 0.57))
PYTHON
}
check "samples times their period are the time used" undisturbed one_recording
check "all of it in the program, but for interrupts" share "path LIKE '%/spin' AND command = 'spin'" 90

twice_the_children() {
    record --json -- sh -c './spin 0.3 & ./spin 0.3; wait' && none_unknown &&
        share "command = 'spin' AND executable LIKE '%/spin'" 90
}
check "children are included" twice_the_children

exec_chain() {
    record --json -- sh -c 'exec env A=1 nice -n 0 ./spin 0.3' && none_unknown &&
        share "command = 'spin'" 90 && [ "$(samples "image.kind != 1 AND command = 'sh'")" -lt 100 ]
}
check "a chain of execs ends in the last program" exec_chain

many_short_ones() {
    record --json -- sh -c 'i=0; while [ $i -lt 300 ]; do /bin/true; i=$((i + 1)); done' &&
        none_unknown && [ "$(samples "command = 'true'")" -gt 0 ] &&
        [ "$(samples "command = 'true' AND executable NOT LIKE '%/true'")" = 0 ]
}
check "short-lived processes are known" many_short_ones

libraries_in_turn() {
    record --json -- ./loads_often 200 >/dev/null && none_unknown &&
        share "path LIKE '%/libm.so%' OR path LIKE '%/libm-%'" 5 && share "path LIKE '%/libz.so%'" 5
}
check "libraries that come and go in each other's place" libraries_in_turn

# ---- against perf

# Each has two and a half times the work of the next, more than a loaded machine takes away; a step is
# an addition and a branch, in one line of the cache, on every processor.
steps() {
    cc -O1 -o steps -x c - <<'PROGRAM' || return 1
#define STEP(name, rounds)                                                                        \
    __attribute__((noinline, aligned(64))) static void name(void) {                                \
        for (long i = 0; i < (rounds) * 1000000L; i++)                                             \
            __asm__ volatile("" : "+r"(i));                                                        \
    }
STEP(first, 1600) STEP(second, 640) STEP(third, 256) STEP(fourth, 104) STEP(fifth, 44)
int main(void) {
    first(), second(), third(), fourth(), fifth();
}
PROGRAM
    python3 "$root/tests/soak/ranking.py" "$CULPRIT" "$store" 1 own -- ./steps
}
what="the ranking of procedures is perf's"
skip_without perf "$what" || skip_without readelf "$what" || check "$what" steps

# ---- files that change

deleted_binary() {
    local id
    cp spin gone && id=$(build_id gone)
    record --json -- sh -c './gone 0.3 & until [ /proc/$!/exe -ef gone ]; do sleep 0.01; done; rm gone; wait' &&
        share "hex(build_id) = '$id'" 90
}
check "a binary deleted while it runs keeps its build id" deleted_binary

replaced_binary() {
    local old new
    cp spin replaced && old=$(build_id replaced)
    cc -O2 -Wl,--build-id -o other -x c - <<<'int main(void) { for (volatile long i = 0; i < 300000000; i++); }'
    new=$(build_id other)
    record --json -- sh -c './replaced 0.3 & until [ /proc/$!/exe -ef replaced ]; do sleep 0.01; done; mv other replaced; ./replaced; wait' &&
        share "hex(build_id) = '$old'" 10 && share "hex(build_id) = '$new'" 10
}
check "a binary replaced while it runs is two images" replaced_binary

# ---- code made at run time

made_code() {
    local map status
    record --json -- ./makes_code 0.3 >"$scratch/map"
    status=$? map=$(cat "$scratch/map")
    rm -f "$map"
    [ $status = 0 ] && share "image.kind = 4 AND path LIKE '[jit] makes_code %'" 90 &&
        sqlite3 "$store" "SELECT hex(data) FROM symbols" | grep -q "$(printf 'hot loop' | od -An -tx1 | tr -d ' \n' | tr a-f A-F)"
}
check "code made at run time has the names of its map" made_code

quiet_code() {
    record --json -- ./makes_code 0.3 quiet && none_unknown &&
        share "image.kind = 4 AND path = '[jit] makes_code'" 90
}
check "code made at run time without a map is the program's" quiet_code

# ---- how it ends

statuses() {
    record -- ./spin 0.01 7
    [ $? = 7 ] || return 1
    record -- sh -c 'kill -9 $$'
    [ $? = 137 ] && grep -qx 'signal 9 (Killed) ended the command' "$scratch/summary"
}
ignored_children() {
    (trap '' CHLD && record -- ./spin 0.01 7)
    [ $? = 7 ]
}
check "the command's exit status is culprit's" statuses
check "also where the ends of children are ignored" ignored_children
ended_again() {
    interrupted_twice 143 INT record --json --store "$store" --output "$scratch/summary" && [ "$(samples true)" -gt 0 ]
}
check "a second interrupt ends a command that ignores it, and samples are kept" ended_again
ended_after_time() {
    interrupted_twice 137 'INT TERM' record --time 0.2s --store "$store" --output "$scratch/summary" && [ "$(samples true)" -gt 0 ]
}
check "also when no more samples are taken" ended_after_time
# It is not waited for, nor recorded any more.
goes_on() {
    local json
    for json in "" --json; do
        record $json -- sh -c 'for i in $(seq 20000); do :; done; setsid sleep 60 & echo $! >daemon' || return 1
        kill -0 "$(<daemon)" && tr '\n' ' ' <summary >line && cat line &&
            grep -qE "1 process of the command still runs \($(<daemon)\): it +is +not +waited +for" line || return 1
        kill "$(<daemon)"
    done
    record -- sh -c 'for i in $(seq 20000); do :; done; sleep 0.01 & wait' && ! grep 'still run' summary
}
check "a process that goes on after the command's end is told" goes_on
check "no such command" fails_with 127 'cannot run /nonexistent: ' record -- /nonexistent
check "a command that cannot be run" fails_with 126 'cannot run /etc/passwd: ' record -- /etc/passwd
check "no such process" fails_with 1 'process 2147483647: there is none' record --pid 2147483647
check "no such event" fails_with 125 'event "what": one of cycles' record --events what -- true
check "neither command nor process" fails_with 2 'what to record' run record

standard_streams() {
    [ "$(echo in | record -- cat)" = in ] && run record --store "$store" -- true 2>"$scratch/err" &&
        grep -q '^next: culprit top --epoch' "$scratch/err"
}
most_first() {
    run record --store "$store" --output "$scratch/summary" -- ./steps
    sed -n 's/^ *[0-9.]* %  \([a-z]*\) *steps$/\1/p' "$scratch/summary" | head -n 3 |
        paste -sd ' ' | grep -x 'first second third'
}
[ ! -f steps ] || check "the summary shows the procedures with most samples" most_first
check "the command keeps its streams; the summary is on standard error" standard_streams

interrupted() {
    local recorder status
    rm -f "$scratch/began"
    "$CULPRIT" record --json --store "$store" --output "$scratch/summary" -- \
        sh -c './spin 0.05; echo >"$0"; exec sleep 300' "$scratch/began" &
    recorder=$!
    until_true $recorder test -e "$scratch/began" || return 1
    kill "-$1" $recorder
    wait $recorder
    status=$?
    [ $status = $((128 + $2)) ] && [ "$(key partial)" = True ] && [ "$(samples 1)" -gt 0 ]
}
ulimit -c 0
for signal in TERM:15 HUP:1 QUIT:3 PIPE:13; do
    # Who starts the tests may have it ignored, as nohup does.
    ignored=0x$(awk '/^SigIgn/ { print $2 }' /proc/self/status)
    ((ignored >> (${signal#*:} - 1) & 1)) && continue
    check "a recording that SIG${signal%:*} ends early is saved, marked partial" interrupted ${signal/:/ }
done

running_process() {
    local spinning status
    ./spin 100 &
    spinning=$!
    record --json --pid $spinning --time 500ms
    status=$?
    kill $spinning
    wait $spinning 2>/dev/null
    [ $status = 0 ] && none_unknown && share "path LIKE '%/spin' AND command = 'spin'" 90 &&
        [ "$(key samples)" -gt 50 ]
}
check "a process that runs already" running_process

# A server's workers: what it is told of none.
older_children() {
    local parent status
    bash -c './spin 100 & echo $! >worker; wait' &
    parent=$!
    until [ -s worker ]; do sleep 0.05; done
    record --pid $parent --time 300ms -o said.txt && tr -s ' \n' ' ' <said.txt | grep -q 'children that it had already'
    status=$?
    kill "$(cat worker)" $parent
    wait $parent 2>/dev/null
    return $status
}
check "of children that a process had already it is said that they are not recorded" older_children

process_that_ends() {
    ./spin 0.6 &
    record --json --pid $! && [ "$(key samples)" -gt 100 ] && wait
}
check "a process that ends is recorded to its end" process_that_ends

# However late its end: the command goes on for longer.
limited_time() {
    local start=$EPOCHREALTIME
    record --json --time 0.3s -- ./spin 0.7 && [ "$(key samples)" -gt 0 ] &&
        python3 -S -c "import sys
recorded, start, end = map(float, sys.argv[1:])
print(recorded, end - start)
sys.exit(not 0.2 < recorded < 0.8 * (end - start))" "$(key seconds)" "$start" "$EPOCHREALTIME"
}
check "--time ends the recording, not the command" limited_time

# ---- the disk

full_disk() {
    (
        ulimit -f 8
        trap '' XFSZ
        fails_with 125 "small.db" run record --store "$scratch/small.db" -- sh -c 'ls / >/dev/null'
    )
}
check "a store that cannot grow: one line" full_disk

no_folder() {
    fails_with 125 "/proc/nothing: cannot make the folder of the store \(--store or CULPRIT_STORE names another\)" run record --store /proc/nothing/there.db -- true
}
check "a store that cannot be made: one line" no_folder
read_only() {
    fails_with 125 "x.db: cannot make a file there: Read-only file system" run record --store "$scratch/read-only/x.db" -- true
}
if mkdir "$scratch/read-only" && mount -t tmpfs -o ro none "$scratch/read-only" 2>"$scratch/.mount"; then
    check "... nor in a file system that is only read" read_only
    umount "$scratch/read-only"
else
    skip "... nor in a file system that is only read" "$(head -n 1 "$scratch/.mount")"
fi

# ---- an ordinary user

ordinary_user() {
    local culprit=$scratch/user/culprit
    mkdir -p "$scratch/user" && cp "$CULPRIT" spin "$scratch/user" || return 1
    chmod 755 "$scratch" && chmod 777 "$scratch/user"
    (
        cd "$scratch/user" || exit 1
        setpriv --reuid=65534 --regid=65534 --clear-groups env HOME="$scratch/user" \
            "$culprit" record --output "$scratch/user/summary" -- ./spin 0.3 || exit 1
    ) || return 1
    cat "$scratch/user/summary"
    grep -q '^user code alone: ' "$scratch/user/summary" &&
        grep -q '^0.0 % kernel, 0 unknown' "$scratch/user/summary" &&
        [ -f "$scratch/user/.local/share/culprit/profiles.db" ]
}
what="an ordinary user, user code alone"
paranoid=$(cat /proc/sys/kernel/perf_event_paranoid)
if [ "$(id -u)" != 0 ]; then
    skip "$what" "only root can become another user"
elif [ "$paranoid" != 2 ]; then
    skip "$what" "kernel.perf_event_paranoid is $paranoid, not 2"
else
    skip_without setpriv "$what" || check "$what" ordinary_user
fi


nothing_sampled() {
    record --rate 1 -- true && tr -s ' \n' ' ' <summary | grep -q 'no samples: it used less processor time'
}
check "that nothing was sampled is said, and why that may be" nothing_sampled

# ---- names that last longer than files

# worker NAME FUNCTION OPTIONS...: a program whose work is a function of this name, and its code of
# this very length.
worker() {
    local name=$1 function=$2
    shift 2
    cc -O1 "$@" -o "$name" -x c - <<PROGRAM
#include <string.h>
#include <time.h>
#include <unistd.h>
__attribute__((noinline)) static void $function(volatile unsigned long *turns) {
    for (int i = 0; i < 1000000; i++)
        *turns += sizeof "$function";
}
int main(int argc, char **argv) {
    volatile unsigned long turns = 0;
    const int goes = argc > 1 && !strcmp(argv[1], "gone");
    clock_t end = clock() + CLOCKS_PER_SEC / (goes ? 2 : 8);
    for (int i = 0; clock() < end; i++) {
        $function(&turns);
        if (i == 50 && goes)
            unlink(argv[2]);
    }
    return 0;
}
PROGRAM
}
# hottest NAME [EPOCH]: the procedure of user code with most samples; interrupts of other work may
# take more of a short run than it has itself.
hottest() {
    run top --store "$store" --epoch "${2:-last}" --json >top.json && python3 -S - "$1" <<'PYTHON'
import json, sys
rows = json.load(open("top.json"))["rows"]
print([row["procedure"] for row in rows[:3]])
rows = [row for row in rows if row["image"] != "[kernel]"]
assert rows[0]["procedure"] == (sys.argv[1] or None)
PYTHON
}
deleted_while_it_runs() {
    worker deleted first_work && record -- ./deleted gone deleted && [ ! -e deleted ] &&
        hottest first_work
}
# The new file is not taken for the old one, with build ids and without.
replaced_afterwards() {
    local id epoch
    for id in sha1 none; do
        worker one first_work -Wl,--build-id=$id && worker two second_work_of_all -Wl,--build-id=$id &&
            cp one replaced && record --json -- ./replaced && epoch=$(key epoch) && mv two replaced &&
            hottest first_work "$epoch" && record -- ./replaced && hottest second_work_of_all &&
            fails_with 1 'has changed since|was replaced since' run annotate --store "$store" --epoch "$epoch" first_work ||
            return 1
    done
}
in_a_root_that_goes() {
    mkdir root && worker root/inside first_work -static &&
        record -- chroot "$PWD/root" /inside && rm -r root && hottest first_work
}
without_symbols() {
    worker unnamed third_work_here && record --no-symbols -- ./unnamed gone unnamed && hottest ''
}
check "a program deleted while it runs keeps its names" deleted_while_it_runs
check "a program replaced afterwards keeps its names, the new one has its own" replaced_afterwards
if [ "$(id -u)" = 0 ]; then
    check "a program in another root keeps its names" in_a_root_that_goes
else
    skip "a program in another root keeps its names" "not root"
fi
check "--no-symbols keeps no names" without_symbols
in_the_vdso() {
    cc -O1 -o clocks -x c - <<'PROGRAM' || return 1
#include <time.h>
int main(void) {
    struct timespec now;
    for (int i = 0; i < 10000000; i++)
        clock_gettime(CLOCK_MONOTONIC, &now);
}
PROGRAM
    record -- ./clocks && run top --store "$store" --top 0 --json >top.json && python3 -S - <<'PYTHON'
import json
rows = [row for row in json.load(open("top.json"))["rows"] if row["image"] == "[vdso]"]
print(rows)
assert all(row["procedure"] for row in rows)
PYTHON
}
check "code of the vdso has names" in_the_vdso
finish
