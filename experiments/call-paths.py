#!/usr/bin/env python3
"""Call paths of simulations: against logs that programs keep of their own calls, against callgrind's
inclusive instruction counts, and what they cost.

    call-paths.py [--logs | --callgrind | --cost]

One of these: only that section of the page is made anew. Needs valgrind, gcc, g++; rustc is left out
where it is missing. Writes docs/results/call-paths.md."""
import collections
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

from lib import page, run

SCRIPT = "experiments/call-paths.py"
MACHINE, TIMES, LEAST, NEAR, ROUNDS = "zen4", 20, 0.01, 0.01, 41
ENVIRONMENT = dict(run.ENVIRONMENT, PERL_HASH_SEED="0", PERL_PERTURB_KEYS="0", PYTHONHASHSEED="0",
                   LC_ALL="C",
                   GLIBC_TUNABLES="glibc.cpu.hwcaps=-AVX2,-AVX,-AVX512F,-AVX512VL,-ERMS,-FSRM")
INSTRUMENTED = ["-w", "-g", "-O1", "-fno-inline", "-no-pie", "-finstrument-functions",
                "-fno-optimize-sibling-calls", "-I", "tests/guests"]
GUESTS = [("C: recursion, callbacks, longjmp", "c", "gcc", "c"),
          ("C++: exceptions, destructors, longjmp", "cpp", "g++", "cc"),
          ("coroutines (ucontext)", "coroutines", "gcc", "c"),
          ("signals: nested, own stack, siglongjmp", "signals", "gcc", "c")]
RUST = r"""
use std::cell::RefCell;
use std::collections::BTreeMap;
thread_local!(static NOW: RefCell<(Vec<&'static str>, BTreeMap<String, u64>)> = RefCell::default());
struct Log;
impl Log {
    #[inline(always)]
    fn new(name: &'static str) -> Log {
        NOW.with(|now| {
            let (chain, log) = &mut *now.borrow_mut();
            chain.push(name);
            *log.entry(chain.join(";")).or_default() += 1;
        });
        Log
    }
}
impl Drop for Log {
    fn drop(&mut self) { NOW.with(|now| { now.borrow_mut().0.pop(); }); }
}
#[inline(never)] #[no_mangle] fn leaf(n: u64) -> u64 { let _log = Log::new("leaf"); std::hint::black_box(n) + 1 }
#[inline(never)] #[no_mangle] fn fib(n: u64) -> u64 {
    let _log = Log::new("fib");
    if n < 2 { leaf(n) } else { fib(n - 1) + fib(n - 2) }
}
#[inline(never)] #[no_mangle] fn key(n: &u64) -> u64 { let _log = Log::new("key"); leaf(*n) % 17 }
#[inline(never)] #[no_mangle] fn sorts(n: u64) -> u64 {
    let _log = Log::new("sorts");
    let mut all: Vec<u64> = (0..n).collect();
    all.sort_by_key(key);
    all[0]
}
#[inline(never)] #[no_mangle] fn panics(n: u64) -> u64 {
    let _log = Log::new("panics");
    if n == 0 { std::panic::resume_unwind(Box::new(1)); }
    let got = panics(n - 1);
    leaf(got)
}
#[inline(never)] #[no_mangle] fn catches(n: u64) -> u64 {
    let _log = Log::new("catches");
    let caught = std::panic::catch_unwind(|| panics(n)).is_err();
    leaf(caught as u64)
}
#[inline(never)] #[no_mangle] fn calls(f: &dyn Fn(u64) -> u64, n: u64) -> u64 { let _log = Log::new("calls"); f(n) }
#[inline(never)] #[no_mangle] fn work(n: u64) -> u64 {
    let _log = Log::new("work");
    fib(n % 9) + sorts(20 + n) + calls(&leaf, n) + calls(&catches, n % 4)
}
fn main() {
    let times: u64 = std::env::args().nth(1).map_or(3, |text| text.parse().unwrap());
    for n in 0..times { work(n); }
    NOW.with(|now| for (chain, count) in &now.borrow().1 { println!("{chain} {count}") });
}
"""
TEXT = "\n".join(f"{n * 7919 % 10007} the {n % 13} quick brown fox {n * n % 997}" for n in range(4000))
PROGRAMS = [
    ("gzip", ["gzip", "-9", "-c", "text"]), ("bzip2", ["bzip2", "-c", "text"]),
    ("xz", ["xz", "-1", "-T1", "-c", "text"]), ("sort", ["sort", "--parallel=1", "-n", "text"]),
    ("mawk", ["mawk", "{ count[$3] += $1 } END { for (k in count) print k, count[k] }", "text"]),
    ("sed", ["sed", "-E", "s/([a-z]+) ([0-9]+)/\\2 \\1/g", "text"]),
    ("grep", ["grep", "-cE", "(qu|br)[a-z]+ fox [0-9]*7", "text"]),
    ("perl", ["perl", "-ne", "$n{$1}++ while /(\\w+)/g; END { print map {\"$_ $n{$_}\\n\"} sort keys %n }", "text"]),
    ("python3", ["python3", "-S", "-c", "print(sum(i * i % 7 for i in range(60000)))"]),
    ("sqlite3", ["sqlite3", ":memory:", "create table t(a, b); with recursive c(n) as (select 1 union all select "
                 "n + 1 from c where n < 8000) insert into t select n * 7919 % 1009, n from c; select a, sum(b) "
                 "from t group by a order by 2 limit 3;"]),
    ("jq", ["jq", "-n", "[range(3000) | {a: ., b: (. * 7 % 101)}] | group_by(.b) | map(length) | add"]),
    ("bc", ["bc", "-l", "digits"]),
    ("md5sum", ["md5sum", "text"]),
]


