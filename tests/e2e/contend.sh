# culprit contend: programs beside each other against the simulated chip, saved profiles, copies,
# pictures, errors.
. tests/e2e/lib.sh

report=$scratch/report.json

told_names='p = r["programs"]
def extra(program, kind="predicted"):
    return program[kind]["extra_misses_per_instruction"]'

if has riscv64-workloads; then
    capture_part 400K hashjoin probe hashjoin 20000
    capture_part 400K chase chase_one chase 140000 1 2000
    capture_part 400K quadtree perimeter quadtree 12 8
fi

contends() {
    run contend --json --output "$report" "$@"
}

# A small L2, so that short runs fill it.
small=(--set l2.size=192K)

alone_nothing_happens() {
    contends "${small[@]}" "$scratch/chase.ctrace" &&
        told 'r["threads"] == 1' 'extra(p[0]) == 0' 'p[0]["predicted"]["cpi_alone"] > 1' \
            'abs(p[0]["predicted"]["cpi_beside"] / p[0]["predicted"]["cpi_alone"] - 1) < 1e-9'
}

# The tree fits into the L2 alone, and no more beside the other program.
beside_each_other_as_simulated() {
    contends --check "${small[@]}" "$scratch/quadtree.ctrace" "$scratch/hashjoin.ctrace" &&
        told 'r["checked"]' 'r["simulated_instructions"] >= 1600000' 'extra(p[0]) > 0.005' \
            'abs(extra(p[0]) - extra(p[0], "simulated")) < 0.25 * extra(p[0], "simulated")' \
            'abs(p[0]["predicted"]["cpi_alone"] / p[0]["simulated"]["cpi_alone"] - 1) < 0.03' \
            'abs(p[0]["predicted"]["cpi_beside"] / p[0]["simulated"]["cpi_beside"] - 1) < 0.1' \
            'p[1]["simulated"]["cpi_alone"] <= p[1]["simulated"]["cpi_beside"]'
}

# same_as FILE: every program is predicted as in that report, to the last bit.
same_as() {
    python3 -S - "$report" "$1" <<'END'
import json, sys
a, b = (json.load(open(path))["programs"] for path in sys.argv[1:])
for x, y in zip(a, b):
    assert x["copies"] == y["copies"] and x["predicted"] == y["predicted"], (x, y)
END
}

# A saved profile is the trace; four copies are four words; both in any order. Also on one core,
# whose threads share more than data.
profiles_are_traces() {
    run contend "${small[@]}" --profile "$scratch/chase.locality" "$scratch/chase.ctrace" >"$scratch/said" &&
        grep -q "400 k instructions" "$scratch/said" &&
        contends "${small[@]}" "$scratch/chase.ctrace" "$scratch/hashjoin.ctrace*4" &&
        told 'r["threads"] == 5' 'p[1]["copies"] == 4' || return 1
    cp "$report" "$scratch/of-traces.json"
    contends "${small[@]}" "$scratch/chase.locality" "$scratch/hashjoin.ctrace" \
        "$scratch/hashjoin.ctrace*2" "$scratch/hashjoin.ctrace" &&
        same_as "$scratch/of-traces.json" || return 1
    contends "${small[@]}" --set dtlb.entries=4 --together "$scratch/chase.ctrace*4" || return 1
    cp "$report" "$scratch/of-traces.json"
    run contend "${small[@]}" --set dtlb.entries=4 --profile "$scratch/few.locality" "$scratch/chase.ctrace" >/dev/null &&
        contends "${small[@]}" --set dtlb.entries=4 --together "$scratch/few.locality*4" &&
        same_as "$scratch/of-traces.json"
}

# A profile of a command, with another shape besides, that then serves a machine that has it.
commands_are_profiled() {
    local status=0
    run contend --profile "$scratch/true.locality" --limit 100K --shapes 256x8,512x16 -- \
        "$WORKLOADS/riscv64/hashjoin" 20000 >/dev/null 2>"$scratch/said" || status=$?
    [ $status = 0 ] && grep -q "100 k instructions" "$scratch/said" &&
        contends --set l2.size=128K --set l2.ways=8 "$scratch/true.locality*2" &&
        told 'extra(p[0]) >= 0' &&
        contends "$scratch/true.locality*2"
}

