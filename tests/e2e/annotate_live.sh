# culprit annotate of live samples: how late they are, whose rules tell what can stall, and a simulation
# beside them. Profiles are made by hand, so that nothing depends on this machine's time.
. tests/e2e/lib.sh

export CULPRIT_STORE=$scratch/profiles.db
export XDG_CACHE_HOME=$scratch/cache
chase=$WORKLOADS/x86_64/chase

# Samples as perf script prints them, in the loop of chase_one, whose instructions are the load at
# +0x10, the subtraction at +0x13 and the branch at +0x17.
samples() {
    local i at id
    at=$((0x$(nm "$chase" | sed -n 's/ t chase_one$//p')))
    id=$(readelf -n "$chase" | sed -n 's/.*Build ID: //p')
    echo '# hostname : there'
    [ -z "$1" ] || printf '# cpudesc : A processor\n# cpuid : %s\n' "$1"
    echo "chase 7 1.000000: PERF_RECORD_MMAP2 7/7: [0(0x10000) @ 0 <$id>]: r-xp $chase"
    sample() { printf 'chase 7 %s.0000%s: 1000 cpu-clock: %x chase_one+0x%x (%s)\n' "$1" "$2" $((at + $1)) "$1" "$chase"; }
    for i in $(seq 90); do sample 19 "$i"; done
    for i in $(seq 6); do sample 23 "$i"; done
    for i in $(seq 4); do sample 16 "$i"; done
}
import() { # a cpuid, or nothing; $epoch is the one that it makes
    samples "$1" >"$scratch/samples" && run epochs import "$scratch/samples" >"$scratch/said" &&
        epoch=$(sed -n 's/.*as epoch \([0-9]*\).*/\1/p' "$scratch/said")
}
this_processor() {
    awk -F': ' '/^vendor_id/ { v = $2 } /^cpu family/ { f = $2 } /^model\t/ { m = $2 }
        END { print v "," f "," m ",1" }' /proc/cpuinfo
}
# Of 1000 samples 970 lay one instruction behind; for this processor, in a virtual machine or not.
keep_skid() {
    local vendor family model
    IFS=, read -r vendor family model _ < <(this_processor)
    mkdir -p "$XDG_CACHE_HOME/culprit" || return 1
    {
        printf 'culprit skid 1\n1000\n0\n0.97\n0.03\n'
        yes 0 | head -38
    } >"$scratch/skid"
    for virtual in "" -virtual; do
        cp "$scratch/skid" "$XDG_CACHE_HOME/culprit/skid-$vendor-$(printf '%x-%x' "$family" "$model")$virtual-cpu-clock"
    done
    chmod 0600 "$XDG_CACHE_HOME"/culprit/*
}
flow() { tr '\n' ' ' <"$1" | tr -s ' '; }

put_back() {
    keep_skid && import "$(this_processor)" && run annotate chase_one >"$scratch/text" || return 1
    fits_100 "$scratch/text" && run annotate --json chase_one >"$scratch/json" &&
        flow "$scratch/text" | grep -q 'skid of cpu-clock here: median 1 instruction, 97 % exactly 1 behind the one that waits (1,000 samples of a known loop); samples are put back by it' &&
        grep -qE '^│ +dDmx|^│ +pdDmx' "$scratch/text" && grep -q 'w write buffer .* excluded$' "$scratch/text" &&
        grep -qE '1470 +mov rax, qword ptr \[rax\] +4 +90.0 %' "$scratch/text" &&
        python3 -S - "$scratch/json" <<'PYTHON' || { cat "$scratch/text"; return 1; }
import json, sys
p = json.load(open(sys.argv[1]))["procedures"][0]
assert p["analysis"] == "elimination" and p["machine"] == "zen4", p["machine"]
skid = p["skid"]
assert skid["measured"] and skid["samples"] == 1000 and (skid["least"], skid["most"]) == (1, 1)
load, sub, branch = (i for i in p["instructions"] if i["value"] > 0)
assert load["text"].startswith("mov") and abs(load["cycles"] - .9 * p["cycles"]) < 1e-6 * p["cycles"]
assert load["late"]["least"] == load["late"]["most"] and load["value"] == 4 and load["best"] is None
# The four at the load are of the branch, or of the caller.
assert branch["late"]["least"] == 0 and abs(branch["late"]["most"] - .04 * p["cycles"]) < 1e-6 * p["cycles"]
assert set(load["possible"]) >= {"dmiss", "dtlbmiss", "registers"} and "dmiss" not in sub["possible"]
causes = p["summary"]["causes"]
assert causes["dmiss"]["least"] == 0 and causes["dmiss"]["most"] >= .9 * p["cycles"]
assert causes["writebuffer"]["most"] == 0 == causes["synchronisation"]["most"]
assert all(b["executions"] is None for b in p["blocks"])
PYTHON
}

# The rules are those of the processor that was sampled, and its skid is not this one's.
of_another() {
    import GenuineIntel,6,85,7 && run annotate chase_one >"$scratch/text" && fits_100 "$scratch/text" &&
        run epochs | grep -q . && run top | grep -q 'A processor (GenuineIntel family 06h, model 55h)' &&
        flow "$scratch/text" | grep -q 'by the rules of machine icelake-server by default: the nearest to the processor that ran this, Intel Skylake server (family 06h, model 55h)' &&
        flow "$scratch/text" | grep -q 'skid of cpu-clock: not known (they are not of this processor), so taken to be 0 to 15 instructions' &&
        grep -qE '1470 +mov .* 4 +≤ 100.0 %' "$scratch/text" &&
        grep -qE '^\*\*\* [0-9.]+ % of the time \(0.0 to 100.0 %\)' "$scratch/text" || { cat "$scratch/text"; return 1; }
}
of_nobody() {
    import "" && run annotate chase_one >"$scratch/text" &&
        flow "$scratch/text" | grep -q 'which processor ran this is not told, so it is as for this host: CULPRIT_MACHINE names it' ||
        { cat "$scratch/text"; return 1; }
}
of_several() {
    fails_with 1 'sampled on several processors \(choose epochs of one' run annotate --epoch 1,2 chase_one &&
        run annotate --epoch 1,2 --machine zen3 chase_one >"$scratch/text" &&
        flow "$scratch/text" | grep -q 'not known (the epochs are of several processors)'
}

# A core in order has a schedule to compare with.
in_order() {
    import "$(this_processor)" && run annotate --machine alpha21164 chase_one >"$scratch/text" &&
        grep -q '^\*\*\* Best-case' "$scratch/text"
}

if has x86_64-workloads && grep -q '^vendor_id' /proc/cpuinfo; then
    check "samples are put back by the skid of this processor" put_back
    check "of another processor" of_another
    check "of a processor that is not told" of_nobody
    check "of several processors" of_several
    check "a machine in order has best cases" in_order
else
    skip "samples are put back by the skid of this processor" "no x86-64 processor or workloads here"
fi

# ---- a simulation beside the samples ----

# Each step of the chase is one round of its loop; the whole run is simulated. Samples are made by
# hand, and so of another command than the one simulated.
simulated() {
    import "$(this_processor)" &&
        run annotate --json chase_one --simulate -- "$chase" 30000 1 8192 >"$scratch/json" 2>"$scratch/err" &&
        python3 -S - "$scratch/json" <<'PYTHON' || { cat "$scratch/err"; return 1; }
import json, sys
p = json.load(open(sys.argv[1]))["procedures"][0]
s = p["simulated"]
assert s["machine"] == "zen4" and s["command"].endswith("chase 30000 1 8192") and not s["same_command"]
load, sub, branch = (i for i in p["instructions"] if i["value"] > 0)
assert load["simulated"]["executions"] == 30000 and sum(load["simulated"]["signatures"].values()) > 0
assert any("ST-L1" in name for name in load["simulated"]["signatures"])
assert all(b["executions"] is None for b in p["blocks"])
assert 0 < s["share"] < 1 and s["cycles"] < s["total_cycles"]
PYTHON
}
in_text() {
    run annotate chase_one --simulate -- "$chase" 30000 1 8192 >"$scratch/out" 2>"$scratch/text" &&
        fits_100 "$scratch/text" && grep -q '^chase' "$scratch/out" &&
        grep -qE '^ +address .* culprit +simulated$' "$scratch/text" &&
        grep -qE '^\*\*\* simulated: [0-9.]+ % of the time; executed 30.0 k times; [0-9.]+ CPI$' "$scratch/text" &&
        grep -qE '1470 +mov .*% [0-9]+% ST-L1' "$scratch/text" &&
        flow "$scratch/text" | grep -q 'but for lines that a machine with core.wrong_path fetches there' &&
        flow "$scratch/text" | grep -q 'what was simulated is not the command of the epochs' || { cat "$scratch/text"; return 1; }
}
# An epoch that was saved, with more options of what is shown.
saved() {
    run explain --no-what-if --save --machine zen4 --output "$scratch/out" -- "$chase" 30000 1 8192 >/dev/null &&
        import "$(this_processor)" || return 1
    run annotate --epoch "$epoch" --simulated $((epoch - 1)) --source --cfg "$scratch/graph.svg" chase_one >"$scratch/text" &&
        grep -qE 'executed 30.0 k times' "$scratch/text" && grep -q 'at->next' "$scratch/text" &&
        run annotate --epoch "$epoch" --all --simulated $((epoch - 1)) --machine zen3 >"$scratch/text" &&
        grep -q 'executed 30.0 k times' "$scratch/text" &&
        fails_with 1 "epoch $epoch is no simulation" run annotate --epoch "$epoch" --simulated "$epoch" chase_one &&
        fails_with 1 'is a simulation itself' run annotate --epoch $((epoch - 1)) --simulated $((epoch - 1))
}
of_a_trace() {
    run trace --output "$scratch/run.ctrace" -- "$chase" 3000 1 4096 >/dev/null 2>&1 &&
        run annotate --epoch "$epoch" chase_one --simulate "$scratch/run.ctrace" --json >"$scratch/json" &&
        python3 -S -c 'import json, sys; p = json.load(open(sys.argv[1]))["procedures"][0]
assert any((i["simulated"] or {}).get("executions") == 3000 for i in p["instructions"])' "$scratch/json"
}
not_there() {
    fails_with 125 "chase_one: not simulated: true ran none of it .for samples of what it runs: 'culprit record -- true'." run annotate --epoch "$epoch" chase_one --simulate -- true
}
# Nothing is run for it.
not_sampled() {
    fails_with 125 'nobody' run annotate --epoch "$epoch" nobody --simulate -- touch "$scratch/ran" && [ ! -e "$scratch/ran" ]
}
not_of_time() {
    samples "$(this_processor)" | sed 's/cpu-clock/page-faults/' >"$scratch/samples" &&
        run epochs import "$scratch/samples" >"$scratch/said" || return 1
    epoch=$(sed -n 's/.*as epoch \([0-9]*\).*/\1/p' "$scratch/said")
    fails_with 125 'simulate: beside samples of time, not of page-faults' \
        run annotate --epoch "$epoch" --event page-faults chase_one --simulate -- true &&
        fails_with 125 "simulate: .* has samples of page-faults and none of time, beside which it is shown: 'culprit record -- COMMAND' first" \
            run annotate --epoch "$epoch" --simulate -- touch "$scratch/touched" && [ ! -e "$scratch/touched" ]
}
# What was sampled is the file of now; the simulation was of one before.
another_build() {
    cp "$WORKLOADS/x86_64/stream" "$scratch/program" &&
        run sim --save --output "$scratch/out" -- "$scratch/program" 1 1000 >/dev/null &&
        rm "$scratch/program" && cp "$chase" "$scratch/program" || return 1
    samples "$(this_processor)" | sed "s#$chase#$scratch/program#" >"$scratch/samples" &&
        run epochs import "$scratch/samples" >"$scratch/said" || return 1
    epoch=$(sed -n 's/.*as epoch \([0-9]*\).*/\1/p' "$scratch/said")
    fails_with 1 'what was simulated is another build of .*/program than what was sampled' \
        run annotate --epoch "$epoch" --simulated $((epoch - 1)) chase_one
}
# As it is typed: recorded, then simulated; how often the loop ran is known by construction.
recorded() {
    run annotate chase_one --json --simulate -- "$chase" 2000000 1 32768 >"$scratch/json" 2>"$scratch/err" &&
        python3 -S - "$scratch/json" <<'PYTHON' || { cat "$scratch/err"; return 1; }
import json, sys
p = json.load(open(sys.argv[1]))["procedures"][0]
assert p["simulated"]["same_command"] and p["executions"] == "counted"
assert max(b["executions"] or 0 for b in p["blocks"]) == 2000000, [b["executions"] for b in p["blocks"]]
assert p["cpi"] > 0 and p["best_cpi"] is None
PYTHON
}

