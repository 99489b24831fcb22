"""Paper C's figures on the settings of SimPoint: error against instructions to simulate, into
docs/results/simpoint-sweep.md.    python3 -B experiments/simpoint-sweep.py

Every choice is judged by the recorded costs of all slices (`culprit regions --sweep`): nothing is
simulated again."""
import statistics

from lib import page, svg, whole_runs

MACHINE = "boom-simpoint"  # Table C.1
SIZES = [16, 40]  # slices of 250,000 in a row
LIMITS = [0.05, 0.04, 0.03, 0.02, 0.01]
MAIN = 16
SHOWN = [1, 2, 3, 5, 8, 10, 15, 20, 30, 40, 50]  # most clusters, in tables


def name_of(size):
    return f"{size * whole_runs.SLICE / 1e6:g} M"


def sweep(records, size):
    options = ["--merge-slices", size]
    for record in records:
        options += ["--sweep", record.costs(MACHINE)]
    return whole_runs.regions(*options, *(record.vectors for record in records))


def points(found):
    """All that was tried, in all three sweeps."""
    return found["max_clusters"] + found["dimensions"] + found["threshold"]


def cheapest(found, limit):
    """The fewest instructions for an error within the limit."""
    good = [point for point in points(found) if point["mean_error"] <= limit]
    return min(good, key=lambda point: point["instructions"], default=None)


def setting(point, found):
    return ["--max-clusters", point["max_clusters"], "--dimensions",
            int(point.get("dimensions", found["settings"]["dimensions"])), "--threshold",
            point.get("threshold", found["settings"]["threshold"])]


def percent(value):
    return f"{100 * value:.2f}"


def heat(rows, name, value):
    """A table of two settings."""
    kept = sorted({row["max_clusters"] for row in rows} & set(SHOWN))
    by = {(row[name], row["max_clusters"]): row[value] for row in rows}
    return page.table([f"{name} \\ most clusters", *map(str, kept)],
                      [(f"{other:g}", *(percent(by[other, most]) for most in kept))
                       for other in sorted({row[name] for row in rows})])


records = whole_runs.records(whole=(MACHINE,), beginning=())
sweeps = {size: sweep(records, size) for size in SIZES}
whole = sum(sum(row["instructions"] for row in whole_runs.slices(record.costs(MACHINE)))
            for record in records)
for found in sweeps.values():
    found["settings"] = {"dimensions": 15, "threshold": 0.9}

# ---- C.4 ----
body = []
for limit in LIMITS:
    row = [f"{100 * limit:g} %"]
    for size in SIZES:
        point = cheapest(sweeps[size], limit)
        row += [f"{point['instructions'] / 1e6:.0f}", f"{whole / point['instructions']:.0f}"] \
            if point else ["", ""]
    body.append(row)
measured = f"""## Instructions to simulate for an error (Fig. C.4)

Of {len(records)} runs, {whole / 1e9:.1f} G instructions in all: the fewest, in millions, of all settings tried, with which the mean error is within the limit; and how many times fewer than
the whole.

""" + page.table(["mean error within"] + [text for size in SIZES
                                          for text in (f"slices of {name_of(size)}", "fewer")], body)

# ---- C.5 ----
chosen = {limit: cheapest(sweeps[MAIN], limit) for limit in (0.02, 0.01)}
errors = {}
for limit, point in chosen.items():
    if not point:
        continue
    errors[limit] = [whole_runs.regions("--merge-slices", MAIN, *setting(point, sweeps[MAIN]),
                                        "--predict", record.costs(MACHINE), record.vectors)
                     for record in records]
measured += f"\n## Error of each run (Fig. C.5)\n\nSlices of {name_of(MAIN)}, the settings of C.4 for 2 % and 1 %.\n\n"
measured += page.table(["run"] + [f"within {100 * limit:g} %: error, %" for limit in errors],
                       [(record.run.name, *(f"{100 * found[i]['prediction']['error']:+.2f}"
                                            for found in errors.values()))
                        for i, record in enumerate(records)])

# ---- C.6 ----
default = [whole_runs.regions("--merge-slices", MAIN, "--predict", record.costs(MACHINE),
                              record.vectors) for record in records]
