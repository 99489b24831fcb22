#!/usr/bin/env python3
"""What loads and fetches down wrong paths are worth: the programs of host-programs.py on the machine of
this host, simulated with core.wrong_path and without, beside what was measured.

    wrong-path.py [MACHINE [PROGRAM ...]]

Measured, and simulated with wrong paths, is what `host-programs.py` has kept: run that first. The
machine must have core.wrong_path in its file. What is simulated without is kept, too."""
import importlib.util
import json
import os
import statistics
import sys

from lib import host, page, run

SCRIPT = "experiments/wrong-path.py"
KEPT = os.path.join(run.KEPT, "wrong-path")


def programs_of_the_host():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "host-programs.py")
    spec = importlib.util.spec_from_file_location("host_programs", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def without(machine, name, command, known):
    """Predicted cycles without wrong paths, all else as `host-programs.py` had it."""
    path = os.path.join(KEPT, f"{machine}-{name.replace(' ', '-')}.json")
    if not os.path.exists(path):
        settings = known.settings_of(machine, name) | {"core.wrong_path": "0"}
        return known.explain(machine, name, command, settings, path)["cycles"]
    with open(path) as content:
        return json.load(content)["cycles"]


def summary(name, rows):
    errors = [[abs(row[key]) for row in rows] for key in ("without", "with")]
    return [name, len(rows), *(page.percent(way(some)) for some in errors
                               for way in (statistics.median, statistics.mean, max))]


def main():
    machine = sys.argv[1] if len(sys.argv) > 1 else host.default_machine()
    known = programs_of_the_host()
    os.makedirs(KEPT, exist_ok=True)
    rows = []
    for name, command in known.all_programs().items():
        result = known.result_of(name)
        if not result or result["machine"] != machine or (sys.argv[2:] and name not in sys.argv[2:]):
            continue
        cycles = without(machine, name, command, known)
        measured = result["cycles"] / (1 + result["error"])
        rows.append({"name": name, "held": known.held_out(name), "measured": measured,
                     "change": result["cycles"] / cycles - 1, "without": cycles / measured - 1,
                     "with": result["error"]})
    if not rows:
        sys.exit(f"nothing was measured for {machine}: python3 -B experiments/host-programs.py")
    groups = [("all", rows), ("programs to learn from", [row for row in rows if not row["held"]]),
              ("programs held out", [row for row in rows if row["held"]])]
    table = page.table(["", "programs", "without: median error, %", "mean, %", "worst, %",
                        "with: median error, %", "mean, %", "worst, %"],
                       [summary(name, some) for name, some in groups if some])
    listed = [[f"{row['name']}{' (held out)' if row['held'] else ''}",
               f"{row['measured'] / 1e6:.0f}", page.percent(row["change"]),
               page.percent(row["without"]), page.percent(row["with"])]
              for row in sorted(rows, key=lambda row: row["change"])]
    page.write_part("wrong-path", SCRIPT, machine, f"""{table}
{page.table(["program", "M cycles measured", "wrong paths change the prediction by, %",
             "error without, %", "with, %"], listed)}""")


if __name__ == "__main__":
    main()
