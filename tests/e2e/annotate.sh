# culprit annotate: one procedure of a profile, of a live program and of simulations, whose truth is
# known.
. tests/e2e/lib.sh

export CULPRIT_STORE=$scratch/profiles.db
export XDG_CACHE_HOME=$scratch/cache # of how late samples are
x86_64=$WORKLOADS/x86_64
riscv64=$WORKLOADS/riscv64

# sound FILE: whatever is said of a procedure holds together.
sound() {
    python3 -S - "$1" <<'PYTHON'
import json, sys
report = json.load(open(sys.argv[1]))
assert report["verb"] == "annotate" and report["procedures"], report.keys()
for p in report["procedures"]:
    s, blocks, insns = p["summary"], p["blocks"], p["instructions"]
    scale = max(1, s["total"])
    late = p["analysis"] == "elimination"
    assert late == (p["skid"] is not None)
    if late:
        causes = s["causes"]
        assert all(0 <= c["least"] <= c["most"] + 1e-9 * scale <= s["total"] + 2e-9 * scale for c in causes.values()), causes
        assert causes["execution"]["most"] > 0
        for l in [b["late"] for b in blocks] + [i["late"] for i in insns] + [s["elsewhere"]]:
            assert l["least"] - 1e-9 * scale <= l["likely"] <= l["most"] + 1e-9 * scale, l
        assert abs(sum(b["cycles"] for b in blocks) + s["elsewhere"]["likely"] + s["lost"] - p["cycles"]) < 1e-6 * scale
        if p["executions"] == "estimated":
            assert all(b["executions"] is None and b["best_cycles"] is None for b in blocks) and p["cpi"] is None
        skid = p["skid"]
        assert abs(sum(skid["shares"]) - 1) < 1e-6 and skid["least"] <= skid["most"] and skid["share"] >= 0.9 - 1e-6
    parts = s["total"] if late else (s["execution"] + sum(c["cycles"] for c in s["static"].values()) + s["explained"] +
             s["unexplained_stall"] - s["unexplained_gain"] + s["sampling_error"])
    assert abs(parts - s["total"]) < 1e-6 * scale, (p["procedure"], parts, s)
    assert late or abs(sum(b["cycles"] for b in blocks) + s["lost"] - p["cycles"]) < 1e-6 * scale
    assert abs(s["total"] + s["lost"] - p["cycles"]) < 1e-6 * scale, (s, p["cycles"])
    for cause in [] if late else s["dynamic"].values():
        assert 0 <= cause["least"] <= cause["most"] + 1e-9 * scale, s["dynamic"]
    assert sum(b["instruction_count"] for b in blocks) == len(insns)
    ends = p["address"] + p["size"]
    for i in insns:
        assert p["address"] <= i["address"] < ends and i["text"], i
        assert (i["cpi"] is None) == (blocks[i["block"]]["executions"] is None)
        for c in i["culprits"] + i["static_stalls"]:
            assert c["blamed"] is None or p["address"] <= c["blamed"] < ends
    for e in p["edges"]:
        assert e["from"] is not None or e["to"] is not None
    assert p["notes"] and 0 < p["share"] <= 1
# The whole is the sum of its procedures.
for kind in "frequency", "elimination":
    own = [p["summary"] for p in report["procedures"] if p["analysis"] == kind]
    whole = report["summary"][kind]
    assert len(own) == report["summary"][kind + "_procedures"] and (whole is None) == (not own)
    causes = "causes" if kind == "elimination" else "dynamic"
    for cause in own[0][causes] if own else ():
        for end in "least", "most":
            total = sum(s[causes][cause][end] for s in own)
            assert abs(whole[causes][cause][end] - total) < 1e-6 * max(1, whole["total"]), (cause, end)
    assert not own or abs(whole["total"] - sum(s["total"] for s in own)) < 1e-6 * whole["total"]
PYTHON
}

# fits FILE: at most 100 columns, and no line ends in a space.
fits() {
    if LC_ALL=C.UTF-8 grep -nE '^.{101}| $' "$1"; then return 1; fi
}

