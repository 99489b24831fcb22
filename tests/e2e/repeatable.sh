#!/bin/bash
# The same run everywhere: sim, explain and icost --repeatable give the same bytes whatever the
# environment, working directory, host name, processors, descriptors and clock are.
. "$(dirname "$0")/lib.sh"
cd "$scratch" || exit 1
cat >varied.c <<'PROGRAM'
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <time.h>
extern char **environ;
/* Does as much work as each of its words says. */
static unsigned work(const void *words, size_t size) {
    unsigned sum = 0;
    for (size_t i = 0; i < size; i++)
        for (unsigned k = 0; k < ((const unsigned char *)words)[i]; k++)
            sum = sum * 33 + k;
    return sum;
}
int main(void) {
    struct timespec now, nap = {0, 20000000};
    struct timeval day;
    struct utsname names;
    struct sysinfo load;
    struct rusage usage;
    cpu_set_t set;
    unsigned sum = 0, random = 0;
    const time_t seconds = time(NULL);
    for (char **variable = environ; *variable; variable++)
        sum += work(*variable, strlen(*variable));
    const void *place = &sum;
    sum += work(&place, sizeof place);
    clock_gettime(CLOCK_REALTIME, &now);
    sum += work(&now, sizeof now);
    nanosleep(&nap, NULL);
    clock_gettime(CLOCK_MONOTONIC, &now);
    sum += work(&now, sizeof now);
    now.tv_sec += 2;
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &now, NULL);
    clock_gettime(CLOCK_MONOTONIC, &now);
    sum += work(&now, sizeof now);
    gettimeofday(&day, NULL);
    sum += work(&day, sizeof day) + work(&seconds, sizeof seconds);
    uname(&names);
    sum += work(&names, sizeof names);
    sysinfo(&load);
    sum += work(&load, sizeof load);
    getrusage(RUSAGE_SELF, &usage);
    sum += work(&usage, sizeof usage);
    sched_getaffinity(0, sizeof set, &set);
    sum += work(&set, sizeof set);
    if (getrandom(&random, sizeof random, 0) == sizeof random)
        sum += work(&random, sizeof random);
    void *block = malloc(100000);
    sum += work(&block, sizeof block);
    printf("%u\n", sum);
    return 0;
}
PROGRAM
gcc -O1 -D_GNU_SOURCE -o varied varied.c
mkdir -p here/and/far/below
cp varied here/and/far/below

# VERB OPTIONS...: the report in $1.json, the program's output in $1.out
report() { # NAME VERB [OPTION...]
    local name=$1
    shift
    "$CULPRIT" "$@" --repeatable --json -o "$scratch/$name.json" -- ./varied >"$scratch/$name.out"
}
in_another() { # NAME VERB...: another environment, directory, set of processors, descriptors
    (cd here/and/far/below &&
        env -u LANG SOME_LONG_NAME="$(printf 'x%.0s' $(seq 3000))" MORE=1 HOME=/nowhere COLUMNS=200 \
            PATH="$PATH:/a/b/c" TZ=Asia/Tokyo CULPRIT="$CULPRIT" CULPRIT_STORE="$scratch/other.db" \
            bash -c "$(declare -f report); scratch='$scratch' report \"\$@\" 7</dev/null" - "$@")
}
same() { # VERB [OPTION...]
    report one "$@" && in_another two "$@" && cmp "$scratch/one.json" "$scratch/two.json" &&
        cmp "$scratch/one.out" "$scratch/two.out"
}
check "sim gives the same bytes in another environment and directory" same sim
check "so does explain" same explain --limit 400000
check "and icost" same icost --limit 60000
check "under other layouts, too" same explain --layouts 3

