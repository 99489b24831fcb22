"""What takes the time of `culprit explain`, into docs/results/explain-speed.md.
python3 -B experiments/explain-speed.py [--before CULPRIT] [--long | --threads] [FILE...]

Processor time by who takes it, from /proc, sampled while it runs: what begins and ends between two samples is
in the whole alone. Each FILE is compressed by gzip -9 as well. With --before, another build
explains the same by turns with this one, three times, each alone as a user has it: medians. With
--long the FILEs alone, likewise, into a section of the page that is kept otherwise; with --threads
programs with several threads, into another one."""
import argparse
import collections
import json
import os
import shutil
import statistics
import subprocess
import tempfile
import time

from lib import page, run, whole_runs

TICK = os.sysconf("SC_CLK_TCK")
NAMES = ["sort", "hashjoin", "gzip -9 headers", "sqlite3", "xz headers"]
TURNS = 3
SCRIPT = "experiments/explain-speed.py"
LONG = "\n## Long runs\n"
THREADS = "\n## Programs with threads\n"
WHO = ["emulator", "main", "warming", "regions", "pipeline", "attribution"]


def processes(first):
    found = [first]
    try:
        for task in os.listdir(f"/proc/{first}/task"):
            with open(f"/proc/{first}/task/{task}/children") as children:
                for child in children.read().split():
                    found += processes(int(child))
    except OSError:
        pass
    return found


def threads(first):
    """(key, whose, seconds) of each that lives."""
    for process in processes(first):
        try:
            tasks = os.listdir(f"/proc/{process}/task")
        except OSError:
            continue
        for task in tasks:
            try:
                with open(f"/proc/{process}/task/{task}/stat") as stat:
                    head, rest = stat.read().rsplit(")", 1)
            except OSError:
                continue
            name, fields = head.split("(", 1)[1], rest.split()
            if process == first:
                who = "main" if task == str(process) else name
            else:
                who = "ideal cores" if name == "culprit" else "emulator"
            yield (process, task), who, (int(fields[11]) + int(fields[12])) / TICK


class Explained:
    """An explanation that runs."""

    def __init__(self, culprit, command):
        self.report = tempfile.NamedTemporaryFile()
        self.output = tempfile.TemporaryFile()  # grep does less when that is /dev/null
        self.started = time.monotonic()
        self.seconds = self.whole = None
        self.last = {}
        self.child = subprocess.Popen(
            [culprit, "explain", "--machine", whole_runs.MAIN, "--json", "--top", "1", "--output",
             self.report.name, "--", *map(str, command)], env=run.ENVIRONMENT,
            stdin=subprocess.DEVNULL, stdout=self.output, stderr=subprocess.DEVNULL)

    def look(self):
        """False: it has ended."""
        if self.seconds is not None:
            return False
        for key, who, seconds in threads(self.child.pid):
            self.last[key] = (who, seconds)
        ended, status, usage = os.wait4(self.child.pid, os.WNOHANG)
        if not ended:
            return True
        self.child.returncode = status
        self.seconds = time.monotonic() - self.started
        self.whole = usage.ru_utime + usage.ru_stime
        return False

    def by_whom(self):
        sums = collections.Counter()
        for who, seconds in self.last.values():
            sums[who] += seconds
        return sums

    def told(self, what):
        with open(self.report.name) as report:
            return json.load(report)[what]

    def cpi(self):
        return self.told("cpi")


def causes(one):
    """Of a program with threads: what-ifs that were simulated, and those that were left out."""
    what_if = one.told("together")["what_if"]
    return [str(sum(not cause["reckoned"] for cause in what_if["causes"])), str(what_if["left_out"])]


def explain(build, command):
    one = Explained(build, command)
    while one.look():
        time.sleep(0.02)
    return one


