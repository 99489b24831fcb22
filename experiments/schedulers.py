#!/usr/bin/env python3
"""What a chain of operations takes beside others that the same units execute, on this processor and on
a simulated machine with one scheduler for all units and with one for each, into the part of this kind of
host of docs/results/schedulers.md.

    schedulers.py [--machine MACHINE]

MACHINE: that of this host's processor or the nearest to it, if none is named. Measured by the least of
many short pieces within half a second; simulated by the difference of one round and three. Behind the
chains: loops of µops that wait for nothing (lib/unit_loops.py). Takes six minutes."""
import argparse
import statistics
import subprocess

from lib import host, loops, page, unit_loops

ROUNDS, ROUND_LINKS = (1, 3), 50 * 20 * 6  # lib/schedulers.c
ENTRIES = 24
SECONDS, TRIES = 0.5, 3  # the quarter in which nothing else runs here may be short
LOOP_SECONDS, WORST = 0.08, 12


def measured(row):
    return [float(subprocess.run([PROGRAM, str(row), str(SECONDS)], check=True, capture_output=True, text=True).stdout)
            for _ in range(TRIES)]


def simulated(machine, entries, row):
    return loops.per_turn(machine, [PROGRAM, str(row), "0"], ROUNDS, settings(entries)) / ROUND_LINKS


def rows(machine):
    names = subprocess.run([PROGRAM], check=True, capture_output=True, text=True).stdout.splitlines()
    for row, name in enumerate(names):
        tries = measured(row)
        yield [name, f"{min(tries):.2f} to {max(tries):.2f}", *(f"{simulated(machine, entries, row):.2f}" for entries in (0, ENTRIES))]


def settings(entries):
    return [f"queue.int.unit_entries={entries}"]


def measure_loops(machine):
    """[pattern, measured, with one scheduler, with one for each unit]"""
    path, found = unit_loops.build()
    return [[pattern, unit_loops.measured(path, row, LOOP_SECONDS, TRIES),
             *(unit_loops.simulated(path, row, machine, settings(entries)) for entries in (0, ENTRIES))]
            for row, pattern in enumerate(found)]


def summary(what, found, column):
    errors = [abs(row[column] / row[1] - 1) for row in found]
    return [what, len(found), page.percent(statistics.median(errors)), page.percent(statistics.mean(errors)), page.percent(max(errors)),
            *(sum(error <= most for error in errors) for most in (0.03, 0.1))]


def of_loops(machine, found):
    out = [row for row in found if unit_loops.held_out(row[0])]
    kept = [row for row in found if not unit_loops.held_out(row[0])]
    worst = sorted(found, key=lambda row: -abs(row[3] / row[1] - 1))[:WORST]
    kinds = "; ".join(f"{kind}: {name}" for kind, name in unit_loops.NAMES.items())
    return (f"Loops of µops that wait for nothing, by chance ({kinds}): how far the cycles of a turn are off.\n\n" +
            page.table(["", "loops", "median, %", "mean, %", "worst, %", "within 3 %", "within 10 %"],
                       [summary(f"`{machine}`, one scheduler", found, 2), summary("one for each unit", found, 3),
                        summary("of these held out", out, 3), summary("the others", kept, 3)]) +
            "\nThe worst:\n\n" +
            page.table(["turn", "measured", "one scheduler", "one for each unit"],
                       [[row[0], *(f"{cycles:.2f}" for cycles in row[1:])] for row in worst]))


arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("--machine", default=host.default_machine())
machine = arguments.parse_args().machine
PROGRAM = loops.build("schedulers")
page.write_part("schedulers", "experiments/schedulers.py", machine, (
    loops.where() +
    f"Cycles of a link of the chain, of which a random number has six; the least of pieces in {TRIES} tries of half a second each:\n\n" +
    page.table(["operations", "measured", f"`{machine}`, one scheduler", "one for each unit"], list(rows(machine))) +
    "\n" + of_loops(machine, measure_loops(machine))))
