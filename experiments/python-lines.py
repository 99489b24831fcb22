#!/usr/bin/env python3
"""Lines of Python in simulations, against runs that count: which lines ran, how often functions were
called, how lines and functions rank; and what it costs.

    python-lines.py [INTERPRETER ...]

Of the newest of each CPython 3.11 to 3.13 in /usr/bin and below ~/.pyenv, or of those named. The
programs are experiments/python-lines/*.py. Writes docs/results/python-lines.md."""
import collections
import glob
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

from lib import page, run

SCRIPT = "experiments/python-lines.py"
UNSEEN = ("exceptions", "sorting", "threads")  # written when what they test was done
LEAST, ROUNDS = 0.0005, 3
WHAT = {"numeric": "numeric loops", "dictionaries": "dictionaries", "expressions": "regular expressions",
        "classes": "classes", "generators": "generators", "extension": "C extensions: `_json`, `zlib`",
        "exceptions": "exceptions, recursion, closures", "sorting": "sorting: C that calls Python",
        "threads": "threads and a queue"}
COUNTING = r"""
import collections, json, sys, threading
path = sys.argv[1]
opcodes, calls = collections.Counter(), collections.Counter()
def trace(frame, event, argument):
    if frame.f_code.co_filename != path:
        return None
    frame.f_trace_opcodes = True
    if event == "call":
        calls[frame.f_code.co_qualname] += 1
    elif event == "opcode" and frame.f_lineno:
        opcodes[frame.f_lineno] += 1
    return trace
code = compile(open(path).read(), path, "exec")
sys.argv = [path]
if hasattr(sys, "monitoring"):
    monitor, events = sys.monitoring, sys.monitoring.events
    known = {}
    def executed(code, offset):
        if code.co_filename != path:
            return monitor.DISABLE
        if code not in known:
            known[code] = [position[0] for position in code.co_positions()]
        line = known[code][offset // 2]
        if line:
            opcodes[line] += 1
    def entered(code, offset, *exception):
        if code.co_filename == path:
            calls[code.co_qualname] += 1
    monitor.use_tool_id(1, "counting")
    monitor.register_callback(1, events.INSTRUCTION, executed)
    for event in events.PY_START, events.PY_RESUME, events.PY_THROW:
        monitor.register_callback(1, event, entered)
    monitor.set_events(1, events.INSTRUCTION | events.PY_START | events.PY_RESUME | events.PY_THROW)
else:
    threading.settrace(trace)
    sys.settrace(trace)
exec(code, {"__name__": "__main__"})
sys.settrace(None)
if hasattr(sys, "monitoring"):
    sys.monitoring.set_events(1, 0)
makers = set()
def look(code):
    if code.co_flags & (0x20 | 0x80 | 0x200):
        makers.add(code.co_qualname)
    for constant in code.co_consts:
        if hasattr(constant, "co_code"):
            look(constant)
look(code)
json.dump([opcodes, calls, sorted(makers)], sys.stderr)
"""
TIMING = r"""
import collections, json, sys, threading
from time import perf_counter_ns as now
path = sys.argv[1]
times = collections.Counter()
place, since = {}, {}
def trace(frame, event, argument):
    at, thread = now(), threading.get_ident()
    if place.get(thread):
        times[place[thread]] += at - since[thread]
    if frame.f_code.co_filename != path and event == "call":
        place[thread] = place.get(thread)
        since[thread] = now()
        return None
    back = frame.f_back if event == "return" else frame
    while back and back.f_code.co_filename != path:
        back = back.f_back
    place[thread] = back.f_lineno if back else None
    since[thread] = now()
    return trace
code = compile(open(path).read(), path, "exec")
sys.argv = [path]
threading.settrace(trace)
sys.settrace(trace)
exec(code, {"__name__": "__main__"})
sys.settrace(None)
json.dump(times, sys.stderr)
"""
PROFILING = r"""
import cProfile, json, sys, threading
path = sys.argv[1]
code = compile(open(path).read(), path, "exec")
sys.argv = [path]
profile = cProfile.Profile(builtins=False)
profile.enable()
exec(code, {"__name__": "__main__"})
profile.disable()
json.dump([[entry.code.co_qualname, entry.inlinetime] for entry in profile.getstats()
           if not isinstance(entry.code, str) and entry.code.co_filename == path], sys.stderr)
"""


