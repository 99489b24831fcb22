#!/usr/bin/env python3
"""Call stacks: how many are whole, whether perf finds the same callers, and what they cost.

    stacks.py [PROGRAM ... | --programs | --cost]

PROGRAM: only these, nothing written. --programs, --cost: only the first section of the page, or the one on what a sample costs; the other stays. Needs perf; what else is missing (node, rustc, java) is left out and told. Writes
docs/results/stacks.md, when all are run."""
import collections
import functools
import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

from lib import page, programs, run

SCRIPT = "experiments/stacks.py"
RATE, STACK, HOTTEST, COST_ROUNDS, TRIES = 997, 32768, 10, 7, 8
DEPTHS, SPIN_SECONDS, LOOP_TURNS = (5, 40), (0.3, 1.5), 30000000
ENVIRONMENT = dict(run.ENVIRONMENT, HOME="/tmp")
CHAIN = """
#include <time.h>
#define APART __attribute__((noinline, noclone))
static volatile unsigned long spins, done;
static APART void spin(unsigned times) { for (unsigned i = 0; i < times; i++) spins++; }
static APART void turn(unsigned times) { for (unsigned i = 0; i < times; i++) spins += 3; }
static APART void leaf(int odd) { if (odd) turn(300000); else spin(1000000); done++; }
static APART void middle(int i) { leaf(i & 1); if (i % 3 == 0) turn(100000); done++; }
static APART void outer(int i) { middle(i); if (i % 5 == 0) spin(300000); done++; }
int main(void) {
    clock_t end = clock() + 2 * CLOCKS_PER_SEC;
    for (int i = 0; clock() < end; i++) outer(i);
}
"""
CPP = """
#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>
static int deep(int n, int x) {
    if (!n) throw std::runtime_error(std::to_string(x));
    try { return deep(n - 1, x) + 1; } catch (const std::logic_error &) { return 0; }
}
int main() {
    int c = 0;
    for (int i = 0; i < 6000; i++) try { deep(i % 20, i); } catch (std::exception &e) { c += e.what()[0]; }
    std::map<std::string, int> m;
    for (unsigned i = 0; i < 600000; i++) m[std::to_string(i * 7919u % 30011)]++;
    std::vector<unsigned> v;
    for (unsigned i = 0; i < 4000000; i++) v.push_back(i * 7919u % 1000003);
    std::sort(v.begin(), v.end());
    return c + m.size() + v[7] == 1;
}
"""
GO = """package main
import ("fmt"; "sort"; "strings"; "sync")
type T struct { k string; v int }
func work(n int) int {
	m := map[string]int{}
	for i := 0; i < n; i++ { k := fmt.Sprintf("k%d", i*7919%10007); m[k] += len(k) }
	ks := []T{}
	for k, v := range m { ks = append(ks, T{k, v}) }
	sort.Slice(ks, func(a, b int) bool { return ks[a].k < ks[b].k })
	var sb strings.Builder
	for _, t := range ks { sb.WriteString(t.k) }
	return sb.Len()
}
func main() {
	var wg sync.WaitGroup
	for j := 0; j < 4; j++ { wg.Add(1); go func() { defer wg.Done(); for i := 0; i < 15; i++ { work(60000) } }() }
	wg.Wait()
}
"""
RUST = """use std::collections::HashMap;
fn fib(n: u64) -> u64 { if n < 2 { n } else { fib(n - 1) + fib(n - 2) } }
fn main() {
    let mut m: HashMap<String, u64> = HashMap::new();
    for i in 0..4000000u64 { *m.entry(format!("k{}", i * 7919 % 10007)).or_insert(0) += i; }
    let mut v: Vec<_> = m.into_iter().collect();
    v.sort();
    println!("{} {}", v.len(), fib(38));
}
"""
NODE = """function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2) }
const m = new Map(); for (let i = 0; i < 4e6; i++) { const k = 'k' + i * 7919 % 10007; m.set(k, (m.get(k) || 0) + 1) }
const a = [...m.keys()].sort(), o = JSON.stringify(a); for (let i = 0; i < 300; i++) JSON.parse(o);
console.log(a.length, fib(36))
"""
JAVA = """public class Work { public static void main(String[] a) {
    java.util.HashMap<String, Integer> m = new java.util.HashMap<>();
    for (int i = 0; i < 6000000; i++) m.merge("k" + Math.floorMod(i * 7919, 10007), 1, Integer::sum);
    System.out.println(m.size()); } }
"""
PYTHON = """import json, re, collections
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
c = collections.Counter('k%d' % (i * 7919 % 10007) for i in range(1500000))
s = json.dumps(c); [json.loads(s) for _ in range(120)]
print(len(re.sub(r'k(\\d)', r'\\1', s)), fib(27), sorted(c)[:2])
"""


