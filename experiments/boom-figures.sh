#!/bin/bash
# boom-figures.sh: three figures that "TIP: Time-Proportional Instruction Profiling" gives of its
# BOOM, measured on the machines boom-tip and boom-tea, into docs/results/boom-figures.md: how long
# a partly hidden hit in the last-level cache stalls commit, how long the reorder buffer is empty
# after a misprediction, and the share of time of miscellaneous flushes.
#
# The workloads as riscv64 programs, from the function that does their work on, and Debian's x86-64
# programs from their start. LIMIT instructions each (10M). Takes a few minutes.
set -eu
cd "$(dirname "$0")/.."
export CULPRIT=${CULPRIT:-build/culprit}
limit=${LIMIT:-10M}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# A repeatable text: numbered lines of hashes.
awk 'BEGIN { x = 1; for (i = 0; i < 200000; i++) { x = (x * 16807) % 2147483647; print x, i % 977 } }' >"$scratch/text"
cat >"$scratch/query.sql" <<'SQL'
create table t(a integer primary key, b integer, c text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000)
insert into t select i, i * 7919 % 10007, 'row ' || i from n;
create index t_b on t(b);
select count(*), sum(t.a), max(u.c) from t join t u on t.b = u.b where t.a % 3 = 0;
SQL

# The report is of the whole; the pipeline is looked at in two windows of 100K cycles.
measure() {
    local machine=$1 name=$2 part=$1.$2
    shift 2
    look "$machine" "$part.1" "$limit" 2000000 --output "$scratch/$part.json" "$@"
    look "$machine" "$part.2" 4M 1000000 --output /dev/null "$@"
    python3 -B experiments/boom_figures.py windows "$scratch/$part".[12].kanata >"$scratch/$part.windows"
    rm "$scratch/$part".[12].kanata
}

look() {
    local machine=$1 part=$2 limit=$3 from=$4
    shift 4
    timeout -k 5 300 "$CULPRIT" sim --machine "$machine" --limit "$limit" --top 1 --json \
        --kanata "$scratch/$part.kanata" --kanata-from "$from" --kanata-cycles 100000 "$@" \
        >"$scratch/$part.said" 2>&1 </dev/null ||
        { echo "$part failed:" >&2; cat "$scratch/$part.said" >&2; exit 1; }
}

workload() {
    measure "$1" "riscv64/$2" --from "$3" -- build/workloads/riscv64/"$2" "${@:4}"
}

mkdir -p "$scratch"/boom-tip.{riscv64,x86_64} "$scratch"/boom-tea.{riscv64,x86_64}
programs() {
    local machine=$1
    workload $machine bigcode call_all 200
    workload $machine bipartite relax 1 100000
    workload $machine branchy quicksort 100000 100000
    workload $machine ceil round_both_ways 400000
    workload $machine chase chase_one 400000
    workload $machine hashjoin probe 400000
    workload $machine interpreter interpret 100000
    workload $machine matmul multiply
    workload $machine nbody attract 1000
    workload $machine pages touch 1000000
    workload $machine pending sum_values 1000000
    workload $machine quadtree perimeter 3
    workload $machine stencil collide 1
    workload $machine stream copy 1
    workload $machine strings write_sentence 1000
    measure $machine x86_64/gzip -- gzip -9 -c "$scratch/text"
    measure $machine x86_64/xz -- xz -6 -c "$scratch/text"
    measure $machine x86_64/sqlite3 -- sqlite3 :memory: ".read $scratch/query.sql"
    measure $machine x86_64/python3 -- /usr/bin/python3 -c 'print(sum(hash(str(i)) % 7 for i in range(100000)))'
    measure $machine x86_64/sort -- sort "$scratch/text"
    measure $machine x86_64/perl -- perl -ne '$h{$_ % 977} .= $_; END { print length $h{5} }' "$scratch/text"
}
programs boom-tip &
programs boom-tea
wait $!

page=docs/results/boom-figures.md
{
    sed '/^<!-- measured/q' $page
    python3 -B experiments/boom_figures.py table "$scratch" "$limit"
} >"$scratch/page"
cp "$scratch/page" $page
