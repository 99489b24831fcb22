"""Figs 3.2, 6.6 to 6.8, 6.12 and 6.14 and the misses of Table 6.1 of the hybrid model's thesis, into docs/results/contention.md: what programs that share caches cost each other, predicted
and simulated.
    python3 -B experiments/contention.py"""
from lib import page, sharing, svg
from lib.sharing import CHIP, SHAPES, errors, mean, predicted, ratios, simulated

PAPER = {(1024, 8): (44.61, 34.44), (1024, 12): (45.86, 5.12), (1024, 16): (50.01, 3.78),
         (2048, 8): (48.01, 4.67), (2048, 12): (44.94, 3.31), (2048, 16): (43.27, 2.84),
         (4096, 8): (45.80, 2.92), (4096, 12): (41.12, 4.46), (4096, 16): (42.71, 4.95)}
NAMES = list(sharing.COMMANDS)
truth = {shape: simulated(*shape) for shape in SHAPES}
model = {shape: predicted(*shape) for shape in SHAPES}
DEFAULT = 4096, 12


def percent(value):
    return f"{100 * value:.1f} %"


def shape_name(shape):
    return f"{shape[0] // 1024}K-{shape[1]}"


# ---- Table 6.1 ----
found = {shape: {level: ratios(model[shape], truth[shape], level) for level in ("l1d", "l2")}
         for shape in SHAPES}
rows = [(shape_name(shape), percent(mean(errors(found[shape]["l1d"]))), f"{PAPER[shape][0]} %",
         percent(mean(errors(found[shape]["l2"]))), f"{PAPER[shape][1]} %",
         percent(sharing.median(errors(found[shape]["l2"]))),
         percent(max(errors(found[shape]["l2"]))),
         f"{sharing.correlation(found[shape]['l2']):.4f}") for shape in SHAPES]
over = {level: mean(mean(errors(found[shape][level])) for shape in SHAPES)
        for level in ("l1d", "l2")}
every = mean(mean(errors(found[shape]["l2"], 0)) for shape in SHAPES)
rows.append(("mean", percent(over["l1d"]), "45.15 %", percent(over["l2"]), "7.39 %",
             percent(mean(sharing.median(errors(found[shape]["l2"])) for shape in SHAPES)), "",
             f"{mean(sharing.correlation(found[shape]['l2']) for shape in SHAPES):.4f}"))
measured = "## Extra misses by size of the L2 (Table 6.1)\n\nMean over threads of the error " \
    "(without its sign) of extra misses, of threads with more than a thousandth of those alone " \
    f"(with all that have any: L2 {percent(every)} in the mean); correlation of extra misses over " \
    "those alone.\n\n" + \
    page.table(["L2", "extra L1D misses", "thesis", "extra L2 misses", "thesis", "median thread",
                "worst thread", "correlation"], rows)

