# culprit throughput: the models on programs whose answer is known, searches, --check, pictures,
# errors.
. tests/e2e/lib.sh

report=$scratch/report.json

told_names='i, c, t = r.get("ipc"), r.get("cores"), r.get("threads")'

if has riscv64-workloads; then
    capture_part 100K chase chase_one chase 60000 1
    capture_part 100K matmul multiply matmul 60 1
    capture_part 100K interpreter interpret interpreter
    run trace --stop --limit 1000 --output "$scratch/native.ctrace" -- true >/dev/null 2>&1
    run trace --no-addresses --stop --limit 1000 --output "$scratch/bare.ctrace" -- true >/dev/null 2>&1
fi

# throughput OPTIONS... NAME...: traces by name.
throughput() {
    (cd "$scratch" && run throughput --json --output "$report" "$@")
}

one="--set chip.cores=1 --set chip.threads=1"

# A thread that has a core for itself: by every model what it does alone.
alone_all_models_agree() {
    throughput $one chase.ctrace &&
        told 'len(c) == 1 and len(t) == 1' 'max(i.values()) - min(i.values()) < 1e-9 * i["markov"]' \
            'abs(i["markov"] / t[0]["ipc_alone"] - 1) < 1e-9' 't[0]["l2_misses_extra"] == 0' || return 1
    throughput $one --check matmul.ctrace &&
        told 'abs(i["markov"] / r["simulated_ipc"] - 1) < 0.03' \
            'abs(t[0]["simulated"]["l1d_misses_alone"] - t[0]["l1d_misses_alone"]) < 1e-9'
}

# A chain of misses has the core for next to nothing; two such threads do twice as much.
misses_overlap() {
    throughput --set chip.cores=1 --set chip.threads=2 --check chase.ctrace &&
        told 'abs(i["markov"] / i["sum_of_ipcs"] - 1) < 0.05' 'i["sum_of_cycles"] < 0.51 * i["markov"]' \
            'abs(r["mean_error_percent"]["markov"]) < 5' 'r["speedup"] > 0'
}

# One that mostly waits beside one that hardly does: the chain, which knows one p and M for both, is
# low; mean values know which of them is there to issue. Both take about 120,000 cycles, so that
# neither begins again in warm caches.
unlike_threads() {
    capture_part 2100 brief chase_one chase 60000 1
    throughput --set chip.cores=1 --set chip.threads=2 --check brief.ctrace interpreter.ctrace &&
        told 'r["mean_error_percent"]["mean_value"] < 1.5' 'i["markov"] < 0.95 * r["simulated_ipc"]' \
            'all(abs(x["ipc"] / x["simulated"]["ipc"] - 1) < 0.03 for x in t)'
}

# Programs go round: cores 0 and 2 run chase and matmul, cores 1 and 3 matmul and chase.
programs_go_round() {
    throughput --set chip.cores=4 --set chip.threads=3 chase.ctrace 'matmul.ctrace*1' &&
        told '[x["program"] for x in t] == [0, 1] * 6' \
            'len(c) == 4' 'c[0]["ipc"] == c[2]["ipc"]' 'c[0]["ipc"] != c[1]["ipc"]' \
            'abs(sum(x["ipc"]["markov"] for x in c) / i["markov"] - 1) < 1e-9' \
            'abs(sum(x["ipc"] for x in t) / i["mean_value"] - 1) < 1e-9' \
            'all(abs(1 / x["ipc_own_core"] - sum(s["cycles"] for s in x["stalls"].values()) - 1) < 0.05 for x in t if x["program"])' || return 1
    throughput --set chip.cores=1 --set chip.threads=4 'matmul.ctrace*3' chase.ctrace &&
        told '[x["program"] for x in t] == [0, 0, 0, 1]' 'not any("only the first" in n for n in r["notes"])' ||
        return 1
    throughput --set chip.cores=1 --set chip.threads=2 'matmul.ctrace*2' chase.ctrace &&
        told '"the chip has 2 threads: only the first of the 3 programs run" in r["notes"]'
}

# In a search each chip is what it is alone.
searches_are_many_chips() {
    throughput --search 'cores=1..8 threads=1..4' chase.ctrace matmul.ctrace &&
        told 'len(r["chips"]) == 32' 'r["chips"][5]["cores"] == 2 and r["chips"][5]["threads"] == 2' \
            'r["best"]["cores"] == 8' 'r["simulated_best"] is None' 'r["model_seconds"] > 0' || return 1
    local searched
    searched=$(python3 -S -c 'import json, sys; print(repr(json.load(open(sys.argv[1]))["chips"][5]["ipc"]["markov"]))' "$report")
    throughput --set chip.cores=2 --set chip.threads=2 chase.ctrace matmul.ctrace && told "i['markov'] == $searched"
}

searches_are_checked() {
    (cd "$scratch" && run throughput --search cores=1..2 --search threads=1..2 --check --svg "$scratch/map.svg" chase.ctrace >text) &&
        grep -q '^best simulated: 2 cores of 2 threads' "$scratch/text" &&
        grep -q '^best: 2 cores of 2 threads' "$scratch/text" &&
        grep -q 'times as long$' "$scratch/text" && xml "$scratch/map.svg" &&
        [ "$(grep -c '#d7301f' "$scratch/map.svg")" = 2 ] && fits_100 "$scratch/text"
}