record_gzip() {
    cat "$(command -v bash)" "$(command -v perl)" >"$scratch/in"
    run record --output "$scratch/record.txt" -- gzip -9 -c "$scratch/in" >/dev/null
}
live() {
    run annotate >"$scratch/live.txt" || return 1
    fits "$scratch/live.txt" &&
        grep -qE '^\*\*\* [0-9.]+ % of the time.*; executed \? times' "$scratch/live.txt" &&
        grep -qE '^skid of (cycles|cpu-clock)( here)?: ' "$scratch/live.txt" &&
        grep -q 'by the rules of machine zen4$' "$scratch/live.txt" &&
        grep -qE '^  x execution, no miss +[0-9.]+ % to +[0-9.]+ %$' "$scratch/live.txt" &&
        grep -q '^next: culprit annotate --source ' "$scratch/live.txt" || { cat "$scratch/live.txt"; return 1; }
}
# What comes next is of the same samples, analysed in the same way.
next_of_the_same() {
    run annotate --process gzip --machine zen4 --view head --epoch 1 |
        grep -q '^next: culprit annotate --epoch 1 --process gzip --machine zen4 --view head --source '
}
live_json() {
    run annotate --json --output "$scratch/live.json" && sound "$scratch/live.json"
}
several() {
    run annotate --all --least 5 --json >"$scratch/all.json" && sound "$scratch/all.json" &&
        run annotate --all --least 5 | grep -q '^what can have had the time of all procedures above\|^what can have had the time of the one procedure above' &&
        run top --json --top 0 --by procedure >"$scratch/top.json" &&
        python3 -S - "$scratch/all.json" "$scratch/top.json" <<'PYTHON'
import json, sys
report, top = (json.load(open(name)) for name in sys.argv[1:])
event = top["events"][0]["name"]
wanted = [r for r in top["rows"] if r["shares"][event] >= 0.05 and r["image"].startswith("/")]
# Where the machine shows the kernel's memory, procedures of it are annotated as well.
of_files = [p for p in report["procedures"] if p["image"].startswith("/")]
assert len(of_files) == len(wanted) > 0, (len(of_files), len(wanted))
for p, r in zip(of_files, wanted):
    assert p["offset"] == r["offset"] and p["value"] == r["values"][event], (p["procedure"], r)
PYTHON
}
if record_gzip 2>"$scratch/record.err"; then
    check "the hottest procedure of a command recorded" live
    check "as JSON, whose figures hold together" live_json
    check "what comes next keeps the choice of samples, machine and view" next_of_the_same
    check "all with 5 % of the samples" several
else
    skip "the hottest procedure of a command recorded" "$(head -1 "$scratch/record.err")"
fi

# ---- a simulation in order: the truth is known ----

# DCPI's copy loop: its loads miss, and the first store waits for what the first load brings.
in_order() {
    run sim --save --machine alpha21164 --output "$scratch/sim.txt" -- "$riscv64/copyloop" 1 100000 &&
        run annotate --json --output "$scratch/alpha.json" copy && sound "$scratch/alpha.json" &&
        python3 -S - "$scratch/alpha.json" <<'PYTHON'
import json, sys
p = json.load(open(sys.argv[1]))["procedures"][0]
assert p["machine"] == "alpha21164" and p["own_machine"] and p["view"] == "head" and p["isa"] == "riscv64"
truth = {c: v["true"] for c, v in p["summary"]["dynamic"].items()}
assert all(v is not None for c, v in truth.items() if c != "unit") and truth["dmiss"] > 0.3 * p["cycles"], truth
most = p["summary"]["dynamic"]["dmiss"]["most"]
assert most > 0.99 * truth["dmiss"], (most, truth)
store = max(p["instructions"], key=lambda i: i["cycles"])
assert store["text"].startswith("sd "), store
assert any(c["cause"] == "dmiss" and c["blamed"] for c in store["culprits"]), store["culprits"]
assert store["truth"]["stalls"]["dmiss"] > 0 and "dmiss" in store["possible"] and "dmiss" in store["events"]
PYTHON
}
exact() {
    run annotate --exact --json copy >"$scratch/exact.json" && sound "$scratch/exact.json" &&
        python3 -S - "$scratch/exact.json" <<'PYTHON'
import json, sys
p = json.load(open(sys.argv[1]))["procedures"][0]
assert p["executions"] == "counted"
for b in p["blocks"]:
    assert (b["executions"] or 0) == b["true_executions"], b
assert max(b["executions"] or 0 for b in p["blocks"]) == 25000
PYTHON
}
truth_in_text() {
    run annotate --all | grep -qE '^where the cycles of .* above went +in truth' &&
        run annotate copy >"$scratch/alpha.txt" && fits "$scratch/alpha.txt" &&
        grep -qE 'where the cycles of this procedure went +in truth' "$scratch/alpha.txt" &&
        grep -qE '^\*\*\* Best-case [0-9.]+/13 = ' "$scratch/alpha.txt" &&
        grep -qE '\(.*d = D-cache miss' "$scratch/alpha.txt" || { cat "$scratch/alpha.txt"; return 1; }
}
if ! skip_without riscv64-workloads "a simulation in order"; then
    check "a simulation in order, with the truth beside" in_order
    check "with executions as they were counted" exact
    check "the truth in the text" truth_in_text
