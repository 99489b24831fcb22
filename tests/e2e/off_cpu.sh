# culprit record --off-cpu: how long threads wait, where, and that what they run and wait is all
# their time.
. tests/e2e/lib.sh

export CULPRIT_STORE=$scratch/profiles.db
# Each thread says at its end how long it was there and how much of that it ran, in ns; and of a wait
# for another thread or process, how long the function took that waits.
cat >"$scratch/waits.c" <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static long long ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
__attribute__((noinline)) void spins(double seconds) {
    const long long end = ns(CLOCK_THREAD_CPUTIME_ID) + (long long)(seconds * 1e9);
    while (ns(CLOCK_THREAD_CPUTIME_ID) < end)
        for (volatile int i = 0; i < 10000; i++)
            continue;
}
__attribute__((noinline)) void naps(long ms) {
    struct timespec rest = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&rest, NULL);
    __asm__ volatile("");
}
static long long lock_ns, pipe_ns;
__attribute__((noinline)) void waits_for_lock(void) {
    const long long began = ns(CLOCK_MONOTONIC);
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    lock_ns = ns(CLOCK_MONOTONIC) - began;
}
__attribute__((noinline)) void reads_pipe(int from) {
    const long long began = ns(CLOCK_MONOTONIC);
    char byte;
    if (read(from, &byte, 1) != 1)
        _exit(1);
    pipe_ns = ns(CLOCK_MONOTONIC) - began;
}
static void tell(long long began, long long ran) {
    printf("%d %lld %lld\n", gettid(), ns(CLOCK_MONOTONIC) - began, ns(CLOCK_THREAD_CPUTIME_ID) - ran);
    fflush(stdout);
}
static void *other(void *nothing) {
    const long long began = ns(CLOCK_MONOTONIC), ran = ns(CLOCK_THREAD_CPUTIME_ID);
    waits_for_lock();
    spins(0.1);
    naps(100);
    tell(began, ran);
    return nothing;
}
int main(void) {
    const long long began = ns(CLOCK_MONOTONIC), ran = ns(CLOCK_THREAD_CPUTIME_ID);
    pthread_t thread;
    int ends[2];
    if (pipe(ends) != 0)
        return 1;
    pthread_mutex_lock(&lock);
    pthread_create(&thread, NULL, other, NULL);
    naps(300);
    pthread_mutex_unlock(&lock);
    if (!fork()) {
        naps(200);
        _exit(write(ends[1], "x", 1) != 1);
    }
    reads_pipe(ends[0]);
    pthread_join(thread, NULL);
    wait(NULL);
    tell(began, ran);
    fprintf(stderr, "%lld %lld\n", lock_ns, pipe_ns);
    return 0;
}
C
gcc -O1 -pthread -o "$scratch/waits" "$scratch/waits.c" || exit 1

# Time that the machine below this one took, in ticks of 10 ms.
stolen() {
    awk '$1 == "cpu" { print $9 }' /proc/stat
}

recorded() {
    stolen=$(stolen)
    run record --off-cpu --rate 97 -o "$scratch/record.txt" -- "$scratch/waits" >"$scratch/told" 2>"$scratch/waited" &&
        stolen=$(($(stolen) - stolen)) &&
        grep -qE '^threads waited: [0-9.]+ m?s blocked, [0-9.]+ [mun]?s for a processor$' "$scratch/record.txt" &&
        grep -qE '^next: culprit top.* --event off-cpu' "$scratch/record.txt"
}
check "a recording with waits" recorded
# A program that blocks nowhere: what to look at next is there all the same.
never_blocked() {
    local next
    cc -O1 -static -o "$scratch/computes" -x c - <<<'int main(void) { for (volatile int i = 0; i < 100000000; i++); }' &&
        run record --off-cpu --store "$scratch/computes.db" -o "$scratch/computes.txt" -- "$scratch/computes" &&
        next=$(sed -n 's/^next: culprit //p' "$scratch/computes.txt") && [ -n "$next" ] && eval "run $next"
}
check "of a program that blocks nowhere the next command shows something" never_blocked

# Blocked, waiting for a processor and running are all the time of a thread.
adds_up() {
    run top --by thread --json --event off-cpu --event run-queue --top 0 >"$scratch/threads.json" &&
        python3 -S - "$scratch/told" "$scratch/threads.json" "$stolen" <<'PYTHON'
import json, sys
rows = {row["thread"]: row["values"] for row in json.load(open(sys.argv[2]))["rows"]}
told = [list(map(int, line.split())) for line in open(sys.argv[1])]
assert len(told) == 2, told
for thread, wall, ran in told:
    waited = 1000 * (rows[thread]["off-cpu"] + rows[thread]["run-queue"])
    # Neither clock has what was stolen.
    assert abs(waited + ran - wall) < 0.02 * wall + 1e7 * float(sys.argv[3]), (thread, wall, ran, rows[thread])
PYTHON
}
check "waiting and running are all the time of a thread" adds_up

