# culprit icost: its figures are those of sim --ideal, its sums close, its pictures are XML.
. tests/e2e/lib.sh

report=$scratch/report.json
trace=$scratch/gzip.ctrace
seq 30000 | awk '{ print ($1 * 7919) % 30011 }' >"$scratch/numbers"
run trace --stop --limit 60K --output "$trace" -- gzip -9 -c "$scratch/numbers" >/dev/null 2>&1
run trace --stop --limit 60K --output "$scratch/sort.ctrace" -- sort "$scratch/numbers" >/dev/null 2>&1

told_names='m = r.get("multisim")
def sets(of):
    return {frozenset(s["members"]): s for s in of["sets"]}
def icost(*members, of=r):
    return sets(of)[frozenset(members)]["icost"]["cycles"]
def cost(*members, of=r):
    return sets(of)[frozenset(members)]["cost"]["cycles"]
names = [c["name"] for c in r.get("categories", [])]'

cycles_of() {
    run sim --json "$@" "$trace" | python3 -S -c 'import json, sys; print(json.load(sys.stdin)["cycles"])'
}

# Every way of saying it agrees with the simulator.
agrees_with_sim() {
    run icost --multisim=focus --focus dl1 --json --output "$report" "$trace" || return 1
    local base dl1 pair
    base=$(cycles_of) && dl1=$(cycles_of --ideal dl1) && pair=$(cycles_of --ideal dl1,win) || return 1
    told 'r["verb"] == "icost"' 'not r["partial"]' 'r["ideal"] == []' 'r["focus"] == "dl1"' \
        'names == "imiss dmiss dl1 shalu lgalu bw bmisp win stfwd".split()' "m['cycles'] == $base" \
        "cost('dl1', of=m) == $base - $dl1" "cost('dl1', 'win', of=m) == $base - $pair" \
        "icost('dl1', 'win', of=m) == cost('dl1', 'win', of=m) - cost('dl1', of=m) - cost('win', of=m)" \
        'len(m["sets"]) == m["simulations"] - 1 == 17' \
        'all("dl1" in s["members"] for s in m["sets"] if len(s["members"]) > 1)' \
        'all(abs(s["icost"]["percent"] - 100 * s["icost"]["cycles"] / m["cycles"]) < 1e-9 for s in m["sets"])'
}
check "costs are differences of sim --ideal" agrees_with_sim

# Memory written in a row, and a table at random: a larger window is worth what the MSHRs allow.
misses_are_limited() {
    for from in "--skip 100K" "--from build"; do
        run trace $from --stop --limit 60K --output "$scratch/misses.ctrace" -- \
            "$WORKLOADS/riscv64/hashjoin" 1000 >/dev/null 2>&1 &&
            run icost --machine zen4 --multisim=focus --focus win --json --output "$report" \
                "$scratch/misses.ctrace" &&
            told 'cost("win", of=m) > 0.2 * m["cycles"]' \
                'all(abs(cost(*s, of=r) - cost(*s, of=m)) < 0.05 * m["cycles"] for s in sets(m))' || return 1
    done
}
check "a larger window has no more MSHRs, by graph and by simulation" misses_are_limited
# Prefetches that nobody uses hold half of them.
prefetches_take_mshrs() {
    run trace --from touch --stop --limit 60K --output "$scratch/pages.ctrace" -- \
        "$WORKLOADS/riscv64/pages" 4000 >/dev/null 2>&1 &&
        run icost --machine boom-tip --multisim=focus --focus win --json --output "$report" \
            "$scratch/pages.ctrace" &&
        told 'cost("win", of=m) < 0.2 * m["cycles"]' \
            'all(abs(cost(*s, of=r) - cost(*s, of=m)) < 0.06 * m["cycles"] for s in sets(m))' &&
        run icost --machine boom-tip --set l1d.prefetcher=none --multisim=focus --focus win --json \
            --output "$report" "$scratch/pages.ctrace" &&
        told 'cost("win", of=m) > 0.3 * m["cycles"]' \
            'abs(cost("win", of=r) - cost("win", of=m)) < 0.05 * m["cycles"]'
}
check "prefetches take MSHRs from what a larger window could do" prefetches_take_mshrs

# The focus is the costliest by the graph where none is given; its pairs are then simulated.
focus_is_simulated() {
    run icost --multisim=focus --json --output "$report" --limit 20K "$trace" &&
        told 'm["simulations"] == 18' \
            'sum(len(s["members"]) == 2 and r["focus"] in s["members"] for s in m["sets"]) == 8'
}
check "the pairs of the focus chosen are simulated" focus_is_simulated

