# culprit trace --regions: the regions of a profiled run are found in another, each in a trace of its
# own; whatever does not fit is named.
. tests/e2e/lib.sh

# phases N: N rounds of two phases, of about 2.3 million instructions each.
cat >"$scratch/phases.c" <<'END'
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
static uint32_t table[4096];
static __attribute__((noinline)) uint32_t add(uint32_t x) {
    for (int i = 0; i < 300000; i++)
        x = x * 1664525 + table[i & 4095];
    return x;
}
static __attribute__((noinline)) uint32_t sift(uint32_t x) {
    for (int i = 0; i < 200000; i++) {
        x ^= x << 13, x ^= x >> 17, x ^= x << 5;
        if (x & 1)
            table[x >> 20] += x;
    }
    return x;
}
int main(int argc, char **argv) {
    uint32_t x = 1;
    for (int i = atoi(argv[argc > 1]); i > 0; i--)
        x = sift(add(x));
    printf("%u\n", x);
}
END
cc -O1 -static -o "$scratch/phases" "$scratch/phases.c" || exit 1

# profile NAME COMMAND...: NAME.csv
profile() {
    local name=$scratch/$1
    shift
    run bbv --size 500K -o "$name.bb" "${bbv_options[@]}" -- "$@" >/dev/null 2>"$scratch/err" &&
        run regions --method systematic --count 5 -o "$name.csv" "$name.bb" >/dev/null && return 0
    cat "$scratch/err"
    return 1
}
bbv_options=()

# capture NAME COMMAND...: NAME.rN.ctrace, NAME.regions.csv, and what was said as $scratch/err
capture() {
    local name=$scratch/$1 status
    shift
    run trace --regions "$name.csv" -o "$name" --warm-up 300K "${trace_options[@]}" -- "$@" \
        >"$scratch/out" 2>"$scratch/err"
    status=$?
    cat "$scratch/err"
    return $status
}
trace_options=()

# all_captured NAME PYTHON...: in NAME.regions.csv every region has a trace that holds it, and its
# warm-up, and PYTHON holds of each: of `region`, `info` (of its trace), `length`, `skew`.
all_captured() {
    local name=$scratch/$1
    shift
    python3 -S - "$CULPRIT" "$name.regions.csv" "$*" <<'END'
import csv, json, os, subprocess, sys
culprit, path, condition = sys.argv[1:]
rows = list(csv.DictReader(line for line in open(path) if not line.startswith("#")))
assert rows
for region in rows:
    trace = os.path.join(os.path.dirname(path), region["trace"])
    info = json.loads(subprocess.check_output([culprit, "trace", "--info", trace, "--json"]))
    start, end, skew = (int(region[key]) for key in ("trace-start", "trace-end", "skew"))
    first, length = int(region["start-icount"]), int(region["region-length"])
    assert info["processes"] == 1, info
    assert info["notes"][0].startswith("region " + region["region-id"] + ":"), info["notes"]
    assert start >= min(300000, first + skew), (start, first)
    own = info["thread_list"][0]["instructions"]
    assert end <= own <= end + 400000, (end, own)
    assert eval(condition or "True"), (condition, region)
END
}

found_again() {
    profile a "$scratch/phases" 10 && capture a "$scratch/phases" 10 &&
        [ "$(cat "$scratch/out")" = "$("$scratch/phases" 10)" ] &&
        all_captured a 'skew == 0 and end - start == length' && grep -q 'next: culprit sim' "$scratch/err"
}
check "regions are found again, with zero skew" found_again

# The loader's work, and where the stack lies, depend on the environment; regions do not.
elsewhere() {
    BIG=$(printf %20000d 0) capture a "$scratch/phases" 00000000000000000000010 &&
        all_captured a 'end - start == length'
}
check "whatever the environment and the arguments" elsewhere