# Each wait at its place: at least what was asked of it, in the function that asked. How long one waits
# for another is known when it is over: a busy machine starts a thread late.
places() {
    run top --tree --event off-cpu --json --least 0 >"$scratch/tree.json" &&
        run top --tree --event run-queue --json --least 0 >"$scratch/queue.json" &&
        python3 -S - "$scratch/tree.json" "$scratch/queue.json" "$scratch/waited" "$stolen" <<'PYTHON'
import json, sys
def totals(name):
    total = {}
    for frame in json.load(open(name))["tree"]:
        total[frame["procedure"]] = total.get(frame["procedure"], 0) + frame["total"]
    return total
total, queued = map(totals, sys.argv[1:3])
# main 300 ms, other 100, the child 200; other waits for main's nap; main for the child's.
assert 600e3 <= total["naps"], total
for name, wall in zip(("waits_for_lock", "reads_pipe"), map(int, open(sys.argv[3]).read().split())):
    off = abs(1000 * (total[name] + queued.get(name, 0)) - wall)
    assert total[name] > 0 and off < 0.1 * wall + 1e7 * float(sys.argv[4]), (name, wall, total, queued)
assert "schedule" not in total, total
PYTHON
}
if [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -gt 1 ] && [ "$(id -u)" != 0 ]; then
    skip "waits have their callers" "kernel.perf_event_paranoid above 1"
else
    check "waits have their callers" places
fi

# Waits are spread over the time that they last, and are no samples of code.
over_time() {
    run top --over-time --by thread --event off-cpu --json >"$scratch/time.json" && python3 -S - "$scratch/time.json" <<'PYTHON' &&
import json, sys
top = json.load(open(sys.argv[1]))
step = top["timeline"]["step_seconds"] * 1e6
for row in top["rows"]:
    assert max(row["over_time"]) <= step * 1.0001, (step, row)
    assert abs(sum(row["over_time"]) - row["values"]["off-cpu"]) < 1
assert sum(v > 0 for v in top["rows"][0]["over_time"]) > 2
PYTHON
        fails_with 1 'time in which threads waited' run annotate --event off-cpu
}
check "a wait lasts over steps of time" over_time

# A process that waits all along, attached to.
attached() {
    sleep 60 &
    local process=$!
    run record --off-cpu --pid $process --time 300ms --json -o "$scratch/record.json"
    local status=$?
    kill $process
    [ $status = 0 ] && python3 -S - "$scratch/record.json" <<'PYTHON'
import json, sys
record = json.load(open(sys.argv[1]))
blocked, runnable = record["events"][-2:]
assert blocked["name"] == "off-cpu" and runnable["name"] == "run-queue"
assert 0.9 * 0.3 <= blocked["seconds"] <= record["seconds"] * 1.01 + 0.05, record
PYTHON
}
check "a process that was asleep all along" attached

# Whose samples of the kernel are not permitted: how long is known, and where is said not to be.
unplaced() {
    mkdir -m 777 "$scratch/theirs" && chmod 755 "$scratch" || return
    local as="setpriv --reuid 65534 --regid 65534 --clear-groups env CULPRIT_STORE=$scratch/theirs/store.db $CULPRIT"
    $as record --off-cpu -o "$scratch/theirs/record.txt" -- sleep 0.2 &&
        $as top --event off-cpu | grep -q '^next: culprit top --by thread --event off-cpu' &&
        fails_with 1 'does not tell where threads waited' $as top --tree --event off-cpu
}
unknown="without privileges it says that it is not known where threads waited"
if [ "$(id -u)" != 0 ]; then
    skip "$unknown" "not root"
elif [ "$(cat /proc/sys/kernel/perf_event_paranoid)" != 2 ]; then
    skip "$unknown" "kernel.perf_event_paranoid is not 2"
else
    check "$unknown" unplaced
fi

check "context switches are sampled for waits alone" \
    fails_with 125 'takes the samples of context-switches' run record --off-cpu --events cpu-clock,cs -- true

exported() {
    run epochs export --epoch 1 --format folded --event off-cpu "$scratch/folded" &&
        python3 -S - "$scratch/folded" <<'PYTHON'
import sys
total = sum(int(line.rsplit(" ", 1)[1]) for line in open(sys.argv[1]))
assert 0.5e9 < total < 60e9, total
PYTHON
}
check "folded stacks weigh ns" exported
listed() {
    run epochs --epoch 1 >"$scratch/list" && grep -qE '; off-cpu, [0-9.]+ m?s;' "$scratch/list" ||
        { cat "$scratch/list"; return 1; }
}
check "the list of epochs has times of waits in units of time" listed

imported() {
    run epochs export --epoch 1 --format perf-script "$scratch/waits.script" &&
        CULPRIT_STORE=$scratch/imported.db run epochs import "$scratch/waits.script" &&
        run top --epoch 1 --event off-cpu --json >"$scratch/own.json" &&
        CULPRIT_STORE=$scratch/imported.db run top --event off-cpu --json >"$scratch/imported.json" &&
        python3 -S - "$scratch/own.json" "$scratch/imported.json" <<'PYTHON'
import json, sys
own, imported = (json.load(open(name))["events"][0] for name in sys.argv[1:])
assert own["unit"] == imported["unit"] == "us", imported
assert abs(own["total"] - imported["total"]) < 1, (own, imported)
PYTHON
}
check "waits written for perf script, and read again, are the time that they were" imported
finish
