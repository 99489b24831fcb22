#!/usr/bin/env python3
"""Data objects of simulations: how much of the cycles of misses has one, and what it costs.

    data-objects.py [--programs | --cost | --capture]

One of these: only that section of the page is made anew. Programs whose compiler is missing are left
out. Writes docs/results/data-objects.md."""
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys

from lib import page, run

SCRIPT = "experiments/data-objects.py"
MACHINE, LIMIT, ROUNDS = "zen4", "20M", 5
ENVIRONMENT = dict(run.ENVIRONMENT, PERL_HASH_SEED="0", PERL_PERTURB_KEYS="0", PYTHONHASHSEED="0", LC_ALL="C",
                   PATH="/usr/bin:" + os.environ["PATH"])
CPP = """#include <map>
#include <string>
int main() {
    std::map<std::string, int> count;
    for (unsigned i = 0; i < 20000; i++) count[std::to_string(i * 2654435761u % 10007)]++;
    return count.size() == 1;
}"""
RUST = """use std::collections::HashMap;
fn main() {
    let mut count: HashMap<u64, Box<u64>> = HashMap::new();
    for i in 0..20000u64 { **count.entry(i * 2654435761 % 10007).or_insert(Box::new(0)) += 1; }
    println!("{}", count.len());
}"""
GO = """package main
type node struct { next *node; value int }
func main() {
    var list *node
    for i := 0; i < 50000; i++ { list = &node{list, i} }
    sum := 0
    for round := 0; round < 10; round++ { for at := list; at != nil; at = at.next { sum += at.value } }
    println(sum)
}"""
SQL = ("create table t(a integer primary key, b text, c integer); with recursive n(i) as (select 1 union all select "
       "i + 1 from n where i < 4000) insert into t select i, 'name' || (i * 7919 % 2003), i * 31 % 1009 from n; "
       "create index ib on t(b); select count(*) from t x join t y on x.b = y.b;")
PYTHON = "d = {}\nfor i in range(20000): d[str(i * 7919 % 5003)] = d.get(str(i), 0) + i\nprint(len(d))"
PERL = 'my %h; for my $i (1 .. 20000) { $h{$i * 7919 % 5003} .= "x"; } print scalar(keys %h);'
JQ = "[range(1500) | {a: ., b: (. * 7 % 101)}] | group_by(.b) | map(length) | add"
# Name, command, source and how it is built.
PROGRAMS = [("sqlite3", ["sqlite3", ":memory:", SQL]), ("python3", ["python3", "-S", "-c", PYTHON]),
            ("perl", ["perl", "-e", PERL]), ("jq", ["jq", "-n", JQ]),
            ("C++: std::map of strings", ["./cpp"], "cpp.cc", CPP, ["g++", "-O2", "-g", "-o", "cpp"]),
            ("Rust: HashMap of boxes", ["./rust"], "rust.rs", RUST, ["rustc", "-O", "-g", "-o", "rust"]),
            ("Go: a list", ["./go"], "go.go", GO, ["go", "build", "-o", "go"]),
            ("C++, statically linked", ["./cpp-static"], "cpp.cc", CPP, ["g++", "-O2", "-g", "-static", "-o", "cpp-static"]),
            ("node", ["node", "-e", "let m = {}; for (let i = 0; i < 20000; i++) m['k' + i * 7919 % 5003] = i"]),
            ("gzip", ["gzip", "-9", "-c", "cpp.cc"]), ("git", ["git", "--version"])]


def build(program, scratch):
    """Whether it can be run."""
    name, command, *rest = program
    if not rest:
        return shutil.which(command[0])
    source, text, compiler = rest
    open(os.path.join(scratch, source), "w").write(text)
    return shutil.which(compiler[0]) and subprocess.run(
        [*compiler, source], cwd=scratch, stderr=subprocess.DEVNULL,
        env=dict(os.environ, GOCACHE=os.path.join(scratch, "cache"))).returncode == 0


