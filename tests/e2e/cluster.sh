# --cluster: what it says without a Slurm, and how it goes on with one whose commands are stood in
# for here: sbatch runs each element at once, what squeue is to say lies in a file. The real one is
# tested by `make test-cluster`.
. tests/e2e/lib.sh
cd "$scratch" || exit 1

cat >work.c <<'PROGRAM'
int main(void) {
    static volatile int table[4096];
    for (int i = 0; i < 2000; i++)
        table[i * 7 % 4096] += i;
    return 0;
}
PROGRAM
cc -O1 -o work work.c || exit 1
points=(--set core.rob=64,128,256 --set l2.size=256K,1M)

check "without a Slurm it says what to install" fails_with 1 'no sbatch in PATH.*slurm-client' env PATH=/nowhere "$CULPRIT" sweep --cluster slurm --keep k ./work
check "without a folder" fails_with 2 'which --keep FOLDER names' run sweep --cluster slurm ./work
check "another scheduler" fails_with 2 'pbs: must be slurm' run sweep --cluster pbs --keep k ./work
check "a key that is none" fails_with 2 "'memory' is no key" run sweep --cluster slurm:memory=2G --keep k ./work
check "an empty value" fails_with 2 'not KEY=VALUE' run sweep --cluster slurm:mem= --keep k ./work
check "tasks of a file that is none" fails_with 1 'no file of tasks' run work work.c 0
check "an element that is no number" fails_with 2 'must be the number' run work work.c x

mkdir bin
cat >bin/sbatch <<'FAKE'
#!/bin/bash
# Elements of $FAKE/lose end without a result; one is lost once when there is a number behind it.
printf '%s\n' "$@" >>"$FAKE/words"
[ ! -e "$FAKE/refuse" ] || { echo 'sbatch: error: Batch job submission failed: Invalid account' >&2; exit 1; }
if [ -e "$FAKE/away" ]; then
    rm "$FAKE/away"
    echo 'sbatch: error: Unable to contact slurm controller (connect failure)' >&2
    exit 1
fi
for word; do
    case $word in
    --array=*) last=${word#--array=0-} last=${last%%%*} ;;
    --output=*) log=${word#--output=} ;;
    --job-name=*) echo "${word#--job-name=}" >>"$FAKE/names" ;;
    esac
