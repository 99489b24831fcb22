# Reading the clock costs what the kernel's vDSO takes, though the emulator has none.
. tests/e2e/lib.sh

cc -O1 -static -o "$scratch/clocks" tests/guests/clocks.c
calls=5000
start=200000 # cycles before main, at most

# simulate CLOCK OPTIONS...: calls of that clock.
simulate() {
    local clock=$1
    shift
    run sim --json --top 1 --output "$scratch/report" "$@" -- "$scratch/clocks" "$clock" $calls
}
# holds EXPRESSION: of the last report r, and of part, the share of cycles with FL-EX.
holds() {
    python3 -S - "$scratch/report" "$calls" "$1" <<'END'
import json, sys
r, calls = json.load(open(sys.argv[1])), int(sys.argv[2])
part = sum(c for n, c in r["stack"].items() if "FL-EX" in n.split("+")) / r["cycles"]
print(r["cpi"], r["cycles"], part)
assert eval(sys.argv[3])
END
}

# CLOCK_MONOTONIC, 115 cycles a call on zen4.
served() {
    simulate 1 && holds 'part < 0.1 and 115 * calls < r["cycles"] < 115 * calls + '$start &&
        holds 'any("reading the clock takes 115 cycles" in n for n in r["notes"])'
}
check "a clock that the vDSO serves does not flush" served

# CLOCK_PROCESS_CPUTIME_ID
left_to_kernel() {
    simulate 2 && holds 'part > 0.8'
}
check "a clock that it leaves to the kernel does" left_to_kernel

no_vdso() {
    simulate 1 --set core.vdso=no && holds 'part > 0.8' &&
        holds 'not any("reading the clock" in n for n in r["notes"])'
}
check "without a vDSO all do" no_vdso

other_cost() {
    simulate 1 --set class.clock.latency=300 --set class.clock.interval=300 &&
        holds '300 * calls < r["cycles"] < 300 * calls + '$start
}
check "its cost is a key of the machine" other_cost

in_order() {
    local cycles
    simulate 1 --machine alpha21164 &&
        cycles=$(python3 -S -c 'import json, sys; print(json.load(open(sys.argv[1]))["cycles"])' "$scratch/report") &&
        simulate 1 --machine alpha21164 --set core.vdso=yes --set class.clock.pool=e0 --set class.clock.latency=20 &&
        holds "r['cycles'] < $cycles - 80 * calls"
}
check "in order, too" in_order

# The dependence graph is as long as the simulation took.
graph() {
    run icost --output "$scratch/report" -- "$scratch/clocks" 1 $calls &&
        grep 'its length is 0\.. % off' "$scratch/report"
}
check "the dependence graph knows it" graph

kept_in_traces() {
    run trace -o "$scratch/run.ctrace" -- "$scratch/clocks" 1 $calls >/dev/null 2>&1 &&
        run sim --json --top 1 "$scratch/run.ctrace" >"$scratch/report" && holds 'part < 0.1'
}
check "a trace keeps it" kept_in_traces

finish
