# What `explain` says would be saved of a program with threads if a cause were gone: of programs with
# a known trouble, the remedy that fits it is first, and saves what the program without it does.
. tests/e2e/lib.sh
small=$WORKLOADS/x86_64
settings=

# traced PROGRAM ARGUMENTS...: the file of its trace, $trace.
traced() {
    trace=$scratch/${*// /-}.ctrace
    trace=${trace// /-}
    [ -e "$trace" ] || run trace -o "$trace" -- "$small/$@" >/dev/null 2>&1
}

# remedy CAUSE BROKEN FIXED: of programs with their arguments. With $settings of the machine.
remedy() {
    traced $3 && run sim --machine zen4-server $settings --json "$trace" >"$scratch/fixed.json" &&
        traced $2 && run explain --machine zen4-server $settings --json "$trace" >"$scratch/broken.json" &&
        python3 -S - "$scratch" "$1" <<'PYTHON'
import json, sys
broken, fixed = (json.load(open(f"{sys.argv[1]}/{n}.json"))["together"] for n in ("broken", "fixed"))
gain = 1 - fixed["elapsed_cycles"] / broken["elapsed_cycles"]
causes = broken["what_if"]["causes"]
mine = next(c for c in causes if c["cause"] == sys.argv[2])
print(gain, causes)
assert gain > 0.1 and abs(mine["saving"] - gain) <= gain / 3
cores = ("imiss", "dmiss", "dl1", "shalu", "lgalu", "bw", "bmisp", "win")
group = [c for c in causes if (c["cause"] in cores) == (sys.argv[2] in cores)]
assert max(group, key=lambda c: c["saving"]) is mine
assert causes == sorted(causes, key=lambda c: -c["saving"])
assert broken["what_if"]["left_out"] == 0 and not broken["what_if"]["interrupted"]
PYTHON
}

if ! has x86_64-workloads; then
    skip "threads with a cause gone" "no x86_64-workloads here"
    finish
fi

check "counters in one line: padding" remedy padding "counters together 2 160000" "counters apart 2 160000"
check "one counter of all: a copy for each" remedy copies "counters shared 2 20000" "counters private 2 20000"
check "a lock held too long: nobody waits for it" remedy lock "critical long 2 8" "critical short 2 8"
check "an unbalanced barrier: shared out evenly" remedy barrier "barrier uneven 2 1" "barrier even 2 1"
# first_of_threads REPORT CAUSE LEAST: of the causes among threads this one saves most, and more than that.
first_of_threads() {
    python3 -S - "$scratch/$1.json" "$2" "$3" <<'PYTHON'
import json, sys
causes = json.load(open(sys.argv[1]))["together"]["what_if"]["causes"]
among = ("lock", "locks", "no_lock", "padding", "copies", "memory_bandwidth", "threads", "barrier", "event", "serial")
first = next(c for c in causes if c["cause"] in among)
assert first["cause"] == sys.argv[2] and first["saving"] > float(sys.argv[3]), causes
PYTHON
}
# When the host lets the consumer begin is up to its scheduler: late, it waits for less.
begun_in_time() {
    local try
    for try in 1 2 3 4 5; do
        traced queue uneven 2 300 && run sim --machine zen4-server --json "$trace" >"$scratch/queue.json" &&
            report=$scratch/queue.json told 'r["together"]["speedup_stack"]["no_thread"] < 0.35' 2>/dev/null && return
        rm "$trace"
    done
    false
}
# What the even queue takes is not held against it: its waits are those of the captured run.
slow_producer() {
    run explain --machine zen4-server --json "$trace" >"$scratch/queue.json" && first_of_threads queue event 0.15
}
if begun_in_time; then
    check "a slow producer: the event that its consumer waits for" slow_producer
else
    skip "a slow producer: the event that its consumer waits for" \
        "the consumer began late in five captured runs"
fi
check "a table behind a lock of readers: no lock" \
    remedy no_lock "readmostly rwlock 2 2500" "readmostly published 2 2500"
check "a table behind a mutex: no lock" \
    remedy no_lock "readmostly mutex 2 4000" "readmostly published 2 4000"
settings='--set dram.bandwidth=10'
check "memory's bandwidth: data in the caches" \
    remedy dmiss "bandwidth memory 2 20000 4" "bandwidth cache 2 20000 4"
check "and its bandwidth is first among threads" first_of_threads broken memory_bandwidth 0.3

text() {
    traced critical long 2 8
    run explain "$trace" >"$scratch/text" && fits_100 "$scratch/text" &&
        grep -qE '^what if a cause were gone entirely \(% of the elapsed time; simulated again' "$scratch/text" &&
        grep -qE '^ lock +nobody waits for the lock taken at work_locked \(critical.c:20\) +[345][0-9]\.[0-9] %$' \
            "$scratch/text" && grep -qE '^ serial .* reckoned$' "$scratch/text"
}
check "the text says so" text

# Ideal cores of a run by regions are told by regions that are simulated again beside it. What they
# save is what a run of its own with the same regions does.
by_regions() {
    local regions='--machine zen4-server --regions-over 180k --thread-slice 2k --thread-regions 200' ideal
    traced counters apart 2 20000
    run explain $regions --json "$trace" >"$scratch/regions.json" || return
    for ideal in dl1 shalu win; do
        run explain --no-what-if $regions --ideal $ideal --json "$trace" >"$scratch/$ideal.json" || return
    done
    python3 -S - "$scratch" <<'PYTHON'
import json, sys
report = lambda name: json.load(open(f"{sys.argv[1]}/{name}.json"))["together"]
base = report("regions")
causes = {cause["cause"]: cause for cause in base["what_if"]["causes"]}
told = 0
for ideal in ("dl1", "shalu", "win"):
    if ideal in causes:
        told += 1
        own = 1 - report(ideal)["elapsed_cycles"] / base["elapsed_cycles"]
        cause = causes[ideal]
        print(ideal, cause, own)
        assert abs(cause["saving"] - own) < 0.02 + cause.get("half_interval_95", 0)
assert told >= 2 and any(cause.get("half_interval_95", 0) > 0 for cause in causes.values())
PYTHON
}
check "ideal cores of a run by regions" by_regions
by_regions_text() {
    run explain --machine zen4-server --regions-over 180k --thread-slice 2k --thread-regions 200 "$trace" >"$scratch/text" &&
        fits_100 "$scratch/text" && grep -qE '^ (dl1|shalu|bw|win) .* [0-9.]+ % ± [0-9.]+$' "$scratch/text"
}
check "and with their intervals in text" by_regions_text

finish
