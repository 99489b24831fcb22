# Capture leaves the program alone, which ends when culprit is killed.
. tests/e2e/lib.sh

cc -O1 -pthread -o "$scratch/dies" tests/guests/dies.c || exit 1
cc -O1 -pthread -o "$scratch/threads" tests/guests/threads.c || exit 1
ulimit -c 0

# streams COMMAND...: standard output, exit status and (for programs that write none themselves)
# standard error are what they are without culprit.
streams() {
    "$@" <"$scratch/input" >"$scratch/native.out" 2>"$scratch/native.err"
    local native=$?
    run trace -o "$scratch/t.ctrace" -- "$@" <"$scratch/input" >"$scratch/got.out" 2>"$scratch/got.err"
    local got=$?
    echo "status $native natively, $got captured"
    cat "$scratch/got.err"
    [ $got = $native ] && same_file "$scratch/native.out" "$scratch/got.out" &&
        ! grep -q '^qemu' "$scratch/got.err"
}
seq 500 >"$scratch/input"
check "a filter keeps its input and output" streams sort -n
check "an exit status is kept" streams sh -c 'cat; exit 42'
check "an abort keeps status and standard error" streams "$scratch/dies" abort
check "a kill keeps its status" streams "$scratch/dies" kill
check "a null store keeps status and standard error" streams "$scratch/dies" null
check "a division by zero keeps status and standard error" streams "$scratch/dies" divide

# both FILE FILE: something is in them.
both() {
    [ -s "$1" ] && [ -s "$2" ]
}
# runs PID: it lives and is no zombie.
runs() {
    [[ $(ps -o stat= -p "$1") = [!Z]* ]]
}
# ended PID...: each ends within a minute.
ended() {
    local process i
    for process in "$@"; do
        for ((i = 0; i < 600; i++)); do
            runs "$process" || continue 2
            sleep 0.1
        done
        echo "$process runs on"
        kill -KILL "$process"
        return 1
    done
}
# A program that runs for seconds; culprit is killed meanwhile.
ends_with_culprit() {
    rm -f "$scratch/began"
    "$CULPRIT" trace -o "$scratch/k.ctrace" -- "$scratch/dies" spin "$scratch/left" >"$scratch/began" &
    local culprit=$! emulator
    until_true $culprit both "$scratch/began" "$scratch/k.ctrace" || return 1
    emulator=$(pgrep -P $culprit)
    kill -9 $culprit
    wait $culprit
    ended "$emulator" && [ ! -e "$scratch/left" ]
}
check "the program ends when culprit is killed" ends_with_culprit
readable() {
    run trace --info "$scratch/k.ctrace"
}
check "the trace of a killed capture is readable" readable

# spin_under VERB OPTIONS...: $culprit, and under it $spinners, a shell and its child, which ignore
# what asks them to end.
spin_under() {
    rm -f "$scratch/.spinners"
    "$CULPRIT" "$@" --follow -- sh -c 'trap "" INT TERM; (while :; do :; done) & echo $$ $! >"$0"; while :; do :; done' "$scratch/.spinners" >"$scratch/.out" 2>&1 &
    culprit=$!
    until_true $culprit [ -s "$scratch/.spinners" ] || return 1
    spinners=$(cat "$scratch/.spinners")
}
interrupted_again() {
    spin_under "$@" || return 1
    kill -INT $culprit
    sleep 0.5 # sooner than a quarter of a second they are one
    kill -INT $culprit
    wait $culprit
    ended $spinners
}
for verb in "sim --machine alpha21164" "explain --machine alpha21164" "trace --output $scratch/s.ctrace"; do
    check "a second interrupt of ${verb%% *} ends the program and its child" interrupted_again $verb
done
# What little it has executed may still wait to be written.
kept_of_few() {
    rm -f "$scratch/.few" "$scratch/few.ctrace"
    "$CULPRIT" trace --output "$scratch/few.ctrace" --follow -- sh -c 'trap "" INT TERM; echo $$ >"$0"; read -r line' "$scratch/.few" \
        <>"$scratch/never" >"$scratch/.out" 2>&1 &
    culprit=$!
    until_true $culprit [ -s "$scratch/.few" ] || return 1
    kill -INT $culprit
    sleep 0.5 # sooner than a quarter of a second they are one
    kill -"$1" $culprit
    wait $culprit
    [ $? = 130 ] && run trace --info "$scratch/few.ctrace" && run sim --machine alpha21164 "$scratch/few.ctrace" >"$scratch/.out" &&
        ended $(cat "$scratch/.few")
}
mkfifo "$scratch/never"
for again in INT TERM; do
    check "a second interrupt (SIG$again) of trace leaves a file with what was captured" kept_of_few $again
