# Sourced by every end-to-end test. A test is a name and a command:
#
#     . tests/e2e/lib.sh
#     check "prints the version" test "$(run --version)" = "culprit 0.1"
#     needs riscv64-workloads && check "..." function
#     finish
#
# check runs its command in this shell, prints `ok N name` or `not ok N name` and, of a failure, what
# the command said. `run` is culprit; a whole script has a time limit. Scratch files go to $scratch,
# removed at the end. Scripts run from the root of the repository. Python runs without its site
# packages (-S), the search for which is most of what its start takes.

# Signals that were ignored where the tests were started, as by nohup, would be ignored by all that a
# script starts: it begins again without that.
while read -r key ignored; do
    [ "$key" = SigIgn: ] && break
done <"/proc/$$/status"
if ((0x$ignored & 3)); then # SIGHUP, SIGINT
    exec env --default-signal=HUP,INT bash "$0"
fi

export COLUMNS=100
export CULPRIT_MACHINE=zen4 # results are the same on every host
scratch=$(mktemp -d)
if ((${#scratch} > 60)); then # the name of a socket in it has at most 107 bytes
    rmdir "$scratch"
    scratch=$(mktemp -d -p /tmp)
fi
trap 'rm -rf "$scratch"' EXIT
objects=$scratch/.objects check_schemas=$PWD/tests/e2e/check_schemas.py
mkdir "$objects"
tests_run=0
tests_failed=0

# run ARGUMENTS...: culprit. An object that it prints with --json is kept, for finish to look at.
run() {
    local argument before= json= output= status at=0
    for argument in "$@"; do
        case $argument in
        --) break ;;
        --json) json=1 ;;
        --output=*) output=${argument#*=} ;;
        *) case $before in -o | --output) output=$argument ;; esac ;;
        esac
        before=$argument
    done
    if [ -z "$json" ]; then
        "$CULPRIT" "$@"
        return
    fi
    local kept
    kept=$(mktemp "$objects/$1.XXXXXX")
    if [ -z "$output" ] && [ -p /dev/stdout ]; then
        "$CULPRIT" "$@" >"$kept"
        status=$?
        cat "$kept"
        return $status
    fi
    [ ! -f /dev/stdout ] || read -r _ at </proc/self/fdinfo/1
    "$CULPRIT" "$@"
    status=$?
    if [ -n "$output" ]; then
        [ ! -f "$output" ] || cat "$output" >"$kept"
    elif [ -f /dev/stdout ]; then
        tail -c +$((at + 1)) /proc/self/fd/3 3>&1 >"$kept"
    fi
    if [ "$1" = trace ] && [ -f /dev/stderr ]; then # where a capture's object goes
        cat /proc/self/fd/2 >>"$kept"
    fi
    return $status
}

# check NAME COMMAND...: one test, passed when the command succeeds.
check() {
    local name=$1
    shift
    tests_run=$((tests_run + 1))
    if "$@" >"$scratch/.said" 2>&1; then
        echo "ok $tests_run $name"
    else
        echo "not ok $tests_run $name (status $?: $*)"
        sed 's/^/# /' "$scratch/.said" | head -n 60
        tests_failed=$((tests_failed + 1))
    fi
}

# skip NAME REASON: a test that cannot be run here.
skip() {
    tests_run=$((tests_run + 1))
    echo "ok $tests_run $1 # SKIP $2"
}

# has CAPABILITY: a program in PATH, or "x86_64-workloads", "riscv64-workloads".
has() {
    case $1 in
    *-workloads) [ -d "$WORKLOADS/${1%-workloads}" ] ;;
    *) command -v "$1" >/dev/null ;;
    esac
}

# on_one_processor COMMAND...: on the first one that this shell may use.
on_one_processor() {
    taskset -c "$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')" "$@"
}

# skip_without CAPABILITY NAME: succeeds, and prints a skipped test, when the capability is missing.
#     skip_without perl "perl keeps its output" || check "perl keeps its output" ...
skip_without() {
    has "$1" && return 1
    skip "$2" "no $1 here"
}

# same_file A B: the files hold the same bytes.
same_file() {
    cmp "$1" "$2"
}

# fits_100 FILE: no line has more than 100 columns. A long path is cut there, with an ellipsis.
fits_100() {
    [ "$(LC_ALL=C.UTF-8 wc -L <"$1")" -le 100 ] || { LC_ALL=C.UTF-8 awk 'length > 96' "$1"; return 1; }
}

# without_progress FILE: what culprit said, without the lines of progress ("simulating  87.1 M
# instructions  1.45 M/s") that a log gets every minute: a slow machine gets more of them.
progress='^[^:]+  [0-9]'
without_progress() {
    grep -vE "$progress" "$1"
}

