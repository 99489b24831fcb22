#!/usr/bin/env python3
"""Whole programs: user cycles on this processor beside those that culprit predicts for it.

    host-programs.py [--again | --native | --divide | --predict] [--machine MACHINE] [PROGRAM ...]

MACHINE: that of this host's processor or the nearest to it, if none is named. PROGRAM: only these
anew, beside what was measured of the others before; all, if none is named. --native: only natively,
for a time when nothing else runs. --divide: likewise, of runs that are divided (lib/slices.py), for a
processor that others disturb. --predict: only simulated, for a machine that is described otherwise since,
in place of what was predicted for the same runs. --again: the page from what was measured the last time. The page has a part for each
machine; those of others are kept. Needs what `make deps` does not install: `apt-get install lua5.4`.

Each program is run by `culprit validate --host`. What is measured is kept by program under
build/experiments/host-programs."""
import functools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import zlib

from lib import host, page, programs, run, slices, svg

KEPT = os.path.join(run.KEPT, "host-programs")
RUNS, PROCEDURES = 24, 40
REGIONS, MORE_REGIONS, WIDE = 50, 160, 0.1  # more, where the interval of the estimate is wider than that
DIVIDED, PARTS = 40, 4  # runs that are divided; between parts of them the last cache is looked at
ROUNDS, PER_ROUND = 3, 3  # of native runs alone, before all that is simulated
SOURCE = os.path.join(run.ROOT, "experiments", "lib", "estimates.cpp")
LUA = """local primes, sieve = 0, {}
for i = 2, 1200000 do
  if not sieve[i] then
    primes = primes + 1
    if primes % 200 == 0 then math.type(i) end
    for k = i * i, 1200000, i do sieve[k] = true end
  end
end
local words = {}
for i = 1, 250000 do
  local key = tostring(i * 7919 % 10007):sub(1, 3)
  words[key] = (words[key] or 0) + #key
  if i % 200 == 0 then math.type(i) end
end
local function fib(n) if n == 14 then math.type(n) end if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
print(primes, words["123"], fib(29))
"""
CPP = """#include <map>
#include <string>
std::map<std::string, int> counts;
int count(const std::string &word) { return ++counts[word]; }
"""
PERL = """my (%count, @long);
while (<>) {
    my @words = split;
    $count{$words[2]} += $words[1];
    push @long, "$words[3]-$words[0]" if /t.*t/;
}
print join(",", map { "$_=$count{$_}" } sort keys %count), scalar(@long), (sort @long)[7], "\\n";
"""
# In this and LUA something is done now and then that nothing else does, which divides the run (lib/slices.py).
DASH = """i=0; s=0
while [ $i -lt 300000 ]; do
    case $i in *00) set -- $i;; esac
    case $i in *7) s=$((s+i));; *) s=$((s^i));; esac
    i=$((i+1))
done
echo $s
"""


@functools.cache
def repeated(name, path, times):
    """A file so many times in a row."""
    with open(path) as content:
        text = content.read()
    return programs.written(name, lambda: text * times)


@functools.cache
def estimates():
    """The C++ programs of experiments/lib/estimates.cpp, with marks that divide a run."""
    path = os.path.join(programs.INPUTS, "estimates-divided")
    if not os.path.exists(path) or os.path.getmtime(path) < os.path.getmtime(SOURCE):
        os.makedirs(programs.INPUTS, exist_ok=True)
        subprocess.run(["g++", "-O2", "-g", "-std=c++17", "-DDIVIDED", "-o", path, SOURCE], check=True)
    return path


@functools.cache
def compiler(driver, name):
    """What the driver runs."""
    return subprocess.run([driver, f"-print-prog-name={name}"], check=True, capture_output=True, text=True).stdout.strip()


