"""Figs 3.3, 3.4, 6.10, 6.11 and 6.13 of the hybrid model's thesis: the sets of a cache that a program
touches and the blocks that it touches in each, measured and modelled, into
docs/results/contention-sets.md. Takes two minutes.    python3 -B experiments/contention-sets.py"""
import json
import math

from lib import page, sharing, svg

NAMES = list(sharing.COMMANDS)
GRAPH = "bipartite"
SETS, WAYS = 4096, 12  # the L2 of the thesis's figures, 3 MiB
LATE = (1024, 16384, 131072)  # loads and stores; the thesis: 1,000, 10,000 and 100,000


def level_of(name):
    with open(sharing.profile(name)) as content:
        return next(level for level in json.load(content)["levels"][1:]
                    if (level["sets"], level["ways"]) == (SETS, WAYS))


levels = {name: level_of(name) for name in NAMES}


def windows(level):
    """x of each point."""
    points = len(level["mean_sets"])
    return [2 ** k for k in range(points - 1)] + [level["run"]]


def point_at(level, x):
    """The last one where the run has fewer loads and stores."""
    found = windows(level)
    return found.index(x) if x in found[:-1] else len(found) - 1


def binomial_sets(level, point):
    """S(x) = N (1 − (1 − 1/N)^U(x)), §6.2.2."""
    return SETS * (1 - (1 - 1 / SETS) ** level["mean_blocks"][point])


def measured_blocks(level, point):
    return [level["touched"][i][point] for i in range(WAYS)]


def binomial_blocks(level, point):
    """b(i, x) of §6.2.2: of so many blocks each lies in a set with p = 1/N."""
    blocks, p = level["mean_blocks"][point], 1 / SETS
    none = (1 - p) ** blocks
    of = [math.exp(math.lgamma(blocks + 1) - math.lgamma(i + 1) - math.lgamma(blocks - i + 1)
                   + i * math.log(p) + (blocks - i) * math.log1p(-p)) / (1 - none)
          if i <= blocks else 0 for i in range(1, WAYS)]
    return of + [max(1 - sum(of), 0)]


def inductive_blocks(level, point):
    """b(i, x) = P(seq(i, n)), §6.2.3, n the accesses to the level in x over S(x): from one access to
    the next a set goes from i to i + 1 blocks unless a circular sequence of at most i ends."""
    uses = windows(level)[point] * level["accesses"] / level["run"] / level["mean_sets"][point]
    stay, ended = [], 0
    for sequences in level["circular"]:
        ended += sum(count for _, count, *_ in sequences)
        stay.append(ended / level["accesses"])
    stay[-1] = 1

    def after(accesses):
        of = [1] + [0] * (WAYS - 1)
        for _ in range(accesses - 1):
            of = [of[i] * stay[i] + (of[i - 1] * (1 - stay[i - 1]) if i else 0)
                  for i in range(WAYS)]
        return of

    whole = max(int(uses), 1)
    part = max(uses, 1) - whole
    return [(1 - part) * below + part * above
            for below, above in zip(after(whole), after(whole + 1))]


def mean_blocks(of):
    return sum((i + 1) * share for i, share in enumerate(of))


MODELS = {"measured": measured_blocks, "binomial": binomial_blocks, "inductive": inductive_blocks}
graph = levels[GRAPH]
OCTAVES = range(8, 25)
grid = [2 ** k for k in OCTAVES]
POWERS = {"logarithmic": True, "x_names": [f"2^{k}" for k in OCTAVES]}


def signed(value):
    return f"{100 * value:+.1f}"


rows = []
for name, level in levels.items():
    of = [(binomial_sets(level, point_at(level, x)), level["mean_sets"][point_at(level, x)])
          for x in grid]
    worst = max(of, key=lambda pair: abs(pair[0] / pair[1] - 1))
    rows.append((name, *(f"{level['mean_sets'][point_at(level, x)]:.0f}" for x in LATE),
                 *(signed(binomial_sets(level, point_at(level, x)) /
                          level["mean_sets"][point_at(level, x)] - 1) for x in LATE),
                 signed(worst[0] / worst[1] - 1)))
measured = (f"![Sets touched, and blocks in each](contention-sets.svg)\n\n## Sets touched (Figs 3.3 and 6.10)\n\n"
            f"S(x) of the {SETS} sets, measured, and how far the binomial one is off, %; worst of windows "
            f"from {grid[0]} to {grid[-1]:,} loads and stores.\n\n" + page.table(
                ["program", *(f"{x:,}" for x in LATE), *(f"binomial, {x:,}" for x in LATE), "worst"],
                rows))
measured += (f"\n## Blocks of a set (Figs 3.4, 6.11 and 6.13)\n\nb(i, x) of {GRAPH}: share of the touched sets that see "
             "i distinct blocks in x loads and stores, %.\n\n" + page.table(
                 ["x", "", *(str(i) for i in range(1, WAYS)), f"{WAYS} and more", "mean i"],
                 [(f"{x:,}" if kind == "measured" else "", kind,
                   *(f"{100 * b:.1f}" for b in of), f"{mean_blocks(of):.2f}")
                  for x in LATE for kind, model in MODELS.items()
                  for of in [model(graph, point_at(graph, x))]]))
page.write("contention-sets", "experiments/contention-sets.py", measured)

svg.figure(page.picture("contention-sets"), [
    svg.Lines("Distinct sets touched, measured (Figs 3.3 and 6.10)", "loads and stores", "S(x)", grid,
              [(name, [level["mean_sets"][point_at(level, x)] for x in grid])
               for name, level in levels.items()], **POWERS),
    *(svg.Lines(f"{name}: distinct sets touched (Fig. 6.10)", "loads and stores", "S(x)", grid,
                [("measured", [levels[name]["mean_sets"][point_at(levels[name], x)] for x in grid]),
                 ("binomial", [binomial_sets(levels[name], point_at(levels[name], x))
                               for x in grid])], height=160, **POWERS)
      for name in ("nab", "stream", "bzip2")),
    *(svg.Bars(f"{GRAPH}: blocks of a touched set in {x:,} loads and stores (Figs 6.11 and 6.13)",
               "share of sets, %", [*map(str, range(1, WAYS)), f"{WAYS}+"],
               [(kind, [100 * b for b in model(graph, point_at(graph, x))])
                for kind, model in MODELS.items()], height=160) for x in LATE)])
