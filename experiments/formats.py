#!/usr/bin/env python3
"""Formats of other tools: whether those tools take what culprit writes, and have the same totals.

    formats.py [--speedscope FOLDER]

Three programs, in C, C++ and Go, are simulated and recorded; each profile is written in every format
and read by the tool that it is for, or by a parser that takes nothing but the format. KCachegrind needs
xvfb, dbus, at-spi2-core and python3-pyatspi; FOLDER is that of the npm package speedscope (npm install
speedscope, outside of the repository), which needs chromium-driver and python3-selenium. Writes
docs/results/formats.md."""
import csv
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile

from lib import kcachegrind, page, run, speedscope

SCRIPT = "experiments/formats.py"
ENVIRONMENT = dict(run.ENVIRONMENT, HOME="/tmp")
FILES = {"pprof": "run.pb.gz", "callgrind": "callgrind.out.run", "cachegrind": "cachegrind.out.run",
         "firefox": "run.firefox.json", "folded": "run.folded", "perf-script": "run.perf", "csv": "run.csv",
         "otlp": "run.otlp.pb"}
SPEEDSCOPE = ("pprof", "callgrind", "folded", "perf-script", "firefox")


def shell(*line, **more):
    done = subprocess.run(line, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=600, **more)
    if done.returncode:
        raise ValueError(f"{line[0]} ended with {done.returncode}: {done.stderr.decode()[-200:]}")
    return done.stdout.decode()


def build(folder):
    lib = os.path.join(run.ROOT, "experiments", "lib")
    words, sums = os.path.join(folder, "words"), os.path.join(folder, "sums")
    shell("g++", "-O2", "-g", "-pthread", "-o", words, os.path.join(lib, "words.cpp"))
    shell("go", "build", "-o", sums, os.path.join(lib, "sums.go"))
    tree = run.workload("quadtree", "x86_64")
    return (("quadtree (C)", [tree, "3000", "2"], [tree]), ("words (C++)", [words, "2", "1"], [words, "2", "60"]),
            ("sums (Go)", [sums, "20"], [sums, "40000"]))


# ---- ours ----

class Profile:
    """An epoch, as culprit itself tells it: its total, and what each procedure has with all it called."""

    def __init__(self, store, epoch, name):
        self.store, self.epoch, self.name = store, epoch, name
        report = json.loads(shell(run.CULPRIT, "top", "--store", store, "--epoch", str(epoch), "--tree",
                                  "--least", "0", "--top", "0", "--json"))
        self.simulated = report["epochs"][0]["kind"] == "simulated"
        frames = report["tree"]
        self.total, self.inclusive, self.recursive = frames[0]["total"], {}, set()
        for frame in frames[1:]:
            callers, above = [], frame["parent"]
            while above:
                callers.append(frames[above]["procedure"])
                above = frames[above]["parent"]
            name = frame["procedure"]
            if name in callers:
                self.recursive.add(name)
                self.recursive.update(callers[:callers.index(name)])
            else:
                self.inclusive[name] = self.inclusive.get(name, 0) + frame["total"]

    def export(self, folder):
        files = {}
        for kind, file in FILES.items():
            files[kind] = os.path.join(folder, file)
            shell(run.CULPRIT, "epochs", "export", "--store", self.store, "--epoch", str(self.epoch),
                  "--format", kind, files[kind])
        return files


# ---- theirs: (total, {procedure: inclusive}), the latter None where the tool has none ----

def of_pprof(path, simulated):
    text = shell("go", "tool", "pprof", "-top", "-cum", "-nodecount=100000", "-nodefraction=0",
                 f"-sample_index={'cycles' if simulated else 'samples'}", path)
    rows = {}
    for line in text.split("\n"):
        found = re.match(r" *[\d.]+(?:cycles)? +\S+ +\S+ +(\d+)(?:cycles)? +\S+  (.*?)(?: \(inline\))?$", line)
        if found and "(inline)" not in line:
            rows[found[2]] = int(found[1])
    return int(re.search(r"of (\d+)(?:cycles)? total", text)[1]), rows


def of_callgrind(path, _):
    rows = {}
    text = shell("callgrind_annotate", "--inclusive=yes", "--threshold=100", path)
    first = re.search(r"([\d,]+) \(100\.0%\).*PROGRAM TOTALS", text)
    for line in text.split("\n"):
        found = re.match(r" *([\d,]+) \([ \d.]+%\) .* (?:\S*?[^:]):([^:].*?) \[", line)
        if found:  # a function has a row for each file that code of it is of
            rows[found[2]] = rows.get(found[2], 0) + int(found[1].replace(",", ""))
    return int(first[1].replace(",", "")), rows