if has x86_64-workloads && grep -q '^vendor_id' /proc/cpuinfo; then
    check "a command simulated beside samples" simulated
    check "the same as text" in_text
    check "a simulation that was saved" saved
    check "a trace simulated beside samples" of_a_trace
    check "a simulation that did not run the procedure" not_there
    check "a procedure without samples is not simulated" not_sampled
    check "a simulation beside what is no time" not_of_time
    check "a simulation of another build" another_build
    if run record --output "$scratch/out" -- "$chase" 2000000 1 32768 >/dev/null 2>"$scratch/err"; then
        check "a command recorded and simulated" recorded
    else
        skip "a command recorded and simulated" "$(head -1 "$scratch/err")"
    fi
else
    skip "a command simulated beside samples" "no x86-64 processor or workloads here"
fi

check "--simulate without samples" fails_with 125 "simulate is shown beside samples, which 'culprit record -- COMMAND' collects: .*no profiles are kept there yet" \
    run annotate --store "$scratch/none.db" main --simulate -- true
check "--simulate without a command" fails_with 2 'simulate: what' run annotate --simulate
check "a command without --simulate" fails_with 125 'one procedure at a time, or --all; a command with --simulate' run annotate main -- true
check "--simulate and --simulated" fails_with 2 'either an epoch, or --simulate' run annotate --simulated 1 --simulate main true
check "--simulate and --exact" fails_with 2 'exact: of an epoch' run annotate --exact --simulate main true
finish
