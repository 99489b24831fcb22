#!/bin/bash
# What it takes to code and decode the events of traces (coding.c): a line for each of a few programs,
# of 30 million instructions.
set -eu
culprit=${CULPRIT:-build/culprit}
coding=${BENCHMARKS:-build/bench}/coding
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

awk 'BEGIN { x = 1; for (i = 0; i < 300000; i++) { x = (x * 16807) % 2147483647; print x, i % 977 } }' >"$scratch/text"

row() { # name, command...
    local name=$1
    shift
    "$culprit" trace --no-check --limit 30M --output "$scratch/trace.ctrace" -- "$@" >/dev/null 2>&1
    printf '%-8s %s\n' "$name" "$("$coding" "$scratch/trace.ctrace")"
}

row gzip gzip -9 -c "$scratch/text"
row sort sort "$scratch/text"
row awk awk '{ n[$2] += $1 } END { for (k in n) print k, n[k] }' "$scratch/text"
row perl perl -ne '$h{$_ % 977} .= $_; END { print length $h{5} }' "$scratch/text"
