"""How far `culprit explain` is off when it explains a run by regions, and how often its interval holds
what full simulation says; into docs/results/estimate-errors.md.

    python3 -B experiments/estimate-errors.py [--truth] [--known] [--kept] [NAME...]

NAME...: only these, and nothing is written. --truth: full simulations only. --known: not the programs
that are kept unseen. --kept: the page of what was measured so far. Rows that were measured are kept in
build/experiments/estimate-errors.json: full simulations as long as the command, its files, the machine
and the source of capture and cores are the same, estimates as long as culprit is. With DETAILS=FOLDER
the vectors and costs of all slices of the full simulation go there as well."""
import collections
import glob
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

from lib import page, programs, run, whole_runs

KEPT = os.path.join(run.KEPT, "estimate-errors.json")
DETAILS = os.environ.get("DETAILS")
REGIONS = 60  # of runs that are shorter than those that explain takes regions of by itself
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib", "estimates.cpp")

# The rooms whose source says what a full simulation tells.
ROOMS = ["attribute", "branch", "core", "isa", "machine", "memory", "tap", "trace"]

# `data`: what it takes depends on its data more than on its code. `unseen`: explained only when all
# else is done.
Program = collections.namedtuple("Program", "name command data unseen")

LUA = """local keys, n = {}, 0
math.randomseed(7)
for i = 1, 500 do keys[i] = string.format("%x", math.random(1, 1 << 30)) end
local count = {}
for pass = 1, 4 do
  for i, key in ipairs(keys) do local short = key:sub(1, 4); count[short] = (count[short] or 0) + 1 end
  table.sort(keys, function(a, b) return a:byte(pass) < b:byte(pass) or (a:byte(pass) == b:byte(pass) and a < b) end)
end
for _, c in pairs(count) do n = n + c * c end
print(n)
"""
TREES = """import random
random.seed(3)
class Node:
    __slots__ = "key", "left", "right"
    def __init__(self, key):
        self.key, self.left, self.right = key, None, None
root, depth = Node(0.5), 0
for i in range(1800):
    key, at, steps = random.random(), root, 0
    while True:
        steps += 1
        side = "left" if key < at.key else "right"
        below = getattr(at, side)
        if below is None:
            setattr(at, side, Node(key))
            break
        at = below
    depth += steps
print(depth)
"""
QUERY = """create table t(a integer, b integer, c text);
with recursive n(i, x) as (select 1, 1 union all select i + 1, x * 16807 % 2147483647 from n where i < 6000)
insert into t select i, x % 3000, 'row ' || x from n;
create index t_b on t(b);
select count(*), sum(t.a), max(u.c) from t join t u on u.b = t.a % 3000;
select b % 100, count(*), max(c) from t group by 1 order by 2 desc limit 5;
"""


def binary():
    path = os.path.join(run.KEPT, "inputs", "estimates")
    if not os.path.exists(path) or os.path.getmtime(path) < os.path.getmtime(SOURCE):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        subprocess.run(["g++", "-O2", "-g", "-std=c++17", "-o", path, SOURCE], check=True)
    return path


def all_programs():
    make, ours = programs.written, binary()
    lines = make("some-lines", lambda: whole_runs.text(20000))
    source = make("some-headers", lambda: whole_runs.headers(450000))
    own = lambda name, size, data=True, unseen=False: Program(  # noqa: E731
        f"{name} {size}", [ours, name, str(size)], data, unseen)
    other = lambda name, *command, data=False, unseen=False: Program(  # noqa: E731
        name, list(command), data, unseen)
    return [
        own("hash_join", 80000), own("partitioned_join", 1100000, unseen=True),
        own("breadth_first", 50000), own("breadth_first_skewed", 50000, unseen=True),
        own("shortest_paths", 45000), own("page_rank", 36000, unseen=True), own("components", 450000),
        own("sorts", 200000), own("heap_sort", 350000, unseen=True), own("radix_sort", 1200000),
        own("tree", 140000), own("cache", 20000), own("interpreter", 5000000, unseen=True),
        own("neighbours", 35000), own("trie", 300000), own("events", 150000, unseen=True),
        own("queens", 12, data=False), own("mandelbrot", 350, data=False, unseen=True),
        own("edit_distance", 2700, data=False),
        other("gzip -9", "gzip", "-9", "-c", source), other("gzip -6 lines", "gzip", "-6", "-c", lines, unseen=True),
        other("bzip2", "bzip2", "-c", source), other("xz -1", "xz", "-1", "-T1", "-c", source),
        other("sha256sum", "sha256sum", "/bin/bash", unseen=True),
        other("sqlite3", "sqlite3", ":memory:", f".read {make('join.sql', lambda: QUERY)}", data=True),
        other("python3 trees", "/usr/bin/python3", "-S", make("trees.py", lambda: TREES), data=True),
        other("python3", "/usr/bin/python3", "-S",
              make("some.py", lambda: programs.python_program(20000))),
        other("perl", "perl", make("whole.pl", whole_runs.perl_program),
              make("few-headers", lambda: whole_runs.headers(120000)), unseen=True),
        other("lua", "lua5.4", make("keys.lua", lambda: LUA), data=True),
        other("sort", "sort", "--parallel=1", "-k3",
              make("more-lines", lambda: whole_runs.text(30000, 5)), data=True),
        other("awk", "mawk", "{ n[$3] += $2; l[length $4]++; s = s substr($0, 1, 3); "
              "if (length(s) > 500) s = \"\" } END { for (w in n) print w, n[w] }", lines),
        other("bc", "bc", "-l", make("some.bc", lambda: "scale=240\n4*a(1)\ne(1)\nquit\n"), unseen=True),
    ]


