"""`culprit gate` over programs that were rebuilt, ten of them so that they do the same and ten slower
(experiments/compare/), and over one of a thousand million instructions: verdicts, sizes of baselines
and time. Into docs/results/gate.md. Ten minutes; --exact, --layouts, --estimated and --long make
that section alone.
    python3 -B experiments/gate.py"""
import json
import os
import resource
import shutil
import subprocess
import sys
import tarfile
import time

from lib import page, run

SOURCES = os.path.join(run.ROOT, "experiments", "compare")
BUILT = os.path.join(run.KEPT, "gate")
PLAIN = ["-g", "-O2", "-fno-tree-vectorize", "-fno-unswitch-loops"]
BRANCHES = ["-fno-if-conversion", "-fno-if-conversion2", "-fno-tree-loop-if-convert"]
PROGRAMS = [("field", []), ("switched", []), ("level", []), ("branch", BRANCHES), ("allocation", []),
            ("divide", []), ("table", []), ("forward", []), ("length", []), ("inlined", [])]
LAYOUTS = 5
LONG_BYTES = 4400000


def prepare():
    shutil.rmtree(BUILT, ignore_errors=True)
    os.makedirs(BUILT)


def build(name, *flags, before=(), after=()):
    """Every build lies at the same path, as in a project."""
    program = os.path.join(BUILT, name)
    subprocess.run(["gcc", *PLAIN, *dict(PROGRAMS)[name], *flags, *before,
                    os.path.join(SOURCES, name + ".c"), *after, "-o", program], check=True)
    return program


def unrelated():
    """A function that nobody calls, to be linked in front of a program or behind it."""
    source = os.path.join(BUILT, "unrelated.c")
    with open(source, "w") as text:
        text.write("int unrelated(int a) {\n    for (int i = 0; i < a; i++)\n        a = a * 7 + i;\n    return a;\n}\n")
    return [source]


def gate(baseline, *words):
    """The status, what was told, and processor and elapsed seconds."""
    report = os.path.join(BUILT, "gate.json")
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run([run.CULPRIT, "gate", "--baseline", baseline, "--json", "-o", report, *words],
                          env=run.ENVIRONMENT, cwd=BUILT, stderr=subprocess.DEVNULL, timeout=1200)
    elapsed, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(report) as content:
        told = json.load(content)["entries"][0]
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return done.returncode, told, used, elapsed


def judged(name, number, layouts):
    """A row of two verdicts, of an equal and of a slower build; right ones, and the baseline's size."""
    baseline = os.path.join(BUILT, name + ".baseline")
    if os.path.exists(baseline):
        os.remove(baseline)
    build(name)
    gate(baseline, "--update", *layouts, "--", f"./{name}")
    more = unrelated()
    what, flags, before, after = [("without `-g`", ["-g0"], [], []),
                                  ("a function more, in front", [], more, []),
                                  ("a function more, behind", [], [], more)][number % 3]
    build(name, *flags, before=before, after=after)
    same = gate(baseline, "--", f"./{name}")
    build(name, "-DCHANGE", *(["-O1"] if name == "level" else []))
    slower = gate(baseline, "--", f"./{name}")
    size = os.path.getsize(baseline)
    row = [name, what, same[1]["verdict"], percent(same[1]), slower[1]["verdict"], percent(slower[1]), f"{size:,}"]
    return row, same[0] == 0, slower[0] == 1, size


def percent(told):
    comparison = told["comparison"]
    if not comparison:
        return ""
    layouts = comparison["layouts"]
    between = f" ({layouts['low_percent']:+.2f} to {layouts['high_percent']:+.2f})" if layouts else ""
    return f"{comparison['percent']:+.2f}{between}"