def debian_programs():
    lines = programs.written("text", programs.text)
    source = programs.written("source.c", programs.c_source)
    pi = programs.written("pi-long", lambda: "scale=1300\n4*a(1)\nquit\n")
    query = programs.written("query-long.sql", lambda: programs.query(150000))
    python = programs.written("program-long.py", lambda: programs.python_program(700000))
    twice, long = repeated("text-2", lines, 2), repeated("text-6", lines, 6)
    longest = repeated("text-100", lines, 100)
    return {
        "awk": ["mawk", "{ n[$3] += $2; l[length $4]++ } END { for (w in n) print w, n[w] }",
                repeated("text-12", lines, 12)],
        "b2sum": ["b2sum", longest],
        "base64": ["base64", repeated("text-200", lines, 200)],
        "bc": ["bc", "-l", pi],
        "bzip2": ["bzip2", "-c", twice],
        "dash": ["dash", programs.written("loop.sh", lambda: DASH)],
        "g++": [compiler("g++", "cc1plus"), "-quiet", "-imultiarch", "x86_64-linux-gnu", "-D_GNU_SOURCE", "-O1", "-o", "/dev/null", programs.written("short.cpp", lambda: CPP)],
        "gcc": [compiler("gcc", "cc1"), "-quiet", "-O3", "-o", "/dev/null", source],
        "grep": ["grep", "-c", r"\([0-9][0-9]\)[0-9]*\1.*e", lines],
        "gzip": ["gzip", "-9", "-c", twice],
        "lua": ["lua5.4", programs.written("program.lua", lambda: LUA)],
        "md5sum": ["md5sum", longest],
        "openssl": ["openssl", "dgst", "-sha3-256", longest],
        "perl": ["perl", programs.written("program.pl", lambda: PERL), long],
        "python3": ["/usr/bin/python3", python],
        "sed": ["sed", "-n", r"s/\([0-9]*\) \([0-9]*\)/\2 \1/p", long],
        "sort": ["sort", "-k3", "--parallel=1", long],
        "sqlite3": ["sqlite3", ":memory:", f".read {query}"],
        "xz": ["xz", "-1", "-c", lines]}


def workloads():
    """Ours, by their arguments."""
    arguments = {
        "bigcode": [8000], "bipartite": [10, 200000], "branchy": [1000000, 1000000],
        "chase": [1200000], "hashjoin": [8000000],
        "interpreter": [10000000], "matmul": [400, 14],
        "nbody": [120000], "pages": [40000000], "stream": [120, 1000000],
        "strings": [90000]}
    return {name: [workload(name), *map(str, words)] for name, words in arguments.items()}


@functools.cache
def workload(name):
    """With marks that divide a run (workloads/divide.h)."""
    path = os.path.join("build", "workloads", "divided", name)
    subprocess.run(["make", "-s", path], cwd=run.ROOT, check=True)
    return os.path.join(run.ROOT, path)


def of_cpp():
    sizes = {"cache": 200000, "edit_distance": 22000, "neighbours": 200000, "sorts": 2000000, "tree": 250000, "trie": 250000}
    return {f"c++ {name}": [estimates(), name, str(size)] for name, size in sizes.items()}


def all_programs():
    return debian_programs() | workloads() | of_cpp()


def held_out(name):
    """A third of the programs, which nothing is looked for in: by the checksum of the name. `interpreter`
    was one of them until forms of indirect prediction were tried on it, `perl` until its cause was looked for."""
    return name not in ("interpreter", "perl") and zlib.crc32(name.encode()) % 3 == 0


# ---- measured ----

def now():
    return time.strftime("%Y-%m-%d %H:%M", time.gmtime())


def kept_path(name):
    return os.path.join(KEPT, name.replace(" ", "-") + ".json")


def kept(name):
    if not os.path.exists(kept_path(name)):
        return {"name": name}
    with open(kept_path(name)) as content:
        return json.load(content)


def keep(name, **more):
    with open(kept_path(name) + ".new", "w") as out:
        json.dump(kept(name) | more, out, indent=1)
    os.replace(kept_path(name) + ".new", kept_path(name))