def ranks(values):
    """The mean rank of those that are equal."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    result = [0.0] * len(values)
    i = 0
    while i < len(order):
        j = i
        while j + 1 < len(order) and values[order[j + 1]] == values[order[i]]:
            j += 1
        for k in range(i, j + 1):
            result[order[k]] = (i + j) / 2
        i = j + 1
    return result


def correlation(one, other):
    """Spearman's."""
    if len(one) < 3:
        return None
    a, b = ranks(one), ranks(other)
    try:
        return statistics.correlation(a, b)
    except statistics.StatisticsError:
        return None


def interpreters():
    newest = {}
    for path in ["/usr/bin/python3"] + sorted(glob.glob(os.path.expanduser(
            "~/.pyenv/versions/3.1[123].*/bin/python3"))):
        if os.path.exists(path):
            version = version_of(path)
            newest.setdefault(version.rsplit(".", 1)[0], (version, path))
    return [(version, path) for minor, (version, path) in sorted(newest.items())
            if minor in ("3.11", "3.12", "3.13")]


def version_of(path):
    return subprocess.run([path, "-c", "import platform; print(platform.python_version())"],
                          capture_output=True, text=True, check=True).stdout.strip()


def counted(python, program, path):
    done = subprocess.run([python, "-I", "-S", "-c", program, path], capture_output=True, text=True,
                          env=run.ENVIRONMENT, check=True)
    return json.loads(done.stderr)


def simulated(python, path):
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        subprocess.run([run.CULPRIT, "sim", "--python", "--top", "0", "--json", "-o", report,
                        "--", python, "-I", "-S", path], check=True, env=run.ENVIRONMENT,
                       stdout=subprocess.DEVNULL)
        with open(report) as content:
            return json.load(content)


def compare(python, path):
    opcodes, calls, makers = counted(python, COUNTING, path)
    times = dict(counted(python, PROFILING, path))
    line_times = {int(line): time for line, time in counted(python, TIMING, path).items()}
    report = simulated(python, path)
    python_part = report["python"]
    total = report["cycles"]
    lines, functions = collections.Counter(), collections.Counter()
    entered = collections.Counter()
    for row in python_part["lines"]:
        if row["file"] == path:
            lines[row["line"]] += row["cycles"]
    for row in python_part["functions"]:
        if row["file"] == path:
            functions[row["function"]] += row["cycles"]
            entered[row["function"]] += row["calls"]
    counted_lines = {int(line): count for line, count in opcodes.items()}
    both = [line for line in counted_lines if lines[line] >= LEAST * total]
    # A generator is entered when it is made, which a tracer does not see.
    plain = [name for name in calls if name not in makers and name != "<module>"]
    known = [name for name in times if name in functions and functions[name] >= LEAST * total]
    sums = sum(row["cycles"] for row in python_part["lines"])
    hottest = lambda values: max(values, key=values.get) if values else None
    return {"lines": len(counted_lines), "missing": len([line for line in counted_lines
                                                         if line not in lines]),
            "more": len([line for line in lines if line not in counted_lines]),
            "compared": len(both),
            "line_rank": correlation([counted_lines[line] for line in both],
                                     [lines[line] for line in both]),
            "time_rank": correlation([line_times.get(line, 0) for line in both],
                                     [lines[line] for line in both]),
            "functions": len(plain),
            "same_calls": sum(entered[name] == calls[name] for name in plain),
            "function_count": len(known),
            "function_rank": correlation([times[name] for name in known],
                                         [functions[name] for name in known]),
            "same_hottest": hottest({name: times[name] for name in known}) ==
            hottest({name: functions[name] for name in known}),
            "share": sums / total, "exact": abs(sums - python_part["cycles"]) < 1e-6 * total}


