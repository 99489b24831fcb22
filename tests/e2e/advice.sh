# The advice of explain: named where the code and the cycles say so, with the cause's cost in proportion,
# and not where there is nothing to remedy.
. tests/e2e/lib.sh

cc -O1 -g -fno-tree-vectorize -o "$scratch/advised" experiments/lib/advised.c || exit 1
cc -O1 -g -fno-tree-vectorize -o "$scratch/levels" experiments/lib/levels.c || exit 1

advise() {
    run explain --json --top 1 --from "kernel_$1" --stop "${@:3}" -- "$scratch/advised" "$2" before \
        >"$scratch/$2.json" 2>/dev/null
    report=$scratch/$2.json
}

# The first advice is of this kind, in the kernel; its saving is the cost of the cause times its part of
# the cycles that have the cause's events.
told_names='
first = r["advice"][0]
costs = {c["category"]: c["cost"]["percent"] for c in r["what_if"]["costs"]} if r["what_if"] else {}
def share(*events):
    return sum(c for name, c in r["stack"].items() if set(events) & set(name.split("+"))) / r["cycles"]
def proportional(cause, *events):
    return abs(first["saving_percent"] - costs[cause] * first["evidence_percent"] / 100 / share(*events)) < 1e-6
'
branch() {
    advise clamp clamp --limit 400K &&
        told 'first["kind"] == "branch" and first["function"] == "kernel_clamp"' \
            'first["saving_percent"] > 30 and first["check"] == "sim --ideal bmisp"' 'proportional("bmisp", "FL-MB")'
}
check "a branch that chooses between values" branch

forwarding() {
    advise forward forward --limit 250K &&
        told 'first["kind"] == "forwarding" and first["function"] == "kernel_forward"' 'proportional("stfwd", "ST-FW")'
}
check "loads of what was stored in pieces" forwarding

locality() {
    advise search sparse --limit 400K &&
        told 'first["kind"] == "locality" and first["function"] == "kernel_search"' \
            'proportional("dmiss", "ST-L1", "ST-TLB", "ST-LLC", "DR-SQ")'
}
check "a search whose addresses are not known ahead" locality

vectors() {
    advise scalar vectors --limit 400K &&
        told 'first["kind"] == "vectors" and first["function"] == "kernel_scalar"' \
            'abs(first["saving_percent"] - first["evidence_percent"] * 3 / 4) < 1e-6'
}
check "scalar arithmetic on four floats in a row" vectors

divisions() {
    advise divide divide --limit 300K && told 'first["kind"] == "divide"' \
        'abs(first["saving_percent"] / first["evidence_percent"] - (14 - 2 * 3 - 2) / 14) < 0.01'
}
check "divisions by the same number" divisions
# Each round has one division, which keeps the divider for 5 cycles, and 7 instructions, which take 7/6.
divider() {
    advise scale scale --limit 300K && told 'first["kind"] == "divide"' \
        'abs(first["saving_percent"] / first["evidence_percent"] - (1 - 7 / 6 / 5)) < 0.01'
}
check "a loop that waits for the divider, whichever instruction has its cycles" divider

# Each load of the list has one link, and each lies in two lines: the chain takes 5 cycles for 4. Where
# it lies in one, nothing is said of lines, nor on a machine that does not mind.
splits() {
    advise_packed packed zen4 && report=$scratch/packed.json told_names='first = r["advice"][0]' told \
        'first["kind"] == "split lines" and first["function"] == "follow" and first["check"] == "sim --ideal split"' \
        'first["splits"] == 50000 and abs(first["evidence_percent"] - 100) < 0.1' \
        '12 < first["saving_percent"] < 15' || return 1
    for words in 'padded zen4' 'packed icelake-server'; do
        advise_packed $words && report=$scratch/packed.json told_names='' told \
            'all(a["kind"] != "split lines" for a in r["advice"])' || return 1
    done
}
advise_packed() {
    run explain --json --top 1 --machine "$2" --from follow -- "$WORKLOADS/x86_64/packed" "$1" 50000 \
        >"$scratch/packed.json" 2>/dev/null
}
skip_without x86_64-workloads "loads over the ends of lines" || check "loads over the ends of lines" splits

# The list of 6000 nodes of 120 bytes: what is simulated with its fields laid apart is what is advised, as
# --fields has it; without debug information nothing is known of fields.
fields() {
    gcc -O2 -g -fno-tree-vectorize -o "$scratch/list" experiments/lib/fields/list.c &&
        run explain --json --top 1 -o "$scratch/fields.json" -- "$scratch/list" &&
        run sim --repeatable --fields --json -o "$scratch/struct.json" -- "$scratch/list" &&
        report=$scratch/fields.json told_names='
f = next(a for a in r["advice"] if a["kind"] == "fields")
s = json.load(open("'"$scratch"'/struct.json"))["struct"]
best = max(s["remedies"], key=lambda remedy: remedy["saving"])' told 'f["image"] is None and f["type"] == "struct node"' \
            'f["hot"] == best["hot"] and abs(f["saving_percent"] - 100 * best["saving"]) < 1 and f["saving_percent"] > 10' &&
        strip -o "$scratch/bare" "$scratch/list" && run explain --json --top 1 -o "$scratch/fields.json" -- "$scratch/bare" &&
        told_names='' told 'all(a["kind"] != "fields" for a in r["advice"])'
}
check "a struct whose hot fields lie apart" fields

padding() {
    run explain --json --top 1 -- "$WORKLOADS/x86_64/counters" together 2 20000 >"$scratch/padding.json" 2>/dev/null &&
        report=$scratch/padding.json told_names='' told \
            'any(a["kind"] == "padding" and a["lines"] >= 1 and a["image"] is None for a in r["advice"])' \
            'abs(max(a["saving_percent"] for a in r["advice"] if a["kind"] == "padding") - max(100 * c["saving"] for c in r["together"]["what_if"]["causes"] if c["cause"] == "padding")) < 1e-9'
}
skip_without x86_64-workloads "lines that threads share falsely" || check "lines that threads share falsely" padding

nothing() {
    local kernel
    for kernel in independent dependent multiply; do
        run explain --json --top 1 --from kernel_$kernel --limit 150K --stop -- "$scratch/levels" $kernel \
            >"$scratch/nothing.json" 2>/dev/null &&
            report=$scratch/nothing.json told_names='' told 'all(a["saving_percent"] <= 3 for a in r["advice"])' || return 1
    done
}
check "nothing to speak of where nothing is to remedy" nothing
loader() {
    run explain --json --top 1 -- true >"$scratch/true.json" 2>/dev/null &&
        report=$scratch/true.json told_names='' told 'all(not (a["image"] or "").startswith("ld-") for a in r["advice"])' \
            'sum(a["saving_percent"] for a in r["advice"]) <= 3'
}
check "nothing of the dynamic loader, which nobody changes" loader

text() {
    COLUMNS=80 run explain --top 1 --from kernel_clamp --limit 250K --stop -- "$scratch/advised" clamp before 2>"$scratch/text" >/dev/null
    sed -n '/^what to try/,/^$/p' "$scratch/text" | tee "$scratch/part"
    grep -qE '^ +[0-9.]+ ±[0-9.]+ branch     kernel_clamp\+0x[0-9a-f]+, advised.c:[0-9]+: ' "$scratch/part" &&
        [ "$(LC_ALL=C.UTF-8 wc -L <"$scratch/part")" -le 80 ]
}
check "the text says where, what to try and how to check it, as wide as the page" text

finish
