# What explain says that a larger machine would save, against simulations of that machine.
. tests/e2e/lib.sh

# capture NAME FUNCTION LIMIT ARGUMENTS...: part of a workload.
capture() {
    run trace --from "$2" --stop --limit "$3" --output "$scratch/$1.ctrace" -- "$WORKLOADS/riscv64/$1" "${@:4}" >/dev/null 2>&1
}
if has riscv64-workloads; then
    capture chase chase_many 300K 60000 4
    capture hashjoin probe 3M 300000
    capture stencil collide 300K 1 60000
    capture stream triad 300K 1 1000000
    capture lbm stream_collide 300K 1 60000
fi

# explains TRACE OPTIONS...: into $scratch/explained.
explains() {
    run explain --machine chen-ooo --json --top 1 --output "$scratch/explained" "${@:2}" "$scratch/$1.ctrace"
}

# settings UPGRADE: of the report, as options for sim.
settings() {
    python3 -S - "$scratch/explained" "$1" <<'END'
import json, sys
for u in json.load(open(sys.argv[1]))["larger_machine"]["upgrades"]:
    if f"{u['upgrade']} {u['times']}" == sys.argv[2]:
        print(*(f"--set {s}" for s in u["settings"]))
END
}

# agree UPGRADE POINTS: what it is said to save is so many points of the run time from what it saves
# when simulated, and is a loss or a gain when that is.
agree() {
    python3 -S - "$scratch/explained" "$scratch/simulated" "$@" <<'END'
import json, sys
explained, simulated = (json.load(open(path)) for path in sys.argv[1:3])
upgrade = next(u for u in explained["larger_machine"]["upgrades"] if f"{u['upgrade']} {u['times']}" == sys.argv[3])
said, true = upgrade["saves"]["percent"], 100 * (1 - simulated["cycles"] / explained["cycles"])
print(sys.argv[3], said, true)
assert abs(said - true) < float(sys.argv[4])
assert abs(true) < 5 or said * true > 0
END
}

# saves POINTS TRACE OPTIONS UPGRADE...: all of them agree.
saves() {
    local points=$1 trace=$2 options=$3 upgrade
    explains "$trace" --limit 200K $options || return 1
    for upgrade in "${@:4}"; do
        run sim --machine chen-ooo --limit 200K --json --top 1 $options $(settings "$upgrade") \
            "$scratch/$trace.ctrace" >"$scratch/simulated" && agree "$upgrade" "$points" || return 1
    done
}

# Chains in series: nothing helps. Else few MSHRs are what bounds, and twice as many save nearly
# half; or the reorder buffer does.
mshrs_and_window() {
    saves 3 chase "" "rob 2" "stride 1" &&
        saves 10 hashjoin "--set l1d.mshrs=4" "rob 2" "mshrs 2" "rob+mshrs 2" &&
        saves 12 stencil "--set l1d.mshrs=8" "rob 2" "mshrs 2" && saves 10 stream "" "rob 2"
}

prefetchers() {
    saves 10 stream "" "tagged 1" "stride 1" && saves 10 stencil "" "tagged 1" "stride 1" &&
        saves 10 lbm "" "stride 1" && saves 10 hashjoin "" "next_line 1" "tagged 1"
}

# Parts of the run say what all of it does, and so do its regions.
parts_and_regions() {
    explains hashjoin --exact && cp "$scratch/explained" "$scratch/exact" &&
        run predict --json "$scratch/hashjoin.ctrace" >"$scratch/predicted" &&
        explains hashjoin --regions-over 2M &&
        python3 -S - "$scratch/exact" "$scratch/explained" "$scratch/predicted" <<'END'
import json, sys
exact, regions, predicted = (json.load(open(path)) for path in sys.argv[1:])
assert regions["regions"]["count"] > 1
assert all(r["larger_machine"]["instructions_looked_at"] < 0.5 * r["instructions"] for r in (exact, regions))
whole = 100 * predicted["machines"][0]["predictions"][0]["cpi"] / exact["cpi"]
parts = [r["larger_machine"]["long_misses"]["percent"] for r in (exact, regions)]
print(whole, parts)
assert all(abs(part - whole) < 3 for part in parts)
for one, other in zip(exact["larger_machine"]["upgrades"], regions["larger_machine"]["upgrades"]):
    assert abs(one["saves"]["percent"] - other["saves"]["percent"]) < 5, (one, other)
END
}

words() {
    run explain --machine chen-ooo --limit 150K --output "$scratch/text" "$scratch/stream.ctrace" || return 1
    for word in 'what if the machine were larger' 'reorder buffer 512 (256 now)' 'tagged prefetcher' \
        'the more to trust'; do
        grep -q "$word" "$scratch/text" || { echo "no $word"; return 1; }
    done
}

nothing_is_known() {
    python3 -S -c 'import json, sys; assert json.load(open(sys.argv[1]))["larger_machine"] is None' "$scratch/explained"
}

# Of a core in order, and of a machine on which nothing misses, the model says nothing; where few
# loads miss the text does not.
not_there() {
    run explain --machine alpha21164 --limit 100K --json --output "$scratch/explained" "$scratch/stream.ctrace" &&
        nothing_is_known && explains stream --limit 100K --ideal dmiss && nothing_is_known &&
        run explain --machine chen-ooo --output "$scratch/text" --limit 200K --stop -- "$WORKLOADS/riscv64/nbody" 200 >/dev/null &&
        grep -q "what the words mean" "$scratch/text" && ! grep -q "were larger" "$scratch/text"
}

tested() {
    skip_without riscv64-workloads "$1" || check "$1" "$2"
}
tested "MSHRs and window save what simulations say" mshrs_and_window
tested "prefetchers save what simulations say" prefetchers
tested "parts of a run and its regions say the same" parts_and_regions
tested "the text says how far to trust it" words
tested "nothing is said of what the model does not know" not_there

finish
