# The daemon: what it says before it runs, what it collects, what it survives.
. tests/e2e/lib.sh

no_daemon() {
    CULPRIT_RUN=$scratch/nowhere fails_with 1 'no daemon runs' run daemon "$1"
}
check "asked for its status, it says that none runs" no_daemon --status
check "told to stop, it says that none runs" no_daemon --stop
check "a time of nothing is a mistake" fails_with 2 'a time above 0' run daemon --drain 0s
check "--merge shorter than --drain is a mistake" \
    fails_with 2 'every merge drains' run daemon --drain 10min --merge 5min
check "--json without --status is a mistake" fails_with 2 'go with --status' run daemon --json

without_capabilities() {
    chmod 755 "$scratch"
    mkdir -m 777 "$scratch/others"
    CULPRIT_RUN=$scratch/others CULPRIT_STORE=$scratch/others/profiles.db \
        fails_with 1 'CAP_(BPF|PERFMON)' setpriv --reuid 65534 --regid 65534 --clear-groups \
        --inh-caps=-all "$CULPRIT" daemon &&
        { [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 0 ] ||
            CULPRIT_RUN=$scratch/others CULPRIT_STORE=$scratch/others/profiles.db \
                fails_with 1 'the whole machine with stacks needs CAP_PERFMON .*CAP_SYS_PTRACE.*at most 0' \
                setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all "$CULPRIT" daemon --stacks; }
}
if [ "$(id -u)" = 0 ]; then
    check "without capabilities it names those that it needs" without_capabilities
else
    skip "without capabilities it names those that it needs" "not root"
fi

. tests/live.sh
if [ -n "$live" ]; then
    skip "collects, survives" "$live"
    finish
fi

# busy NAME SECONDS: a process of this name that uses so much processor time, and then prints how
# much it used, in seconds.
cat >"$scratch/busy.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int main(int argc, char **argv) {
    struct timespec used;
    volatile unsigned long turns = 0;
    double wanted = argc > 1 ? atof(argv[1]) : 1, so_far;
    do {
        for (int i = 0; i < 100000; i++)
            turns += i;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    } while ((so_far = used.tv_sec + used.tv_nsec * 1e-9) < wanted);
    printf("%.6f\n", so_far);
}
C
gcc -O1 -o "$scratch/busy" "$scratch/busy.c" || exit 1
busy() {
    local name
    name=$(named "$1")
    [ -e "$scratch/$name" ] || cp "$scratch/busy" "$scratch/$name"
    "$scratch/$name" "$2"
}

# What a process must have at least below is less than half of what its time holds: the host takes some.

# within PERCENT COUNT SECONDS RATE
within() {
    awk -v percent="$1" -v count="$2" -v seconds="$3" -v rate="$4" 'BEGIN {
        off = 100 * (count / (seconds * rate) - 1)
        printf "%d samples in %.3f s at %d a second: %+.2f %%\n", count, seconds, rate, off
        exit !(off < percent && off > -percent) }'
}

counted_so_far=0
counted_once() {
    local seconds before=$counted_so_far
    seconds=$(busy counted 1.3) && flush || return
    counted_so_far=$(samples counted)
    within 3 $((counted_so_far - before)) "$seconds" 5200
}
counted() {
    start_daemon && undisturbed counted_once
}
check "samples of a process are its processor time times the rate" counted

status_told() {
    [ "$(status dropped)" = 0 ] || { echo "dropped"; return 1; }
    run daemon --status | tee "$scratch/status" | grep -q 'cost .*of one processor' &&
        fits_100 "$scratch/status"
}
check "the status says what was lost and what it costs, in 100 columns" status_told
status_in_80() {
    COLUMNS=80 run daemon --status | tee "$scratch/status" | grep -q '^memory' &&
        [ "$(grep -v '^next:' "$scratch/status" | LC_ALL=C.UTF-8 wc -L)" -le 80 ]
}
check "the status keeps to 80 columns" status_in_80
status_next() {
    local store=$CULPRIT_STORE
    run daemon --status | grep -qx 'next: culprit daemon --flush && culprit top' &&
        (unset CULPRIT_STORE && run daemon --status) |
        grep -qx "next: culprit daemon --flush && culprit top --store $store"
}
check "the useful command names a store that is not the one read otherwise" status_next
check "a second daemon is refused" fails_with 1 'runs already' run daemon

