#!/bin/bash
# run.sh BUILD [unit|e2e|browser|cluster|fleet|soak]: runs the tests against what was built in BUILD; without a kind, the
# unit tests and the end-to-end tests.
#
# A test file is a cmocka program (BUILD/tests/test_*) or a script (tests/e2e/*.sh, tests/browser/*.sh,
# tests/fleet/*.sh, tests/soak/*.sh);
# both print TAP: `ok N name`, `not ok N name`, `... # SKIP reason`, and the plan `1..N`. Each file
# runs with a time limit, JOBS of them at once. A file that dies, ends early, or prints no result
# counts as a failure of its own. Prints one line per file, with the time and the processor time that
# it took, then whatever the failed ones said and the names of their failed tests, and closes with
# `N passed, N failed, N skipped`; the exit status is 0 only without failures.
set -u
cd "$(dirname "$0")/.." || exit 1
build=$1
kind=${2:-}
export LC_ALL=C.UTF-8 TZ=UTC
export CULPRIT="$PWD/$build/culprit" CULPRIT_BUILD="$PWD/$build"
export WORKLOADS="$PWD/build/workloads"
export CMOCKA_MESSAGE_OUTPUT=TAP
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:abort_on_error=0}
# Packages' own programs first: a wrapper of python3 that chooses among versions costs half a second.
export PATH=/usr/bin:/bin:$PATH
unset CULPRIT_MACHINE CULPRIT_MACHINES XDG_CONFIG_HOME NO_COLOR

files=()
jobs=${JOBS:-$(($(nproc) + 1))} # one waits now and then
case $kind in
unit) files=("$build"/tests/test_*) ;;
e2e) files=(tests/e2e/*.sh) ;;
cluster) files=(tests/cluster/*.sh) jobs=1 ;;
soak) files=(tests/soak/*.sh) jobs=1 ;;
browser) files=(tests/browser/*.sh) jobs=1 ;;
fleet) files=(tests/fleet/*.sh) ;;
'') files=(tests/e2e/*.sh "$build"/tests/test_*) ;;
*) echo "run.sh: the kind of tests is unit, e2e, browser, cluster, fleet or soak, not '$kind'" >&2; exit 2 ;;
esac

# What takes longest begins first, so that no processor waits for it at the end.
longest=()
for name in daemon status explain_regions explain record trace_regions validate stacks signals; do
    for i in "${!files[@]}"; do
        [[ ${files[i]} == tests/e2e/$name.sh ]] && longest+=("${files[i]}") && unset "files[i]"
    done
done
files=(${longest[@]+"${longest[@]}"} "${files[@]}")

results=$(mktemp -d) || exit 1
trap 'rm -rf "$results"' EXIT

limit_of() {
    case $1 in
    tests/soak/*) echo 7200 ;;
    tests/cluster/*) echo 3600 ;;
    tests/e2e/* | tests/fleet/*) echo "${E2E_TIMEOUT:-1200}" ;;
    *) echo "${UNIT_TIMEOUT:-600}" ;;
    esac
}

# Runs one file; leaves NAME.log (all it said) and NAME.count (passed failed skipped).
run_file() {
    local file=$1 name limit status start seconds used
    name=$(basename "$file" .sh)
    limit=$(limit_of "$file")
    start=$EPOCHREALTIME
    if [[ $file == *.sh ]]; then
        timeout -k 5 "$limit" bash "$file" </dev/null >"$results/$name.log" 2>&1
    else
        timeout -k 5 "$limit" "$file" </dev/null >"$results/$name.log" 2>&1
    fi
    status=$?
    seconds=$(awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }')
    # What this subshell has waited for: the second line is of its children, as 0m1.234s 0m0.567s.
    times >"$results/$name.times"
    used=$(awk 'NR == 2 { for (i = 1; i <= 2; i++) { split($i, part, /[ms]/); sum += 60 * part[1] + part[2] } }
        END { printf "%.1f", sum }' "$results/$name.times")
    echo "$used" >"$results/$name.used"
    # The exit status of cmocka and of our scripts is not 0 when a test failed; it tells more only
    # when no failed test explains it.
    awk -v status="$status" -v limit="$limit" '
        /^1\.\.[0-9]+/ { split($1, plan, /\.\./); planned += plan[2] }
        /^(not )?ok .*# *(SKIP|skip)/ { skipped++; next }
        /^ok / { passed++ }
        /^not ok / { failed++ }
        END {
            ran = passed + failed + skipped
            if (status == 124 || status == 137)
                reason = "stopped after " limit " s"
            else if (status > 128)
                reason = "died of signal " status - 128
            else if (status && !failed)
                reason = "ended with status " status
            else if (!ran)
                reason = "printed no result"
            else if (ran < planned)
                reason = "ran only " ran " of " planned " tests"
            if (reason)
                failed++
            printf "%d %d %d %s\n", passed, failed, skipped, reason
        }' "$results/$name.log" >"$results/$name.count"
    local passed failed skipped reason
    read -r passed failed skipped reason <"$results/$name.count"
    printf '%-4s %-34s %4d passed%s%s  %6s s, %5s of a processor%s\n' "$([[ $failed == 0 ]] && echo ok || echo FAIL)" \
        "$name" "$passed" "$([[ $failed == 0 ]] || echo ", $failed failed")" \
        "$([[ $skipped == 0 ]] || echo ", $skipped skipped")" "$seconds" "$used" "${reason:+  ($reason)}"
    [[ $failed == 0 ]] || grep -A 8 '^not ok ' "$results/$name.log" | grep -E '^(not ok|#)' | cut -c 1-200 | head -n 40
}

running=0
for file in "${files[@]}"; do
    [[ -f $file && $file != */lib.sh && $file != *.d ]] || continue
    # A program left over from a test whose source is gone is no test.
    [[ $file == *.sh || -f tests/unit/$(basename "$file").c ]] || continue
    if ((running >= jobs)); then
        wait -n
        running=$((running - 1))
    fi
    run_file "$file" &
    running=$((running + 1))
done
wait

passed=0 failed=0 skipped=0
for count in "$results"/*.count; do
    [[ -f $count ]] || continue
    read -r p f s _ <"$count"
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
done
for count in "$results"/*.count; do
    [[ -f $count ]] || continue
    read -r _ f _ reason <"$count"
    if ((f)); then
        echo
        echo "---- $(basename "$count" .count) failed${reason:+: $reason}"
        grep -vE '^ok [0-9]+ ' "${count%.count}.log" | tail -n 200
    fi
done
if ((skipped)); then
    echo
    echo "skipped:"
    grep -hE '^(not )?ok .*# *(SKIP|skip)' "$results"/*.log | sed -E 's/^(not )?ok [0-9]+ /  /' | sort | uniq -c
fi
echo
if ((passed + failed + skipped == 0)); then
    echo "no tests were found in $build" >&2
    failed=1
fi
# Once more by name, so that the end of a long log tells which.
for log in "$results"/*.log; do
    grep -H '^not ok ' "$log" | grep -vE '# *(SKIP|skip)' | sed -E 's|^.*/([^/]*)\.log:not ok [0-9]+ |FAILED \1: |'
done
cat "$results"/*.used 2>/dev/null | awk '{ sum += $1 } END { printf "%.0f s of processors\n", sum }'
echo "$passed passed, $failed failed, $skipped skipped"
((failed == 0))
