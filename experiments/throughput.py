"""Figs 6.9, 6.15 and 6.16 and the throughputs of Table 6.1 of the hybrid model's thesis, into
docs/results/throughput.md: instructions per cycle of multithreaded chips, predicted and simulated.
    python3 -B experiments/throughput.py"""
from lib import page, sharing, svg
from lib.sharing import SHAPES, mean, predicted, simulated

PAPER = {(1024, 8): 8.67, (1024, 12): 8.55, (1024, 16): 8.47, (2048, 8): 8.70, (2048, 12): 8.21,
         (2048, 16): 8.21, (4096, 8): 8.22, (4096, 12): 7.88, (4096, 16): 7.47}
MODELS = {"sum_of_cycles": ("sum of cycles", "-58 %"), "sum_of_ipcs": ("sum of IPCs", "+55 %"),
          "bernoulli": ("Bernoulli", "+23 %"), "markov": ("Markov", "7.9 %"),
          "mean_value": ("mean value", "")}
DEFAULT = 4096, 12
truth = {shape: simulated(*shape) for shape in SHAPES}
model = {shape: predicted(*shape) for shape in SHAPES}
by_time = {shape: predicted(*shape, "--latency", "by-time") for shape in SHAPES}


def percent(value):
    return f"{100 * value:.1f} %"


def signed(value):
    return f"{100 * value:+.1f} %"


def off(reports, shape, kind):
    """Of each core, with its sign."""
    return [a["ipc"][kind] / b["simulated_ipc"] - 1
            for a, b in zip(reports[shape]["cores"], truth[shape]["cores"])]


def mean_error(reports, shape, kind):
    return mean(map(abs, off(reports, shape, kind)))


# ---- Fig. 6.9 ----
errors = {kind: off(model, DEFAULT, kind) for kind in MODELS}
measured = "## Models of a core (Fig. 6.9)\n\nInstructions per cycle of the cores, two of which " \
    "run each workload, L2 of 3 MiB.\n\n" + page.table(
        ["core", "simulated", *(name for name, _ in MODELS.values())],
        [(core + 1, f"{truth[DEFAULT]['cores'][core]['simulated_ipc']:.3f}",
          *(f"{model[DEFAULT]['cores'][core]['ipc'][kind]:.3f} ({signed(errors[kind][core])})"
            for kind in MODELS)) for core in range(8)])
measured += "\n" + page.table(
    ["", *(name for name, _ in MODELS.values()), "Markov, M by time"],
    [("mean error", *(signed(mean(errors[kind])) for kind in MODELS),
      signed(mean(off(by_time, DEFAULT, "markov")))),
     ("mean without sign", *(percent(mean(map(abs, errors[kind]))) for kind in MODELS),
      percent(mean_error(by_time, DEFAULT, "markov"))),
     ("worst", *(percent(max(map(abs, errors[kind]))) for kind in MODELS),
      percent(max(map(abs, off(by_time, DEFAULT, "markov"))))),
     ("thesis", *(paper for _, paper in MODELS.values()), "")])

# ---- Table 6.1 and Fig. 6.15 ----


def chip_ipc(reports, shape, kind):
    return mean(core["ipc"][kind] for core in reports[shape]["cores"])


def real_ipc(shape):
    return mean(core["simulated_ipc"] for core in truth[shape]["cores"])


pairs = [(chip_ipc(model, shape, "markov"), real_ipc(shape)) for shape in SHAPES]
rows = [(f"{shape[0] // 1024}K-{shape[1]}", f"{real:.4f}", f"{ours:.4f}",
         percent(mean_error(model, shape, "markov")), f"{PAPER[shape]} %",
         percent(mean_error(model, shape, "mean_value")),
         percent(mean_error(by_time, shape, "markov")))
        for shape, (ours, real) in zip(SHAPES, pairs)]