new_epoch() {
    local merges
    merges=$(status merges)
    kill -HUP "$daemon"
    for _ in $(seq 6000); do
        [ "$(status merges)" != "$merges" ] && break
        sleep 0.05
    done
    busy later 0.25 && flush && [ "$(samples counted)" = 0 ] && [ "$(samples later)" -gt 250 ] &&
        [ "$(samples counted all)" -gt 4000 ]
}
check "SIGHUP begins a new epoch" new_epoch

# Without waiting in between.
asked() {
    busy asked 0.15 && run daemon --flush && [ "$(samples asked)" -gt 250 ] &&
        run epochs new | grep -qx "the daemon, process $daemon, has begun a new epoch" &&
        busy anew 0.15 && run daemon --flush && [ "$(samples anew)" -gt 250 ] &&
        [ "$(samples asked)" = 0 ]
}
check "what it is asked for is done when the answer comes" asked
# Seen from where no daemon runs, its epoch is one whose writer died.
pruned() {
    busy kept 0.15 && run daemon --flush && run epochs prune --older 1ms | grep -q 'stays: it goes on' &&
        [ "$(samples kept)" -gt 250 ] && CULPRIT_RUN=$scratch/nowhere run epochs prune --older 1ms &&
        busy gone 0.15 && run daemon --flush && [ "$(samples gone)" -gt 250 ] &&
        grep -q 'was removed while it went on' "$scratch/daemon.log"
}
check "pruning spares its epoch; when that is removed all the same, it goes on in a new one" pruned
stopped() {
    local process=$daemon
    daemon=0
    run daemon --stop && fails_with 1 'no daemon runs' run daemon --status && wait "$process" &&
        start_daemon
}
check "told to stop, it has ended when the answer comes" stopped
unprivileged() {
    chmod 755 "$scratch"
    fails_with 1 'try sudo' setpriv --reuid 65534 --regid 65534 --clear-groups "$CULPRIT" daemon --flush &&
        ! setpriv --reuid 65534 --regid 65534 --clear-groups flock -sn "$CULPRIT_RUN/daemon.lock" true
}
check "others can neither ask it nor lock it out" unprivileged
check "stopped, it has written everything" stop_daemon

# Where only what is counted matters, symbols need not be read, nor much be sampled.
nameless=--no-symbols rarely="--no-symbols --rate 500"

