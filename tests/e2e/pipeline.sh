# culprit pipeline: Kanata logs, ours and those of others.
. tests/e2e/lib.sh

# Two instructions as another simulator writes them: the second waits for the first, and is flushed.
printf 'Kanata\t0004\nC=\t100\nI\t0\t7\t0\nL\t0\t0\tadd r1\nS\t0\t0\tF\nC\t1\nS\t0\t0\tX\nI\t1\t8\t0\nL\t1\t0\tld \nL\t1\t0\tr2\nL\t1\t1\tdetails\nS\t1\t0\tF\nC\t2\nE\t0\t0\tX\nR\t0\t0\t0\nS\t1\t0\tFx\nS\t1\t1\tstl\nW\t1\t0\t0\nQ\tunknown\nC\t3\nR\t1\t0\t1\n' >"$scratch/two.kanata"

drawn() {
    run pipeline "$scratch/two.kanata" >"$scratch/drawn" || return 1
    cat >"$scratch/expected" <<'TEXT'
       7  add r1                             FX.|
       8  ld r2                               F.x--x
TEXT
    sed -n '/^ *[78]  /p' "$scratch/drawn" >"$scratch/rows"
    cat "$scratch/drawn"
    grep -q '2 instructions in cycles 100 to 106: 1 retired, 1 flushed' "$scratch/drawn"
}
check "stages are drawn where they begin, and while they last" drawn

as_json() {
    run pipeline --json "$scratch/two.kanata" | python3 -S -c 'import json, sys
r = json.load(sys.stdin)
assert (r["begin"], r["end"], r["instructions"]) == (100, 107, 2), r
one, two = r["rows"]
assert [(s["stage"], s["begin"], s["end"]) for s in one["stages"]] == [("F", 100, 101), ("X", 101, 103)], one
assert two["label"] == "ld r2" and two["flushed"] and two["end"] == 106, two
assert {s["stage"]: s["cycles"] for s in r["stages"]} == {"F": 3, "X": 2, "Fx": 3, "stl": 3}, r["stages"]'
}
check "JSON has stages with their cycles" as_json

of_ours() {
    run sim --kanata "$scratch/own.kanata" --kanata-from 20000 -- true >/dev/null 2>&1 &&
        run pipeline "$scratch/own.kanata" >"$scratch/own" && grep -q '^Ex  *E ' "$scratch/own"
}
check "what sim --kanata wrote is shown" of_ours

# The first line of code comes from memory: on this machine the first thousand cycles hold nothing.
from_the_first() {
    run sim --machine granite-rapids --limit 10K --kanata "$scratch/first.kanata" -- true >/dev/null 2>"$scratch/said" &&
        run pipeline --json "$scratch/first.kanata" | python3 -S -c 'import json, sys
r = json.load(sys.stdin)
assert r["rows"][0]["number"] == 0 and r["begin"] >= 1000, r["rows"][0]' && ! grep -q 'no instruction was in flight' "$scratch/said"
}
check "the window begins with the first instruction" from_the_first

check "a window behind the log is refused" fails_with 1 "^culprit: --from 107: $scratch/two.kanata ends before cycle 107\$" \
    run pipeline --from 107 "$scratch/two.kanata"
check "but not its last cycle" run pipeline --from 106 "$scratch/two.kanata"

# refused WORDS: standard input is no log, and why.
refused() {
    ! run pipeline - >"$scratch/out" 2>"$scratch/err" && [ "$(wc -l <"$scratch/err")" = 1 ] && grep -q "$1" "$scratch/err"
}
hostile() {
    printf 'Kanata\t0003\n' | refused 'no Kanata log' &&
        : | refused 'no Kanata log' &&
        printf 'Kanata\t0004\n' | refused 'no instruction' &&
        printf 'Kanata\t0004\nS\t0\t0\tF\n' | refused 'line 2: of an instruction that was not begun' &&
        printf 'Kanata\t0004\nI\t5\t0\t0\n' | refused 'line 2: instructions are out of order' &&
        printf 'Kanata\t0004\nC\t-4\n' | refused 'line 2: no number of cycles' &&
        printf 'Kanata\t0004\nI\t0\t0\n' | refused 'line 2: it lacks a field' &&
        printf 'Kanata\t0004\nI\t0\t0\t0\nL\t0\t0\t\033[31mred\nS\t0\t0\t\033]0;x\n' | run pipeline - >"$scratch/out" &&
        ! grep -q "$(printf '\033')" "$scratch/out"
}
check "hostile logs are refused in one line, and escapes stay text" hostile

finish
