"""What it would save to lay a struct out anew, as `sim --fields` predicts it, against the same program
written so; and how much of real programs' misses has a field. Into docs/results/data-fields.md. Takes
a few minutes.
    python3 -B experiments/data-fields.py"""
import os
import subprocess

from lib import page, run

# The last two were run first when the prediction was done.
KERNELS = [("scan", "split"), ("list", "split"), ("table", "split"), ("reorder", "reordered"),
           ("tree", "split"), ("graph", "split"), ("heap", "split"), ("names", "split")]
UNSEEN = "heap", "names"
MACHINES = "zen4", "boom-tea"
SOURCES = os.path.join(run.ROOT, "experiments", "lib", "fields")
BUILT = os.path.join(run.KEPT, "fields")
FLAGS = ["-O2", "-g", "-fno-tree-vectorize"]


def built(name, *flags):
    """Without vectors, so that the compiler makes the same of both layouts."""
    program = os.path.join(BUILT, name + "".join(flags))
    os.makedirs(BUILT, exist_ok=True)
    subprocess.run(["gcc", *FLAGS, *flags, "-o", program, os.path.join(SOURCES, name + ".c")], check=True)
    return program


def measure(name, kind, machine):
    before = run.report("sim", ["--machine", machine, "--fields"], [built(name)])
    after = run.report("sim", ["--machine", machine], [built(name, "-DREMEDY")])
    struct = before["struct"]
    remedy = next(remedy for remedy in struct["remedies"] if remedy["kind"] == kind)
    predicted, done = remedy["saving"], 1 - after["cycles"] / before["cycles"]
    hot = ", ".join(remedy["hot"])
    return [name + (" (unseen)" if name in UNSEEN else ""), machine, f"{struct['type']}: {hot}", kind,
            page.percent(predicted), page.percent(done), page.percent(predicted / done - 1, 0)]


rows = [measure(name, kind, machine) for name, kind in KERNELS for machine in MACHINES]
page.write("data-fields", "experiments/data-fields.py", page.table(
    ["kernel", "machine", "hot fields", "remedy", "predicted saving, %", "saving when it is done, %",
     "off by, %"], rows))