everything_sums() {
    run icost --machine boom-tea --multisim=all --json --output "$report" --limit 8K "$trace" &&
        told 'r["instructions"] == 8000' 'r["way"] == "graph"' \
            'all(len(w["sets"]) == 511 for w in (r, m))' \
            'all(abs(sum(s["icost"]["cycles"] for s in w["sets"]) + w["all_idealised"]["cycles"] - w["cycles"]) < 0.01 for w in (r, m))' \
            'all(w["all_idealised"]["cycles"] == w["cycles"] - cost(*names, of=w) for w in (r, m))'
}
check "with all sets the icosts sum to the execution time" everything_sums

# The table's rows, Other and Total: 100 %, within the rounding of each.
table_sums() {
    run icost --focus win --output "$scratch/table" "$trace" && cat "$scratch/table" &&
        python3 -S - "$scratch/table" <<'END'
import re, sys
text = open(sys.argv[1]).read()
assert all(len(line) <= 100 for line in text.split("\n")), "wider than 100 columns"
rows = re.findall(r"^ ([a-z0-9A-Z+ ]+?) +(-?[0-9.]+)(?: |$)", text.split("idealised")[1].split("what this")[0], re.M)
values = dict(rows)
assert values.pop("Total") == "100.0" and "Other" in values
assert abs(sum(map(float, values.values())) - 100) < 0.06 * len(values), values
assert sum("win + " in name or " + win" in name for name in values) >= 8
assert "costs most" in text and "% less time" in text
END
}
check "the table sums to 100 % and fits 100 columns" table_sums

command_keeps() {
    run icost --limit 10K --json --output "$report" -- \
        sh -c 'echo hello; exit 7' >"$scratch/out"
    [ $? = 7 ] && [ "$(cat "$scratch/out")" = hello ] &&
        told 'r["instructions"] == 10000' 'r["program"].startswith("sh -c")' 'cost("bmisp") != 0'
}
check "a command keeps its output and exit status" command_keeps

selections_agree() {
    run icost --multisim=focus --skip 5K --limit 7K --json --output "$report" "$trace" &&
        cp "$report" "$scratch/file.json" &&
        run icost --multisim=focus --skip 5K --limit 7K --json - <"$trace" >"$report" &&
        told 'r["instructions"] == 7000' "r['sets'] == json.load(open('$scratch/file.json'))['sets']" \
            "m['sets'] == json.load(open('$scratch/file.json'))['multisim']['sets']"
}
check "a trace from a pipe gives the same, of the same part" selections_agree

several() {
    run icost --multisim=none --json --output "$report" "$trace" "$scratch/sort.ctrace" &&
        told 'len(r["programs"]) == 2' 'r["programs"][1]["program"].startswith("sort")' \
            'all(cost("dmiss", of=p) > 0 for p in r["programs"])' &&
        run icost --multisim=none --svg "$scratch/picture.svg" "$trace" \
            "$scratch/sort.ctrace" >"$scratch/table" &&
        grep -qE '^ idealised.* gzip +sort$' "$scratch/table" &&
        grep -qE '^ Total +100.0 +100.0$' "$scratch/table" &&
        python3 -S - "$scratch/picture.svg" <<'END'
import sys, xml.etree.ElementTree as tree
text = [node.text for node in tree.parse(sys.argv[1]).getroot().iter() if node.tag.endswith("text")]
assert "gzip" in text and "sort" in text and "dmiss" in text and "Other" in text, text
END
}
one_is_cut() {
    head -c -1 "$trace" >"$scratch/cut.ctrace" &&
        run icost --multisim=none --json --output "$report" "$scratch/cut.ctrace" "$scratch/sort.ctrace" &&
        told 'r["partial"]' '[p["partial"] for p in r["programs"]] == [True, False]' &&
        run icost --multisim=none -o "$scratch/table" "$scratch/cut.ctrace" "$scratch/sort.ctrace" &&
        grep -q '^cut: .* (partial)$' "$scratch/table" && grep -q '^sort: ' "$scratch/table" &&
        ! grep -q '^sort: .* (partial)$' "$scratch/table"
}
check "of several traces only the one that is cut short is partial" one_is_cut

ways() {
    run icost --multisim=focus --output "$scratch/table" "$trace" "$scratch/sort.ctrace" &&
        cat "$scratch/table" && grep -qE '^ +multisim +graph +error +multisim +graph +error$' "$scratch/table" &&
        grep -q 'sort, graph: mean' "$scratch/table" && ! grep -qE '^.{101}' "$scratch/table"
}
check "--multisim adds columns and errors" ways

