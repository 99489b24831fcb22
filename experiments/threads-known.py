#!/usr/bin/env python3
"""Programs with threads whose elapsed time follows from arithmetic, into docs/results/threads-known.md.

    threads-known.py

A chain of multiplications, each of which needs the one before, takes 3 cycles for each. The programs
(lib/known.c, known_openmp.c, known.cpp, known.go) run it in threads that wait for each other so that
the elapsed time is a number of whole chains. Each is captured a few times, for what the emulator
does when is another each time, and simulated in full; what it takes with a chain of no length, such
as its start, is taken off."""
import os
import shutil
import statistics
import subprocess
import tempfile

from lib import page, run

ROUNDS, CAPTURES, CYCLES = 200000, 3, 3 * 24
MACHINE = "zen4-server"  # which has no time to wake a thread: chip.wake_latency is 0
# Chains; why.
CASES = {
    "mutex": (2, "both, one after the other"),
    "mutex-half": (1.05, "half of each part is locked: they take turns, one half part apart"),
    "spin-lock": (2, "as the mutex"),
    "readers": (1, "both read at once"),
    "barrier": (1, "by turns one of the two has a tenth to do"),
    "own-barrier": (1, "the same, of a mutex and a condition"),
    "semaphores": (2, "by turns"),
    "counted-items": (1.05, "ten tenths, each half as long for who takes it"),
    "ring": (1.05, "the same with places; who takes is the slower"),
    "ring-held": (1.05, "the same, and who takes has a lock of its own all the while"),
    "gate": (2, "main takes the lock while it is the only thread, and has it for a chain"),
    "neighbours": (1.1, "the first of two locks side by side is given back at once"),
    "latch": (2, "what follows waits for both"),
    "count-down": (2, "of an atomic count; who is last goes on"),
    "spun-flag": (2, "the second spins for the first"),
    "work-counter": (1, "two take from 20 tenths"),
    "sleep": (2, "one sleeps for as long as a chain takes, then one"),
    "openmp-sections": (1, "five times: a tenth beside a fortieth, then a tenth"),
    "openmp-for": (1, "the same"),
    "openmp-critical": (1, "five times: twice a twentieth, then a tenth"),
    "c++-latch": (2, "as the latch"),
    "c++-barrier": (1, "as the barrier"),
    "c++-semaphore": (2, "as the semaphores"),
    "c++-future": (2, "a chain beside a half, then one"),
    "c++-two-locks": (2, "as the mutex"),
    "go-turns": (2, "by turns, over channels"),
    "go-workers": (1, "two take from 20 tenths"),
    "go-wait-group": (2, "as the latch"),
    "go-mutex": (2, "as the mutex"),
    "go-sleep": (2, "as sleep"),
}


def build(folder):
    """{beginning of a case's name: program}; what cannot be built is left out."""
    lib = os.path.join(run.ROOT, "experiments", "lib")
    programs = {"": ["gcc", "-O1", "-pthread", "known.c"],
                "openmp": ["gcc", "-O1", "-fopenmp", "known_openmp.c"],
                "c++": ["g++", "-O1", "-std=c++20", "-pthread", "known.cpp"],
                "go": ["go", "build", "known.go"]}
    built = {}
    for name, line in programs.items():
        program = os.path.join(folder, f"known_{name}")
        source = os.path.join(lib, line[-1])
        if shutil.which(line[0]):
            line = [*line[:-1], "-o", program, source]
            environment = os.environ | {"GOCACHE": os.path.join(folder, "go")}
            subprocess.run(line, check=True, env=environment)
            built[name] = program
    return built


def elapsed(program, case, rounds, folder):
    trace = os.path.join(folder, "known.ctrace")
    run.execute([run.CULPRIT, "trace", "-o", trace, "--", program, case, str(rounds)], 600)
    report = os.path.join(folder, "known.json")
    run.execute([run.CULPRIT, "sim", "--machine", MACHINE, "--json", "-o", report, trace], 600)
    with open(report) as content:
        return run.json.load(content)["together"]["elapsed_cycles"]


def chains(program, case, folder):
    """Of each capture."""
    start = statistics.median(elapsed(program, case, 0, folder) for _ in range(CAPTURES))
    return [(elapsed(program, case, ROUNDS, folder) - start) / (ROUNDS * CYCLES)
            for _ in range(CAPTURES)]


def main():
    rows, errors = [], []
    with tempfile.TemporaryDirectory() as folder:
        built = build(folder)
        for case, (expected, why) in CASES.items():
            kind = case.split("-")[0]
            program = built.get(kind if kind in ("openmp", "c++", "go") else "")
            if not program:
                rows.append([case, expected, None, None, None, "not built here"])
                continue
            found = chains(program, case, folder)
            off = [value / expected - 1 for value in found]
            errors.append(max(off, key=abs))
            rows.append([case, expected, f"{statistics.median(found):.3f}",
                         f"{100 * statistics.median(off):+.1f}", f"{100 * errors[-1]:+.1f}", why])
            print(rows[-1], flush=True)
    good = sum(abs(error) <= 0.05 for error in errors)
    page.write("threads-known", "experiments/threads-known.py",
               f"{good} of {len(errors)} are within 5 % in each of {CAPTURES} captures.\n\n" +
               page.table(["case", "chains", "simulated, median", "off by, %", "at worst, %", "why"],
                          rows))


if __name__ == "__main__":
    main()