killed() {
    start_daemon $nameless || return
    busy before 0.25 && flush && busy after 0.25
    stop_daemon KILL
    [ "$(samples before)" -gt 500 ] && [ "$(samples after)" = 0 ] || return
    start_daemon $nameless && busy again 0.15 && flush && [ "$(samples again)" -gt 250 ] && stop_daemon &&
        [ "$(run epochs --json | python3 -S -c 'import json, sys
print([epoch["end"] for epoch in json.load(sys.stdin)["epochs"]].count(None))')" = 0 ]
}
check "killed, it loses what it had not written, and no more" killed

# Of what ran before the daemon did, too.
its_cgroup() {
    local name
    name=$(named older)
    cp "$scratch/busy" "$scratch/$name"
    "$scratch/$name" 60 >"$scratch/.busy" &
    local process=$!
    sleep 0.2
    start_daemon $nameless --stacks && sleep 0.5 && flush && run top --by cgroup --process "$name" --json >"$scratch/cgroups.json"
    local status=$?
    kill "$process"
    stop_daemon && [ $status = 0 ] && python3 -S -c 'import json, sys
rows = json.load(open(sys.argv[1]))["rows"]
assert len(rows) == 1 and rows[0]["cgroup"].startswith("/"), rows' "$scratch/cgroups.json"
}
grouped="it knows the control group of a process that ran before it"
if grep -qs / /proc/self/cgroup; then
    check "$grouped" its_cgroup
else
    skip "$grouped" "no control groups"
fi

# A store on a small file system of its own.
mounted=
mkdir "$scratch/mount" && mount -t tmpfs -o size=1m none "$scratch/mount" 2>"$scratch/.mount" || mounted=no
disk_full() {
    export CULPRIT_STORE=$scratch/mount/profiles.db
    start_daemon $nameless && busy early 0.15 && flush || return
    dd if=/dev/zero of="$scratch/mount/filler" bs=4k >/dev/null 2>&1
    for i in $(seq 40); do busy "filling$i" 0.01; done
    busy full 0.25
    ! flush && grep -q 'goes on counting' "$scratch/daemon.log" && status problem || return
    rm "$scratch/mount/filler"
    flush && [ "$(samples full)" -gt 500 ] && [ "$(samples early)" -gt 250 ] && stop_daemon
}
stopped_full() {
    local process
    rm -f "$scratch"/mount/*
    start_daemon $nameless && busy early 0.15 && flush || return
    dd if=/dev/zero of="$scratch/mount/filler" bs=4k >/dev/null 2>&1
    for i in $(seq 40); do busy "losing$i" 0.01; done
    busy lost 0.25
    process=$daemon daemon=0
    fails_with 1 'has ended, but [0-9,]+ samples that it had counted are lost: .*profiles.db' run daemon --stop &&
        [ "$(sed -E 's/.*but ([0-9,]+) samples.*/\1/; s/,//g' "$scratch/.err")" -gt 500 ] || return
    ! wait "$process" && grep -qE 'stopped, but [0-9,]+ samples counted since' "$scratch/daemon.log"
}
full="with a full disk it goes on counting, and merges when there is room"
lost="told to stop with a full disk, it says how many samples are lost"
if [ -z "$mounted" ]; then
    check "$full" disk_full
    [ "$daemon" = 0 ] || stop_daemon KILL
    check "$lost" stopped_full
    [ "$daemon" = 0 ] || stop_daemon KILL
else
    skip "$full" "$(head -n 1 "$scratch/.mount")"
    skip "$lost" "$(head -n 1 "$scratch/.mount")"
fi
export CULPRIT_STORE=$scratch/profiles.db

# As culprit.service has it: root, with five capabilities, so that the modes of files hold.
few=+perfmon,+bpf,+sys_ptrace,+syslog,+dac_read_search
read_only() {
    export CULPRIT_STORE=$scratch/guarded/profiles.db
    mkdir "$scratch/guarded"
    as="setpriv --bounding-set -all,$few --inh-caps -all"
    start_daemon $nameless && busy writable 0.15 && flush || return
    chmod 444 "$CULPRIT_STORE" && chmod 555 "$scratch/guarded"
    busy protected 0.25
    flush || status problem
    chmod 755 "$scratch/guarded" && chmod 644 "$CULPRIT_STORE"
    flush && [ "$(samples protected)" -gt 500 ] && [ "$(samples writable)" -gt 300 ] &&
        stop_daemon || return
    chmod 444 "$CULPRIT_STORE" && fails_with 1 'profiles.db.*(read-only|permission)' $as "$CULPRIT" daemon
}
check "with five capabilities, and a store that becomes read-only, nothing is lost" read_only
[ "$daemon" = 0 ] || stop_daemon KILL
as=
export CULPRIT_STORE=$scratch/profiles.db

garbage() {
    head -c 100000 /dev/urandom >"$scratch/garbage.db"
    fails_with 1 'garbage.db' run daemon --store "$scratch/garbage.db"
}
check "a store that is none is refused at once" garbage

damaged() {
    start_daemon $nameless && busy whole 0.15 && flush || return
    dd if=/dev/urandom of="$CULPRIT_STORE" bs=1k count=40 conv=notrunc 2>/dev/null
    busy later 0.15 && flush && [ "$(samples later)" -gt 250 ] && ls "$CULPRIT_STORE".damaged-* &&
        grep -q 'is damaged: it is' "$scratch/daemon.log" && stop_daemon
}
check "a store that is damaged is set aside, and counting goes on" damaged
[ "$daemon" = 0 ] || stop_daemon KILL

removed() {
    start_daemon $nameless && busy first 0.15 && flush || return
    rm -f "$CULPRIT_STORE"*
    busy second 0.15 && flush && [ "$(samples second)" -gt 250 ] && stop_daemon
}
check "a store that is removed is made anew" removed

# The clock of the day, set back by an hour once the file is there.
cat >"$scratch/clock.c" <<'C'
#include <time.h>
#include <unistd.h>
#include <sys/syscall.h>
int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = (int)syscall(SYS_clock_gettime, clock, time);
    if (clock == CLOCK_REALTIME && access(CLOCK_FILE, F_OK) == 0)
        time->tv_sec -= 3600;
    return result;
}
C
clock_back() {
    gcc -shared -fPIC -DCLOCK_FILE="\"$scratch/back\"" -o "$scratch/clock.so" "$scratch/clock.c" &&
        export LD_PRELOAD=$scratch/clock.so && start_daemon $nameless || return
    unset LD_PRELOAD
    busy ahead 0.15 && flush || return
    touch "$scratch/back"
    busy behind 0.15 && flush && [ "$(samples ahead)" -gt 250 ] && [ "$(samples behind)" -gt 250 ] &&
        stop_daemon && run epochs --json | python3 -S -c 'import json, sys
epochs = json.load(sys.stdin)["epochs"]
print(epochs)
assert all(epoch["end"] >= epoch["start"] for epoch in epochs)'
}
check "the clock of the day set back changes nothing" clock_back
unset LD_PRELOAD

