"""Tables VIII and IX of the interaction-cost paper, into docs/results/icost-errors.md: how far the
graph, perfect fragments of it and the shotgun profiler are from simulating anew.
    python3 -B experiments/icost-errors.py"""
from lib import icost, page, svg

STEPS = [("multisim", "graph"), ("graph", "graphfrag"), ("graphfrag", "profiler"),
         ("multisim", "graphfrag"), ("multisim", "profiler")]
SETS = icost.rows("dl1")
PAPER = {("multisim", "graph"): "8 (2.2 to 14.3)", ("graph", "graphfrag"): "3 (0.2 to 4.0)",
         ("graphfrag", "profiler"): "4 (0.1 to 10.6)", ("multisim", "profiler"): "9 (2.5 to 12.6)"}


def all_ways(program):
    """Breakdowns by way. Perfect fragments are design 1: every instruction measured."""
    options = ["--focus", "dl1"]
    full = icost.breakdown(program, icost.SLOW_L1, *options, "--multisim=pairs")
    ways = {"multisim": full["multisim"], "graph": full}
    for name, design in (("graphfrag", 1), ("profiler", 4)):
        ways[name] = icost.breakdown(program, icost.SLOW_L1, *options, "--shotgun",
                                     f"--shotgun-design={design}")["profiler"]
    return full, {name: icost.shares(way) for name, way in ways.items()}


def error(reference, measured):
    """Table IX: mean of |difference| over |reference|, where that is 5 % of the time or more."""
    shown = [members for _, members in SETS if abs(reference[members]) >= 5]
    return 100 * sum(abs(measured[m] - reference[m]) / abs(reference[m])
                     for m in shown) / len(shown) if shown else None


def number(value, form="{:.1f}"):
    return "" if value is None else form.format(value)


parts = icost.chosen()
found = [(program, *all_ways(program)) for program in parts]
errors = {step: [error(ways[step[0]], ways[step[1]]) for _, _, ways in found] for step in STEPS}


def mean(values):
    known = [value for value in values if value is not None]
    return sum(known) / len(known)


def summary(step):
    known = [value for value in errors[step] if value is not None]
    return f"{mean(known):.1f} ({min(known):.1f} to {max(known):.1f})"


measured = "## Sources of error (Table IX)\n\n" + page.table(
    ["mean error, %", "paper, mean (range)", "here, mean (range)"],
    [(f"{a} → {b}", paper, summary((a, b))) for (a, b), paper in PAPER.items()])
measured += "\n![Error by program](icost-errors.svg)\n\n" + page.table(
    ["mean error of sets of 5 % and more, %", *(p.name for p in parts), "mean"],
    [(f"{a} → {b}", *map(number, errors[a, b]), number(mean(errors[a, b]))) for a, b in STEPS])
signs = [(report["errors"]["graph"]["same_sign"], report["errors"]["graph"]["pairs"])
         for _, report, _ in found]
alarms = sum(report["errors"]["graph"]["false_alarms"] for _, report, _ in found)
measured += f"\nOf {sum(n for _, n in signs)} pairs over 2 % of the time by graph or simulation, " \
    f"{sum(n for n, _ in signs)} have the same sign by both; {alarms} sets are false alarms, 5 % or " \
    "more by the graph and less than half of that by simulation.\n"
for program, _, ways in found:
    measured += f"\n## {program.name} (Table VIII)\n\n" + page.table(
        ["% of time", "multisim", "graph", "graphfrag", "profiler", "profiler − multisim"],
        [(name, *(f"{ways[way][members]:.1f}"
                  for way in ("multisim", "graph", "graphfrag", "profiler")),
          f"{ways['profiler'][members] - ways['multisim'][members]:+.1f}")
         for name, members in SETS])
page.write("icost-errors", "experiments/icost-errors.py", measured)
svg.figure(page.picture("icost-errors"), [svg.Bars(
    "Mean error of sets of 5 % of the time and more", "%", [p.name for p in parts],
    [(f"{a} → {b}", [value or 0 for value in errors[a, b]]) for a, b in STEPS], height=280)])
