"""What the case studies share: before and after as tables, from reports of `culprit sim`."""
from lib import page, run

COMPONENTS = [("execute", "execute"), ("flush", "flush"), ("mispredict", "mispredict"),
              ("llc_miss", "LLC miss"), ("l1_miss", "L1 miss"), ("tlb_miss", "TLB miss"),
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
