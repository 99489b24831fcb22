# The three case studies of experiments/case-*.py, made small: what is blamed, and that the cure
# cures.
. tests/e2e/lib.sh
riscv=$WORKLOADS/riscv64

# cycles REPORT OPTIONS... -- COMMAND...: leaves the report, prints the cycles.
cycles() {
    local report=$1
    shift
    run sim --json --top 40 --output "$scratch/$report" "$@" >/dev/null || return 1
    python3 -S -c 'import json, sys; print(json.load(open(sys.argv[1]))["cycles"])' "$scratch/$report"
}

# share REPORT PATTERN: share of the cycles of the instructions whose text begins so.
share() {
    python3 -S -c '
import json, re, sys
rows = json.load(open(sys.argv[1]))["hot_instructions"]
print(sum(row["share"] for row in rows if re.match(sys.argv[2], row["text"])))' "$scratch/$1" "$2"
}

true_that() {
    echo "$1"
    awk "BEGIN { exit !($1) }"
}

rounding_without_flags() {
    local before after
    python3 -B experiments/lib/nop_out.py "$riscv/meanshift" "$scratch/meanshift" \
        __ceil,__floor frflags,fsflags || return 1
    [ "$(qemu-riscv64 "$riscv/meanshift" 4)" = "$(qemu-riscv64 "$scratch/meanshift" 4)" ] || return 1
    before=$(cycles before --machine boom-tip --from shift_to_mean -- "$riscv/meanshift" 2) &&
        after=$(cycles after --machine boom-tip --from shift_to_mean -- "$scratch/meanshift" 2) &&
        true_that "$(share before 'frflags|fsflags') > 0.3" &&
        true_that "$(share after 'frflags|fsflags') == 0" &&
        # what the flushes expose around them costs more than they do
        true_that "$before / $after > 1 / (1 - $(share before 'frflags|fsflags'))"
}

no_such_instruction() {
    ! python3 -B experiments/lib/nop_out.py "$riscv/ceil" "$scratch/ceil" round_both_ways fsflags
}

# Lattices larger than the last-level cache; the step is the only part that the distance changes.
step_cycles() {
    local start=stream_collide
    [ -n "${1-}" ] && start=stream_collide_prefetched
    cycles "lbm$1" --machine boom-tea --set llc.size=256K --from $start --stop --limit 2M -- \
        "$riscv/lbm" 1 8000 "$@"
}

prefetch_pays() {
    local none near far
    none=$(step_cycles) && near=$(step_cycles 2) && far=$(step_cycles 2000) &&
        true_that "$(share lbm 'ld \w+,152') > 0.2" && true_that "$(share lbm2 'ld \w+,152') < 0.1" &&
        true_that "$none > 1.1 * $near" && true_that "$far > 1.1 * $near"
}

fast_math_pays() {
    local plain finite fast
    plain=$(cycles plain --machine boom-tea --from born_radii -- "$riscv/nab" 64 2) &&
        finite=$(cycles finite --machine boom-tea --from born_radii -- "$riscv/nab-finite-math-only" 64 2) &&
        fast=$(cycles fast --machine boom-tea --from born_radii -- "$riscv/nab-fast-math" 64 2) &&
        true_that "$(share plain 'frflags|fsflags') > 0.1" &&
        true_that "$(share finite 'frflags|fsflags') == 0" &&
        true_that "$plain > 1.3 * $finite" && true_that "$finite > $fast"
}

for name in rounding_without_flags no_such_instruction prefetch_pays fast_math_pays; do
    what="case: ${name//_/ }"
    skip_without riscv64-workloads "$what" || skip_without qemu-riscv64 "$what" ||
        skip_without python3 "$what" || skip_without riscv64-linux-gnu-objdump "$what" ||
        check "$what" $name
done

finish
