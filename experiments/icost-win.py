"""The window on machines with MSHRs and prefetchers: what a larger one is worth, alone and with each
other cause, by graph and by simulating anew, into docs/results/icost-win.md.
    python3 -B experiments/icost-win.py"""
from lib import icost, page, programs, run, svg

LIMIT = "2M"
MACHINES = {"fields2004": "riscv64", "zen4": "x86_64", "boom-tea": "riscv64", "boom-tip": "riscv64"}
DEBIAN = ["awk", "bc", "bzip2", "gcc", "gzip", "perl", "python3", "sort", "sqlite3", "xz"]
OURS = [("branchy", "quicksort", 100000, 100000), ("chase", "chase_one", 400000),
        ("hashjoin", "probe", 800000), ("interpreter", "interpret", 200000),
        ("lbm", "stream_collide", 1, 60000), ("matmul", "multiply"),
        ("meanshift", "shift_to_mean", 32), ("nab", "born_radii", 200, 4),
        ("pages", "touch", 3000000), ("quadtree", "perimeter", 5), ("stream", "copy", 2, 500000),
        ("bigcode", "call_all", 200)]


def chosen(machine):
    """Debian's programs where the machine is a model for x86-64 or for any, and our workloads."""
    debian = [] if machine.startswith("boom") else [
        program._replace(options=[LIMIT if word == programs.LIMIT else word
                                  for word in program.options])
        for program in programs.programs() if program.name in DEBIAN]
    return debian + [programs.ours(*workload, isa=MACHINES[machine], limit=LIMIT)
                     for workload in OURS]


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else None


def number(value, form="{:.1f}"):
    return "" if value is None else form.format(value)


class Measured:
    """Shares of the time in percent, by graph and by simulation, of all single causes and of the
    pairs with the window."""
    def __init__(self, machine, program):
        self.name = program.name
        report = run.report("icost", ["--machine", machine, "--focus", "win", "--multisim=focus",
                                      *program.options], program.command)
        graph, self.simulated = icost.shares(report), icost.shares(report["multisim"])
        self.graph = {members: graph[members] for members in self.simulated}

    def difference(self, members):
        return self.graph[members] - self.simulated[members]

    def errors(self, wanted):
        """Of what is 5 % of the time or more, as Table IX counts."""
        return [100 * abs(self.difference(members)) / abs(share)
                for members, share in self.simulated.items()
                if abs(share) >= 5 and wanted(members)]


def window(members):
    return "win" in members


found = {machine: [Measured(machine, program) for program in chosen(machine)]
         for machine in MACHINES}
KINDS = [("the window", lambda members: members == frozenset(["win"])),
         ("the window and its pairs", window), ("other single causes", lambda m: not window(m))]
rows = []
for machine, results in found.items():
    every = [[error for result in results for error in result.errors(wanted)]
             for _, wanted in KINDS]
    points = [abs(result.difference(frozenset(["win"]))) for result in results]
    rows.append((machine, len(results), *(f"{number(mean(errors))} ({len(errors)})"
                                          for errors in every),
                 number(mean(points)), number(max(points))))
measured = "![The window by graph and by simulation](icost-win.svg)\n\n## By machine\n\n" + page.table(
    ["mean error of 5 % and more, % (how many)", "programs", *(name for name, _ in KINDS),
     "the window, points off, mean", "most"], rows)
points = [row[-2] for row in rows]
measured += f"\nWhat the window costs alone is {min(points)} to {max(points)} points of the time off in the " \
    "mean of a machine's programs.\n"
for machine, results in found.items():
    measured += f"\n## {machine}\n\n" + page.table(
        ["program", "win, multisim, % of time", "graph", "mean error with its pairs, %",
         "farthest off", "multisim", "graph"],
        [(result.name, number(result.simulated[frozenset(["win"])]),
          number(result.graph[frozenset(["win"])]), number(mean(result.errors(window))),
          " + ".join(sorted(worst, key=lambda name: (name != "win", name))),
          number(result.simulated[worst]), number(result.graph[worst]))
         for result in results
         for worst in [max(filter(window, result.simulated),
                           key=lambda members: abs(result.difference(members)))]])
page.write("icost-win", "experiments/icost-win.py", measured)
svg.figure(page.picture("icost-win"), [svg.Bars(
    f"{machine}: what a window 20 times larger is worth", "% of time",
    [result.name for result in results],
    [(way, [max(0, getattr(result, shares)[frozenset(["win"])]) for result in results])
     for way, shares in (("multisim", "simulated"), ("graph", "graph"))], height=200)
    for machine, results in found.items()])
