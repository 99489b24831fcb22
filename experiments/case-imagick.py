"""The Imagick case of the TIP paper (§6, Figs. A.12, A.13): functions of libm that save and restore
the floating point flags, and the same program with no-ops in their place, into
docs/results/case-imagick.md. Takes half a minute.    python3 -B experiments/case-imagick.py"""
import os

from lib import case, page, run, svg
from lib.nop_out import nop_out

MACHINE = "boom-tip"
HOT = ["shift_to_mean", "ceil", "floor", "pixel_at"]
CASES = [("meanshift", "shift_to_mean", [24]), ("ceil", "round_both_ways", [300000])]


def both(name, start, arguments):
    original = run.workload(name)
    changed = os.path.join(run.KEPT, name + "-without-flags")
    nop_out(original, changed, ["__ceil", "__floor"], ["frflags", "fsflags"])
    return [case.simulate(program, start, MACHINE, *arguments) for program in (original, changed)]


def ratio(before, after):
    return f"{before / after:.2f}"


def share_of(report, test):
    return sum(row["share"] for row in report["hot_instructions"] if test(row))


def is_flags(row):
    return row["text"].split()[0] in ("frflags", "fsflags")


# Fig. A.12: what NCI and TIP say of `ceil` within the whole program.
BLAMED = "ceil"
GIVEN = ["NCI", "TIP"]
profiled = case.profile(run.workload("meanshift"), "shift_to_mean", MACHINE, GIVEN, *CASES[0][2])


def shares_of(row):
    return [*(row["shares"][name] for name in GIVEN), row["share"]]


def summed(rows):
    return [sum(column) for column in zip(*map(shares_of, rows))]


of_functions = {name: summed([row for row in profiled["hot_instructions"]
                              if row["function"] == name]) for name in HOT}
code = sorted((row for row in profiled["hot_instructions"] if row["function"] == BLAMED),
              key=lambda row: row["offset"])
in_function = [(row["text"], [share / whole for share, whole in
                              zip(shares_of(row), of_functions[BLAMED])]) for row in code]

reports = {name: both(name, start, arguments) for name, start, arguments in CASES}
before, after = reports["meanshift"]
rows = [("Imagick, paper", "", "", "1.2", "2.3", "1.93")]
for name, (old, new) in reports.items():
    rows.append((f"`{name}`", f"{old['cycles']:,}", f"{new['cycles']:,}", f"{1 / old['cpi']:.2f}",
                 f"{1 / new['cpi']:.2f}", ratio(old["cycles"], new["cycles"])))
measured = page.table(["program", "cycles", "cycles without", "IPC", "IPC without", "times faster"],
                      rows)

measured += "\n## Functions of `meanshift`\n\n"
rows = []
for name in HOT:
    old, new = case.function(before, name), case.function(after, name)
    rows.append((f"`{name}`", page.percent(old["share"]),
                 page.percent(old["components"]["flush"] / before["cycles"]),
                 page.percent(new["cycles"] / before["cycles"]),
                 ratio(old["cycles"], new["cycles"])))
measured += page.table(["function", "% of time", "of which flush", "without, % of the time before",
                        "times faster"], rows)
flags = share_of(before, is_flags)
measured += (f"\n`frflags` and `fsflags` take {100 * flags:.1f} % of the time: without that, "
             f"{1 / (1 - flags):.2f} times faster. The program is "
             f"{before['cycles'] / after['cycles']:.2f} times faster.\n")
measured += "\n![Cycle stacks of the four functions, before and after](case-imagick.svg)\n"
measured += ("\n## What profilers say (Fig. A.12)\n\n% of the time of the program:\n\n" +
             page.table(["function", *GIVEN, "Oracle"],
                        [(f"`{name}`", *map(page.percent, of_functions[name])) for name in HOT]) +
             f"\n% of the time of `{BLAMED}`:\n\n" +
             page.table(["instruction", *GIVEN, "Oracle"],
                        [(f"`{text}`", *map(page.percent, shares)) for text, shares in in_function]) +
             "\n![Profiles of functions and of instructions of ceil](case-imagick-profiles.svg)\n\n" +
             case.flushing_words(profiled))
measured += "\n## Hottest instructions before\n\n" + case.hottest(before, 12)
measured += "\n## Hottest instructions after\n\n" + case.hottest(after, 6)
page.write("case-imagick", "experiments/case-imagick.py", measured)

stacks = [case.function(report, name) for name in HOT for report in (before, after)]
svg.figure(page.picture("case-imagick"), [svg.Stacks(
    "Where the time of meanshift goes, with frflags and fsflags and without", "% of time before",
    [f"{name} {when}" for name in HOT for when in ("orig.", "opt.")],
    case.parts_of(stacks, before["cycles"]), clusters=[2] * len(HOT))])
svg.figure(page.picture("case-imagick-profiles"), [
    svg.Bars("Functions (Fig. A.12)", "% of time", HOT,
             [(name, [100 * of_functions[function][i] for function in HOT])
              for i, name in enumerate([*GIVEN, "Oracle"])], height=160),
    svg.Bars(f"Instructions of {BLAMED} (Fig. A.12)", "% of its time", [text for text, _ in in_function],
             [(name, [100 * shares[i] for _, shares in in_function])
              for i, name in enumerate([*GIVEN, "Oracle"])], height=200)])
