"""TraceDoctor's comparison with AutoCounter, and Fig. C.3 (paper C, §5), in instructions executed by
each thread of the simulator instead of in time, into docs/results/tap.md: they do not depend on what
else the machine does.    python3 -B experiments/tap.py

`culprit bbv` counts what culprit itself executes while it simulates."""
import os
import tempfile

from lib import page, run, svg

CLOCK_KHZ = 5e6  # of zen4
FREQUENCIES = [round(2 ** (7 * i / 33), 2) for i in range(34)]  # 1 to 128 kHz
PROGRAM = ["gzip", "-9", "-c", "/bin/bash"]
INSTRUCTIONS = 2000000
TRACERS = ["binary", "csv", "calls"]
PIECES, PIECE = 8, 500000


def threads(machine, trace, tap):
    """Instructions that each thread of `culprit sim` executed, in the order of their beginning."""
    with tempfile.TemporaryDirectory() as folder:
        vectors = os.path.join(folder, "vectors.bb")
        taps = ["--tap", tap] if tap else []
        run.execute([run.CULPRIT, "bbv", "--size", "1G", "-o", vectors, "--", run.CULPRIT, "sim",
                     "--machine", machine, "--json", "-o", "/dev/null", *taps, trace], 900)
        counts = {}
        with open(vectors + ".slices", encoding="latin-1") as table:
            for line in table:
                words = line.split()
                if words[0] == "slice":
                    counts[int(words[2])] = counts.get(int(words[2]), 0) + int(words[4])
        return [counts[thread] for thread in sorted(counts)]


class Work:
    """Of the reader of the trace, the pipeline and the tracer; the tracer's thread begins first."""

    def __init__(self, machine, trace, tap):
        counts = threads(machine, trace, tap)
        self.reading = counts[0]
        self.tracer = counts[1] if tap else 0
        self.pipeline = max(counts[2 if tap else 1:])


# ---- counters at 34 frequencies ----
trace = run.trace(["--limit", str(INSTRUCTIONS)], PROGRAM)
without = Work("zen4", trace, None)
work = [Work("zen4", trace, f"counters:/dev/null,interval={round(CLOCK_KHZ / frequency)}")
        for frequency in FREQUENCIES]
each = [w.tracer / INSTRUCTIONS for w in work]
held = [100 * (w.pipeline / without.pipeline - 1) for w in work]
measured = "## Counters from 1 to 128 kHz\n\n" \
    f"{INSTRUCTIONS // 1000000} M instructions of `gzip -9` on `zen4` at 5 GHz; instructions that the " \
    "simulator executes for each that it simulates.\n\n" + page.table(
        ["kHz", "tracer", "pipeline", "pipeline, more than without a tracer, %"],
        [(f"{FREQUENCIES[i]:g}", f"{each[i]:.2f}", f"{work[i].pipeline / INSTRUCTIONS:.1f}",
          f"{held[i]:+.3f}") for i in (*range(0, 33, 4), 33)])
measured += f"\nOf the {len(FREQUENCIES)} frequencies the tracer executes {min(each):.2f} to {max(each):.2f} " \
    f"instructions for each simulated one, and the pipeline {min(held):+.3f} to {max(held):+.3f} % more " \
    "than without.\n"

# ---- Fig. C.3: over the run ----
nab = [run.workload("nab"), "200", "4"]
traces = [run.trace(["--from", "born_radii", "--limit", str(PIECE * (i + 1))], nab) for i in range(PIECES)]


def over_time(tap):
    """The tracer's and the pipeline's instructions for each simulated one, by piece."""
    found = [Work("boom-tip", trace, tap) for trace in traces]
    def pieces(of):
        ends = [getattr(w, of) for w in found]
        return [(b - a) / PIECE for a, b in zip(ends, ends[1:])]
    return pieces("tracer"), pieces("pipeline")


lines = {name: over_time(f"{name}:/dev/null") for name in TRACERS}
pipeline = over_time(None)[1]
measured += "\n## Over the run (Fig. C.3)\n\n![Instructions of the threads over the run](tap.svg)\n\n" \
    f"`nab` on `boom-tip`, pieces of {PIECE:,} instructions after the first; instructions of each thread " \
    "for each that is simulated. A tracer with a processor of its own holds the simulation up where it " \
    "has more to do than the pipeline.\n\n" + page.table(
        ["", *(str(i + 2) for i in range(PIECES - 1))],
        [("pipeline, no tracer", *(f"{value:.0f}" for value in pipeline))] +
        [(what, *(f"{value:.0f}" for value in values)) for name, (own, pipe) in lines.items()
         for what, values in ((f"pipeline, {name}", pipe), (f"{name}", own))])
page.write("tap", "experiments/tap.py", measured)
svg.figure(page.picture("tap"), [
    svg.Lines("Threads over the run, nab", "piece of the run",
              "instructions for each simulated", list(range(2, PIECES + 1)),
              [("pipeline, no tracer", pipeline)] + [(name, own) for name, (own, _) in lines.items()]),
    svg.Lines("Counters", "kHz", "instructions for each simulated", FREQUENCIES,
              [("tracer", each), ("pipeline", [w.pipeline / INSTRUCTIONS for w in work])],
              logarithmic=True)])
