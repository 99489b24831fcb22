"""The window table of §4.1 and Fig. 3 of the interaction-cost paper, into
docs/results/icost-window.md: a larger window hides the L1 data cache's latency.
    python3 -B experiments/icost-window.py"""
from lib import icost, page, run, svg

WINDOWS = [64, 128, 256]
LATENCIES = [1, 2, 3, 4]


def signed(value):
    return f"{value:+.1f}"


def by_window(program):
    """A breakdown for each window, from the graph and by simulation."""
    return [icost.breakdown(program, icost.SLOW_L1 + icost.window(entries), "--focus", "dl1",
                            "--multisim=focus") for entries in WINDOWS]


def table_of(program, reports):
    lines = []
    for name, members in [("dl1", {"dl1"}), ("win", {"win"}), ("dl1 + win", {"dl1", "win"})]:
        lines.append((program.name if not lines else "", name, *(
            f"{icost.shares(way)[frozenset(members)]:.1f}"
            for report in reports for way in (report["multisim"], report))))
    base = reports[0]["cycles"]
    lines.append(("", "time", *(f"{100 * cycles / base:.1f}" for report in reports
                                for cycles in (report["multisim"]["cycles"], report["cycles"]))))
    return lines


def study(program):
    """Speedups in percent over a window of 64, by latency and window (Fig. 3)."""
    grid = run.report("icost", ["--machine", "fields2004",
                                "--sensitivity", "+".join(icost.WINDOW) + "=64,96,128,192,256",
                                "--sensitivity", "l1d.latency=" + ",".join(map(str, LATENCIES)),
                                *program.options], program.command)
    return {tuple(point["values"]): point["speedup_percent"] for point in grid["runs"]}


parts = icost.chosen()
lines = [line for p in parts for line in table_of(p, by_window(p))]
measured = "## Costs by window\n\n" + page.table(
    ["", "% of time", *(f"{entries}, {way}" for entries in WINDOWS for way in ("multisim", "graph"))],
    lines) + "\n"

grids = [(p, study(p)) for p in parts]
sizes = sorted({int(window) for _, grid in grids for window, _ in grid})
mean = {latency: [sum(grid[str(size), str(latency)] for _, grid in grids) / len(grids)
                  for size in sizes] for latency in LATENCIES}
measured += "## Speedup from a larger window (Fig. 3)\n\n" \
    "![Speedup over a window of 64, by L1 latency](icost-window.svg)\n\n" + page.table(
        ["64 to 128, %", *(f"latency {latency}" for latency in LATENCIES)],
        [(p.name, *(signed(grid["128", str(latency)]) for latency in LATENCIES))
         for p, grid in grids] +
        [("mean", *(signed(mean[latency][sizes.index(128)]) for latency in LATENCIES)),
         ("mean, 64 to 256", *(signed(mean[latency][sizes.index(256)]) for latency in LATENCIES))])
at_one, at_four = (mean[latency][sizes.index(128)] for latency in (LATENCIES[0], LATENCIES[-1]))
measured += f"\nFrom 64 to 128 entries the mean speedup is {at_one:.1f} % with a latency of one cycle and " \
    f"{at_four:.1f} % with four, {at_four / at_one:.1f} times as much (paper: 6 and 9 %, 1.5 times).\n"
page.write("icost-window", "experiments/icost-window.py", measured)
svg.figure(page.picture("icost-window"), [svg.Lines(
    "Speedup over a window of 64, mean of the programs", "entries of the window", "%", sizes,
    [(f"L1 latency {latency}", mean[latency]) for latency in LATENCIES], height=280)])
