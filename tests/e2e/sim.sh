# culprit sim on programs of this machine: their output is right, and every cycle is attributed.
. tests/e2e/lib.sh

report=$scratch/report.json
checked() {
    python3 -S tests/e2e/check_report.py "$report" "$@"
}

# simulated LIMIT COMMAND...: under culprit and alone, the command prints the same; the sums hold.
simulated() {
    local limit=$1
    shift
    "$@" >"$scratch/expected" 2>/dev/null
    run sim --limit "$limit" --top 0 --json --output "$report" -- "$@" >"$scratch/got" || return 1
    same_file "$scratch/expected" "$scratch/got"
}

seq 20000 | awk '{ print ($1 * 7919) % 300007, $1 }' >"$scratch/numbers"

gzip_is_right() {
    simulated 2M gzip -9 -c "$scratch/numbers" &&
        checked '1990000 < r["instructions"] <= 2000000' 'r["machine"] == "zen4"' \
            'r["program"].startswith("gzip -9")' 'not r["partial"]' \
            'any(f["image"] == "gzip" for f in r["functions"])'
}
check "gzip keeps its output; cycles sum exactly" gzip_is_right

sort_is_right() {
    simulated 2M sort "$scratch/numbers" &&
        checked 'any(f["image"].startswith("libc") and f["function"] for f in r["functions"])'
}
check "sort keeps its output; functions of libc are named" sort_is_right

for tool in xz perl sqlite3 python3; do
    case $tool in
    xz) arguments=(-1 -c "$scratch/numbers") ;;
    perl) arguments=(-e 'my %h; $h{$_ % 997} += $_ for 1 .. 20000; print join(",", map { $h{$_} } sort keys %h)') ;;
    sqlite3) arguments=(:memory: 'with recursive n(i) as (select 1 union all select i + 1 from n where i < 5000) select sum(i * i) from n;') ;;
    python3) arguments=(-c 'print(sum(i * i for i in range(20000)))') ;;
    esac
    program=/usr/bin/$tool
    skip_without "$program" "$tool keeps its output" && continue
    tool_is_right() {
        simulated 1M "$program" "${arguments[@]}" && checked '995000 < r["instructions"] <= 1000000'
    }
    check "$tool keeps its output; cycles sum exactly" tool_is_right
done

skips() {
    run sim --skip 500K --limit 100K --top 0 --json --output "$report" -- \
        gzip -c "$scratch/numbers" >"$scratch/out" &&
        gzip -dc "$scratch/out" | cmp - "$scratch/numbers" &&
        checked 'r["instructions"] == 100000'
}
check "--skip and --limit are exact" skips

thread_sums() {
    run sim --top 0 --json --output "$report" -- "$WORKLOADS/x86_64/threads" 5000 3 >"$scratch/out" &&
        same_file "$scratch/out" <("$WORKLOADS/x86_64/threads" 5000 3) &&
        checked 'len(r["threads"]) >= 4' 'any("one chip" in n for n in r["notes"])' \
            'r["together"]["elapsed_cycles"] < r["cycles"] == sum(t["cycles"] for t in r["threads"])' &&
        run sim --alone --top 0 --json --output "$report" -- "$WORKLOADS/x86_64/threads" 5000 3 \
            >"$scratch/out" &&
        checked 'len(r["threads"]) >= 4' 'any("without sharing" in n for n in r["notes"])' \
            'r["together"] is None'
}
skip_without x86_64-workloads "threads together" ||
    check "threads share a chip, or are alone with --alone, and the report says so" thread_sums

riscv() {
    run sim --limit 1M --top 0 --json --output "$report" -- "$WORKLOADS/riscv64/branchy" 10000 5000 \
        >"$scratch/out" && same_file "$scratch/out" <("$WORKLOADS/x86_64/branchy" 10000 5000) &&
        checked 'r["machine"] == "boom-tea"' 'any(f["function"] == "main" for f in r["functions"])' \
            'any((f["file"] or "").endswith("branchy.c") and f["line"] for f in r["functions"])'
}
skip_without riscv64-workloads "riscv64" || check "a riscv64 program runs on boom-tea" riscv