worst = max(range(len(records)), key=lambda i: abs(default[i]["prediction"]["error"]))
clusters = sorted(default[worst]["prediction"]["clusters"], key=lambda one: -one["weight"])
measured += f"""
## CPI within clusters (Fig. C.6)

Default settings, `{records[worst].run.name}`, the run with the largest error ({100 * default[worst]['prediction']['error']:+.2f} %): its clusters, heaviest first.
A cluster's share of the error is weight × (CPI of its region − mean CPI).

"""
measured += page.table(["cluster", "weight, %", "mean CPI", "CPI of the region",
                        "coefficient of variation, %", "share of the error, %"],
                       [(one["cluster"], percent(one["weight"]), f"{one['mean_cpi']:.3f}",
                         f"{one['region_cpi']:.3f}", percent(one["coefficient_of_variation"]),
                         percent(one["weight"] * (one["region_cpi"] - one["mean_cpi"]) /
                                 default[worst]["prediction"]["true_cpi"]))
                        for one in clusters[:12]])
spread = [sum(one["weight"] * one["coefficient_of_variation"]
              for one in found["prediction"]["clusters"]) for found in default]
measured += f"\nOver all runs the coefficient of variation within clusters, by weight, is {percent(statistics.mean(spread))} % on average.\n"

# ---- C.7 ----
measured += "\n## Most clusters (Fig. C.7)\n\n![Error against most clusters](simpoint-sweep.svg)\n\n"
for size in SIZES:
    rows = [row for row in sweeps[size]["max_clusters"] if row["max_clusters"] in SHOWN]
    measured += f"Slices of {name_of(size)}:\n\n" + page.table(
        ["most clusters", "mean error, %", "largest, %", "M instr.", "regions", "Pareto front"],
        [(row["max_clusters"], percent(row["mean_error"]), percent(row["max_error"]),
          f"{row['instructions'] / 1e6:.0f}", row["regions"],
          " and ".join(name for name, key in (("mean", "mean_front"), ("largest", "max_front"))
                       if row[key])) for row in rows]) + "\n"
measured += page.table(["slice", "recommended most clusters"],
                       [(name_of(size), (sweeps[size]["recommended"] or {}).get("max_clusters"))
                        for size in SIZES] +
                       [("paper: 10, 30, 100, 500, 1000 M", "13, 16, 18, 13, 10")])
measured += "\nThe rule of the paper: the fewest clusters on both fronts within one point of the least mean error.\n"

# ---- C.8, C.9 ----
for title, name in (("Part of the run that is profiled (Fig. C.8)", "coverage"),
                    ("Dimensions (Fig. C.9)", "dimensions")):
    rows = sweeps[MAIN][name]
    measured += f"\n## {title}\n\nSlices of {name_of(MAIN)}, mean error in percent:\n\n" + \
        heat(rows, name, "mean_error") + "\nLargest error of a run:\n\n" + \
        heat(rows, name, "max_error")

# ---- C.10 ----
most = min((row["max_clusters"] for row in sweeps[MAIN]["threshold"]), key=lambda k: abs(k - 30))
rows = [row for row in sweeps[MAIN]["threshold"] if row["max_clusters"] == most]
measured += f"\n## BIC threshold (Fig. C.10)\n\nSlices of {name_of(MAIN)}, at most {most} clusters.\n\n"
measured += page.table(["threshold", "mean error, %", "largest, %", "M instr.", "regions"],
                       [(f"{row['threshold']:g}", percent(row["mean_error"]),
                         percent(row["max_error"]), f"{row['instructions'] / 1e6:.0f}",
                         row["regions"]) for row in rows])
page.write("simpoint-sweep", "experiments/simpoint-sweep.py", measured)
every = sorted({row["max_clusters"] for row in sweeps[MAIN]["max_clusters"]})
svg.figure(page.picture("simpoint-sweep"), [
    *(svg.Lines(f"{title} (Fig. C.7)", "most clusters", "error, %", every,
                [(f"slices of {name_of(size)}", [100 * row[key]
                                                 for row in sweeps[size]["max_clusters"]])
                 for size in SIZES], height=220)
      for title, key in (("Mean error", "mean_error"), ("Largest error", "max_error"))),
    svg.Lines("BIC threshold (Fig. C.10)", "threshold", "error, %",
              [row["threshold"] for row in rows],
              [("mean", [100 * row["mean_error"] for row in rows]),
               ("largest", [100 * row["max_error"] for row in rows])], height=220),
])