check "several traces are columns, and bars of the picture" several

study() {
    run icost --sensitivity core.rob+core.load_queue=32,64 --sensitivity l1d.latency=2,5 --json \
        --svg "$scratch/study.svg" --output "$report" "$trace" || return 1
    local small large
    small=$(cycles_of --set core.rob=32 --set core.load_queue=32 --set l1d.latency=5) &&
        large=$(cycles_of --set core.rob=64 --set core.load_queue=64 --set l1d.latency=5) || return 1
    told 'len(r["runs"]) == 4' "r['runs'][2] == {'values': ['32', '5'], 'cycles': $small, 'speedup_percent': 0.0}" \
        "r['runs'][3]['cycles'] == $large" \
        "abs(r['runs'][3]['speedup_percent'] - 100 * ($small / $large - 1)) < 1e-9" &&
        python3 -S -c 'import sys, xml.etree.ElementTree as t; t.parse(sys.argv[1])' "$scratch/study.svg" &&
        run icost --sensitivity core.rob=32,64 "$trace" | grep -qE '^ 64 +[0-9.-]+ %$'
}
check "--sensitivity simulates every combination" study

# Two regions of one trace, of weight 1/4 and 3/4: costs per instruction are weighted so.
regions() {
    region_list "$scratch/list.csv" x86_64 "gzip -9" 1000000 gzip.ctrace 0:10000:0.25 30000:50000:0.75
    run icost --json --regions "$scratch/list.csv" --jobs 2 --output "$report" &&
        run sim --json --regions "$scratch/list.csv" >"$scratch/sim.json" &&
        told 'r["instructions"] == 1000000' 'r["program"] == "gzip -9"' 'not r["partial"]' \
            "abs(r['cycles'] / json.load(open('$scratch/sim.json'))['cycles'] - 1) < 0.02" &&
        run icost --json --regions "$scratch/list.csv" --jobs 1 | grep -v seconds >"$scratch/one" &&
        grep -v seconds "$report" >"$scratch/two" && diff <(grep -v ' in ' "$scratch/one") <(grep -v ' in ' "$scratch/two")
}
check "--regions combines regions by weight, in any order" regions
check "--regions with a command" fails_with 125 'names its traces' run icost --regions x.csv -- true
check "--regions with --multisim" fails_with 2 'single run' run icost --regions x.csv --multisim

has_example() {
    run icost --help | grep -A1 "^Example:" | grep -q 'culprit icost.* -- '
}
check "help shows an example" has_example
grouped() { run icost --help | grep -A8 "regions of it:" | grep -q -- '--regions=LIST'; }
check "help has options of regions under their heading" grouped
check "an unknown focus is told before the command runs" fails_with 125 'nonsense.*imiss, dmiss' \
    run icost --focus nonsense -- touch "$scratch/ran"
check "... which then is not run" test ! -e "$scratch/ran"
check "an unknown choice of sets" fails_with 2 'focus, pairs, all' run icost --multisim=some "$trace"
full_disk() { run icost "$@" --limit 5K "$trace" >/dev/full; }
check "a full disk is told" fails_with 1 'No space left' full_disk
check "... of JSON" fails_with 1 'No space left' full_disk --json
check "a study of a key that is not there" fails_with 1 '--sensitivity.*core.robb' \
    run icost --sensitivity core.robb=1,2 "$trace"
check "a study without values" fails_with 2 'core.rob=64,128' run icost --sensitivity core.rob "$trace"
check "nothing to do" fails_with 2 'what to simulate' run icost


# Words written byte by byte and read whole. On zen4 a store completes when its byte is known, commits
# a cycle later and is in the cache one behind that; the load takes 1 + 3 more, the next byte 2: 8
# cycles. Forwarded, the load takes 3: 5 cycles are left.
parts_cannot_forward() {
    local parts=$scratch/parts.ctrace
    run trace --from read_whole --stop --limit 60K --output "$parts" -- "$WORKLOADS/x86_64/parts" 20000 >/dev/null 2>&1 &&
        run icost --machine zen4 --multisim=focus --focus stfwd --critical --json --output "$report" "$parts" &&
        told '0.36 * m["cycles"] < cost("stfwd", of=m) < 0.38 * m["cycles"]' \
            'abs(cost("stfwd", of=r) - cost("stfwd", of=m)) < 0.01 * m["cycles"]' \
            'abs(icost("shalu", "stfwd", of=r) - icost("shalu", "stfwd", of=m)) < 0.01 * m["cycles"]' \
            'any(e["edge"] == "SW" and e["idealised_by"] == "stfwd" and e["percent"] > 10 for e in r["critical_path"]["edges"])' &&
        run icost --machine zen4 --category fw=stfwd@read_whole --category stfwd@_start --json --output "$report" "$parts" &&
        told '0.36 * r["cycles"] < cost("fw") < 0.39 * r["cycles"]' 'cost("stfwd") == 0'
}
skip_without x86_64-workloads "stores that cannot forward" ||
    check "stores that cannot forward: by graph and simulation, on the path, of a function" parts_cannot_forward
