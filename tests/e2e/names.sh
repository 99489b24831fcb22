# Names of code: what a report says when there are none.
. tests/e2e/lib.sh
export CULPRIT_STORE=$scratch/store
unset DEBUGINFOD_URLS
x86_64=$WORKLOADS/x86_64

# A stripped program of one's own: every verb that names functions says so in the same words.
stripped() {
    strip -o "$scratch/naked" "$x86_64/chase" || return 1
    local verb
    for verb in sim explain profilers; do
        # shellcheck disable=SC2086
        run $verb --skip 4M --stop --limit 100K --output "$scratch/text" -- "$scratch/naked" || return 1
        grep -qE 'functions without names, in stripped files: naked \([0-9.]+ % of cycles\)' "$scratch/text" &&
            grep -q 'naked: of no package' "$scratch/text" || { cat "$scratch/text"; return 1; }
    done
    run sim --save --skip 4M --stop --limit 1M --output "$scratch/text" -- "$scratch/naked" || return 1
    for verb in top annotate; do
        run $verb >"$scratch/text" 2>&1
        grep -q 'in stripped files: naked' "$scratch/text" || { cat "$scratch/text"; return 1; }
    done
}
needed=x86_64-workloads
skip_without $needed "stripped files are named, with what to do" ||
    check "stripped files are named, with what to do" stripped

# One line says it all as JSON; functions have boundaries though they have no name.
bounded() {
    run sim --json --skip 4M --stop --limit 1M --output "$scratch/json" -- "$scratch/naked" || return 1
    report=$scratch/json told \
        'any("in stripped files: naked" in n for n in r["notes"])' \
        'r["functions"][0]["function"] is None and r["functions"][0]["function_size"] > 0'
}
skip_without $needed "stripped functions have boundaries" ||
    check "stripped functions have boundaries" bounded

# What has no line is told by its function, with a name and without one.
without_lines() {
    objcopy --strip-debug "$x86_64/nbody" "$scratch/lineless" && strip -o "$scratch/nameless" "$x86_64/nbody" || return 1
    local program
    for program in lineless nameless; do
        run sim --json --by line --top 0 --output "$scratch/json" -- "$scratch/$program" 2 >/dev/null || return 1
        told_names="mine = lambda rows: sorted((row['offset'], row['function'] or '', row['cycles'])
                                               for row in rows if row['image'] == '$program')" \
            report=$scratch/json told 'len(mine(r["functions"])) > 3' 'mine(r["lines"]) == mine(r["functions"])' || return 1
    done
}
skip_without $needed "code without lines is told by its functions" ||
    check "code without lines is told by its functions" without_lines

# Symbols that are there are not asked for, nor is what took no time.
quiet() {
    run sim --skip 4M --stop --limit 1M --output "$scratch/text" -- "$x86_64/chase" || return 1
    ! grep -E 'without names|of no package' "$scratch/text"
}
skip_without $needed "nothing is said where all has names" ||
    check "nothing is said where all has names" quiet

# A program that was replaced since it was captured lends its names to no one.
replaced() {
    cp "$x86_64/chase" "$scratch/program" &&
        run trace --skip 4M --stop --limit 1M --output "$scratch/t.ctrace" -- "$scratch/program" >/dev/null 2>&1 || return 1
    cp "$x86_64/stream" "$scratch/program.new" && mv "$scratch/program.new" "$scratch/program"
    run sim --output "$scratch/text" "$scratch/t.ctrace" || return 1
    grep -q 'replaced since' "$scratch/text" && ! grep -qE '%  .*kernel' "$scratch/text" || {
        cat "$scratch/text"
        return 1
    }
}
skip_without $needed "a program replaced since its capture" ||
    check "a program replaced since its capture" replaced

# What a command removes when it has run it, or puts something else in the place of, was kept open.
gone() {
    local end
    for end in 'rm gone' 'cp "$2" new && mv new gone'; do
        (cd "$scratch" && run sim --follow --by function -o text -- \
            sh -c "cp \"\$1\" gone && ./gone 100 >ran; $end" - "$x86_64/nbody" "$x86_64/chase") || return 1
        grep -q '%.* attract  *nbody\.c:' "$scratch/text" && ! grep -q 'gone: ' "$scratch/text" || {
            cat "$scratch/text"
            return 1
        }
    done
}
skip_without $needed "a program removed or replaced while the command ran" ||
    check "a program removed or replaced while the command ran" gone