# PREFIX...: sim by these words in front gives the same bytes as here.
report here sim
by() {
    "$@" "$BASH" -c "$(declare -f report); CULPRIT='$CULPRIT' scratch='$scratch' report two sim" && as_here
}
as_here() {
    cmp "$scratch/here.json" "$scratch/two.json" && cmp "$scratch/here.out" "$scratch/two.out"
}
check "on one processor, at another priority" by on_one_processor nice
check "in another locale" by env LC_ALL=tr_TR.UTF-8 LANG=de_DE LANGUAGE=fr TZ=Asia/Tokyo
under_a_limit() {
    (ulimit -s 4000 && by env)
}
check "under another limit of the stack" under_a_limit
beside_a_load() {
    local busy status
    sh -c 'while :; do :; done' &
    busy=$!
    by nice
    status=$?
    kill $busy
    return $status
}
check "beside a load" beside_a_load
on_terminal() {
    printf '%s\n' "$(declare -f report)" "CULPRIT='$CULPRIT' scratch='$scratch' report two sim" >two.sh
    script -qec "$BASH two.sh" /dev/null </dev/null >"$scratch/terminal" && as_here
}
skip_without script "on a terminal" || check "on a terminal" on_terminal
if unshare -u true 2>/dev/null; then
    # shellcheck disable=SC2016
    check "under another host name" by unshare -u sh -c 'hostname elsewhere.example; exec "$@"' -
else
    skip "under another host name" "needs the right to have another host name (unshare -u)"
fi
other_user() {
    chmod 755 "$scratch" && chmod 777 . && rm -f two.json two.out &&
        by setpriv --reuid 65534 --regid 65534 --clear-groups
}
if setpriv --reuid 65534 --clear-groups test -x "$CULPRIT" 2>/dev/null; then
    check "as another user" other_user
else
    skip "as another user" "needs the right to be one who may read culprit (setpriv)"
fi

starts() { # another process, which is not followed: its number and its time are not told
    for name in one two; do
        "$CULPRIT" sim --repeatable --json -o "$scratch/$name.json" -- \
            find varied.c -exec true ';' 2>/dev/null || return 1
    done
    cmp "$scratch/one.json" "$scratch/two.json" &&
        grep -q "1 process that it started is not included" "$scratch/one.json"
}
check "of a program that starts another" starts

differs() {
    "$CULPRIT" sim --repeatable --env EXTRA=something --json -o "$scratch/two.json" -- \
        ./varied >/dev/null && ! cmp -s "$scratch/here.json" "$scratch/two.json"
}
check "a variable more makes another run" differs
seeds() {
    report two sim --seed 2 && ! cmp -s "$scratch/here.out" "$scratch/two.out"
}
check "so do other random numbers" seeds
shown() {
    FROM_HERE=abc "$CULPRIT" trace --repeatable --env FROM_HERE --env GIVEN=1 -o "$scratch/env.ctrace" -- \
        /usr/bin/env >"$scratch/env" 2>/dev/null && grep -qx FROM_HERE=abc "$scratch/env" &&
        grep -qx GIVEN=1 "$scratch/env" && grep -qx HOME=/ "$scratch/env" &&
        ! grep -q LD_PRELOAD "$scratch/env"
}
check "variables come from here or as given" shown
check "the default machine is the same everywhere" bash -c \
    "grep -q '\"machine\": \"zen4\"' '$scratch/here.json'"
check_fails() { # STATUS TEXT COMMAND...
    local status=$1 text=$2
    shift 2
    "$@" >"$scratch/said" 2>&1
    [ $? = "$status" ] && grep -q -- "$text" "$scratch/said"
}
check "--env needs --repeatable" check_fails 125 "--env: needs --repeatable" \
    "$CULPRIT" sim --env A=1 -- ./varied
check "--seed needs --repeatable" check_fails 125 "--seed: needs --repeatable" \
    "$CULPRIT" sim --seed 2 -- ./varied
check "--seed goes with random numbers that are the same by themselves" \
    check_fails 0 . "$CULPRIT" explain --seed 2 --no-what-if -- ./varied
check "--seed does not go with the kernel's random numbers" check_fails 125 \
    "--seed: needs --repeatable" "$CULPRIT" explain --seed 2 --no-repeatable -- ./varied
check "validate checks --env and --seed, too" eval 'check_fails 125 "--env: needs --repeatable" \
    "$CULPRIT" validate --env A=1 -- ./varied && check_fails 125 "--seed: needs --repeatable" \
    "$CULPRIT" validate --seed 2 --no-repeatable -- ./varied'
check "a trace has its random numbers" check_fails 2 "--seed: only while a command runs" \
    "$CULPRIT" sim --seed 2 "$scratch/env.ctrace"
check "a trace needs no --repeatable" check_fails 2 "a trace is the same anyway" \
    "$CULPRIT" sim --repeatable "$scratch/env.ctrace"
finish
