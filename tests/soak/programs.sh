# Debian's programs, unmodified, 50 million instructions each: the program's output is its own, the
# cycles of the profile sum to the total, and functions of shared libraries are named.
. tests/e2e/lib.sh

awk 'BEGIN { x = 1; for (i = 0; i < 300000; i++) { x = (x * 16807) % 2147483647; print x, i % 977 } }' >"$scratch/text"
cat >"$scratch/query.sql" <<'SQL'
create table t(a integer primary key, b integer, c text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 100000)
insert into t select i, i * 7919 % 10007, 'row ' || i from n;
create index t_b on t(b);
select count(*), sum(t.a), max(u.c) from t join t u on t.b = u.b where t.a % 3 = 0;
SQL

simulated() {
    "$@" >"$scratch/expected" </dev/null || return
    run sim --limit 50M --top 0 --json --output "$scratch/report" -- "$@" >"$scratch/output" </dev/null || return
    cmp "$scratch/expected" "$scratch/output" || return
    python3 - "$scratch/report" <<'PYTHON'
import json, sys
report = json.load(open(sys.argv[1]))
units = report["units_per_cycle"] * report["cycles"]
assert sum(report["commit_states"].values()) == report["cycles"]
assert sum(row["units"] for row in report["functions"]) == units, "functions do not sum"
assert sum(row["units"] for row in report["hot_instructions"]) == units, "instructions do not sum"
assert 45e6 < report["instructions_simulated"] <= 50e6, report["instructions_simulated"]
libraries = {row["image"] for row in report["functions"] if ".so" in row["image"] and row["function"]}
assert libraries, "no function of a shared library is named"
PYTHON
}

program() {
    local name=$1
    skip_without "$name" "$name" || check "$name" simulated "$@"
}

program gzip -9 -c "$scratch/text"
program xz -6 -c "$scratch/text"
program sqlite3 :memory: ".read $scratch/query.sql"
program sort "$scratch/text"
program perl -ne '$h{$_ % 977} .= $_; END { print length $h{5} }' "$scratch/text"
check python3 simulated /usr/bin/python3 -c 'print(sum(len(str(i)) % 7 for i in range(200000)))'

finish
