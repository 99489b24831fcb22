"""Whether compilers make programs faster by the profiles of culprit fdo, and whether these are right,
into docs/results/compiler-profiles.md. FOLDER holds the sources that `apt-get source bzip2 lua5.4`
unpacks; needs clang, llvm-bolt (bolt-19) and llvm-profgen (llvm-19). Takes five minutes.
    python3 -B experiments/compiler-profiles.py FOLDER"""
import collections
import glob
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile

from lib import host, page, run

ROUNDS = 21  # of native runs, each of every build in turn
LINES = ["-g1", "-fdebug-info-for-profiling"]
BOLT = ["-reorder-blocks=ext-tsp", "-reorder-functions=hfsort", "-split-functions", "-split-all-cold",
        "-dyno-stats"]


def sources(folder, name, leave_out=()):
    files = glob.glob(os.path.join(folder, name))
    return sorted(f for f in files if os.path.basename(f) not in leave_out)


def programs_of(folder, scratch):
    """Name, sources, flags, the run that is profiled, the one that is measured, one to simulate."""
    text, code = os.path.join(scratch, "text"), os.path.join(scratch, "code")
    tar = subprocess.run(["tar", "--sort=name", "-C", "/usr", "-cf", "-", "include"],
                         capture_output=True, check=True).stdout
    for path, content in ((text, tar[:8000000]), (text + ".short", tar[4000000:4400000]),
                          (code, open(run.CULPRIT, "rb").read()[:2000000])):
        with open(path, "wb") as file:
            file.write(content)
    # The table of a switch that gcc's extension makes of it is no table to llvm-bolt.
    lua = ["-DLUA_USE_POSIX", "-DLUA_USE_JUMPTABLE=0"]
    words = os.path.join(run.ROOT, "experiments", "lib", "words.lua")
    bzip2 = ["bzip2-1.0.8/" + f + ".c" for f in ("blocksort", "huffman", "crctable", "randtable",
                                                 "compress", "decompress", "bzlib", "bzip2")]
    return [("bzip2", [os.path.join(folder, f) for f in bzip2], ["-D_FILE_OFFSET_BITS=64"],
             ["-kc", code], ["-kc", text], ["-kc", text + ".short"]),
            ("lua", sources(folder, "lua-5.4*/src/*.c", ["luac.c"]), lua,
             [words, "8"], [words, "250", "104729"], [words, "6", "104729"])]


def call(*words, **options):
    done = subprocess.run(words, capture_output=True, text=True, errors="replace", **options)
    if done.returncode:
        sys.exit(f"{' '.join(words)}:\n{done.stderr}")
    return done.stdout


def newest(tool):
    found = [path for folder in os.environ["PATH"].split(":")
             for path in glob.glob(os.path.join(folder, tool + "-[0-9]*")) + [os.path.join(folder, tool)]
             if re.search(tool + r"(-\d+)?$", path) and os.path.exists(path)]
    if not found:
        sys.exit(f"{tool} is not installed")
    return max(found, key=lambda path: int((re.findall(r"-(\d+)$", path) or ["0"])[0]))


def profile(scratch, name, program, arguments, *options):
    path = os.path.join(scratch, name)
    call(run.CULPRIT, "fdo", "--repeatable", *options, "-o", path, "--", program, *arguments)
    return path


def told(program, arguments, *options):
    """What fdo says of a profile that is not kept."""
    line = [run.CULPRIT, "fdo", "--json", *options, "-o", os.devnull, "--", program, *arguments]
    return json.loads(subprocess.run(line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                     check=True).stderr)


class Builds:
    """Of one program: {name: path}."""

    def __init__(self, scratch, name, files, flags, training):
        self.scratch, self.name, self.files, self.flags = scratch, name, files, flags
        self.paths = {}
        plain = self.compile("plain", *LINES, "-Wl,-q")
        self.afdo = profile(scratch, name + ".afdo", plain, training)
        self.compile("profile of culprit", *LINES, f"-fprofile-sample-use={self.afdo}")
        self.counted(training)
        fdata = profile(scratch, name + ".fdata", plain, training, "--format", "bolt")
        bolted = os.path.join(scratch, name + ".bolted")
        self.bolt_said = call(newest("llvm-bolt"), plain, "-o", bolted, "-data=" + fdata, *BOLT)
        self.paths["bolt"] = bolted

    def compile(self, build, *more, level="-O2"):
        path = os.path.join(self.scratch, f"{self.name}.{build.split()[0]}.{len(self.paths)}")
        call("clang", level, *self.flags, *more, "-o", path, *self.files, "-lm")
        self.paths[build] = path
        return path

    def counted(self, training):
        """Built by what an instrumented build of it counts."""
        instrumented = self.compile("instrumented", "-fprofile-instr-generate")
        del self.paths["instrumented"]
        raw = os.path.join(self.scratch, self.name + ".raw")
        call(instrumented, *training, env={**run.ENVIRONMENT, "LLVM_PROFILE_FILE": raw})
        call("llvm-profdata", "merge", "-o", raw + ".prof", raw)
        self.compile("instrumented profile", f"-fprofile-instr-use={raw}.prof", "-Wno-profile-instr-unprofiled")