fi

# ---- a simulation out of order ----

out_of_order() {
    run sim --save --skip 20M --stop --limit 2M --output "$scratch/sim.txt" -- "$x86_64/chase" &&
        run annotate --image chase --json --output "$scratch/zen.json" && sound "$scratch/zen.json" &&
        run annotate --image chase --source >"$scratch/zen.txt" && fits "$scratch/zen.txt" &&
        grep -qE '[0-9]+% ST-' "$scratch/zen.txt" &&
        grep -qE 'chase\.c:[0-9]+, in link_lines: uint32_t swapped' "$scratch/zen.txt" &&
        python3 -S - "$scratch/zen.json" <<'PYTHON' || { cat "$scratch/zen.txt"; return 1; }
import json, sys
p = json.load(open(sys.argv[1]))["procedures"][0]
assert p["view"] == "tip" and p["machine"] == "zen4" and p["period_cycles"] == 1
hottest = max(p["instructions"], key=lambda i: i["cycles"])
stack = hottest["truth"]["signatures"]
assert abs(sum(stack.values()) - hottest["cycles"]) < 1e-6 * hottest["cycles"], hottest
assert hottest["truth"]["stalls"] is None and hottest["file"].endswith("chase.c")
PYTHON
}
check "a simulation out of order, with exact stacks and source lines" out_of_order

picture() {
    run annotate --image chase --cfg "$scratch/graph.svg" >"$scratch/text" && python3 -S - "$scratch/graph.svg" <<'PYTHON'
import sys
import xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
svg = "{http://www.w3.org/2000/svg}"
assert root.tag == svg + "svg"
boxes = [r for r in root.iter(svg + "rect") if r.get("rx")]
assert boxes and all(0 <= float(b.get("x")) and float(b.get("x")) + float(b.get("width")) <= float(root.get("width")) for b in boxes)
assert any(p.get("stroke-dasharray") for p in root.iter(svg + "path")), "no edge leads back"
PYTHON
}
check "the control-flow graph as a picture" picture

# A copy without symbols: procedures are where the unwind tables say, and are named by their place.
stripped() {
    strip -o "$scratch/naked" "$x86_64/chase" &&
        run sim --save --limit 1M --output "$scratch/sim.txt" -- "$scratch/naked" &&
        run top --image naked >"$scratch/top.txt" &&
        local place && place=$(grep -oE 'naked\+0x[0-9a-f]+' "$scratch/top.txt" | head -1) &&
        run annotate "$place" --json >"$scratch/naked.json" && sound "$scratch/naked.json" &&
        grep -qF "\"procedure\": \"$place\"" "$scratch/naked.json" || {
        cat "$scratch/top.txt"
        return 1
    }
    local address
    address=$(python3 -S -c 'import json, sys; print(hex(json.load(open(sys.argv[1]))["procedures"][0]["address"]))' "$scratch/naked.json")
    run annotate --image naked "$address" >"$scratch/text" && grep -q "^$address to " "$scratch/text"
}
check "a stripped file, by place and by address" stripped

replaced() {
    cp "$x86_64/chase" "$scratch/program" &&
        run sim --save --limit 1M --output "$scratch/sim.txt" -- "$scratch/program" || return 1
    cp "$x86_64/stream" "$scratch/program.new" && mv "$scratch/program.new" "$scratch/program"
    fails_with 1 'program: the file has changed since it was profiled' run annotate --image program || return 1
    rm "$scratch/program"
    fails_with 1 'program: the file is gone' run annotate --image program
}
check "a file that has changed, and one that is gone" replaced

