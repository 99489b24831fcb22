# Speed of profiling programs for the contention model, trace decoding included.
echo "profiles for the contention model, machine niagara"
export CULPRIT_MACHINES=${CULPRIT_MACHINES:-machines}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
workloads=$(dirname "$CULPRIT")/workloads/riscv64
capture() {
    "$CULPRIT" trace --limit 20M -o "$folder/$1.ctrace" "${@:2}" >/dev/null 2>&1
}
capture gzip -- gzip -9 -c /bin/bash
capture sort -- sort /usr/share/dict/words
capture hashjoin --from probe -- "$workloads/hashjoin" 2000000
capture quadtree --from perimeter -- "$workloads/quadtree" 20 12
capture triad --from triad -- "$workloads/stream" 2 2000000
capture bipartite --from relax -- "$workloads/bipartite" 2 200000
"$BENCHMARKS/contend" niagara "$folder"/*.ctrace
