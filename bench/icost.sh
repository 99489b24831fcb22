# Speed of breakdowns: traces of gzip, sqlite3 and perl, LIMIT instructions on each of MACHINES. How
# many instruction-sets a second the graph is evaluated with, at each level of vectors, on one
# processor: what must hold is 2 billion with AVX-512 and 1 billion with AVX2. Then all 512 sets of
# a trace of COMPARED instructions from the graph, simulation included, and by simulating anew for
# each: what must hold is 100 times as fast.
set -u
culprit=${CULPRIT:-build/culprit}
machines=${MACHINES:-fields2004 zen4}
limit=${LIMIT:-2M}
compared=${COMPARED:-2M}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export CULPRIT_MACHINES=${CULPRIT_MACHINES:-machines}

seq 200000 | awk '{ print ($1 * 7919) % 200003 }' >"$scratch/numbers"
cat >"$scratch/query.sql" <<'SQL'
create table t(a integer primary key, b integer);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 50000)
insert into t select i, i * 7919 % 10007 from n;
select count(*), sum(b) from t where b % 3 = 0;
SQL
record() {
    "$culprit" trace --limit "$limit" --output "$scratch/$1.ctrace" -- "${@:2}" >/dev/null 2>&1
}
record gzip gzip -9 -c "$scratch/numbers" || exit 1
record sqlite3 sqlite3 :memory: ".read $scratch/query.sql"
record perl perl -e 'my %h; for my $i (1 .. 200000) { $h{($i * 7919) % 10007} .= "x" } print scalar keys %h'

echo "sets of categories per second, on $(nproc) processors:"
for machine in $machines; do
    for trace in "$scratch"/*.ctrace; do
        "${BENCHMARKS:-build/bench}/graph_lanes" "$trace" "$machine" 1000000000 | sed "s|$scratch/||"
    done
done

echo "all 512 sets of $compared instructions of gzip on $machine:"
python3 - "$culprit" "$machine" "$compared" "$scratch/gzip.ctrace" <<'PYTHON'
import os, subprocess, sys
culprit, machine, limit, trace = sys.argv[1:]
def processor_seconds(*options):
    before = os.times()
    subprocess.run([culprit, "icost", "--machine", machine, "--limit", limit, "--json",
                    "--multisim=none", *options, trace], capture_output=True, check=True)
    after = os.times()
    return (after.children_user + after.children_system - before.children_user
            - before.children_system)
graph = min(processor_seconds() for _ in range(5))
multisim = processor_seconds("--multisim=all") - graph
print(f"processor time: graph {graph:.2f} s, multisim {multisim:.1f} s: "
      f"{multisim / graph:.0f} times as much")
PYTHON
