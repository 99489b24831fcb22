#!/bin/bash
# Cost of capture on `gzip -9`: prints a table of wall time, processor time of the program, and both
# against native. INPUT names the file to compress (default: 6 MB of this system's libraries).
# Best of ROUNDS (3). The table of docs/results/capture.md is this script's.
set -eu
rounds=${ROUNDS:-3}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
input=${INPUT:-$scratch/input}
[ -n "${INPUT:-}" ] || cat /usr/lib/x86_64-linux-gnu/lib[a-m]*.so.[0-9] 2>/dev/null | head -c 6000000 >"$input"
rate=$BENCHMARKS/capture_rate
guest=(gzip -9 -c "$input")
TIMEFORMAT='%R %U'

# best COMMAND...: least "wall processor" seconds over the rounds, by processor time of the command
best() {
    for _ in $(seq "$rounds"); do
        { time "$@" >/dev/null 2>"$scratch/said"; } 2>&1 | tail -1
    done | sort -n -k2 | head -1
}

# best_rate OPTIONS...: the same from capture_rate, which tells the program's share
best_rate() {
    for _ in $(seq "$rounds"); do
        "$rate" "$@" "${guest[@]}" 2>&1 >/dev/null |
            sed -n 's/.*processes, \([0-9.]*\) s.*program \([0-9.]*\) s.*/\1 \2/p'
    done | sort -n -k2 | head -1
}

# new COMMAND...: into a file that is not there
new() {
    rm -f "$scratch/gzip.ctrace"
    "$@"
}

row() { # name wall processor
    awk -v name="$1" -v wall="$2" -v cpu="$3" -v w0="$native_wall" -v c0="$native_cpu" 'BEGIN {
        printf "| %s | %.2f | %.1f | %.2f | %.1f |\n", name, wall, wall / w0, cpu, cpu / c0 }'
}

read -r native_wall native_cpu < <(best "${guest[@]}")
echo '# capture of gzip -9'
"$rate" -b "${guest[@]}" 2>&1 >/dev/null | sed -n 's/^\([0-9]*\) instructions.*, \([0-9]*\) events.*/\1 instructions, \2 blocks entered/p'
echo "load average before: $(cut -d' ' -f1 /proc/loadavg), $(nproc) processors"
echo
echo '| | wall s | × native | program, processor s | × native |'
echo '|---|---:|---:|---:|---:|'
row native "$native_wall" "$native_cpu"
read -r wall cpu < <(best qemu-x86_64 -cpu max,-erms,-fsrm "$(command -v gzip)" -9 -c "$input")
row 'emulator without the plugin' "$wall" "$cpu"
read -r wall cpu < <(best_rate -b)
row 'blocks only, dropped' "$wall" "$cpu"
read -r wall cpu < <(best_rate)
row 'blocks and addresses, dropped' "$wall" "$cpu"
read -r wall cpu < <(best new "$CULPRIT" trace --no-check -o "$scratch/gzip.ctrace" -- "${guest[@]}")
row 'into a trace file (both processes)' "$wall" "$cpu"
read -r wall cpu < <(best new "$CULPRIT" trace -o "$scratch/gzip.ctrace" -- "${guest[@]}")
row 'the same, and read once more' "$wall" "$cpu"
read -r wall cpu < <(best new "$CULPRIT" trace --check -o "$scratch/gzip.ctrace" -- "${guest[@]}")
row 'the same, and every instruction read' "$wall" "$cpu"
echo
"$CULPRIT" trace --info "$scratch/gzip.ctrace" | grep -i 'byte' || true
