# culprit icost --shotgun: samples and fragments of a run whose breakdown the graph knows.
. tests/e2e/lib.sh

report=$scratch/report.json
trace=$scratch/gzip.ctrace
seq 40000 | awk '{ print ($1 * 7919) % 30011 }' >"$scratch/numbers"
run trace --skip 3M --stop --limit 400K --output "$trace" -- gzip -9 -c "$scratch/numbers" >/dev/null 2>&1

told_names='p, s = r["profiler"], r["shotgun"]
def percent(way, *members):
    return {frozenset(x["members"]): x for x in way["sets"]}[frozenset(members)]["icost"]["percent"]
attempts, insns = s["attempts"], s["instructions"]
singles = [c["name"] for c in r["categories"]]'
shotgun() {
    run icost --machine fields2004 --set l1d.latency=4 --json --output "$report" "$@" "$trace"
}

# Every cause within 1.5 % of the time of what perfect fragments from the same places say, and within
# 10 % of the whole run's; nothing is counted twice or lost.
finds_the_breakdown() {
    shotgun --shotgun-design 1 --shotgun-period 32 && cp "$report" "$scratch/perfect.json" &&
        told 'insns["missing"] == insns["inexact"] == 0' 's["paths"] is None' &&
        shotgun --shotgun --shotgun-period 32 &&
        told 's["samples"] > 9000' '30 < s["signature_samples"] < 200' \
            'attempts["complete"] * 2000 >= sum(insns.values()) > attempts["complete"] * 1900' \
            'insns["missing"] < 0.05 * sum(insns.values())' \
            's["paths"]["errant_discarded"] >= 0.95 * s["paths"]["errant"]' \
            's["paths"]["right_discarded"] == 0' \
            "all(abs(percent(p, c) - percent(json.load(open('$scratch/perfect.json'))['profiler'], c)) < 1.5 for c in singles)" \
            'all(abs(percent(p, c) - percent(r, c)) < 10 for c in singles)' 'len(p["sets"]) == 511' \
            'abs(sum(x["icost"]["cycles"] for x in p["sets"]) + p["all_idealised"]["cycles"] - p["cycles"]) < 0.01'
}
check "a shotgun profiler finds what the graph says" finds_the_breakdown

# Every instruction of the path has the bit that was sampled: none of it is illegal.
bit_of_the_program_counter() {
    local bit
    for bit in 0 4 11; do
        shotgun --shotgun-period 32 --shotgun-pc-bit $bit && told 'attempts["complete"] > 30' \
            's["paths"]["right_discarded"] == 0' \
            's["paths"]["errant_discarded"] >= 0.95 * s["paths"]["errant"]' || return 1
    done
}
check "a bit of the program counter in signatures" bit_of_the_program_counter

designs() {
    local design
    for design in 1 2 3 4; do
        shotgun --shotgun=20 --shotgun-design $design --shotgun-length 500 || return 1
        told 'attempts["complete"] <= 20 and sum(insns.values()) <= 20 * 500' \
            'attempts["complete"] > 0 and p["cycles"] > 0' || return 1
        cp "$report" "$scratch/design$design.json"
    done
    cp "$scratch/design2.json" "$report"
    told 'insns["inexact"] > insns["exact"]'
}
check "all four designs construct fragments" designs

same_again() {
    shotgun --shotgun=20 --shotgun-design 4 --shotgun-length 500 &&
        python3 -S - "$report" "$scratch/design4.json" <<'END'
import json, sys
a, b = (json.load(open(name)) for name in sys.argv[1:])
assert a["profiler"]["sets"] == b["profiler"]["sets"] and a["shotgun"] == b["shotgun"]
END
}
check "the same options give the same samples and fragments" same_again

tells() {
    run icost --shotgun "$trace" >"$scratch/table" && cat "$scratch/table" &&
        grep -qE '^ +graph +profiler +error$|graph profiler' "$scratch/table" &&
        grep -q 'profiler: .* fragments of up to 2000 instructions' "$scratch/table" &&
        ! grep -qE '^.{101}' "$scratch/table"
}
check "the table has its column, and tells what it rests on" tells