def culprit(verb, *options, command=(), file=None):
    """Its JSON object and how long it took; None when it failed."""
    start = time.monotonic()
    with tempfile.NamedTemporaryFile() as report, tempfile.TemporaryFile() as output:
        line = [run.CULPRIT, verb, "--machine", whole_runs.MAIN, "--json", "--top", "1", "--output", report.name,
                *options, *(["--", *command] if command else [file])]
        print(*line[1:], file=sys.stderr)
        done = subprocess.run(line, env=run.ENVIRONMENT, stdin=subprocess.DEVNULL, cwd=run.ROOT,
                              stdout=output, stderr=subprocess.PIPE, timeout=3600, check=False)
        if done.returncode:
            print(done.stderr.decode(), file=sys.stderr)
            return None, 0
        return json.load(open(report.name)), time.monotonic() - start


def call(*line):
    with tempfile.TemporaryFile() as output:
        subprocess.run(line, env=run.ENVIRONMENT, stdin=subprocess.DEVNULL, cwd=run.ROOT,
                       stdout=output, stderr=subprocess.DEVNULL, timeout=3600, check=True)


def components(report):
    """Cycles per instruction."""
    return {name: cycles / report["instructions"] for name, cycles in report["components"].items()}


def simulate_in_full(program):
    folder = DETAILS or tempfile.mkdtemp(dir=run.KEPT)
    base = os.path.join(folder, program.name.replace(" ", "_"))
    trace, options = base + ".ctrace", []
    call(run.CULPRIT, "trace", "--repeatable", "-o", trace, "--", *program.command)
    if DETAILS:
        call(run.CULPRIT, "bbv", "--size", "250000", "-o", base + ".bb", trace)
        options = ["--slices", base + ".csv", "--slices-like", base + ".bb.slices"]
    report, seconds = culprit("sim", *options, file=trace)
    os.remove(trace)
    if not DETAILS:
        os.rmdir(folder)
    return {"cpi": report["cpi"], "components": components(report), "instructions": report["instructions"],
            "seconds": seconds}


def keys(program):
    """Of what a full simulation depends on, and an estimate."""
    files = run.files_of(program.command)
    machine = os.path.join(run.ROOT, "machines", whole_runs.MAIN + ".ini")
    source = sorted(path for room in ROOMS
                    for path in glob.glob(os.path.join(run.ROOT, "src", room, "**", "*.[ch]"), recursive=True))
    truth = json.dumps([program.command, run.digest(machine, *files, *source)])
    return truth, truth + run.digest(run.CULPRIT)


def load():
    if not os.path.exists(KEPT):
        return {}
    with open(KEPT) as kept:
        return json.load(kept)


def keep(rows):
    os.makedirs(os.path.dirname(KEPT), exist_ok=True)
    with open(KEPT + ".new", "w") as kept:
        json.dump(rows, kept, indent=1)
    os.replace(KEPT + ".new", KEPT)


