"""Figs. 7 to 10 of DCPI and the accuracy of culprits against the causes that a simulation knows, on
machine alpha21164; then the same analysis on out-of-order cores with NCI and TIP samples. Into
docs/results/stalls.md.    python3 -B experiments/stalls.py

Every program is simulated whole, up to a limit, with samples at random cycles of every period and
with all cycles; `culprit annotate --all` then sees what a profile holds, and the truth is read
beside its estimates."""
import json
import math
import os
import subprocess
import sys
import tempfile

from lib import page, programs, run, svg

LIMIT = "10M"
PERIOD = 997  # cycles between samples
LEAST = "0.01"  # percent of a program's cycles that a procedure has to have
WITHIN = 0.05, 0.10, 0.15
PAPER_BLOCKS, PAPER_EDGES = (73, 87, 92), (None, 58, None)
STATIC = "issue", "slotting", "dependence", "unit", "taken"


def commands(isa):
    """Name, command line and options: whole runs, from their first instruction on."""
    more = {"riscv64": ("bipartite", "copyloop", "lists", "nbody", "ordering", "pending", "stencil",
                        "stlf", "strings", "syscalls"), "x86_64": ()}
    for program in programs.programs():
        if program.isa == isa:
            yield program.name, [str(word) for word in program.command], \
                ["--follow"] if "--follow" in program.options else []
    for name in more[isa]:
        yield name, [run.workload(name, isa)], []


def culprit(*arguments, limit_seconds=1200):
    done = subprocess.run([run.CULPRIT, *arguments], env=run.ENVIRONMENT, cwd=run.ROOT,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=limit_seconds)
    if done.returncode:
        sys.exit(f"culprit {' '.join(arguments)}:\n{done.stderr.decode()}")
    return done.stdout


def annotated(store, event, *options):
    """The procedures, as `culprit annotate` has them."""
    text = culprit("annotate", "--all", "--least", LEAST, "--json", "--store", store, "--event",
                   event, *options)
    return json.loads(text)["procedures"]


def measure(machine, command, options, wanted):
    """A program's procedures by (event, exact executions?)."""
    with tempfile.TemporaryDirectory() as folder:
        store = os.path.join(folder, "profiles.db")
        print(machine, *command, file=sys.stderr)
        culprit("profilers", "--machine", machine, "--period", str(PERIOD), "--profiler", "NCI,TIP",
                "--limit", LIMIT, "--save", "--store", store, "--output",
                os.path.join(folder, "report"), *options, "--", *command)
        return {(event, exact): annotated(store, event, *(["--exact"] if exact else []))
                for event, exact in wanted}


# ---- what is counted ----

class Errors:
    """Weights by the error of an estimate, and by its confidence."""

    def __init__(self):
        self.items = []  # (error or None, weight, confidence)

    def add(self, estimate, truth, weight, confidence):
        if weight > 0:
            error = None if estimate is None or not truth else estimate / truth - 1
            self.items.append((error, weight, confidence))

    def total(self):
        return sum(weight for _, weight, _ in self.items)

    def within(self, limit, confidence=None):
        chosen = [(e, w) for e, w, c in self.items if confidence in (None, c)]
        weight = sum(w for _, w in chosen)
        good = sum(w for e, w in chosen if e is not None and abs(e) <= limit)
        return good / weight if weight else None

    def far_but_sure(self):
        """Of what is off by more than 15 %, the part that is not marked low."""
        far = [(w, c) for e, w, c in self.items if e is None or abs(e) > 0.15]
        weight = sum(w for w, _ in far)
        return sum(w for w, c in far if c not in ("low", "none")) / weight if weight else 0

    def histogram(self):
        """Percent of the weight in steps of 5 %, all beyond 45 % in the outermost."""
        bins = [0.0] * 20
        for error, weight, _ in self.items:
            place = 19 if error is None else math.floor(error / 0.05) + 10
            bins[min(max(place, 0), 19)] += weight
        total = self.total()
        return [100 * amount / total if total else 0 for amount in bins]


