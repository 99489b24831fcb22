# culprit explain: long runs are sampled, with weights that still sum exactly.
. tests/e2e/lib.sh

# Each simulation of an out-of-order core is followed by dozens, of what it would be without each
# cause; where something else is tested, the core is in order.
in_order="--machine alpha21164"
seq 6000 >"$scratch/few"
seq 34000 >"$scratch/numbers"
run trace -o "$scratch/gzip.ctrace" -- gzip -9 -c "$scratch/numbers" >/dev/null 2>&1

sampled() {
    run explain --systematic --no-what-if "$scratch/gzip.ctrace" --json --top 0 >"$scratch/report" &&
        python3 -S tests/e2e/check_report.py "$scratch/report" 'r["sampling"]["windows"] > 8' \
            'r["instructions_simulated"] < r["instructions_executed"]' \
            '0.9 < r["instructions"] / r["instructions_executed"] <= 1' \
            'r["sampling"]["cpi_half_interval_95"] > 0' \
            'any("sampling error" in n for n in r["notes"])' 'any("--warm" in n for n in r["notes"])' \
            'any("windows of weight 2 after" in n for n in r["notes"])'
}
check "a long run is sampled; weighted cycles sum exactly" sampled

# The costs are near those of icost, which takes them from the dependence graph. A cause that costs
# nothing may cost a rounding less.
what_if() {
    run icost --limit 200K --json "$scratch/gzip.ctrace" >"$scratch/icost" &&
        run explain --limit 200K --json "$scratch/gzip.ctrace" >"$scratch/beginning" &&
        python3 -S - "$scratch/beginning" "$scratch/icost" <<'END'
import json, sys
some, every = (json.load(open(path)) for path in sys.argv[1:])
costs = {c["category"]: c["cost"]["percent"] for c in some["what_if"]["costs"]}
assert len(some["what_if"]["costs"]) == 9 and len(some["what_if"]["pairs"]) == 36
assert all(-0.01 < cost < 100 for cost in costs.values())
for s in every["sets"]:
    if len(s["members"]) == 1:
        print(s["members"][0], costs[s["members"][0]], s["cost"]["percent"])
        assert abs(costs[s["members"][0]] - s["cost"]["percent"]) < 4
END
}
check "what if, simulated again, is near icost" what_if
without_what_if() {
    run explain --no-what-if --limit 200K --json "$scratch/gzip.ctrace" >"$scratch/plain" &&
        python3 -S -c 'import json, sys
plain, full = (json.load(open(name)) for name in sys.argv[1:])
assert plain["what_if"] is plain["larger_machine"] is None and plain["advice"] == []
assert plain["cycles"] == full["cycles"] and plain["functions"] == full["functions"]' \
        "$scratch/plain" "$scratch/beginning"
}
check "or is left out, and nothing else is" without_what_if

# A load that waits for a store which cannot forward is named, and what it costs.
forwarding() {
    run explain --json --top 0 --output "$scratch/report" --from read_whole --limit 300K -- \
        "$WORKLOADS/x86_64/parts" 100000 >/dev/null &&
        python3 -S tests/e2e/check_report.py "$scratch/report" \
            'r["components"]["forwarding"] > 0.6 * r["cycles"]' \
            'r["hot_instructions"][0]["stack"]["ST-FW"] > 0.9 * r["hot_instructions"][0]["cycles"]' \
            '35 < next(c for c in r["what_if"]["costs"] if c["category"] == "stfwd")["cost"]["percent"] < 40' \
            'next(c for c in r["what_if"]["costs"] if c["category"] == "stfwd")["places"][0]["function"] == "read_whole"'
}
skip_without x86_64-workloads "failed forwarding" ||
    check "a store that cannot forward is named, with what it costs" forwarding

words() {
    run explain --legend --limit 300K -- gzip -c "$scratch/numbers" 2>"$scratch/text" >/dev/null &&
        for word in 'what the words mean' execute mispredict 'L1 miss' stalled kernel \
            'with prefetches from within: L2 [0-9]' 'own count only further' 'what if' 'overlap' 'next: culprit explain'; do
            grep -q "$word" "$scratch/text" || { echo "no $word"; return 1; }
        done
}
check "every word is explained" words