def simulate(command, scratch):
    report = os.path.join(scratch, "report.json")
    subprocess.run([run.CULPRIT, "sim", "--machine", MACHINE, "--limit", LIMIT, "--stop", "--by", "object", "--top", "0",
                    "--json", "-o", report, "--", *command], cwd=scratch, env=ENVIRONMENT, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=False)
    return json.load(open(report))


def programs(scratch):
    rows, least = [], 1
    for program in PROGRAMS:
        if not build(program, scratch):
            continue
        report = simulate(program[1], scratch)
        data = report["data"]
        share = lambda kinds: sum(row["units"] for row in data["objects"] if row["kind"] in kinds) / data["units"]
        allocator = sum(row["units"] for row in data["objects"] if row["kind"] == "heap" and not row["allocated"])
        known = 1 - data["unknown_units"] / data["units"]
        first = next(row for row in data["objects"] if row["kind"] != "code")
        rows.append([program[0], f"{report['instructions'] / 1e6:.1f}", page.percent(data["units"] / report["units"]),
                     page.percent(known), page.percent(share(("heap",)) - allocator / data["units"]),
                     page.percent(allocator / data["units"]), page.percent(share(("mapping", "file"))),
                     page.percent(share(("variable", "section"))), page.percent(share(("frame",))),
                     page.percent(share(("code",))), f"{first['kind']} `{first['name'][:60]}`"])
        least = min(least, known)
        print(*rows[-1], file=sys.stderr)
    return (f"The first {LIMIT} instructions of {len(rows)} programs, or all. At least {100 * least:.1f} % of the cycles of misses "
            "have an object.\n\n" +
            page.table(["program", "million instructions", "misses, % of cycles", "with an object, %", "heap blocks",
                        "allocator's", "mappings, files", "variables, sections", "frames", "code", "first of data"], rows))


# ---- cost ----

def seconds(command, scratch):
    """Processor time, the emulator's included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([run.CULPRIT, *command], cwd=scratch, env=ENVIRONMENT, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime


def compared(ways, scratch):
    """What each way takes more than the first, %: medians of pairs."""
    more = [[] for _ in ways[1:]]
    for turn in range(ROUNDS):
        order = range(len(ways)) if turn % 2 else range(len(ways) - 1, -1, -1)
        took = {number: seconds(ways[number], scratch) for number in order}
        for number, pairs in enumerate(more, 1):
            pairs.append(100 * (took[number] / took[0] - 1))
    return [f"{statistics.median(pairs):+.0f} ({min(pairs):+.0f} to {max(pairs):+.0f})" for pairs in more]


def cost(scratch):
    rows = []
    for name, command in PROGRAMS[:4]:
        subprocess.run([run.CULPRIT, "trace", "--data", "--limit", "10M", "--stop", "-o", "run.ctrace", "--", *command],
                       cwd=scratch, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        simulate_it = ["sim", "--machine", MACHINE, "--alone", "-o", "/dev/null", "run.ctrace"]
        rows.append([name, *compared([simulate_it, simulate_it + ["--tree"], simulate_it + ["--data"]], scratch)])
        print(*rows[-1], file=sys.stderr)
    return (f"Processor time beside `sim` of the same trace, %: the median of {ROUNDS} (least to most). The reading of symbols "
            "and the report, which do not grow with the run, are in it.\n\n" +
            page.table(["program", "--tree", "--data"], rows))


def capture(scratch):
    rows = []
    for name, command in PROGRAMS[:4]:
        take = ["trace", "--no-check", "--limit", "60M", "--stop", "-o", "run.ctrace"]
        rows.append([name, *compared([take + ["--", *command], take + ["--data", "--", *command]], scratch)])
        print(*rows[-1], file=sys.stderr)
    return (f"Processor time of `trace --data` beside `trace`, %: the median of {ROUNDS} (least to most).\n\n" +
            page.table(["program", "more with allocations"], rows))


SECTIONS = [("programs", "Programs", programs), ("cost", "Cost of simulation", cost), ("capture", "Cost of capture", capture)]


if __name__ == "__main__":
    page.write_sections("data-objects", SCRIPT, SECTIONS, sys.argv[1:])
