# culprit profilers: every profiler over one simulation. Errors are what they must be by the
# profilers' rules, and the report does not depend on threads.
. tests/e2e/lib.sh

report=$scratch/report.json
seq 40000 | awk '{ print ($1 * 7919) % 300007, $1 }' >"$scratch/numbers"

# holds EXPRESSION...: over the report r; p("TIP") is its row.
holds() {
    python3 -S - "$report" "$@" <<'PYTHON'
import json, sys
r = json.load(open(sys.argv[1]))
rows = {row["label"]: row for row in r["profilers"]}
p = rows.__getitem__
grains = "function", "basic_block", "instruction"
for expression in sys.argv[2:]:
    assert eval(expression), expression + " in " + json.dumps(r["profilers"])[:2000]
PYTHON
}

profiled() {
    run profilers --limit 1M --json --output "$report" "$@" -- gzip -9 -c "$scratch/numbers" \
        >"$scratch/out"
}

all_of_them() {
    profiled --systematic && gzip -dc "$scratch/out" | cmp - "$scratch/numbers" &&
        holds '[row["name"] for row in r["profilers"]] == "Software Dispatch LCI NCI NCI+ILP TIP-ILP TIP IBS SPE RIS NCI-TEA TEA".split()' \
            'all(100000 <= row["samples"] < 400000 for row in r["profilers"])' \
            'all(0 <= row["error"][g] <= 1 for row in r["profilers"] for g in grains)' \
            'all(row["error"]["function"] <= row["error"]["basic_block"] <= row["error"]["instruction"] for row in r["profilers"])' \
            'not r["partial"] and r["verb"] == "profilers"'
}
check "all profilers run over gzip, which keeps its output" all_of_them
check "TIP and TEA err by chance alone" holds \
    'all(p(n)["error"]["instruction"] <= p(n)["floor"]["instruction"] + 0.005 for n in ("TIP", "TEA"))' \
    'p("TEA")["stack_error"] <= p("TEA")["stack_floor"] + 0.005' \
    'all(p(n)["systematic"][g] == 0 for n in ("TIP", "TEA") for g in grains)' \
    'p("TEA")["systematic_stack_error"] == 0'
check "the others err by their rules" holds \
    'p("NCI")["error"]["instruction"] > 4 * p("TIP")["error"]["instruction"]' \
    'all(p(n)["error"]["instruction"] > 0.3 for n in ("Software", "Dispatch", "LCI"))' \
    'p("NCI-TEA")["error"] == p("NCI")["error"] and p("IBS")["error"] == p("Dispatch")["error"]' \
    'p("NCI-TEA")["stack_error"] >= p("NCI-TEA")["error"]["instruction"]' \
    'p("TIP")["stack_error"] is None'
check "commit categories and states agree" holds \
    'abs(sum(r["commit_stack"].values()) - r["cycles"]) < 0.5' \
    'r["commit_stack"]["execute"] == r["commit_states"]["computing"]' \
    'r["commit_stack"]["front_end"] == r["commit_states"]["drained"]' \
    'r["commit_stack"]["mispredict"] + r["commit_stack"]["misc_flush"] == r["commit_states"]["flushed"]' \
    'r["class"] in ("compute", "flush", "stall")' \
    '-1 <= r["events"]["FL-MB"]["correlation"] <= 1' \
    'abs(sum(f["share"] for f in r["functions"]) - 1) < 1e-9 or r["function_count"] > len(r["functions"])'

check "the stacks of an instruction are the share that it has" holds \
    'all(abs(sum(i["stack"].values()) / r["cycles"] - i["share"]) < 1e-9 for i in r["hot_instructions"])' \
    'all(abs(sum(i["stacks"][n].values()) / r["cycles"] - i["shares"][n]) < 1e-9 for i in r["hot_instructions"] for n in i["stacks"])' \
    'list(r["hot_instructions"][0]["stacks"]) == "IBS SPE RIS NCI-TEA TEA".split()'

every_cycle() {
    profiled --period 1 --profiler TIP,TEA,NCI && holds \
        'all(row["samples"] == r["cycles"] for row in r["profilers"])' \
        'p("TIP")["error"]["instruction"] == 0 and p("TEA")["stack_error"] == 0' \
        'p("NCI")["error"]["instruction"] > 0.01'
}
check "TIP and TEA of every cycle are Oracle and the golden reference" every_cycle