done
job=$(($(cat "$FAKE/job") + 1))
echo $job >"$FAKE/job"
for ((i = 0; i <= last; i++)); do
    file=${log//%a/$i}
    file=${file//%%/%}
    if grep -qx "$job $i" "$FAKE/lose" 2>/dev/null; then
        echo "slurmstepd: error: lost" >"$file"
        echo "$job|$i|$(cat "$FAKE/state")|node1|TimeLimit" >>"$FAKE/states"
    elif SLURM_ARRAY_TASK_ID=$i sh "${!#}" >"$file" 2>&1; then
        echo "$job|$i|COMPLETED|node1|None" >>"$FAKE/states"
    else
        echo "$job|$i|FAILED|node1|NonZeroExitCode" >>"$FAKE/states"
    fi
done
echo $job
FAKE
printf '#!/bin/sh\ncat "$FAKE/states"\n' >bin/squeue
printf '#!/bin/sh\necho "$@" >>"$FAKE/cancelled"\n' >bin/scancel
printf '#!/bin/sh\necho "MaxArraySize            = 4"\n' >bin/scontrol
chmod +x bin/*
export FAKE=$scratch/fake
fresh() {
    rm -rf fake && mkdir fake && echo 0 >fake/job && touch fake/states && echo TIMEOUT >fake/state
}
cluster() { PATH=$scratch/bin:$PATH run sweep "${points[@]}" --sort given --cluster "slurm:grace=0.1s$1" "${@:2}"; }

# The capture is taken over, as that of another run holds other addresses.
run sweep "${points[@]}" --sort given --keep local --csv local.csv --json -o local.json -- ./work
captured() { rm -rf "$1" && mkdir "$1" && cp local/*.capture.json local/*.ctrace "$1"; }

same() {
    fresh && captured kept &&
        cluster ,account=a,time=5,each=1 --keep kept --jobs 3 --csv two.csv --json -o two.json -- ./work &&
        same_file local.csv two.csv && same_file local.json two.json && diff -r --exclude=.lock local kept || return 1
    # Six jobs in arrays of at most four; what was passed on, and what was not.
    grep -qx -e '--array=0-3%3' fake/words && grep -qx -e '--array=0-1' fake/words && grep -qx -e '--account=a' fake/words &&
        grep -qx -e '--time=5' fake/words && grep -qx -e '--mem=2048M' fake/words && grep -qx -e '--cpus-per-task=2' fake/words &&
        [ "$(grep -c '^--time' fake/words)" = 2 ] && [ "$(sort -u fake/names | wc -l)" = 1 ]
}
check "the same bytes as on one machine, by arrays that are not too large" same

grouped() {
    fresh && captured kept && cluster ,each=4 --keep kept --csv two.csv -o text -- ./work && same_file local.csv two.csv &&
        grep -qx -e '--array=0-1' fake/words && ! grep -q -e '--array=.*%' fake/words
}
check "several tasks in a job" grouped

hostile() {
    local folder="it's 5% \$HOME"$'\n'"x"
    fresh && captured "$folder" && cluster ,each=1 --keep "$folder" --csv two.csv -o text -- ./work && same_file local.csv two.csv
}
check "a folder with a name that a shell would take apart" hostile

again() {
    fresh && captured kept && echo '1 2' >fake/lose &&
        cluster ,each=1 --keep kept --csv two.csv -o text -- ./work 2>said && same_file local.csv two.csv &&
        grep -q 'job 1_2 on node1 ended over its time limit (TIMEOUT); it is submitted again' said && ! [ -e kept/jobs ]
}
check "a lost job is submitted again" again

# Array 1 has elements 0 to 3; what is lost of it alone is in 3, and then in 4.
lost() {
    fresh && captured kept && printf '1 2\n3 0\n4 0\n' >fake/lose
    cluster ,each=1 --keep kept --csv two.csv --json -o lost.json -- ./work 2>said
    [ $? = 1 ] && grep -q '"simulated": 5,' lost.json && grep -q '"failed": 1,' lost.json &&
        grep -q '"failure": "job 4_0 on node1 ended over its time limit (TIMEOUT): slurmstepd: error: lost (log: .*/4-0.log)"' lost.json || return 1
    local log
    log=$(sed -n 's/.*(log: \(.*\.log\)).*/\1/p' lost.json | head -n 1)
    grep -q lost "$log" && rm fake/lose && cluster ,each=1 --keep kept --csv two.csv -o text -- ./work && same_file local.csv two.csv &&
        grep -q '^6 points: 1 simulated, 5 known from before, 0 failed' text && [ -s fake/cancelled ]
}
check "lost three times it is named, with its log; run again, it alone is simulated" lost

cancelled() {
    fresh && captured kept && echo CANCELLED >fake/state && printf '1 0\n1 1\n' >fake/lose
    cluster ,each=1 --keep kept -o text -- ./work 2>said
    [ $? = 1 ] && grep -q '^6 points: 4 simulated, 0 known from before, 2 failed' text && grep -q 'cancelled by somebody' text
}
check "jobs that somebody cancelled are not submitted again" cancelled