check "stfwd is taken away wholly" fails_with 2 'stfwd can be idealised wholly only' \
    run icost --category half=stfwd:50% "$trace"

# Two loads of a step miss at once: either costs nothing, both nearly all.
own_categories() {
    local first second lists=$scratch/lists.ctrace
    first=$(grep -n 'first = first->next;' workloads/lists.c | cut -d: -f1)
    second=$(grep -n 'second = second->next;' workloads/lists.c | head -1 | cut -d: -f1)
    run trace --from walk_both --stop --limit 20K --output "$lists" -- "$WORKLOADS/x86_64/lists" 20000 262144 >/dev/null 2>&1 &&
        run icost --json --output "$report" --category "a=dmiss@lists.c:$first" \
            --category "b=dmiss@workloads/lists.c:$second" --category dmiss@walk_both \
            --category half=dram:50% "$lists" &&
        told 'names == ["a", "b", "dmiss", "half"]' 'cost("a") < 0.1 * r["cycles"]' \
            'cost("b") < 0.1 * r["cycles"]' 'icost("a", "b") > 0.6 * r["cycles"]' \
            'abs(cost("a", "b") - cost("dmiss")) < 0.02 * r["cycles"]' \
            '0.3 * cost("dmiss") < cost("half") < 0.6 * cost("dmiss")'
}
skip_without x86_64-workloads "categories of one's own" ||
    check "categories of one's own: parallel misses of two lines, half of memory's latency" own_categories

# A part that is made half is not taken away.
halves() {
    run icost --category half=dmiss:50% "$trace" >"$scratch/text" &&
        grep -q 'half saves most: with this change' "$scratch/text" &&
        ! grep -q 'without it\|a bound' "$scratch/text" &&
        run icost --multisim=none "$trace" >"$scratch/text" &&
        grep -q 'costs most: without it' "$scratch/text" && grep -q 'a bound on' "$scratch/text"
}
check "a change is not called a removal, nor its cost a bound" halves

# What the report says of a short run is simulated anew; the reading has the simulated costs.
checked() {
    run icost --json --output "$report" "$trace" &&
        told 'len(m["sets"]) == m["simulations"] >= 20' "m['cycles'] == r['cycles'] or \
            abs(m['cycles'] - r['cycles']) < 0.01 * m['cycles']" \
            'all(frozenset([n]) in sets(m) for n in names)' \
            'any("%.1f %%" % (100 * max(cost(n, of=m) for n in names) / m["cycles"]) in line for line in r["reading"])' &&
        run icost "$trace" >"$scratch/text" && grep -q 'simulated anew, as a check: ' "$scratch/text" &&
        run icost --multisim=none --json --output "$report" "$trace" &&
        told 'm is None' &&
        run icost --multisim=none "$trace" >"$scratch/text" && grep -q 'not checked' "$scratch/text" &&
        ! grep -q '~' "$scratch/text" &&
        run icost --limit 50K -- gzip -9 -c "$scratch/numbers" 2>"$scratch/text" >/dev/null &&
        grep -q 'simulated anew, as a check: ' "$scratch/text"
}
check "what the report says is checked by simulation" checked

# Random lines of random pages: walks cost what the simulator says, though memory has the data.
walks_are_their_own() {
    local walks=$scratch/walks.ctrace perfect
    run trace --from build --stop --limit 200K --output "$walks" -- "$WORKLOADS/riscv64/hashjoin" 100000 \
        >/dev/null 2>&1 &&
        perfect=$(trace=$walks cycles_of --machine fields2004 --set dtlb.entries=0) &&
        run icost --json --output "$report" --machine fields2004 --category dtlb --category dram \
            "$walks" &&
        run icost --json --output "$scratch/again.json" --machine fields2004 --multisim \
            --category dtlb --category mul=int_mul:-1 --category late=bmisp,itlb "$walks" &&
        report=$scratch/again.json told "cost('dtlb', of=m) == m['cycles'] - $perfect" \
            'abs(cost("late") - cost("late", of=m)) < 0.02 * r["cycles"]' &&
        told 'cost("dtlb") > 0.1 * r["cycles"]' \
            "abs(cost('dtlb') - (r['cycles'] - $perfect)) < 0.02 * r['cycles']"
}
check "walks of loads that memory serves are dtlb's" walks_are_their_own