# On a terminal the first report explains its words, others only say how to have that; elsewhere none
# does unless asked to.
once() {
    export XDG_STATE_HOME=$scratch/state
    local shown=() i
    for i in 1 2; do
        script -qec "$CULPRIT explain --limit 100K -- true" "$scratch/typed" >/dev/null </dev/null
        shown+=("$(grep -c 'no event: committing' "$scratch/typed")")
        grep -q 'culprit explain --legend' "$scratch/typed"
        shown+=($?)
    done
    unset XDG_STATE_HOME
    echo "${shown[@]}"
    [ "${shown[*]}" = "1 1 0 0" ] && run explain --legend | grep -q 'waiting for a load that missed'
}
skip_without script "the words are explained once on a terminal" ||
    check "the words are explained once on a terminal" once

# The object has standard output to itself: what the command writes there goes to standard error.
to_itself() {
    run explain $in_order --json -- seq 3 2>"$scratch/err" >"$scratch/object" || return 1
    without_progress "$scratch/err" >"$scratch/said"
    report=$scratch/object told 'r["program"] == "seq 3"' && printf '1\n2\n3\n' | cmp - "$scratch/said" &&
        run icost --json --limit 50K -- seq 3 2>/dev/null | python3 -S -m json.tool >/dev/null &&
        run sim -o - --limit 100K -- seq 3 2>/dev/null | head -n 1 | grep -qx 'seq 3 (partial)\|seq 3' &&
        run explain $in_order --json -o "$scratch/object" -- seq 3 | cmp - "$scratch/said"
}
check "--json is alone on standard output" to_itself

# The reader of the report may go before it is whole; one that has gone ends explain.
leaves_nothing() {
    mkdir "$scratch/temporary" &&
        TMPDIR="$scratch/temporary" run explain --json -o - -- true 2>&1 | head -c 1 >/dev/null
    rmdir "$scratch/temporary"
}
check "a reader that goes early leaves no temporary files" leaves_nothing

# Shell, env and gzip are one process: gzip has nearly all instructions, in regions of a second run.
report=$scratch/chain
wrapped() {
    printf '#!/usr/bin/env sh\nexec env LEVEL=1 nice gzip -9 -c "$@"\n' >"$scratch/wrapper" &&
        chmod +x "$scratch/wrapper" &&
        run explain $in_order --regions-over 2M --regions 6 --json -o "$report" -- "$scratch/wrapper" "$scratch/few" \
            >/dev/null && told 'r["regions"]["count"] > 0' 'not r["partial"]' \
            'sum("ran 5 programs" in n and "gzip" in n for n in r["notes"]) == 1' \
            'not any("not included" in n or "threads" in n for n in r["notes"])' \
            'r["functions"][0]["image"] == "gzip"'
}
check "programs that exec starts are the same command, also by regions" wrapped

children() {
    run explain $in_order --json -o "$report" -- timeout 100 gzip -1 -c "$scratch/few" >/dev/null &&
        told 'r["functions"][0]["image"] == "gzip"' 'r["children"]["included"]' 'r["children"]["count"] == 1' \
            'r["children"]["share"] > 0.8' '"--follow" not in r["next"]' || return 1
    run explain $in_order --regions-over 2M --regions 6 --json -o "$report" -- timeout 100 gzip -1 -c "$scratch/few" \
        >/dev/null && told 'r["children"]["share"] > 0.8' 'not r["partial"]' \
        'any("several processes" in n for n in r["notes"])' || return 1
    run explain $in_order --no-follow --json -o "$report" -- timeout 100 gzip -9 -c "$scratch/few" >/dev/null && told \
        'r["functions"][0]["image"] != "gzip"' 'not r["children"]["included"]' '"--follow" not in r["next"]'
}
check "children are followed, unless --no-follow" children

finish