as_json() {
    trace_options=(--json)
    capture a "$scratch/phases" 10
    local status=$?
    trace_options=()
    [ $status = 0 ] && python3 -S - "$scratch/err" <<'END'
import json, sys
report = json.load(open(sys.argv[1]))
assert report["warm_up"] == 300000 and not report["partial"] and report["regions"]
for region in report["regions"]:
    assert region["failure"] is None and region["skew"] == 0
    assert region["start"] == region["expected_start"]
    assert region["trace_end"] - region["trace_start"] == region["instructions"]
    assert region["bytes"] > 1000 and region["trace"].endswith(".r%d.ctrace" % region["region"])
END
}
check "--json" as_json

# Same region, the same instructions: whole-run capture and region capture give the same trace.
simulates() {
    run sim --json --top 0 "$scratch/a.r1.ctrace" >"$scratch/r1.json" &&
        run sim --regions "$scratch/a.regions.csv" --json >"$scratch/all.json" &&
        python3 -S - "$scratch/all.json" <<'END'
import json, sys
report = json.load(open(sys.argv[1]))
assert report["instructions"] > 20e6, report["instructions"]
END
}
check "the traces can be simulated" simulates

default_names() {
    (cd "$scratch" && cp a.csv named.csv && run trace --regions named.csv -- ./phases 10 2>err >out &&
        [ -s named.r1.ctrace ] && [ -s named.regions.csv ])
}
CULPRIT=$(realpath "$CULPRIT") check "names come from the list's" default_names

# One input is shorter: regions behind its end are named, those before it are kept.
shorter() {
    rm -f "$scratch"/a.r*
    capture a "$scratch/phases" 4 >/dev/null
    [ $? = 125 ] || return 1
    cat "$scratch/err"
    grep -qE '^culprit: region [0-9]+: its start marker.* was not reached before its thread ended' \
        "$scratch/err" && [ -s "$scratch/a.r1.ctrace" ] &&
        python3 -S - "$scratch/a.regions.csv" <<'END'
import csv, os, sys
rows = list(csv.DictReader(line for line in open(sys.argv[1]) if not line.startswith("#")))
done = [row for row in rows if row["trace"]]
assert 0 < len(done) < len(rows)
for row in rows:
    path = os.path.join(os.path.dirname(sys.argv[1]), "a.r%s.ctrace" % row["region-id"])
    assert os.path.exists(path) == bool(row["trace"]), path
END
}
check "a marker that is not reached is named, what is complete is kept" shorter

check "a list of another command" fails_with 125 "none of the files .*phases.*another command: .*phases 10" \
    run trace --regions "$scratch/a.csv" -o "$scratch/x" -- /bin/true
check "... leaves no list" test ! -e "$scratch/x.regions.csv"

rebuilt() {
    cp "$scratch/a.csv" "$scratch/b.csv"
    cp "$scratch/phases" "$scratch/kept"
    cc -O2 -static -o "$scratch/phases" "$scratch/phases.c" || return 1
    fails_with 125 "phases is another file than .*build id" \
        run trace --regions "$scratch/b.csv" -o "$scratch/b" -- "$scratch/phases" 10
    local status=$?
    [ ! -s "$scratch/.out" ] || return 1
    cp "$scratch/kept" "$scratch/phases"
    return $status
}
check "a changed binary is named, before it is run" rebuilt

# Processes of a pipeline come to speak in any order: each run finds those of the first. How much a
# read of a pipe returns depends on who runs when; bzip2, unlike gzip, waits until its buffer is full, so
# that what it does does not.
pipeline() {
    local command='seq 30000 | bzip2 -c | bzip2 -1 -c | md5sum; (echo b; echo a) | sort'
    run bbv --follow --size 300K -o "$scratch/pipe.bb" -- sh -c "$command" || return 1
    grep -qE '^origin [0-9]+ 0 [0-9]+ 1 bzip2 -1 -c$' "$scratch/pipe.bb.slices" || return 1
    run regions --max-clusters 8 -o "$scratch/pipe.csv" "$scratch/pipe.bb" || return 1
    for i in 1 2 3; do
        run trace --regions "$scratch/pipe.csv" --warm-up 900K -o "$scratch/pipe" -- sh -c "$command" || return 1
        run sim --machine alpha21164 --regions "$scratch/pipe.regions.csv" || return 1
    done
}
check "regions of the processes of a pipeline are found, three times of three" pipeline
check "a process that is not started is named" fails_with 125 "process \((seq 30000|bzip2|md5sum)[^']*\) was not started" \
    run trace --regions "$scratch/pipe.csv" --warm-up 900K -o "$scratch/pipe" -- sh -c 'bzip2 -c /dev/null; true'