ideal_helps() {
    local cycles
    run sim --limit 1M --json --output "$report" -- gzip -c "$scratch/numbers" >/dev/null || return 1
    cycles=$(python3 -S -c 'import json, sys; print(json.load(open(sys.argv[1]))["cycles"])' "$report")
    run sim --limit 1M --top 0 --ideal bmisp,dmiss --json --output "$report" -- \
        gzip -c "$scratch/numbers" >/dev/null || return 1
    checked "r['cycles'] < $cycles" 'set(r["ideal"]) == {"bmisp", "dmiss"}' \
        'not any("FL-MB" in name for name in r["stack"])'
}
check "--ideal takes mispredictions and misses away" ideal_helps
at_no_cost() {
    run sim --limit 100K --ideal bmisp -- true 2>"$scratch/text"
    grep -E '^misses per 1000 instructions: branches [0-9.]+ \(at no cost\), L1I ' "$scratch/text" || { cat "$scratch/text"; return 1; }
}
check "branches that are taken for predicted right are told as such among misses" at_no_cost

text_fits() {
    run sim --limit 500K --by "$1" --output "$scratch/text" -- gzip -c "$scratch/numbers" >/dev/null &&
        python3 -S -c 'import sys
for line in open(sys.argv[1]):
    assert len(line.rstrip("\n")) <= 100, line' "$scratch/text" &&
        grep -q 'next: culprit' "$scratch/text" && grep -q 'kernel' "$scratch/text"
}
for grain in function line instruction image; do
    check "--by $grain prints at most 100 columns" text_fits "$grain"
done

kanata() {
    run sim --skip 100K --limit 20K --kanata "$scratch/picture" --kanata-from 2000 \
        --kanata-cycles 20K --output /dev/null -- gzip -c "$scratch/numbers" >/dev/null &&
        python3 -S - "$scratch/picture" <<'END'
import sys

lines = [line.rstrip("\n").split("\t") for line in open(sys.argv[1])]
assert lines[0] == ["Kanata", "0004"] and lines[1][0] == "C="
cycle, begun, open_stage, retired = int(lines[1][1]), {}, {}, set()
for line in lines[2:]:
    if line[0] == "C":
        cycle += int(line[1])
    elif line[0] == "I":
        assert int(line[1]) == len(begun)
        begun[line[1]] = cycle
    elif line[0] == "S":
        assert line[1] not in open_stage
        open_stage[line[1]] = line[3]
    elif line[0] == "E":
        assert open_stage.pop(line[1]) == line[3]
    elif line[0] == "R":
        assert line[1] not in open_stage and line[1] not in retired
        retired.add(line[1])
assert len(begun) > 100 and retired == set(begun)
END
}
check "--kanata writes a window that is well formed" kanata

# Followed as it stands, the next command must not write over the files.
next_spares_files() {
    run sim --limit 20K --top=3 --tap "csv:$scratch/a" "--tap=csv:$scratch/b" --kanata "$scratch/c" \
        --kanata-from=1000 --output "$scratch/text" -- sh -c : --tap x &&
        sed -n '/^next:/,$p' "$scratch/text" | tr -s ' \\\n' ' ' | grep -qE \
            "^next: culprit sim --[a-z]+ [a-z]+ --limit 20K --top=3 -- sh -c : --tap x *$"
}
check "the next command writes no file again" next_spares_files

for verb in sim explain icost predict profilers; do
    check "$verb refuses a chip" fails_with 125 'niagara has 8 cores of 4 threads.*throughput --check' \
        run "$verb" --machine niagara -- /bin/true
done
one_of_a_chip() {
    run sim --machine niagara --set chip.cores=1 --set chip.threads=1 --limit 100K --top 0 --json \
        --output "$report" -- gzip -c "$scratch/numbers" >/dev/null && checked 'r["machine"] == "niagara"'
}
check "a chip of one core and thread is a machine like others" one_of_a_chip

# A squashed load that a store cannot forward to, and that finds no MSHR, waits until there is one: it
# does not go back to when the store has left. Every start of a dynamic program has such loads.
no_way_back() {
    timeout -s KILL 200 "$CULPRIT" sim --machine zen3 --ideal imiss,bw,bmisp,win --output "$scratch/text" -- true
}
if has x86_64-workloads; then
    check "a squashed load behind a store that cannot forward waits for an MSHR" no_way_back
else
    skip "a squashed load behind a store that cannot forward waits for an MSHR" "no x86-64 here"
fi
finish
