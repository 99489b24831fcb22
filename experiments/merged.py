"""Fig. 12 of PinPoints: regions chosen from several runs of a program together, against regions of
each run, into docs/results/merged.md. Takes a quarter of an hour, most of it to record the runs.
    python3 -B experiments/merged.py"""
import statistics

from lib import page, svg, whole_runs
from lib.whole_runs import actual, predict, rows_of, total

MACHINE = "boom-simpoint"
SLICES = 4  # of 250,000 in a row: one million
EACH, TOGETHER = 10, 20  # most regions, as in the paper (§4.4)
FAMILIES = ["bzip2", "gzip", "xz"]


class Family:
    """The runs of one program: combined CPI, predicted both ways."""

    def __init__(self, records):
        self.runs = [record.run.name for record in records]
        costs = [whole_runs.slices(record.costs(MACHINE)) for record in records]
        files = [record.vectors for record in records]
        options = ["--merge-slices", SLICES]
        instructions = [total(rows, "instructions") for rows in costs]
        self.actual = sum(total(rows, "cycles") for rows in costs) / sum(instructions)
        own = [whole_runs.regions(*options, "--max-clusters", EACH, path)["regions"]
               for path in files]
        self.own_count = sum(map(len, own))
        self.own = sum(size * predict(rows, chosen) for size, rows, chosen in
                       zip(instructions, costs, own)) / sum(instructions)
        merged = whole_runs.regions(*options, "--max-clusters", TOGETHER, "--merge",
                                    *files)["regions"]
        self.merged_count = len(merged)
        parts = [(region, rows_of(costs[region["run"]], region)) for region in merged]
        assert abs(sum(region["weight"] for region in merged) - 1) < 1e-6
        self.merged = sum(region["weight"] * total(rows, "cycles") / total(rows, "instructions")
                          for region, rows in parts)
        self.records = records
        self.of_runs = [(actual(rows), predict(rows, chosen)) for rows, chosen in zip(costs, own)]


def error(predicted, true):
    return 100 * (predicted / true - 1)


families = {}
for family in FAMILIES:
    families[family] = Family(whole_runs.records(
        whole=(MACHINE,), beginning=(), chosen=lambda item, name=family: item.family == name))
found = list(families.items())
mean = {way: statistics.mean(abs(error(getattr(f, way), f.actual)) for _, f in found)
        for way in ("own", "merged")}
measured = "![Error of combined CPI](merged.svg)\n\n" + page.table(
    ["program", "runs", "CPI of all", "regions of each run", "error, %", "merged regions", "error, %"],
    [(name, len(f.runs), f"{f.actual:.3f}", f.own_count, f"{error(f.own, f.actual):+.2f}",
      f.merged_count, f"{error(f.merged, f.actual):+.2f}") for name, f in found] +
    [("**mean \\|error\\|**", "", "", sum(f.own_count for _, f in found), f"{mean['own']:.2f}",
      sum(f.merged_count for _, f in found), f"{mean['merged']:.2f}")])
measured += "\nThe paper: 126 regions become 52.\n\n## The runs\n\n" + page.table(
    ["run", "CPI", "error of its own regions, %"],
    [(name, f"{true:.3f}", f"{error(predicted, true):+.2f}") for _, f in found
     for name, (true, predicted) in zip(f.runs, f.of_runs)])
worst = max(((abs(error(predicted, true)), record, name) for _, f in found
             for record, name, (true, predicted) in zip(f.records, f.runs, f.of_runs)),
            key=lambda one: one[0])
clusters = whole_runs.regions("--merge-slices", SLICES, "--max-clusters", EACH, "--predict",
                              worst[1].costs(MACHINE), worst[1].vectors)["prediction"]["clusters"]
heaviest = max(clusters, key=lambda one: one["weight"])
measured += (f"\nOf `{worst[2]}`, which is furthest off, the heaviest cluster has {100 * heaviest['weight']:.0f} % of the run and a mean CPI of "
             f"{heaviest['mean_cpi']:.3f}, coefficient of variation {100 * heaviest['coefficient_of_variation']:.0f} %; its region has "
             f"{heaviest['region_cpi']:.3f}.\n")
page.write("merged", "experiments/merged.py", measured)
svg.figure(page.picture("merged"), [svg.Bars(
    "Error of the CPI of all runs of a program (Fig. 12)", "error without its sign, %",
    [f"{name}: {f.own_count}, {f.merged_count} regions" for name, f in found],
    [("regions of each run", [abs(error(f.own, f.actual)) for _, f in found]),
     ("merged regions", [abs(error(f.merged, f.actual)) for _, f in found])], height=200)])
