#!/usr/bin/env python3
"""What code costs that no longer lies in the L1I, on this processor and on a simulated machine, into the
part of this kind of host of docs/results/code-lines.md.

    code-lines.py [--machine MACHINE]

MACHINE: that of this host's processor or the nearest to it, if none is named. Loops of lines of code
(lib/code_lines.c), measured on processor 1 by the least time of once through within a second; simulated by
the difference of two times through and five. Takes three minutes."""
import argparse
import statistics

from lib import host, loops, page

# Order, blocks, lines of each, instructions in the last line.
ADDITIONS = (
    ("along", 400, 1, 0), ("along", 1600, 1, 0), ("along", 8000, 1, 0), ("next", 400, 1, 2),
    ("next", 400, 1, 6), ("next", 1600, 1, 2), ("next", 3200, 1, 6), ("every", 400, 1, 2),
    ("every", 800, 1, 14), ("every", 1600, 1, 6), ("every", 3200, 1, 2), ("every", 3200, 1, 14),
    ("random", 400, 1, 2), ("random", 400, 1, 14), ("random", 800, 1, 2), ("random", 800, 1, 14),
    ("random", 1600, 1, 14), ("random", 3200, 1, 14), ("random", 800, 4, 10), ("random", 1600, 4, 10),
    ("random", 3200, 4, 10), ("hops", 1000, 4, 14), ("hops", 1500, 4, 14), ("hops", 2500, 4, 14),
    ("hops", 3500, 4, 14), ("hops", 3500, 4, 2))
NO_OPS = (
    ("along", 100, 1, 0), ("along", 200, 1, 0), ("along", 500, 1, 0), ("along", 1600, 1, 0),
    ("random", 200, 1, 14), ("random", 400, 1, 14), ("random", 1600, 1, 14))
ROWS = [(*row, which) for which, rows in (("additions", ADDITIONS), ("no-ops", NO_OPS)) for row in rows]
BEFORE = "branch.lines_ahead=0", "branch.btb_hash=no"
SECONDS, TRIES = 0.25, 4


def measured(row):
    return loops.least([PROGRAM, *map(str, row), str(SECONDS)], TRIES)


def simulated(machine, row, settings=()):
    return loops.per_turn(machine, [PROGRAM, *map(str, row), "0"], (2, 5), settings) / row[1]


def rows(machine):
    for row in ROWS:
        here, there, without = measured(row), simulated(machine, row), simulated(machine, row, BEFORE)
        yield [*map(str, row), f"{here:.2f}", f"{there:.2f}", f"{there - here:+.2f}", f"{without:.2f}"]


arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("--machine", default=host.default_machine())
machine = arguments.parse_args().machine
PROGRAM = loops.build("code_lines")
found = list(rows(machine))
far = [abs(float(row[7])) for row in found]
page.write_part("code-lines", "experiments/code-lines.py", machine, (
    loops.where() + "Cycles of a block; instructions in its last line.\n\n"
    + page.table(["order", "blocks", "lines of each", "in the last", "which", "measured", f"`{machine}`", "difference",
                  "without `lines_ahead` and `btb_hash`"], found)
    + f"\nThe median difference is {statistics.median(far):.2f} cycles; {sum(one <= 0.25 for one in far)} of "
    f"{len(far)} loops are within a quarter of a cycle.\n"))
