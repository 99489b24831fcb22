# Speed of chips: programs on the 32 threads of niagara, LIMIT instructions of each, one program on
# all and four on each core. What must hold: at least 10 million instructions a second on one
# processor, and memory that does not grow with the traces.
set -u
culprit=${CULPRIT:-build/culprit}
machine=${MACHINE:-niagara}
limit=${LIMIT:-1M}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export CULPRIT_MACHINES=${CULPRIT_MACHINES:-machines}
workloads=$(dirname "$culprit")/workloads/riscv64

capture() {
    "$culprit" trace --limit "$limit" --output "$scratch/$1.ctrace" "${@:2}" >/dev/null 2>&1
}
capture hashjoin --from probe -- "$workloads/hashjoin" 2000000
capture quadtree --from perimeter -- "$workloads/quadtree" 20 12
capture bipartite --from relax -- "$workloads/bipartite" 2 200000
capture triad --from triad -- "$workloads/stream" 2 2000000
capture matmul --skip 2M -- "$workloads/matmul"
run() {
    printf '%-14s ' "$1"
    "${BENCHMARKS:-build/bench}/sharing" "$machine" "${@:2}"
}
echo "chip $machine, $limit instructions of each program"
for trace in "$scratch"/*.ctrace; do
    run "$(basename "$trace" .ctrace)" "$trace"
done
run "four of them" "$scratch"/{hashjoin,quadtree,bipartite,triad}.ctrace