# ---- faster? ----

def rusage_seconds(path, arguments):
    process = subprocess.Popen([path, *arguments], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    return usage.ru_utime


def faster(builds, measured, simulated):
    times = collections.defaultdict(list)
    for _ in range(ROUNDS):
        for build, path in builds.paths.items():
            times[build].append(rusage_seconds(path, measured))
    reports = {build: run.report("sim", ["--top", "1"], [path, *simulated])
               for build, path in builds.paths.items()}
    before = reports["plain"]
    rows = []
    for build, path in builds.paths.items():
        ratios = [new / old for new, old in zip(times[build], times["plain"])]
        quarters = statistics.quantiles(ratios, n=4)
        report = reports[build]
        rows.append([f"{builds.name}, {build}", f"{statistics.median(times[build]):.2f}",
                     f"{statistics.median(ratios):.3f}", f"{quarters[0]:.3f} to {quarters[2]:.3f}",
                     f"{report['cycles'] / before['cycles']:.3f}",
                     f"{report['instructions'] / before['instructions']:.3f}"])
    return rows


# ---- right? ----

def samples(path):
    """{(function, line behind its declaration): times}, of the most in each place that it is inlined
    in, summed over these; and {(frames, line, discriminator): times}."""
    stack, places = [], {}
    for line in open(path):
        depth = len(line) - len(line.lstrip(" "))
        text = line.strip()
        if text.startswith("!"):
            continue
        top = re.fullmatch(r"(.+):(\d+):(\d+)", text)
        inlined = re.fullmatch(r"(\d+)(?:\.(\d+))?: ([^\d\s].*):(\d+)", text)
        body = re.fullmatch(r"(\d+)(?:\.(\d+))?: (\d+)(?: .*)?", text)
        if depth == 0 and top:
            stack = [(0, 0, top[1])]
        elif inlined:
            stack = stack[:depth] + [(inlined[1], inlined[2], inlined[3])]
        elif body:
            places[tuple(stack[:depth]), int(body[1]), body[2]] = int(body[3])
    lines, most = collections.Counter(), collections.Counter()
    for (frames, line, _), times in places.items():
        most[frames, line] = max(most[frames, line], times)
    for (frames, line), times in most.items():
        lines[frames[-1][2], line] += times
    return lines, places


def declarations(program):
    """{function: (file, line)} of its debugging information."""
    found, name = {}, None
    for line in call(newest("llvm-dwarfdump"), "--debug-info", program).splitlines():
        tag = re.search(r"DW_TAG_(\w+)", line)
        if tag:
            entry = {"tag": tag[1]}
        value = re.search(r"DW_AT_(name|decl_file|decl_line)\s+\((?:\"(.*)\"|(\d+))\)", line)
        if value and tag is None and entry["tag"] == "subprogram":
            entry[value[1]] = value[2] or value[3]
            if len(entry) == 4:
                found[entry["name"]] = os.path.basename(entry["decl_file"]), int(entry["decl_line"])
    return found


def covered(builds, training):
    """{(file, line): times} by clang's own counters."""
    program = os.path.join(builds.scratch, builds.name + ".covered")
    raw = program + ".raw"
    call("clang", "-O0", *builds.flags, "-fprofile-instr-generate", "-fcoverage-mapping", "-o", program,
         *builds.files, "-lm")
    call(program, *training, env={**run.ENVIRONMENT, "LLVM_PROFILE_FILE": raw})
    call("llvm-profdata", "merge", "-o", raw + ".prof", raw)
    counts, file = {}, None
    for line in call("llvm-cov", "export", "-format=lcov", f"-instr-profile={raw}.prof",
                     program).splitlines():
        if line.startswith("SF:"):
            file = os.path.basename(line[3:])
        elif line.startswith("DA:"):
            number, times = line[3:].split(",")[:2]
            counts[file, int(number)] = int(times)
    return counts


def compared(what, counts, reference):
    both = [(counts[place], reference[place]) for place in counts if place in reference]
    alike = sum(abs(a - b) <= 0.01 * max(a, b) for a, b in both)
    mean = [statistics.fmean(math.log1p(pair[side]) for pair in both) for side in (0, 1)]
    parts = [[math.log1p(pair[side]) - mean[side] for pair in both] for side in (0, 1)]
    r = (sum(a * b for a, b in zip(*parts))
         / math.sqrt(sum(a * a for a in parts[0]) * sum(b * b for b in parts[1])))
    overlap = sum(min(pair) for pair in both) / sum(max(pair) for pair in both)
    return [what, f"{len(both):,}", page.percent(alike / len(both)), f"{r:.4f}", page.percent(overlap)]


def by_line(path, program):
    declared, found = declarations(program), collections.Counter()
    for (function, line), times in samples(path)[0].items():
        if function in declared:
            file, first = declared[function]
            found[file, first + line] += times
    return found


def right(builds, training):
    reference = covered(builds, training)
    simple = builds.compile("simple", "-g", *LINES, level="-O0")
    of_lines = builds.compile("lines", "-g", *LINES)
    del builds.paths["simple"], builds.paths["lines"]
    rows = []
    for level, program in (("-O0", simple), ("-O2", of_lines)):
        path = profile(builds.scratch, f"{builds.name}{level}.afdo", program, training)
        rows.append(compared(f"{builds.name} {level}", by_line(path, program), reference))
    return rows


def same_as_profgen(builds, training):
    """What llvm-profgen makes of the same ranges and branches."""
    program = builds.paths["plain"]
    ranges = profile(builds.scratch, builds.name + ".ranges", program, training, "--format", "ranges")
    lines = open(ranges).read().splitlines()
    count = int(lines[0])
    del lines[1 + count]  # how many addresses: its format has none
    with open(ranges + ".unsymbolized", "w") as file:
        file.write("\n".join(lines) + "\n")
    other = ranges + ".profgen"
    call(newest("llvm-profgen"), "--use-offset=0", "--format=text", "-o", other,
         f"--unsymbolized-profile={ranges}.unsymbolized", f"--binary={program}")
    ours, theirs = samples(builds.afdo)[1], samples(other)[1]
    both = [{place: times for place, times in of.items() if place[1] < 32768}  # others: line 0
            for of in (ours, theirs)]
    same = sum(both[1].get(place) == times for place, times in both[0].items())
    return [builds.name, f"{len(both[0]):,}", f"{len(both[1]):,}", f"{same:,}"]


# ---- what llvm-bolt says, and what it takes ----

def bolt_row(builds, training):
    said = builds.bolt_said
    ran = re.findall(r"(\d+) : executed instructions", said)[0]
    taken = [int(n) for n in re.findall(r"(\d+) : taken branches", said)]
    profiled = re.search(r"(\d+) out of (\d+) functions in the binary", said)
    counted = told(builds.paths["plain"], training, "--format", "bolt")
    return [builds.name, profiled[1], f"{int(ran) / 1e6:,.1f}", f"{counted['instructions'] / 1e6:,.1f}",
            f"{taken[0] / 1e6:,.1f}", f"{taken[1] / 1e6:,.1f}"]


def speed_row(builds, measured):
    trace = os.path.join(builds.scratch, builds.name + ".ctrace")
    call(run.CULPRIT, "trace", "--no-addresses", "-o", trace, "--", builds.paths["plain"], *measured)
    out = os.path.join(builds.scratch, "speed")

    def best(*words):
        taken = []
        for _ in range(3):
            process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            usage = os.wait4(process.pid, 0)[2]
            taken.append(usage.ru_utime + usage.ru_stime)
        return min(taken)
    native = best(builds.paths["plain"], *measured)
    live = best(run.CULPRIT, "fdo", "-o", out, "--", builds.paths["plain"], *measured)
    counted = best(run.CULPRIT, "fdo", "-o", out, trace)
    read = best(run.CULPRIT, "bbv", "-o", out + ".bb", trace)
    millions = told(builds.paths["plain"], measured)["all_instructions"] / 1e6
    return [builds.name, f"{millions:,.0f}", f"{native:.2f}", f"{live:.2f}",
            f"{counted:.2f}", f"{millions / counted:,.0f}", f"{read:.2f}"]


def main(folder):
    tables = collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as scratch:
        for name, files, flags, training, measured, simulated in programs_of(folder, scratch):
            builds = Builds(scratch, name, files, flags, training)
            tables["faster"] += faster(builds, measured, simulated)
            tables["right"] += right(builds, training)
            tables["profgen"].append(same_as_profgen(builds, training))
            tables["bolt"].append(bolt_row(builds, training))
            tables["speed"].append(speed_row(builds, training))
    page.write("compiler-profiles", "experiments/compiler-profiles.py", "\n".join([
        f"Natively on {host.processor()}.\n",
        page.table(["build", "seconds", "time / plain", "middle half", "simulated cycles / plain",
                    "instructions / plain"], tables["faster"]),
        page.table(["lines of", "lines", "alike %", "correlation of logs", "overlap %"],
                   tables["right"]),
        page.table(["program", "places, culprit", "places, llvm-profgen", "the same"],
                   tables["profgen"]),
        page.table(["program", "functions profiled", "M instructions, llvm-bolt", "M counted",
                    "M branches taken before", "after"], tables["bolt"]),
        "Processor time, the least of three runs:\n",
        page.table(["program", "M instructions", "native s", "fdo, live s", "fdo of a trace s",
                    "M instructions/s", "bbv of the trace s"], tables["speed"])]))


if len(sys.argv) != 2:
    sys.exit("usage: experiments/compiler-profiles.py FOLDER, where apt-get source bzip2 lua5.4 unpacked")
main(os.path.abspath(sys.argv[1]))
