# --cluster with a real Slurm: four nodes on the loopback (tests/slurm.sh). What comes of it is held
# against what this machine makes of the same capture.
. tests/e2e/lib.sh
slurm=$PWD/tests/slurm.sh
export PATH=/usr/sbin:/sbin:$PATH
for program in slurmctld slurmd munged sbatch; do
    skip_without $program "a sweep on a cluster" && finish
done
export SLURM_TEST_ARRAY=6 # so that there are several arrays
"$slurm" start "$scratch/slurm" 4 2 || exit 1
mounted=
clean() {
    "$slurm" stop "$scratch/slurm"
    [ -z "$mounted" ] || umount -l "$mounted"
    rm -rf "$scratch"
}
trap clean EXIT
export SLURM_CONF=$scratch/slurm/slurm.conf
cd "$scratch" || exit 1

cat >work.c <<'PROGRAM'
#include <stdlib.h>
int main(int count, char **arguments) {
    static volatile unsigned table[1 << 16];
    unsigned x = 1;
    for (int i = 0; i < (count > 1 ? atoi(arguments[1]) : 1000); i++) {
        x = x * 1664525 + 1013904223;
        table[x >> 16] += i;
    }
    return 0;
}
PROGRAM
cc -O1 -o work work.c || exit 1

quick=(--set core.rob=64,128,256 --set l2.size=256K,512K,1M --sort given)
long=(--set core.rob=64,96,128,192,256,320 --set l2.size=512K,1M --sort given)
run sweep "${quick[@]}" --keep quick --csv quick.csv --json -o quick.json -- ./work 2000 || exit 1
run sweep "${long[@]}" --full --keep long --csv long.csv --json -o long.json -- ./work 300000 || exit 1
run sweep "${quick[@]}" --regions-over 200K --regions 5 --keep regions --csv regions.csv -o /dev/null -- ./work 100000 || exit 1

