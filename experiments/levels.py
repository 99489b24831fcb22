"""Top-down levels of kernels whose class is known, and of Debian's programs, on zen4, into
docs/results/levels.md. Takes three minutes.
    python3 -B experiments/levels.py"""
import os
import subprocess

from lib import page, programs, run

FIRST = "Retiring", "Bad Speculation", "Frontend Bound", "Backend Bound"
KERNELS = [("independent", "four chains of additions", "Retiring"),
           ("dependent", "one chain of additions", "Latency Chains"),
           ("multiply", "independent multiplications", "Ports"),
           ("divide", "divisions", "Divider"),
           ("chase_l1", "pointers in the L1", "L1 Latency"),
           ("chase_l2", "pointers in the L2", "L2 Bound"),
           ("chase_memory", "pointers in memory", "DRAM Latency"),
           ("stream", "a word of each line, in order", "DRAM Latency"),
           ("stream", "the same, a bus of 10 GB/s", "DRAM Bandwidth", "dram.bandwidth=10"),
           ("store", "stores to lines in memory", "Store Bound"),
           ("unpredictable", "a random branch", "Bad Speculation"),
           ("code", "2 MB of code in a row", "ICache Misses"),
           ("jumps", "taken jumps", "Frontend Bound")]


def compiled():
    path = os.path.join(run.KEPT, "levels")
    os.makedirs(run.KEPT, exist_ok=True)
    source = os.path.join(run.ROOT, "experiments", "lib", "levels.c")
    subprocess.run(["gcc", "-O1", "-g", "-fno-tree-vectorize", "-o", path, source], check=True)
    return path


def slots(levels):
    return {level["name"]: level["slots"] for level in levels}


def first_level(row):
    shares = slots(row["levels"])
    return [page.percent(shares[name] / row["slots"]) for name in FIRST]


def largest(levels):
    """The class without parts that has most slots, but Retiring, and its share."""
    leaves = [level for at, level in enumerate(levels)
              if at + 1 == len(levels) or levels[at + 1]["depth"] <= level["depth"]]
    all_slots = sum(level["slots"] for level in levels if level["depth"] == 1)
    best = max((leaf for leaf in leaves if leaf["name"] != "Retiring"), key=lambda leaf: leaf["slots"])
    return f"{best['name']} {page.percent(best['slots'] / all_slots)}"


def parent(levels, name):
    """The first level that a level is of."""
    first = None
    for level in levels:
        first = level["name"] if level["depth"] == 1 else first
        if level["name"] == name:
            return first
    return None


def kernel(path, name, what, wanted, *settings):
    options = [word for setting in settings for word in ("--set", setting)]
    report = run.report("sim", ["--levels", "--top", "0", *options], [path, name])
    rows = [row for row in report["top_down"]["rows"]
            if (row["function"] or "") in ("kernel_" + name, "chase")]
    row = max(rows, key=lambda row: row["slots"])
    shares = slots(row["levels"])
    found = max(FIRST, key=lambda level: shares[level])
    right = "yes" if found == parent(row["levels"], wanted) else "no"
    return [what, wanted, right, *first_level(row), page.percent(shares[wanted] / row["slots"]),
            largest(row["levels"])]


def program(of):
    trace = run.trace(of.options, of.command)
    top = run.report_of("sim", ["--levels", "--top", "1"], trace)["top_down"]
    return [of.name, *first_level(top), largest(top["levels"])]


binary = compiled()
kernels = [kernel(binary, *known) for known in KERNELS]
debian = sorted(program(of) for of in programs.programs()
                if of.isa == "x86_64" and not of.command[0].startswith(run.ROOT))
page.write("levels", "experiments/levels.py",
           page.table(["kernel", "class", "first level right"] + [f"{name} %" for name in FIRST]
                      + ["of the class %", "largest loss %"], kernels) + "\n"
           + page.table(["program"] + [f"{name} %" for name in FIRST] + ["largest loss %"], debian))
