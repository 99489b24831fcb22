# What a worker of the tap costs a simulation: a trace of gzip, LIMIT instructions on MACHINE, without
# and with one tracer, in turn; medians of wall time and their ratio. Files go to the null device (bbv,
# which makes two, to a small file), as
# in the paper ("TraceDoctor", §5), which measured 3.9 % for binary, 5.7 % for CSV and 3.5 % for the
# function trace; CPU is the time of all threads.
set -u
culprit=${CULPRIT:-build/culprit}
machine=${MACHINE:-zen4}
limit=${LIMIT:-20M}
rounds=${ROUNDS:-7}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

"$culprit" trace --limit "$limit" --output "$scratch/run.ctrace" -- \
    gzip -9 -c /bin/bash /usr/bin/perl /usr/bin/python3 >/dev/null 2>&1 || exit 1

echo "one tracer, $limit instructions of gzip on $machine, $(nproc) processors, median of $rounds"
python3 - "$culprit" "$machine" "$rounds" "$scratch/run.ctrace" <<'PYTHON'
import os, statistics, sys, time
culprit, machine, rounds, trace = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
base = [culprit, "sim", "--machine", machine, "--output", "/dev/null", trace]
null = "/dev/null"
variants = {
    "none": [],
    "binary": ["--tap", f"binary:{null}"],
    "csv": ["--tap", f"csv:{null}"],
    "calls": ["--tap", f"calls:{null}"],
    "counters": ["--tap", f"counters:{null}"],
    "bbv": ["--tap", f"bbv:{os.path.dirname(trace)}/bbv"],
    "life": ["--tap", f"life:{null}"],
}
wall = {name: [] for name in variants}
cpu = {name: [] for name in variants}
for round in range(rounds + 1):
    for name, options in variants.items():
        started, before = time.monotonic(), os.times()
        if os.spawnv(os.P_WAIT, culprit, base + options) != 0:
            sys.exit(f"{name}: failed")
        after = os.times()
        if round: # the first is to warm up
            wall[name].append(time.monotonic() - started)
            cpu[name].append(after.children_user + after.children_system
                             - before.children_user - before.children_system)
print(f"{'tracer':10} {'wall s':>8} {'slower':>8} {'CPU s':>8} {'more CPU':>9}")
for name in variants:
    # Rounds are pairs: the machine's speed may drift between them.
    slower = statistics.median(a / b for a, b in zip(wall[name], wall["none"])) - 1
    more = statistics.median(a / b for a, b in zip(cpu[name], cpu["none"])) - 1
    print(f"{name:10} {statistics.median(wall[name]):8.2f} {100 * slower:7.1f}% "
          f"{statistics.median(cpu[name]):8.2f} {100 * more:8.1f}%")
PYTHON