def built(folder, name, source, *command):
    path = os.path.join(folder, name)
    with open(path + "." + source[0], "w") as file:
        file.write(source[1])
    words = [path if word == "OUT" else path + "." + source[0] if word == "IN" else word
             for word in command]
    subprocess.run(words, check=True, env=dict(os.environ, GOFLAGS="-mod=mod"), cwd=folder,
                   capture_output=True)
    return path


def all_programs(folder):
    """Name, kind, command; None as command: what it needs is missing."""
    c = ("c", CHAIN)
    cc = ("gcc", "-O2", "-o", "OUT", "IN")
    text = programs.written("text", programs.text)
    source = programs.written("source.c", programs.c_source)
    found = [
        ("c", "C, by unwind tables", [built(folder, "c", c, *cc, "-fomit-frame-pointer")]),
        ("c-frame-pointers", "C without tables, by frame pointers",
         [built(folder, "c-fp", c, *cc, "-fno-omit-frame-pointer", "-fno-asynchronous-unwind-tables")]),
        ("c-static", "C, static", [built(folder, "c-static", c, *cc, "-static")]),
        ("c-stripped", "C, stripped", [built(folder, "c-stripped", c, *cc, "-s")]),
        ("c++", "C++ with exceptions", [built(folder, "cpp", ("cc", CPP), "g++", "-O2", "-o", "OUT", "IN")]),
    ]
    go = ("go", GO)
    for name, flags in (("go", ""), ("go-stripped", "-s -w")):
        found.append((name, name.replace("-", ", ").capitalize(),
                      [built(folder, name, go, "go", "build", "-ldflags", flags, "-o", "OUT", "IN")]
                      if shutil.which("go") else None))
    found.append(("rust", "Rust", [built(folder, "rust", ("rs", RUST), "rustc", "-O", "-o", "OUT", "IN")]
                  if shutil.which("rustc") else None))
    for name, kind, needs, text_of, command in (
            ("node", "Node, JIT code", "node", NODE, ["node"]),
            ("node-perf-map", "Node with a perf map", "node", NODE, ["node", "--perf-basic-prof"]),
            ("java", "Java", "java", JAVA, ["java"]),
            ("python3", "Python's interpreter", "python3", PYTHON, ["/usr/bin/python3"])):
        path = os.path.join(folder, "Work.java" if name == "java" else name + ".txt")
        with open(path, "w") as file:
            file.write(text_of)
        found.append((name, kind, [*command, path] if shutil.which(needs) else None))
    big = os.path.join(folder, "big")
    with open(big, "wb") as file:
        file.write(open(run.CULPRIT, "rb").read() * 3)
    found += [
        ("perl", "Perl", ["perl", "-e", "for ($i = 0; $i < 2e7; $i++) { $s += $i % 7 }"]),
        ("sqlite3", "stripped, a library", ["sqlite3", ":memory:", "with recursive c(x) as (select 1 union all "
                     "select x + 1 from c where x < 6000000) select sum(x * x % 7) from c"]),
        ("gzip", "stripped", ["gzip", "-9", "-c", big]),
        ("xz", "stripped, threads", ["xz", "-3", "-c", "-T", "2", big]),
        ("bzip2", "stripped, a library", ["bzip2", "-c", big]),
        ("gcc", "a driver and its children", ["sh", "-c", f"for i in 1 2 3; do gcc -O2 -c -o /dev/null {source}; done"]),
        ("mawk", "interpreter", ["mawk", "{ for (i = 0; i < 40; i++) s += $1 * i } END { print s }", text]),
        ("dash", "interpreter", ["dash", "-c", "i=0; while [ $i -lt 1500000 ]; do i=$((i+1)); done"]),
        ("dd", "mostly in the kernel", ["dd", "if=/dev/zero", "of=/dev/null", "bs=512", "count=3000000"]),
        ("find", "mostly in the kernel", ["sh", "-c", "for i in 1 2 3 4; do find /usr -name nonesuch; done"]),
        ("pipelines", "processes and pipes",
         ["sh", "-c", f"for i in 1 2 3 4 5 6 7 8; do cat {text} {text} | tr 0-9 a-j | sort | uniq -c | wc; done"]),
    ]
    return found


# ---- stacks as perf script prints them

FRAME = re.compile(r"^\s+([0-9a-f]+) (.*?)(?:\+0x[0-9a-f]+)? \((.*)\)$")


