# Speed and memory of simulation: Debian's programs and two workloads on boom-tea, 50 million
# instructions each, Oracle and the golden reference attached. What must hold: a median of at least
# 10 million instructions a second, and less than 200 MB whatever the length.
set -u
culprit=${CULPRIT:-build/culprit}
machine=${MACHINE:-boom-tea}
limit=${LIMIT:-50M}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# A repeatable text of 16 MB: numbered lines of hashes.
awk 'BEGIN { x = 1; for (i = 0; i < 700000; i++) { x = (x * 16807) % 2147483647; print x, i % 977 } }' >"$scratch/text"
cat >"$scratch/query.sql" <<'SQL'
create table t(a integer primary key, b integer, c text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 200000)
insert into t select i, i * 7919 % 10007, 'row ' || i from n;
create index t_b on t(b);
select count(*), sum(t.a), max(u.c) from t join t u on t.b = u.b where t.a % 3 = 0;
SQL

echo "simulation on $machine, $limit instructions of each program"
printf '%-14s %14s %8s %14s %10s\n' program instructions CPI 'M instr/s' 'peak MB'
measure() {
    local name=$1
    shift
    # Memory is culprit's own; the emulator's holds the program's.
    python3 - "$name" "$scratch/speeds" "$culprit" sim --machine "$machine" --limit "$limit" \
        --json --output "$scratch/report" -- "$@" <<'PYTHON'
import json, os, sys, time
name, speeds, command = sys.argv[1], sys.argv[2], sys.argv[3:]
report = command[command.index("--output") + 1]
null = os.open(os.devnull, os.O_RDWR)
pid = os.fork()
if pid == 0:
    os.dup2(null, 0)
    os.dup2(null, 1)
    os.dup2(null, 2)
    os.execv(command[0], command)
peak = 0
while True:
    try:
        with open(f"/proc/{pid}/status") as status:
            for line in status:
                if line.startswith("VmHWM"):
                    peak = max(peak, int(line.split()[1]))
    except OSError:
        pass
    if os.waitpid(pid, os.WNOHANG)[0]:
        break
    time.sleep(0.02)
try:
    result = json.load(open(report))
except (OSError, ValueError):
    sys.exit(f"{name}: no report")
speed = result["instructions_per_second"] / 1e6
print(f"{name:14} {result['instructions']:14,} {result['cpi']:8.3f} {speed:14.2f} {peak / 1000:10.1f}")
print(speed, file=open(speeds, "a"))
PYTHON
}

measure gzip gzip -9 -c "$scratch/text"
measure xz xz -6 -c "$scratch/text"
measure sqlite3 sqlite3 :memory: ".read $scratch/query.sql"
measure python3 /usr/bin/python3 -c 'print(sum(hash(str(i)) % 7 for i in range(300000)))'
measure sort sort "$scratch/text"
measure perl perl -ne '$h{$_ % 977} .= $_; END { print length $h{5} }' "$scratch/text"
measure branchy build/workloads/x86_64/branchy
measure chase build/workloads/x86_64/chase

sort -n "$scratch/speeds" | awk '{ speed[NR] = $1 }
    END { if (NR) printf "median %.2f M instructions/s\n",
              NR % 2 ? speed[(NR + 1) / 2] : (speed[NR / 2] + speed[NR / 2 + 1]) / 2 }'