def blocks_and_edges(procedures):
    blocks, edges = Errors(), Errors()
    for procedure in procedures:
        for insn in procedure["instructions"]:
            block = procedure["blocks"][insn["block"]]
            blocks.add(block["executions"], insn["truth"]["executions"], insn["cycles"],
                       block["confidence"])
        for edge in procedure["edges"]:
            if edge["true_executions"] is not None:
                edges.add(edge["executions"], edge["true_executions"], edge["true_executions"],
                          edge["confidence"])
    return blocks, edges


def true_stalls(insn):
    return {cause: cycles for cause, cycles in insn["truth"]["stalls"].items()
            if cause not in STATIC and cycles > 0}


class Culprits:
    """How often the true cause is listed, and how long the lists are."""

    def __init__(self, procedures):
        self.true = self.listed = self.missed_small = self.stall = self.length = 0
        self.total = self.unexplained = 0
        self.missing = {}
        for procedure in procedures:
            self.total += procedure["summary"]["total"]
            self.unexplained += procedure["summary"]["unexplained_stall"]
            for insn in procedure["instructions"]:
                self.add(insn)

    def add(self, insn):
        causes = {culprit["cause"] for culprit in insn["culprits"]}
        self.stall += insn["stall_cycles"]
        self.length += insn["stall_cycles"] * len(causes)
        for cause, cycles in true_stalls(insn).items():
            if insn["stall_cycles"] <= 0:  # not shown as stalled
                self.missed_small += cycles
                continue
            self.true += cycles
            if cause in causes:
                self.listed += cycles
            else:
                self.missing[cause] = self.missing.get(cause, 0) + cycles

    def row(self):
        all_true = self.true + self.missed_small
        return (page.percent(self.listed / self.true if self.true else 1),
                f"{self.length / self.stall:.2f}" if self.stall else None,
                page.percent(self.unexplained / self.total if self.total else 0),
                page.percent(self.missed_small / all_true if all_true else 0))


def correlation(pairs):
    count = len(pairs)
    if count < 3:
        return None
    xs, ys = zip(*pairs)
    mean_x, mean_y = sum(xs) / count, sum(ys) / count
    spread = math.sqrt(sum((x - mean_x) ** 2 for x in xs) * sum((y - mean_y) ** 2 for y in ys))
    return sum((x - mean_x) * (y - mean_y) for x, y in pairs) / spread if spread else None


def imiss_points(procedures):
    """Per procedure: I-cache misses, and the bottom, top and truth of their stall cycles."""
    for procedure in procedures:
        misses = sum((insn["events"] or {}).get("imiss", 0) or 0
                     for insn in procedure["instructions"])
        cause = procedure["summary"]["dynamic"]["imiss"]
        yield misses, cause["least"], cause["most"], cause["true"] or 0


# ---- the page ----

def frequency_table(measured, event):
    rows, blocks, edges = [], Errors(), Errors()
    for name, views in measured.items():
        own_blocks, own_edges = blocks_and_edges(views[event, False])
        # Every program counts alike, as one of the paper's suite.
        for own, sums in ((own_blocks, blocks), (own_edges, edges)):
            total = own.total()
            sums.items += [(e, w / total, c) for e, w, c in own.items]
        rows.append((name, *(page.percent(own_blocks.within(limit)) for limit in WITHIN),
                     page.percent(own_edges.within(0.10)),
                     page.percent(1 - (own_blocks.within(0.15) or 0)),
                     page.percent(own_blocks.far_but_sure())))
    rows.append(("**all**", *(page.percent(blocks.within(limit)) for limit in WITHIN),
                 page.percent(edges.within(0.10)), page.percent(1 - blocks.within(0.15)),
                 page.percent(blocks.far_but_sure())))
    rows.append(("DCPI", *PAPER_BLOCKS, PAPER_EDGES[1], 8, "nearly none"))
    return page.table(["program", "samples within 5 %", "10 %", "15 %", "edges within 10 %",
                       "samples off by more than 15 %", "of these not marked low"], rows), blocks, \
        edges


def confidence_table(blocks):
    rows = []
    for confidence in ("high", "medium", "low", "none"):
        weight = sum(w for _, w, c in blocks.items if c == confidence)
        rows.append((confidence, page.percent(weight / blocks.total()),
                     *(page.percent(blocks.within(limit, confidence)) for limit in WITHIN)))
    return page.table(["confidence", "of the samples, %", "within 5 %", "10 %", "15 %"], rows)