# A newline in a program's name, which the kernel writes in another way where it lists mappings.
broken_name() {
    cp "$x86_64/nbody" "$scratch/n"$'\n'l && run sim --top 3 -o "$scratch/text" -- "$scratch/n"$'\n'l 100 >"$scratch/ran" || return 1
    grep -q '%.* attract  *nbody\.c:' "$scratch/text" && grep -q '% *n.l+0x' "$scratch/text" &&
        ! grep -q 'No such file' "$scratch/text" || { cat "$scratch/text"; return 1; }
}
skip_without $needed "a newline in a program's name" || check "a newline in a program's name" broken_name

# As Fedora ships programs: stripped, with the names of functions compressed in .gnu_debugdata. Every
# verb has them, and the entries of the linkage table by what they jump to.
mini() {
    local program=$scratch/minified verb
    cat >"$scratch/copies.c" <<'C'
#include <string.h>
static __attribute__((noinline)) unsigned hidden_work(char *to, const char *from, unsigned n) {
    for (unsigned i = 0; i < n; i++)
        memcpy(to, from, 1 + to[i % 9] % 8);
    return to[5];
}
int main(int argc, char **argv) {
    static char to[64], from[64];
    memset(from, argc, sizeof from);
    return hidden_work(to, from, 40000) == 77;
}
C
    gcc -O1 -fno-builtin -o "$program" "$scratch/copies.c" &&
        nm "$program" | awk '$2 ~ /[tT]/ { print $3 }' >"$scratch/kept" &&
        objcopy --only-keep-debug "$program" "$scratch/debug" &&
        objcopy -S --remove-section .comment --keep-symbols="$scratch/kept" "$scratch/debug" "$scratch/mini" &&
        strip "$program" && ! nm "$program" 2>/dev/null | grep hidden_work && xz -f "$scratch/mini" &&
        objcopy --add-section .gnu_debugdata="$scratch/mini.xz" "$program" &&
        run trace -o "$scratch/mini.ctrace" -- "$program" >/dev/null 2>&1 &&
        run sim --save -o "$scratch/text" "$scratch/mini.ctrace" || return 1
    while read -r verb; do
        # shellcheck disable=SC2086
        run $verb >"$scratch/text" 2>&1 && grep -qE '(^| )hidden_work( |$)' "$scratch/text" ||
            { echo "$verb"; cat "$scratch/text"; return 1; }
    done <<END
sim --by function $scratch/mini.ctrace
sim --tree $scratch/mini.ctrace
explain --machine alpha21164 $scratch/mini.ctrace
icost --multisim=none --critical --limit 400K $scratch/mini.ctrace
top
top --by procedure
annotate hidden_work
END
    run sim --by function --top 0 "$scratch/mini.ctrace" | grep -qE '% .* memcpy@plt +minified ' &&
        run sim --json -o "$scratch/json" "$scratch/mini.ctrace" &&
        report=$scratch/json told 'any(f["function"] == "hidden_work" and f["image"] == "minified" for f in r["functions"])' \
            'not any("in stripped files: minified" in n for n in r["notes"])'
}
if ! has gcc || ! has objcopy || ! has xz; then
    skip "names in .gnu_debugdata, for every verb" "no gcc, objcopy or xz here"
else
    check "names in .gnu_debugdata, for every verb" mini
fi

# Debian's own programs: the package that the file came in.
debian() {
    seq 200 | run sim --stop --limit 1M --output "$scratch/text" -- "$(command -v bc)" >/dev/null || return 1
    grep -q 'in stripped files: bc' "$scratch/text" || return 1
    tr -d '\\\n' <"$scratch/text" | tr -s ' ' | grep -qE 'sudo apt install .*bc-dbgsym' ||
        { cat "$scratch/text"; return 1; }
}
bc_is_stripped() {
    has bc && [ -e /var/lib/dpkg/info/bc.list ] && ! ls /var/lib/dpkg/info/bc-dbgsym.list >/dev/null 2>&1 &&
        [ "$(command -v bc)" = /usr/bin/bc ]
}
if bc_is_stripped; then
    check "the command for a package of Debian" debian
else
    skip "the command for a package of Debian" "no stripped bc of Debian here"
fi
# guest NAME: builds tests/guests/NAME.c.
guest() {
    gcc -O1 -o "$scratch/$1" "tests/guests/$1.c"
}

