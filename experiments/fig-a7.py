"""Fig. A.7 of TIP: cycle stacks at commit and the classes of the programs, into
docs/results/fig-a7.md.    python3 -B experiments/fig-a7.py"""
from lib import page, profilers, svg

CATEGORIES = [("execute", "execute"), ("alu_stall", "ALU stall"), ("load_stall", "load stall"),
              ("store_stall", "store stall"), ("front_end", "front end"),
              ("mispredict", "mispredict"), ("misc_flush", "misc. flush")]
CLASSES = ["compute", "flush", "stall"]


def shares(report):
    return [report["commit_stack"][key] / report["cycles"] for key, _ in CATEGORIES]


reports = sorted(profilers.of_time(),
                 key=lambda pair: (CLASSES.index(pair[1]["class"]), -shares(pair[1])[0]))
names = [name for _, name in CATEGORIES]
measured = ""
for kind in CLASSES:
    members = [pair for pair in reports if pair[1]["class"] == kind]
    measured += f"\n## {kind.capitalize()}\n\n"
    measured += (profilers.per_program(members, names, shares) if members else "None.\n")
means = [profilers.mean(column) for column in zip(*(shares(report) for _, report in reports))]
measured += "\n## All\n\n" + page.table(
    ["", *names], [("mean", *(page.percent(value) for value in means)),
                   ("paper, mean", *[""] * 6, "1.4")])
measured = "![Cycle stacks at commit](fig-a7.svg)\n" + measured
page.write("fig-a7", "experiments/fig-a7.py", measured)
svg.figure(page.picture("fig-a7"), [svg.Stacks(
    "Cycle stacks at commit, by class of the program", "% of cycles",
    [program.name for program, _ in reports],
    [(name, [100 * shares(report)[i] for _, report in reports]) for i, name in enumerate(names)],
    clusters=[sum(report["class"] == kind for _, report in reports) for kind in CLASSES
              if any(report["class"] == kind for _, report in reports)], height=300)])