check "a part that is none" fails_with 2 "no such part: 'cash'.*int_mul" run icost --category x=cash "$trace"
check "bandwidth of a place" fails_with 2 'all instructions alike' run icost --category bw@main "$trace"
check "a change that is none" fails_with 2 'N cycles faster' run icost --category dl1:fast "$trace"
check "two categories of a name" fails_with 2 'two categories are named l2' run icost --category l2 --category l2 "$trace"
check "a place that is nowhere" fails_with 1 "executed at 'nowhere'" run icost --category dmiss@nowhere "$trace"
# The others are measured all the same; with nothing left, nothing is simulated.
some_place_is_nowhere() {
    run icost --category dmiss@nowhere --category l1=dl1 "$trace" >"$scratch/text" 2>"$scratch/err" &&
        grep -q "category dmiss: no instruction was executed at 'nowhere'" "$scratch/err" &&
        grep -q "category dmiss: no instruction was executed at 'nowhere'" "$scratch/text" &&
        grep -q '^ l1  *[1-9]' "$scratch/text" || return 1
    seq 200 | sed 's/.*/x/' >"$scratch/pipe"
    run icost --category dmiss@nowhere --category l1=dl1 --limit 20K -- cat "$scratch/pipe" \
        2>"$scratch/text" >/dev/null && grep -q "executed at 'nowhere'" "$scratch/text"
}
check "a place that is nowhere beside others" some_place_is_nowhere

# Methods of templates are found by their last word, in categories and by annotate.
method_is_found() {
    cat >"$scratch/method.cc" <<'CPP'
namespace ns {
template <class T, int n> struct Table {
    T items[n];
    __attribute__((noinline)) int classify(int of) const { return items[of % n]; }
    __attribute__((noinline)) int twice(int of) const { return 2 * items[of % n]; }
};
}
struct Other {
    __attribute__((noinline)) int twice(int of) const { asm volatile(""); return 2 * of; }
};
int main() {
    static ns::Table<int, 64> table;
    Other other;
    int sum = 0;
    for (int i = 0; i < 2000; i++)
        sum += table.classify(i) + table.twice(i) + other.twice(i);
    return sum < 0;
}
CPP
    g++ -O1 -o "$scratch/method" "$scratch/method.cc" &&
        run trace --from main --output "$scratch/method.ctrace" -- "$scratch/method" >/dev/null 2>&1 &&
        run icost --category of=lgalu,shalu,dl1@classify "$scratch/method.ctrace" \
            >"$scratch/text" 2>/dev/null &&
        grep -q "'classify' is ns::Table<int, 64>::classify(int) const" "$scratch/text" &&
        run sim --save --store "$scratch/method.db" "$scratch/method.ctrace" >/dev/null 2>&1 &&
        run annotate --store "$scratch/method.db" Table::twice >"$scratch/text" 2>&1 &&
        fails_with 1 "which of 2 procedures. .*'ns::Table<int, 64>::twice'" \
            run annotate --store "$scratch/method.db" twice
}
skip_without g++ "a method is found by the end of its name" ||
    check "a method is found by the end of its name" method_is_found

check "--multisim with a category that only the graph knows" fails_with 2 'category l2: only the graph' run icost --category l2 --multisim "$trace"

set -m
# An interrupted command is told of as far as it went.
interrupted() {
    "$CULPRIT" icost --json --output "$report" -- sh -c 'while :; do :; done' 2>"$scratch/err" &
    local process=$! status
    until_used $process 1
    kill -INT $process
    wait $process
    status=$?
    cat "$scratch/err"
    [ $status = 130 ] && told 'r["partial"]' 'r["instructions"] > 0' 'len(r["sets"]) == 511'
}
check "an interrupt gives the partial breakdown" interrupted

study_interrupted() {
    "$CULPRIT" icost --sensitivity core.rob=64,128 -- sh -c 'echo >"$0"; while :; do :; done' \
        "$scratch/began" 2>"$scratch/err" &
    local process=$!
    until_true $process test -e "$scratch/began" || return 1
    kill -INT -- -$process
    wait $process
    [ $? = 125 ] && cat "$scratch/err" && grep -q 'interrupted before anything' "$scratch/err"
}
check "an interrupted capture for a study is told as such" study_interrupted
set +m

finish