# ---- Figs 6.6 and 6.7 ----
PLACES = [i for i in range(len(CHIP)) if i // 4 % 2 == 0]  # of two like cores the first
thousand = 1000


def thread_row(i):
    ours, real = model[DEFAULT]["threads"][i], truth[DEFAULT]["threads"][i]["simulated"]
    cells = [f"{i // 8 + 1} {CHIP[i]}"]
    for level in ("l1d", "l2"):
        alone, extra = f"{level}_misses_alone", f"{level}_misses_extra"
        error = percent(ours[extra] / real[extra] - 1) if real[extra] > real[alone] / 1000 else ""
        cells += [f"{thousand * real[alone]:.3f}", f"{thousand * real[extra]:.3f}",
                  f"{thousand * ours[extra]:.3f}", error]
    return cells


measured += "\n![Extra misses](contention.svg)\n\n## Programs (Figs 6.6 and 6.7)\n\nMisses per " \
    "1000 instructions, L2 of 3 MiB; workload and program.\n\n" + page.table(
        ["program", "L1D alone", "extra", "predicted", "error", "L2 alone", "extra", "predicted",
         "error"], map(thread_row, PLACES))

# ---- Figs 6.8, 6.12 and 6.14 ----
GROUPS = range(1, 21)


def errors_of(*options):
    report = predicted(*DEFAULT, *options)
    return {level: mean(errors(ratios(report, truth[DEFAULT], level))) for level in ("l1d", "l2")}


by_groups = [errors_of("--groups", groups) for groups in GROUPS]
measured += "\n## Groups of circular sequences (Fig. 6.8)\n\n" + page.table(
    ["groups", *map(str, GROUPS[::2])],
    [("extra L2 misses", *(percent(e["l2"]) for e in by_groups[::2])),
     ("extra L1D misses", *(percent(e["l1d"]) for e in by_groups[::2]))])
by_model = {kind: errors_of("--model", kind)
            for kind in ("measured", "binomial", "inductive", "prior")}
measured += "\n## S(x) and b(i,x) measured or modelled (Figs 6.12 and 6.14)\n\nThe thesis: " \
    "measured, errors are 16.4 and 3.1 % less (L1D, L2) than binomial ones, 83.1 and 66.3 % less " \
    "than with Chandra's induction.\n\n" + page.table(
        ["model", "extra L1D misses", "extra L2 misses"],
        [(kind, percent(e["l1d"]), percent(e["l2"])) for kind, e in by_model.items()])

# ---- Fig. 3.2 ----
COPIES, GRAPH = (2, 4, 8, 12, 16, 24, 32), "bipartite"


def copies(how, count, *options):
    """So many copies, each on a core of its own."""
    return how(["--set", f"chip.cores={count}", "--set", "chip.threads=1", *options], [GRAPH])


def times(threads):
    return mean(t["l2_misses_extra"] for t in threads) / mean(t["l2_misses_alone"] for t in threads)


rows, figure_3_2 = [], []
for count in COPIES:
    checked = copies(sharing.check, count)
    real = times([t["simulated"] for t in checked["threads"]])
    new, old = (times(copies(sharing.model, count, "--model", kind)["threads"]) for kind in ("measured", "prior"))
    figure_3_2.append((real, new, old))
    rows.append((count, f"{real:.3f}", f"{new:.3f} ({percent(new / real - 1)})",
                 f"{old:.3f} ({percent(old / real - 1)})"))
measured += f"\n## Copies of one program (Fig. 3.2)\n\nExtra L2 misses of {GRAPH} over those alone, " \
    "a copy to a core. In the thesis 12 copies of mcf miss 6.2 times more, by the model 6.5, by " \
    "the prior one 37.6 times.\n\n" + page.table(
        ["copies", "simulated", "predicted", "prior model"], rows)

page.write("contention", "experiments/contention.py", measured)

# ---- pictures ----
labels = [f"{i // 8 + 1} {CHIP[i]}" for i in PLACES]
HIGHEST = {"l1d": 1, "l2": 2}  # times those alone, in the picture; what is more is written above


def bars(level, title):
    pairs = [found[DEFAULT][level][i] for i in PLACES]
    return svg.Bars(title, "times those alone", labels,
                    [("simulated", [b for _, b in pairs]), ("predicted", [a for a, _ in pairs])],
                    height=220, limit=HIGHEST[level])


svg.figure(page.picture("contention"), [
    bars("l1d", "Extra L1D misses over those alone (Fig. 6.6 a)"),
    bars("l2", "Extra L2 misses over those alone (Fig. 6.6 b)"),
    svg.Scatter("Extra misses over those alone (Fig. 6.7)", "simulated", "predicted",
                [(name, [(b, a) for a, b in found[DEFAULT][level]])
                 for name, level in (("L1D", "l1d"), ("L2", "l2"))]),
    svg.Lines("Mean error by number of groups (Fig. 6.8)", "groups", "error, %", list(GROUPS),
              [("extra L2 misses", [100 * e["l2"] for e in by_groups]),
               ("extra L1D misses", [100 * e["l1d"] for e in by_groups])]),
    svg.Lines(f"Extra L2 misses of copies of {GRAPH} (Fig. 3.2)", "copies", "times those alone",
              list(COPIES), [(name, [row[n] for row in figure_3_2]) for n, name in
                             enumerate(("simulated", "predicted", "prior model"))]),
])