# Which thread binds a function first is chance: none of them has to.
one_thread() {
    cc -O1 -pthread -Wl,-z,now -o "$scratch/threads" tests/guests/threads.c || return 1
    run bbv --thread 3 --size 1K -o "$scratch/third.bb" -- "$scratch/threads" 8 &&
        grep -qx 'thread 0 0 3' "$scratch/third.bb.slices" &&
        run regions -o "$scratch/third.csv" "$scratch/third.bb" &&
        run trace --regions "$scratch/third.csv" --warm-up 0 -o "$scratch/third" -- "$scratch/threads" 8
}
check "regions of a thread that was chosen are found in that thread" one_thread

edited() { # edited SED NAME: a list, changed
    sed -E "$1" "$scratch/a.csv" >"$scratch/$2.csv"
}
edited 's/^(cluster [0-9]+,0),0,/\1,7,/' thread
check "a thread that never appears" fails_with 125 "region 1: the command has no thread 7" \
    run trace --regions "$scratch/thread.csv" -o "$scratch/thread" -- "$scratch/phases" 3
edited 's/^(cluster [0-9]+),0,0,/\1,1,0,/' process
check "a process that is another" fails_with 125 "thread 0 belongs to process 0 in this run, not to 1" \
    sh -c '"$0" "$@" >/dev/null' "$CULPRIT" trace --regions "$scratch/process.csv" -o "$scratch/process" \
    -- "$scratch/phases" 10
printf 'not a list\n' >"$scratch/junk.csv"
check "a file that is no list" fails_with 125 "junk.csv" run trace --regions "$scratch/junk.csv" -- true
check "a list that is missing" fails_with 125 "nowhere.csv" run trace --regions "$scratch/nowhere.csv" -- true
check "an output that cannot be written, before the command runs" fails_with 125 "/nonexistent/x" \
    run trace --regions "$scratch/a.csv" -o /nonexistent/x -- touch "$scratch/ran"
check "... which it did not" test ! -e "$scratch/ran"
check "a command that is missing" fails_with 127 "nosuchcommand" \
    run trace --regions "$scratch/a.csv" -o "$scratch/x" -- nosuchcommand
check "--limit is the list's to say" fails_with 125 "--regions.*--limit" \
    run trace --regions "$scratch/a.csv" --limit 1M -- true
check "--warm-up without a list" fails_with 125 "--warm-up: needs --regions" run trace --warm-up 1M -- true

without_markers() {
    cp "$scratch/a.bb" "$scratch/bare.bb"
    run regions --method systematic --count 5 -o "$scratch/bare.csv" "$scratch/bare.bb" >/dev/null || return 1
    fails_with 125 "region 1 has no markers" \
        run trace --regions "$scratch/bare.csv" -o "$scratch/bare" -- "$scratch/phases" 10
}
check "a list without markers" without_markers

full_disk() {
    fails_with 125 "/c.r[0-9].ctrace: cannot write.*No space left" sh -c '"$0" "$@" >/dev/null' \
        "$CULPRIT" trace --regions "$scratch/a.csv" -o "$scratch/full/c" -- "$scratch/phases" 10 &&
        [ ! -e "$scratch/full/c.r1.ctrace" ]
    local status=$?
    umount "$scratch/full"
    return $status
}
mkdir "$scratch/full"
if mount -t tmpfs -o size=100K none "$scratch/full" 2>/dev/null; then
    check "a disk that is full" full_disk
