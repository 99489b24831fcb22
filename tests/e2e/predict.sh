# culprit predict: the model's figures against programs whose answer is known, sweeps, pictures,
# errors.
. tests/e2e/lib.sh

report=$scratch/report.json

told_names='m = r["machines"]
p = m[0]["predictions"][0]'

if has riscv64-workloads; then
    capture_part 200K chase chase_one chase 60000 1
    capture_part 200K pending sum_values pending 60000
    capture_part 200K hashjoin probe hashjoin 60000
fi

# predicts OPTIONS... TRACE
predicts() {
    run predict --json --output "$report" "${@:1:$#-1}" "$scratch/${*: -1}.ctrace"
}

# Every third instruction misses and waits for the one before it: 200 cycles each, and nothing is
# hidden that hits would not hide as well. Windows know nothing of hits: three instructions' issue
# less.
one_chain_is_in_series() {
    predicts chase && told 'not r["partial"]' 'm[0]["rob"] == 256' 'm[0]["store_queue"] == 256' 'm[0]["width"] == 4' \
        'r["method"] == "sliding reorder buffer"' 'abs(p["distance_uops"] - 3) < 0.05' \
        'abs(p["cpi"] * r["instructions"] / p["misses"] - 200) < 0.3' || return 1
    local kind
    for kind in window distance; do
        predicts --windows swam-mlp --compensation $kind chase &&
            told 'abs(p["serialized_misses"] / p["misses"] - 1) < 0.001' \
                'abs(p["cpi"] * r["instructions"] / p["misses"] - (200 - 3 / 4)) < 0.3' || return 1
    done
}

# A node's second field is a pending hit, which leads to the next node: without pending hits the
# misses seem parallel.
pending_hits_connect_misses() {
    predicts pending && told 'p["serialized_misses"] > 0.99 * p["misses"]' &&
        predicts --windows swam pending && told 'p["serialized_misses"] > 0.99 * p["misses"]' &&
        predicts --windows swam --no-pending-hits pending && told 'p["serialized_misses"] < 0.1 * p["misses"]'
}

check_agrees_with_sim() {
    predicts --check hashjoin &&
        told 'len(m) == 1' 'len(m[0]["predictions"]) == 7' 'r["checked"]' \
            'abs(m[0]["simulated_cpi"] - (m[0]["cycles"] - m[0]["cycles_ideal_dlong"]) / r["instructions"]) < 1e-9' \
            'abs(p["error_percent"]) < 15' 'p["cpi"] == m[0]["predictions"][6]["cpi"]' || return 1
    local real ideal
    real=$(run sim --machine chen-ooo --json "$scratch/hashjoin.ctrace" | python3 -S -c 'import json, sys; print(json.load(sys.stdin)["cycles"])') || return 1
    ideal=$(run sim --machine chen-ooo --ideal dlong --json "$scratch/hashjoin.ctrace" | python3 -S -c 'import json, sys; print(json.load(sys.stdin)["cycles"])') || return 1
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
    together=$(python3 -S -c 'import json, sys; print(repr(json.load(open(sys.argv[1]))["machines"][5]["predictions"][0]["cpi"]))' "$report")
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
    python3 -S -c 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' "$scratch/picture.svg" &&
        [ "$(grep -c dasharray "$scratch/picture.svg")" = 2 ] && grep -q "mshr 4" "$scratch/picture.svg" &&
        grep -A6 'mean |error|$' "$scratch/text" >"$scratch/errors" && ! grep -E '[+-][0-9]' "$scratch/errors" &&
        grep -q "mshr unlimited" "$scratch/picture.svg" && ! grep -q "mshr 0" "$scratch/picture.svg" &&
        fits_100 "$scratch/text"
}

# Lest the next command write over it.
next_command_draws_no_picture() {
    (cd "$scratch" && run predict --sweep rob=64,256 --svg=next.svg chase.ctrace) |
        grep -qx 'next: culprit predict --check --sweep rob=64,256 chase.ctrace'
}

hashjoin=(riscv64 "hashjoin 60000")

# field EXPRESSION: of the report r, whose machines are m and whose first prediction is p.
field() {
    python3 -S -c 'import json, sys
r = json.load(open(sys.argv[1])); m = r["machines"]; p = m[0]["predictions"][0]; print(repr(eval(sys.argv[2])))' "$report" "$1"
}