side_by_side() {
    profiled --profiler TIP,TIP:period=1000,TIP:random,seed=2 --profiler NCI:periodic,samples=1K && holds \
        '[row["label"] for row in r["profilers"]] == ["TIP", "TIP:period=1000", "TIP:random,seed=2", "NCI:periodic,samples=1K"]' \
        'p("TIP:period=1000")["period"] == 1000' \
        'p("TIP:random,seed=2")["seed"] == 2 and p("NCI:periodic,samples=1K")["sampling"] == "periodic"' \
        '1000 <= p("NCI:periodic,samples=1K")["samples"] < 2000'
}
check "several configurations of one profiler run side by side" side_by_side

floor_is_met() {
    mkdir "$scratch/temporary"
    TMPDIR=$scratch/temporary profiled --floor 3% --profiler TIP,TEA,NCI && gzip -dc "$scratch/out" | cmp - "$scratch/numbers" &&
        holds '0.025 < p("TEA")["stack_floor"] <= 0.0301' \
            'p("TEA")["stack_error"] <= p("TEA")["stack_floor"] + 0.005' &&
        rmdir "$scratch/temporary" # nothing left behind
}
check "--floor takes the samples it needs" floor_is_met

# One trace, so that all runs see the same.
timeout 300 "$CULPRIT" trace --stop --limit 1M --output "$scratch/run.ctrace" -- \
    gzip -9 -c "$scratch/numbers" >/dev/null 2>&1
same_for_threads() {
    local threads
    for threads in 1 2 5; do
        run profilers --systematic --threads "$threads" --json "$scratch/run.ctrace" |
            grep -v '"seconds"' >"$scratch/threads.$threads" || return 1
        [ -s "$scratch/threads.$threads" ] || return 1
        same_file "$scratch/threads.1" "$scratch/threads.$threads" || return 1
    done
}
check "the report is the same for any number of threads" same_for_threads

text_fits() {
    run profilers --systematic "$scratch/run.ctrace" >"$scratch/text" &&
        python3 -S -c 'import sys
for line in open(sys.argv[1]):
    assert len(line.rstrip("\n")) <= 100, line' "$scratch/text" &&
        grep -q '^systematic part' "$scratch/text" && grep -q 'floor: ' "$scratch/text" &&
        run profilers --list >"$scratch/list" && grep -q '^NCI-TEA ' "$scratch/list" &&
        python3 -S -c 'import sys
for line in open(sys.argv[1]):
    assert len(line.rstrip("\n")) <= 100, line' "$scratch/list"
}
check "the text fits 100 columns" text_fits

# Figures end below the ends of their headings, in both tables.
columns_align() {
    python3 -S - "$scratch/text" <<'END'
import re, sys
lines = open(sys.argv[1]).read().split("\n")
for name in "error, %", "systematic part, %":
    head = next(i for i, line in enumerate(lines) if line.startswith(name))
    ends = {m.end() for m in re.finditer(r"function|basic block|instruction|cycle stacks", lines[head])}
    for line in lines[head + 1:]:
        if not line:
            break
        last = re.search(r"\S+$", line).end()
        assert last in ends, line
END
}
check "columns of errors end below their headings" columns_align

# Two instructions of an image with a long name are two places.
long_names() {
    local name=$scratch/a_program_whose_name_has_many_letters
    cp "$WORKLOADS/x86_64/matmul" "$name" && run profilers --stop --limit 2M --top 5 -- "$name" 60 1 2>"$scratch/text" >/dev/null || return 1
    python3 -S - "$scratch/text" <<'END'
import sys
lines = open(sys.argv[1]).read().split("\n")
first = next(i for i, line in enumerate(lines) if line.startswith("share seen by")) + 1
places = [line[1:19].rstrip() for line in lines[first:first + 5]]
assert len(set(places)) == 5 and all("+0x" in place for place in places), places
END
}
skip_without x86_64-workloads "an offset is never cut" || check "an offset is never cut" long_names

riscv() {
    run profilers --stop --limit 1M --json --output "$report" -- "$WORKLOADS/riscv64/ceil" 20000 >/dev/null &&
        holds 'r["machine"] == "boom-tea" and r["class"] == "flush"' \
            'p("NCI")["error"]["instruction"] > 10 * p("TIP")["error"]["instruction"]'
}
skip_without riscv64-workloads "riscv64" || check "a program that flushes deceives NCI, not TIP" riscv

