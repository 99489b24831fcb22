#!/usr/bin/env python3
"""What lines that follow each other take, with prefetchers, and what walks do, on this processor and
on a simulated machine, into the part of this kind of host of docs/results/line-runs.md.

    line-runs.py [--machine MACHINE]

MACHINE: that of this host's processor or the nearest to it, if none is named. Measured by the
least of many short pieces within half a second; simulated by the difference of one round and three.
Takes eight minutes."""
import argparse
import subprocess

from lib import host, loops, page

RUNS = 1, 2, 4, 6, 8, 9, 12, 16, 24, 48
STRIDES = 64, 128, 192, 320
LINES = 4096, 12000  # 256 KB and 750 KB of lines
PAGE = 4160  # a line of each page, another one each time
STREAMS = ((PAGE, 400, 1), (PAGE, 1000, 1), (PAGE, 1800, 1), (PAGE, 3000, 0), (PAGE, 3000, 1), (PAGE, 5600, 1),
           (64, 5600, 1), (64, 30000, 1), (64, 100000, 1))
ROUNDS = 1, 3


def words(*values):
    return [PROGRAM, *map(str, values)]


def measured(kind, lines, stride, third, instructions):
    said = subprocess.run(words(kind, lines, stride, third, instructions, 0.5), check=True, capture_output=True,
                          text=True).stdout
    return float(said)


def simulated(machine, kind, lines, stride, third, instructions):
    command = words(kind, lines, stride, third, instructions, 0)
    loads = lines // third * third if kind == "chain" else lines
    return loops.per_turn(machine, command, ROUNDS) / loads * (third if kind == "chain" else 1)


def chains(machine):
    for lines in LINES:
        for stride in STRIDES:
            for instructions in 1, 64:
                what = [str(lines), str(stride), "one" if instructions == 1 else "many"]
                yield [*what, "measured", *(f"{measured('chain', lines, stride, length, instructions):.0f}"
                                            for length in RUNS)]
                yield ["", "", "", f"`{machine}`",
                       *(f"{simulated(machine, 'chain', lines, stride, length, instructions):.0f}"
                         for length in RUNS)]


def streams(machine):
    for stride, count, random in STREAMS:
        here = measured("stream", count, stride, random, 1)
        there = simulated(machine, "stream", count, stride, random, 1)
        yield [str(count), str(stride), "random" if random else "in a row", f"{here:.1f}", f"{there:.1f}", f"{there - here:+.1f}"]


arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("--machine", default=host.default_machine())
machine = arguments.parse_args().machine
PROGRAM = loops.build("line_runs")
page.write_part("line-runs", "experiments/line-runs.py", machine, (
    loops.where() +
    "Cycles of a run of so many loads, each of which waits for the one before: so many lines in all, so many bytes "
    "from one to the next, by one instruction or by 64 in turn.\n\n" +
    page.table(["lines", "stride", "instructions", "", *map(str, RUNS)], list(chains(machine))) +
    "\nCycles of a load, none of which waits for another:\n\n" +
    page.table(["places", "stride", "order", "measured", f"`{machine}`", "difference"], list(streams(machine)))))
