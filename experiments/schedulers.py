#!/usr/bin/env python3
"""What a chain of operations takes beside others that the same units execute, on this processor and on
a simulated machine with one scheduler for all units and with one for each, into the part of this kind of
host of docs/results/schedulers.md.

    schedulers.py [--machine MACHINE]

MACHINE: that of this host's processor or the nearest to it, if none is named. Measured by the least of
many short pieces within half a second; simulated by the difference of one round and three. Takes two
minutes."""
import argparse
import subprocess

from lib import host, loops, page

ROUNDS, ROUND_LINKS = (1, 3), 50 * 20 * 6  # lib/schedulers.c
ENTRIES = 24
SECONDS, TRIES = 0.5, 3  # the quarter in which nothing else runs here may be short


def measured(row):
    return [float(subprocess.run([PROGRAM, str(row), str(SECONDS)], check=True, capture_output=True, text=True).stdout)
            for _ in range(TRIES)]


def simulated(machine, entries, row):
    settings = [f"queue.int.unit_entries={entries}"]
    return loops.per_turn(machine, [PROGRAM, str(row), "0"], ROUNDS, settings) / ROUND_LINKS


def rows(machine):
    names = subprocess.run([PROGRAM], check=True, capture_output=True, text=True).stdout.splitlines()
    for row, name in enumerate(names):
        tries = measured(row)
        yield [name, f"{min(tries):.2f} to {max(tries):.2f}", *(f"{simulated(machine, entries, row):.2f}" for entries in (0, ENTRIES))]


arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("--machine", default=host.default_machine())
machine = arguments.parse_args().machine
PROGRAM = loops.build("schedulers")
page.write_part("schedulers", "experiments/schedulers.py", machine, (
    loops.where() +
    f"Cycles of a link of the chain, of which a random number has six; the least of pieces in {TRIES} tries of half a second each:\n\n" +
    page.table(["operations", "measured", f"`{machine}`, one scheduler", "one for each unit"], list(rows(machine)))))
