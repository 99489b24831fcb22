"""Fig. B.6 of TEA: the cycle stacks of the three costliest instructions as IBS, TEA and the golden
reference give them, into docs/results/fig-b6.md.    python3 -B experiments/fig-b6.py

The paper shows programs with single events, with combined events, and the one that IBS errs least
on; ours are chosen by the same rules."""
from lib import case, page, profilers, svg

GIVEN = ["IBS", "TEA"]
COUNT = 3
SMALLEST = 0.005  # share of the run's time that a part of a picture has; the others are drawn together

reports = profilers.of_events()


def events(name):
    """How many events a part of a stack has; a miss of the LLC, which is one of the L1, is one."""
    names = set(name.split("+")) - {"Base"}
    return len(names - {"ST-L1"} if "ST-LLC" in names else names)


def share(report, test):
    """Share of the run's time that the costliest instructions spend with so many events."""
    return sum(cycles for row in report["hot_instructions"][:COUNT]
               for name, cycles in row["stack"].items() if test(events(name))) / report["cycles"]


def combined(report):
    return share(report, lambda count: count > 1)


def of_one_event(report):
    return share(report, lambda count: count == 1)


def ibs_error(report):
    return profilers.row(report, "IBS")["stack_error"]


def choose():
    by_combined = sorted(reports, key=lambda pair: -combined(pair[1]))
    rest = [pair for pair in reports if pair not in by_combined[:2]]
    single = max(rest, key=lambda pair: of_one_event(pair[1]))
    easiest = min((pair for pair in rest if pair is not single), key=lambda pair: ibs_error(pair[1]))
    return [(by_combined[0], "combined events"), (by_combined[1], "combined events"),
            (single, "single events"), (easiest, "the smallest error of IBS among the others")]


measured, panels = "![Cycle stacks of the costliest instructions](fig-b6.svg)\n", []
for (program, report), why in choose():
    bars, stacks = [], []
    table = []
    for number, row in enumerate(report["hot_instructions"][:COUNT], 1):
        for label, stack in [*((name, row["stacks"][name]) for name in GIVEN),
                             ("golden reference", row["stack"])]:
            bars.append(f"I{number} {'GR' if label == 'golden reference' else label}")
            stacks.append(stack)
            table.append((f"`{row['text']}`" if label == GIVEN[0] else "", label,
                          page.percent(sum(stack.values()) / report["cycles"]),
                          case.stack_text(stack, report["cycles"])))
    largest = {}
    for stack in stacks:
        for name, cycles in stack.items():
            largest[name] = max(largest.get(name, 0), cycles / report["cycles"])
    parts = sorted((name for name in largest if largest[name] >= SMALLEST),
                   key=lambda name: -largest[name])
    shown = [(name, [100 * stack.get(name, 0) / report["cycles"] for stack in stacks])
             for name in parts]
    shown.append(("others", [100 * sum(cycles for name, cycles in stack.items()
                                       if name not in parts) / report["cycles"]
                             for stack in stacks]))
    measured += f"\n## {program}: {why}\n\n" + page.table(
        ["instruction", "by", "% of time", "stack, % of time"], table)
    panels.append(svg.Stacks(f"{program}: {why}", "% of time", bars, shown, clusters=[3] * COUNT,
                             height=190))
several = [(program.name, report["combined_event_uops"] / report["event_uops"])
           for program, report in reports if report["event_uops"]]
measured += (f"\n## Several events at once\n\nOf the µops that committed with an event, "
             f"{100 * profilers.mean(share for _, share in several):.1f} % had several in the mean of "
             f"programs (paper: 30.0 % of instruction executions); most in " + ", ".join(
                 f"{name} {100 * share:.1f}" for name, share in
                 sorted(several, key=lambda pair: -pair[1])[:5]) + ".\n")
page.write("fig-b6", "experiments/fig-b6.py", measured)
svg.figure(page.picture("fig-b6"), panels)