def verdicts(*layouts):
    prepare()
    judgements = [judged(name, number, layouts) for number, (name, _) in enumerate(PROGRAMS)]
    sizes = sorted(size for *_, size in judgements)
    return (f"{sum(same for _, same, _, _ in judgements)} of {len(judgements)} builds that do the same pass, "
            f"{sum(slower for _, _, slower, _ in judgements)} of {len(judgements)} slower ones do not. Baselines have "
            f"{sizes[0]:,} to {sizes[-1]:,} bytes.\n\n" +
            page.table(["program", "what is the same but for", "verdict", "cycles, %", "of the slower", "cycles, %",
                        "bytes"], [row for row, *_ in judgements]))


def archive():
    """The header files of this machine, one after the other, up to so many bytes."""
    path = os.path.join(BUILT, "include.tar")
    with tarfile.open(path, "w") as tar:
        for folder, folders, names in os.walk("/usr/include"):
            folders.sort()
            for name in sorted(names):
                tar.add(os.path.join(folder, name))
            if tar.offset > LONG_BYTES:
                break
    os.truncate(path, LONG_BYTES)
    return "include.tar"


def long_run():
    prepare()
    baseline = os.path.join(BUILT, "long.baseline")
    if os.path.exists(baseline):
        os.remove(baseline)
    command = ["--", "gzip", "-9", "-c", archive()]
    rows = []
    for what, words in [("written", ["--update", "--layouts", str(LAYOUTS)]), ("judged", [])]:
        status, told, used, elapsed = gate(baseline, *words, *command)
        rows.append([what, told["verdict"], f"{used:.0f}", f"{elapsed:.0f}"])
        assert status == 0, told
    instructions = told["comparison"]["after"]["instructions"]
    return (f"`gzip -9` of {LONG_BYTES:,} bytes: {instructions:,} instructions, {LAYOUTS} layouts, a baseline "
            f"of {os.path.getsize(baseline):,} bytes. Load of the machine when it ended: {os.getloadavg()[1]:.1f} on "
            f"{os.cpu_count()} processors.\n\n" +
            page.table(["", "verdict", "processor time, s", "elapsed, s"], rows))


def cycles_by_layout(baseline):
    with open(baseline) as text:
        return [int(line.split("\t")[2]) for line in text if line.startswith("layout\t")]


def estimated():
    """Cycles under each layout as a gate estimates them of a long run, and of every instruction."""
    prepare()
    with open(os.path.join(BUILT, "numbers"), "w") as numbers:
        numbers.writelines(f"{i * 7919 % 40009}\n" for i in range(40009))
    archive()
    os.truncate(os.path.join(BUILT, "include.tar"), 500000)
    rows, worst = [], 0
    for program, *arguments in [("gzip", "-9", "-c", "include.tar"), ("sort", "-n", "numbers")]:
        baseline = os.path.join(BUILT, program + ".baseline")
        gate(baseline, "--update", "--layouts", "4", "--", program, *arguments)
        report = os.path.join(BUILT, "compared.json")
        subprocess.run([run.CULPRIT, "compare", "--layouts", "4", "--json", "-o", report, program, program, *arguments],
                       env=run.ENVIRONMENT, cwd=BUILT, stderr=subprocess.DEVNULL, check=True, timeout=1200)
        with open(report) as content:
            exact = json.load(content)["layouts"]["cycles_before"]
        for layout, (told, true) in enumerate(zip(cycles_by_layout(baseline), exact)):
            off = 100 * (told / true - 1)
            worst = max(worst, abs(off))
            rows.append([" ".join([program, *arguments]), layout, f"{told:,}", f"{true:,}", f"{off:+.3f}"])
    return (f"At most {worst:.2f} % off.\n\n" +
            page.table(["program", "layout", "estimated cycles", "cycles", "off, %"], rows))


def main():
    page.write_sections("gate", "experiments/gate.py",
                        [("exact", "Exact cycles", lambda scratch: verdicts()),
                         ("layouts", f"{LAYOUTS} layouts", lambda scratch: verdicts("--layouts", str(LAYOUTS))),
                         ("estimated", "Layouts of longer runs, estimated", lambda scratch: estimated()),
                         ("long", "A long run", lambda scratch: long_run())], sys.argv[1:])


main()