else
    skip "a disk that is full" "not allowed to mount one"
fi

exit_status() {
    local loop='i=0; while [ $i -lt 5000 ]; do i=$((i+1)); done; exit 7'
    run bbv --size 500K -o "$scratch/d.bb" -- sh -c "$loop"
    run regions -o "$scratch/d.csv" "$scratch/d.bb"
    capture d sh -c "$loop"
    [ $? = 7 ]
}
check "the command's exit status is kept" exit_status

# Threads: each counts for itself, and has its number again.
threads() {
    profile t "$WORKLOADS/x86_64/threads" && capture t "$WORKLOADS/x86_64/threads" &&
        all_captured t 'abs(skew) < 20000 and abs(end - start - length) < 20000'
}
skip_without x86_64-workloads "regions of threads" || check "regions of threads" threads

# Whenever a thread works the others wait, so that between the markers of a region, which lie in
# rounds of its own thread, each other thread has executed whole rounds. A round in instructions: what
# all execute, divided by all rounds.
turns() {
    cc -O1 -pthread -o "$scratch/turns" tests/guests/turns.c || return 1
    profile r "$scratch/turns" 4 100 || return 1
    for _ in 1 2 3; do
        capture r "$scratch/turns" 4 100 && whole_rounds || return 1
    done
}
whole_rounds() {
    python3 -S - "$CULPRIT" "$scratch/r" <<'END'
import csv, json, re, subprocess, sys
culprit, name = sys.argv[1:]
end = [line for line in open(name + ".bb.slices") if line.startswith("end ")][0]
turn = int(end.split()[1]) / 400
rows = list(csv.DictReader(line for line in open(name + ".regions.csv") if not line.startswith("#")))
rows = [row for row in rows if int(row["thread-id"]) > 0 and row["end-count"]]
assert rows
for row in rows:
    info = json.loads(subprocess.check_output(
        [culprit, "trace", "--info", "%s.r%s.ctrace" % (name, row["region-id"]), "--json"]))
    assert info["thread_list"][0]["instructions"] >= int(row["trace-end"])
    assert abs(int(row["trace-end"]) - int(row["trace-start"]) - int(row["region-length"])) < 20000
    parts = re.findall(r"\d+ \(thread (\d+) of the process\) (\d+) to (\d+)", info["notes"][1])
    workers = [(int(a), int(b)) for thread, a, b in parts if thread != "0"]
    assert len(workers) == 3, info["notes"]
    own = int(row["region-length"]) / turn
    for start, stop in workers:
        turns = (stop - start) / turn
        # A thread begins while another works.
        assert abs(turns - round(turns)) < 0.1 or row["start-icount"] == "0", (turns, own, row)
        assert abs(turns - own) <= 1.1, (turns, own, row)
    assert sum(t["instructions"] for t in info["thread_list"]) == info["instructions"]
END
}
check "a region's trace has all threads between two points, sharply" turns

# sim --regions and predict take the region's own thread: its slices are what the region's weight
# counts. The trace by itself is simulated with all of its threads.
own_thread_counts() {
    run sim --regions "$scratch/r.regions.csv" --json >"$scratch/every.json" &&
        run sim --json --top 0 "$scratch/r.r3.ctrace" >"$scratch/shared.json" || return 1
    trace_options=(--other-threads 0)
    capture r "$scratch/turns" 4 100
    trace_options=()
    run trace --info "$scratch/r.r1.ctrace" | grep -q '^threads  *1 of 1 process' &&
        run sim --regions "$scratch/r.regions.csv" --json >"$scratch/own.json" &&
        run predict --regions "$scratch/r.regions.csv" >/dev/null &&
        python3 -S - "$scratch" <<'END'
import json, sys
load = lambda name: json.load(open("%s/%s.json" % (sys.argv[1], name)))
every, own, shared = load("every"), load("own"), load("shared")
assert every["instructions"] == own["instructions"]
assert abs(every["cycles"] / own["cycles"] - 1) < 0.02, (every["cycles"], own["cycles"])
assert len(shared["threads"]) >= 4, shared["threads"]
END
}
check "weights are of the region's own thread, whatever else its trace holds" own_thread_counts
check "--other-threads without a list" fails_with 125 "--other-threads: needs --regions" \
    run trace --other-threads 0 -- true

