# What profilers cost: traces of 100 million instructions simulated with Oracle and the golden
# reference alone (sim), with one profiler more (TIP), and with all twelve, in turn, RUNS times; wall
# time of the whole process, and processor time of all its threads. What must hold of the ratios of
# medians: one profiler at most 1.06, all at most 1.25.
set -u
culprit=${CULPRIT:-build/culprit}
machine=${MACHINE:-boom-tea}
limit=${LIMIT:-100M}
runs=${RUNS:-3}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

awk 'BEGIN { x = 1; for (i = 0; i < 700000; i++) { x = (x * 16807) % 2147483647; print x, i % 977 } }' >"$scratch/text"

capture() {
    local name=$1
    shift
    "$culprit" trace --limit "$limit" --output "$scratch/$name.ctrace" -- "$@" >/dev/null 2>&1
}
capture gzip gzip -9 -c "$scratch/text"
capture xz xz -6 -c "$scratch/text"
capture perl perl -ne '$h{$_ % 977} .= $_; END { print length $h{5} }' "$scratch/text"
capture branchy build/workloads/x86_64/branchy

echo "profilers on $machine, $limit instructions of each program, medians of $runs runs"
python3 - "$culprit" "$machine" "$runs" "$scratch"/*.ctrace <<'PYTHON'
import os, resource, statistics, subprocess, sys, time
culprit, machine, runs, traces = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:]
variants = {
    "sim": ["sim"],
    "one": ["profilers", "--profiler", "TIP"],
    "all": ["profilers"],
}

def seconds(arguments, trace):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    subprocess.run([culprit, *arguments, "--machine", machine, "--json", "--output", os.devnull,
                    trace], check=True, stderr=subprocess.DEVNULL)
    wall = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

print(f"{'':10} {'wall: sim':>10} {'one':>7} {'all':>7} {'ratios':>13}   {'cpu: sim':>10} {'one':>7} {'all':>7}"
      f" {'ratios':>13}")
ratios = {"one": [], "all": []}
for trace in traces:
    times = {name: [] for name in variants}
    for run in range(runs + 1):  # the first warms up
        for name, arguments in variants.items():
            taken = seconds(arguments, trace)
            if run:
                times[name].append(taken)
    line = f"{os.path.basename(trace)[:-7]:10}"
    for kind in range(2):
        medians = {name: statistics.median(t[kind] for t in times[name]) for name in variants}
        line += f" {medians['sim']:10.2f} {medians['one']:7.2f} {medians['all']:7.2f}"
        line += f" {medians['one'] / medians['sim']:6.3f} {medians['all'] / medians['sim']:6.3f}  "
        if kind == 0:
            for name in ratios:
                ratios[name].append(medians[name] / medians["sim"])
    print(line.rstrip(), flush=True)
for name, what in (("one", "one profiler"), ("all", "all profilers")):
    print(f"{what}: median of the ratios of wall time {statistics.median(ratios[name]):.3f}, "
          f"highest {max(ratios[name]):.3f}")
PYTHON
