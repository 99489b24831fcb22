#!/usr/bin/env python3
"""How fast programs of 2 and 4 threads are simulated, per instruction, beside one thread.

    threads-speed.py [--rounds N] [NAME ...]

With names only these programs, printed and not written down. Each is captured with each number of
threads; in each round the three traces are simulated after one another, so that load which comes
and goes is in all three. Speed is instructions executed by processor second of culprit: simulation
uses one processor whatever the number of threads, beside what attributes cycles."""
import argparse
import json
import os
import statistics
import subprocess
import tempfile
import typing

from lib import page, programs, run

THREADS = [1, 2, 4]
MACHINE = "zen4-server"  # of eight cores or more
LONG = 900  # seconds that a simulation may take


class Program(typing.NamedTuple):
    name: str
    command: object  # by the number of threads


def workload(name, variant, work):
    path = run.workload(name, "x86_64")
    return Program(f"{name} {variant}", lambda threads: [path, variant, threads, work])


def text():
    return programs.text()[:1 << 19]


def long_text():
    """Of several of the pieces that zstd gives to threads, which it makes no smaller."""
    return programs.text()[:1 << 21]


def debian(name, make, words):
    return Program(name, lambda threads: words(threads, programs.written(f"speed-{name}", make)))


# Some 10 to 100 million instructions: the beginning of a program is a small part of them.
PROGRAMS = [workload("counters", "together", 1000000), workload("counters", "apart", 1000000),
            workload("tallies", "static", 400000), workload("tallies", "static-padded", 400000),
            workload("critical", "long", 200), workload("critical", "short", 200),
            workload("barrier", "uneven", 20), workload("barrier", "even", 12),
            workload("queue", "uneven", 4000), workload("queue", "even", 4000),
            workload("readmostly", "rwlock", 200000), workload("readmostly", "published", 200000),
            workload("bandwidth", "memory", 2000000), workload("bandwidth", "cache", 4000000),
            debian("pigz", text, lambda threads, file:
                   ["pigz", "-1", "-b", 128, "-p", threads, "-c", file]),
            debian("xz", text, lambda threads, file:
                   ["xz", f"-T{threads}", "-0", "--block-size=128KiB", "-c", file]),
            debian("zstd", long_text, lambda threads, file:
                   ["zstd", "-q", f"-T{threads}", "-1", "-B524288", "-c", file])]


def simulated(trace):
    """Millions of instructions, and millions by processor second and by second."""
    with tempfile.TemporaryDirectory() as directory:
        report = os.path.join(directory, "report")
        words = [run.CULPRIT, "sim", "--machine", MACHINE, "--json", "--top", "1", "--output",
                 report, trace]
        begin = os.times()
        subprocess.run(words, env=run.ENVIRONMENT, cwd=run.ROOT, stdin=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, check=True, timeout=LONG)
        end = os.times()
        with open(report) as content:
            executed = json.load(content)["instructions"] / 1e6
    used = (end.children_user + end.children_system) - (begin.children_user + begin.children_system)
    return executed, executed / used, executed / (end.elapsed - begin.elapsed)


def measure(program, rounds):
    """By number of threads: millions of instructions, medians of both speeds."""
    traces = [run.trace([], program.command(threads), LONG) for threads in THREADS]
    seen = [[simulated(trace) for trace in traces] for _ in range(rounds)]
    return [tuple(statistics.median(column) for column in zip(*(row[i] for row in seen)))
            for i in range(len(THREADS))]


def row_of(program, measured):
    alone = measured[0]
    row = [program.name] + [f"{executed:.1f}" for executed, _, _ in measured] + [f"{alone[1]:.2f}"]
    row += [f"{speed / alone[1]:.2f}" for _, speed, _ in measured[1:]]
    return row + [f"{speed / alone[2]:.2f}" for _, _, speed in measured[1:]]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    rows, ratios = [], [[] for _ in THREADS[1:]]
    for program in PROGRAMS:
        if given.names and program.name not in given.names:
            continue
        measured = measure(program, given.rounds)
        rows.append(row_of(program, measured))
        print(*rows[-1], sep="  ", flush=True)
        for list_, (_, speed, _) in zip(ratios, measured[1:]):
            list_.append(speed / measured[0][1])
    if given.names:
        return
    rows.append(["median of them"] + [None] * (len(THREADS) + 1) +
                [f"{statistics.median(list_):.2f}" for list_ in ratios] + [None, None])
    least = [min(list_) for list_ in ratios]
    rows.append(["least of them"] + [None] * (len(THREADS) + 1) +
                [f"{value:.2f}" for value in least] + [None, None])
    headings = ["program"] + [f"M instructions, {threads} thread{'s' * (threads > 1)}"
                              for threads in THREADS]
    headings += ["M instructions by processor second, 1 thread"]
    headings += [f"{threads} threads × that" for threads in THREADS[1:]]
    headings += [f"{threads} threads × that, by second" for threads in THREADS[1:]]
    page.write("threads-speed", "experiments/threads-speed.py",
               f"Machine {MACHINE}, medians of {given.rounds} rounds. The aim is 0.6.\n\n" +
               page.table(headings, rows))


if __name__ == "__main__":
    main()
