"""Whole runs and what each of their slices took, for the experiments on regions.

A run is captured once; its slices are profiled from the trace and simulated from it on a machine, so
that vectors and costs are of the same instructions. Everything is kept under
build/experiments/regions, and made anew when culprit, the command or its files change. The traces go
when all that is wanted of them is there.

    python3 -B experiments/lib/whole_runs.py      records what the experiments need: an hour"""
import csv
import json
import os
import subprocess
import sys
import tempfile
import typing

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from lib import programs, run  # noqa: E402

FOLDER = os.path.join(run.KEPT, "regions")
SLICE = 250000  # instructions; larger slices are several in a row
MAIN = "zen4"  # simulated over the whole run
OTHERS = ["chen-ooo", "fields2004", "zen4-small"]  # over the beginning
BEGINNING = 100000000
SETTINGS = {"zen4-small": ["--machine", "zen4", "--set", "l2.size=256K", "--set", "llc.size=4M",
                           "--set", "core.rob=128"]}


class Run(typing.NamedTuple):
    name: str
    command: list
    family: str  # runs of one program with several inputs


def text(lines, seed=1):
    words = ("a representative region stands for all slices of a program that execute the same "
             "code and one simulation of it is enough to know how long they take").split()
    return "".join(f"{x} {i % 977} {words[x % len(words)]} {words[x // 64 % len(words)]}\n"
                   for i, x in enumerate(programs.numbers(lines, seed)))


def headers(count):
    """Header files, one after the other."""
    folder = "/usr/include/linux"
    parts = []
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            with open(path, encoding="latin-1") as part:
                parts.append(part.read())
    return "".join(parts)[:count]


def query():
    return programs.query(30000) + """select b % 10, count(*), avg(a) from t group by b % 10 order by 2 desc;
update t set c = c || b where a % 7 = 0;
select count(distinct c) from t where c like '%7%';
"""


def python_program():
    return programs.python_program(60000) + """primes = [True] * 100000
for i in range(2, 317):
    if primes[i]:
        primes[i * i::i] = [False] * len(primes[i * i::i])
print(sum(primes), sorted(str(i) for i in range(30000))[7])
"""


def perl_program():
    return """my (%n, @w);
while (<>) { for my $w (split) { $n{$w}++; push @w, $w if length($w) > 6 } }
my @s = sort { $n{$b} <=> $n{$a} || $a cmp $b } keys %n;
my $t = join ' ', @w; my $c = 0; $c++ while $t =~ /e\\w+e\\b/g;
print "$#s $c $s[0]\\n";
"""


def runs():
    make = programs.written
    lines, few = make("lines", lambda: text(60000)), make("few", lambda: text(15000, 7))
    source = make("headers", lambda: headers(2000000))
    shell = "/bin/bash"
    compiler = subprocess.run(["gcc", "-print-prog-name=cc1"], capture_output=True, text=True,
                              check=True).stdout.strip()
    ours = lambda name, *arguments: Run(  # noqa: E731
        name, [run.workload(name, "x86_64"), *map(str, arguments)], name)
    return [
        Run("gzip -9 headers", ["gzip", "-9", "-c", source], "gzip"),
        Run("gzip -9 bash", ["gzip", "-9", "-c", shell], "gzip"),
        Run("gzip -6 lines", ["gzip", "-6", "-c", lines], "gzip"),
        Run("bzip2 headers", ["bzip2", "-c", source], "bzip2"),
        Run("bzip2 bash", ["bzip2", "-c", shell], "bzip2"),
        Run("xz headers", ["xz", "-3", "-T1", "-c", source], "xz"),
        Run("xz bash", ["xz", "-3", "-T1", "-c", shell], "xz"),
        Run("sqlite3", ["sqlite3", ":memory:", f".read {make('whole.sql', query)}"], "sqlite3"),
        Run("python3", ["/usr/bin/python3", "-S", make("whole.py", python_program)], "python3"),
        Run("perl", ["perl", make("whole.pl", perl_program),
                     make("part", lambda: headers(900000))], "perl"),
        Run("sort", ["sort", "--parallel=1", "-k3", lines], "sort"),
        Run("grep", ["grep", "-c", r"\([0-9][0-9]\)[0-9]*\1.*e", few], "grep"),
        Run("awk", ["mawk", "{ n[$3] += $2; l[length $4]++; s = s substr($0, 1, 3); "
                    "if (length(s) > 500) s = \"\" } END { for (w in n) print w, n[w] }",
                    lines, lines, lines], "awk"),
        Run("bc", ["bc", "-l", make("whole.bc", lambda: "scale=450\n4*a(1)\ne(1)\nquit\n")], "bc"),
        Run("cc1", [compiler, "-quiet", "-O2", "-o", "/dev/null",
                    make("whole.c", programs.c_source)], "cc1"),
        Run("sha256sum", ["sha256sum", source, shell, lines], "sha256sum"),
        ours("interpreter"), ours("hashjoin"), ours("quadtree"), ours("nbody"), ours("meanshift"),
    ]


