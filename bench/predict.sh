# Speed of the hybrid model against that of the cycle-level core, trace decoding included.
echo "hybrid model and core, processor time, machine chen-ooo"
export CULPRIT_MACHINES=${CULPRIT_MACHINES:-machines}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
workloads=$(dirname "$CULPRIT")/workloads/riscv64
capture() {
    "$CULPRIT" trace --limit 4M -o "$folder/$1.ctrace" "${@:2}" >/dev/null 2>&1
}
capture gzip -- gzip -9 -c /bin/bash
capture hashjoin --from probe -- "$workloads/hashjoin" 2000000
capture quadtree --from perimeter -- "$workloads/quadtree" 20 12
capture triad --from triad -- "$workloads/stream" 2 2000000
capture bipartite --from relax -- "$workloads/bipartite" 2 200000
"$BENCHMARKS/predict" chen-ooo "$folder"/*.ctrace
