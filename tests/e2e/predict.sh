# culprit predict: the model's figures against programs whose answer is known, sweeps, pictures,
# errors.
. tests/e2e/lib.sh

report=$scratch/report.json

# told EXPRESSION...: each holds of the report r; m are its machines, p the prediction of the first.
told() {
    python3 - "$report" "$@" <<'END'
import json, sys
r = json.load(open(sys.argv[1]))
m = r["machines"]
p = m[0]["predictions"][0]
for text in sys.argv[2:]:
    assert eval(text), (text, r)
END
}

# capture NAME FUNCTION ARGUMENTS...: part of a workload for riscv64.
capture() {
    run trace --from "$2" --limit 200K --output "$scratch/$1.ctrace" -- \
        "$WORKLOADS/riscv64/${3}" "${@:4}" >/dev/null 2>&1
}

if has riscv64-workloads; then
    capture chase chase_one chase 60000 1
    capture pending sum_values pending 60000
    capture hashjoin probe hashjoin 60000
fi

# predicts OPTIONS... TRACE
predicts() {
    run predict --json --output "$report" "${@:1:$#-1}" "$scratch/${*: -1}.ctrace"
}

# Every third instruction misses and waits for the one before it: 200 cycles each, less three
# instructions' issue.
one_chain_is_in_series() {
    predicts chase && told 'not r["partial"]' 'm[0]["rob"] == 256' 'm[0]["width"] == 4' \
        'abs(p["serialized_misses"] / p["misses"] - 1) < 0.001' 'abs(p["distance_uops"] - 3) < 0.05' \
        'abs(p["cpi"] * r["instructions"] / p["misses"] - (200 - 3 / 4)) < 0.3'
}

# A node's second field is a pending hit, which leads to the next node: without pending hits the
# misses seem parallel.
pending_hits_connect_misses() {
    predicts pending && told 'p["serialized_misses"] > 0.99 * p["misses"]' &&
        predicts --no-pending-hits pending && told 'p["serialized_misses"] < 0.1 * p["misses"]'
}

check_agrees_with_sim() {
    predicts --check hashjoin &&
        told 'len(m) == 1' 'len(m[0]["predictions"]) == 6' 'r["checked"]' \
            'abs(m[0]["simulated_cpi"] - (m[0]["cycles"] - m[0]["cycles_ideal_dlong"]) / r["instructions"]) < 1e-9' \
            'abs(p["error_percent"]) < 25' 'p["cpi"] == m[0]["predictions"][5]["cpi"]' || return 1
    local real ideal
    real=$(run sim --machine chen-ooo --json "$scratch/hashjoin.ctrace" | python3 -c 'import json, sys; print(json.load(sys.stdin)["cycles"])') || return 1
    ideal=$(run sim --machine chen-ooo --ideal dlong --json "$scratch/hashjoin.ctrace" | python3 -c 'import json, sys; print(json.load(sys.stdin)["cycles"])') || return 1
    told "m[0]['cycles'] == $real" "m[0]['cycles_ideal_dlong'] == $ideal"
}

# In one pass as one by one; more of anything never costs more here.
sweeps_are_many_predictions() {
    predicts --sweep rob=64,256 --sweep 'mshr=4,0 latency=100,200' hashjoin &&
        told 'len(m) == 8' '[x["rob"] for x in m] == 4 * [64] + 4 * [256]' \
            '[x["mshrs"] for x in m[:4]] == [4, 4, 0, 0]' '[x["latency_cycles"] for x in m[:2]] == [100, 200]' \
            'm[7]["predictions"][0]["cpi"] < m[3]["predictions"][0]["cpi"]' \
            'm[7]["predictions"][0]["cpi"] < m[5]["predictions"][0]["cpi"]' || return 1
    local together
    together=$(python3 -c 'import json, sys; print(repr(json.load(open(sys.argv[1]))["machines"][5]["predictions"][0]["cpi"]))' "$report")
    predicts --set core.rob=256 --set l1d.mshrs=4 --set l2.mshrs=0 hashjoin && told "p['cpi'] == $together"
}

prefetchers_differ() {
    predicts --sweep prefetch=none,on_miss,tagged,stride hashjoin &&
        told '[x["prefetcher"] for x in m] == ["none", "on_miss", "tagged", "stride"]' \
            'm[2]["load_misses"] < m[0]["load_misses"]'
}

pictures_are_xml() {
    run predict --sweep 'rob=64,256 mshr=4,0' --svg "$scratch/picture.svg" --check \
        "$scratch/chase.ctrace" >"$scratch/text" || return 1
    python3 -c 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' "$scratch/picture.svg" &&
        [ "$(grep -c dasharray "$scratch/picture.svg")" = 2 ] && grep -q "mshr 4" "$scratch/picture.svg" &&
        ! awk '{ gsub(/µ/, "u") } length > 100' "$scratch/text" | grep -q .
}

# refused MESSAGE STATUS OPTIONS...
refused() {
    local said status
    said=$(run predict "${@:3}" 2>&1 >/dev/null)
    status=$?
    [ $status = "$2" ] && [ "$(wc -l <<<"$said")" = 1 ] && grep -q -- "$1" <<<"$said" || {
        echo "$status: $said"
        return 1
    }
}

nonsense_is_refused() {
    local trace=$scratch/chase.ctrace
    refused "rob = 0" 1 --sweep rob=0 "$trace" &&
        refused "MSHRs" 1 --sweep 'rob=8 mshr=16' "$trace" &&
        refused "latency = -5" 1 --sweep latency=-5 "$trace" &&
        refused "one of rob, mshr" 2 --sweep width=4 "$trace" &&
        refused "a value is missing" 2 --sweep rob=64,,8 "$trace" &&
        refused "varies already" 2 --sweep rob=64 --sweep rob=8 "$trace" &&
        refused "issues in order" 1 --machine alpha21164 "$trace" &&
        refused "add --sweep" 2 --svg "$scratch/x.svg" "$trace" &&
        refused "youngest" 2 --compensation most "$trace" &&
        refused "letters" 2 --parts abd "$trace"
}

addresses_are_needed() {
    run trace --no-addresses --limit 1000 --output "$scratch/bare.ctrace" -- true >/dev/null 2>&1
    refused "no memory addresses" 1 "$scratch/bare.ctrace"
}

commands_keep_their_status() {
    run predict --limit 100K -- sh -c 'echo said; exit 3' >"$scratch/out" 2>"$scratch/err"
    [ $? = 3 ] && [ "$(cat "$scratch/out")" = said ] && grep -q "due to long data misses" "$scratch/err"
}

check "a command keeps its output and status" commands_keep_their_status
check "a trace without addresses is refused" addresses_are_needed
if ! skip_without riscv64-workloads "predictions of known programs"; then
    check "one chain of misses is in series" one_chain_is_in_series
    check "pending hits connect misses" pending_hits_connect_misses
    check "--check compares with sim" check_agrees_with_sim
    check "a sweep gives what single predictions give" sweeps_are_many_predictions
    check "prefetchers differ" prefetchers_differ
    check "pictures are XML, texts fit" pictures_are_xml
    check "nonsense is refused in one line" nonsense_is_refused
fi
finish
