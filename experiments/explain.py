"""What `culprit explain` makes of whole runs, against their full simulation: CPI, stack, time; into
docs/results/explain.md.    python3 -B experiments/explain.py [FILE]

FILE, of 100 MB or so, is compressed by gzip -9 as well, explained, and timed against the native run
three times; there is no full simulation of that."""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

from lib import page, run, svg, whole_runs

UNITS = 840  # of a cycle


def seconds_of(line):
    start = time.monotonic()
    with tempfile.TemporaryFile() as output:
        done = subprocess.run(line, env=run.ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=output,
                              stderr=subprocess.PIPE, timeout=1800, check=False)
    if done.returncode:
        sys.exit(f"status {done.returncode} of {' '.join(line)}:\n{done.stderr.decode()}")
    return time.monotonic() - start


def explain(command, *options):
    """The report, and how long it took."""
    with tempfile.NamedTemporaryFile() as report:
        seconds = seconds_of([run.CULPRIT, "explain", *options, "--machine", whole_runs.MAIN, "--json",
                              "--top", "1", "--output", report.name, "--", *command])
        return json.load(open(report.name)), seconds


def native(command):
    return statistics.median(seconds_of(command) for _ in range(3))


def parts(report):
    """Shares of the cycles: no event, each event alone, several."""
    found = {}
    for name, cycles in report["stack"].items():
        key = "combined" if "+" in name else name.lower().replace("-", "_")
        found[key] = found.get(key, 0) + cycles / report["cycles"]
    return found


def true_parts(rows):
    cycles = sum(row["cycles"] for row in rows)
    return {name.removeprefix("units_"): sum(row[name] for row in rows) / UNITS / cycles
            for name in rows[0] if name.startswith("units_")}


body, errors, worst, ratios = [], [], [], []
for record in whole_runs.records(beginning=()):
    rows = whole_runs.slices(record.costs())
    report, seconds = explain(record.run.command)
    alone = native(record.run.command)
    cpi = sum(row["cycles"] for row in rows) / sum(row["instructions"] for row in rows)
    true, found = true_parts(rows), parts(report)
    differences = {name: found.get(name, 0) - true.get(name, 0) for name in {*true, *found}}
    name = max(differences, key=lambda part: abs(differences[part]))
    errors.append(report["cpi"] / cpi - 1)
    worst.append(abs(differences[name]))
    ratios.append(seconds / alone)
    body.append((record.run.name, f"{report['instructions'] / 1e6:.0f}",
                 (report["regions"] or {}).get("count", "sampled" if report["sampling"] else "in full"), f"{cpi:.3f}", f"{report['cpi']:.3f}",
                 f"{100 * errors[-1]:+.2f}", f"{100 * differences[name]:+.2f} {name}",
                 f"{alone:.2f}", f"{seconds:.1f}", f"{ratios[-1]:.0f}"))
body.append(("**mean of absolute values**", "", "", "", "",
             f"{100 * statistics.mean(map(abs, errors)):.2f}", f"{100 * statistics.mean(worst):.2f}",
             "", "", f"{statistics.mean(ratios):.0f}"))
measured = """## Against full simulation

![CPI of explain and of the full simulation](explain.svg)

Error: of the CPI. Stack: the component of the cycle stack (no event, each event alone, several) whose share differs most, in points. Times in seconds.

""" + page.table(["run", "M instr.", "regions", "CPI", "explain", "error, %", "stack, points", "native",
                  "explain", "ratio"], body)
if len(sys.argv) > 1:
    command = ["gzip", "-9", "-c", os.path.abspath(sys.argv[1])]
    report, seconds = explain(command)
    alone = native(command)
    measured += f"""
## A long run

`gzip -9` of {os.path.getsize(sys.argv[1]) / 1e6:.0f} MB: {report['instructions'] / 1e9:.1f} G instructions, {alone:.2f} s natively (median of 3), explained in {seconds:.1f} s by
{report['regions']['count']} regions with {report['instructions_simulated'] / 1e6:.0f} M instructions: {seconds / alone:.1f} times the native time. CPI {report['cpi']:.3f}.
"""
page.write("explain", "experiments/explain.py", measured)
svg.figure(page.picture("explain"), [svg.Bars(
    "CPI: full simulation and explain", "cycles per instruction", [row[0] for row in body[:-1]],
    [("full simulation", [float(row[3]) for row in body[:-1]]),
     ("explain", [float(row[4]) for row in body[:-1]])], height=260)])
