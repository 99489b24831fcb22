# A run in the formats of other tools, each read by a parser that takes nothing but that format.
. tests/e2e/lib.sh
export LC_ALL=C.UTF-8
cat >"$scratch/calls.c" <<'PROGRAM'
static volatile int sink;
__attribute__((noipa)) void leaf(int n) {
    for (int i = 0; i < n; i++)
        sink += i;
}
__attribute__((noipa)) void left(void) { leaf(3000); }
__attribute__((noipa)) void right(void) { leaf(1000); left(); }
int main(void) {
    left();
    right();
    return 0;
}
PROGRAM
cc -O1 -g -o "$scratch/calls" "$scratch/calls.c" || exit 1

# Each line of gem5's statistics: a name, a value, shares of vectors alone, a description, a unit.
gem5_agrees() {
    run sim --machine zen4 --json -o "$scratch/run.json" --export "$scratch/stats.txt" -- "$scratch/calls" &&
        python3 -S - "$scratch/run.json" "$scratch/stats.txt" <<'PYTHON'
import json, re, sys
report, text = json.load(open(sys.argv[1])), open(sys.argv[2]).read()
lines = text.split("\n")
assert lines[:2] == ["", "---------- Begin Simulation Statistics ----------"], lines[:2]
assert lines[-3:] == ["", "---------- End Simulation Statistics   ----------", ""], lines[-3:]
scalar = re.compile(r"([A-Za-z_][\w.]*(?:::total)?) +(\d+(?:\.\d+)?|nan) +# \S.* \(([A-Z]\w*|\([A-Z]\w*/[A-Z]\w*\))\)")
element = re.compile(r"([A-Za-z_][\w.]*)::(\w+) +(\d+) +(\d+\.\d\d)% +(\d+\.\d\d)% # \S.* \(([A-Z]\w*)\)")
stats, vectors = {}, {}
for line in lines[2:-3]:
    if found := element.fullmatch(line):
        vectors.setdefault(found[1], []).append((found[2], int(found[3]), float(found[4]), float(found[5])))
    else:
        found = scalar.fullmatch(line)
        assert found and found[1] not in stats, line
        stats[found[1]] = float(found[2])
for name, elements in vectors.items():
    *parts, (last, total, _, _) = elements
    assert last == "total" and sum(value for _, value, _, _ in parts) == total == report["cycles"], name
    so_far = 0
    for key, value, share, cumulated in parts:
        so_far += value
        assert abs(share - 100 * value / total) < 0.0051 and abs(cumulated - 100 * so_far / total) < 0.0051, key
stack = {key: value for key, value, _, _ in vectors["system.cpu.cycleStack"]}
assert stack.keys() == report["components"].keys() | {"total"}
assert all(abs(stack[key] - cycles) <= 1 for key, cycles in report["components"].items())
states = {key: value for key, value, _, _ in vectors["system.cpu.commitState"]}
assert states == {**report["commit_states"], "total": report["cycles"]}
counted, branches = report["statistics"], report["statistics"]["branches"]
expected = {
    "simInsts": report["instructions"], "simOps": counted["uops"], "simFreq": 10**12,
    "system.cpu.numCycles": report["cycles"], "system.cpu.commitStats0.numInsts": report["instructions"],
    "system.cpu.commitStats0.numLoadInsts": counted["loads"], "system.cpu.commitStats0.numStoreInsts": counted["stores"],
    "system.cpu.lsq0.forwLoads": counted["forwarded_loads"], "system.cpu.lsq0.memOrderViolation": counted["ordering_violations"],
    "system.cpu.commit.flushes": counted["flushes"], "system.cpu.workload.numSyscalls": counted["system_calls"],
    "system.cpu.branchPred.condPredicted": branches["conditional"],
    "system.cpu.branchPred.condIncorrect": branches["conditional_mispredicted"],
    "system.cpu.branchPred.indirectMispredicted": branches["indirect_mispredicted"],
    "system.cpu.branchPred.ras.used": branches["returns"], "system.cpu.branchPred.lateTargets": branches["late_targets"],
    "system.cpu.mmu.dtb.accesses": counted["dtlb_accesses"], "system.cpu.mmu.dtb.misses": counted["dtlb_misses"],
    "system.cpu.mmu.itb.misses": counted["itlb_misses"], "system.cpu.mmu.walks": counted["page_walks"],
    "system.mem_ctrl.readReqs": counted["dram_reads"], "system.mem_ctrl.dram.rowHits": counted["dram_row_hits"]}
for object, cache in (("system.cpu.icache", "l1i"), ("system.cpu.dcache", "l1d"), ("system.l2", "l2"), ("system.l3", "llc")):
    for name, key in (("overallAccesses::total", "accesses"), ("overallMisses::total", "misses"),
                      ("overallMshrHits::total", "pending_hits"), ("writebacks::total", "writebacks"),
                      ("prefetcher.pfIssued", "prefetches"), ("prefetcher.pfUseful", "useful_prefetches")):
        expected[f"{object}.{name}"] = counted[cache][key]
for name, value in expected.items():
    assert stats[name] == value, (name, stats[name], value)
assert abs(stats["system.cpu.cpi"] - report["cpi"]) < 1e-6 and abs(stats["system.cpu.ipc"] - 1 / report["cpi"]) < 1e-6
assert abs(stats["simTicks"] - report["cycles"] * 1000 / report["clock_ghz"]) <= 1
PYTHON
}
check "gem5's statistics have the counts of the report" gem5_agrees
check "statistics are not of an epoch" fails_with 2 'of a run, not of an epoch' \
    run epochs export --format gem5-stats "$scratch/out"
check "statistics that cannot be written are told" fails_with 125 'writing the statistics: No space' \
    run sim --machine zen4 -o /dev/null --export /dev/full --format gem5-stats -- "$scratch/calls"

finish
