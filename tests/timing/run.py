#!/usr/bin/env python3
"""Measures the kernels of x86_64.S and riscv64.S and compares them with expected.py.

    run.py CULPRIT [PATTERN]    prints TAP; needs as and ld of each architecture, and qemu

Each kernel is linked twice, for N and for N + M iterations, and simulated: the difference of the
cycles over M is what an iteration takes in the steady state, exactly, free of how it starts and
ends. Each program is captured once; all tests of it simulate that trace."""
import functools
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from types import SimpleNamespace

from expected import TESTS

HERE = os.path.dirname(os.path.abspath(__file__))
PREFIX = {"x86_64": "", "riscv64": "riscv64-linux-gnu-"}
SETTINGS = ["branch.direction=perfect", "l1i.size=0", "itlb.entries=0", "dtlb.entries=0",
            "l1i.prefetcher=none", "l1d.prefetcher=none", "l2.prefetcher=none"]


def number(text):
    scale = {"K": 1 << 10, "M": 1 << 20}.get(text[-1])
    if scale:
        return int(text[:-1]) * scale
    return int(text) if text.isdigit() else text


@functools.cache
def shown(culprit, machine):
    return subprocess.run([culprit, "machines", "show", "--json", machine], check=True,
                          capture_output=True, text=True).stdout


def figures(culprit, test):
    """m.SECTION.KEY, m.latency[CLASS], m.interval[CLASS], m.units[CLASS], and what follows."""
    sections = json.loads(shown(culprit, test.machine))
    for setting in SETTINGS + test.settings:
        key, value = setting.split("=")
        section, _, key = key.rpartition(".")
        sections[section][key] = number(value)
    classes = {name[6:]: figure for name, figure in sections.items() if name.startswith("class.")}
    m = SimpleNamespace(
        latency={name: figure["latency"] for name, figure in classes.items()},
        interval={name: figure["interval"] for name, figure in classes.items()},
        units={name: sections["pool." + figure["pool"]]["units"]
               for name, figure in classes.items()},
        **{name: SimpleNamespace(**figure) for name, figure in sections.items()
           if isinstance(figure, dict) and "." not in name})
    clock = Fraction(str(sections["clock_ghz"]))
    m.taken = 1 + m.branch.taken_bubble
    m.fuses = m.core.fuse_compare_branch == "yes"
    # From the operand of a loop's decrement to the cycle in which its branch has executed.
    m.count_down = m.latency["branch"] + (0 if m.fuses else m.latency["int_alu"])
    # Issue of a load to its result: from the level behind the L1; from DRAM of fixed latency.
    m.next_hit = m.latency["load"] + (m.l2.latency if m.l2.size else m.llc.latency)
    m.dram_load = m.latency["load"] + m.llc.latency + m.dram.latency
    m.dram_cycles = lambda clocks: math.ceil(clocks * clock / Fraction(str(m.dram.clock_ghz)))
    m.transfer = 64 * clock / Fraction(str(m.dram.bandwidth or 1))
    m.transfer_up = math.ceil(m.transfer)
    m.packets_of_line = (64 // m.core.fetch_bytes
                         * math.ceil(Fraction(m.core.fetch_bytes, 4 * m.core.fetch_width)))
    return m


def captured(culprit, scratch, program):
    """The trace of (isa, kernel, iterations)."""
    isa, kernel, iterations = program
    path = f"{scratch}/{isa}-{kernel}-{iterations}"
    subprocess.run([PREFIX[isa] + "ld", "-o", path, f"{scratch}/{isa}.o", "--defsym",
                    "kernel=" + kernel, "--defsym", f"iterations={iterations}"], check=True)
    subprocess.run([culprit, "trace", "--output", path + ".ctrace", "--", path], check=True,
                   stderr=subprocess.DEVNULL, timeout=60)
    return path + ".ctrace"


def programs(test):
    return [(test.isa, test.kernel, iterations) for iterations in test.iterations]


def simulate(culprit, test, trace):
    settings = [word for setting in SETTINGS + test.settings for word in ("--set", setting)]
    report = subprocess.run([culprit, "sim", "--json", "--top", "1", "--machine", test.machine,
                             *settings, trace], check=True, stdout=subprocess.PIPE, timeout=60)
    return json.loads(report.stdout)


def measure(culprit, test, traces):
    """Error text, or empty."""
    m = figures(culprit, test)
    few, many = test.iterations
    short, long = (simulate(culprit, test, traces[program].result()) for program in programs(test))
    cycles = Fraction(long["cycles"] - short["cycles"], many - few)
    wanted = test.cycles(m)
    counts = long["statistics"]
    if wanted is not None and cycles != wanted:
        return f"{cycles} = {float(cycles):.3f} cycles per iteration, not {float(wanted):.3f}"
    if test.counts and not test.counts(counts, many):
        return f"counts of {many} iterations: {counts}"
    return ""


def main():
    culprit = sys.argv[1]
    tests = [test for test in TESTS if len(sys.argv) < 3 or sys.argv[2] in test.kernel]
    missing = {}
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(2) as pool:
        for isa, prefix in PREFIX.items():
            missing[isa] = [tool for tool in (prefix + "as", prefix + "ld", "qemu-" + isa)
                            if not shutil.which(tool)]
            if not missing[isa]:
                subprocess.run([prefix + "as", "-o", f"{scratch}/{isa}.o", f"{HERE}/{isa}.S"],
                               check=True)
        # Before all that waits for them.
        traces = {program: pool.submit(captured, culprit, scratch, program)
                  for program in dict.fromkeys(program for test in tests if not missing[test.isa]
                                               for program in programs(test))}
        results = [pool.submit(measure, culprit, test, traces) if not missing[test.isa] else None
                   for test in tests]
        failed = 0
        for index, (test, result) in enumerate(zip(tests, results)):
            name = f"{index + 1} {test.name} ({test.isa}, {test.machine})"
            if result is None:
                print(f"ok {name} # SKIP no {missing[test.isa][0]} here")
                continue
            try:
                error = result.result()
            except (subprocess.SubprocessError, OSError, ValueError, KeyError) as problem:
                error = repr(problem)
            failed += error != ""
            print(f"not ok {name}\n# {test.kernel}: {error}" if error else f"ok {name}")
    print(f"1..{len(tests)}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
