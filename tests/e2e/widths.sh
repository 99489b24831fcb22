# Reports on pages of every width: no line is wider, and rows can be told apart.
. tests/e2e/lib.sh
export CULPRIT_STORE=$scratch/store

# fits FILE COLUMNS: no line has more.
fits() {
    python3 -S - "$1" "$2" <<'END'
import sys
lines = open(sys.argv[1], encoding="utf-8").read().split("\n")
widest = max(lines, key=len)
assert len(widest) <= int(sys.argv[2]), (len(widest), widest)
END
}

# items_hang FILE: what goes on with an item stands below its text.
items_hang() {
    awk '/^ - / { item = 1; next } item && /^  [^ ]/ { print; bad = 1 } !/^   / { item = 0 } END { exit bad }' "$1"
}

# Two functions of one template, whose names have 62 columns.
cat >"$scratch/templates.cc" <<'END'
#include <cstdio>
template <class Index> struct AnalysisOfEverything {
    __attribute__((noinline)) unsigned probe_all_rows(unsigned n) {
        for (unsigned i = 0; i < 60000; i++) n = n * Index::factor + i;
        return n;
    }
};
struct HashIndex { static const unsigned factor = 3; };
struct TreeIndex { static const unsigned factor = 5; };
int main(int argc, char **) {
    printf("%u\n", AnalysisOfEverything<HashIndex>().probe_all_rows(argc) +
                       AnalysisOfEverything<TreeIndex>().probe_all_rows(argc));
}
END
templates() {
    g++ -O1 -o "$scratch/templates" "$scratch/templates.cc" &&
        run trace -o "$scratch/templates.ctrace" -- "$scratch/templates" >/dev/null 2>&1 || return 1
    local columns
    for columns in 60 80 100 200; do
        COLUMNS=$columns run sim --top 4 "$scratch/templates.ctrace" >"$scratch/text" &&
            fits "$scratch/text" $columns && python3 -S - "$scratch/text" $columns <<'END' || return 1
import sys
lines = open(sys.argv[1], encoding="utf-8").read().split("\n")
first = next(i for i, line in enumerate(lines) if line.startswith("  share    CPI"))
names = [line[16:].split("  ")[0] for line in lines[first + 1:first + 3]]
print(names)
assert names[0] != names[1] and all("Index>::pr" in name for name in names)
assert names[0].endswith("probe_all_rows(unsigned int)") == (int(sys.argv[2]) == 200)
END
    done
    # Whole, in a file of which nobody told the width, and where they are asked for.
    local whole='AnalysisOfEverything<HashIndex>::probe_all_rows(unsigned int)'
    (unset COLUMNS && run sim --top 4 "$scratch/templates.ctrace" | grep -qF "$whole") &&
        COLUMNS=60 run sim --top 4 --wide "$scratch/templates.ctrace" | grep -qF "$whole"
}
skip_without g++ "functions of one template are told apart at every width" ||
    check "functions of one template are told apart at every width" templates

# The next command is one line, though the name has 61 columns, and does what it says.
next_command() {
    local next
    run sim --save --output "$scratch/text" "$scratch/templates.ctrace" && run top >"$scratch/top.txt" &&
        next=$(sed -n 's/^next: culprit //p' "$scratch/top.txt") && [ "$(grep -A 9 '^next' "$scratch/top.txt" | wc -l)" = 1 ] &&
        eval "run $next" | grep -qF 'AnalysisOfEverything<' || { cat "$scratch/top.txt"; return 1; }
}
skip_without g++ "the next command is short enough to copy" ||
    check "the next command is short enough to copy" next_command

# Every verb that has the trace, or what is saved of it, in a narrow page and in a wide one.
verbs() {
    local trace=$scratch/templates.ctrace columns
    run sim --save --limit 200K -o "$scratch/text" "$trace" || return 1
    for columns in 60 80 200; do
        while read -r verb; do
            # shellcheck disable=SC2086
            COLUMNS=$columns run $verb >"$scratch/text" 2>&1 </dev/null &&
                sed '/^next: /,/[^\\]$/d' "$scratch/text" >"$scratch/tables" && # words of commands are not broken
                fits "$scratch/tables" $columns && ! grep -n ' $' "$scratch/text" && items_hang "$scratch/text" || { echo "$columns: $verb"; cat "$scratch/text"; return 1; }
        done <<END
explain --legend --limit 100K $trace
icost --critical --slack --loads --limit 100K $trace
icost --multisim=none --loads --limit 300K -- $WORKLOADS/x86_64/branchy
profilers --limit 100K $trace
predict --limit 100K $trace
sweep --limit 100K --set core.rob=64,256 --cost core.rob $trace
top --by line
annotate probe_all_rows
diff --epoch 1 --epoch 2
epochs
machines
END
    done
}
skip_without g++ "every verb fits a narrow page and a wide one" ||
    check "every verb fits a narrow page and a wide one" verbs