children() {
    bbv_options=(--follow)
    profile f sh -c "$scratch/phases 2; $scratch/phases 3" || return 1
    bbv_options=()
    capture f sh -c "$scratch/phases 2; $scratch/phases 3" &&
        all_captured f 'end - start == length' && grep -q '^cluster [0-9]*,[1-9]' "$scratch/f.csv"
}
check "regions of children, which are followed" children

riscv64() {
    profile v "$WORKLOADS/riscv64/branchy" && capture v "$WORKLOADS/riscv64/branchy" &&
        all_captured v 'skew == 0 and end - start == length'
}
skip_without riscv64-workloads "regions of a riscv64 program" ||
    check "regions of a riscv64 program" riscv64

# Hundreds of millions of instructions, so that the emulator pauses capture between regions.
pauses() {
    profile p "$scratch/phases" 90 || return 1
    for _ in 1 2 3; do
        capture p "$scratch/phases" 90 && all_captured p 'skew == 0 and end - start == length' || return 1
    done
}
check "far apart regions, between which nothing is captured" pauses

# Whatever happens meanwhile, capture goes on in time for the warm-up, and a thousandth of the run
# before it. (What is skipped before the first region, children skip too.)
interrupted_pauses() {
    cc -O1 -static -pthread -o "$scratch/interrupted" tests/guests/interrupted.c || return 1
    bbv_options=(--repeatable --thread 0) trace_options=(--repeatable)
    profile i "$scratch/interrupted" 100 100000 "$@" && capture i "$scratch/interrupted" 100 100000 "$@"
    local status=$?
    bbv_options=() trace_options=()
    # Another thread ends the pause before region 3; how its end is waited for is up to chance.
    local most=0 ended=
    [ "$*" != threaded ] || most=1000 ended=3
    [ $status = 0 ] && all_captured i "abs(skew) <= $most and end - start == length" \
        "and (region['region-id'] in ('1', '$ended') or 0 <= 300000 + first // 1000 - start < 100)"
}
check "... with faults, signals, string instructions, clocks and children there" interrupted_pauses
check "... and a thread, where memory could be shared before" interrupted_pauses threaded
check "... and memory that could be shared" interrupted_pauses shared

# Region 3 seems to begin a million instructions of a loop behind the end of region 2.
comes_early() {
    awk -F, -v OFS=, '$4 == 2 { image = $12; id = $13; offset = $14; count = $15 }
        $4 == 3 { $8 = image; $9 = id; $10 = offset; $11 = count + 1000000 } 1' \
        "$scratch/i.csv" >"$scratch/early.csv"
    trace_options=(--repeatable)
    capture early "$scratch/interrupted" 100 100000 shared
    local status=$?
    trace_options=()
    [ $status = 125 ] &&
        grep -qE '^culprit: region 3: its start marker.* came at instruction .*\(4 of 5' "$scratch/err"
}
check "a marker that is reached while nothing is captured is named" comes_early

interrupted() {
    rm -f "$scratch"/p.r*
    "$CULPRIT" trace --regions "$scratch/p.csv" -o "$scratch/p" --warm-up 300K -- "$scratch/phases" 100000 \
        2>"$scratch/err" >/dev/null &
    local process=$! status
    until_true $process test -e "$scratch/p.r3.ctrace"
    kill -INT $process
    wait $process
    status=$?
    cat "$scratch/err"
    [ $status = 130 ] && grep -q '(partial)' "$scratch/err" && grep -q 'p.r1.ctrace' "$scratch/p.regions.csv" &&
        run trace --info "$scratch/p.r1.ctrace"
}
set -m
check "an interrupt keeps what is complete" interrupted
set +m

finish