# Code that is made at run time has the names that its program gives it: live, from a trace, and where
# regions of two runs are put together, which may lie elsewhere.
made() {
    guest makes_code || return 1
    local verb shares
    for verb in "sim --limit 4M" "explain --machine alpha21164 --limit 4M" "sim --follow --limit 4M" "profilers --limit 4M"; do
        # shellcheck disable=SC2086
        run $verb --json --output "$scratch/json" -- "$scratch/makes_code" 0.02 >"$scratch/map" || return 1
        report=$scratch/json told 'any(f["function"] == "hot loop" and f["image"] == "[anon]" and f["share"] > .8 for f in r["functions"])' ||
            { echo "$verb"; return 1; }
        rm -f "$(cat "$scratch/map")"
    done
    run trace --output "$scratch/made.ctrace" --limit 3M -- "$scratch/makes_code" 0.02 >"$scratch/map" 2>&1
    rm -f "$(cat "$scratch/map")"
    run sim --by image --json --output "$scratch/json" "$scratch/made.ctrace" || return 1
    report=$scratch/json told 'r["functions"][0]["function"] == "hot loop"' \
        'len([i for i in r["images"] if i["image"] == "[anon]"]) == 1'
}
skip_without gcc "code made at run time has names" || check "code made at run time has names" made

# A map that an earlier process of the same number left is not believed: its addresses mean nothing.
stale() {
    cat >"$scratch/stale.c" <<'C'
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
int main(void) {
    unsigned char *code = mmap(0, 4096, 7, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char path[64];
    code[0] = 0xc3;
    snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
    FILE *map = fopen(path, "w");
    fprintf(map, "%lx 10 left behind\n", (unsigned long)code);
    fclose(map);
    struct timespec old[2] = {{1000000000, 0}, {1000000000, 0}};
    utimensat(AT_FDCWD, path, old, 0);
    puts(path);
    for (int i = 0; i < 100000; i++)
        ((void (*)(void))code)();
    return 0;
}
C
    gcc -O1 -D_GNU_SOURCE -include fcntl.h -o "$scratch/stale" "$scratch/stale.c" &&
        run sim --output "$scratch/text" -- "$scratch/stale" >"$scratch/map" || return 1
    rm -f "$(cat "$scratch/map")"
    ! grep 'left behind' "$scratch/text"
}
skip_without gcc "a map left by another process is not taken" ||
    check "a map left by another process is not taken" stale
# Without a map: pieces by address, and the command by which the runtime writes one.
advised() {
    cp "$scratch/makes_code" "$scratch/node" && cp "$scratch/makes_code" "$scratch/luajit" || return 1
    run sim --json --limit 6M --output "$scratch/json" -- "$scratch/node" 0.02 quiet || return 1
    report=$scratch/json told 'r["functions"][0]["image"] == "[anon]" and r["functions"][0]["offset"] > 0' \
        'any("made at run time, without names" in n for n in r["notes"])' \
        'any(n.startswith("to have them: culprit sim") and n.endswith("/node --perf-basic-prof 0.02 quiet") for n in r["notes"])' || return 1
    run sim --limit 6M --output "$scratch/text" -- "$scratch/luajit" 0.02 quiet &&
        grep -q 'luajit writes no map' "$scratch/text" && ! grep -q 'to have them: culprit' "$scratch/text"
}
skip_without gcc "how code made at run time would have names" ||
    check "how code made at run time would have names" advised

# Files whose names a shell would take apart, or a terminal for something else: each next command
# can be copied, and a report is one line to each of what it prints.
named_badly() {
    local trace=$scratch/$'a\nb\033[2Jc d.ctrace' vectors=$scratch/$'a\nb\033[2Jc d.bb' next
    run trace --limit 200K -o "$trace" -- true 2>"$scratch/text" && ! grep -q '^b' "$scratch/text" &&
        ! grep -q $'\033' "$scratch/text" && next=$(sed -n 's/^next: culprit //p' "$scratch/text") &&
        eval "run $next" >/dev/null && run trace --info "$trace" >"$scratch/text" &&
        next=$(sed -n 's/^next: culprit //p' "$scratch/text") && eval "run $next" >/dev/null &&
        run bbv --size 20K -o "$vectors" -- true 2>"$scratch/text" && ! grep -q $'^b\|\033' "$scratch/text" &&
        run trace --info "$trace" --json >"$scratch/json" && report=$scratch/json told 'r["trace"].endswith("/a\nb\x1b[2Jc d.ctrace")' ||
        { cat -v "$scratch/text"; return 1; }
}
check "files with odd names can be named in the next command" named_badly
finish