@functools.cache
def addresses(path):
    """Of a file: the address of each name, for names of one address are one function."""
    said = subprocess.run(["readelf", "-Ws", path], capture_output=True, text=True,
                          errors="replace").stdout if path.startswith("/") and os.path.isfile(path) else ""
    table = {}
    for line in said.splitlines():
        words = line.split()
        if len(words) >= 8 and words[3] in ("FUNC", "IFUNC", "NOTYPE") and words[6] != "UND":
            table[words[7].split("@")[0]] = words[1]
    return table


def plain(symbol):
    """Without parameters and return type, which perf leaves out of some."""
    if ".(" in symbol:  # Go's methods
        return symbol
    depth, begin = 0, 0
    for at, letter in enumerate(symbol):
        if letter == "(" and not depth and at > begin:
            return symbol[begin:at]
        depth += (letter in "<([{") - (letter in ">)]}")
        if letter == " " and not depth and not symbol[begin:at].endswith("operator"):
            begin = at + 1
    return symbol[begin:]


@functools.cache
def is_source(path):
    if not os.path.isfile(path):
        return path.startswith("<") or path.endswith(".py")
    with open(path, "rb") as file:
        return file.read(4) != b"\x7fELF"


def function(symbol, path):
    if path.startswith("[jit]") or re.search(r"perf-\d+\.map$", path):
        return "[jit]", plain(symbol)
    # culprit has Python's functions where perf has the loop that runs them.
    if symbol == "_PyEval_EvalFrameDefault" or is_source(path):
        return "[python]", "loop"
    symbol = plain(symbol)
    base = "[kernel]" if path.startswith("[kernel") or path.startswith("[guest") else os.path.basename(path)
    return base, addresses(path).get(symbol, symbol)


def stacks(lines):
    """Of each stack the functions, the innermost first, and its weight in samples."""
    frames, weight = [], 0
    for line in lines:
        match = FRAME.match(line)
        if match:
            place = function(match[2], match[3])
            if not frames or frames[-1] != place:
                frames.append(place)
        elif not line.strip():
            if frames:
                yield frames, weight
            frames = []
        elif not line.startswith("#"):
            numbers = re.search(r": +(\d+) ", line)
            weight = int(numbers[1]) if numbers else 1


def callers(all_stacks):
    """Of each function how much was sampled in it, and by which caller."""
    found = collections.defaultdict(collections.Counter)
    for frames, weight in all_stacks:
        found[frames[0]][frames[1] if len(frames) > 1 else None] += weight
    return found


def agreement(ours, theirs):
    """Of the hottest functions: the share of samples in them that has the same caller in both, as far
    as the other has samples in the function too; how many were compared."""
    hottest = sorted(ours, key=lambda name: -sum(ours[name].values()))[:HOTTEST]
    total = sum(sum(counts.values()) for counts in ours.values())
    same = weight = compared = 0
    if sum(counts[None] for counts in theirs.values()) > \
            0.5 * sum(sum(counts.values()) for counts in theirs.values()):
        return None, "perf finds no callers"
    for name in hottest:
        mine, other = ours[name], theirs.get(name)
        share = sum(mine.values()) / total
        if not other or share < 0.01 or sum(other.values()) == 0:
            continue
        overlap = sum(min(mine[caller] / sum(mine.values()), other[caller] / sum(other.values()))
                      for caller in mine)
        same += share * overlap
        weight += share
        compared += 1
    return (same / weight if weight else None), compared


