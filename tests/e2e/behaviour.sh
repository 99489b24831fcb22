# Each workload shows the behaviour that it was written for: the report names the right instruction
# and the right cause. Sizes are chosen so that setting up takes less time than the kernel.
. tests/e2e/lib.sh

# report OPTIONS... -- COMMAND...: simulates, leaves $scratch/report.
report() {
    run sim --json --output "$scratch/report" "$@" >/dev/null
}

# holds EXPRESSION: of the last report, in Python. d: the object; hot: the costliest instruction;
# part(event): share of cycles whose combination has the event; of(row, event): the same of a row;
# where(test): share of cycles of the rows, among the costliest, for which test is true.
holds() {
    python3 -S - "$scratch/report" "$1" <<'PYTHON'
import json, sys
d = json.load(open(sys.argv[1]))
hot = d["hot_instructions"][0]
def of(row, event):
    return sum(cycles for name, cycles in row["stack"].items() if event in name.split("+")) / row["cycles"]
def part(event):
    return of(d, event)
def where(test):
    return sum(row["share"] for row in d["hot_instructions"] if test(row))
states = {name: cycles / d["cycles"] for name, cycles in d["commit_states"].items()}
print("cpi", d["cpi"], states)
print({name: round(cycles / d["cycles"], 3) for name, cycles in d["stack"].items()})
for row in d["hot_instructions"][:8]:
    print(row["function"], row["text"], round(row["share"], 3), row["stack"])
assert sum(d["commit_states"].values()) == d["cycles"], "commit states do not sum to the cycles"
assert eval(sys.argv[2]), "does not hold: " + sys.argv[2]
PYTHON
}

# report_holds EXPRESSION OPTIONS... -- COMMAND...
report_holds() {
    local expression=$1
    shift
    report "$@" && holds "$expression"
}

# shows ISA NAME EXPRESSION OPTIONS... -- COMMAND...: one test.
shows() {
    local isa=$1 name=$2
    shift 2
    skip_without "$isa-workloads" "$name" || skip_without "qemu-$isa" "$name" ||
        check "$name" report_holds "$@"
}

tea=(--machine boom-tea --top 40)
x86=$WORKLOADS/x86_64
riscv=$WORKLOADS/riscv64

shows x86_64 "chase: one load misses the last-level cache and takes nearly all time" \
    'hot["function"] == "chase_one" and hot["share"] > 0.8 and of(hot, "ST-LLC") > 0.95' \
    "${tea[@]}" -- "$x86/chase" 200000 1 131072
shows x86_64 "chase: from its kernel on, nothing else takes time" \
    'hot["function"] == "chase_one" and hot["share"] > 0.97 and of(hot, "ST-LLC") > 0.95 and d["instructions"] <= 200000' \
    "${tea[@]}" --from chase_one --stop --limit 200K -- "$x86/chase" 120000 1 131072
shows x86_64 "pending: the load that touches the line first takes the time" \
    'hot["function"] == "sum_values" and hot["share"] > 0.7 and of(hot, "ST-LLC") > 0.8' \
    "${tea[@]}" -- "$x86/pending" 80000 65536

# Four chains take less than half of the time of one, step by step.
chains_overlap() {
    local one
    report "${tea[@]}" -- "$x86/chase" 80000 1 131072 || return 1
    one=$(python3 -S -c 'import json, sys; print(json.load(open(sys.argv[1]))["cycles"])' "$scratch/report")
    report "${tea[@]}" -- "$x86/chase" 80000 4 131072 || return 1
    holds "d['cycles'] < 0.6 * $one"
}
name="chase: the misses of several chains overlap"
skip_without x86_64-workloads "$name" || check "$name" chains_overlap

shows x86_64 "branchy: mispredicted branches in the sort" \
    'part("FL-MB") > 0.2 and hot["function"] == "partition"' \
    "${tea[@]}" -- "$x86/branchy" 25000 1000
shows x86_64 "interpreter: the indirect jumps are mispredicted" \
    'part("FL-MB") > 0.25 and of(next(r for r in d["hot_instructions"] if r["text"].startswith("jmp")), "FL-MB") > 0.8' \
    "${tea[@]}" -- "$x86/interpreter" 15000
shows x86_64 "bigcode: the front end supplies nothing" \
    'part("DR-L1") > 0.4 and states["drained"] > 0.4' \
    "${tea[@]}" -- "$x86/bigcode" 10
shows x86_64 "ordering: loads that passed a store are flushed" \
    'part("FL-MO") > 0.1 and hot["function"] == "store_then_load"' \
    "${tea[@]}" -- "$x86/ordering" 50000
shows x86_64 "pages: address translation" \
    'hot["function"] == "touch" and of(hot, "ST-TLB") > 0.9 and part("ST-TLB") > 0.5' \
    "${tea[@]}" -- "$x86/pages" 150000 2048
shows x86_64 "syscalls: the system call flushes" \
    'hot["text"] == "syscall" and of(hot, "FL-EX") > 0.9 and part("FL-EX") > 0.4' \
    "${tea[@]}" -- "$x86/syscalls" 10000
shows x86_64 "stencil: misses of the last-level cache in collide" \
    'hot["function"] == "collide" and part("ST-LLC") > 0.4' \
    "${tea[@]}" -- "$x86/stencil" 3 20000
shows x86_64 "matmul: instructions commit most of the time, without events" \
    'part("Base") > 0.8 and states["computing"] > 0.4' \
    "${tea[@]}" -- "$x86/matmul" 60 3
shows x86_64 "stlf: no event, a load that waits for forwarding" \
    'part("Base") > 0.8 and hot["function"] == "through_memory"' \
    "${tea[@]}" -- "$x86/stlf" 300000
shows x86_64 "parts: the load waits for a store that cannot forward" \
    'hot["function"] == "read_whole" and of(hot, "ST-FW") > 0.95 and part("ST-FW") > 0.4' \
    --machine zen4 --top 40 -- "$x86/parts" 80000
shows x86_64 "parts: idealised, no load waits for a store" \
    'part("ST-FW") == 0' --machine zen4 --top 40 --ideal stfwd -- "$x86/parts" 80000
shows x86_64 "strings: functions of the C library are named" \
    'any(f["function"] and f["image"].startswith("libc.so") for f in d["functions"])' \
    "${tea[@]}" -- "$x86/strings" 100
shows x86_64 "threads: five threads, the workers alike" \
    'len(d["threads"]) == 5 and sum(400000 < t["instructions"] for t in d["threads"]) == 4' \
    "${tea[@]}" -- "$x86/threads" 20000 4

shows riscv64 "ceil on riscv64: nearly all time of flushes is that of frflags and fsflags" \
    'sum(r["cycles"] * of(r, "FL-EX") for r in d["hot_instructions"] if r["text"].split()[0] in ("frflags", "fsflags")) > 0.95 * d["cycles"] * part("FL-EX")' \
    "${tea[@]}" --from round_both_ways -- "$riscv/ceil" 25000
shows riscv64 "ceil on riscv64: frflags and fsflags carry the flushes" \
    'where(lambda r: r["text"].split()[0] in ("frflags", "fsflags") and of(r, "FL-EX") > 0.7) > 0.35' \
    "${tea[@]}" -- "$riscv/ceil" 25000
shows riscv64 "nbody on riscv64: the square root takes the most time" \
    'hot["text"].startswith("fsqrt.d")' \
    "${tea[@]}" -- "$riscv/nbody" 50

finish