# A search that is stopped tells of the chips that it has come to.
searches_can_be_stopped() {
    local status=0 pid name
    for name in chase matmul; do
        run contend --profile "$scratch/$name.locality" "$scratch/$name.ctrace" >/dev/null 2>&1 || return 1
    done
    (cd "$scratch" && exec "$CULPRIT" throughput --rounds 20 --search 'cores=1..64 threads=1..16' --json --output stopped.json \
        chase.locality matmul.locality) &
    pid=$!
    until_used $pid 1
    kill -INT $pid
    wait $pid || status=$?
    cp "$scratch/stopped.json" "$report" && [ $status = 130 ] &&
        told 'r["partial"]' 'len(r["chips"]) == 1024' 'r["chips"][0]["ipc"]["markov"] > 0' \
            'r["chips"][-1]["ipc"]["markov"] is None' 'r["best"]["cores"] >= 1' || return 1
    (cd "$scratch" && run throughput --search 'cores=1..2 threads=1..16' chase.locality >text) &&
        fits_100 "$scratch/text" && [ "$(grep -c "^ *2 cores" "$scratch/text")" = 2 ]
}

# A simulation that is stopped is not said to be complete.
simulations_can_be_stopped() {
    local status=0 pid
    (cd "$scratch" && exec "$CULPRIT" throughput --search 'cores=1..64 threads=1..16' --check --json --output stopped.json \
        chase.ctrace matmul.ctrace 2>/dev/null) &
    pid=$!
    until_used $pid 2
    kill -INT $pid
    wait $pid || status=$?
    cp "$scratch/stopped.json" "$report" && [ $status = 130 ] &&
        told 'r["partial"]' 'any("interrupted before all was simulated" in n for n in r["notes"])' \
            'not any("until every program has run" in n for n in r["notes"])'
}

xml() {
    python3 -S -c 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' "$1"
}


text_and_picture() {
    (cd "$scratch" && run throughput --check --set chip.cores=2 --set chip.threads=2 \
        --svg "$scratch/bars.svg" chase.ctrace matmul.ctrace >text) &&
        xml "$scratch/bars.svg" && fits_100 "$scratch/text" &&
        grep -q '^machine niagara: 2 cores of 2 threads' "$scratch/text" &&
        grep -qE '^ chip( +[0-9.]+){6}$' "$scratch/text" || return 1
    (cd "$scratch" && run throughput chase.ctrace) | grep -q '^next: culprit throughput --check chase.ctrace'
}

# A profile says what its trace says, also of what threads of a core share; it cannot be simulated.
profiles_are_traces() {
    run contend --profile "$scratch/chase.locality" "$scratch/chase.ctrace" >/dev/null 2>&1 &&
        throughput --set chip.cores=2 chase.ctrace && cp "$report" "$scratch/of-trace.json" &&
        throughput --set chip.cores=2 chase.locality &&
        told "all(r[k] == json.load(open('$scratch/of-trace.json'))[k] for k in ('ipc', 'cores', 'threads'))" \
            'r["next"] is None' &&
        refused "is a profile" 1 --check "$scratch/chase.locality" &&
        refused "is no file" 1 --check -
}

# refused MESSAGE STATUS OPTIONS...
refused() {
    fails_with "$2" "$1" run throughput "${@:3}"
}

nonsense_is_refused() {
    local trace=$scratch/chase.ctrace
    refused "which programs" 2 &&
        refused "no such file|No such file" 1 "$scratch/none.ctrace" &&
        refused "zen4 is no chip \(try --machine niagara\)" 1 --machine zen4 "$trace" &&
        refused "cores=FIRST" 2 --search core=1 "$trace" &&
        refused "at most 16" 2 --search threads=1..17 "$trace" &&
        refused "1 to 32" 2 --groups 0 "$trace" &&
        refused "mean or by-time" 2 --latency median "$trace" &&
        refused "measured, binomial" 2 --model best "$trace" &&
        refused "mean-value or isolated" 2 --speeds fast "$trace" &&
        refused "number of copies" 1 "$trace*0" &&
        refused "1024" 1 "$trace*1025" &&
        refused "not run on one machine" 1 "$trace" "$scratch/native.ctrace" &&
        refused "no memory addresses" 1 "$scratch/bare.ctrace"
}

if ! skip_without riscv64-workloads "throughput of known programs"; then
    check "alone every model says the same" alone_all_models_agree
    check "misses of threads overlap" misses_overlap
    check "a thread that waits beside one that does not" unlike_threads
    check "programs go round over hardware threads" programs_go_round
    check "a search gives what single chips give" searches_are_many_chips
    check "--check simulates every chip of a search" searches_are_checked
    check "a stopped search is partial" searches_can_be_stopped
    check "a stopped simulation is not said to be complete" simulations_can_be_stopped
    check "text and picture of one chip" text_and_picture
    check "a saved profile says what its trace says" profiles_are_traces
    check "nonsense is refused in one line" nonsense_is_refused
fi

finish