def simulate(command, *options, environment={}, **keywords):
    with tempfile.NamedTemporaryFile() as report:
        done = subprocess.run([run.CULPRIT, "sim", "--machine", MACHINE, "--tree", "--json", "-o", report.name,
                               *options, "--", *command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              env=dict(ENVIRONMENT, **environment), text=True, errors="replace", **keywords)
        return json.load(open(report.name)), done.stdout


# ---- logs ----

def note(report, word):
    return next((int(re.search(r": ([\d,]+) time", text)[1].replace(",", "")) for text in report["notes"]
                 if word in text), 0)


def log_row(what, program, rust=False):
    report, log = simulate([program, str(TIMES)])
    with tempfile.TemporaryDirectory() as scratch:
        paths = [os.path.join(scratch, name) for name in ("log", "report")]
        open(paths[0], "w").write(log)
        json.dump(report, open(paths[1], "w"))
        done = subprocess.run([sys.executable, "-B", "tests/e2e/call_log.py", *(["--names"] if rust else []),
                               program, *paths], capture_output=True, text=True)
    lines = done.stdout.splitlines()
    chains, calls = re.match(r"(\d+) chains, (\d+) calls", lines[-1]).groups()
    return [what, chains, calls, str(len(lines) - 1), note(report, "control left several"),
            note(report, "to another stack"), note(report, "callers were not known")]


def logs(scratch):
    rows = []
    for what, name, compiler, suffix in GUESTS:
        program = os.path.join(scratch, name)
        subprocess.run([compiler, *INSTRUMENTED, "-o", program, f"tests/guests/calls_{name}.{suffix}"], check=True)
        rows.append(log_row(what, program))
    if shutil.which("rustc"):
        source, program = os.path.join(scratch, "calls.rs"), os.path.join(scratch, "rust")
        open(source, "w").write(RUST)
        subprocess.run(["rustc", "-O", "-A", "warnings", "-o", program, source], check=True)
        rows.append(log_row("Rust: closures, a sort's callback, panics", program, rust=True))
    same = sum(row[3] == "0" for row in rows)
    return (f"{same} of {len(rows)} programs: every chain of callers was entered as often as the program says.\n\n" +
            page.table(["program", "chains of callers", "calls", "chains that differ", "unwound", "other stacks",
                        "callers not known"], rows))


# ---- callgrind ----

def file_offset(image, address):
    """Of code in a file, as culprit names functions without a name."""
    for line in subprocess.run(["readelf", "-lW", image], capture_output=True, text=True).stdout.splitlines():
        words = line.split()
        if words[:1] == ["LOAD"]:
            offset, start, size = (int(words[i], 16) for i in (1, 2, 4))
            if start <= address < start + size:
                return address - start + offset
    return address


def preloaded():
    """Valgrind's programs run with a library of its own preloaded, which the dynamic linker works for."""
    found = glob.glob("/usr/lib*/valgrind/vgpreload_core-amd64-linux.so")
    return {"LD_PRELOAD": found[0]} if found else {}


def callgrind(command, scratch):
    """Instructions by function, inclusive and its own, and of the whole run. A function without a name is known by its
    place in the file."""
    out = os.path.join(scratch, "callgrind")
    subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", *command], cwd=scratch,
                   env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    (counts, total, recursive), (own, _, _) = (read_counts(out, way) for way in ("yes", "no"))
    return {name: count for name, count in counts.items() if name not in recursive}, own, total, len(recursive)


def read_counts(out, way):
    text = subprocess.run(["callgrind_annotate", f"--inclusive={way}", "--threshold=100", out], text=True,
                          capture_output=True, check=True).stdout
    counts, total, recursive = {}, 0, set()
    for line in text.splitlines():
        found = re.match(r"\s*([\d,]+) \(\s*[\d.]+%\)\s+(.*)$", line)
        if not found:
            continue
        count = int(found[1].replace(",", ""))
        place = re.match(r".*?:(.*?)(?:'\d+)?(?: \[(.*)\])?$", found[2])
        if "PROGRAM TOTALS" in found[2]:
            total = count
        elif place:
            name, image = place[1], place[2] or ""
            if name.startswith("0x"):
                name = f"{os.path.basename(image)}+0x{file_offset(image, int(name, 16)):x}"
            name = re.sub(r"@@?GLIBC.*", "", name)
            if re.search(r"'\d+(?: \[|$)", found[2]):
                recursive.add(name)
            counts[name] = max(counts.get(name, 0), count)
    return counts, total, recursive


def counts_of(report):
    """Likewise."""
    tree, counts, own, above = report["tree"], collections.Counter(), collections.Counter(), [frozenset()]
    for frame in tree[1:]:
        name = frame["procedure"]
        callers = above[frame["parent"]]
        if name not in callers:
            counts[name] += frame["instructions"]
        own[name] += frame["self_instructions"]
        above.append(callers | {name})
    return counts, own


def programs(scratch):
    open(os.path.join(scratch, "text"), "w").write(TEXT)
    open(os.path.join(scratch, "digits"), "w").write("scale=150; 4*a(1)\nquit\n")
    rows, worst = [], []
    for name, command in PROGRAMS:
        if not shutil.which(command[0]):
            continue
        counts, own, total, recursive = callgrind(command, scratch)
        report, _ = simulate(command, cwd=scratch, environment=preloaded())
        ours, our_own = counts_of(report)
        large = [function for function, count in counts.items()
                 if count >= LEAST * total and function in ours]
        unmatched = sum(count >= LEAST * total and function not in ours for function, count in counts.items())
        differences = {function: ours[function] / counts[function] - 1 for function in large}
        far = sorted((function for function in large if abs(differences[function]) > NEAR),
                     key=lambda function: -abs(differences[function]))
        worst += [(name, function, counts[function] / total, differences[function],
                   (our_own[function] - own[function]) / counts[function] if function in own else None)
                  for function in far]
        rows.append([name, f"{total / 1e6:.1f}", f"{100 * (report['instructions'] / total - 1):+.2f}", len(large),
                     len(large) - len(far), f"{100 * statistics.median(map(abs, differences.values())):.2f}",
                     recursive, unmatched])
        print(*rows[-1], file=sys.stderr)
    near, all_of = sum(row[4] for row in rows), sum(row[3] for row in rows)
    text = (f"{len(rows)} programs; functions with at least {100 * LEAST:.0f} % of the run's instructions. {near} of "
            f"{all_of} are within {100 * NEAR:.0f} % of callgrind's inclusive count.\n\n" +
            page.table(["program", "million instructions", "the run as a whole, %", "functions",
                        "within 1 %", "median difference, %", "recursive", "only callgrind's"], rows))
    if worst:
        text += ("\n\nThose that are further off:\n\n" +
                 page.table(["program", "function", "of the run, %", "difference, %", "of which in itself, %"],
                            [[name, f"`{function[:60]}`", f"{100 * share:.1f}", f"{100 * difference:+.1f}",
                              None if itself is None else f"{100 * itself:+.1f}"]
                             for name, function, share, difference, itself in worst[:60]]))
    return text


# ---- cost ----

def seconds(trace, *options):
    """Processor time of the simulation."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([run.CULPRIT, "sim", "--machine", MACHINE, "--alone", "--no-python", "-o",
                    "/dev/null", *options, trace],
                   check=True, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime


def cost(scratch):
    open(os.path.join(scratch, "text"), "w").write(TEXT * 4)
    rows = []
    for name in ("gzip", "perl", "python3"):
        command = dict(PROGRAMS)[name]
        trace = os.path.join(scratch, "run.ctrace")
        subprocess.run([run.CULPRIT, "trace", "--limit", "20M", "-o", trace, "--", *command], cwd=scratch,
                       env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        pairs = []
        for turn in range(ROUNDS):
            ways = [(), ("--tree",)]
            took = {way: seconds(trace, *way) for way in (ways if turn % 2 else ways[::-1])}
            pairs.append(took[ways[1]] / took[ways[0]] - 1)
        quarters = statistics.quantiles(pairs, n=4)
        rows.append([name, f"{100 * quarters[1]:+.1f}", f"{100 * quarters[0]:+.1f} to {100 * quarters[2]:+.1f}"])
        print(*rows[-1], file=sys.stderr)
    middle = statistics.median(float(row[1]) for row in rows)
    return (f"Processor time of `sim --tree` beside `sim`, {ROUNDS} pairs of each, in turn: {middle:+.1f} % in the "
            "median. It has the reading of names and the report in it, which do not grow with the run.\n\n" +
            page.table(["program", "median of the pairs, %", "middle half"], rows))


SECTIONS = [("logs", "Programs' own logs", logs), ("callgrind", "Callgrind", programs), ("cost", "Cost", cost)]


if __name__ == "__main__":
    page.write_sections("call-paths", SCRIPT, SECTIONS, sys.argv[1:])