done
# The command is asked to end a second after the interrupt, when nothing is captured any more, and
# forks then; a second later it is killed.
late_fork() {
    local second=$1
    shift
    rm -f "$scratch/.late" "$scratch/.spinning"
    "$CULPRIT" "$@" --follow -- sh -c 'trap "" INT; trap "(while :; do :; done) & echo \$! >$0" TERM; >$1; while :; do :; done' \
        "$scratch/.late" "$scratch/.spinning" >"$scratch/.out" 2>&1 &
    culprit=$!
    until_true $culprit [ -e "$scratch/.spinning" ] || return 1
    kill -INT $culprit
    until_true $culprit [ -s "$scratch/.late" ] || return 1
    [ -z "$second" ] || kill -"$second" $culprit
    wait $culprit
    ended $(cat "$scratch/.late")
}
check "an interrupt ends what is forked after it" late_fork "" sim --machine alpha21164
check "so does a second one" late_fork INT sim --machine alpha21164
check "and a kill" late_fork KILL sim --machine alpha21164
killed_with_child() {
    spin_under "$@" || return 1
    kill -KILL $culprit
    wait $culprit
    ended $spinners
}
check "so does a kill" killed_with_child sim --machine alpha21164
pipe_closed() {
    spin_under "$@" || return 1
    kill -PIPE $culprit
    wait $culprit
    ended $spinners
}
check "so does a closed pipe" pipe_closed sim --machine alpha21164

# A child that is forked while the limit is reached, which culprit may not have heard of.
stopped_with_child() {
    local limit left
    for limit in $(seq 120 10 180); do
        run sim --machine alpha21164 --follow --limit ${limit}K --stop -- \
            sh -c '(while :; do :; done) & while :; do :; done' "$scratch/forks" || return 1
        left=$(pgrep -f "qemu.* $scratch/forks")
        [ -z "$left" ] || ended $left || return 1
    done
}
check "a stop ends children that are forked just then" stopped_with_child

# The program dies of SIGKILL from outside.
killed_guest() {
    rm -f "$scratch/began"
    "$CULPRIT" trace -o "$scratch/g.ctrace" -- "$scratch/dies" spin "$scratch/unused" >"$scratch/began" 2>"$scratch/err" &
    local culprit=$!
    until_true $culprit both "$scratch/began" "$scratch/g.ctrace" || return 1
    pkill -9 -P $culprit
    wait $culprit
    local status=$?
    echo "status $status"
    [ $status = 137 ] && run trace --info "$scratch/g.ctrace"
}
check "a killed program is told, its trace readable" killed_guest

riscv64() {
    run trace -o "$scratch/r.ctrace" -- "$WORKLOADS/riscv64/threads" >"$scratch/got.out" &&
        same_file "$scratch/got.out" <("$WORKLOADS/x86_64/threads")
}
skip_without riscv64-workloads "a riscv64 program with threads" ||
    check "a riscv64 program with threads" riscv64

# Of a stack without a limit the emulator would make one of 8 MiB.
large_stack() {
    echo 'int main(void) { volatile char bytes[32 << 20]; bytes[0] = 7; return bytes[0]; }' >"$scratch/deep.c"
    cc -o "$scratch/deep" "$scratch/deep.c" || return 1
    (ulimit -s unlimited && run trace -o "$scratch/deep.ctrace" -- "$scratch/deep")
    [ $? = 7 ]
}
if (ulimit -s unlimited) 2>/dev/null; then
    check "a stack without a limit is large" large_stack
else
    skip "a stack without a limit is large" "the hard limit of the stack"
fi

illegal() {
    echo 'int main(void) { __asm__ volatile("vpxorq %zmm0, %zmm0, %zmm0"); }' >"$scratch/wide.c"
    cc -o "$scratch/wide" "$scratch/wide.c" || return 1
    run trace -o "$scratch/w.ctrace" -- "$scratch/wide"
    [ $? = 132 ] && run trace --info "$scratch/w.ctrace" | grep AVX-512
}
check "AVX-512 is named" illegal

# An emulator that was built without plugins, as some distributions build it.
mkdir "$scratch/without"
{ cat "$(type -P true)" && printf 'qemu-x86_64 version 10.0.13 (Debian 1:10.0.13+ds)\n'; } >"$scratch/without/qemu-x86_64"
chmod +x "$scratch/without/qemu-x86_64"
says_why() {
    PATH=$scratch/without:$PATH run trace -o "$scratch/t.ctrace" -- true >"$scratch/said" 2>&1
    local status=$?
    cat "$scratch/said"
    [ $status = 125 ] && grep -q 'without/qemu-x86_64 was built without plugins.*--enable-plugins' "$scratch/said"
}
check "an emulator without plugins is told at once" says_why
finish