def of_cachegrind(path, _):
    text = shell("cg_annotate", path)
    return int(re.search(r"([\d,]+).*PROGRAM TOTALS", text)[1].replace(",", "")), None


def of_firefox(path, _):
    with open(path) as file:
        profile = json.load(file)
    total, rows = 0, {}
    for thread in profile["threads"]:
        stacks, frames, functions = thread["stackTable"], thread["frameTable"], thread["funcTable"]
        for stack, weight in zip(thread["samples"]["stack"], thread["samples"]["weight"]):
            total += weight
            names = set()
            while stack is not None:
                names.add(thread["stringArray"][functions["name"][frames["func"][stacks["frame"][stack]]]])
                stack = stacks["prefix"][stack]
            for name in names:
                rows[name] = rows.get(name, 0) + weight
    return total, rows


def of_folded(path, _):
    total, rows = 0, {}
    with open(path) as file:
        for line in file:
            stack, value = re.fullmatch(r"(.+) (\d+)\n", line).groups()
            total += int(value)
            for name in set(stack.split(";")[1:]):
                rows[name] = rows.get(name, 0) + int(value)
    return total, rows


def of_perf_script(path, simulated):
    """Its periods are what samples stand for."""
    total, one = 0, 1
    with open(path) as file:
        for line in file:
            if found := re.match(r"# one sample of \S+: (\d+)", line):
                one = int(found[1])
            elif found := re.match(r"\S.* +\d+ \[\d+\] \d+\.\d{6}: +(\d+) \S+: $", line):
                total += int(found[1])
            else:
                assert not line.strip() or line[0] in "#\t", line
    return total / (1 if simulated else one), None


def of_csv(path, simulated):
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    column = list(rows[0])[4]
    return sum(int(row[column]) for row in rows), None


def of_otlp(path, _):
    """The first profile's samples, by field numbers."""
    with open(path, "rb") as file:
        data = file.read()

    def number(data, at):
        value = shift = 0
        while True:
            value |= (data[at] & 127) << shift
            shift, at = shift + 7, at + 1
            if data[at - 1] < 128:
                return value, at

    def fields(data):
        at, found = 0, {}
        while at < len(data):
            tag, at = number(data, at)
            if tag & 7 == 0:
                value, at = number(data, at)
            else:
                size, at = (8, at) if tag & 7 == 1 else number(data, at)
                value, at = data[at:at + size], at + size
            found.setdefault(tag >> 3, []).append(value)
        return found

    def packed(found):
        data, at, values = found[0] if found else b"", 0, []
        while at < len(data):
            value, at = number(data, at)
            values.append(value)
        return values
    request = fields(data)
    tables = fields(request[2][0])
    text = [string.decode() for string in tables[5]]
    functions = [text[fields(function).get(1, [0])[0]] for function in tables[3]]
    names = []
    for location in tables[2]:
        lines = fields(location).get(3)
        names.append(functions[fields(lines[-1]).get(1, [0])[0]] if lines else "")
    stacks = [packed(fields(stack).get(1)) for stack in tables[7]]
    first = fields(fields(fields(request[1][0])[2][0])[2][0])
    total, rows = 0, {}
    for sample in map(fields, first[2]):
        (value,) = packed(sample[4])
        total += value
        for name in {names[location] for location in stacks[sample[1][0]]}:
            rows[name] = rows.get(name, 0) + value
    return total, rows


READERS = (("pprof", "`go tool pprof -top -cum`", of_pprof),
           ("callgrind", "`callgrind_annotate --inclusive=yes`", of_callgrind),
           ("callgrind", "KCachegrind, its table of functions",
            lambda path, _: (None, {name: both[0] for name, both in (kcachegrind.inclusive(path) or {}).items()})),
           ("cachegrind", "`cg_annotate`", of_cachegrind), ("firefox", "parser of its tables", of_firefox),
           ("folded", "parser", of_folded), ("perf-script", "parser", of_perf_script), ("csv", "Python's `csv`", of_csv),
           ("otlp", "decoder by field numbers", of_otlp))


# ---- compared ----

