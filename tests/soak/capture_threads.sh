# A hundred captures each of a program that starts and ends 200 threads, with every way to choose a
# window: none may hang, crash, or change what the program prints.
. tests/e2e/lib.sh

rounds=${ROUNDS:-100}
cc -O1 -pthread -o "$scratch/threads" tests/guests/threads.c || exit 1

# repeat OPTIONS...: the capture, $rounds times over
repeat() {
    for round in $(seq "$rounds"); do
        timeout -k 5 60 "$CULPRIT" trace -o "$scratch/t.ctrace" "$@" -- "$scratch/threads" 200 \
            >"$scratch/out" 2>"$scratch/err"
        status=$?
        [ $status = 0 ] && [ "$(cat "$scratch/out")" = "200 threads" ] && continue
        echo "round $round: status $status"
        cat "$scratch/out" "$scratch/err"
        return 1
    done
}
check "all of it" repeat
check "skip" repeat --skip 500K
check "limit" repeat --limit 500K
check "skip and limit" repeat --skip 300K --limit 300K
check "from a function" repeat --from work --limit 500K
check "one thread" repeat --thread 7
check "one thread, skip and limit" repeat --thread 100 --skip 100K --limit 5K
finish
