# culprit top: profiles of the store by procedure, image, line, process and epoch; a simulation that
# was saved has the same shares as its own report.
. tests/e2e/lib.sh

export CULPRIT_STORE=$scratch/profiles.db
run trace --stop --limit 2M --output "$scratch/run.ctrace" -- gzip -9 -c /bin/bash >/dev/null 2>&1

saved() {
    run sim --json --top 0 --output "$scratch/sim.json" --save "$scratch/run.ctrace" &&
        grep -q "saved as epoch 1 of $CULPRIT_STORE" "$scratch/sim.json"
}
check "a simulation is saved" saved

# Every function of the simulation is a row of the store with the same cycles, and no other is.
same_shares() {
    run top --json --top 0 >"$scratch/top.json" && python3 -S - "$scratch/sim.json" "$scratch/top.json" <<'PYTHON'
import json, os, sys
sim, top = (json.load(open(name)) for name in sys.argv[1:])
assert top["by"] == "procedure" and top["row_count"] == len(top["rows"]) == sim["function_count"]
assert top["epochs"][0]["processor"] == "zen4" and top["epochs"][0]["kind"] == "simulated"
assert abs(top["events"][0]["total"] - sim["cycles"]) < 1e-6 * sim["cycles"]
rows = {(os.path.basename(r["image"]), r["offset"], r["procedure"]): r for r in top["rows"]}
for f in sim["functions"]:
    row = rows.pop((f["image"], f["offset"], f["function"]))
    assert abs(row["values"]["cycles"] - f["cycles"]) < 1e-6 * sim["cycles"], (row, f)
    assert abs(row["shares"]["cycles"] - f["share"]) < 1e-9, (row, f)
assert not rows, rows
values = [r["values"]["cycles"] for r in top["rows"]]
assert values == sorted(values, reverse=True)
PYTHON
}
check "it has the cycles that the simulation reported" same_shares

# With few rows only some images are looked at: the rows are the same.
first_rows() {
    local by
    for by in procedure line; do
        run top --json --top 0 --by $by >"$scratch/all.json" && run top --json --top 3 --by $by >"$scratch/few.json" &&
            python3 -S - "$scratch/all.json" "$scratch/few.json" <<'PYTHON' || return 1
import json, sys
everything, few = (json.load(open(name)) for name in sys.argv[1:])
assert len(few["rows"]) == 3 and few["rows"] == everything["rows"][:3]
PYTHON
    done
}
check "the first rows are the same when not all are looked for" first_rows

sums() {
    local by
    for by in procedure image line process epoch; do
        run top --json --top 0 --by $by >"$scratch/by.json" && python3 -S - "$scratch/by.json" $by <<'PYTHON' || return 1
import json, sys
top = json.load(open(sys.argv[1]))
total = top["events"][0]["total"]
assert top["by"] == sys.argv[2] and abs(sum(r["values"]["cycles"] for r in top["rows"]) - total) < 1e-6 * total
PYTHON
    done
}
check "the rows of each grain sum to the total" sums

one_image() {
    run top --json --by image --top 0 >"$scratch/images.json" &&
        run top --json --image libc.so.6 --top 0 >"$scratch/libc.json" &&
        python3 -S - "$scratch/images.json" "$scratch/libc.json" <<'PYTHON'
import json, sys
images, libc = (json.load(open(name)) for name in sys.argv[1:])
wanted = [r for r in images["rows"] if r["image"].endswith("/libc.so.6")]
assert len(wanted) == 1 and {r["image"] for r in libc["rows"]} == {wanted[0]["image"]}
assert abs(libc["events"][0]["total"] - wanted[0]["values"]["cycles"]) < 1e-6
PYTHON
}
check "one image alone" one_image

text() {
    run top >"$scratch/text" && ! grep -qE '^.{101}' "$scratch/text" &&
        grep -q '^epoch 1: gzip -9 -c /bin/bash$' "$scratch/text" &&
        grep -qE '^ +cycles +% +cum%  procedure +image$' "$scratch/text" &&
        grep -qE '^ *[0-9,]+ +[0-9.]+% +[0-9.]+%  .*gzip$' "$scratch/text" &&
        grep -qE '^next: culprit annotate [a-z_]+' "$scratch/text" || { cat "$scratch/text"; return 1; }
}
check "as text" text

