"""PinPoints' figures on regions within full runs: predicted against actual, into
docs/results/pinpoints.md.    python3 -B experiments/pinpoints.py

The vectors are of `culprit bbv`, the choice of `culprit regions` with its default settings, the costs
of every slice of `culprit sim --slices` over the whole run: no cold start, no other run."""
import random
import statistics

from lib import page, svg, whole_runs
from lib.whole_runs import actual, predict, total

MERGED = 4  # slices of 250,000 in a row: one million
SIZES = [1, 4, 16, 40]  # the last: 10 M, what bbv makes unless told otherwise
SPLIT = 40
DRAWS = 100
MISSES = [("l2_misses", "L2"), ("llc_misses", "LLC")]


def grouped(rows, count):
    """Slices in a row as one: (instructions, cycles)."""
    return [(total(rows[i:i + count], "instructions"), total(rows[i:i + count], "cycles"))
            for i in range(0, len(rows) - count + 1, count)]


def cpi_of(parts):
    """Random and systematic slices stand for the same number of instructions each."""
    return statistics.mean(cycles / instructions for instructions, cycles in parts)


def draws(rows, count, seed):
    """Errors of random and of systematic choices of as many slices."""
    parts, true = grouped(rows, MERGED), actual(rows)
    source = random.Random(seed)
    by_chance = [cpi_of(source.sample(parts, count)) / true - 1 for _ in range(DRAWS)]
    step = len(parts) / count
    starts = [source.random() * step for _ in range(DRAWS)]
    in_step = [cpi_of([parts[min(int(start + i * step), len(parts) - 1)] for i in range(count)]) /
               true - 1 for start in starts]
    return by_chance, in_step


def signed(share):
    return f"{100 * share:+.2f}"


def within(errors, share):
    return sum(abs(error) <= share for error in errors) / len(errors)


records = whole_runs.records()
names = [record.run.name for record in records]
costs = [whole_runs.slices(record.costs()) for record in records]
choices = [whole_runs.regions("--merge-slices", MERGED, record.vectors) for record in records]

# ---- Fig. 3: CPI, and Figs 7 to 9 ----
cpi = [(actual(rows), predict(rows, choice["regions"])) for rows, choice in zip(costs, choices)]
errors = [predicted / true - 1 for true, predicted in cpi]
body = [(name, f"{total(rows, 'instructions') / 1e6:.0f}", choice["slices"], len(choice["regions"]),
         page.percent(choice["chosen_instructions"] / choice["instructions"]),
         f"{true:.3f}", f"{predicted:.3f}", signed(error))
        for name, rows, choice, (true, predicted), error in
        zip(names, costs, choices, cpi, errors)]
measured = f"""## CPI (Figs 3 and 4)

![CPI, actual and predicted, and errors](pinpoints.svg)

""" + page.table(["run", "M instr.", "slices", "regions", "simulated, %", "CPI", "predicted",
                  "error, %"], body)
absolute = [abs(error) for error in errors]
size_rows = []
split_errors = []
for size in SIZES:
    for split in (0, SPLIT):
        found, share, count = [], [], []
        for record, rows in zip(records, costs):
            choice = whole_runs.regions("--merge-slices", size, *(["--split", split] if split else []),
                                        record.vectors)
            found.append(predict(rows, choice["regions"]) / actual(rows) - 1)
            share.append(choice["chosen_instructions"] / choice["instructions"])
            count.append(len(choice["regions"]))
        if split and size == MERGED:
            split_errors = found
        sizes = [abs(error) for error in found]
        size_rows.append((f"{size * whole_runs.SLICE / 1e6:g} M, " +
                          (f"split to {split}" if split else "SimPoint's"),
                          f"{statistics.mean(count):.0f}", page.percent(statistics.mean(share), 0),
                          f"{100 * statistics.mean(sizes):.2f}", f"{100 * statistics.median(sizes):.2f}",
                          f"{100 * max(sizes):.2f}", page.percent(within(found, 0.08), 0)))
measured += f"""
Sizes of slices, with regions as SimPoint chooses them (default settings) and with the heaviest clusters split in time (`--split {SPLIT}`):

""" + page.table(["slices", "regions", "simulated, %", "mean \\|error\\|, %", "median", "largest",
                  "within 8 %, % of runs"], size_rows)
measured += """
Paper C (SPEC CPU2017): mean 1.9, 1.3, 1.4, 1.0, 1.2 % with slices of 10, 30, 100, 500, 1000 M. PinPoints (slices of 250 M, at most
10 of them, programs of 10^11 to 10^13 instructions): 95 % of runs within 8 %.
"""

# ---- Fig. 13: against random and systematic choice ----
chance, step = [], []
for record, rows, choice in zip(records, costs, choices):
    a, b = draws(rows, len(choice["regions"]), record.run.name)
    chance += a
    step += b
table = [(name, signed(statistics.mean(map(abs, found))), signed(statistics.pstdev(found)),
          page.percent(within(found, 0.02), 0), page.percent(within(found, 0.08), 0),
          page.percent(within(found, 0.18), 0), signed(max(map(abs, found))))
         for name, found in [("SimPoint", errors), (f"split to {SPLIT}", split_errors),
                             ("random", chance), ("systematic", step)]]
