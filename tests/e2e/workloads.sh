# Every workload runs on this machine and under qemu-riscv64, and prints the same checksum.
. tests/e2e/lib.sh

# Arguments that make each short.
small() {
    case $1 in
    chase) echo 20000 1 4096 ;;
    lists) echo 5000 16384 ;;
    pending) echo 20000 4096 ;;
    bipartite) echo 1 2000 ;;
    quadtree) echo 2 8 ;;
    stream | copyloop) echo 2 10000 ;;
    stencil) echo 2 2000 ;;
    lbm) echo 2 2000 ;;
    meanshift) echo 8 ;;
    nab) echo 64 2 ;;
    hashjoin) echo 20000 5000 ;;
    branchy) echo 10000 5000 ;;
    interpreter) echo 5000 ;;
    matmul) echo 40 1 ;;
    nbody) echo 20 ;;
    strings) echo 100 ;;
    bigcode) echo 2 ;;
    pages) echo 20000 512 ;;
    packed) echo packed 5000 ;;
    threads) echo 5000 3 ;;
    counters) echo together 3 20000 ;;
    tallies) echo static 3 20000 ;;
    critical) echo long 3 4 ;;
    barrier) echo uneven 3 1 ;;
    queue) echo uneven 3 100 ;;
    readmostly) echo rwlock 3 5000 ;;
    bandwidth) echo memory 3 50000 1 ;;
    *) echo 20000 ;;
    esac
}

same_checksum() {
    local native riscv
    # shellcheck disable=SC2046
    native=$("$WORKLOADS/x86_64/$1" $(small "$1")) || return 1
    # shellcheck disable=SC2046
    riscv=$(timeout 300 qemu-riscv64 "$WORKLOADS/riscv64/$1" $(small "$1")) || return 1
    echo "x86-64: $native"
    echo "riscv64: $riscv"
    [ -n "$native" ] && [ "$native" = "$riscv" ]
}

refuses_nonsense() {
    "$WORKLOADS/x86_64/$1" nonsense
    [ $? = 2 ]
}

# glibc's ceil and floor save and restore the fp flags: what the ceil workload is for.
ceil_saves_flags() {
    riscv64-linux-gnu-objdump -d --disassemble=__ceil "$WORKLOADS/riscv64/ceil" >"$scratch/ceil"
    riscv64-linux-gnu-objdump -d --disassemble=__floor "$WORKLOADS/riscv64/ceil" >"$scratch/floor"
    for function in ceil floor; do
        grep -q frflags "$scratch/$function" && grep -q fsflags "$scratch/$function" || return 1
    done
    # and the kernel calls them
    riscv64-linux-gnu-objdump -d --disassemble=round_both_ways "$WORKLOADS/riscv64/ceil" |
        grep -cE 'jal.*<__(ceil|floor)>|jal.*<(ceil|floor)>' | grep -qx 2
}

# Its functions together are larger than 256 KB, on both architectures.
bigcode_is_big() {
    local total=0 size
    while read -r size; do
        total=$((total + 16#$size))
    done < <(nm -S --defined-only "$1" | sed -nE 's/^[0-9a-f]+ ([0-9a-f]+) . function_.*/\1/p')
    echo "$total bytes of functions"
    [ "$total" -gt 262144 ]
}

for source in workloads/*.c; do
    name=$(basename "$source" .c)
    what="$name prints the same checksum on x86-64 and riscv64"
    if ! skip_without x86_64-workloads "$what" && ! skip_without riscv64-workloads "$what" &&
        ! skip_without qemu-riscv64 "$what"; then
        check "$what" same_checksum "$name"
    fi
    what="$name refuses a bad argument"
    skip_without x86_64-workloads "$what" || check "$what" refuses_nonsense "$name"
done

what="ceil and floor of riscv64 save the fp flags"
skip_without riscv64-workloads "$what" || skip_without riscv64-linux-gnu-objdump "$what" ||
    check "$what" ceil_saves_flags
for isa in x86_64 riscv64; do
    what="the code of bigcode exceeds 256 KB on $isa"
    skip_without $isa-workloads "$what" || check "$what" bigcode_is_big "$WORKLOADS/$isa/bigcode"
done

# Chains share the work: the same lines are visited, from other starting points.
several_chains() {
    [ "$("$WORKLOADS/x86_64/chase" 4096 4 1024)" != "" ] &&
        "$WORKLOADS/x86_64/chase" 100 9 1024
    [ $? = 2 ]
}
what="chase takes 1 to 8 chains"
skip_without x86_64-workloads "$what" || check "$what" several_chains

prefetch_changes_nothing() {
    [ "$("$WORKLOADS/x86_64/lbm" 2 3000)" = "$("$WORKLOADS/x86_64/lbm" 2 3000 4)" ]
}
what="lbm computes the same with software prefetch"
skip_without x86_64-workloads "$what" || check "$what" prefetch_changes_nothing

flags_change_nothing() {
    local flag
    for flag in finite-math-only fast-math; do
        [ "$("$WORKLOADS/x86_64/nab" 64 2)" = "$("$WORKLOADS/x86_64/nab-$flag" 64 2)" ] || return 1
    done
}
what="nab computes the same without NaN and with fast arithmetic, to the digits that it prints"
skip_without x86_64-workloads "$what" || check "$what" flags_change_nothing

# The variants of a threaded workload, and any number of threads, compute the same.
variants() {
    case $1 in
    counters) echo together apart shared private ;;
    tallies) echo static static-padded heap heap-padded ;;
    critical) echo long short ;;
    barrier) echo uneven even ;;
    queue) echo uneven even single ;;
    readmostly) echo rwlock mutex published ;;
    bandwidth) echo memory cache ;;
    esac
}
threads_change_nothing() {
    local first _ work variant threads
    read -r first _ work <<<"$(small "$1")"
    for variant in $(variants "$1"); do
        for threads in 1 2 5; do
            # shellcheck disable=SC2086
            timeout 60 "$WORKLOADS/x86_64/$1" "$variant" $threads $work || return 1
        done
    done >"$scratch/said" || return 1
    sort -u "$scratch/said"
    [ "$(sort -u "$scratch/said" | wc -l)" = 1 ] && "$WORKLOADS/x86_64/$1" "$first" 65 2>&1
    [ $? = 2 ]
}
for name in counters tallies critical barrier queue readmostly bandwidth; do
    what="$name computes the same in every variant and with any number of threads"
    skip_without x86_64-workloads "$what" || check "$what" threads_change_nothing "$name"
done

finish