def median_run(runs):
    return sorted(runs, key=lambda one: one.seconds)[len(runs) // 2]


def by_turns(builds, command):
    """[median run of each build]"""
    turns = [[explain(build, command) for build in builds] for _ in range(TURNS)]
    return [median_run(runs) for runs in zip(*turns)]


def native(command):
    times = []
    for _ in range(3):
        started = time.monotonic()
        with tempfile.TemporaryFile() as output:
            subprocess.run([str(word) for word in command], env=run.ENVIRONMENT, check=True,
                           stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.DEVNULL)
        times.append(time.monotonic() - started)
    return min(times)


def median_of(rows, column):
    return f"{statistics.median(float(row[column]) for row in rows):.2f}"


def sections():
    """[(mark, text)] of what stands below the mark of the page, the first without one."""
    with open(os.path.join(page.RESULTS, "explain-speed.md")) as old:
        first, *rest = old.read().partition(f"{SCRIPT} from here on -->\n\n")[2].split("\n## ")
    found = [["", first]]
    for part in rest:
        mark = "\n## " + part.partition("\n")[0] + "\n"
        if mark in (LONG, THREADS):
            found.append([mark, part.partition("\n")[2]])
        else:
            found[-1][1] += "\n## " + part
    return dict(found)


def write_section(mark, text):
    kept = sections() | {mark: text}
    page.write("explain-speed", SCRIPT, "".join(at + kept[at] for at in ("", LONG, THREADS)
                                                if at in kept))


CELLS = {"M instructions": lambda one, alone: f"{one.told('instructions') / 1e6:.0f}",
         "native, s": lambda one, alone: f"{alone:.2f}",
         "explain, s": lambda one, alone: f"{one.seconds:.1f}",
         "× native": lambda one, alone: f"{one.seconds / alone:.1f}",
         "processor s": lambda one, alone: f"{one.whole:.1f}",
         "emulator": lambda one, alone: f"{one.by_whom()['emulator']:.1f}",
         "CPI": lambda one, alone: f"{one.cpi():.4f}",
         "causes simulated": lambda one, alone: causes(one)[0],
         "left out": lambda one, alone: causes(one)[1]}
OF_LONG = ["native, s", "explain, s", "× native", "processor s", "emulator", "CPI"]
OF_THREADS = ["M instructions", "native, s", "explain, s", "processor s", "CPI", "causes simulated",
              "left out"]


def measure_section(mark, columns, commands, builds, behind=""):
    """A row of these columns for each build's run of each; the page is written after each."""
    rows = []
    for name, command in commands:
        alone = native(command)
        for title, one in zip(["now", "before"], by_turns(builds, command)):
            rows.append((name, title, *(CELLS[column](one, alone) for column in columns)))
            print(rows[-1], flush=True)
        write_section(mark, "\n" + page.table(["run", "build", *columns], rows) + behind)


def compressing(files):
    return [(f"gzip -9, {os.path.getsize(name) / 1e6:.0f} MB", ["gzip", "-9", "-c", name])
            for name in map(os.path.abspath, files)]


def sums_in_go():
    path = os.path.join(run.KEPT, "programs", "sums-go")
    if not os.path.exists(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        subprocess.run(["go", "build", "-o", path, "experiments/lib/sums.go"], check=True,
                       cwd=run.ROOT, env=os.environ | {"GOFLAGS": "-buildvcs=false"})
    return path


def programs_with_threads():
    """[(name, command)], and the names of the tools that are missing."""
    tools = {"node": lambda: ("node -e 1", ["node", "-e", "1"]),
             "go": lambda: ("sums (Go)", [sums_in_go(), 1500]),
             "gcc": lambda: ("barrier (C)", [run.workload("barrier", "x86_64"), "uneven", 2, 150])}
    return ([make() for tool, make in tools.items() if shutil.which(tool)],
            [tool for tool in tools if not shutil.which(tool)])


def write(rows, pairs):
    """After each run: all of them take long."""
    text = page.table(["run", "native, s", "explain, s", "× native", "processor s", *WHO], rows)
    if pairs:
        text += f"\n## Against the build before\n\nBy turns, each alone; medians of {TURNS}. The median run takes " \
            f"{median_of(pairs, 3)} of the time of before and {median_of(pairs, 6)} of its processor time.\n\n" + page.table(
            ["run", "before, s", "now, s", "ratio", "processor s before", "now", "ratio",
             "CPI before", "now"], pairs)
    write_section("", text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--before")
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--threads", action="store_true")
    parser.add_argument("files", nargs="*")
    given = parser.parse_args()
    builds = [run.CULPRIT] + ([given.before] if given.before else [])
    if given.long:
        measure_section(LONG, OF_LONG, compressing(given.files), builds)
        return
    if given.threads:
        commands, missing = programs_with_threads()
        measure_section(THREADS, OF_THREADS, commands, builds,
                        f"\nNot installed: {', '.join(missing)}.\n" if missing else "")
        return
    commands = [(item.name, item.command) for item in whole_runs.runs() if item.name in NAMES]
    commands += compressing(given.files)
    rows, pairs = [], []
    for name, command in commands:
        alone = native(command)
        now, *before = by_turns(builds, command)
        sums = now.by_whom()
        rows.append((name, f"{alone:.2f}", f"{now.seconds:.1f}", f"{now.seconds / alone:.0f}",
                     f"{now.whole:.1f}", *(f"{sums[who]:.1f}" for who in WHO)))
        print(rows[-1])
        for old in before:
            pairs.append((name, f"{old.seconds:.1f}", f"{now.seconds:.1f}",
                          f"{now.seconds / old.seconds:.2f}", f"{old.whole:.1f}",
                          f"{now.whole:.1f}", f"{now.whole / old.whole:.2f}",
                          f"{old.cpi():.4f}", f"{now.cpi():.4f}"))
            print(pairs[-1])
        write(rows, pairs)


main()