# Templates, and copies of functions that the compiler made: one of half, two of smooth.
templates() {
    cat >"$scratch/templates.cc" <<'END'
#define APART __attribute__((noinline, noclone))
namespace outer {
template <class T> APART T smooth(T *v, int n) {
    for (int i = 1; i < n; i++)
        v[i] = v[i - 1] + v[i] / 2;
    return v[n - 1];
}
}
extern "C" __attribute__((noinline)) int half(int n) { asm volatile(".p2align 3" : "+r"(n)); return n / 2; }
int main(int argc, char **) {
    static double a[1000];
    static float b[1000];
    int n = 1000;
    for (int i = 0; i < 20; i++)
        n += half(n + argc) & 1;
    return outer::smooth(a, n < 1000 ? n : 1000) + (double)outer::smooth(b, 1000) > 0;
}
END
    g++ -O1 -o "$scratch/templates" "$scratch/templates.cc" &&
        objcopy --redefine-sym half=half.constprop.0 "$scratch/templates" &&
        run sim --save --from half --output "$scratch/sim.txt" -- "$scratch/templates" &&
        run annotate --image templates half >"$scratch/text" && grep -q 'half.constprop.0' "$scratch/text" &&
        run annotate half.constprop.0 >"$scratch/text" &&
        run annotate 'smooth<float>' >"$scratch/text" && grep -q 'float outer::smooth<float>' "$scratch/text" &&
        fails_with 1 "smooth: which of 2 procedures. 'outer::smooth<(float|double)>', 'outer::smooth<(float|double)>'" \
            run annotate smooth &&
        fails_with 1 "see 'culprit top'.; near it: 'outer::smooth<(float|double)>', 'outer::smooth<" run annotate smoothe &&
        fails_with 1 "near it: .*'half.constprop.0'" run annotate halt
}
skip_without g++ "plain names of templates and of copies, and near ones" ||
    check "plain names of templates and of copies, and near ones" templates

# Where the machine shows the kernel's memory a procedure of it is annotated; else one line says what is
# missing. Samples of what was sampled in another build of the kernel have no code.
kernel_procedure() {
    local name
    name=$(run top --image '[kernel]' --json | python3 -S -c 'import json, sys; print(json.load(sys.stdin)["rows"][0]["procedure"])') || return 1
    report=$scratch/kernel.json
    if run annotate --json -o "$report" "[kernel]:$name" 2>"$scratch/said"; then
        told 'r["procedures"][0]["image"] == "[kernel]"' 'r["procedures"][0]["instructions"]' \
            'all(i["address"] < 0 and i["text"] for i in r["procedures"][0]["instructions"])' \
            "any('as it is in memory now' in n for n in r['procedures'][0]['notes'])"
    else
        [ "$(wc -l <"$scratch/said")" = 1 ] && grep -qE '/proc/kcore|is hidden|no build id' "$scratch/said" ||
            { cat "$scratch/said"; return 1; }
    fi
}
other_kernel() {
    sqlite3 "$CULPRIT_STORE" "UPDATE image SET build_id = x'0123' WHERE path = '[kernel]'" &&
        fails_with 1 '\[kernel\] was sampled in another build than runs now' run annotate --image '[kernel]' --epoch "$1"
}
run record --output "$scratch/record.txt" -- head -c 2G /dev/zero >/dev/null
if [ "$(run top --image '[kernel]' 2>/dev/null | grep -c '\[kernel\]')" -gt 0 ] && [ -s /sys/kernel/notes ]; then
    check "a procedure of the kernel, or what it lacks" kernel_procedure
    check "a procedure of another kernel" other_kernel last
else
    skip "procedures of the kernel" "no samples of the kernel, or it has no build id here"
fi

run sim --save --stop --limit 1M --output "$scratch/sim.txt" -- "$x86_64/chase"
check "no such procedure" fails_with 1 'no procedure of this name has .*culprit top' run annotate no_such_procedure
check "no such image, but one that is near" fails_with 1 "no samples of chas .*near it: 'chase'" run annotate --image chas
check "no such process, but one that is near" fails_with 1 "no samples of chaes .*near it: 'chase'" run top --process chaes
check "no such image" fails_with 1 'no samples of none.so' run annotate --image none.so
check "no such epoch" fails_with 1 'epoch' run annotate --epoch 999
check "no such machine" fails_with 1 'nomachine' run annotate --machine nomachine
check "an event that is none of cycles" fails_with 1 'does not sample cycles' run annotate --event executions
check "a view that is none" fails_with 2 'head or tip' run annotate --view tail
check "--least without --all" fails_with 2 'with --all only' run annotate --least 3
check "two procedures" fails_with 2 'one procedure at a time' run annotate main exit
check "a picture that cannot be written" fails_with 1 'none/graph.svg' run annotate --cfg "$scratch/none/graph.svg"
finish
