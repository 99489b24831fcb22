#!/bin/bash
# Cost of `culprit bbv` on `gzip -9`: native, emulator alone and bbv in turn, ROUNDS (5) times; medians
# of wall time and of processor time, and their ratios to native. INPUT names the file to compress
# (default: 6 MB of this system's libraries); valgrind's exp-bbv, if there is one, compresses its first
# megabyte, and is compared with native on that. The tables of docs/results/bbv.md are this script's.
set -eu
rounds=${ROUNDS:-5}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
input=${INPUT:-$scratch/input}
[ -n "${INPUT:-}" ] || cat /usr/lib/x86_64-linux-gnu/lib[a-m]*.so.[0-9] 2>/dev/null | head -c 6000000 >"$input"
head -c 1000000 "$input" >"$scratch/short"
gzip=$(command -v gzip)
TIMEFORMAT='%R %U'

# one NAME COMMAND...: adds "wall processor" of one run to the times of this name
one() {
    local name=$1
    shift
    { time "$@" >/dev/null 2>"$scratch/said"; } 2>>"$scratch/$name"
}
median() { # NAME COLUMN
    sort -n -k"$2,$2" "$scratch/$1" | awk -v column="$2" '{ at[NR] = $column } END { print at[int((NR + 1) / 2)] }'
}
row() { # TITLE NAME NATIVE
    awk -v title="$1" -v wall="$(median "$2" 1)" -v cpu="$(median "$2" 2)" \
        -v w0="$(median "$3" 1)" -v c0="$(median "$3" 2)" 'BEGIN {
        printf "| %s | %.2f | %.2f | %.2f | %.2f |\n", title, wall, wall / w0, cpu, cpu / c0 }'
}

for _ in $(seq "$rounds"); do
    one native "$gzip" -9 -c "$input"
    one emulator qemu-x86_64 -cpu max,-erms,-fsrm "$gzip" -9 -c "$input"
    one bbv "$CULPRIT" bbv -o "$scratch/gzip.bb" -- "$gzip" -9 -c "$input"
    one fine "$CULPRIT" bbv --size 1M -o "$scratch/gzip.bb" -- "$gzip" -9 -c "$input"
done
echo "# bbv of gzip -9: $(grep -o '[0-9.]* G in all' "$scratch/said")"
echo "load average after: $(cut -d' ' -f1 /proc/loadavg), $(nproc) processors, $rounds rounds"
echo
echo '| | wall s | × native | processor s | × native |'
echo '|---|---:|---:|---:|---:|'
row native native native
row 'emulator without the plugin' emulator native
row '`bbv`, slices of 10 M' bbv native
row '`bbv`, slices of 1 M' fine native
command -v valgrind >/dev/null || exit 0
for _ in 1 2 3; do
    one native_short "$gzip" -9 -c "$scratch/short"
    one exp_bbv valgrind --tool=exp-bbv --interval-size=1000000 --bb-out-file="$scratch/exp.bb" \
        "$gzip" -9 -c "$scratch/short"
done
row 'exp-bbv, of 1 MB (against native of 1 MB)' exp_bbv native_short