def compared(python, path):
    """Kept while culprit, the interpreter and the program are the same."""
    key = run.key_of([SCRIPT], [python, path])
    kept = os.path.join(run.KEPT, "reports", key + ".json")
    if not os.path.exists(kept):
        os.makedirs(os.path.dirname(kept), exist_ok=True)
        result = compare(python, path)
        with open(kept, "w") as content:
            json.dump(result, content)
    with open(kept) as content:
        return json.load(content)


def processor_seconds(line):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(line, check=True, env=run.ENVIRONMENT, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure_cost(python, path):
    """A file without "python" in its name is not looked at: the same program, captured without."""
    with tempfile.TemporaryDirectory() as folder:
        plain = os.path.join(folder, "interpreter")
        shutil.copy(os.path.realpath(python), plain)
        traces = {name: os.path.join(folder, name + ".ctrace") for name in ("with", "without")}
        programs = {"with": python, "without": plain}
        captures, simulations, sizes = [], [], {}
        for _ in range(ROUNDS):
            took = {}
            for name, trace in traces.items():
                took[name] = processor_seconds([run.CULPRIT, "trace", "-o", trace, "--",
                                                programs[name], "-I", "-S", path])
                sizes[name] = os.path.getsize(trace)
            captures.append(took["with"] / took["without"] - 1)
            paths = [processor_seconds([run.CULPRIT, "sim", option, traces["with"]])
                     for option in ("--python", "--no-python")]
            simulations.append(paths[0] / paths[1] - 1)
        return (statistics.median(captures), sizes["with"] / sizes["without"] - 1,
                statistics.median(simulations))


def figure(value, digits=3):
    return "" if value is None else f"{value:.{digits}f}"


def main():
    named = [(version_of(path), path) for path in sys.argv[1:]]
    found = named or interpreters()
    names = sorted(WHAT, key=lambda name: (name in UNSEEN, list(WHAT).index(name)))
    rows, costs, results = [], [], []
    for version, python in found:
        for name in names:
            path = os.path.join(run.ROOT, "experiments", "python-lines", name + ".py")
            result = compared(python, path)
            results.append(result)
            print(version, name, result, file=sys.stderr)
            rows.append([version, WHAT[name] + (" *" if name in UNSEEN else ""),
                         page.percent(result["share"]),
                         result["lines"], result["missing"], result["more"],
                         f'{result["same_calls"]} of {result["functions"]}',
                         figure(result["function_rank"], 2), result["function_count"],
                         "yes" if result["same_hottest"] else "no",
                         figure(result["time_rank"], 2), figure(result["line_rank"], 2),
                         result["compared"]])
    for version, python in found[:1]:
        for name in ("numeric", "classes", "expressions"):
            path = os.path.join(run.ROOT, "experiments", "python-lines", name + ".py")
            capture, size, simulation = measure_cost(python, path)
            costs.append([version, WHAT[name], page.percent(capture), page.percent(size),
                          page.percent(simulation)])
    functions = [result["function_rank"] for result in results if result["function_rank"] is not None]
    lines = [result["time_rank"] for result in results if result["time_rank"] is not None]
    measured = (
        f"{len(found)} interpreters, {len(names)} programs. Rank correlation in the median: of functions "
        f"{statistics.median(functions):.2f} (least {min(functions):.2f}), of lines by time "
        f"{statistics.median(lines):.2f} (least {min(lines):.2f}). Functions entered as often as counted: "
        f"{sum(result['same_calls'] for result in results)} of "
        f"{sum(result['functions'] for result in results)}. Sums of lines that are not those of "
        f"Python: {sum(not result['exact'] for result in results)}.\n\n" +
        page.table(["CPython", "program", "cycles of lines, %", "lines that ran", "not found",
                    "found besides", "functions entered as often", "functions: rank correlation",
                    "of", "the same first", "lines, by time: rank correlation", "by instructions of Python", "of"], rows) +
        "\n## Cost\n\n" +
        page.table(["CPython", "program", "capture: processor time, %", "size of the trace, %",
                    "simulation: processor time, %"], costs))
    page.write("python-lines", SCRIPT, measured)


if __name__ == "__main__":
    main()
