"""The lbm case of the TEA paper (§6, Figs. B.10, B.11): one load that misses and hides the next, and
the sweep of the distance of software prefetch, into docs/results/case-lbm.md. Takes five minutes.
    python3 -B experiments/case-lbm.py

How the rows of DRAM that are read and written meet in its banks depends on where the two lattices
lie, so on their size: the sweep is of several sizes, and its figures are means, per cell."""
from lib import case, page, run, svg

MACHINE = "boom-tea"
SIZES = [50000, 70000, 90000]
DISTANCES = [0, 1, 2, 3, 4, 6, 8, 16, 64, 256, 1024, 4096]
NEAR = 16  # cells: what is prefetched so far ahead still is in the L1 when it is used
EVENTS = ["Base", "DR-SQ", "ST-TLB", "ST-L1", "ST-LLC"]


def simulate(distance, cells):
    """The function that makes the step, with the costliest of its instructions; per cell."""
    start = "stream_collide_prefetched" if distance else "stream_collide"
    report = case.simulate(run.workload("lbm"), start, MACHINE, 1, cells,
                           *([distance] if distance else []))
    step = case.function(report, start)
    step["hot"] = [row for row in report["hot_instructions"] if row["function"] == start]
    for row in [step] + step["hot"]:
        row["cycles"] /= cells
        for stack in row["stack"], row["components"]:
            stack.update({name: cycles / cells for name, cycles in stack.items()})
    return step


def mean_stack(stacks):
    names = {name for stack in stacks for name in stack}
    return {name: sum(stack.get(name, 0) for stack in stacks) / len(stacks) for name in names}


def mean(rows):
    """The same function or instruction in several runs: its mean."""
    return {"text": rows[0]["text"], "function": rows[0]["function"],
            "cycles": sum(row["cycles"] for row in rows) / len(SIZES),
            "instructions": 0, "share": 0,
            "stack": mean_stack([row["stack"] for row in rows]),
            "components": mean_stack([row["components"] for row in rows])}


def mean_of(steps):
    by_place = {}
    for step in steps:
        for row in step["hot"]:
            by_place.setdefault(row["offset"], []).append(row)
    return dict(mean(steps), hot=sorted((mean(rows) for rows in by_place.values()),
                                        key=lambda row: -row["cycles"]))


def hottest(step, store):
    """The costliest load or store of the step; of loads, not the prefetches."""
    def wanted(row):
        mnemonic, _, operands = row["text"].partition(" ")
        return (mnemonic in ("sd", "fsd") if store
                else mnemonic in ("ld", "fld") and not operands.startswith("zero"))
    return next(row for row in step["hot"] if wanted(row))


def in_stores(step, event):
    """Cycles of the stores of the step that carry the event."""
    return sum(cycles for row in step["hot"] if row["text"].split()[0] in ("sd", "fsd")
               for name, cycles in row["stack"].items() if event in name.split("+"))


def worst_event(name):
    """The part of a picture that a combination of events is drawn in."""
    return next((event for event in ("ST-LLC", "DR-SQ", "ST-TLB", "ST-L1")
                 if event in name.split("+")), "Base")


def stacks(rows):
    parts = {event: [0.0] * len(rows) for event in EVENTS}
    for i, row in enumerate(rows):
        for name, cycles in row["stack"].items():
            parts[worst_event(name)][i] += cycles
    return list(parts.items())


def hottest_table(step):
    return page.table(
        ["instruction", "cycles a cell", "% of the step", "stack, % of the step"],
        [(f"`{row['text']}`", f"{row['cycles']:.1f}", page.percent(row["cycles"] / step["cycles"]),
          case.stack_text(row["stack"], step["cycles"])) for row in step["hot"][:8]])


runs = [[simulate(distance, cells) for cells in SIZES] for distance in DISTANCES]
steps = [mean_of(row) for row in runs]
first = steps[0]
best = min(range(len(steps)), key=lambda i: steps[i]["cycles"])
near = min((i for i, distance in enumerate(DISTANCES) if distance <= NEAR),
           key=lambda i: steps[i]["cycles"])
speedups = [first["cycles"] / step["cycles"] for step in steps]
rows = []
for distance, row, step, speedup in zip(DISTANCES, runs, steps, speedups):
    load, store = hottest(step, False), hottest(step, True)
    rows.append((distance or "none", f"{step['cycles']:.1f}", f"{speedup:.3f}",
                 *(f"{before['cycles'] / now['cycles']:.2f}" for before, now in zip(runs[0], row)),
                 f"{step['components']['llc_miss']:.1f}", f"{in_stores(step, 'DR-SQ'):.1f}",
                 f"`{load['text']}` {load['cycles']:.1f}",
                 f"`{store['text']}` {store['cycles']:.1f}"))
measured = page.table(
    ["distance", "cycles a cell", "times faster", *(f"with {cells:,} cells" for cells in SIZES),
     "LLC misses", "`DR-SQ` of stores", "costliest load", "costliest store"], rows)
measured += (f"\nBest of the distances up to {NEAR}: {speedups[near]:.2f} times faster at "
             f"{DISTANCES[near]} (paper: 1.28 at 3). Best of all: {speedups[best]:.2f} at "
             f"{DISTANCES[best]}.\n\n![Stacks of the costliest load and store over the distance, and the "
             f"speedup](case-lbm.svg)\n")
for i, what in (0, "without prefetch"), (near, f"at distance {DISTANCES[near]}"):
    measured += f"\n## Hottest instructions {what}\n\n" + hottest_table(steps[i])
GIVEN = ["TEA", "IBS"]
profiled = case.profile(run.workload("lbm"), "stream_collide", MACHINE, GIVEN, 1, SIZES[0])
code = case.code_of(profiled, ["stream_collide"], GIVEN, 0.01)
measured += (f"\n## What TEA and IBS say (Fig. B.10)\n\nWithout prefetch, {SIZES[0]:,} cells; % of time, of "
             "the instructions to which one of them gives 1 % or more, in the order of the code:\n\n" +
             case.stack_table(profiled, code, GIVEN) +
             "\n![Stacks of the instructions by TEA and IBS](case-lbm-profiles.svg)\n")
page.write("case-lbm", "experiments/case-lbm.py", measured)

names = [str(distance) if distance else "none" for distance in DISTANCES]
svg.figure(page.picture("case-lbm"), [
    svg.Stacks("Costliest load of the step, by prefetch distance", "cycles a cell", names,
               stacks([hottest(step, False) for step in steps]), height=180),
    svg.Stacks("Costliest store of the step", "cycles a cell", names,
               stacks([hottest(step, True) for step in steps]), height=180),
    svg.Stacks("The whole step, and how many times faster it is", "cycles a cell", names,
               case.parts_of(steps, 100), overlay=("times faster", speedups))])
svg.figure(page.picture("case-lbm-profiles"),
           case.stack_panels(profiled, code, GIVEN, "The step without prefetch"))
