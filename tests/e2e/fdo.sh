# culprit fdo: profiles for compilers are exact, the same from a trace, and read by the tools that they
# are for.
. tests/e2e/lib.sh

bare="-static -nostdlib -no-pie -Wl,-Ttext=0x401000"
# shellcheck disable=SC2086
cc -o "$scratch/compiled" tests/guests/compiled.S $bare || exit 1
cat >"$scratch/kinds.c" <<'END'
#include <stdlib.h>
static volatile int seed = 1;
__attribute__((noinline)) static int rare(int x) { return x * 3 + seed; }
static int step(int x) { return x & 1 ? 3 * x + 1 : x / 2; }
__attribute__((noinline)) int often(int x) {
    int steps = 0;
    while (x != 1) {
        x = step(x);
        if (steps > 1000)
            x = rare(x);
        steps++;
    }
    return steps;
}
static int order(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
int main(void) {
    int all[1000];
    for (int i = 0; i < 1000; i++)
        all[i] = often(seed + 1000 - i);
    qsort(all, 1000, sizeof *all, order);
    seed = all[0];
    return 0;
}
END
cc -O1 -g1 -o "$scratch/kinds" "$scratch/kinds.c" || exit 1
for program in compiled kinds; do
    run trace --output "$scratch/$program.ctrace" -- "$scratch/$program" >/dev/null 2>&1
done

same_from_trace() {
    local format
    for format in autofdo bolt ranges; do
        run fdo --format $format -o "$scratch/live" -- "$scratch/compiled" &&
            run fdo --format $format -o "$scratch/read" "$scratch/compiled.ctrace" &&
            same_file "$scratch/live" "$scratch/read" && [ -s "$scratch/live" ] || return 1
    done
}
check "a command and its trace give the same profile, in every format" same_from_trace

# The lines of a program without discriminators, its inlined function, and what the C library calls.
lines_are_counted() {
    run fdo -o "$scratch/kinds.afdo" "$scratch/kinds.ctrace" && cat "$scratch/kinds.afdo" &&
        grep -q '^often:[0-9]*:1000$' "$scratch/kinds.afdo" &&
        grep -q '^main:[0-9]*:1$' "$scratch/kinds.afdo" &&
        grep -qE '^order:[0-9]+:[1-9][0-9]{3}$' "$scratch/kinds.afdo" &&
        grep -qE '^ [0-9.]+: 1000 often:1000$' "$scratch/kinds.afdo" &&
        grep -qE '^ [0-9.]+: step:[1-9][0-9]*$' "$scratch/kinds.afdo" && ! grep -q '^rare' "$scratch/kinds.afdo"
}
check "lines, entries, calls and what was inlined are counted" lines_are_counted

merged() {
    run fdo -o "$scratch/kinds.afdo" "$scratch/kinds.ctrace" &&
        llvm-profdata merge --sample --text -o "$scratch/twice" "$scratch/kinds.afdo" "$scratch/kinds.afdo" &&
        grep -q '^often:[0-9]*:2000$' "$scratch/twice" &&
        grep -qE ' [0-9.]+: 2000 often:2000$' "$scratch/twice"
}
skip_without llvm-profdata "llvm-profdata merges profiles" || check "llvm-profdata merges profiles" merged

# Of a profile clang makes weights, each count and 1 more. Of numbers up to 1000 the loop makes as many
# steps as it always does; a third of them are odd.
used() {
    local flags="-O2 -g1 -fdebug-info-for-profiling"
    # shellcheck disable=SC2086
    clang $flags -o "$scratch/before" "$scratch/kinds.c" &&
        run fdo -o "$scratch/used.afdo" -- "$scratch/before" &&
        clang $flags -fprofile-sample-use="$scratch/used.afdo" \
            -S -emit-llvm -o "$scratch/used.ll" "$scratch/kinds.c" 2>"$scratch/said" || return 1
    cat "$scratch/said"
    grep '!prof\|entry_count\|branch_weights' "$scratch/used.ll"
    [ ! -s "$scratch/said" ] && grep -q '"function_entry_count", i64 1001' "$scratch/used.ll" &&
        grep -q '"branch_weights", i32 39981, i32 19705' "$scratch/used.ll"
}
clang_runs() {
    has clang && echo 'int main(void) { return 0; }' | clang -x c -o "$scratch/runs" - 2>/dev/null
}
if clang_runs; then check "clang optimises by it" used; else skip "clang optimises by it" "no clang here"; fi

# The same program, said to be of another language.
of_language() { # CODE (in hexadecimal, DW_LANG_...)
    cc -O1 -g1 -dA -S -o "$scratch/other.s" "$scratch/kinds.c" &&
        sed -i "/\.byte/s/0x[0-9a-f]*\([^0-9a-f].*DW_AT_language\)/$1\1/" "$scratch/other.s" &&
        cc -o "$scratch/other" "$scratch/other.s"
}
advised() { # FORMAT, and what is told
    run fdo --format "$1" -o "$scratch/other.$1" -- "$scratch/other" 2>"$scratch/said" && grep -qE "$2" "$scratch/said" || { cat "$scratch/said"; return 1; }
}
languages() {
    of_language 0x1c && advised autofdo '^next: rustc .*-Z profile-sample-use=.*/other.autofdo$' &&
        advised ranges '^next: create_llvm_prof .*--out=' && advised bolt '^next: llvm-bolt ' || return 1
    of_language 0x16 && advised autofdo "^note: Go's compiler reads no such profile, but samples of pprof \(from Go 1.20 on\)$" &&
        advised autofdo '^next: culprit record --stacks -- .*/other && culprit epochs export --format pprof other.pgo && go build -pgo=other.pgo$' || return 1
    of_language 0xc && advised autofdo '^next: clang ' && advised ranges '^next: create_gcov '
}
check "what to do with a profile is told for the program's language" languages

# What is advised for a program of Go, as it stands there: its compiler then inlines a call that it
# takes for too large otherwise.
mkdir "$scratch/go" && cat >"$scratch/go/main.go" <<'END'
package main

func step(x uint64, bits []uint64) uint64 {
	for i, bit := range bits {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		if x&bit != 0 {
			x = x*3 + bit<<(uint(i)&7)
		} else {
			x = x>>1 ^ bit*bit + x<<9
		}
		x += (x<<9|x>>3)*(x>>5|x<<1) - (x^3)*(x>>9) + (x&^bit)*(x|bit)
		x ^= (x<<3|x>>5)*(x>>11|x<<2) + (x^bit)*(x>>7) + (x|1)*(bit|3)
	}
	return x
}

func main() {
	x, bits := uint64(88172645463325252), []uint64{1, 2, 4, 8, 16, 32}
	for i := 0; i < 5000000; i++ {
		x = step(x, bits)
	}
	println(x)
}
END
used_by_go() (
    local step='inlining call to step'
    export GOCACHE=$scratch/go-cache GOTOOLCHAIN=local GOFLAGS=-gcflags=-m CULPRIT_STORE=$scratch/go.db
    culprit() { run "$@" >/dev/null; }
    cd "$scratch/go" && printf 'module hot\n\ngo 1.21\n' >go.mod && go build >plain 2>&1 || return 1
    ! grep "$step" plain && run fdo -o hot.afdo -- ./hot 2>said && cat said &&
        eval "$(sed -n 's/^next: //p' said)" >guided 2>&1 || { cat plain guided; return 1; }
    grep "$step" guided || { cat guided; return 1; }
)
# Older ones have no GOTOOLCHAIN, and tell in no DWARF where functions begin.
if [ "$(go env GOTOOLCHAIN 2>/dev/null)" ]; then
    check "Go optimises by samples, as is advised" used_by_go
else
    skip "Go optimises by samples, as is advised" "no go 1.21 or later here"
fi

bolted() {
    cc -O1 -Wl,-q -o "$scratch/linked" "$scratch/kinds.c" &&
        run fdo --format bolt -o "$scratch/linked.fdata" -- "$scratch/linked" &&
        "$bolt" "$scratch/linked" -o "$scratch/bolted" -data="$scratch/linked.fdata" \
            -reorder-blocks=ext-tsp >"$scratch/said" 2>&1
    local made=$?
    cat "$scratch/said"
    [ $made = 0 ] || return 1
    ! grep -q 'ERROR\|stale\|mismatch' "$scratch/said" && "$scratch/bolted"
}
bolt=$(compgen -c llvm-bolt | grep -E '^llvm-bolt(-[0-9]+)?$' | head -n 1)
if [ -n "$bolt" ]; then
    check "llvm-bolt optimises by it" bolted
else
    skip "llvm-bolt optimises by it" "no llvm-bolt here"
fi

of_a_library() {
    run fdo --format ranges --image libc.so.6 -o "$scratch/libc.ranges" "$scratch/kinds.ctrace" >"$scratch/said" &&
        cat "$scratch/said" && grep -q 'libc.so.6' "$scratch/said" && [ "$(head -n 1 "$scratch/libc.ranges")" -gt 100 ]
}
check "--image takes a library" of_a_library

tells() {
    run fdo --json -o "$scratch/told" "$scratch/kinds.ctrace" >"$scratch/told.json" &&
        report=$scratch/told.json told 'r["format"] == "autofdo"' 'r["image"].endswith("/kinds")' \
            'r["functions"] == 3' '0 < r["instructions"] < r["all_instructions"]' \
            'sum(i["instructions"] for i in r["images"]) == r["all_instructions"]' 'not r["partial"]'
}
check "--json tells what was written" tells

# The mark of each linker or compiler stays when the rest is stripped.
without_lines() { # WHAT IT HAS (assembly), and what is told
    { cat "$scratch/kinds.c" && echo "__asm__(\"$1\");"; } >"$scratch/marked.c" &&
        cc -O1 -s -o "$scratch/marked" "$scratch/marked.c" &&
        fails_with 125 "no line numbers are known of what it executes \($2\)" \
            run fdo -o "$scratch/marked.afdo" -- "$scratch/marked"
}
languages_without_lines() {
    without_lines '.ident \"rustc version 1.95.0\"' 'compile it with -C debuginfo=1 -Z debug-info-for-profiling' &&
        without_lines '.section .go.buildinfo,\"a\"; .byte 0; .text' 'link it without -s and -w' &&
        without_lines '.text' 'compile it with -g1 -fdebug-info-for-profiling'
}
check "how it gets line numbers is told for the program's language" languages_without_lines

# A failure leaves the file as it was.
refuses() {
    echo old >"$scratch/kept" && cp "$scratch/kinds" "$scratch/stripped" && strip "$scratch/stripped" &&
        fails_with 1 "--image libm.so: nothing of it was executed \(the most was of " \
            run fdo --image libm.so -o "$scratch/kept" "$scratch/kinds.ctrace" &&
        fails_with 125 "no line numbers are known of what it executes \(compile it with -g1" \
            run fdo -o "$scratch/kept" -- "$scratch/stripped" &&
        fails_with 125 "no functions are known that it executes" \
            run fdo --format bolt -o "$scratch/kept" -- "$scratch/stripped" &&
        fails_with 2 "what to profile\?" run fdo &&
        fails_with 2 "'gcov' is none of autofdo, bolt, ranges|--format gcov" run fdo --format gcov x.ctrace &&
        fails_with 1 "missing.ctrace" run fdo -o "$scratch/kept" "$scratch/missing.ctrace" &&
        fails_with 127 "no-such-program" run fdo -o "$scratch/kept" -- no-such-program &&
        fails_with 2 "only while a command runs" run fdo --skip 5 -o "$scratch/kept" "$scratch/kinds.ctrace" &&
        cp "$scratch/kinds" "$scratch/itself" && fails_with 2 "would be written over" \
            run fdo -o "$scratch/itself" "$scratch/itself" && cmp "$scratch/kinds" "$scratch/itself" &&
        fails_with 2 "would be written over" run fdo "$scratch/kinds.ctrace" -o "$scratch/./kinds.ctrace" &&
        [ "$(cat "$scratch/kept")" = old ]
}
check "what cannot be profiled is refused, and no file is touched" refuses

by_another_path() {
    ln -sf "$scratch/kinds" "$scratch/link" &&
        run fdo --format ranges --image "$scratch/link" -o "$scratch/ranges" "$scratch/kinds.ctrace" | grep -q 'kinds '
}
check "a file is meant by any of its paths" by_another_path

# A command that is killed is profiled up to there.
# However slowly the command begins here.
partial() {
    local seconds
    for seconds in 0.2 1 5 25; do
        run fdo --for ${seconds}s --format ranges -o "$scratch/partial" -- sh -c 'while :; do :; done' 2>"$scratch/said" && break
        grep -q 'before anything of the program was executed' "$scratch/said" || break
    done
    cat "$scratch/said"
    [ "$(head -n 1 "$scratch/partial")" -gt 10 ]
}
check "a command that does not end is profiled for a time" partial

# Its library's constructor runs before it does: all that was executed is the loader's and the library's.
interrupted_early() {
    mkdir -p "$scratch/early" && cd "$scratch/early" || return 1
    cat >waits.c <<'END'
#include <fcntl.h>
#include <unistd.h>
__attribute__((constructor)) static void waits(void) {
    close(creat("began", 0666));
    while (1)
        pause();
}
int waited;
END
    echo 'extern int waited; int main(void) { return waited; }' >early.c
    cc -shared -fPIC -o libwaits.so waits.c && cc -o early early.c ./libwaits.so || return 1
    "$CULPRIT" fdo -o early.afdo -- ./early 2>said &
    local process=$! status
    until_true $process test -e began || return 1
    kill -INT $process
    wait $process
    status=$?
    cat said
    [ $status = 130 ] && grep -q '^culprit: interrupted before anything of the program was executed$' said && [ ! -e early.afdo ]
}
check "interrupted before the program begins, there is no profile" interrupted_early
over_early() {
    local seconds
    for seconds in 1ms 1s; do
        run fdo --for $seconds -o early.afdo -- ./early 2>"$scratch/said"
        [ $? = 125 ] && [ ! -e early.afdo ] && [ "$(without_progress "$scratch/said" | wc -l)" = 2 ] &&
            grep -qE '^culprit: --for 1.00? m?s: the time was over before anything of the program was executed \(give it more\)$' "$scratch/said" ||
            { cat "$scratch/said"; return 1; }
    done
}
check "... nor where the time is over before" over_early

# Ctrl-C on a terminal reaches the command as well, which may end before the capture does.
interrupted_with_command() {
    local process status
    rm -f "$scratch/began"
    setsid env --default-signal=INT "$CULPRIT" "$@" --json -o "$scratch/cut" -- \
        sh -c ': >"$0"; while :; do :; done' "$scratch/began" 2>"$scratch/said" &
    process=$!
    until_true $process test -e "$scratch/began" || return 1
    kill -INT -- -$process
    wait $process
    status=$?
    cat "$scratch/said"
    [ $status = 130 ] && grep -q '"partial": true' "$scratch/said"
}
check "interrupted with its command, a profile is partial" interrupted_with_command fdo --format ranges
check "so are basic block vectors" interrupted_with_command bbv --size 10k

finish