def by_culprit(command, scratch):
    store = os.path.join(scratch, "store.db")
    report = os.path.join(scratch, "report.json")
    script = os.path.join(scratch, "script")
    for path in (store, store + "-wal", store + "-shm"):
        if os.path.exists(path):
            os.remove(path)
    subprocess.run([run.CULPRIT, "record", "--stacks", "--rate", str(RATE), "--store", store, "--json",
                    "--output", report, "--", *command], env=ENVIRONMENT, cwd=scratch,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    subprocess.run([run.CULPRIT, "epochs", "export", "--store", store, "--format", "perf-script", script],
                   check=True, env=ENVIRONMENT, stdout=subprocess.DEVNULL)
    with open(report) as file, open(script, errors="replace") as lines:
        return json.load(file), callers(stacks(lines))


def by_perf(command, scratch):
    data = os.path.join(scratch, "perf.data")
    for _ in range(TRIES):  # perf aborts now and then beside others who sample
        done = subprocess.run(["perf", "record", "-q", "-N", "-e", "cpu-clock", "-F", str(RATE), "--call-graph",
                               f"dwarf,{STACK}", "-o", data, "--", *command], env=ENVIRONMENT, cwd=scratch,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if done.returncode >= 0 and done.returncode != 134:
            break
    said = subprocess.run(["perf", "script", "--no-inline", "-i", data, "-F", "comm,pid,time,period,event,ip,sym,dso"],
                          capture_output=True, text=True, errors="replace", env=ENVIRONMENT).stdout
    return callers(stacks(said.splitlines()))


def measure(programs_found, scratch):
    rows, shares, agreements, against = [], [], [], []
    for name, kind, command in programs_found:
        if not command:
            rows.append([name, kind, "not here", "", "", "", "", "", ""])
            continue
        report, ours = by_culprit(command, scratch)
        theirs = by_perf(command, scratch)
        ends, samples = report["stacks"], report["samples"]
        same, compared = agreement(ours, theirs)
        twice, _ = agreement(ours, by_culprit(command, scratch)[1])
        shares.append(ends["whole"] / samples)
        if same is not None:
            agreements.append(same)
            against.append(twice)
        rows.append([name, kind, samples, page.percent(report["kernel_samples"] / samples, 0),
                     page.percent(shares[-1]), f"{ends['truncated']}, {ends['failed']}",
                     page.percent(same, 0), page.percent(twice, 0), compared])
        print(*rows[-1], sep="\t", flush=True)
    return rows, shares, agreements, against


# ---- cost

RUN_RATE = 4999
# Spins on the time stamp counter, so many calls deep, for so much of its own processor time; says how
# long it was interrupted, in the median, and what it took.
SPIN = """
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <x86intrin.h>
enum { LEAST_NS = 1000, MOST = 1 << 20, TURNS = 1 << 18 };
static uint64_t gaps[MOST];
static size_t count;
static uint64_t now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec * 1000000000ull + time.tv_nsec;
}
static double ticks_per_ns(void) {
    const uint64_t ticks = __rdtsc(), start = now(CLOCK_MONOTONIC);
    while (now(CLOCK_MONOTONIC) - start < 20000000) {}
    return (double)(__rdtsc() - ticks) / (now(CLOCK_MONOTONIC) - start);
}
__attribute__((noinline)) static int spin(double seconds) {
    const uint64_t least = LEAST_NS * ticks_per_ns();
    while (now(CLOCK_PROCESS_CPUTIME_ID) < seconds * 1e9) {
        uint64_t last = __rdtsc();
        for (int i = 0; i < TURNS; i++) {
            const uint64_t time = __rdtsc();
            if (time - last > least && count < MOST)
                gaps[count++] = time - last;
            last = time;
        }
    }
    return 0;
}
__attribute__((noinline)) static int deep(int levels, double seconds) {
    volatile char room[64];
    room[0] = 0;
    return levels ? deep(levels - 1, seconds) + room[0] : spin(seconds) + room[0];
}
static int ascending(const void *one, const void *other) {
    const uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
    return (a > b) - (a < b);
}
int main(int argc, char **argv) {
    deep(atoi(argv[1]), atof(argv[2]));
    qsort(gaps, count, sizeof *gaps, ascending);
    printf("%.3f %.6f\\n", count ? gaps[count / 2] / ticks_per_ns() / 1000 : 0, now(CLOCK_PROCESS_CPUTIME_ID) / 1e9);
}
"""


def processor_time(command):
    """Of it and its children, in seconds, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    said = subprocess.run(command, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, said


def ways(scratch):
    record = [run.CULPRIT, "record", "--store", os.path.join(scratch, "cost.db"), "--rate", str(RUN_RATE)]
    perf = ["perf", "record", "-q", "-N", "-e", "cpu-clock", "-F", str(RUN_RATE), "-o", os.path.join(scratch, "cost.data")]
    return {"perf record": [*perf, "--"],
            "perf record -g": [*perf, "-g", "--"],
            "culprit record --stacks": [*record, "--stacks", "--"],
            "perf record --call-graph dwarf": [*perf, "--call-graph", f"dwarf,{STACK}", "--"]}


def spread(values, digits=1):
    """The median, and the middle half."""
    values = sorted(values)
    quarter = len(values) // 4
    return (f"{statistics.median(values):.{digits}f}",
            f"{values[quarter]:.{digits}f} to {values[-1 - quarter]:.{digits}f}")


def cost_of_samples(scratch):
    """In the interrupt, and afterwards."""
    spin = built(scratch, "spin", ("c", SPIN), "gcc", "-O2", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls",
                 "-o", "OUT", "IN")
    short, long = SPIN_SECONDS
    gap, own = collections.defaultdict(list), collections.defaultdict(list)
    for _ in range(COST_ROUNDS):
        for levels in DEPTHS:
            for way, before in ways(scratch).items():
                tool = []
                for seconds in SPIN_SECONDS:
                    taken, said = processor_time([*before, spin, str(levels), str(seconds)])
                    median, itself = map(float, said.split())
                    tool.append((taken - itself, itself))
                gap[way, levels].append(median)
                own[way, levels].append(1e6 * (tool[1][0] - tool[0][0]) / (RUN_RATE * (tool[1][1] - tool[0][1])))
    rows = []
    for levels in DEPTHS:
        for way in ways(scratch):
            more = [a - b for a, b in zip(gap[way, levels], gap["perf record", levels])]
            both = [a + b for a, b in zip(more, own[way, levels])]
            rows.append([f"{way}, {levels} calls deep", spread(gap[way, levels])[0], *spread(more), *spread(own[way, levels]),
                         *spread(both)])
    return (f"A sample in a loop in C with frame pointers, so many calls below `main`, at {RUN_RATE} Hz, beside a load of {os.getloadavg()[0]:.1f}; medians of "
            f"{COST_ROUNDS} rounds, each with all ways in turns, and their middle half. *Interrupt*: how long the loop stands still, as it sees by the time stamp counter; "
            "*more*: than beside `perf record` without callers. *Afterwards*: the processor time of the tool alone, "
            f"the slope from {short} to {long} s of the loop. *Together*: both; all in µs.\n\n" +
            page.table(["how", "interrupt", "more", "half of them", "afterwards", "half of them", "together", "half of them"], rows))


def cost_of_runs(scratch):
    """Of a loop in Python, of the processor time of everything, against the same right before."""
    work = ["/usr/bin/python3", "-c", f"print(sum(i * i for i in range({LOOP_TURNS})))"]
    more, once, bare = collections.defaultdict(list), collections.defaultdict(list), []
    for _ in range(COST_ROUNDS):
        for way, before in ways(scratch).items():
            bare.append(processor_time(work)[0])
            more[way].append(100 * (processor_time([*before, *work])[0] / bare[-1] - 1))
            once[way].append(1e3 * processor_time([*before, "true"])[0])
    rows = [[way, *spread(more[way]), spread(once[way], 0)[0]] for way in ways(scratch)]
    return (f"A whole run, of a loop in Python of {statistics.median(bare):.1f} s, likewise: the processor time of everything, in percent more than what the loop takes "
            "right before by itself; and what `true` takes, which is what is paid once.\n\n" +
            page.table(["how", "more, %", "half of them", "`true`, ms"], rows))


COST = "## Cost\n"


def sections():
    """What the page has: on the programs, on cost."""
    with open(os.path.join(page.RESULTS, "stacks.md")) as file:
        first, _, cost_of = file.read().partition(COST)
    return first, cost_of


def write_sections(first, cost_of):
    with open(os.path.join(page.RESULTS, "stacks.md"), "w") as file:
        file.write(first.rstrip("\n") + "\n\n" + COST + cost_of)


def write_programs(chosen, scratch):
    rows, shares, agreements, against = measure(chosen, scratch)
    _, cost_of = sections()
    page.write("stacks", SCRIPT, f"""{len(shares)} programs, {RATE} samples a second; of a stack that is copied {STACK // 1024} KiB. \
{sum(share >= 0.98 for share in shares)} have at least 98 % of their stacks whole; the median is \
{page.percent(statistics.median(shares))} %, the least {page.percent(min(shares))} %. perf finds the same callers for \
{page.percent(statistics.median(agreements), 0)} % of the samples in the ten hottest functions in the median, and \
{page.percent(min(agreements), 0)} % at least; \
two runs of culprit agree for {page.percent(statistics.median(against), 0)} % and {page.percent(min(against), 0)} %.

""" + page.table(["program", "what it is", "samples", "kernel, %", "whole, %", "truncated, failed",
                  "callers as perf has them, %", "as a second run of culprit, %", "functions compared"], rows) + """
""")
    write_sections(sections()[0], cost_of)


def write_cost(scratch):
    first, _ = sections()
    write_sections(first, "\n" + cost_of_samples(scratch) + "\n" + cost_of_runs(scratch))


def main(only):
    if not shutil.which("perf"):
        sys.exit("perf is not installed: make deps")
    with tempfile.TemporaryDirectory() as scratch:
        if only != ["--cost"]:
            chosen = [row for row in all_programs(scratch) if not only or only == ["--programs"] or row[0] in only]
            if only and only != ["--programs"]:
                measure(chosen, scratch)
                return
            write_programs(chosen, scratch)
        if only != ["--programs"]:
            write_cost(scratch)


if __name__ == "__main__":
    main(sys.argv[1:])