# Profilers are events of their own; what they say is sampled.
# Of a core in order also what each cycle was lost to: the causes sum to the cycles.
stalls_saved() {
    local -x CULPRIT_STORE=$scratch/stalls.db
    run sim --machine alpha21164 --save --json --output "$scratch/stalls.json" -- \
        "$WORKLOADS/riscv64/branchy" 3000 3000 >/dev/null || return
    run top --json --top 0 >"$scratch/shown.json"
    run top --json --top 0 --event head --event executions --event stall:branchmp \
        --event branchmp >"$scratch/events.json" && python3 -S - "$scratch" <<'PYTHON'
import json, sys
sim, shown, events = (json.load(open(f"{sys.argv[1]}/{name}.json"))
                      for name in ("stalls", "shown", "events"))
assert sum(sim["stalls"].values()) == sim["cycles"]
assert [event["name"] for event in shown["events"]] == ["cycles"]
totals = {event["name"]: event["total"] for event in events["events"]}
assert totals["head"] == sim["cycles"]
assert totals["executions"] == sim["instructions"], (totals, sim["instructions"])
assert totals["stall:branchmp"] == sim["stalls"]["branchmp"] > 0
branch = sim["statistics"]["branches"]
assert totals["branchmp"] == sum(branch[kind + "_mispredicted"]
                                 for kind in ("conditional", "indirect", "returns"))
PYTHON
}
check "a core in order saves executions, causes of stalls and events" stalls_saved

profilers_saved() {
    run profilers --profiler TIP,NCI --save --output "$scratch/profilers.txt" "$scratch/run.ctrace" &&
        run top --json --event TIP --event cycles --event NCI --top 3 >"$scratch/top.json" &&
        python3 -S - "$scratch/top.json" <<'PYTHON'
import json, sys
top = json.load(open(sys.argv[1]))
tip, cycles, nci = top["events"]
assert [e["name"] for e in top["events"]] == ["TIP", "cycles", "NCI"]
assert tip["period"] >= 1 and cycles["period"] is None
assert abs(tip["total"] - cycles["total"]) < 0.02 * cycles["total"]
assert abs(top["rows"][0]["shares"]["TIP"] - top["rows"][0]["shares"]["cycles"]) < 0.02
PYTHON
}
check "profilers are saved side by side" profilers_saved

epochs_added() {
    run top --epoch all --json --event cycles --by epoch >"$scratch/two.json" && python3 -S - "$scratch/two.json" <<'PYTHON'
import json, sys
top = json.load(open(sys.argv[1]))
assert [r["epoch"] for r in top["rows"]] == [1, 2] and top["rows"][0]["values"] == top["rows"][1]["values"]
PYTHON
}
check "several epochs at once" epochs_added

explained() {
    head -c 50000 /bin/bash >"$scratch/input"
    run explain --machine alpha21164 --save --keep 0 --regions-over 2M --regions 6 --warm-up 1M --output "$scratch/explain.json" --json --top 0 -- gzip -9 -c "$scratch/input" \
        >/dev/null || return 1
    local epochs
    epochs=$(grep -oE 'saved as epoch [0-9]+' "$scratch/explain.json" | grep -oE '[0-9]+$')
    run top --json --top 0 --epoch "$epochs" >"$scratch/top.json" && python3 -S - "$scratch/explain.json" "$scratch/top.json" <<'PYTHON'
import json, sys
explain, top = (json.load(open(name)) for name in sys.argv[1:])
assert explain["regions"]["count"] > 1 and len(top["epochs"]) == 1
assert top["epochs"][0]["weight"] == 1 and top["epochs"][0]["name"] == explain["program"]
assert abs(top["events"][0]["total"] / explain["cycles"] - 1) < 1e-4, (top["events"], explain["cycles"])
for f, row in list(zip(explain["functions"], top["rows"]))[:5]:
    assert f["offset"] == row["offset"] and abs(f["share"] - row["shares"]["cycles"]) < 1e-4, (f, row)
PYTHON
}
check "a run explained by regions is one epoch" explained

check "no such epoch" fails_with 1 'epoch' run top --epoch 999
check "no such event" fails_with 1 'has no event imiss \(it has: cycles, TIP, NCI, executions\)' run top --epoch 2 --event imiss
check "no such image" fails_with 1 "no samples of none.so \(see 'culprit top --by image'\)" run top --image none.so
check "an image that another process has" fails_with 1 "no such samples of gzip: those that it has are of other processes" \
    run top --process nonesuch --image gzip
check "no such store" fails_with 1 'none.db' run top --store "$scratch/none.db"
check "what is no store" fails_with 1 'run.ctrace' run top --store "$scratch/run.ctrace"
check "a grain that is none" fails_with 2 'one of procedure, image, line, process, build, pid, thread, cpu, cgroup, host, epoch' run top --by loop
check "an argument too many" fails_with 2 'what is this' run top gzip
check "--store without --save" fails_with 2 'add --save' run sim --store "$scratch/x.db" "$scratch/run.ctrace"
full() {
    fails_with 1 'save' run sim --output "$scratch/report.txt" --save --store /dev/full "$scratch/run.ctrace"
}
check "a store that cannot be written is told before the simulation" full
finish
