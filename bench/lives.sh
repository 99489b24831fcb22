# What life records and the dependence graph cost a simulation: traces of 10 million instructions
# simulated without lives; with those of every µop, at which nobody looks; and with the graph built
# from them. On one thread the processor time, which others on the machine disturb little; on
# culprit's usual threads the wall time, for which it must be idle. In turn, medians of ratios. What
# must hold of the graph: 1.30.
set -u
culprit=${CULPRIT:-build/culprit}
lives=${BENCHMARKS:-build/bench}/lives
machines=${MACHINES:-fields2004 zen4}
limit=${LIMIT:-10M}
runs=${RUNS:-7}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

awk 'BEGIN { x = 1; for (i = 0; i < 700000; i++) { x = (x * 16807) % 2147483647; print x, i % 977 } }' >"$scratch/text"
cat >"$scratch/query.sql" <<'SQL'
create table t(a integer primary key, b integer, c text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 200000)
insert into t select i, i * 7919 % 10007, 'row ' || i from n;
SQL

capture() {
    local name=$1
    shift
    "$culprit" trace --limit "$limit" --output "$scratch/$name.ctrace" -- "$@" >/dev/null 2>&1
}
capture gzip gzip -9 -c "$scratch/text"
capture xz xz -6 -c "$scratch/text"
capture sqlite3 sqlite3 :memory: ".read $scratch/query.sql"
capture perl perl -ne '$h{$_ % 977} .= $_; END { print length $h{5} }' "$scratch/text"
capture chase build/workloads/x86_64/chase

echo "life records, $limit instructions of each program, medians of $runs runs in turn"
python3 - "$lives" "$runs" "$machines" "$scratch"/*.ctrace <<'PYTHON'
import os, statistics, subprocess, sys
lives, runs, machines, traces = sys.argv[1], int(sys.argv[2]), sys.argv[3].split(), sys.argv[4:]
modes = {"none": ["none", "null"], "lives": ["all", "null"], "graph": ["all", "graph"]}

def run(trace, machine, mode, one):
    output = subprocess.run([lives, trace, machine, *mode] + (["one"] if one else []), check=True,
                            text=True, capture_output=True).stdout.split()
    return float(output[1 if one else 0]), int(output[3])

print(f"{'':22} {'one thread, processor':>23}   {'threads, wall':>23}")
print(f"{'machine':12} {'program':9}" + 2 * f" {'s':>7} {'lives':>7} {'graph':>7}  ")
ratios = {}
for machine in machines:
    for trace in traces:
        line = f"{machine:12} {os.path.basename(trace)[:-7]:9}"
        for one in (True, False):
            times = {name: [] for name in modes}
            cycles = set()
            for round in range(runs + 1):  # the first warms up
                for name, mode in modes.items():
                    seconds, count = run(trace, machine, mode, one)
                    cycles.add(count)
                    if round:
                        times[name].append(seconds)
            if len(cycles) != 1:
                sys.exit(f"{trace} on {machine}: cycles differ: {cycles}")
            line += f" {statistics.median(times['none']):7.2f}"
            for name in list(modes)[1:]:
                ratio = statistics.median(a / b for a, b in zip(times[name], times["none"]))
                ratios.setdefault((one, name), []).append(ratio)
                line += f" {ratio:7.3f}"
            line += "  "
        print(line, flush=True)
for (one, name), values in ratios.items():
    print(f"{'one thread' if one else 'threads'}, {name}: median {statistics.median(values):.3f}")
PYTHON
