#!/usr/bin/env python3
"""What one core streams, from memory and from the last cache, and how long the last cache keeps
lines while the core streams others, on this processor and on a simulated machine, into the part of
this kind of host of docs/results/memory-streams.md.

    memory-streams.py [--machine MACHINE]

MACHINE: that of this host's processor or the nearest to it, if none is named. Measured on processor
1 by the least time of each piece of 4096 lines within a second; simulated by the difference of one
time through the arrays and two, those of memory with a last cache of 2 MB so that 6 MB
are from memory. Takes four minutes."""
import argparse
import subprocess

from lib import host, loops, page

ARRAYS = {"chain": 1, "read": 1, "write": 1, "modify": 1, "copy": 2, "sum2": 2, "sum4": 4, "triad": 3}
MEMORY, LAST_CACHE = 128_000_000, 3_000_000
SIMULATED_MEMORY, SIMULATED_CACHE = 6 << 20, "2M"
PAGE, LINE, PIECE = 4096, 64, 4096
ROWS = (  # kind, step, instructions for each line of an array, pages
    ("chain", 1, 1, "4K"), *(("chain", 1, 1, f"4Kr{pages}") for pages in (1, 2, 3, 4, 6, 8, 16)), ("chain", 2, 1, "4K"), ("chain", 1, 8, "4K"),
    ("read", 1, 1, "4K"), ("read", 1, 1, "2M"), ("read", 1, 8, "4K"), ("read", 4, 1, "4K"),
    ("write", 1, 1, "4K"), ("modify", 1, 8, "4K"), ("copy", 1, 1, "4K"), ("sum2", 1, 1, "4K"),
    ("sum4", 1, 1, "4K"), ("triad", 1, 8, "4K"))
SIZES = 4, 8, 12, 16, 20, 24, 32, 48


def command(kind, size, step, words, pages, seconds):
    return [PROGRAM, *map(str, (kind, size, step, words, pages, seconds))]


def measured(kind, size, step, words, pages, seconds=1):
    return loops.least(command(kind, size, step, words, pages, seconds), 1)


def simulated(machine, kind, size, step, words, pages, settings=()):
    arrays = ARRAYS[kind]
    settings = [*settings, *(["tlb.page_size=2M"] if pages[0] == "2" else [])]
    piece = PIECE * step * LINE // arrays // PAGE * PAGE
    lines = -(-(size // arrays) // piece) * piece // (step * LINE) * arrays
    return loops.per_turn(machine, command(kind, size, step, words, pages, 0), (1, 2), settings) / lines


def streams(machine):
    for kind, step, words, pages in ROWS:
        order = f", random, {pages[3:]} in a row" if pages[2:] else ""
        row = [kind, step, words, {"4": "4 KB", "2": "2 MB"}[pages[0]] + order]
        here = measured(kind, step * MEMORY, step, words, pages, 1.2)
        there = simulated(machine, kind, step * SIMULATED_MEMORY, step, words, pages,
                          [f"llc.size={SIMULATED_CACHE}"])
        near = measured(kind, step * LAST_CACHE, step, words, pages, 0.5)
        model = simulated(machine, kind, step * LAST_CACHE, step, words, pages)
        yield [*map(str, row), f"{here:.1f}", f"{there:.1f}", f"{near:.1f}", f"{model:.1f}"]


def sizes():
    for size in SIZES:
        yield [str(size), *(f"{measured(kind, size * 1_000_000, 1, 1, '2M'):.1f}" for kind in ("read", "write", "triad"))]


arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("--machine", default=host.default_machine())
machine = arguments.parse_args().machine
PROGRAM = loops.build("memory_streams")
kept = subprocess.run(["taskset", "-c", "1", loops.build("kept_lines")], check=True, capture_output=True,
                      text=True).stdout
page.write_part("memory-streams", "experiments/memory-streams.py", machine, (
    loops.where() +
    "Cycles of a line, of all arrays: from memory and from the last cache, so many instructions for each line of an "
    "array. Pages follow each other, or runs of so many are gone through in random order.\n\n" +
    page.table(["stream", "step", "instructions", "pages", "memory, measured", f"`{machine}`",
                "last cache, measured", f"`{machine}`"], list(streams(machine))) +
    "\nMeasured cycles of a line, by megabytes of all arrays together, in pages of 2 MB:\n\n" +
    page.table(["MB", "read", "write", "triad"], list(sizes())) +
    "\nLines that are in the last cache, and were used there, and how many of 100 are still there when other lines "
    "have been streamed from memory, or when nothing was done for that time. The best of 15 tries, which others disturb least.\n\n" +
    page.table(["MB of other lines", "M cycles", "kept, %", "6.5 M cycles in all, kept, %"],
               [line.split() for line in kept.splitlines()])))
