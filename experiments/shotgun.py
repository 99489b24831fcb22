"""Shotgun profiling (interaction-cost paper, §5 and Table IX): the statistics of its fragments, the
designs of Table IV, accuracy over the length of fragments and with a bit of the program counter in
the signature (§6.3), and over the sampling rate, into docs/results/shotgun.md.
    python3 -B experiments/shotgun.py"""
import os

from lib import page, run, svg
from lib.programs import programs

MACHINE = ["--machine", "fields2004", "--set", "l1d.latency=4", "--focus", "dl1"]
NAMES = ["awk", "bc", "bzip2", "gcc", "gzip", "perl", "python3", "sort", "sqlite3", "xz"]
LIMIT = "4M"
PERIODS = [50, 200, 500, 1000]
LENGTH = 2000
LENGTHS = [500, 1000, LENGTH, 4000]
BITS = [2, 4, 6]  # of the program counter
BRANCHING = ["awk", "bc", "gcc", "perl", "python3", "sqlite3"]  # attempts leave their paths
SWEPT = ["gzip", "perl", "python3", "sqlite3", "xz"]
DESIGNS = {2: "one sample each", 3: "short signatures", 4: "long and short"}


def chosen():
    """ONLY=gzip,perl: some programs, to try it; the page is then about these alone."""
    names = os.environ.get("ONLY", ",".join(NAMES)).split(",")
    return [program for program in programs() if program.name in names]


def report(program, design=4, period=PERIODS[0], length=LENGTH, bit=None):
    options = list(program.options)
    options[options.index("--limit") + 1] = LIMIT
    options += ["--shotgun-length", length] if length != LENGTH else []
    options += ["--shotgun-pc-bit", bit] if bit is not None else []
    return run.report("icost", [*MACHINE, "--shotgun-design", design, "--shotgun-period", period,
                                *options], program.command)


def shares(breakdown):
    return {frozenset(s["members"]): s["icost"]["percent"] for s in breakdown["sets"]}


def error(reference, breakdown):
    """Table IX: mean of |difference| / |reference| over what is 5 % of the time or more, of the causes
    and the pairs with dl1."""
    reference, measured = shares(reference), shares(breakdown)
    errors = [abs(measured[s] - share) / abs(share) for s, share in reference.items()
              if abs(share) >= 5 and (len(s) == 1 or (len(s) == 2 and "dl1" in s))]
    return sum(errors) / len(errors) if errors else None


def mean(values):
    values = [value for value in values if value is not None]
    return sum(values) / len(values) if values else None


def share(part, whole):
    return part / whole if whole else None


class Measured:
    def __init__(self, program):
        self.name = program.name
        self.perfect = report(program, 1)
        self.designs = {design: report(program, design) for design in DESIGNS}
        self.fragments = error(self.perfect, self.perfect["profiler"])
        self.of_design = {design: error(self.perfect["profiler"], r["profiler"])
                          for design, r in self.designs.items()}
        self.whole = error(self.designs[4], self.designs[4]["profiler"])
        found = self.designs[4]["shotgun"]
        instructions, paths = found["instructions"], found["paths"]
        total = sum(instructions.values())
        self.missing, self.inexact = (share(instructions[key], total)
                                      for key in ("missing", "inexact"))
        self.skeletons, self.complete = found["signature_samples"], found["attempts"]["complete"]
        self.events = share(found["events_discarded"], found["events"])
        self.errant, self.discarded = paths["errant"], paths["errant_discarded"]
        self.targets, self.right = paths["targets"], paths["targets_right"]


results = [Measured(program) for program in chosen()]
measured = "![Errors of designs, and over the sampling rate](shotgun.svg)\n\n## Fragments\n\n"
measured += page.table(
    ["program", "no sample, % of instructions", "none with the same signatures, %",
     "complete, of signature samples", "misses and mispredictions in the others, %",
     "attempts that left the path", "of these discarded, %", "targets from samples right, %"],
    [(r.name, page.percent(r.missing, 2), page.percent(r.inexact), f"{r.complete} of {r.skeletons}",
      page.percent(r.events), r.errant, page.percent(share(r.discarded, r.errant)),
      page.percent(share(r.right, r.targets)))
     for r in results])
errant, discarded = (sum(getattr(r, key) for r in results) for key in ("errant", "discarded"))
measured += (f"\nIn all {errant} attempts left the path that was executed; {discarded} of them "
             f"({page.percent(share(discarded, errant))} %) were discarded.\n")
measured += "\n## Errors (Table IX)\n\n" + page.table(
    ["mean error, %", "whole graph → perfect fragments",
     *(f"perfect fragments → design {n}" for n in DESIGNS), "whole graph → design 4"],
    [(r.name, page.percent(r.fragments), *(page.percent(r.of_design[n]) for n in DESIGNS),
      page.percent(r.whole)) for r in results] +
    [("mean", page.percent(mean(r.fragments for r in results)),
      *(page.percent(mean(r.of_design[n] for r in results)) for n in DESIGNS),
      page.percent(mean(r.whole for r in results)))])

