#!/usr/bin/env python3
"""What code costs that the op cache does not have, on this processor and on a simulated machine, into the part
of this kind of host of docs/results/decoding.md.

    decoding.py [--machine MACHINE]

MACHINE: that of this host's processor or the nearest to it, if none is named. Loops of segments of moves and of
blocks behind random branches (lib/decoding.c), measured on processor 1, the least of four; simulated by the
difference of so many times through. Takes three minutes."""
import argparse
import statistics

from lib import host, loops, page

# Kind; segments, moves, moves of the routine that each calls. Kind; blocks, no-ops of each, their bytes.
SEGMENTS = [("segments", count, insns, others)
            for insns, counts in ((28, (20, 214, 909)), (60, (20, 100, 461)), (124, (20, 48, 232)))
            for count in counts for others in (-1,)] + [
    ("segments", count, insns, others)
    for insns, count in ((28, 909), (60, 461), (124, 232)) for others in (0, 17, 35, 71)]
BLOCKS = [("blocks", count, insns, size)
          for insns, size, counts in ((2, 9, (50, 200, 400, 600, 950)), (8, 4, (50, 200, 400, 700)),
                                      (2, 4, (50, 200, 400, 800, 1300)))
          for count in counts]
BEFORE = "opcache.entries=0",
SECONDS, TRIES = 0.25, 4


def measured(row):
    return loops.least([PROGRAM, *map(str, row), str(SECONDS)], TRIES)


def simulated(machine, row, settings=()):
    turns = (20, 20 + 20000 // row[1]) if row[0] == "segments" else (40, 100)
    return loops.per_turn(machine, [PROGRAM, *map(str, row), "0"], turns, settings) / row[1]


def rows(machine, which):
    for row in which:
        here, there, without = measured(row), simulated(machine, row), simulated(machine, row, BEFORE)
        yield [*map(str, row[1:]), f"{here:.2f}", f"{there:.2f}", f"{there - here:+.2f}", f"{without:.2f}"]


def differences(found):
    return [abs(float(row[5])) for row in found]


def table(machine, columns, found):
    return page.table([*columns, "measured", f"`{machine}`", "difference", "without an op cache"], found)


arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("--machine", default=host.default_machine())
machine = arguments.parse_args().machine
PROGRAM = loops.build("decoding")
segments, blocks = list(rows(machine, SEGMENTS)), list(rows(machine, BLOCKS))
without = [abs(float(row[6]) - float(row[3])) for row in segments + blocks]
page.write_part("decoding", "experiments/decoding.py", machine, (
    loops.where() + "Cycles of a segment: moves, a call of a routine of so many moves (-1: none), a jump to the next.\n\n"
    + table(machine, ["segments", "moves", "of the routine"], segments)
    + "\nCycles of a block: a compare, a branch on a random bit, no-ops, the first half of which it jumps over.\n\n"
    + table(machine, ["blocks", "no-ops", "of bytes"], blocks)
    + f"\nThe median difference is {statistics.median(differences(segments)):.2f} cycles of segments and "
    f"{statistics.median(differences(blocks)):.2f} of blocks, of both {statistics.median(differences(segments + blocks)):.2f}; "
    f"without an op cache {statistics.median(without):.2f}.\n"))