# fails_with STATUS PATTERN COMMAND...: the command ends with that status and says one line on
# standard error, beside its progress, which matches.
fails_with() {
    local wanted=$1 pattern=$2 status line lines said=()
    shift 2
    "$@" >"$scratch/.out" 2>"$scratch/.err"
    status=$?
    mapfile lines <"$scratch/.err"
    for line in "${lines[@]}"; do
        [[ $line =~ $progress ]] || said+=("$line")
    done
    printf '%s' "${said[@]}"
    [ "$status" = "$wanted" ] || { echo "status is $status, not $wanted"; return 1; }
    [[ ${#said[@]} = 1 && ${said[0]} = *$'\n' ]] || { echo "not one line of error"; return 1; }
    [[ ${said[0]%$'\n'} =~ $pattern ]] || { echo "no match for $pattern"; return 1; }
}

# until_used PID SECONDS: waits until the process has used that much processor time, however busy
# the machine, or has ended.
until_used() {
    local ticks fields
    ticks=$(awk "BEGIN { print int($(getconf CLK_TCK) * $2) }")
    while read -r -a fields 2>/dev/null <"/proc/$1/stat" && ((fields[13] + fields[14] < ticks)); do
        sleep 0.1
    done
}

# until_true PID COMMAND...: waits until the command succeeds; fails when the process ends before.
until_true() {
    local process=$1
    shift
    until "$@"; do
        kill -0 "$process" 2>/dev/null || { "$@"; return; }
        sleep 0.05
    done
}

# interrupted_twice STATUS SIGNALS VERB OPTIONS...: of a command that ignores these signals. The first
# interrupt leaves it running, the second ends it before culprit, which ends with the status.
interrupted_twice() {
    local wanted=$1 ignored=$2 process command status
    shift 2
    rm -f "$scratch/.command"
    "$CULPRIT" "$@" -- sh -c 'trap "" '"$ignored"'; echo $$ >"$0.new"; mv "$0.new" "$0"; while :; do sleep 0.1; done' "$scratch/.command" &
    process=$!
    until_true "$process" [ -e "$scratch/.command" ] || return 1
    command=$(cat "$scratch/.command")
    kill -INT "$process"
    sleep 1.2 # signals sooner than a quarter of a second are one
    kill -0 "$process" && kill -0 "$command" || { kill -KILL "$command"; return 1; }
    kill -INT "$process"
    wait "$process"
    status=$?
    if kill -KILL "$command" 2>/dev/null; then
        echo "the command runs on"
        return 1
    fi
    [ $status = "$wanted" ] || { echo "status is $status, not $wanted"; return 1; }
}

# undisturbed CHECK...: whether the check succeeds in one of three tries in which the host takes no time
# from this machine, which would be processor time without samples; ten tries in all.
stolen() {
    awk '/^cpu / { print $9 }' /proc/stat
}
undisturbed() {
    local tries=0 before
    for _ in $(seq 10); do
        before=$(stolen)
        "$@" && return
        [ "$(stolen)" != "$before" ] || tries=$((tries + 1))
        [ $tries -lt 3 ] || return 1
    done
    return 1
}

# told EXPRESSION...: each, in Python, holds of r, the JSON object in the file $report, and of what
# the statements of $told_names make of it.
told() {
    python3 -S - "$report" "${told_names-}" "$@" <<'END'
import json, sys
r = json.load(open(sys.argv[1]))
exec(sys.argv[2])
for text in sys.argv[3:]:
    assert eval(text), (text, str(r)[:2000])
END
}

# json NAME CONDITION...: the report $scratch/NAME sums, and each condition, in Python, holds of r, its
# JSON object.
json() {
    local name=$1
    shift
    python3 -S tests/e2e/check_report.py "$scratch/$name" "$@"
}
# note TEXT: the condition that a note has this text.
note() {
    echo "any('$1' in n for n in r['notes'])"
}

# capture_part LIMIT NAME FUNCTION PROGRAM ARGUMENTS...: so many instructions of a workload for
# riscv64 from a function on, as $scratch/NAME.ctrace.
capture_part() {
    run trace --from "$3" --stop --limit "$1" --output "$scratch/$2.ctrace" -- \
        "$WORKLOADS/riscv64/$4" "${@:5}" >/dev/null 2>&1
}

# region_list FILE ISA COMMAND INSTRUCTIONS TRACE START:END:WEIGHT[:SKEW]...: a list of regions of a
# run of so many instructions, in 40 slices, which lie in one trace.
region_list() {
    local file=$1 isa=$2 command=$3 instructions=$4 trace=$5 id=0 place start end weight skew
    shift 5
    {
        printf '# %s\n' "culprit-regions 1" "isa: $isa" "command: $command" \
            "instructions: $instructions" "slices: 40" "method: simpoint"
        printf '%s' comment,process,thread-id,region-id,slice,start-icount,end-icount,start-image, \
            start-build-id,start-offset,start-count,end-image,end-build-id,end-offset,end-count, \
            region-length,region-weight,region-multiplier,trace,trace-start,trace-end,skew
        echo
        for place in "$@"; do
            IFS=: read -r start end weight skew <<<"$place"
            id=$((id + 1))
            echo "cluster $id,0,0,$id,$id,$start,$end,${command%% *},,0x4000,$id,,,,,$((end - start)),$weight,1,$trace,$start,$end,${skew:-0}"
        done
    } >"$file"
}

# What the script printed with --json agrees with docs/schema/.
has_schemas=$([ ! -d /usr/lib/python3/dist-packages/jsonschema ] || echo yes)
finish() {
    if [ -n "$(ls "$objects")" ]; then
        if [ "$has_schemas" ]; then
            check "every JSON object agrees with its schema" python3 -S "$check_schemas" "$objects"
        else
            skip "every JSON object agrees with its schema" "no python3-jsonschema here"
        fi
    fi
    echo "1..$tests_run"
    [ "$tests_failed" = 0 ]
    exit
}
