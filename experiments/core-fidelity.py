"""The core in program order beside the one that it took the place of, which stepped through cycles:
cycles, whose they are, and speed, into docs/results/core-fidelity.md. Builds the last commit that
had the other one below build/. Takes half an hour.
    python3 -B experiments/core-fidelity.py"""
import json
import os
import resource
import statistics
import subprocess
import sys

from lib import page, programs, run

REFERENCE = "51cd5b6"  # the last commit whose core stepped through cycles
MACHINES = ["zen4", "boom-tea", "boom-tip", "chen-ooo", "fields2004"]
SPEED_MACHINE = "boom-tea"
REPEATS = 3
MORE = [("copyloop", "riscv64"), ("lists", "riscv64"), ("nbody", "riscv64"),
        ("pending", "riscv64"), ("stencil", "riscv64"), ("stlf", "x86_64")]
LARGE = 0.5  # percent: differences that the page must explain


def built_reference():
    """The culprit of the reference commit."""
    folder = os.path.join(run.ROOT, "build", "reference-" + REFERENCE)
    if not os.path.isdir(folder):
        subprocess.run(["git", "clone", "-q", run.ROOT, folder], check=True)
        subprocess.run(["git", "-C", folder, "checkout", "-q", REFERENCE], check=True)
    subprocess.run(["make", "-C", folder, "-s", "-j2", "build/culprit"], check=True,
                   stdout=subprocess.DEVNULL)
    return os.path.join(folder, "build", "culprit")


def simulate(culprit, machine, trace):
    """The report, and the processor seconds that it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([culprit, "sim", "--json", "--by", "instruction", "--top", "0",
                           "--machine", machine, "--output", "-", trace], env=run.ENVIRONMENT,
                          cwd=run.ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"{culprit} sim {trace}: {done.stderr.decode()}")
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return json.loads(done.stdout), seconds


def moved(before, after, total):
    """Share of the cycles, in percent, that is somewhere else."""
    keys = set(before) | set(after)
    scale = total / sum(after.values()) if after else 1
    return 50 * sum(abs(before.get(key, 0) - scale * after.get(key, 0)) for key in keys) / total


def by_instruction(report):
    return {(row["image"], row["address"]): row["cycles"] for row in report["functions"]}


def compare(before, after):
    """In percent: of CPI; of Oracle's cycles by instruction; of the cycle stack."""
    cycles = before["cycles"]
    return (100 * (after["cpi"] / before["cpi"] - 1),
            moved(by_instruction(before), by_instruction(after), cycles),
            moved(before["stack"], after["stack"], cycles))


def traces():
    chosen = programs.programs()
    chosen += [programs.Program(name, isa, [run.workload(name, isa)], ["--limit", "10M"])
               for name, isa in MORE]
    for program in chosen:
        options = ["4M" if word == programs.LIMIT else word for word in program.options]
        yield program.name, run.trace(options, program.command)


def speeds(old, new, trace):
    """Processor time and time that passes, of the other core over this one's: medians of pairs."""
    ratios = []
    for _ in range(REPEATS):
        pair = [simulate(culprit, SPEED_MACHINE, trace) for culprit in (old, new)]
        ratios.append((pair[0][1] / pair[1][1],
                       pair[1][0]["instructions_per_second"] / pair[0][0]["instructions_per_second"]))
    return [statistics.median(ratio[i] for ratio in ratios) for i in (0, 1)]


def main():
    old, new = built_reference(), run.CULPRIT
    found, gains = {}, {}
    for name, trace in traces():
        for machine in MACHINES:
            print(name, machine, file=sys.stderr)
            found[name, machine] = compare(simulate(old, machine, trace)[0],
                                           simulate(new, machine, trace)[0])
        gains[name] = speeds(old, new, trace)
    names = list(gains)
    summary = page.table(
        ["machine", "CPI, median %", "worst %", "program", "by instruction, median %", "worst %",
         "cycle stack, median %", "worst %"],
        [(machine,
          f"{statistics.median(abs(found[name, machine][0]) for name in names):.2f}",
          f"{abs(found[worst, machine][0]):.2f}", worst,
          *(f"{choose(found[name, machine][i] for name in names):.2f}"
            for i in (1, 2) for choose in (statistics.median, max)))
         for machine in MACHINES
         for worst in [max(names, key=lambda name: abs(found[name, machine][0]))]])
    each = page.table(
        ["program", *(f"{machine}, %" for machine in MACHINES), "processor time", "time"],
        [(name, *(f"{found[name, machine][0]:+.2f}" for machine in MACHINES),
          f"{gains[name][0]:.2f}", f"{gains[name][1]:.2f}") for name in names] +
        [("**median**", *(f"{statistics.median(abs(found[name, machine][0]) for name in names):.2f}"
                          for machine in MACHINES),
          *(f"{statistics.median(gains[name][i] for name in names):.2f}" for i in (0, 1)))])
    large = [f"{name} on {machine} {found[name, machine][0]:+.2f} %"
             for name in names for machine in MACHINES if abs(found[name, machine][0]) > LARGE]
    page.write("core-fidelity", "experiments/core-fidelity.py",
               f"{len(names)} programs.\n\n{summary}\n"
               f"Differences of CPI above {LARGE} %: {', '.join(large) or 'none'}.\n\n"
               f"## Each program\n\nDifference of CPI by machine; times as fast, on "
               f"{SPEED_MACHINE}, with Oracle and the golden reference: processor time of all "
               f"threads, and time that passes.\n\n{each}")


main()