measured += f"\n## Against random and systematic choice (Fig. 13)\n\nRandom and systematic: as many slices as SimPoint's choice, {DRAWS} draws of each run.\n\n"
measured += page.table(["", "mean \\|error\\|, %", "deviation, %", "within 2 %", "within 8 %",
                        "within 18 %", "largest, %"],
                       table + [("paper: SimPoint", "", 3, "", 95, "", ""),
                                ("paper: random", "", 9, "", "", 95, ""),
                                ("paper: systematic", "", 10, "", "", "", "")])

# ---- Fig. 5: speedups ----
machines = [whole_runs.MAIN, *whole_runs.OTHERS]
base = "chen-ooo"
speed_rows, speed_errors = [], {machine: [] for machine in machines if machine != base}
speedups = {machine: ([], []) for machine in speed_errors}
for record in records:
    choice = whole_runs.regions("--merge-slices", MERGED, record.begin_vectors)["regions"]
    found = {machine: whole_runs.slices(record.begin_costs(machine)) for machine in machines}
    row = [record.run.name]
    for machine in speed_errors:
        true = actual(found[base]) / actual(found[machine])
        predicted = predict(found[base], choice) / predict(found[machine], choice)
        speed_errors[machine].append(predicted / true - 1)
        speedups[machine][0].append(true)
        speedups[machine][1].append(predicted)
        row += [f"{true:.3f}", f"{predicted:.3f}", signed(predicted / true - 1)]
    speed_rows.append(row)
speed_rows.append(["**mean \\|error\\|**"] + sum((["", "", signed(statistics.mean(map(abs, found)))]
                                              for found in speed_errors.values()), []))
measured += f"""
## One set of regions, several machines (Fig. 5)

Speedup in cycles over `{base}`, over the first {whole_runs.BEGINNING // 1000000} M instructions of each run; `zen4-small` is `zen4` with an L2 of 256 KiB, a last-level
cache of 4 MiB and a window of 128. The regions know nothing of machines.

"""
measured += page.table(["run"] + [text for machine in speed_errors
                                  for text in (machine, "predicted", "error, %")], speed_rows)

# ---- Figs 7, 8: misses ----
miss_rows, miss_errors = [], {column: [] for column, _ in MISSES}
for name, rows, choice in zip(names, costs, choices):
    row = [name]
    for column, _ in MISSES:
        true, predicted = 1000 * actual(rows, column), 1000 * predict(rows, choice["regions"], column)
        miss_errors[column].append(abs(predicted - true))
        row += [f"{true:.3f}", f"{predicted:.3f}", f"{predicted - true:+.3f}"]
    miss_rows.append(row)
miss_rows.append(["**mean \\|difference\\|**"] + sum((["", "", f"{statistics.mean(found):.3f}"]
                                                   for found in miss_errors.values()), []))
measured += "\n## Misses per 1000 instructions (Figs 7 and 8)\n\nPrefetches included.\n\n"
measured += page.table(["run"] + [text for _, name in MISSES
                                  for text in (name, "predicted", "difference")], miss_rows)

# ---- Fig. 9: what the cycles went to ----
events = [name for name in costs[0][0] if name.startswith("units_")]
UNITS = 840  # of a cycle
event_rows, differences = [], []
for name, rows, choice in zip(names, costs, choices):
    found = {column: (actual(rows, column) / actual(rows) / UNITS,
                      predict(rows, choice["regions"], column) /
                      predict(rows, choice["regions"]) / UNITS)
             for column in events}
    worst = max(events, key=lambda column: abs(found[column][1] - found[column][0]))
    differences.append(abs(found[worst][1] - found[worst][0]))
    event_rows.append((name, *(f"{100 * found[column][0]:.1f} / {100 * found[column][1]:.1f}"
                               if max(found[column]) >= 0.0005 else "" for column in events),
                       f"{100 * differences[-1]:.2f}"))
measured += f"""
## What the cycles went to (Fig. 9)

Shares of the cycles by event, actual / predicted, in percent. The largest difference of any component of any run is
{100 * max(differences):.2f} points, of a run's largest {100 * statistics.mean(differences):.2f} on average.

"""
measured += page.table(["run", *(column.removeprefix("units_") for column in events),
                        "largest difference"], event_rows)

page.write("pinpoints", "experiments/pinpoints.py", measured)

marks = [i / 2 for i in range(0, 41)]
svg.figure(page.picture("pinpoints"), [
    svg.Bars("CPI of the whole run (Figs 3 and 4)", "cycles per instruction", names,
             [("actual", [true for true, _ in cpi]), ("predicted", [found for _, found in cpi])],
             height=260),
    svg.Lines("Runs and draws within an error (Fig. 13)", "|error|, %", "%", marks,
              [(name, [100 * within(found, mark / 100) for mark in marks])
               for name, found in [("SimPoint", errors), (f"split to {SPLIT}", split_errors),
                                   ("random", chance), ("systematic", step)]],
              height=240),
    *(svg.Bars(f"Speedup of {machine} over {base} (Fig. 5)", "times", names,
               [("actual", found[0]), ("predicted", found[1])], height=220)
      for machine, found in speedups.items()),
    *(svg.Bars(f"{name} misses per 1000 instructions (Figs 7 and 8)", "misses", names,
               [("actual", [1000 * actual(rows, column) for rows in costs]),
                ("predicted", [1000 * predict(rows, choice["regions"], column)
                               for rows, choice in zip(costs, choices)])], height=220)
      for column, name in MISSES),
])
