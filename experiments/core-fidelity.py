"""The core in program order beside the one that it took the place of, which stepped through cycles:
cycles, whose they are, and speed, into docs/results/core-fidelity.md. Builds the last commit that
had the other one below build/. Takes five minutes, and the build.
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
SPEED_OF = ["gzip", "xz", "sqlite3", "python3", "sort", "perl", "branchy", "chase"]
SPEED_WITH = [("boom-tea", []), ("zen4", []), ("boom-tea", ["--ideal", "dmiss,bmisp"])]
REPEATS = 3
MORE = [("copyloop", "riscv64"), ("lists", "riscv64"), ("nbody", "riscv64"),
        ("pending", "riscv64"), ("stencil", "riscv64"), ("stlf", "x86_64")]
LARGE = 0.5  # percent: differences that the page must explain
FOLDER = os.path.join(run.ROOT, "build", "reference-" + REFERENCE)


def built_reference():
    """The culprit of the reference commit."""
    if not os.path.isdir(FOLDER):
        subprocess.run(["git", "clone", "-q", run.ROOT, FOLDER], check=True)
        subprocess.run(["git", "-C", FOLDER, "checkout", "-q", REFERENCE], check=True)
    subprocess.run(["make", "-C", FOLDER, "-s", "-j2", "build/culprit",
                    "build/libculprit-trace.so"], check=True, stdout=subprocess.DEVNULL)
    return os.path.join(FOLDER, "build", "culprit")


def simulate(culprit, trace, machine, options=()):
    """The report, and the processor seconds that it took. The machine is as it was described then:
    descriptions have learned more since."""
    path = os.path.join(FOLDER, "machines", machine + ".ini")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([culprit, "sim", "--json", "--by", "instruction", "--top", "0",
                           "--machine", path, *options, "--output", "-", trace], env=run.ENVIRONMENT,
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


def traced(old, program, limit):
    """Captured by the reference: it does not know all that traces hold today, as lines of Python."""
    return run.trace([limit if word == programs.LIMIT else word for word in program.options],
                     program.command, culprit=old)


def traces(old):
    chosen = programs.programs()
    chosen += [programs.Program(name, isa, [run.workload(name, isa)], ["--limit", "10M"])
               for name, isa in MORE]
    return {program.name: traced(old, program, "4M") for program in chosen}


def speeds(old, new, trace, machine, options):
    """Times as fast as the other core, in processor time and in time that passes, and the new one's
    processor time in ns for an instruction: medians of pairs."""
    found = []
    for _ in range(REPEATS):
        pair = [simulate(culprit, trace, machine, options) for culprit in (old, new)]
        report, seconds = pair[1]
        found.append((pair[0][1] / seconds,
                      report["instructions_per_second"] / pair[0][0]["instructions_per_second"],
                      1e9 * seconds / report["instructions"]))
    return [statistics.median(row[i] for row in found) for i in range(3)]


def speed_table(old, new):
    longer = {program.name: traced(old, program, "10M") for program in programs.programs()
              if program.name in SPEED_OF}
    rows = {}
    for name in SPEED_OF:
        print(name, file=sys.stderr)
        rows[name] = [figure for machine, options in SPEED_WITH
                      for figure in speeds(old, new, longer[name], machine, options)]
    columns = [f"{' '.join([machine, *options[1:]])}: {what}" for machine, options in SPEED_WITH
               for what in ("processor time", "time", "ns")]
    table = [(name, *(f"{figure:.{0 if i % 3 == 2 else 2}f}" for i, figure in enumerate(row)))
             for name, row in rows.items()]
    middle = [statistics.median(column) for column in zip(*rows.values())]
    table.append(("**median**", *(f"{figure:.{0 if i % 3 == 2 else 2}f}"
                                  for i, figure in enumerate(middle))))
    return page.table(["program", *columns], table)


def main():
    old, new = built_reference(), run.CULPRIT
    found = {}
    for name, trace in traces(old).items():
        for machine in MACHINES:
            print(name, machine, file=sys.stderr)
            found[name, machine] = compare(simulate(old, trace, machine)[0],
                                           simulate(new, trace, machine)[0])
    names = list(dict.fromkeys(name for name, _ in found))
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
        ["program", *(f"{machine}, %" for machine in MACHINES)],
        [(name, *(f"{found[name, machine][0]:+.2f}" for machine in MACHINES)) for name in names] +
        [("**median**", *(f"{statistics.median(abs(found[name, machine][0]) for name in names):.2f}"
                          for machine in MACHINES))])
    large = [f"{name} on {machine} {found[name, machine][0]:+.2f} %"
             for name in names for machine in MACHINES if abs(found[name, machine][0]) > LARGE]
    page.write("core-fidelity", "experiments/core-fidelity.py",
               f"{len(names)} programs.\n\n{summary}\n"
               f"Differences of CPI above {LARGE} %: {', '.join(large) or 'none'}.\n\n"
               f"## Speed\n\nTimes as fast, with Oracle and the golden reference, from a trace of "
               f"10 million instructions: processor time of all threads, and time that passes; and "
               f"the processor time for an instruction, in ns. Start and report are within it.\n\n"
               f"{speed_table(old, new)}\n"
               f"## Each program\n\nDifference of CPI by machine.\n\n{each}")


main()
