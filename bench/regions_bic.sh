# BIC of our clusterings beside that of SimPoint 3.2's procedure as its papers describe it, from the
# same projected points: synthetic ones, and slices of 1 M instructions of gzip and of a shell.
set -u
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$CULPRIT" bbv --size 1M -o "$scratch/gzip.bb" -- gzip -9 -c /bin/bash >/dev/null 2>&1
"$CULPRIT" bbv --size 1M -o "$scratch/bash.bb" -- \
    bash -c 'for ((i = 0; i < 150000; i++)); do x=$((i % 7)); s=${s:-}$x; ((i % 500)) || s=; done' >/dev/null 2>&1
echo "BIC of the number of clusters k: ours, the reference's from slices furthest first and sampled"
"$BENCHMARKS/regions_bic" "$scratch/gzip.bb" "$scratch/bash.bb" || true