rows.append(("mean", "", "", percent(mean(mean_error(model, s, "markov") for s in SHAPES)), "8.26 %",
             percent(mean(mean_error(model, s, "mean_value") for s in SHAPES)),
             percent(mean(mean_error(by_time, s, "markov") for s in SHAPES))))
measured += "\n![Throughput](throughput.svg)\n\n## By size of the L2 (Table 6.1, Fig. 6.15)\n\n" \
    "Instructions per cycle of a core, mean over cores; mean error of the cores. Correlation of " \
    f"Markov's with the simulated ones over the nine: {sharing.correlation(pairs):.4f} " \
    "(thesis: 0.9906).\n\n" + page.table(
        ["L2", "simulated", "Markov", "error, Markov", "thesis", "error, mean value",
         "error, Markov, M by time"], rows)

# ---- Fig. 6.16 ----
SEARCH = ["--search", "cores=1..8 threads=1..4", "--limit", "2M"]
panels = []
measured += "\n## Which chip for a program (Fig. 6.16)\n\n1 to 8 cores of 1 to 4 threads, every " \
    "one with the program, 2 M instructions each; the 32 chips predicted and simulated. The " \
    "thesis finds the same best chip as simulation 65 times as fast.\n\n"
rows = []
for name in ("bipartite", "bzip2", "nab"):
    found = sharing.check(SEARCH, [name])
    points = found["chips"]
    best = max(points, key=lambda p: p["ipc"]["markov"])
    real = max(points, key=lambda p: p["simulated_ipc"])
    off_by = [abs(p["ipc"]["markov"] / p["simulated_ipc"] - 1) for p in points]
    rows.append((name, f"{best['cores']} × {best['threads']}", f"{real['cores']} × {real['threads']}",
                 f"{best['ipc']['markov']:.3f}", f"{real['simulated_ipc']:.3f}",
                 percent(mean(off_by)), percent(max(off_by)),
                 f"{found['profile_seconds'] + found['model_seconds']:.2f} s",
                 f"{found['model_seconds']:.4f} s", f"{found['simulation_seconds']:.0f} s",
                 f"{found['speedup']:.0f}"))
    kinds = (("simulated", lambda p: p["simulated_ipc"]), ("Markov", lambda p: p["ipc"]["markov"]))
    lines = {f"{threads} thread{'s' * (threads > 1)}, {what}":
             [next(value(p) for p in points if (p["cores"], p["threads"]) == (cores, threads))
              for cores in range(1, 9)] for threads in (1, 2, 4) for what, value in kinds}
    panels.append(svg.Lines(f"{name}: chips of 1 to 8 cores (Fig. 6.16)", "cores",
                            "instructions per cycle", list(range(1, 9)), list(lines.items()),
                            dashed={line: line.replace("Markov", "simulated") for line in lines
                                    if "Markov" in line}))
measured += page.table(["program", "best by model", "simulated", "its IPC by model", "simulated",
                        "mean error", "worst", "profile and models", "models alone", "simulation",
                        "times as fast"], rows)
page.write("throughput", "experiments/throughput.py", measured)
svg.figure(page.picture("throughput"), [
    svg.Bars("Cores (Fig. 6.9)", "instructions per cycle", [f"core {c + 1}" for c in range(8)],
             [("simulated", [c["simulated_ipc"] for c in truth[DEFAULT]["cores"]])] +
             [(name, [c["ipc"][kind] for c in model[DEFAULT]["cores"]])
              for kind, (name, _) in MODELS.items()], height=260),
    svg.Lines("Shapes of the L2 (Fig. 6.15)", "sets of the L2 and ways",
              "instructions per cycle of a core", list(range(len(SHAPES))),
              [("simulated", [b for _, b in pairs]), ("Markov", [a for a, _ in pairs])],
              x_names=[f"{sets // 1024}K-{ways}" for sets, ways in SHAPES],
              low=min(min(pair) for pair in pairs)),
    *panels])
