"""What the figures on profilers share: every program of the list under `culprit profilers`, once on
the machine of the TIP paper and once on that of the TEA paper, with all configurations that any
figure needs in the same simulation, so that they sample the very same cycles."""
import os
import sys

from lib import page, run
from lib.programs import programs

# Samples of a run. The papers sample at 4 kHz for minutes, our runs are a few milliseconds long: the
# sweep spans the same ratios to the middle as theirs, 100 Hz to 20 kHz.
SAMPLES = 200000
SWEEP = [5000, 12500, 25000, 50000, 100000, 200000, 500000, 1000000]
TIME_PROFILERS = ["Software", "Dispatch", "LCI", "NCI", "NCI+ILP", "TIP-ILP", "TIP"]
EVENT_PROFILERS = ["IBS", "SPE", "RIS", "NCI-TEA", "TEA"]
SWEPT = ["NCI", "TIP-ILP", "TIP"]
FLOOR = "1.5%"


def only():
    """ONLY=gzip,nab: some programs, to try a figure; the page is then about these alone."""
    names = os.environ.get("ONLY")
    chosen = [p for p in programs() if not names or p.name in names.split(",")]
    return chosen or sys.exit("ONLY: no such program")


def sampled(name, samples):
    return name if samples == SAMPLES else f"{name}:samples={samples}"


def compare(machine, configurations, *options):
    """(program, report) of every program."""
    options = ["--machine", machine, "--profiler", ",".join(configurations), "--top", 20, *options]
    return [(program, run.report("profilers", [*options, *program.options], program.command))
            for program in only()]


def of_time():
    """The profilers of the TIP paper, on its machine."""
    configurations = TIME_PROFILERS + ["TIP:periodic"]
    configurations += [sampled(name, n) for name in SWEPT for n in SWEEP if n != SAMPLES]
    return compare("boom-tip", configurations, "--samples", SAMPLES, "--systematic")


def of_events():
    """Those of the TEA paper, on its machine."""
    configurations = EVENT_PROFILERS + [sampled(name, n) for name in EVENT_PROFILERS
                                        for n in SWEEP if n != SAMPLES]
    return compare("boom-tea", configurations, "--samples", SAMPLES, "--systematic")


def differences(first, second):
    """(program, differences by instruction and by function) of the profiles of two profilers of
    the TIP paper: the error of the second with the first in the place of Oracle (§5.2)."""
    found = []
    for program in only():
        report = run.report("profilers", ["--machine", "boom-tip", "--profiler",
                                          f"{second},{first}", "--samples", SAMPLES, "--top", 0,
                                          *program.options], program.command)
        by_function = {}
        for row in report["hot_instructions"]:
            pair = by_function.setdefault((row["image"], row["function"]), [0, 0])
            pair[0] += row["shares"][first]
            pair[1] += row["shares"][second]
        by_instruction = [(row["shares"][first], row["shares"][second])
                          for row in report["hot_instructions"]]
        found.append((program, [max(1 - sum(map(min, pairs)), 0)
                                for pairs in (by_instruction, by_function.values())]))
    return found


def with_floor(machine, profiler):
    """One profiler with as many samples as the program needs for a floor of FLOOR."""
    return compare(machine, [profiler], "--floor", FLOOR)


def row(report, label):
    return next(row for row in report["profilers"] if row["label"] == label)


def mean(values):
    values = [value for value in values if value is not None]
    return sum(values) / len(values) if values else None


def percents(values):
    return [None if value is None else 100 * value for value in values]


def beside_paper(reports, profilers, paper, of, floor, systematic):
    """Of each profiler, mean and maximum beside the paper's. `paper`: name to (mean, maximum or
    None) in percent; the three functions take a profiler's row of a report."""
    rows = []
    for name in profilers:
        found = [row(report, name) for _, report in reports]
        errors = [of(r) for r in found]
        worst = max(range(len(errors)), key=lambda i: errors[i])
        theirs = paper.get(name, (None, None))
        rows.append((name, page.percent(mean(errors)), theirs[0],
                     f"{page.percent(errors[worst])} ({reports[worst][0].name})", theirs[1],
                     page.percent(mean([floor(r) for r in found])),
                     page.percent(mean([systematic(r) for r in found]))))
    return page.table(["profiler", "mean, %", "paper", "maximum, %", "paper", "floor, %",
                       "systematic, %"], rows)


def per_program(reports, headings, cells):
    """One row for each program and one for the mean; `cells` gives numbers, shares of 1."""
    rows = [(program, cells(report)) for program, report in reports]
    lines = [(str(program), *(page.percent(cell) for cell in values)) for program, values in rows]
    means = [mean(column) for column in zip(*(values for _, values in rows))]
    return page.table(["program", *headings],
                      lines + [("**mean**", *(page.percent(value) for value in means))])
