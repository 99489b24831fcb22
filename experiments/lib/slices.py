"""User cycles of a run that nobody disturbs, on a processor where another thread of the core works most
of the time. A run is divided into slices by what it executes, and is made many times: the least time of
each slice, over all runs, is of a moment without a neighbour; their sum is a run without one.

Slices end at executions of a few branches (lib/marks.c), which the kernel tells by probes (lib/slices.c):
the k-th execution is the same moment of each run. It tells as well when the run is in the kernel, which is
left out. What probes take, and the way into the kernel and back, is subtracted."""
import collections
import os
import resource
import statistics
import subprocess
import tempfile

from lib import host, programs, run

APART, MARKS = (40e-6, 140e-6), 6  # seconds from mark to mark in the mean, at least; branches
NANOSECONDS = 100000  # of a slice, at least: shorter ones are put together
LONGEST = 4e-3  # seconds of the slice of an instruction, in the mean: beyond, a run is not divided
CLOCK = 0.02  # how far the clock of a run may be from that of the others
PROBES, TIMES, EACH = 4000, 1000, 16  # of lib/edge_costs.c
LIBRARIES = ["-lZydis", "-lbpf", "-ldw", "-lelf", "-lz", "-lzstd", "-lxxhash", "-linih", "-ljansson",
             "-llzma", "-liberty", "-lsqlite3", "-lpthread"]


def marks(command):
    """[[file, offset, executions]] of the branches that divide the run, and seconds of the slice that
    an instruction lies in, in the mean."""
    seconds = seconds_of(command)
    with tempfile.TemporaryDirectory(dir=programs.INPUTS) as folder:
        path = os.path.join(folder, "run.ctrace")
        with tempfile.TemporaryFile() as output:
            subprocess.run([run.CULPRIT, "trace", "--no-addresses", "-o", path, "--", *command],
                           env=host.ENVIRONMENT, cwd=run.ROOT, stdin=subprocess.DEVNULL,
                           stdout=output, stderr=subprocess.DEVNULL, check=True)
        found = [marks_of(path, int(seconds / apart)) for apart in APART]
    places, share = min(found, key=lambda one: one[1])
    return places, share * seconds


def seconds_of(command):
    """Processor time of a run."""
    def used():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime
    before = used()
    with tempfile.TemporaryFile() as output:
        subprocess.run(command, env=host.ENVIRONMENT, cwd=run.ROOT, stdin=subprocess.DEVNULL, stdout=output,
                       stderr=subprocess.DEVNULL, check=True)
    return used() - before


def marks_of(path, most):
    """Of a trace, and the share of the run that the slice of an instruction is in the mean. Few marks may
    do better than many that all lie in one part."""
    said = subprocess.run([host.tool("marks", LIBRARIES), path, str(most), str(MARKS)],
                          check=True, capture_output=True, text=True).stdout
    lines = [line.split() for line in said.splitlines()]
    return lines[:-1], float(lines[-1][2]) / float(lines[-1][0])


# A run, and what a probe, a system call and a page fault take of its slices, in nanoseconds.
Run = collections.namedtuple("Run", ["clock", "calls", "faults", "slices"])
Costs = collections.namedtuple("Costs", ["probe", "call", "fault"])


def times_of(places, command, times):
    """[Run] of those whose marks are all known: the clock in Hz, system calls, page faults, and the
    nanoseconds of each slice outside the kernel."""
    words = [word for place in places for word in place[:2]]
    said = subprocess.run([host.tool("slices"), str(times), *words, "--", *command],
                          env=host.ENVIRONMENT, cwd=run.ROOT, capture_output=True, text=True,
                          check=True).stdout
    runs = [Run(float(words[0]), int(words[1]), int(words[2]), [int(word) for word in words[3:]])
            for words in map(str.split, said.splitlines())]
    return [one for one in runs if one.slices != [0]]


def costs():
    """Where nothing disturbs them: fewer are a tenth."""
    path = host.tool("edge_costs")
    names = subprocess.run(["nm", path], check=True, capture_output=True, text=True).stdout
    offsets = {line.split()[-1]: line.split()[0] for line in names.splitlines()}
    places = [[path, offsets[name]] for name in ("probed", "called", "touched")]
    runs = [one.slices for one in times_of(places, [path], 5)]

    def tenth(begin, count):
        found = sorted(time for slices in runs for time in slices[begin + 1:begin + count])
        return found[len(found) // 10]
    probe = tenth(0, PROBES)
    return Costs(probe, *[(tenth(begin, TIMES) - probe) / EACH for begin in (PROBES, PROBES + TIMES)])


def together(lengths):
    """[(first, behind the last)] of slices that are long enough together."""
    bounds, length = [0], 0
    for number, more in enumerate(lengths):
        length += more
        if length >= NANOSECONDS:
            bounds.append(number + 1)
            length = 0
    bounds[-1:] = [len(lengths)] if len(bounds) > 1 else [0, len(lengths)]
    return list(zip(bounds, bounds[1:]))


def with_clock(runs):
    """Those around which the clock was told: where others had the processor meanwhile, it seems slow, and the
    run short."""
    usual = statistics.median(one.clock for one in runs)
    return [one for one in runs if abs(one.clock / usual - 1) <= CLOCK]


def undisturbed(runs, cost):
    """User cycles by the least time of each slice, by the second least, and of whole runs; slices, and runs
    that are divided alike (others are left out: what they execute varies)."""
    runs = with_clock(runs)
    count = statistics.mode(len(one.slices) for one in runs)
    alike = [one for one in runs if len(one.slices) == count]
    lengths = [statistics.median(one.slices[i] for one in alike) for i in range(count)]
    groups = together(lengths)
    cycles = [[(sum(one.slices[begin:end]) - cost.probe * (end - begin)) * one.clock / 1e9 for begin, end in groups]
              for one in alike]
    ways = statistics.median((one.calls * cost.call + one.faults * cost.fault) * one.clock / 1e9 for one in alike)
    ordered = [sorted(one) for one in zip(*cycles)]
    return {"cycles": sum(one[0] for one in ordered) - ways,
            "second": sum(one[min(1, len(one) - 1)] for one in ordered) - ways,
            "whole": sorted(sum(one) - ways for one in cycles), "ways": ways, "slices": len(groups), "runs": len(alike)}
