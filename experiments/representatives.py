"""Which slice of a cluster stands for it, into docs/results/representatives.md: the nearest to the
centroid of the projected points, or the nearest to the centroid of the basic block vectors before
projection.    python3 -B experiments/representatives.py

Of each run the beginning is simulated once with what every slice took; clusters and both choices are
of `culprit regions`, for several projections."""
import json
import statistics

from lib import page, svg, whole_runs
from lib.programs import written
from lib.whole_runs import Record, Run, actual, headers, predict, text


def unseen():
    """Programs that no other experiment on regions has."""
    source, few = written("headers", lambda: headers(2000000)), written("few", lambda: text(15000, 7))
    return [
        Run("zstd", ["zstd", "-9", "--single-thread", "-q", "-c", source], "zstd"),
        Run("lz4", ["lz4", "-9", "-q", "-c", source], "lz4"),
        Run("sed", ["sed", "-E", "s/([a-z]+) ([a-z]+)$/\\2 \\1/;s/[02468]/x/g", few], "sed"),
        Run("jq", ["jq", "-c", "map(select(.n % 3 == 0)) | group_by(.w) | map({(.[0].w): map(.n) "
                   "| add}) | add", written("rows.json", lambda: rows(30000))], "jq"),
        Run("factor", ["factor", *map(str, range(10 ** 33, 10 ** 33 + 12))], "factor"),
        Run("objdump", ["objdump", "-d", "/bin/bash"], "objdump"),
        Run("tclsh", ["tclsh", written("queens.tcl", lambda: TCL)], "tclsh"),
    ]


def rows(count):
    return json.dumps([dict(zip(("n", "i", "w", "v"), (int(a), int(b), c, d)))
                       for a, b, c, d in map(str.split, text(count, 3).splitlines())])


TCL = """proc queens {n row columns left right} {
    if {$row == $n} { return 1 }
    set count 0
    for {set c 0} {$c < $n} {incr c} {
        if {[dict exists $columns $c] || [dict exists $left [expr {$row + $c}]]
            || [dict exists $right [expr {$row - $c}]]} continue
        incr count [queens $n [expr {$row + 1}] [dict set columns $c 1] \\
            [dict set left [expr {$row + $c}] 1] [dict set right [expr {$row - $c}] 1]]
        dict unset columns $c; dict unset left [expr {$row + $c}]
        dict unset right [expr {$row - $c}]
    }
    return $count
}
set words {}
for {set i 0} {$i < 150000} {incr i} { dict lappend words [string range [expr {$i * 7919 % 10007}] 0 1] $i }
puts "[dict size $words] [queens 8 0 {} {} {}]"
puts [lindex [lsort -dictionary [dict keys $words]] 7]
"""

SPACES = ["projected", "full"]
SEEDS = range(1, 11)
SIZES = {1: "0.25 M", 4: "1 M"}  # slices in a row that are one


class Measured:
    """Of one run and size of slices: errors by space, one for each seed, and how many of the regions
    are the same slices."""

    def __init__(self, record, merged):
        rows = whole_runs.slices(record.begin_costs(whole_runs.MAIN))
        self.errors = {space: [] for space in SPACES}
        same = regions = 0
        for seed in SEEDS:
            chosen = {space: whole_runs.regions(
                "--seed", seed, "--merge-slices", merged, "--nearest-in", space,
                record.begin_vectors)["regions"] for space in SPACES}
            for space, found in chosen.items():
                self.errors[space].append(abs(predict(rows, found) / actual(rows) - 1))
            regions += len(chosen["full"])
            same += sum(a == b for a, b in zip(*(sorted((region["cluster"], region["slice"])
                                                        for region in chosen[space])
                                                 for space in SPACES)))
        self.same, self.regions = same / regions, regions / len(SEEDS)

    def mean(self, space):
        return statistics.mean(self.errors[space])


def percent(share):
    return page.percent(share, 2)


records = [Record(run).make(whole=(), beginning=(whole_runs.MAIN,))
           for run in unseen() + whole_runs.runs()]
new = len(unseen())
results = {merged: [Measured(record, merged) for record in records] for merged in SIZES}
summary = []
for merged, size in SIZES.items():
    for what, some in (("programs seen nowhere else", results[merged][:new]),
                       ("those of the other pages", results[merged][new:]),
                       ("all", results[merged])):
        pairs = [pair for result in some for pair in zip(*(result.errors[s] for s in SPACES))]
        summary.append((f"{size}, {what}", len(some),
                        *(percent(statistics.mean(result.mean(s) for result in some)) for s in SPACES),
                        *(percent(statistics.median(result.mean(s) for result in some))
                          for s in SPACES),
                        *(percent(max(result.mean(s) for result in some)) for s in SPACES),
                        page.percent(sum(b < a for a, b in pairs) / len(pairs), 0),
                        page.percent(sum(b > a for a, b in pairs) / len(pairs), 0)))
measured = "![Mean error by run](representatives.svg)\n\n" + page.table(
    ["slices", "runs", "mean \\|error\\|, %: projected", "full", "median: projected", "full",
     "largest: projected", "full", "full nearer, % of choices", "farther, %"], summary)
for merged, size in SIZES.items():
    measured += f"\n## Slices of {size}\n\n" + page.table(
        ["run", "regions", "the same, %", "mean \\|error\\|, %: projected", "full"],
        [(record.run.name, f"{result.regions:.0f}", page.percent(result.same, 0),
          *(percent(result.mean(space)) for space in SPACES))
         for record, result in zip(records, results[merged])])
page.write("representatives", "experiments/representatives.py", measured)
svg.figure(page.picture("representatives"), [svg.Bars(
    f"Mean error of predicted CPI, slices of {size}", "%", [record.run.name for record in records],
    [(space, [100 * result.mean(space) for result in results[merged]]) for space in SPACES],
    height=260) for merged, size in SIZES.items()])
