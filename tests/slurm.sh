#!/bin/bash
# slurm.sh: a Slurm of one's own on the loopback, for tests and experiments: munged, slurmctld and
# slurmd's under different names, all in one folder, as whoever calls this.
#
#     slurm.sh start FOLDER [NODES [CPUS]]    starts it; FOLDER/slurm.conf is for SLURM_CONF
#     slurm.sh node FOLDER NUMBER             starts one slurmd, again
#     slurm.sh kill-node FOLDER NUMBER        kill -9 of a slurmd and of what it runs
#     slurm.sh controller FOLDER              starts slurmctld, again
#     slurm.sh stop FOLDER                    ends all of it
#
# Debian's slurmd is built for several on one host (MULTIPLE_SLURMD). There are no control groups:
# processes are found by their parents, and memory is looked at once a second.
set -u
export PATH=/usr/sbin:/sbin:$PATH
command=${1:?} folder=$(realpath -m "${2:?}")
export SLURM_CONF=$folder/slurm.conf
first_port=${SLURM_TEST_PORT:-27117}

configure() {
    local nodes=$1 cpus=$2 i
    cat <<CONF
ClusterName=culprit
SlurmctldHost=localhost(127.0.0.1)
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
SlurmctldPort=$first_port
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket
CredType=cred/munge
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool/%n
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.%n.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill
AccountingStorageType=accounting_storage/none
MaxArraySize=${SLURM_TEST_ARRAY:-1001}
ReturnToService=2
SlurmdTimeout=10
KillWait=2
SlurmdParameters=config_overrides
CONF
    for ((i = 1; i <= nodes; i++)); do
        echo "NodeName=node$i NodeHostname=localhost NodeAddr=127.0.0.1 Port=$((first_port + i)) CPUs=$cpus RealMemory=16000"
    done
    echo "PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP"
}

# wait_for SECONDS COMMAND...
wait_for() {
    local tries=$((10 * $1))
    shift
    while ! "$@" >"$folder/said" 2>&1; do
        ((tries-- > 0)) || { cat "$folder/said" >&2; return 1; }
        sleep 0.1
    done
}

all_idle() { [ "$(sinfo --noheader --Node --states=idle --format=%N | sort -u | wc -l)" = "$1" ]; }

# With what it started.
kill_tree() {
    local child
    for child in $(cat "/proc/$1/task/$1/children" 2>/dev/null); do
        kill_tree "$child"
    done
    kill -9 "$1" 2>/dev/null
}

# Those that watch over jobs have other parents: they are known by the log that they write.
kill_node() {
    local process
    kill_tree "$(cat "$folder/slurmd.node$1.pid")"
    for process in /proc/[0-9]*; do
        grep -qsz '^slurmstepd' "$process/cmdline" &&
            find "$process/fd" -lname "$folder/slurmd.node$1.log" 2>/dev/null | grep -q . && kill_tree "${process#/proc/}"
    done
    return 0
}

case $command in
start)
    nodes=${3:-4} cpus=${4:-2}
    mkdir -p "$folder/state" "$folder/spool" "$folder/munge" || exit 1
    chmod 700 "$folder/munge"
    head -c 1024 /dev/urandom >"$folder/munge/key" && chmod 400 "$folder/munge/key"
    configure "$nodes" "$cpus" >"$SLURM_CONF"
    echo "$nodes" >"$folder/nodes"
    munged --force --key-file="$folder/munge/key" --socket="$folder/munge/socket" --pid-file="$folder/munge/pid" \
        --log-file="$folder/munge/log" --seed-file="$folder/munge/seed" 2>/dev/null || exit 1
    slurmctld -f "$SLURM_CONF" || exit 1
    for ((i = 1; i <= nodes; i++)); do
        slurmd -f "$SLURM_CONF" -N "node$i" || exit 1
    done
    wait_for 60 all_idle "$nodes" || { tail -n 5 "$folder"/*.log >&2; exit 1; }
    ;;
node) slurmd -f "$SLURM_CONF" -N "node${3:?}" ;;
kill-node) kill_node "${3:?}" ;;
controller) slurmctld -f "$SLURM_CONF" ;;
stop)
    for ((i = 1; i <= $(cat "$folder/nodes"); i++)); do
        [ ! -f "$folder/slurmd.node$i.pid" ] || kill_node "$i"
    done
    for file in "$folder/slurmctld.pid" "$folder/munge/pid"; do
        [ ! -f "$file" ] || kill_tree "$(cat "$file")"
    done
    ;;
*) echo "slurm.sh: no command $command" >&2; exit 2 ;;
esac