# Much of a run's beginning is executed once: its fragments are discarded, and with them what it
# waited for.
tells_of_bias() {
    run trace --stop --limit 200K --output "$scratch/cold.ctrace" -- gzip -9 -c "$scratch/numbers" \
        >/dev/null 2>&1
    run icost --shotgun "$scratch/cold.ctrace" >"$scratch/cold" &&
        grep -q 'profiler: biased, do not rely on it' "$scratch/cold" &&
        tr -d '\n' <"$scratch/cold" | tr -s ' ' | grep -q 'measure more of the run, or shorter fragments: --shotgun-length 500' &&
        run icost --shotgun --shotgun-length 400 "$scratch/cold.ctrace" >"$scratch/short" &&
        grep -q 'biased' "$scratch/short" && ! grep 'shotgun-length 500' "$scratch/short" &&
        run icost --shotgun --machine fields2004 "$trace" >"$scratch/warm" &&
        grep -q 'profiler: ' "$scratch/warm" && ! grep biased "$scratch/warm"
}
check "fragments that do not stand for the run are told" tells_of_bias

# The same samples from a file give the same breakdown.
from_a_file() {
    local samples=$scratch/gzip.shotgun
    run sim --machine fields2004 --set l1d.latency=4 --tap "shotgun:$samples" "$trace" >/dev/null &&
        shotgun --shotgun && cp "$report" "$scratch/run.json" &&
        run icost --shotgun-file "$samples" --json --output "$report" &&
        python3 -S - "$report" "$scratch/run.json" <<'END' &&
import json, sys
file, run = (json.load(open(name)) for name in sys.argv[1:])
assert file["way"] == "profiler" and file["machine"] == "fields2004" and file["program"].startswith("gzip")
assert file["sets"] == run["profiler"]["sets"] and file["shotgun"]["paths"] is None
assert file["shotgun"]["instructions"] == run["shotgun"]["instructions"]
END
        head -c 100000 "$samples" >"$scratch/cut.shotgun" &&
        fails_with 1 'cut.shotgun is damaged at byte' run icost --shotgun-file "$scratch/cut.shotgun"
}
check "samples in a file give the same breakdown" from_a_file
# They were taken with l1d.latency=4; what is asked for comes on top, and another machine has none
# of it.
changes_of_the_machine() {
    local samples=$scratch/gzip.shotgun
    cycles() {
        run icost --shotgun-file "$samples" "$@" --json --output "$report" &&
            python3 -S -c 'import json, sys; print(json.load(open(sys.argv[1]))["cycles"])' "$report"
    }
    local recorded again original
    recorded=$(cycles) && again=$(cycles --machine fields2004 --set l1d.latency=4) &&
        original=$(cycles --machine fields2004) && [ "$recorded" = "$again" ] &&
        [ "$(cycles --set l1d.latency=2)" = "$original" ] && [ "$recorded" != "$original" ]
}
check "samples tell how their machine was changed" changes_of_the_machine
check "a file that is none" fails_with 1 'not a file of shotgun samples' \
    run icost --shotgun-file "$trace"
check "a file in place of a run only" fails_with 2 'takes the place' \
    run icost --shotgun-file "$scratch/gzip.shotgun" "$trace"
check "... taken before, how they are taken is not asked" fails_with 2 'taken before.*--shotgun-pc-bit' \
    run icost --shotgun-pc-bit 3 --shotgun-file "$scratch/gzip.shotgun"
check "a tap with more samples than can be taken" fails_with 1 '32 at least' \
    run sim --tap "shotgun:$scratch/x.shotgun,interval=10" "$trace"

check "a run too short for a fragment is told" fails_with 1 'shotgun-length' \
    run icost --shotgun --limit 1000 "$trace"
check "a design that there is not" fails_with 2 'from 1 to 4' run icost --shotgun-design 5 "$trace"
check "a bit beyond those of a page" fails_with 2 'from 0 to 11' \
    run icost --shotgun-pc-bit 12 "$trace"
check "samples closer than the hardware takes them" fails_with 2 'from 32' \
    run icost --shotgun-period 5 "$trace"

finish