# A pipe is a trace like any.
pipes_are_traces() {
    contends "${small[@]}" "$scratch/chase.ctrace" && cp "$report" "$scratch/of-file.json" &&
        contends "${small[@]}" - <"$scratch/chase.ctrace" &&
        told "p[0]['predicted'] == json.load(open('$scratch/of-file.json'))['programs'][0]['predicted']" &&
        contends "${small[@]}" <(cat "$scratch/chase.ctrace") &&
        told "p[0]['predicted'] == json.load(open('$scratch/of-file.json'))['programs'][0]['predicted']"
}

# Every model answers; the prior one, which has all meet in every set, the most by far.
models_differ() {
    local model
    for model in measured binomial inductive prior; do
        contends --model $model "$scratch/chase.ctrace*12" && told "r['model'] == '$model'" || return 1
        cp "$report" "$scratch/$model.json"
    done
    python3 -S - "$scratch" <<'END'
import json, sys
extra = {m: json.load(open(f"{sys.argv[1]}/{m}.json"))["programs"][0]["predicted"]["extra_misses_per_instruction"]
         for m in ("measured", "binomial", "inductive", "prior")}
assert extra["prior"] > 3 * extra["measured"], extra
END
}

# Threads of one core meet in its L1; over the cores in turn they do not.
places_matter() {
    contends --together "$scratch/hashjoin.ctrace*4" &&
        told 'p[0]["predicted"]["extra_l1d_misses_per_instruction"] > 0' &&
        contends "$scratch/hashjoin.ctrace*4" &&
        told 'p[0]["predicted"]["extra_l1d_misses_per_instruction"] == 0'
}

# Machines whose last level is shared; faster neighbours do more harm.
other_machines_and_speeds() {
    contends --machine zen4 --set llc.size=512K --ipc 1,0.1 "$scratch/chase.ctrace" "$scratch/hashjoin.ctrace" &&
        told 'r["cache"] == "LLC"' 'p[0]["predicted"]["cpi_beside"] is None' || return 1
    cp "$report" "$scratch/slow.json"
    contends --machine zen4 --set llc.size=512K --ipc 1,2 "$scratch/chase.ctrace" "$scratch/hashjoin.ctrace" &&
        told "extra(p[0]) >= extra(json.load(open('$scratch/slow.json'))['programs'][0])" &&
        contends --machine zen4 --frames no "$scratch/chase.ctrace" "$scratch/hashjoin.ctrace"
}

# Before its first instruction there is nothing to go on with.
cut_at_once() {
    head -c 4000 "$scratch/chase.ctrace" >"$scratch/begun.ctrace"
    fails_with 1 'begun.ctrace: the trace is cut short after 0 instructions$' run contend "$scratch/begun.ctrace" &&
        fails_with 1 'no instruction was captured: the trace is cut short before the first' run trace -o "$scratch/imported.ctrace" --import "$scratch/begun.ctrace"
}

# What breaks off is said to; what cannot be simulated is not advised to be.
advice_can_be_followed() {
    local trace=$scratch/chase.ctrace
    head -c $(($(stat -c %s "$trace") / 2)) "$trace" >"$scratch/half.ctrace"
    contends "$scratch/half.ctrace" && told 'r["partial"]' 'any("half.ctrace breaks off" in n for n in r["notes"])' &&
        run contend --profile "$scratch/half.locality" "$scratch/half.ctrace" | grep -q "^(partial)" &&
        contends --set l2.size=3M "$scratch/half.locality" "$trace" &&
        told 'r["partial"]' 'any("half.locality is of a run that breaks off" in n for n in r["notes"])' &&
        contends "$trace" && told 'not r["partial"]' '"--check" in r["next"]' &&
        contends - <"$trace" && told 'r["next"] is None' &&
        run contend --profile - "$trace" 2>"$scratch/said" >"$scratch/standard.locality" &&
        grep -q "400 k instructions" "$scratch/said" &&
        python3 -S -m json.tool "$scratch/standard.locality" >/dev/null
}

text_and_picture() {
    run contend "${small[@]}" --check --svg "$scratch/picture.svg" "$scratch/quadtree.ctrace" \
        "$scratch/hashjoin.ctrace*2" >"$scratch/text" || return 1
    python3 -S -c 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' "$scratch/picture.svg" &&
        grep -q "simulated" "$scratch/picture.svg" && ! grep -q '>+[^<]*e-' "$scratch/picture.svg" &&
        grep -q "times per 1000 instructions beside the others" "$scratch/text" &&
        grep -q "instructions simulated" "$scratch/text" &&
        run contend "$scratch/quadtree.ctrace*2" | grep -q "not disturbed in the L2" &&
        run contend --together "$scratch/quadtree.ctrace*4" | tr -s '\n ' ' ' |
            grep -q "it takes .* on a core that it shares" &&
        fits_100 "$scratch/text"
}