def estimate(program):
    report, seconds = culprit("explain", "--regions-over", "40M", "--regions", str(REGIONS),
                              command=program.command)
    if not report or not report["regions"]:
        return {"failed": (report or {"notes": ["no report"]})["notes"]}
    return {"cpi": report["cpi"], "half": report["regions"]["cpi_half_interval_95"],
            "components": components(report),
            "halves": {name: half and half / report["instructions"] for name, half in
                       report["regions"]["component_half_intervals_95"].items()},
            "simulated": report["instructions_simulated"] / report["instructions"],
            "regions": report["regions"]["count"], "seconds": seconds}


def off(row, name):
    """The estimate's error and half interval of a component, in percent of all cycles; None: not known."""
    truth, found = row["truth"], row["estimate"]
    if name not in truth["components"] or found["halves"][name] is None:
        return None
    return (100 * (found["components"][name] - truth["components"][name]) / truth["cpi"],
            100 * found["halves"][name] / truth["cpi"])


def of_cpi(row):
    """Likewise of all cycles."""
    truth, found = row["truth"]["cpi"], row["estimate"]
    return 100 * (found["cpi"] / truth - 1), 100 * found["half"] / truth


def holds(error, half):
    """Whether the interval has the truth; what rounds to 0.01 % of the cycles is nothing."""
    return abs(error) <= max(half, 0.01)


def line_of(program, row):
    truth, found = row["truth"], row["estimate"]
    head = (program.name, "data" if program.data else "", "unseen" if program.unseen else "",
            f"{truth['instructions'] / 1e6:.0f}")
    if "failed" in found:
        return head + ("", f"{truth['cpi']:.3f}", "", "", "", "not by regions")
    error, half = of_cpi(row)
    return head + (found["regions"], f"{truth['cpi']:.3f}", f"{found['cpi']:.3f}", f"{error:+.2f}",
                   f"{half:.2f}", "yes" if holds(error, half) else "**no**")


def summary(which, pairs):
    """Of errors and half intervals: how many, the mean and the largest error, the mean half interval,
    and how many hold the truth."""
    if not pairs:
        return (which, 0, "", "", "", "")
    return (which, len(pairs), f"{statistics.mean(abs(e) for e, _ in pairs):.2f}",
            f"{max(abs(e) for e, _ in pairs):.2f}", f"{statistics.mean(h for _, h in pairs):.2f}",
            f"{sum(holds(e, h) for e, h in pairs)} of {len(pairs)}")


def write(measured, all_of_them):
    """`measured`: programs and their rows."""
    good = [(program, row) for program, row in measured if "cpi" in row["estimate"]]
    of = lambda which, keep: summary(which, [of_cpi(row) for program, row in good if keep(program)])  # noqa: E731
    heading = ["", "programs", "mean error, %", "largest, %", "mean half interval, %", "hold the truth"]
    names = list(good[0][1]["estimate"]["components"])
    page.write("estimate-errors", "experiments/estimate-errors.py",
               f"{len(measured)} of {all_of_them} programs were measured.\n\n## Cycles per instruction\n\n"
               + page.table(heading, [of("all", lambda p: True), of("by their data", lambda p: p.data),
                                      of("others", lambda p: not p.data),
                                      of("unseen", lambda p: p.unseen)])
               + "\n## Components of the stack\n\nIn percent of all cycles.\n\n"
               + page.table(heading, [summary(name, [pair for pair in (off(row, name) for _, row in good)
                                                     if pair]) for name in names])
               + "\n## Program by program\n\n"
               + page.table(["program", "", "", "M instr.", "regions", "CPI", "explain", "error, %",
                             "± %", "holds"], [line_of(*pair) for pair in measured]))


def main():
    names = [word for word in sys.argv[1:] if not word.startswith("--")]
    chosen = sorted((program for program in all_programs()
                     if (not names or program.name in names) and not (program.unseen and "--known" in sys.argv)),
                    key=lambda program: (program.unseen, "estimate" in load().get(program.name, {})))
    for program in chosen:
        if "--kept" in sys.argv:
            continue
        rows, (of_truth, of_estimate) = load(), keys(program)
        row = rows.setdefault(program.name, {})
        if row.get("truth key") != of_truth:
            row.update({"truth": simulate_in_full(program), "truth key": of_truth})
            keep(rows)
        if "--truth" not in sys.argv and row.get("estimate key") != of_estimate:
            row.update({"estimate": estimate(program), "estimate key": of_estimate})
            keep(rows)
    measured = [(program, load().get(program.name, {})) for program in chosen]
    if not names:
        write([(program, row) for program, row in measured if "estimate" in row], len(measured))


main()