def culprit_table(measured, key):
    rows, together = [], []
    for name, views in measured.items():
        found = Culprits(views[key])
        together.append(found)
        worst = max(found.missing.items(), key=lambda item: item[1], default=(None, 0))
        rows.append((name, *found.row(), worst[0]))
    everything = Culprits([])
    for found in together:  # every program counts alike
        for field in ("true", "listed", "missed_small", "stall", "length", "total", "unexplained"):
            share = getattr(found, field) / found.total if found.total else 0
            setattr(everything, field, getattr(everything, field) + share)
    rows.append(("**all**", *everything.row(), ""))
    rows.append(("DCPI", "", "", 8.6, "", ""))
    return page.table(["program", "true cause listed, %", "causes listed", "unexplained stall, %",
                       "true stall not shown, %", "most often missing"], rows)


def imiss_section(measured):
    """bigcode's functions are thousands and all alike: they are told apart."""
    made_up = list(imiss_points(measured["bigcode"]["head", True]))
    others = [point for name, views in measured.items() if name != "bigcode"
              for point in imiss_points(views["head", True])]
    rows = []
    for name, value, paper in (("bottom of the range", lambda p: p[1], 0.86),
                               ("top", lambda p: p[2], 0.91),
                               ("midpoint", lambda p: (p[1] + p[2]) / 2, 0.90),
                               ("truth", lambda p: p[3], None)):
        found = [correlation([(point[0], value(point)) for point in points])
                 for points in (others, others + made_up)]
        rows.append((f"misses and {name}", *(f"{r:.3f}" for r in found), paper))
    found = [correlation([((point[1] + point[2]) / 2, point[3]) for point in points])
             for points in (others, others + made_up)]
    rows.append(("midpoint and true stall cycles", *(f"{r:.3f}" for r in found), None))
    return page.table(["correlation of", f"{len(others)} procedures",
                       f"and bigcode's {len(made_up)}", "DCPI"], rows)


def histogram_panels(blocks, edges):
    names = [f"{5 * (i - 10)}" for i in range(20)]
    names[0], names[-1] = "below", "45+"
    steps = "in steps of 5 %, each from its number on"
    return [svg.Bars(f"Error of instruction frequencies, {steps} (Fig. 8)", "% of samples", names,
                     [("samples", blocks.histogram())]),
            svg.Bars(f"Error of edge frequencies, {steps} (Fig. 9)", "% of edge executions", names,
                     [("edges", edges.histogram())])]


def main():
    in_order = [("head", False), ("head", True), ("NCI", False)]
    alpha = {name: measure("alpha21164", command, options, in_order)
             for name, command, options in commands("riscv64")}
    text = "![Errors of frequencies](stalls.svg)\n\n## Frequencies on alpha21164 (Figs. 8 and 9)\n"
    for event, words in (("NCI", f"A sample every {PERIOD} cycles"), ("head", "All cycles")):
        table, blocks, edges = frequency_table(alpha, event)
        text += f"\n{words}:\n\n{table}\n{confidence_table(blocks)}"
        if event == "NCI":
            svg.figure(page.picture("stalls"), histogram_panels(blocks, edges), width=1000)
    text += "\n## Culprits against the true causes\n"
    for key, words in ((("head", True), "With exact executions, as DCPI's Fig. 10"),
                       (("head", False), "With estimated executions, all cycles"),
                       (("NCI", False), "With estimated executions and samples")):
        text += f"\n{words}:\n\n{culprit_table(alpha, key)}"
    text += f"\n## I-cache misses by procedure (Fig. 10)\n\n{imiss_section(alpha)}"
    for machine, isa in (("boom-tip", "riscv64"), ("zen4", "x86_64")):
        wide = {name: measure(machine, command, options, [("NCI", False), ("TIP", False)])
                for name, command, options in commands(isa)}
        text += f"\n## Out of order: {machine}\n"
        for event in ("NCI", "TIP"):
            table, blocks, _ = frequency_table(wide, event)
            text += f"\nFrom samples of {event}:\n\n{table}\n{confidence_table(blocks)}"
    page.write("stalls", "experiments/stalls.py", text)


if __name__ == "__main__":
    main()
