#!/usr/bin/env python3
"""Functions of Python in call stacks: of how many samples they are known, whether they are the right
ones, and what they cost.

    python.py [INTERPRETER ...]

Of every CPython that culprit knows (3.11 to 3.13) in PATH, in /usr/bin and below ~/.pyenv, or of those
named. Needs root, or CAP_BPF and CAP_PERFMON, and setpriv. Writes docs/results/python.md."""
import glob
import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from lib import page, run

SCRIPT = "experiments/python.py"
RATE, COST_RATE, ROUNDS = 997, 4999, 5
STATISTICS = "/proc/sys/kernel/bpf_stats_enabled"
ENVIRONMENT = dict(run.ENVIRONMENT, HOME="/tmp")

with open(os.path.join(run.ROOT, "tests/guests/work.py")) as work:
    WORK = work.read()
ASYNC = """
import asyncio, json
async def work(n):
    for i in range(n):
        json.loads(json.dumps({"a": list(range(100)), "b": {"c": i}}))
        await asyncio.sleep(0)
async def main():
    await asyncio.gather(*(work(1500) for _ in range(20)))
asyncio.run(main())
"""
POOL = """
import multiprocessing
def work(n):
    return sum(i * i % 7 for i in range(n))
if __name__ == "__main__":
    with multiprocessing.Pool(4) as pool:
        print(sum(pool.map(work, [300000] * 24)))
"""
OBJECTS = """
import re
class V:
    def __init__(self, x, y):
        self.x, self.y = x, y
    def __add__(self, other):
        return V(self.x + other.x, self.y + other.y)
    def __lt__(self, other):
        return self.x < other.x
def generate(n):
    for i in range(n):
        yield V(i * 7919 % 1000, i)
def main():
    for _ in range(20):
        list_of = sorted(generate(5000))
        sum(list_of, V(0, 0))
        re.sub(r"(\\w+)", lambda match: match.group(1).upper(), "hello world " * 3000)
        for i in range(5000):
            try:
                raise ValueError(i)
            except ValueError as error:
                str(error)
main()
"""
DEEP = """
import sys, time
def recursive(levels, times):
    if levels:
        return recursive(levels - 1, times)
    total = 0
    for i in range(times):
        total += i & 3
    return total
end = float(sys.argv[2])
while time.thread_time() < end:
    recursive(int(sys.argv[1]), 20000)
"""
PROGRAMS = [("work.py", WORK, ["shares", "1.5"], "a loop in a few functions"), ("async.py", ASYNC, [], "asyncio and json"),
            ("pool.py", POOL, [], "four processes that it makes"),
            ("objects.py", OBJECTS, [], "objects, generators, sorting and regular expressions that call back, exceptions"),
            ("deep.py", DEEP, ["100", "1.5"], "100 calls deep"),
            (None, None, ["-m", "compileall", "-q", "-f", "LIBRARY"], "the compiler of Python on a copy of its library's json and email"),
            (None, None, ["-c", "import email.mime.text, json, unittest, xml.dom.minidom"], "imports alone: ends soon")]


def known(interpreter):
    """Its version and where it is; None: it is none that culprit knows."""
    said = subprocess.run([interpreter, "-c", "import platform, sys; print(platform.python_implementation(), "
                           "*sys.version_info[:2], platform.python_version(), sys.executable)"],
                          capture_output=True, text=True).stdout
    name, *version = said.split() or [""]
    return version[2:] if name == "CPython" and (3, 11) <= tuple(map(int, version[:2])) <= (3, 13) else None


