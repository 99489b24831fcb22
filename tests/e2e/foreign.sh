# Traces of other tools: what is read of them, and ChampSim's written. The files are made by
# foreign.py, which knows the published layouts and nothing of culprit.
. tests/e2e/lib.sh

foreign() {
    python3 -S tests/e2e/foreign.py "$@"
}

# value KEY FILE
value() {
    python3 -S -c 'import json, sys; print(json.load(open(sys.argv[2]))[sys.argv[1]])' "$1" "$2"
}

# 1000 × 5 instructions, and 20 × (call, one of the 5 repeated stores, return, jump)
reads_champsim() {
    foreign champsim "$scratch/$1" || return 1
    run sim --json "$scratch/$1" >"$scratch/sim.json" || return 1
    [ "$(value instructions "$scratch/sim.json")" = 5080 ] && grep -q 'no sizes of accesses' "$scratch/sim.json"
}
for name in loop.champsim loop.champsimtrace.xz loop.champsim.gz; do
    check "$name is simulated" reads_champsim "$name"
done

from_a_pipe() {
    xz -dc "$scratch/loop.champsimtrace.xz" | run sim --json - >"$scratch/pipe.json" &&
        [ "$(value cycles "$scratch/pipe.json")" = "$(value cycles "$scratch/sim.json")" ]
}
check "and from a pipe" from_a_pipe

every_verb() {
    run explain --json "$scratch/loop.champsimtrace.xz" >"$scratch/explain.json" || return 1
    run icost --json "$scratch/loop.champsimtrace.xz" >"$scratch/icost.json" || return 1
    run profilers --json "$scratch/loop.champsimtrace.xz" >"$scratch/profilers.json" || return 1
    run bbv --size 1000 -o "$scratch/loop.bb" "$scratch/loop.champsimtrace.xz" 2>"$scratch/bbv.err" || return 1
    run regions -o "$scratch/loop.csv" "$scratch/loop.bb" >/dev/null || return 1
    grep -q '\[champsim\]' "$scratch/explain.json" && ! grep -q 'made at run time' "$scratch/explain.json"
}
check "explain, icost, profilers, bbv and regions take it" every_verb

# Through our own format and back.
round_trip() {
    run trace --import "$scratch/loop.champsim" -o "$scratch/loop.ctrace" 2>/dev/null &&
        run trace --import "$scratch/loop.ctrace" -o "$scratch/again.champsim.gz" 2>/dev/null &&
        foreign same "$scratch/loop.champsim" "$scratch/again.champsim.gz" &&
        run sim --json "$scratch/loop.ctrace" >"$scratch/own.json" &&
        [ "$(value cycles "$scratch/own.json")" = "$(value cycles "$scratch/sim.json")" ]
}
check "ChampSim's, ours, and ChampSim's again: the same code, branches and accesses" round_trip

seq 200 >"$scratch/numbers"
captured() {
    run trace -o "$scratch/gzip.ctrace" -- gzip -c "$scratch/numbers" 2>/dev/null >"$scratch/numbers.gz" &&
        run trace --import "$scratch/gzip.ctrace" -o "$scratch/gzip.champsim" 2>/dev/null &&
        run trace --import "$scratch/gzip.champsim" -o "$scratch/back.ctrace" 2>/dev/null &&
        run trace --import "$scratch/back.ctrace" -o "$scratch/back.champsim" 2>/dev/null &&
        foreign same "$scratch/gzip.champsim" "$scratch/back.champsim" &&
        run trace --json --info "$scratch/gzip.ctrace" >"$scratch/one.json" &&
        run trace --json --info "$scratch/back.ctrace" >"$scratch/two.json" &&
        [ "$(value instructions "$scratch/one.json")" = "$(value instructions "$scratch/two.json")" ]
}
check "a captured trace goes there and back" captured

live() {
    run trace --format champsim --limit 20000 -o "$scratch/live.xz" -- gzip -c "$scratch/numbers" \
        >"$scratch/out" 2>"$scratch/err" && foreign counts "$scratch/live.xz" && ! grep -q ' 0 s' "$scratch/err"
}
check "a command is captured in ChampSim's format" live

reads_drmemtrace() {
    foreign drmemtrace "$scratch/$1" || return 1
    run trace --json --info "$scratch/$1" >"$scratch/info.json" || return 1
    # 300 × 4 and 10 × (rep stosq, jump), on two threads
    [ "$(value instructions "$scratch/info.json")" = 2440 ] && [ "$(value threads "$scratch/info.json")" = 2 ] || return 1
    ! grep -q 'no machine code' "$scratch/info.json" || return 1
    run trace --import "$scratch/$1" -o "$scratch/drm.champsim" 2>/dev/null &&
        foreign follows "$scratch/drm.champsim" "$scratch/$1"
}
for name in app.trace app.trace.gz app.trace.zip; do
    check "$name of drmemtrace is read, entry by entry" reads_drmemtrace "$name"
done

simulates_drmemtrace() {
    run sim --json "$scratch/app.trace.zip" >"$scratch/drm.json" &&
        [ "$(value instructions "$scratch/drm.json")" = 2440 ] && grep -q 'rep stosq' "$scratch/drm.json"
}
check "drmemtrace's machine code is decoded" simulates_drmemtrace

# refused FILE WORDS: an error of one line that says it.
refused() {
    ! run sim "$1" >"$scratch/out" 2>"$scratch/err" && [ "$(wc -l <"$scratch/err")" = 1 ] && grep -q "$2" "$scratch/err"
}
cut_short() {
    head -c 1000 "$scratch/loop.champsim.gz" >"$scratch/cut.champsim.gz"
    head -c 2000 "$scratch/app.trace.zip" >"$scratch/cut.trace.zip"
    echo 'no trace at all, but text that is longer than a record of sixty-four bytes' >"$scratch/text.champsim"
    : >"$scratch/empty.champsim"
    head -c 130 "$scratch/loop.champsim" >"$scratch/part.champsim"
    refused "$scratch/text.champsim" 'is not a trace.*nor one of ChampSim' && refused "$scratch/empty.champsim" 'is empty' &&
        refused "$scratch/cut.champsim.gz" 'cut short' && refused "$scratch/cut.trace.zip" 'cut short' &&
        run sim --json "$scratch/part.champsim" | grep -q '2 bytes are left over'
}
check "what is cut short or no trace is refused in one line" cut_short

check "no ending that it does not pack as" fails_with 2 'as .xz or as .gz' \
    run trace --import "$scratch/loop.champsim" -o "$scratch/none.champsim.bz2"

full_disk() {
    ! run trace --import "$scratch/loop.champsim" --format champsim -o /dev/full 2>"$scratch/err" &&
        grep -q 'No space left' "$scratch/err" &&
        ! run trace --import "$scratch/text.champsim" -o "$scratch/none.champsim" 2>/dev/null && [ ! -e "$scratch/none.champsim" ]
}
check "a full disk, and nothing left where nothing is written" full_disk

finish