def call(*line):
    print(*line, file=sys.stderr)
    with tempfile.TemporaryFile() as output:  # grep does less when that is /dev/null
        done = subprocess.run(line, env=run.ENVIRONMENT, stdin=subprocess.DEVNULL, cwd=run.ROOT,
                              stdout=output, stderr=subprocess.PIPE, timeout=1800)
    if done.returncode:
        sys.exit(f"status {done.returncode} of {' '.join(line)}:\n{done.stderr.decode()}")


class Record:
    """Of one run: files of vectors and, by machine, of costs."""

    def __init__(self, item):
        self.run = item
        self.base = os.path.join(FOLDER, run.key_of(["regions", SLICE, BEGINNING], item.command))
        self.vectors, self.begin_vectors = self.base + ".bb", self.base + ".begin.bb"

    def costs(self, machine=MAIN):
        return self.base + f".{machine}.csv"

    def begin_costs(self, machine):
        return self.base + f".begin.{machine}.csv"

    def _capture(self, trace, *options):
        if not os.path.exists(trace):
            call(run.CULPRIT, "trace", *options, "-o", trace, "--", *self.run.command)

    def _record(self, vectors, costs, *options):
        """Vectors, and costs by machine, of a trace that is not kept."""
        trace = vectors.removesuffix(".bb") + ".ctrace"
        if not os.path.exists(vectors):
            self._capture(trace, *options)
            call(run.CULPRIT, "bbv", "--size", str(SLICE), "-o", vectors, trace)
        for machine, path in costs.items():
            if not os.path.exists(path):
                self._capture(trace, *options)
                call(run.CULPRIT, "sim", *SETTINGS.get(machine, ["--machine", machine]),
                     "--slices", path + ".new", "--slices-like", vectors + ".slices", "--json",
                     "--top", "1", trace)
                os.replace(path + ".new", path)
        if os.path.exists(trace):
            os.remove(trace)

    def make(self, whole=(MAIN,), beginning=(MAIN, *OTHERS)):
        """Records what is not there yet: on which machines the whole run, on which its
        beginning."""
        os.makedirs(FOLDER, exist_ok=True)
        if whole:
            self._record(self.vectors, {machine: self.costs(machine) for machine in whole})
        if beginning:
            self._record(self.begin_vectors, {machine: self.begin_costs(machine)
                                              for machine in beginning},
                         "--limit", str(BEGINNING))
        return self


def records(whole=(MAIN,), beginning=(MAIN, *OTHERS), chosen=lambda item: True):
    return [Record(item).make(whole, beginning) for item in runs() if chosen(item)]


def slices(path):
    """The rows of a file of costs, as dictionaries of numbers."""
    with open(path) as rows:
        return [{name: int(value) for name, value in row.items()} for row in csv.DictReader(rows)]


def rows_of(rows, region):
    """The slices of a run that a region is made of."""
    first, end = region["first"], region["first"] + region["instructions"]
    return [row for row in rows if first <= row["first"] < end and row["thread"] == region["thread"]]


def total(rows, column):
    return sum(row[column] for row in rows)


def predict(rows, chosen, column="cycles"):
    """Of a column, per instruction, by the regions' weights."""
    return sum(region["weight"] * total(rows_of(rows, region), column) /
               total(rows_of(rows, region), "instructions") for region in chosen)


def actual(rows, column="cycles"):
    return total(rows, column) / total(rows, "instructions")


def regions(*options):
    """What `culprit regions --json` says; kept like a report."""
    words = [str(option) for option in options]
    kept = os.path.join(run.KEPT, "reports", run.key_of(["regions", *words], [run.CULPRIT] + [
        word for word in words if os.path.isfile(word)]) + ".json")
    if not os.path.exists(kept):
        line = [run.CULPRIT, "regions", "--json", *words]
        done = subprocess.run(line, capture_output=True, text=True, timeout=1800, check=False)
        if done.returncode:
            sys.exit(f"status {done.returncode} of {' '.join(line)}:\n{done.stderr}")
        os.makedirs(os.path.dirname(kept), exist_ok=True)
        with open(kept + ".new", "w") as out:
            out.write(done.stdout)
        os.replace(kept + ".new", kept)
    with open(kept) as content:
        return json.load(content)


if __name__ == "__main__":
    records(whole=(MAIN, "boom-simpoint"))