# 8 instructions, with 10 G cycles from one sample to the next.
no_samples() {
    run profilers --limit 8 --period 10G --output "$scratch/text" -- sh -c : &&
        grep -qE '^ TEA +0 +- +\(-\) +- +\(-\) +- +\(-\) +- +\(-\)$' "$scratch/text" &&
        grep -q '12 of 12 profiles have no sample' "$scratch/text" &&
        run profilers --limit 8 --period 10G --json --output "$report" -- sh -c : &&
        holds 'all(row["samples"] == 0 for row in r["profilers"])' \
            'all(row[k][g] is None for row in r["profilers"] for k in ("error", "floor") for g in grains)' \
            'p("TEA")["stack_error"] is None and p("TEA")["stack_floors"]["function"] is None'
}
check "without a sample there is no error to tell" no_samples

# TIP names who commits: with every cycle sampled its call tree is Oracle's. A function's innermost
# frames are its own, so that errors by chain are no smaller than those by function.
call_trees() {
    profiled --tree --profiler Software,TIP,TIP:period=1,TEA:period=1 &&
        holds 'p("TIP:period=1")["paths"]["error"] == p("TIP:period=1")["paths"]["worst"] == 0' \
            'p("TEA:period=1")["paths"]["stack_error"] == 0 and p("TIP")["paths"]["stack_error"] is None' \
            'p("TIP")["paths"]["error"] <= p("TIP")["paths"]["floor"] + 0.005' \
            'p("Software")["paths"]["error"] > 0.02' \
            'p("Software")["paths"]["error"] >= p("Software")["error"]["function"] - 1e-9' \
            'all(abs(p(n)["paths"]["shares"][0] - 1) < 1e-9 and len(p(n)["paths"]["shares"]) == len(r["tree"]) for n in rows)' \
            'all(abs(f["total"] / r["cycles"] - s) < 1e-6 for f, s in zip(r["tree"], p("TIP:period=1")["paths"]["shares"]))' \
            'abs(sum(f["self"] for f in r["tree"]) - r["cycles"]) < 1e-6 * r["cycles"]' \
            'all(abs(f["share"] - f["shares"]["TIP:period=1"]) < 1e-9 for f in r["inclusive_functions"])' \
            'len(r["inclusive_functions"]) == 10 < r["inclusive_function_count"]'
}
check "errors of call trees: none when TIP sees every cycle" call_trees
as_text() {
    run profilers --limit 200K --callers --profiler TIP,NCI --output "$scratch/text" -- gzip -9 -c "$scratch/numbers" >/dev/null &&
        grep -qE '^ TIP +[0-9.]+ +\([0-9.]+\) ' <(sed -n '/error of call trees/,$p' "$scratch/text") &&
        grep -q '  total  TIP  NCI  function, with all that it called' "$scratch/text"
}
check "and as text" as_text

interrupted() {
    "$CULPRIT" profilers --json --output "$report" -- sh -c 'while :; do :; done' &
    local pid=$! status
    until_used $pid 1
    kill -INT $pid
    wait $pid
    status=$?
    holds 'r["partial"] and r["cycles"] > 0' && [ $status = 130 ]
}
check "Ctrl-C gives the report of what was done" interrupted

check "an unknown profiler is named" fails_with 2 'XYZ: no such profiler' run profilers --profiler XYZ true
check "an unknown setting is named" fails_with 2 'TIP:often' run profilers --profiler TIP:often true
check "a configuration given twice is refused" fails_with 2 'TIP is there twice' \
    run profilers --profiler TIP,TIP true
# With a command and with a trace: one line, and no report of nothing.
in_order() {
    fails_with 1 'alpha21164 issues in order: profilers that sample' \
        run profilers --machine alpha21164 "$scratch/run.ctrace" && [ ! -s "$scratch/.out" ] &&
        fails_with 125 'alpha21164 issues in order: profilers that sample' \
            run profilers --machine alpha21164 -- true &&
        fails_with 125 'alpha21164 issues in order: dependence graphs' \
            run sim --machine alpha21164 --kanata "$scratch/no.kanata" -- true
}
check "a machine that issues in order is refused, without a report" in_order
seeded() {
    local seed
    for seed in 2 3; do
        run profilers --repeatable --seed $seed -o "$scratch/said" -- od -An -N8 -tx1 /dev/urandom \
            >"$scratch/seed.$seed" || return 1
    done
    [ -s "$scratch/seed.2" ] && ! cmp "$scratch/seed.2" "$scratch/seed.3" &&
        [ "$(run profilers --help | grep -c '^ *--seed=N  ')" = 1 ]
}
check "--seed is of the command's random numbers, too" seeded
check "--samples and --period exclude each other" fails_with 2 'one of them' \
    run profilers --samples 10 --period 10 true
check "--floor wants a file" fails_with 2 'can be read once' run profilers --floor 1% -
check "--floor wants a percentage" fails_with 2 'a percentage' run profilers --floor much true

finish