# Without --epoch one of a tenth of what is kept, here half a second: of fourteen, eleven ended in the last
# five seconds at most, and one goes on.
epochs_of() {
    run epochs --json | python3 -S -c 'import json, sys
print(sum(epoch["name"] == "daemon" for epoch in json.load(sys.stdin)["epochs"]))'
}
retention() {
    export CULPRIT_STORE=$scratch/retention.db
    start_daemon $rarely --keep 5s --drain 1h --merge 1h || return
    until_true "$daemon" eval '[ "$(grep -c "begins a new epoch" "$scratch/daemon.log")" -ge 14 ]' &&
        run epochs && [ "$(epochs_of)" -le 12 ] && grep -q 'removed 1 old epoch from' "$scratch/daemon.log" &&
        stop_daemon
}
check "epochs end by themselves, and old ones are removed" retention
[ "$daemon" = 0 ] || stop_daemon KILL
# The last epoch may have begun just before the daemon ended: without samples.
pids_of_some_epoch() {
    local epoch
    for epoch in $(run epochs --json | python3 -S -c 'import json, sys
print(*(epoch["epoch"] for epoch in json.load(sys.stdin)["epochs"]))'); do
        run top --epoch "$epoch" --by pid --json 2>/dev/null | python3 -S -c 'import json, sys
sys.exit(not any(row["pid"] for row in json.load(sys.stdin)["rows"]))' 2>/dev/null && return
    done
    false
}
# Slices of epochs that ended longer ago are forgotten, those of the one that goes on are not.
slices_kept() {
    export CULPRIT_STORE=$scratch/slices.db
    start_daemon $rarely --slices pid,cpu,time=1s --epoch 500ms --keep-slices 2s || return
    until_true "$daemon" eval '[ "$(grep -c "begins a new epoch" "$scratch/daemon.log")" -ge 8 ]' &&
        busy last 0.3 && stop_daemon && run epochs check &&
        fails_with 1 'not told apart by pid' run top --epoch 1 --pid 5 && pids_of_some_epoch
}
check "slices of old epochs are forgotten" slices_kept
[ "$daemon" = 0 ] || stop_daemon KILL
# By size: of each epoch that has ended, unless the store is smaller than that.
retention_by_size() {
    export CULPRIT_STORE=$scratch/small.db
    start_daemon $rarely --epoch 1s --size 1 || return
    until_true "$daemon" grep -q 'removed 1 old epoch from' "$scratch/daemon.log" && stop_daemon && run epochs check
}
check "likewise by size" retention_by_size
[ "$daemon" = 0 ] || stop_daemon KILL
export CULPRIT_STORE=$scratch/profiles.db

# Under a budget that no sampling meets the rate falls, to a quarter at a time; what a process used is
# still its samples times what each stands for, though some stand for four times as much as others.
budget() {
    local used=0
    export CULPRIT_STORE=$scratch/budget.db
    start_daemon $nameless --budget 0.01% && [ "$(status rate)" = 5200.0 ] || return
    while awk -v rate="$(status rate)" 'BEGIN { exit !(rate > 1400) }'; do
        used="$used $(busy slower 0.3)"
    done
    used="$used $(busy slower 1)"
    run daemon --status | tee "$scratch/status" | grep -qE '^budget +0.01 % .* cost [0-9.]+ %' || return
    stop_daemon && run epochs | grep -qE ': cpu-clock every [0-9,]+ to [0-9,]+ ns, [0-9.]+ k samples$' &&
        run epochs --json >"$scratch/epochs.json" &&
        run top --by process --top 0 --json >"$scratch/top.json" && python3 -S - "$scratch" "$(named slower)" $used <<'END'
import json, sys
epochs, top = (json.load(open(f"{sys.argv[1]}/{name}.json")) for name in ("epochs", "top"))
periods = {event["period"]: event["total"] for event in epochs["epochs"][-1]["events"]}
seconds, event = sum(map(float, sys.argv[3:])), top["events"][0]
samples = sum(row["values"]["cpu-clock"] for row in top["rows"] if row["process"] == sys.argv[2])
whole = sum(period * total for period, total in periods.items())
print(periods, samples, event, samples * event["period"] / 1e9, "of", seconds)
assert len(periods) > 1 and max(periods) > 3.9 * min(periods)
assert abs(event["period"] - whole / sum(periods.values())) < 1
assert 0.8 * seconds < samples * event["period"] / 1e9 < 1.2 * seconds
END
}
check "the rate falls until sampling is within its budget, and sums stay right" budget
[ "$daemon" = 0 ] || stop_daemon KILL
export CULPRIT_STORE=$scratch/profiles.db

short_processes() {
    local short
    start_daemon $nameless --drain 2s --merge 4s || return
    short=$scratch/$(named short-true)
    cp /bin/true "$short"
    for _ in $(seq 400); do "$short"; done
    flush || return
    run daemon --status
    run top --by process --top 0 --json >"$scratch/top.json" && python3 -S - "$scratch/top.json" "$short" <<'END' || return
import json, os, sys
rows = [row for row in json.load(open(sys.argv[1]))["rows"] if row["process"] == os.path.basename(sys.argv[2])]
print(rows)
assert rows and all(row["executable"] == sys.argv[2] for row in rows), "an executable is not known"
END
    [ "$(status dropped)" = 0 ] && [ "$(samples short-true)" -gt 100 ] && awk -v unknown="$(status unknown)" \
        -v all="$(status attributed)" 'BEGIN { exit !(unknown <= 0.001 * all) }' && stop_daemon
}
check "of many short processes nothing is dropped, the executable is known, and under 0.1 % unknown" short_processes

finish