# captured FROM TO: TO has the capture of FROM, and no point.
captured() { rm -rf "$2" && mkdir "$2" && cp "$1"/*.capture.json "$1"/*.ctrace "$2"; }
# on_cluster OPTIONS FOLDER ARGUMENTS...
on_cluster() { "$CULPRIT" sweep --cluster "slurm:grace=3s$1" --keep "$2" --json -o "$2.json" --csv "$2.csv" "${@:3}"; }
quick_on() { on_cluster "$1" "$2" "${quick[@]}" "${@:3}" -- ./work 2000; }
long_on() { on_cluster "$1" "$2" "${long[@]}" --full "${@:3}" -- ./work 300000; }
points_of() { compgen -G "$1/*.point.json" | wc -l; }
# wait_points FOLDER NUMBER
wait_points() {
    local i
    for ((i = 0; i < 1200; i++)); do
        [ "$(points_of "$1")" -ge "$2" ] && return
        sleep 0.1
    done
    return 1
}
no_jobs() { ! squeue --noheader --array --states=PENDING,RUNNING | grep .; }

same() {
    captured quick one && quick_on '' one && same_file quick.csv one.csv && same_file quick.json one.json &&
        diff -r --exclude=.lock quick one
}
check "9 points in arrays of at most 6: reports and results are those of one machine, byte for byte" same

regions() {
    captured regions two && on_cluster ,each=2 two "${quick[@]}" --regions-over 200K --regions 5 -- ./work 100000 &&
        same_file regions.csv two.csv && diff -r --exclude=.lock regions two
}
check "9 points x 5 regions, two points to a job: likewise" regions

hostile() {
    local name="it's 50% \$HOME"
    captured quick "$name" && quick_on '' "$name" && same_file quick.csv "$name.csv"
}
check "a folder with a hostile name" hostile

passed_on() {
    captured quick pass && quick_on ,partition=main,time=7,mem=123M,cpus=1,nice=5 pass --jobs 2 || return 1
    local job
    job=$(scontrol show job | sed 's/^$/#/' | awk 'BEGIN { RS = "#" } /MinMemoryNode=123M/' | head -n 40)
    grep -q 'TimeLimit=00:07:00' <<<"$job" && grep -q 'Nice=5' <<<"$job" && grep -q 'NumCPUs=1 ' <<<"$job" && grep -q 'ArrayTaskThrottle=2' <<<"$job"
}
check "what sbatch is told arrives" passed_on

check "a partition that is none" fails_with 1 'Invalid partition name' run sweep --cluster slurm:partition=none --keep bad -- ./work 10
check "more memory than any node has" fails_with 1 'configuration is not available' run sweep --cluster slurm:mem=999G --keep bad -- ./work 10

killed() {
    captured long killed && { long_on '' killed 2>killed.said & local pid=$!; } && wait_points killed 4 || return 1
    local i
    sleep 2 # the first jobs of all nodes are done, and the next have begun
    for ((i = 0; i < 600; i++)); do squeue --noheader --states=RUNNING --nodelist=node2 | grep -q . && break || sleep 0.1; done
    "$slurm" kill-node "$scratch/slurm" 2
    scontrol update nodename=node2 state=down reason=test
    wait $pid || { cat killed.said; return 1; }
    "$slurm" node "$scratch/slurm" 2
    scontrol update nodename=node2 state=resume 2>/dev/null # unless it is there already
    same_file long.csv killed.csv && same_file long.json killed.json && cat killed.said &&
        grep -q 'on node2 ended as its node failed (NODE_FAIL).* submitted again\|submitted again; of one, job .* on node2 ended as its node' killed.said
}
check "a node that is killed: its jobs run elsewhere, and the bytes are the same" killed

cancelled() {
    captured long away && { long_on '' away 2>away.said & local pid=$!; } && wait_points away 1 || return 1
    scancel --user="$(id -un)"
    wait $pid
    [ $? = 1 ] && grep -q 'cancelled by somebody' away.json || { cat away.said; return 1; }
    local kept
    kept=$(points_of away)
    [ "$kept" -ge 1 ] && [ "$kept" -lt 12 ] && long_on '' away && same_file long.csv away.csv &&
        grep -q "\"simulated\": $((12 - kept))," away.json && grep -q "\"known_before\": $kept," away.json
}
check "an array that somebody cancelled: it is said; run again, the rest alone is simulated" cancelled

interrupted() {
    captured long cut && { long_on '' cut 2>cut.said & local pid=$!; } && wait_points cut 1 || return 1
    kill -INT "$(pgrep -P $pid)"
    wait $pid
    local status=$? kept i
    [ $status = 130 ] && grep -q 'jobs are cancelled; the same command goes on' cut.said || { cat cut.said; return 1; }
    for ((i = 0; i < 100; i++)); do no_jobs && break || sleep 0.1; done
    no_jobs || return 1
    kept=$(points_of cut)
    [ "$kept" -ge 1 ] && [ "$kept" -lt 12 ] && long_on '' cut && same_file long.csv cut.csv && grep -q "\"known_before\": $kept," cut.json
}
check "Ctrl-C cancels the jobs; the same command goes on" interrupted

# What a killed culprit left is cancelled by the next one.
abandoned() {
    captured long left && { long_on '' left 2>left.said & local pid=$!; } && wait_points left 1 || return 1
    kill -KILL "$(pgrep -P $pid)"
    wait $pid
    ! no_jobs && long_on '' left && same_file long.csv left.csv && [ "$(squeue --noheader --states=all --format=%j | grep -c .)" -ge 1 ] && ! [ -e left/jobs ]
}
check "jobs of a culprit that was killed do not run on beside those of the next" abandoned

restarted() {
    captured long back && { long_on '' back 2>back.said & local pid=$!; } && wait_points back 1 || return 1
    kill -9 "$(cat slurm/slurmctld.pid)"
    sleep 15
    "$slurm" controller "$scratch/slurm"
    wait $pid || { cat back.said; return 1; }
    same_file long.csv back.csv && cat back.said
}
check "a controller that is killed, and comes back" restarted

# One is away when the sweep begins.
awaited() {
    kill -9 "$(cat slurm/slurmctld.pid)"
    captured quick late && { quick_on '' late 2>late.said & local pid=$!; }
    local i
    for ((i = 0; i < 600; i++)); do grep -q 'does not answer' late.said && break || sleep 0.2; done
    "$slurm" controller "$scratch/slurm"
    wait $pid || { cat late.said; return 1; }
    same_file quick.csv late.csv && grep -q 'waiting for it' late.said && grep -q 'answers again' late.said
}
check "a controller that is away at first is waited for, with a line that says so" awaited

# Slurm counts in minutes: three of them.
overtime() {
    captured quick slow && cat >slow-culprit <<'SCRIPT'
#!/bin/sh
exec sleep 1000
SCRIPT
    chmod +x slow-culprit
    quick_on ",time=1,each=9,program=$PWD/slow-culprit" slow 2>slow.said
    local status=$?
    [ $status = 1 ] && [ "$(grep -c TIMEOUT slow.said)" -ge 2 ] && grep -q 'over its time limit (TIMEOUT).*(log: .*log)' slow.said
}
check "jobs over their time limit are named, with their log" overtime

memory() {
    captured quick big && cat >big-culprit <<'SCRIPT'
#!/usr/bin/python3 -S
import time
taken = bytearray(200 << 20)
time.sleep(1000)
SCRIPT
    chmod +x big-culprit
    quick_on ",mem=60M,each=9,program=$PWD/big-culprit" big 2>big.said
    [ $? = 1 ] && cat big.said && grep -qi 'exceeded job memory limit\|OUT_OF_MEMORY' big.said
}
check "jobs out of their memory are named" memory

full() {
    mkdir small && mount -t tmpfs -o size=3m tmpfs small 2>/dev/null || return 77
    mounted=$PWD/small
    cp quick/*.capture.json quick/*.ctrace small && head -c 10m /dev/zero >small/filler 2>/dev/null
    timeout 300 "$CULPRIT" sweep --cluster slurm:grace=3s --keep small -o full.text "${quick[@]}" -- ./work 2000 2>full.said
    [ $? = 1 ] && [ "$(grep -vc 'submitted again' full.said)" = 1 ] && grep -q 'No space left' full.said || { cat full.said; return 1; }
    # Room for the files of tasks, and for some results.
    truncate -s -24K small/filler
    timeout 300 "$CULPRIT" sweep --cluster slurm:grace=3s --keep small -o full.text "${quick[@]}" -- ./work 2000 2>full.said
    local status=$? kept
    kept=$(points_of small)
    cat full.said full.text
    [ $status = 1 ] && grep -q "^9 points: $kept simulated, 0 known from before, $((9 - kept)) failed" full.text &&
        grep -q 'No space left\|no room left' full.text full.said || return 1
    for file in small/*.point.json; do python3 -S -c 'import json, sys; json.load(open(sys.argv[1]))' "$file" || return 1; done
    rm small/filler
    timeout 300 "$CULPRIT" sweep --cluster slurm:grace=3s --keep small --csv full.csv -o full.text "${quick[@]}" -- ./work 2000 &&
        grep -q "^9 points: $((9 - kept)) simulated, $kept known from before, 0 failed" full.text && same_file quick.csv full.csv
}
if [ "$(id -u)" = 0 ] && unshare --mount true 2>/dev/null; then
    check "a full folder: whole results, or what is missing; with room again, the rest" full
else
    skip "a full folder" "no right to mount a small file system"
fi
finish