# ---- the length of fragments (§6.3) ----


def lengths_of(program):
    """By length: errors of perfect fragments, of the profiler against these, and in all."""
    found = []
    for length in LENGTHS:
        perfect, made = report(program, 1, length=length), report(program, length=length)
        found.append((error(perfect, perfect["profiler"]),
                      error(perfect["profiler"], made["profiler"]), error(made, made["profiler"])))
    return found


STEPS = ["whole graph → perfect fragments", "perfect fragments → design 4", "whole graph → design 4"]
by_length = {r.name: lengths_of(program) for r, program in zip(results, chosen())}
length_means = [[mean(found[i][step] for found in by_length.values()) for i in range(len(LENGTHS))]
                for step in range(len(STEPS))]
measured += "\n## Length of fragments (§6.3)\n\nMean error in %:\n\n" + page.table(
    ["instructions of a fragment", *(f"{length:,}" for length in LENGTHS)],
    [(f"{name}, {STEPS[1]}", *(page.percent(found[i][1]) for i in range(len(LENGTHS))))
     for name, found in by_length.items()] +
    [(f"mean, {step}", *map(page.percent, values)) for step, values in zip(STEPS, length_means)])

# ---- a bit of the program counter in the signature (§6.3) ----


def with_bit(program, bit):
    found = report(program, bit=bit)
    paths, attempts = found["shotgun"]["paths"], found["shotgun"]["attempts"]
    against = next(r for r in results if r.name == program.name).perfect["profiler"]
    return (error(against, found["profiler"]), share(paths["targets_right"], paths["targets"]),
            attempts["complete"], paths["errant"], paths["errant_discarded"])


by_bit = {program.name: [with_bit(program, bit) for bit in (None, *BITS)]
          for program in chosen() if program.name in BRANCHING}
VARIANTS = ["none", *(f"bit {bit}" for bit in BITS)]
bit_means = [mean(found[i][0] for found in by_bit.values()) for i in range(len(VARIANTS))]
measured += "\n## A bit of the program counter in the signature (§6.3)\n\nMean error from perfect " \
    "fragments in % (targets from samples that were right, %; complete fragments; attempts that left " \
    "the path, and of these discarded), of the programs whose attempts leave it:\n\n" + page.table(
        ["third signature bit", *VARIANTS],
        [(name, *(f"{page.percent(wrong)} ({page.percent(right)}; {complete}; {errant}, {discarded})"
                  for wrong, right, complete, errant, discarded in found))
         for name, found in by_bit.items()] + [("mean", *map(page.percent, bit_means))])


# ---- the sampling rate ----


def sparse(program, period):
    """None where every fragment was discarded."""
    try:
        return report(program, 4, period)
    except SystemExit:
        return None


def missing(found):
    counts = found["shotgun"]["instructions"]
    return share(counts["missing"], sum(counts.values()))


swept = {program.name: [sparse(program, period) for period in PERIODS]
         for program in chosen() if program.name in SWEPT}
lines = [(name, [error(r, r["profiler"]) if r else None for r in reports])
         for name, reports in swept.items()]
measured += "\n## Sampling rate\n\nWhole graph → design 4, mean error in %; blank where every fragment was discarded:\n\n" + page.table(
    ["instructions to a detailed sample", *(f"{period:,}" for period in PERIODS)],
    [(name, *(page.percent(value) for value in values)) for name, values in lines] +
    [("mean", *(page.percent(mean(values[i] for _, values in lines)) for i in range(len(PERIODS))))])
measured += "\nInstructions without a sample, %:\n\n" + page.table(
    ["instructions to a detailed sample", *(f"{period:,}" for period in PERIODS)],
    [(name, *(page.percent(missing(r), 2) if r else None for r in reports))
     for name, reports in swept.items()])
page.write("shotgun", "experiments/shotgun.py", measured)


def percents(values):
    return [None if value is None else 100 * value for value in values]


svg.figure(page.picture("shotgun"), [
    svg.Bars("Mean error against perfect fragments", "%", [r.name for r in results],
             [(f"design {n}, {name}", percents(r.of_design[n] for r in results))
              for n, name in DESIGNS.items()], limit=100),
    svg.Lines("Mean error over the length of fragments", "instructions of a fragment", "%", LENGTHS,
              [(step, percents(values)) for step, values in zip(STEPS, length_means)],
              logarithmic=True),
    svg.Bars("Mean error against perfect fragments, with a bit of the program counter", "%",
             list(by_bit), [(variant, percents(found[i][0] for found in by_bit.values()))
                            for i, variant in enumerate(VARIANTS)]),
    svg.Lines("Mean error against the whole graph, over the sampling rate",
              "instructions to a detailed sample", "%", PERIODS,
              [(name, percents(values)) for name, values in lines], logarithmic=True)])
