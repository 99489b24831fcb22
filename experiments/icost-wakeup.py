"""§4.2 of the interaction-cost paper: what a larger window is worth when dependent operations issue
back to back and when they cannot, into docs/results/icost-wakeup.md. Takes two minutes.
    python3 -B experiments/icost-wakeup.py"""
from lib import icost, page, run, svg

WINDOWS = [64, 128]
WAKEUPS = [1, 2]


def study(program):
    """Speedups in percent from the smaller to the larger window, by wakeup latency."""
    grid = run.report("icost", ["--machine", "fields2004",
                                "--sensitivity", "+".join(icost.WINDOW) + "=" +
                                ",".join(map(str, WINDOWS)),
                                "--sensitivity", "core.issue_wakeup=" +
                                ",".join(map(str, WAKEUPS)), *program.options], program.command)
    found = {tuple(point["values"]): point["speedup_percent"] for point in grid["runs"]}
    return [found[str(WINDOWS[1]), str(wakeup)] for wakeup in WAKEUPS]


parts = icost.chosen()
found = [(p.name, study(p)) for p in parts]
means = [sum(gains[i] for _, gains in found) / len(found) for i in range(len(WAKEUPS))]
measured = "![Speedup from a window of 128, by wakeup](icost-wakeup.svg)\n\n" + page.table(
    ["64 to 128", *(f"wakeup {wakeup}, %" for wakeup in WAKEUPS), "times as much"],
    [(name, *(f"{gain:+.1f}" for gain in gains),
      f"{gains[1] / gains[0]:.2f}" if gains[0] >= 0.5 else "")
     for name, gains in found] +
    [("**mean**", *(f"{gain:+.1f}" for gain in means), f"{means[1] / means[0]:.2f}"),
     ("paper, `gap`", "12", "18", "1.5")])
page.write("icost-wakeup", "experiments/icost-wakeup.py", measured)
svg.figure(page.picture("icost-wakeup"), [svg.Bars(
    "Speedup from a window of 64 to one of 128", "%", [name for name, _ in found],
    [(f"issue wakeup {wakeup}", [gains[i] for _, gains in found])
     for i, wakeup in enumerate(WAKEUPS)], low=min(0, *(min(g) for _, g in found)))])
