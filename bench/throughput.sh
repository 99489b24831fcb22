# Speed of throughput models: the 32 chips of 1 to 8 cores with 1 to 4 threads, for one program and
# for six, against the simulation of them all, LIMIT instructions of each. What must hold: the models
# take less than a second; simulation takes at least 65 times as long as profile and models (Chen
# 2009, §6.2.5).
set -u
culprit=${CULPRIT:-build/culprit}
limit=${LIMIT:-500K}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
workloads=$(dirname "$culprit")/workloads/riscv64

capture() {
    "$culprit" trace --limit "$limit" --output "$scratch/$1.ctrace" "${@:2}" >/dev/null 2>&1
}
capture hashjoin --from probe -- "$workloads/hashjoin" 2000000
capture quadtree --from perimeter -- "$workloads/quadtree" 20 12
capture interpreter --skip 2M -- "$workloads/interpreter"
capture branchy --skip 2M -- "$workloads/branchy"
capture triad --from triad -- "$workloads/stream" 2 2000000
capture matmul --skip 2M -- "$workloads/matmul"

search() {
    "$culprit" throughput --search 'cores=1..8 threads=1..4' "$@" |
        grep -E '^best|^processor|^ mean value'
}
echo "six programs, $limit instructions of each"
search "$scratch"/*.ctrace
for program in hashjoin interpreter; do
    echo "$program, $limit instructions"
    search --check "$scratch/$program.ctrace"
done