# What fits the narrowest page, but for commands to copy.
narrowest() {
    local trace=templates.ctrace verb # paths are not broken
    cd "$scratch" || return 1
    for verb in "sim --top 4 $trace" "explain --no-what-if --limit 100K $trace" "icost --limit 100K $trace" "top --by line" machines; do
        # shellcheck disable=SC2086
        COLUMNS=40 run $verb >"$scratch/text" 2>&1 </dev/null &&
            grep -v ': culprit ' "$scratch/text" >"$scratch/tables" && fits "$scratch/tables" 40 ||
            { echo "$verb"; cat "$scratch/text"; return 1; }
    done
}
skip_without g++ "the reports of a run, and the machines, fit 40 columns" ||
    check "the reports of a run, and the machines, fit 40 columns" narrowest

upgrades() {
    COLUMNS=60 run explain --limit 100K "$scratch/templates.ctrace" >"$scratch/text" 2>&1 &&
        grep -A 8 '^what if the machine were larger' "$scratch/text" >"$scratch/upgrades" && grep -q '^ MSHRs' "$scratch/upgrades" &&
        fits "$scratch/upgrades" 60
}
skip_without g++ "what larger machines would save fits 60 columns" ||
    check "what larger machines would save fits 60 columns" upgrades

# Prose wraps in a page that is narrower than what tables need.
prose() {
    local trace=$scratch/templates.ctrace
    COLUMNS=60 run predict --limit 100K "$trace" >"$scratch/text" && fits "$scratch/text" 60 || return 1
    COLUMNS=60 run annotate probe_all_rows >"$scratch/text" &&
        grep -E '^(best case: the schedule|0x|\*\*\* .*executed)' "$scratch/text" >"$scratch/prose" &&
        fits "$scratch/prose" 60 && grep -A 3 '^loop at' "$scratch/text" >"$scratch/loops" && fits "$scratch/loops" 60
}
skip_without g++ "annotate and predict wrap what they say at 60 columns" ||
    check "annotate and predict wrap what they say at 60 columns" prose

# What was captured, or profiled, in a line or two.
outcomes() {
    local said
    COLUMNS=60 run trace --limit 10K -o "$scratch/limited.ctrace" -- "$scratch/templates" >"$scratch/out" 2>"$scratch/trace.said"
    COLUMNS=60 run bbv -o "$scratch/limited.bb" "$scratch/limited.ctrace" >"$scratch/bbv.said" 2>&1
    COLUMNS=60 run explain --layouts 2 --limit 10K -o "$scratch/layouts" -- "$scratch/templates" >"$scratch/out" 2>&1
    head -n 4 "$scratch/layouts" >"$scratch/layouts.said"
    for said in trace bbv layouts; do
        [ -s "$scratch/$said.said" ] && sed '/^next: /d' "$scratch/$said.said" >"$scratch/prose" && fits "$scratch/prose" 60 || return 1
    done
}
skip_without g++ "what was captured, profiled or laid out is told in 60 columns" ||
    check "what was captured, profiled or laid out is told in 60 columns" outcomes

notes() {
    run trace --limit 10K -o "$scratch/limited.ctrace" -- "$scratch/templates" >/dev/null 2>&1
    COLUMNS=60 run trace --info "$scratch/limited.ctrace" >"$scratch/text" &&
        grep -A 2 '^note' "$scratch/text" | grep -v '^next' >"$scratch/notes" && grep -q 'not in the trace' "$scratch/notes" &&
        fits "$scratch/notes" 60 || return 1
    g++ -O1 -g -o "$scratch/templates" "$scratch/templates.cc" &&
        COLUMNS=60 run fdo -o "$scratch/profile" -- "$scratch/templates" >"$scratch/text" 2>&1 &&
        sed -n '/^note: .* of all/,/--image/p' "$scratch/text" >"$scratch/notes" && grep -q -e '--image' "$scratch/notes" &&
        fits "$scratch/notes" 60
}
skip_without g++ "notes of traces and of profiles for compilers wrap at 60 columns" ||
    check "notes of traces and of profiles for compilers wrap at 60 columns" notes

models() {
    local trace=templates.ctrace verb
    cd "$scratch" || return 1
    COLUMNS=60 run contend --limit 100K --profile templates.locality $trace >"$scratch/text" && fits "$scratch/text" 60 &&
        run bbv --size 10K -o templates.bb $trace 2>/dev/null && run sim --limit 1K --kanata templates.kanata -o text $trace || return 1
    for verb in "contend --limit 100K $trace $trace" "throughput --limit 100K --search cores=1..4 $trace" "regions templates.bb" "pipeline templates.kanata"; do
        # shellcheck disable=SC2086
        COLUMNS=60 run $verb >"$scratch/text" && sed '/^next: /,$d' "$scratch/text" >"$scratch/tables" && fits "$scratch/tables" 60 ||
            { echo "$verb"; cat "$scratch/text"; return 1; }
    done
    COLUMNS=60 run throughput --check --limit 100K --set chip.cores=1 --set chip.threads=2 $trace >"$scratch/text" &&
        grep -A 1 -E '^(machine|the chip|processor time)' "$scratch/text" >"$scratch/prose" && fits "$scratch/prose" 60
}
skip_without g++ "contend, throughput, regions and pipeline wrap what they say at 60 columns" ||
    check "contend, throughput, regions and pipeline wrap what they say at 60 columns" models

finish