def measure(names, known):
    """Native runs of each program by itself, in rounds: neighbours come and go. Beside them how far
    the last cache and memory are."""
    runs, chases = {name: [] for name in names}, []
    for number in range(ROUNDS):
        print(f"natively, {number + 1} of {ROUNDS}", file=sys.stderr, flush=True)
        for name in names:
            runs[name] += host.native_runs(known[name], PER_ROUND)
        chases.append(host.chase())
    kernel = host.kernel_in_user_time()
    chase = {size: min(chase[size] for chase in chases) for size in chases[0]}
    for name in names:
        keep(name, native=runs[name], chase=chase, kernel=kernel, processor=host.processor(),
             date=now(), load=os.getloadavg()[1])


def divide(names, known):
    """Runs of each program that can be divided, as often as it takes to see each part undisturbed. The last
    cache, too, is then as the others leave it in the best moments of these minutes: the best of each reading.
    Where the runs before, of the same program on the same processor, took less, these are left out."""
    cost = slices.costs()
    for name in names:
        before = kept(name)
        places, longest = before.get("marks") or slices.marks(known[name])
        keep(name, marks=[places, longest])
        print(f"{name}: {1e3 * longest:.2f} ms in a slice", file=sys.stderr, flush=True)
        runs, readings = [], [host.retention()]
        for _ in range(PARTS):
            runs += slices.times_of(places, known[name], DIVIDED // PARTS) if longest <= slices.LONGEST else []
            readings.append(host.retention())
        divided = slices.undisturbed(runs, cost) | {"longest": longest, "date": now()} if runs else None
        if not took_less(before, divided):
            keep(name, retention=best(readings), divided=divided)


def took_less(before, divided):
    return (divided and before.get("divided") and before.get("processor") == host.processor() and
            before["divided"]["cycles"] < divided["cycles"])


def best(readings):
    """Of each key the best; how sharply lines leave is what it is in the median."""
    def values(key):
        return [one.get(key, 0) for one in readings]
    return {key: int(statistics.median(values(key))) if "shape" in key else max(values(key))
            for one in readings for key in one}


def settings_of(machine, name):
    """What was calibrated, and how long the last cache kept lines while the program was measured."""
    return host.calibrated(machine) | kept(name).get("retention", {})


def validate(machine, name, command, regions=REGIONS):
    """`culprit validate --host`, on the machine with what was calibrated of this host."""
    print(name, file=sys.stderr, flush=True)
    settings = settings_of(machine, name)
    path = kept_path(name) + ".report"
    line = [run.CULPRIT, "validate", "--host", "--json", "--rerun", "--machine", machine, *options_of(settings),
            "--runs", str(RUNS), "--regions", str(regions), "--top", str(PROCEDURES), "-o", path, "--", *command]
    begin = time.time()
    with tempfile.TemporaryFile() as output:  # grep does less when that is /dev/null
        done = subprocess.run(line, stdin=subprocess.DEVNULL, stdout=output, cwd=run.ROOT,
                              stderr=subprocess.PIPE, text=True, env=host.ENVIRONMENT, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(line)}:\n{done.stderr}")
    with open(path) as content:
        report = json.load(content)
    os.remove(path)
    if regions == REGIONS and (report["interval"] or 0) > WIDE:
        validate(machine, name, command, MORE_REGIONS)
        return
    keep(name, machine=machine, settings=settings, report=report, regions=regions, took=time.time() - begin)


def options_of(settings):
    return [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]


def explain(machine, name, command, settings, path):
    """What `culprit explain` says of a program, with as many regions as it was measured with, into a file."""
    print(name, file=sys.stderr, flush=True)
    line = [run.CULPRIT, "explain", "--json", "--rerun", "--no-what-if", "--machine", machine, *options_of(settings),
            "--regions", str(kept(name).get("regions", REGIONS)), "-o", path, "--", *command]
    with tempfile.TemporaryFile() as output:
        subprocess.run(line, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.DEVNULL, cwd=run.ROOT,
                       env=host.ENVIRONMENT, check=True)
    with open(path) as content:
        return json.load(content)


def predict(machine, name, command):
    """Cycles by `culprit explain`, in place of those of the last `validate --host`. What it says by procedure
    stays."""
    settings, path = settings_of(machine, name), kept_path(name) + ".explained"
    explained = explain(machine, name, command, settings, path)
    os.remove(path)
    report = kept(name)["report"] | {key: explained[key] for key in ("cycles", "instructions")}
    keep(name, machine=machine, settings=settings, report=report)


def median_run(runs):
    """The run whose user cycles are the median. How much of its time is the user's the kernel tells by
    where ticks fall, a few hundred a second: of programs of a tenth of a second, with page faults,
    the least is the one whose ticks fell into the kernel."""
    return sorted(runs, key=lambda one: one["cycles"])[len(runs) // 2]


def share_of_user(runs):
    user = sum(one["user_seconds"] for one in runs)
    return user / (user + sum(one["system_seconds"] for one in runs))


def measured_run(data, runs):
    """What the prediction is compared with. On a processor that others disturb, where runs were divided:
    the divided run, or, if this one was not, the least. Of a command that has others do its work, only
    itself was divided. Elsewhere: the median."""
    middle, divided = median_run(runs), data.get("divided")
    if "divided" not in data:
        return middle
    if divided and divided["whole"][0] > 0.5 * middle["cycles"]:
        return middle | {"cycles": divided["cycles"], "divided": True}
    share = share_of_user(runs)
    least = min((one["user_seconds"] + one["system_seconds"]) * one["clock_ghz"] for one in runs)
    return middle | {"cycles": 1e9 * least * share}


def result_of(name):
    """What was measured and predicted; None: not both were."""
    data = kept(name)
    if "native" not in data or "report" not in data:
        return None
    report = data["report"]
    runs = data["native"] + report["runs"]
    middle = measured_run(data, runs)
    faults = data["kernel"]["fault"] * min(one["page_faults"] for one in report["runs"])
    for row in report["by_procedure"]["procedures"] if report["by_procedure"] else []:
        row["measured_cycles"] *= middle["cycles"] / report["measured"]["cycles"]
    return report | data | {"runs": runs, "measured": middle,
                            "faults": faults / middle["cycles"],
                            "counted": report["cycles"] / middle["cycles"] - 1,
                            "error": report["cycles"] / (middle["cycles"] - faults) - 1}


# ---- what comes of it ----

def summary(name, results):
    errors = [abs(result["error"]) for result in results]
    counted = [abs(result["counted"]) for result in results]
    ten = [rank for rank in map(correlation, results) if rank is not None]
    again = [rank for rank in map(correlation_of_halves, results) if rank is not None]
    large = [rank for rank in map(correlation_of_large, results) if rank is not None]
    return [name, len(results), page.percent(statistics.median(counted)),
            page.percent(statistics.median(errors)),
            page.percent(statistics.mean(errors)), page.percent(max(errors)),
            sum(error <= 0.1 for error in errors), sum(error <= 0.3 for error in errors),
            f"{statistics.median(ten):.2f}" if ten else None,
            f"{statistics.median(again):.2f}" if again else None,
            f"{statistics.median(large):.2f} ({len(large)})" if large else None]


def correlation(result):
    """None where there are too few procedures to say something of their order."""
    by = result["by_procedure"]
    return by["rank_correlation"] if by and by["ranked"] >= 4 else None


def correlation_of_halves(result):
    """Of the same procedures, the samples of half the runs with those of the others."""
    return None if correlation(result) is None else result["by_procedure"].get("rank_repeats")


def ranks(values):
    """Equal ones share their mean rank."""
    ordered = sorted(values)
    return [ordered.index(value) + (ordered.count(value) - 1) / 2 for value in values]


def correlation_of_large(result):
    """Of those of the ten that have a hundredth of the samples: a few samples put the others into any
    order. None where these are too few."""
    by = result["by_procedure"]
    rows = sorted(by["procedures"], key=lambda row: -row["samples"])[:10] if by else []
    rows = [row for row in rows if row["samples"] >= 0.01 * by["samples"]]
    if len(rows) < 4:
        return None
    return statistics.correlation(ranks([row["samples"] for row in rows]),
                                  ranks([row["predicted_cycles"] for row in rows]))


def millions(cycles):
    return f"{cycles / 1e6:.0f}"


def ipc(result):
    return result["instructions"] / result["cycles"]


def system(result):
    """System time as a share of user time."""
    return result["measured"]["system_seconds"] / result["measured"]["user_seconds"]


def spread(result):
    """By how much the median of the runs is above the least, in user and system time together."""
    cycles = [(one["user_seconds"] + one["system_seconds"]) * one["clock_ghz"]
              for one in result["runs"]]
    return statistics.median(cycles) / min(cycles) - 1


def of_slices(result):
    """How many a divided run has, and how much more it took by the second least time of each."""
    if "divided" not in result["measured"]:
        return [None, None]
    divided = result["divided"]
    return [divided["slices"], page.percent(divided["second"] / divided["cycles"] - 1)]


def error_of_least(result):
    """Against the run that took least user time, without what page faults take of it."""
    least = min(one["cycles"] for one in result["runs"])
    return abs(result["cycles"] / ((1 - result["faults"]) * least) - 1)


def by_program(results):
    rows = []
    for result in results:
        rank, large, name = correlation(result), correlation_of_large(result), result["name"]
        again = correlation_of_halves(result)
        rows.append([f"{name}{' (held out)' if held_out(name) else ''}",
                     millions(result["instructions"]), millions(result["measured"]["cycles"]),
                     page.percent(result["faults"]), millions(result["cycles"]),
                     page.percent(result["counted"]), page.percent(result["error"]),
                     page.percent(result["interval"]), None if rank is None else f"{rank:.2f}",
                     None if again is None else f"{again:.2f}",
                     None if large is None else f"{large:.2f}",
                     page.percent(spread(result)), page.percent(system(result), 0),
                     *of_slices(result)])
    return page.table(["program", "M instructions", "M cycles measured", "page faults in these, %",
                       "predicted", "error, as counted, %", "error, %", "± of the estimate, %",
                       "rank correlation", "of half the runs with the others", "of 1 % and more", "median run above least, %", "system / user, %",
                       "slices", "second least of each above the least, %"], rows)


def worst(results):
    """Of those that are not held out, and the procedures in which they differ."""
    rows = []
    results = [result for result in results if not held_out(result["name"])]
    for result in sorted(results, key=lambda r: -abs(r["error"]))[:10]:
        by = result["by_procedure"]["procedures"] if result["by_procedure"] else []
        shown = [f"`{row['procedure']}` {millions(row['measured_cycles'])} → "
                 f"{millions(row['predicted_cycles'])}" for row in by[:3]]
        rows.append([result["name"], page.percent(result["error"]), ", ".join(shown)])
    return page.table(["program", "error, %", "M cycles by procedure: measured → predicted"], rows)


def by_slices(divided, count):
    if not divided:
        return ""
    dates = sorted(result["divided"]["date"] for result in divided)
    return (f"{len(divided)} of the {count} programs are measured by slices, from {dates[0]} to {dates[-1]}: each run is divided by what it executes, "
            f"and the least time outside the kernel that each slice took in {DIVIDED} runs counts (lib/slices.py). The other {count - len(divided)} "
            "have no branch that divides them, or have other programs do their work: of these the least of all runs counts.\n\n")


def report(machine, results):
    learnt = [result for result in results if not held_out(result["name"])]
    apart = [result for result in results if held_out(result["name"])]
    groups = [("all", results), ("programs to learn from", learnt), ("programs held out", apart)]
    divided = [result for result in results if "divided" in result["measured"]]
    if divided:
        groups += [("measured by slices", divided),
                   ("held out of these", [result for result in divided if held_out(result["name"])]),
                   ("measured by whole runs", [result for result in results if result not in divided])]
    groups += [("predicted: up to 4 instructions a cycle", [r for r in results if ipc(r) <= 4]),
               ("predicted: more than 4", [r for r in results if ipc(r) > 4]),
               ("system time up to 5 % of user time", [r for r in results if system(r) <= 0.05]),
               ("more than 5 %", [r for r in results if system(r) > 0.05])]
    svg.figure(page.picture(f"host-programs-{machine}"), [svg.Scatter(
        "User cycles of programs, millions", "measured", "predicted",
        [(name, [((1 - r["faults"]) * r["measured"]["cycles"] / 1e6, r["cycles"] / 1e6)
                 for r in some])
         for name, some in groups[1:3]])])
    headings = ["", "programs", "median error as counted, %", "median error, %", "mean, %", "worst, %", "within 10 %",
                "within 30 %", "median rank correlation", "of half the runs with the others", "of 1 % and more (programs)"]
    dates = sorted(result["date"] for result in results)
    loads = [result["load"] for result in results]
    kernel, chase = results[0]["kernel"], results[0]["chase"]
    additions = [one["additions"] for result in results for one in result["native"]]
    beside = (f"One thread could do {statistics.median(additions):.1f} independent additions a cycle beside the median run, "
              f"{max(additions):.1f} beside the best: where it is fewer, another thread of the core was at work.")
    errors = [error_of_least(result) for result in results]
    least = (f"Against the least of each program's runs the median error is {100 * statistics.median(errors):.1f} %, "
             f"{sum(error <= 0.1 for error in errors)} are within 10 % and {sum(error <= 0.3 for error in errors)} within 30 %.")
    far = ", ".join(f"{size} MiB {cycles:.0f}" for size, cycles in chase.items())
    clock = statistics.median(result["measured"]["clock_ghz"] for result in results)
    page.write_part("host-programs", "experiments/host-programs.py", machine, f"""{results[0]["processor"]}, {clock:.2f} GHz as measured; culprit's machine `{machine}`; {len(results)} programs, measured from {dates[0]} to {dates[-1]} (UTC), beside a load of {min(loads):.1f} to {max(loads):.1f}. A dependent load of lines in random order took, in cycles and at best: {far}. With a page's first touch {kernel["fault"]} cycles of user time were counted, with a system call {kernel["call"]}. {beside}

{by_slices(divided, len(results))}{page.table(headings, [summary(name, some) for name, some in groups if some])}
{by_program(results)}
{least}

The ten that are furthest off, of programs that are not held out:

{worst(results)}
![User cycles measured and predicted](host-programs-{machine}.svg)
""")


def option(words, name):
    """Takes an option and its value out of the words; None: it is not there."""
    if name not in words:
        return None
    at = words.index(name)
    value = words[at + 1]
    del words[at:at + 2]
    return value


def main():
    words = sys.argv[1:]
    machine = option(words, "--machine") or host.default_machine()
    flags = {word for word in words if word.startswith("--")}
    known = all_programs()
    names = [word for word in words if word not in flags] or list(known)
    unknown = [name for name in names if name not in known]
    if unknown or flags - {"--again", "--native", "--divide", "--predict"}:
        sys.exit(f"{(unknown or list(flags))[0]} is none of the programs: {', '.join(known)}")
    os.makedirs(KEPT, exist_ok=True)
    for command in known.values():
        run.files_of(command)  # or says what is missing
    if "--divide" in flags:
        divide(names, known)
    elif "--predict" in flags:
        for name in names:
            predict(machine, name, known[name])
    elif "--again" not in flags:
        host.check_variants()
        measure(names, known)
        for name in [] if "--native" in flags else names:
            validate(machine, name, known[name])
    results = list(filter(None, map(result_of, known)))
    if results:
        report(results[0]["machine"], results)


if __name__ == "__main__":
    main()
