# Choosing regions from synthetic programs: seconds of processor time, maxK 30, 5 seeds. What must
# hold: 26,000 slices are chosen from in at most 0.8 s, and time is linear in slices.
set -u
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
echo "choosing regions, processor time"
"$BENCHMARKS/regions" "$scratch/vectors"
