"""What it would save to lay a struct out anew, as `sim --fields` predicts it, against the same program
written so; and how much of real programs' misses has a field. Into docs/results/data-fields.md. Takes
a few minutes.
    python3 -B experiments/data-fields.py"""
import os
import subprocess

from lib import page, run

# The last were run first when the prediction was done; of those, heap and names-in-turn do more than
# to lay the struct out anew (see the page).
KERNELS = [("scan", "split"), ("list", "split"), ("table", "split"), ("reorder", "reordered"),
           ("tree", "split"), ("graph", "split"), ("heap", "split"), ("names", "split"), ("names-in-turn", "split")]
UNSEEN = "heap", "names", "names-in-turn"
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
    source, *how = name.split("-", 1)
    how = ["-D" + word.upper().replace("-", "_") for word in how]
    before = run.report("sim", ["--machine", machine, "--fields"], [built(source)])
    after = run.report("sim", ["--machine", machine], [built(source, "-DREMEDY", *how)])
    struct = before["struct"]
    remedy = next(remedy for remedy in struct["remedies"] if remedy["kind"] == kind)
    predicted, done = remedy["saving"], 1 - after["cycles"] / before["cycles"]
    hot = ", ".join(remedy["hot"])
    return [name + (" (unseen)" if name in UNSEEN else ""), machine, f"{struct['type']}: {hot}", kind,
            page.percent(predicted), page.percent(done), page.percent(predicted / done - 1, 0)]


def explained(name, compiler, source):
    """How much of the cycles with misses has a type, how much a field of a struct, and of the rest
    the reasons."""
    program = os.path.join(BUILT, name)
    subprocess.run([*compiler, "-o", program, os.path.join(SOURCES, source)], check=True)
    report = run.report("sim", ["--by", "field", "--top", "0", "--limit", "40M"], [program])
    rows = report["fields"]
    misses = sum(row["miss_cycles"] for row in rows)
    reasons = {}
    for row in rows:
        if row["type"] is None:
            reasons[row["reason"]] = reasons.get(row["reason"], 0) + row["miss_cycles"]
    share = lambda chosen: page.percent(sum(row["miss_cycles"] for row in rows if chosen(row)) / misses)
    largest = sorted(reasons.items(), key=lambda item: -item[1])[:3]
    return [name, page.percent(misses / report["cycles"]), share(lambda row: row["type"]),
            share(lambda row: row["type"] and row["field"]),
            ", ".join(f"{reason} {page.percent(cycles / misses)}" for reason, cycles in largest)]


rows = [measure(name, kind, machine) for name, kind in KERNELS for machine in MACHINES]
programs = [explained("maps (C++)", ["g++", "-O2", "-g"], "maps.cc"),
            explained("orders (Rust)", ["rustc", "-O", "-g"], "orders.rs"),
            explained("names (C)", ["gcc", "-O2", "-g"], "names.c"),
            explained("names (C, clang)", ["clang", "-O2", "-g"], "names.c")]
page.write("data-fields", "experiments/data-fields.py", page.table(
    ["kernel", "machine", "hot fields", "remedy", "predicted saving, %", "saving when it is done, %",
     "off by, %"], rows) + "\nCycles with misses of data by what the instruction accesses, `zen4`:\n\n" + page.table(
    ["program", "of all cycles, %", "with a type, %", "with a field of a struct, %", "the rest, %"], programs))