# The region that is everything is the plain prediction; two halves stand for their shares; of a
# region with all before it warmed the core tells what sim does.
regions_combine() {
    local whole first second cycles
    predicts --limit 160K hashjoin && whole=$(field '(p, m[0]["load_misses"])') || return 1
    region_list "$scratch/all.csv" "${hashjoin[@]}" 160000 hashjoin.ctrace 0:160000:1
    run predict --json --output "$report" --regions "$scratch/all.csv" &&
        told "(p, m[0]['load_misses']) == $whole" 'r["instructions"] == 160000' \
            'r["regions"] == {"count": 1, "predicted": 1, "instructions": 160000}' || return 1
    region_list "$scratch/first.csv" "${hashjoin[@]}" 80000 hashjoin.ctrace 0:80000:1
    region_list "$scratch/second.csv" "${hashjoin[@]}" 80000 hashjoin.ctrace 80000:160000:1
    region_list "$scratch/both.csv" "${hashjoin[@]}" 1000000 hashjoin.ctrace 0:80000:0.25 80000:160000:0.75
    run predict --json --output "$report" --regions "$scratch/first.csv" && first=$(field 'p["cpi"]') &&
        run predict --json --output "$report" --regions "$scratch/second.csv" &&
        second=$(field 'p["cpi"]') &&
        run predict --json --output "$report" --regions "$scratch/both.csv" &&
        told 'r["instructions"] == 1000000' "abs(p['cpi'] - 0.25 * $first - 0.75 * $second) < 1e-9" \
            'any("2 of 2 regions: 160 k of 1.00 M" in n for n in r["notes"])' || return 1
    cycles=$(run sim --machine chen-ooo --json --regions "$scratch/both.csv" |
        python3 -S -c 'import json, sys; print(json.load(sys.stdin)["cycles"])') || return 1
    run predict --check --json --output "$report" --regions "$scratch/both.csv" &&
        told "abs(m[0]['cycles'] - $cycles) <= 2" 'abs(p["error_percent"]) < 15'
}

# Blocks that the second half uses again are there when the first warmed the caches.
regions_are_warmed() {
    local cold
    run predict --json --output "$report" --set l2.size=4M --set l2.ways=16 --regions "$scratch/second.csv" --warm-up 0 &&
        cold=$(field 'm[0]["load_misses"]') &&
        run predict --json --output "$report" --set l2.size=4M --set l2.ways=16 --regions "$scratch/second.csv" &&
        told "0 < m[0]['load_misses'] < $cold"
}

# refused MESSAGE STATUS OPTIONS...
refused() {
    fails_with "$2" "$1" run predict "${@:3}"
}

nonsense_is_refused() {
    local trace=$scratch/chase.ctrace
    refused "rob = 0" 1 --sweep rob=0 "$trace" &&
        refused "MSHRs" 1 --sweep 'rob=8 mshr=16' "$trace" &&
        refused "latency = -5" 1 --sweep latency=-5 "$trace" &&
        refused "one of rob, mshr" 2 --sweep width=4 "$trace" &&
        refused "a value is missing" 2 --sweep rob=64,,8 "$trace" &&
        refused "what varies is missing" 2 --sweep ' ' "$trace" &&
        refused "cannot be printed" 2 --sweep $'rob=6\e4' "$trace" &&
        refused "rob = x" 1 --sweep $'mshr=4\nrob=x' "$trace" &&
        refused "more than 1024" 1 --sweep "rob=$(seq -s, 64 79) mshr=$(seq -s, 1 16) latency=$(seq -s, 1 5)" "$trace" &&
        refused "varies already" 2 --sweep rob=64 --sweep rob=8 "$trace" &&
        refused "issues in order" 1 --machine alpha21164 "$trace" &&
        refused "add --sweep" 2 --svg "$scratch/x.svg" "$trace" &&
        refused "youngest" 2 --compensation most "$trace" &&
        refused "letters" 2 --parts abd "$trace" &&
        refused "buffer slides" 2 --no-pending-hits "$trace" &&
        refused "buffer slides" 2 --compensation none "$trace" &&
        refused "no instruction was predicted: there was no thread 7" 1 --thread 7 "$trace"
}

bad_regions_are_refused() {
    region_list "$scratch/long.csv" "${hashjoin[@]}" 300000 hashjoin.ctrace 80000:300000:1
    refused "region 1: .*hashjoin.ctrace: it ends 100000 instructions early" 1 --regions "$scratch/long.csv" &&
        sed 's/hashjoin.ctrace/gone.ctrace/' "$scratch/all.csv" >"$scratch/gone.csv" &&
        refused "region 1: .*gone.ctrace" 1 --regions "$scratch/gone.csv" &&
        sed 's/riscv64/x86_64/' "$scratch/all.csv" >"$scratch/other.csv" &&
        refused "another architecture" 1 --regions "$scratch/other.csv" &&
        refused "add --regions" 2 --warm-up 5 "$scratch/hashjoin.ctrace" &&
        refused "without --skip" 2 --regions "$scratch/all.csv" --limit 5 &&
        refused "no other trace" 2 --regions "$scratch/all.csv" "$scratch/hashjoin.ctrace"
}

addresses_are_needed() {
    run trace --no-addresses --stop --limit 1000 --output "$scratch/bare.ctrace" -- true >/dev/null 2>&1
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
    check "the next command leaves the picture alone" next_command_draws_no_picture
    check "nonsense is refused in one line" nonsense_is_refused
    check "regions combine into the whole run" regions_combine
    check "what comes before a region warms caches" regions_are_warmed
    check "regions that cannot be predicted are refused" bad_regions_are_refused
fi
finish
