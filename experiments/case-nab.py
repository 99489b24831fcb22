"""The nab case of the TEA paper (§6, Fig. B.12): square roots exposed by flushes before them, and the
same program compiled without NaN and with fast arithmetic, into docs/results/case-nab.md. Takes half
a minute.    python3 -B experiments/case-nab.py"""
from lib import case, page, run, svg

MACHINE = "boom-tea"
ARGUMENTS = [200, 4]
VARIANTS = [("nab", "as it is", "1.00"), ("nab-finite-math-only", "`-ffinite-math-only`", "1.96"),
            ("nab-fast-math", "`-ffast-math`", "2.45")]
FUNCTIONS = ["pair_forces", "born_radii", "exp", "log"]


def kind(row):
    """What an instruction is, for the table of kinds."""
    mnemonic = row["text"].split()[0]
    return {"fsqrt.d": "square roots", "fdiv.d": "divisions", "frflags": "frflags, fsflags",
            "fsflags": "frflags, fsflags"}.get(mnemonic, "all else")


def kinds(report):
    shares = {"square roots": 0, "divisions": 0, "frflags, fsflags": 0}
    for row in report["hot_instructions"]:
        if kind(row) in shares:
            shares[kind(row)] += row["cycles"]
    shares["all else"] = report["cycles"] - sum(shares.values())
    return shares


reports = [case.simulate(run.workload(name), "born_radii", MACHINE, *ARGUMENTS)
           for name, _, _ in VARIANTS]
first = reports[0]
rows = []
for (_, flag, paper), report in zip(VARIANTS, reports):
    rows.append((flag, f"{report['instructions']:,}", f"{report['cycles']:,}",
                 f"{1 / report['cpi']:.2f}", f"{first['cycles'] / report['cycles']:.2f}", paper))
measured = page.table(["compiled", "instructions", "cycles", "IPC", "times faster", "paper"], rows)
measured += "\nCycles by kind of instruction, % of the time of the program as it is:\n\n"
measured += page.table(
    ["compiled", *kinds(first)],
    [(flag, *(page.percent(cycles / first["cycles"]) for cycles in kinds(report).values()))
     for (_, flag, _), report in zip(VARIANTS, reports)])
measured += "\n![Cycle stacks of the functions of the three programs](case-nab.svg)\n"
for (_, flag, _), report in zip(VARIANTS, reports):
    measured += f"\n## Hottest instructions, {flag}\n\n" + case.hottest(report, 8)
GIVEN = ["TEA", "IBS"]
profiled = case.profile(run.workload("nab"), "born_radii", MACHINE, GIVEN, *ARGUMENTS)
code = case.code_of(profiled, ["born_radii"], GIVEN, 0.01)
measured += "\n" + case.flushing_words(profiled)
measured += ("\n## What TEA and IBS say (Fig. B.12)\n\nOf `born_radii`, as it is; % of time, of the instructions to "
             "which one of them gives 1 % or more, in the order of the code:\n\n" +
             case.stack_table(profiled, code, GIVEN) +
             "\n![Stacks of the instructions by TEA and IBS](case-nab-profiles.svg)\n")
page.write("case-nab", "experiments/case-nab.py", measured)

SHORT = ["as is", "finite", "fast"]
rows = [case.function(report, name) for name in FUNCTIONS for report in reports]
svg.figure(page.picture("case-nab"), [
    svg.Stacks("Where the time of nab goes: as it is, -ffinite-math-only, -ffast-math",
               "% of time as it is", [f"{name} {how}" for name in FUNCTIONS for how in SHORT],
               case.parts_of(rows, first["cycles"]), clusters=[3] * len(FUNCTIONS)),
    svg.Stacks("By kind of instruction", "% of time as it is",
               [flag.strip("`") for _, flag, _ in VARIANTS],
               [(name, [100 * kinds(report)[name] / first["cycles"] for report in reports])
                for name in kinds(first)], height=200)])
svg.figure(page.picture("case-nab-profiles"), case.stack_panels(profiled, code, GIVEN, "born_radii"))