def interpreters(named):
    found = {}
    for path in named or ["/usr/bin/python3", shutil.which("python3"),
                          *sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/3.1[123].*/bin/python3")))]:
        if path and (told := known(path)):
            found.setdefault(os.path.realpath(told[1]), told)
    return list(found.values())


def record(scratch, command, before=(), rate=RATE):
    """The report of a recording, its folded stacks."""
    store, report = os.path.join(scratch, "store.db"), os.path.join(scratch, "report.json")
    folded = os.path.join(scratch, "folded")
    for path in glob.glob(store + "*"):
        os.remove(path)
    subprocess.run([*before, run.CULPRIT, "record", "--stacks", "--rate", str(rate), "--store", store, "--json",
                    "--output", report, "--", *command], env=ENVIRONMENT, cwd=scratch,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    subprocess.run([run.CULPRIT, "epochs", "export", "--store", store, "--format", "folded", folded],
                   check=True, env=ENVIRONMENT, stdout=subprocess.DEVNULL)
    with open(report) as file, open(folded, errors="replace") as lines:
        return json.load(file), [line.rsplit(" ", 1) for line in lines]


def known_functions(scratch, found):
    rows, shares = [], []
    for version, interpreter in found:
        for name, _, arguments, kind in PROGRAMS:
            command = [interpreter, *([name] if name else []),
                       *(os.path.join(scratch, "library") if word == "LIBRARY" else word for word in arguments)]
            python = record(scratch, command)[0]["python"]
            shares.append(python["whole"] / python["samples"])
            rows.append([version, kind, python["samples"], page.percent(shares[-1]), python["partial"]])
            print(*rows[-1], sep="\t", flush=True)
    return rows, shares


def agreement(scratch, interpreter):
    """CPython 3.12 and later can run each function through a piece of code with its name, which it
    writes to a map for perf. Where culprit finds one, the function that it has read itself is the next."""
    stacks = record(scratch, [interpreter, "-X", "perf", "work.py", "shares", "1.5"])[1]
    same = all_of_them = 0
    for stack, count in stacks:
        frames = stack.split(";")
        for frame, following in zip(frames, frames[1:]):
            if marked := re.match(r"py::(.*):[^:]*$", frame):
                all_of_them += int(count)
                same += int(count) * (marked[1] == following)
    return same, all_of_them


def processor_time(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def in_the_kernel(command):
    """Microseconds in the BPF program for each of its runs, as the kernel counts them."""
    with open(STATISTICS) as file:
        before = file.read()
    with open(STATISTICS, "w") as file:
        file.write("1")
    recorder = subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    runs = taken = 0
    while recorder.poll() is None:
        for path in glob.glob(f"/proc/{recorder.pid}/fdinfo/*"):
            try:
                with open(path) as file:
                    said = dict(line.split(":", 1) for line in file)
            except OSError:
                continue
            if int(said.get("run_cnt", 0)) > runs:
                runs, taken = int(said["run_cnt"]), int(said["run_time_ns"])
        time.sleep(0.1)
    with open(STATISTICS, "w") as file:
        file.write(before)
    return taken / max(runs, 1) / 1000


def cost(scratch, interpreter):
    """The same work, recorded with the functions of Python and, for want of CAP_BPF, without."""
    store = os.path.join(scratch, "cost.db")
    fixed = os.path.join(scratch, "fixed.py")
    with open(fixed, "w") as file:
        file.write(DEEP.replace("while time.thread_time() < end:", "for _ in range(int(end)):"))
    rows = []
    for depth in (1, 20, 100):
        work = [interpreter, fixed, str(depth), "3000"]
        stacks = [run.CULPRIT, "record", "--store", store, "--stacks", "--rate", str(COST_RATE), "--"]
        ways = {"bare": [], "with": stacks, "without": ["setpriv", "--bounding-set", "-bpf,-sys_admin", *stacks]}
        taken = {way: [] for way in ways}
        for _ in range(ROUNDS):
            for way, before in ways.items():
                taken[way].append(processor_time(before + work) - processor_time(before + ["/bin/true"]))
        samples = COST_RATE * statistics.median(taken["bare"])
        median = [1e6 * statistics.median(time - other for time, other in zip(taken[one], taken[another])) / samples
                  for one, another in (("without", "bare"), ("with", "bare"), ("with", "without"))]
        rows.append([depth, *(f"{one:.0f}" for one in median), f"{in_the_kernel(stacks + work):.1f}"])
        print(*rows[-1], sep="\t", flush=True)
    return rows


def main(named):
    found = interpreters(named)
    if not found:
        sys.exit("there is no CPython 3.11 to 3.13 here")
    with tempfile.TemporaryDirectory() as scratch:
        for name, text, _, _ in PROGRAMS:
            if name:
                with open(os.path.join(scratch, name), "w") as file:
                    file.write(text)
        library = os.path.join(scratch, "library")
        for package in ("json", "email"):
            shutil.copytree(os.path.join(os.path.dirname(os.__file__), package), os.path.join(library, package))
        rows, shares = known_functions(scratch, found)
        agreements = [[version, *agreement(scratch, path)] for version, path in found if version >= "3.12"]
        costs = cost(scratch, found[0][1])
    load = os.getloadavg()[0]
    page.write("python", SCRIPT, f"""{len(found)} interpreters, {RATE} samples a second. All functions are known in \
{page.percent(statistics.median(shares))} % of the samples in the median of the programs, in {page.percent(min(shares))} % at least.

""" + page.table(["CPython", "program", "samples", "all functions known, %", "some known"], rows) + """
## The right ones

""" + page.table(["CPython", "samples in a function that `-X perf` marked", "the same function, %"],
                 [[version, total, page.percent(same / total) if total else ""] for version, same, total in agreements]) + f"""
## Cost

CPython {found[0][0]}, a loop so many calls deep, {COST_RATE} samples a second, beside a load of {load:.1f}: the processor time of everything,
without what the same command takes for `/bin/true`, more than the bare loop takes, for each sample; the median of {ROUNDS} rounds in turns. In the
kernel is what the BPF program itself takes, as the kernel counts it.

""" + page.table(["calls", "stacks alone, µs", "with Python's functions, µs", "apart, µs", "in the kernel, µs"], costs))


if __name__ == "__main__":
    main(sys.argv[1:])