# refused MESSAGE STATUS OPTIONS...
refused() {
    fails_with "$2" "$1" run contend "${@:3}"
}

nonsense_is_refused() {
    local trace=$scratch/chase.ctrace
    head -c 3000 "$scratch/chase.locality" >"$scratch/cut.locality"
    run trace --no-addresses --stop --limit 1K -o "$scratch/blocks.ctrace" -- \
        "$WORKLOADS/riscv64/hashjoin" 20000 >/dev/null 2>&1
    run trace --stop --limit 1K -o "$scratch/native.ctrace" -- true >/dev/null 2>&1
    refused "which programs" 2 &&
        refused "number of copies" 1 "$trace*0" &&
        refused "number of copies" 1 "$trace*x" &&
        refused "more than 1024 threads" 1 "$trace*1000" "$trace*25" &&
        refused "33 threads: machine niagara has 32" 1 "$trace*33" &&
        refused "no JSON" 1 "$scratch/cut.locality" &&
        refused "has l1d.size = 32K" 1 --set l1d.size=32K "$scratch/chase.locality" &&
        refused "no cache of 4096 sets, 12 ways" 1 "$scratch/chase.locality" &&
        refused "no memory addresses" 1 "$scratch/blocks.ctrace" &&
        refused "do not run on one machine" 1 "$trace" "$scratch/native.ctrace" &&
        refused "is a profile" 1 --check --set l2.size=192K "$scratch/chase.locality" &&
        refused "is no chip" 1 --check --machine zen4 "$trace" &&
        refused "2 numbers for 1 program$" 1 --ipc 1,2 "$trace" &&
        refused "--ipc: 3 instructions per cycle: a core of machine niagara executes at most 1$" 1 \
            --ipc 3 "$trace" &&
        refused "--ipc: 1.2 instructions per cycle of threads that share a core" 1 --together \
            --ipc 0.6 "$trace*2" &&
        contends --ipc 0.6 "$trace*2" &&
        refused "--ipc: 10 instructions per cycle: a core of machine zen4 executes at most 9" 1 \
            --machine zen4 --ipc 10 "$trace" &&
        refused "--ipc 0" 2 --ipc 0 "$trace" &&
        refused "--ipc 1,: numbers" 2 --ipc 1, "$trace" &&
        refused "--ipc ,1: numbers" 2 --ipc ,1 "$trace" &&
        refused "--frames maybe" 2 --frames maybe "$trace" &&
        refused "page frames" 2 --check --frames no "$trace" &&
        refused "is no file" 1 --check - &&
        refused "--ipc: the value is empty" 2 --ipc '' "$trace" &&
        refused "--json: of a report" 2 --profile "$scratch/x" --json "$trace" &&
        refused "--check: of a report" 2 --profile "$scratch/x" --check "$trace" &&
        refused "one program at a time" 2 --profile "$scratch/x" "$trace" "$trace" &&
        refused "SETSxWAYS" 2 --profile "$scratch/x" --shapes 100x3 "$trace" &&
        refused "never entered" 1 --from nothing_such "$trace" &&
        refused "no instructions" 1 --skip 1G "$trace" &&
        refused "No such file" 1 "$scratch/none.ctrace"
}

if ! skip_without riscv64-workloads "contention of known programs"; then
    check "alone, nothing disturbs" alone_nothing_happens
    check "beside each other, as simulated" beside_each_other_as_simulated
    check "profiles and copies stand for traces" profiles_are_traces
    check "pipes are traces" pipes_are_traces
    check "commands are profiled" commands_are_profiled
    check "models differ" models_differ
    check "places matter" places_matter
    check "other machines and speeds" other_machines_and_speeds
    check "a trace that is cut before its first instruction is said to be" cut_at_once
    check "advice can be followed, cut traces are said to be" advice_can_be_followed
    check "the text fits, the picture is XML" text_and_picture
    check "nonsense is refused in one line" nonsense_is_refused
fi
finish
