# Events beside time: software events, tracepoints, those that this machine may lack.
. tests/e2e/lib.sh
export CULPRIT_STORE=$scratch/store
store=$CULPRIT_STORE

# Touches 5000 pages for the first time, one after the other, in touch_pages().
cat >"$scratch/faulty.c" <<'C'
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
__attribute__((noinline)) void touch_pages(volatile char *memory) {
    for (int i = 0; i < 5000; i++)
        memory[i * 4096L] = 1;
}
__attribute__((noinline)) void sleep_often(void) {
    for (int i = 0; i < 50; i++)
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
}
int main(void) {
    char *memory = mmap(NULL, 5000 * 4096L, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(memory, 5000 * 4096L, MADV_NOHUGEPAGE);
    touch_pages(memory);
    sleep_often();
    return 0;
}
C
gcc -O1 -g -o "$scratch/faulty" "$scratch/faulty.c" || exit 1

listed() {
    local verb
    for verb in record daemon stat; do
        run "$verb" --events list >"$scratch/text" 2>"$scratch/err" && [ ! -s "$scratch/err" ] &&
            grep -qE '^cpu-clock +(yes|no) ' "$scratch/text" && grep -qE '^dtlbmiss or dtbmiss +(yes|no) ' "$scratch/text" &&
            grep -q 'SUBSYSTEM:NAME' "$scratch/text" && fits_100 "$scratch/text" || { cat "$scratch/text" "$scratch/err"; return 1; }
    done
}
check "--events list says what there is here" listed
check "an event that is none" fails_with 125 'event "loads": one of cycles, cpu-clock, ' run record --events loads -- true
check "a tracepoint that is none" fails_with 125 'event "sched:nothing": ' run record --events sched:nothing -- true
check "terms without an end" fails_with 125 'has to end with the second "/"' run record --events cpu/event=1 -- true
check "an event named twice, in two ways" fails_with 125 'is named twice|not permitted' run record --events faults,page-faults -- true
check "more events than can be" fails_with 125 '8 at most|not permitted' run record --events \
    faults,minor-faults,major-faults,cpu-clock,alignment-faults,emulation-faults,cs,migrations,faults/period=2/ -- true
check "stat refuses what is none, too" fails_with 125 'event "loads"' run stat --events loads -- true

# What the machine lacks is told by the name that was typed.
lacking() {
    local event
    for event in r01c2 raw:0x1c2 dtbmiss itbmiss cpu/event=0xc2,umask=0x1/; do
        if run record --events "$event" -- true >"$scratch/out" 2>&1; then
            run epochs --json | grep -q '"name"' || return 1
        else
            [ "$(wc -l <"$scratch/out")" = 1 ] && grep -qF "$event" "$scratch/out" || { cat "$scratch/out"; return 1; }
        fi
    done
}
check "hardware events are recorded, or refused by their names" lacking

if ! run record --events page-faults -- true 2>"$scratch/err"; then
    skip "software events" "$(head -n 1 "$scratch/err")"
    finish
fi
rm -f "$store"*

# Each fault is a sample, at the instruction that caused it.
faults() {
    report=$scratch/r.json
    run record --json --events page-faults,cpu-clock --output "$report" -- "$scratch/faulty" &&
        told 'r["events"][0] == dict(r["events"][0], name="page-faults", period=1, period_unit="events", precise=True)' &&
        run top --json --output "$report" &&
        told 'r["rows"][0]["procedure"] == "touch_pages"' 'r["rows"][0]["values"]["page-faults"] == 5000' \
            '[e["name"] for e in r["events"]] == ["page-faults", "cpu-clock"]' \
            'not any("sampling error" in n or "page-faults is not precise" in n for n in r["notes"])'
}
check "page faults, each one a sample" faults
every_tenth() {
    report=$scratch/r.json
    run record --events page-faults/period=10/ --output "$scratch/text" -- "$scratch/faulty" &&
        grep -q '^page-faults every 10' "$scratch/text" && run top --json --output "$report" &&
        told 'r["events"][0]["period"] == 10' '499 <= r["rows"][0]["values"]["page-faults"] <= 501'
}
check "page faults, one in ten" every_tenth
shown() {
    run top --epoch 1 >"$scratch/text" && grep -q '^page-faults: 5,[0-9]* samples, each one$' "$scratch/text" &&
        grep -qE '^page-faults +% ' "$scratch/text" && grep -qE '^ +5,000 .* touch_pages' "$scratch/text" || { cat "$scratch/text"; return 1; }
    run top --epoch 1 --by line --event page-faults | grep -qE '^ +5,000 .*faulty\.c:8 ' &&
        run epochs >"$scratch/text" && grep -q ': page-faults, 5[^;]*; cpu-clock every ' "$scratch/text" &&
        grep -q ': page-faults every 10 events (precise), ' "$scratch/text" &&
        run variance --top 0 --event page-faults --epoch 1 --epoch 2 | grep -q touch_pages &&
        run diff --top 0 --event page-faults --epoch 1 --epoch 2 | grep -q touch_pages
}
check "top, epochs, variance and diff name them" shown

# Which instructions: nothing is said of cycles.
annotated() {
    run annotate --epoch 1 --event page-faults --source >"$scratch/text" 2>"$scratch/err" && [ ! -s "$scratch/err" ] &&
        grep -qE '^ +[0-9a-f]+ +mov byte ptr .* 5,000  100\.0 %$' "$scratch/text" && grep -q '^faulty.c:8: memory' "$scratch/text" &&
        grep -q 'page-faults is not time' "$scratch/text" && fits_100 "$scratch/text" && ! grep -q CPI "$scratch/text" ||
        { cat "$scratch/err" "$scratch/text"; return 1; }
    report=$scratch/r.json
    run annotate --epoch 1 --event page-faults --json -o "$report" &&
        told 'r["event"]["name"] == "page-faults"' 'sum(i["value"] for i in r["procedures"][0]["instructions"]) == 5000' &&
        fails_with 1 'page-faults is not time' run annotate --epoch 1 --event page-faults --machine zen4 &&
        run annotate --epoch 2 >"$scratch/text" && grep -q '^page-faults: 5.* one every 10 events' "$scratch/text"
}
check "annotate shows where they happen" annotated
time_first() {
    report=$scratch/r.json
    CULPRIT_STORE=$scratch/gzip run record --events page-faults,cpu-clock -o "$scratch/text" -- gzip -9 -c "$(command -v bash)" >/dev/null &&
        CULPRIT_STORE=$scratch/gzip run annotate --image gzip --json -o "$report" && told 'r["event"]["name"] == "cpu-clock"'
}
check "annotate analyses time unless it is told otherwise" time_first

# Out and in again, in every format: the same procedure has as many.
exchanged() {
    local format
    report=$scratch/r.json
    for format in store pprof perf-script; do
        rm -f "$scratch/x"
        run epochs export --epoch 1 --format $format "$scratch/x" >/dev/null &&
            CULPRIT_STORE=$scratch/in.$format run epochs import --format $format "$scratch/x" >/dev/null &&
            CULPRIT_STORE=$scratch/in.$format run top --event page-faults --json --output "$report" &&
            told 'r["rows"][0]["procedure"] == "touch_pages"' 'r["rows"][0]["values"]["page-faults"] == 5000' ||
            { echo "$format"; return 1; }
    done
    run epochs export --epoch 1 --format folded --event page-faults "$scratch/x" >/dev/null &&
        grep -qE 'touch_pages 5000$' "$scratch/x"
}
check "exports and imports keep them" exchanged

# The kernel counts as many.
counted() {
    report=$scratch/r.json
    run stat --json --events page-faults,cpu-clock -o "$report" -- "$scratch/faulty" &&
        told '[e["name"] for e in r["events"]] == ["page-faults", "cpu-clock"]' \
            '5000 <= r["events"][0]["median"] < 6000' 'r["events"][0]["counted"] > 0.99' \
            'r["runs"][0]["events"]["page-faults"] == r["events"][0]["median"]' &&
        run stat -r 2 --events page-faults -o "$scratch/text" -- "$scratch/faulty" && grep -qE '^page-faults +5,[0-9]{3} ' "$scratch/text"
}
check "stat counts them" counted

# Events of the kernel: a thread that waits leaves its processor. Tracefs may not be mounted: in a
# namespace of our own it is.
cat >"$scratch/traced" <<'SH'
#!/bin/sh
[ -e /sys/kernel/tracing/events ] || mount -t tracefs nodev /sys/kernel/tracing 2>/dev/null
exec "$@"
SH
chmod 755 "$scratch/traced"
with_tracefs() {
    unshare -m "$scratch/traced" "$CULPRIT" "$@"
}
switches() {
    report=$scratch/r.json
    run record --stacks --events context-switches --output "$scratch/text" -- "$scratch/faulty" &&
        run top --tree --json --output "$report" && told '"context-switches" == r["event"]["name"]' &&
        grep -q sleep_often "$report"
}
tracepoints() {
    report=$scratch/r.json
    with_tracefs record --stacks --events sched:sched_switch,syscalls:sys_enter_clock_nanosleep --output "$scratch/text" -- "$scratch/faulty" &&
        run top --json --output "$report" &&
        told '[e["name"] for e in r["events"]] == ["sched:sched_switch", "syscalls:sys_enter_clock_nanosleep"]' \
            'r["events"][1]["total"] == 50' &&
        run top --tree --event syscalls:sys_enter_clock_nanosleep | grep -q sleep_often &&
        with_tracefs stat --json --events syscalls:sys_enter_clock_nanosleep -o "$report" -- "$scratch/faulty" &&
        told 'r["events"][0]["median"] == 50'
}
run record --events context-switches -- true 2>"$scratch/err"
if grep -q 'not permitted' "$scratch/err"; then
    skip "events of the kernel" "$(head -n 1 "$scratch/err")"
    finish
fi
check "context switches, with who waits" switches
if with_tracefs record --events sched:sched_switch,syscalls:sys_enter_clock_nanosleep -- true 2>"$scratch/err"; then
    check "tracepoints" tracepoints
else
    skip "tracepoints" "$(head -n 1 "$scratch/err")"
fi

. tests/live.sh
if [ -n "$live" ]; then
    skip "the daemon" "$live"
    finish
fi
# The daemon counts software events in the kernel, and takes tracepoints from ring buffers.
daemon_samples() {
    cp "$scratch/faulty" "$scratch/$2"
    as="unshare -m $scratch/traced"
    start_daemon --events "$1" && "$scratch/$2" && stop_daemon || { cat "$scratch/daemon.log"; return 1; }
    report=$scratch/r.json
    run top --process "$2" --json --output "$report"
}
daemon_faults() {
    daemon_samples page-faults,context-switches "$(named pages)" &&
        told 'r["rows"][0]["procedure"] == "touch_pages"' 'r["rows"][0]["values"]["page-faults"] == 5000' \
            'r["events"][1]["total"] >= 50'
}
daemon_tracepoints() {
    daemon_samples page-faults,syscalls:sys_enter_clock_nanosleep "$(named points)" &&
        told 'r["rows"][0]["values"]["page-faults"] == 5000' 'r["events"][1]["total"] == 50'
}
check "the daemon counts software events" daemon_faults
if with_tracefs record --events sched:sched_switch,syscalls:sys_enter_clock_nanosleep -- true 2>"$scratch/err"; then
    check "the daemon takes tracepoints" daemon_tracepoints
else
    skip "the daemon takes tracepoints" "$(head -n 1 "$scratch/err")"
fi
finish