def same(ours, theirs):
    """Values of single stacks are rounded, so that only sums over all are right to one."""
    return abs(ours - theirs) <= 4 + 2e-3 * ours


def compare(profile, theirs):
    """Cells: difference of totals, procedures compared, of these the same."""
    total, rows = theirs
    cells = ["" if total is None else f"{total - profile.total:+.0f}"]
    if rows is None:
        return cells + ["", ""]
    both = [name for name in profile.inclusive if name in rows and name not in profile.recursive]
    other = [name for name in both if not same(profile.inclusive[name], rows[name])]
    for name in other:
        print(f"{profile.name}: {name}: {profile.inclusive[name]:.0f}, there {rows[name]}", file=sys.stderr)
    return cells + [len(both), len(both) - len(other)]


def read_with(profile, file, tool, reader):
    try:
        return compare(profile, reader(file, profile.simulated))
    except (ValueError, TypeError, AssertionError, AttributeError) as why:
        print(profile.name, tool, why, file=sys.stderr)
        return ["not read", "", ""]


def of_run(folder, program):
    """Of a run as a whole: gem5's statistics, and a trace of its threads."""
    files = {kind: os.path.join(folder, kind) for kind in ("run.json", "stats.txt", "run.trace.json")}
    reports = []
    for kind in ("stats.txt", "run.trace.json"):
        shell(run.CULPRIT, "sim", "--repeatable", "--json", "-o", files["run.json"], "--export", files[kind], "--",
              *program, cwd=folder)
        with open(files["run.json"]) as file:
            reports.append(json.load(file))
    with open(files["stats.txt"]) as file:
        found = re.search(r"^system\.cpu\.numCycles +(\d+) ", file.read(), re.M)
    yield "gem5-stats", "parser of its lines", reports[0]["cycles"], int(found[1])
    with open(files["run.trace.json"]) as file:
        events = json.load(file)["traceEvents"]
    ran = sum(event["args"]["cycles"] for event in events if event["ph"] == "X" and event["name"] == "running")
    together = reports[1]["together"] is not None
    yield ("chrome-trace", "parser of events", sum(
        thread["running_cycles" if together else "cycles"] for thread in reports[1]["threads"]), ran)


def measure_speedscope(package, profile, files):
    for kind in SPEEDSCOPE:
        profiles, rows = speedscope.read(package, files[kind])
        if profiles is None:
            yield [profile.name, profile.kind, kind, rows, "", ""]
            continue
        totals = " ".join(f"{value:.0f}" for value in list(profiles.values())[:1])
        if kind == "perf-script" or (kind == "pprof" and not profile.simulated):  # in other units
            rows = {}
        both = [name for name in profile.inclusive if name in rows and name not in profile.recursive]
        yield [profile.name, profile.kind, kind, totals if both else "", len(both) or "",
               sum(same(profile.inclusive[name], rows[name]) for name in both) if both else ""]


def main():
    package = sys.argv[2] if sys.argv[1:2] == ["--speedscope"] else None
    rows, shown = [], []
    with tempfile.TemporaryDirectory() as folder:
        store, epoch = os.path.join(folder, "profiles.db"), 0
        for name, simulated, live in build(folder):
            for kind, line in (("simulated", ["sim", "--tree", "--save", "--store", store, "-o", "/dev/null", "--"] + simulated),
                               ("live", ["record", "--stacks", "--store", store, "--"] + live)):
                print(name, kind, file=sys.stderr)
                shell(run.CULPRIT, *line, cwd=folder)
                epoch += 1
                profile = Profile(store, epoch, name)
                profile.kind = kind
                files = profile.export(folder)
                for format_name, tool, reader in READERS:
                    rows.append([name, kind, format_name, tool, f"{profile.total:.0f}"] +
                                read_with(profile, files[format_name], tool, reader))
                if simulated and kind == "simulated":
                    rows += [[name, kind, format_name, tool, ours, f"{theirs - ours:+d}", "", ""]
                             for format_name, tool, ours, theirs in of_run(folder, simulated)]
                if package:
                    shown += measure_speedscope(package, profile, files)
    text = page.table(["program", "profile", "format", "read by", "our total", "theirs − ours",
                       "procedures compared", "the same"], rows)
    if shown:
        text += "\n### speedscope\n\n" + page.table(
            ["program", "profile", "format", "total, where it shows one; or what it says",
             "procedures compared", "the same"], shown)
    page.write("formats", SCRIPT, text)


if __name__ == "__main__":
    main()
