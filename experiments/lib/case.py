"""What the case studies share: before and after as tables, from reports of `culprit sim`; what
profilers say of the same code, from `culprit profilers`."""
from lib import page, run, svg

COMPONENTS = [("execute", "execute"), ("flush", "flush"), ("mispredict", "mispredict"),
              ("llc_miss", "LLC miss"), ("l1_miss", "L1 miss"), ("tlb_miss", "TLB miss"),
              ("forwarding", "forwarding"),
              ("stores", "stores"), ("front_end", "front end")]


def simulate(program, start, machine, *arguments):
    """The whole of a program from the function `start` on."""
    return run.report("sim", ["--machine", machine, "--from", start, "--top", 60],
                      [program, *arguments])


def function(report, name):
    return next(row for row in report["functions"] if row["function"] == name)


def stack_text(stack, total):
    """A cycle stack in percent of `total`, without what is below 0.05 %."""
    parts = sorted(stack.items(), key=lambda item: -item[1])
    return ", ".join(f"{name} {100 * cycles / total:.1f}" for name, cycles in parts
                     if cycles >= 0.0005 * total)


def hottest(report, count):
    """The top of the per-instruction cycle stacks."""
    rows = [(f"`{row['text']}`", row["function"], page.percent(row["share"]),
             f"{row['cycles'] / row['instructions']:.1f}",
             stack_text(row["stack"], report["cycles"]))
            for row in report["hot_instructions"][:count]]
    return page.table(["instruction", "function", "% of time", "cycles each", "stack, % of time"],
                      rows)


def parts_of(rows, total):
    """Components of some rows as (name, values), in percent of `total`; rows may be None."""
    return [(name, [100 * row["components"].get(key, 0) / total if row else 0 for row in rows])
            for key, name in COMPONENTS]


def flushing_words(report):
    """How the FL-EX of the report divides: TEA's own is of exceptions alone."""
    def of(rows):
        return sum(cycles for row in rows for name, cycles in row["stack"].items()
                   if "FL-EX" in name.split("+"))
    rows = report["hot_instructions"]
    flags = [row for row in rows if row["text"].split()[0] in ("frflags", "fsflags")]
    return (f"`FL-EX` has {100 * of(rows) / report['cycles']:.1f} % of the time, "
            f"{100 * of(flags) / report['cycles']:.1f} % at `frflags` and `fsflags`, which the paper leaves "
            "without event: there these are `Base`.\n")


def profile(program, start, machine, profilers, *arguments):
    """What these profilers say of the same run, every instruction of it."""
    return run.report("profilers", ["--machine", machine, "--from", start, "--profiler",
                                    ",".join(profilers), "--top", 0], [program, *arguments])


def code_of(report, functions, profilers, least):
    """The instructions of the functions, in the order of their addresses, to which the reference
    or one of the profilers gives so large a part of the run."""
    rows = [row for row in report["hot_instructions"] if row["function"] in functions and
            max(row["share"], *(row["shares"][name] for name in profilers)) >= least]
    return sorted(rows, key=lambda row: row["offset"])


def stack_panels(report, rows, profilers, what):
    """The stacks of these instructions as each profiler gives them, and the golden reference, one
    panel each; all have the same axis."""
    given = {name: [row["stacks"][name] for row in rows] for name in profilers}
    given["golden reference"] = [row["stack"] for row in rows]
    names = [row["text"] for row in rows]
    total = report["cycles"]
    largest = {}
    for stack in (stack for stacks in given.values() for stack in stacks):
        for name, cycles in stack.items():
            largest[name] = max(largest.get(name, 0), cycles / total)
    parts = sorted((name for name in largest if largest[name] >= 0.002), key=lambda name: -largest[name])
    highest = max(100 * sum(stack.values()) / total for stacks in given.values() for stack in stacks)
    return [svg.Stacks(f"{what}: {name}", "% of time", names,
                       [(part, [100 * stack.get(part, 0) / total for stack in stacks])
                        for part in parts], height=150, high=highest)
            for name, stacks in given.items()]


def stack_table(report, rows, profilers):
    """The same as a table."""
    def cell(share, stack):
        return f"{100 * share:.1f}: {stack_text(stack, report['cycles'])}" if share >= 0.0005 else ""
    return page.table(
        ["instruction", *profilers, "golden reference"],
        [(f"`{row['text']}`", *(cell(row["shares"][name], row["stacks"][name]) for name in profilers),
          cell(row["share"], row["stack"])) for row in rows])
