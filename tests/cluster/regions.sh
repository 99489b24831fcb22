# Regions of a list by the nodes of a real Slurm: what sim, icost and validate say is what they say
# without it, and a second run needs no job.
. tests/e2e/lib.sh
slurm=$PWD/tests/slurm.sh
export PATH=/usr/sbin:/sbin:$PATH
for program in slurmctld slurmd munged sbatch; do
    skip_without $program "regions on a cluster" && finish
done
"$slurm" start "$scratch/slurm" 2 2 || exit 1
trap '"$slurm" stop "$scratch/slurm"; rm -rf "$scratch"' EXIT
export SLURM_CONF=$scratch/slurm/slurm.conf
cd "$scratch" || exit 1

run trace --stop --limit 600K -o full.ctrace -- gzip -9 -c "$CULPRIT" >/dev/null 2>said || cat said
region_list list.csv x86_64 "gzip -9" 600000 full.ctrace 0:50001:0.1 150000:200000:0.55 300000:350000:0.2 400000:450000:0.15
untimed() { grep -vE '"(seconds|instructions_per_second|next)":|instructions simulated|a full simulation' "$1"; }

# same ARGUMENTS...
same() {
    run "$@" --json -o here.json && run "$@" --json -o there.json --cluster slurm:cpus=1,mem=500M,grace=3s &&
        untimed here.json >here && untimed there.json >there && same_file here there
}
check "sim" same sim --regions list.csv --levels
check "sim on another machine" same sim --regions list.csv --machine boom-tip --set core.rob=64 --warm-up 50K
check "icost" same icost --regions list.csv
check "validate" same validate list.csv --full full.ctrace --warm-up 10K,100K

again() {
    local before
    before=$(squeue --noheader --states=all --array | wc -l)
    same sim --regions list.csv --levels && [ "$(squeue --noheader --states=all --array | wc -l)" = "$before" ] && ! [ -e list.csv.results/jobs ]
}
check "a second run needs no job" again
finish