fails() {
    fresh && captured kept && rm kept/*.ctrace && mkdir moved && cp local/*.ctrace moved
    # The capture is whole where the sweep begins, and not where the jobs run.
    sed -i "2i mv $scratch/kept/*.ctrace $scratch/gone" bin/sbatch && mkdir -p gone && cp local/*.ctrace kept
    cluster ,each=1 --keep kept -o text -- ./work 2>said
    local status=$?
    sed -i 2d bin/sbatch
    [ $status = 1 ] && grep -q 'is not there, or cannot be read (job 5_0; log:' said
}
check "what a task itself says is told" fails

away() {
    fresh && captured kept && touch fake/away && cluster ,each=1 --keep kept --csv two.csv -o text -- ./work 2>said && same_file local.csv two.csv &&
        grep -q 'does not answer (sbatch: sbatch: error: Unable to contact' said && grep -q 'answers again' said
}
check "a controller that does not answer is waited for" away

# Regions of lists: results lie beside the list.
run trace --stop --limit 600K -o full.ctrace -- gzip -9 -c "$CULPRIT" >/dev/null 2>said || cat said
region_list three.csv x86_64 "gzip -9" 10000003 full.ctrace 0:50001:0.1 150000:200000:0.55 300000:350000:0.35
on_nodes() { PATH=$scratch/bin:$PATH run "$1" --regions three.csv --cluster slurm:grace=0.1s "${@:2}"; }
untimed() { grep -vE '"(seconds|instructions_per_second|next)":|instructions simulated|a full simulation' "$1"; }
regions() {
    local arguments
    for arguments in "sim --levels --warm-up 100K" "sim --machine alpha21164 --set l1d.size=16K" "icost --sets 2"; do
        fresh
        run ${arguments%% *} --regions three.csv ${arguments#* } --json -o here.json && on_nodes $arguments --json -o there.json &&
            untimed here.json >here && untimed there.json >there && same_file here there && [ "$(cat fake/job)" = 1 ] || return 1
    done
    fresh && on_nodes icost --sets 2 -o text && [ "$(cat fake/job)" = 0 ] # all are there
}
check "regions of a list: what sim and icost say is the same" regions

# The next ones are warmed by the first one's CPI, which is simulated before they are submitted.
others_use_the_cache() {
    local arguments=(--machine granite-rapids --set llc.retention=100K --set llc.first_retention=100K --set l2.size=64K)
    fresh
    run sim --regions three.csv "${arguments[@]}" --json -o here.json && on_nodes sim "${arguments[@]}" --json -o there.json &&
        untimed here.json >here && untimed there.json >there && same_file here there && [ "$(cat fake/job)" = 2 ]
}
check "likewise on a machine whose last cache others use too" others_use_the_cache

# Regions alone are cut out of the whole trace, with each length of warm-up.
validated() {
    fresh
    run validate three.csv --full full.ctrace --warm-up 10K,100K --json -o here.json &&
        PATH=$scratch/bin:$PATH run validate three.csv --full full.ctrace --warm-up 10K,100K --cluster slurm:grace=0.1s --json -o there.json &&
        untimed here.json >here && untimed there.json >there && same_file here there && [ "$(cat fake/job)" -ge 2 ]
}
check "and what validate says" validated

damaged() {
    fresh
    local results=(three.csv.results/*.region)
    [ ${#results[@]} -ge 9 ] && for file in "${results[@]}"; do printf x | dd of="$file" bs=1 seek=900 conv=notrunc status=none; done
    run icost --regions three.csv --sets 2 --json -o here.json && on_nodes icost --sets 2 --json -o there.json &&
        untimed here.json >here && untimed there.json >there && same_file here there && [ "$(cat fake/job)" = 1 ]
}
check "results that are damaged are made anew" damaged

missing() {
    fresh && rm -r three.csv.results && printf '1 1\n2 0\n3 0\n' >fake/lose
    on_nodes sim -o text 2>said
    [ $? = 1 ] && [ "$(grep -vc 'submitted again' said)" = 1 ] &&
        grep -q '^culprit: 1 of 3 regions could not be simulated (the others are kept): region 2: job 3_0 on node1' said &&
        [ "$(ls three.csv.results | grep -c region)" = 2 ]
}
check "a region that is lost three times is named, and the others are kept" missing
alone() {
    fresh && exec 9>three.csv.results/.lock && flock 9 || return 1
    fails_with 1 'results: another culprit works in it' on_nodes sim
    local status=$?
    exec 9>&-
    return $status
}
check "two at once do not work in one folder" alone
check "--cluster without a list" fails_with 125 'add --regions LIST' run sim --cluster slurm -- ./work
check "validate of a command by nodes" fails_with 125 'regions of a list' run validate --cluster slurm -- ./work
check "a profile is not saved by nodes" fails_with 2 'without --cluster' run sim --regions three.csv --cluster slurm --save

refused() {
    fresh && captured kept && touch fake/refuse
    cluster "" --keep kept -o text -- ./work 2>said
    [ $? = 1 ] && [ "$(grep -c . said)" = 1 ] && grep -q 'Invalid account' said && ! [ -e kept/jobs ]
}
check "what Slurm refuses is told in a line" refused

unwritable() {
    touch file
    fails_with 1 'Not a directory' cluster "" --keep file/k -- ./work
}
check "a folder that cannot be made" unwritable

versions() {
    fresh && captured kept && sed -i '2i sed -i "s/model [0-9a-f]*/model 00000000/" "$(dirname "${!#}")"/*.tasks' bin/sbatch
    cluster ,each=1 --keep kept -o text -- ./work 2>said
    local status=$?
    sed -i 2d bin/sbatch
    [ $status = 1 ] && grep -q 'its tasks are of culprit 0.1 model 00000000, and the one here is' said
}
check "another culprit on the nodes is refused" versions
finish
