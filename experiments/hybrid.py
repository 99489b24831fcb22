"""Figs 6.1 to 6.5 of the hybrid analytical model's thesis and the speeds of its §6.1.5, into
docs/results/hybrid.md: predicted against simulated CPI due to long data misses.
    python3 -B experiments/hybrid.py"""
import itertools

from lib import page, run, svg
from lib.misses import TRACES

MSHRS, PREFETCHERS = [0, 16, 8, 4], ["none", "on_miss", "tagged", "stride"]
PLACES = list(itertools.product(MSHRS, PREFETCHERS))
SWEEP = ["--sweep", f"mshr={','.join(map(str, MSHRS))} prefetch={','.join(PREFETCHERS)}"]
FEW = 10  # load misses per 1000 instructions: with fewer a program is listed, but in no mean


def predict(part, *options):
    return run.report_of("predict", [*SWEEP, *options], TRACES[part])


def cells(report):
    """Of each (mshrs, prefetcher) what the report's first method says."""
    return {at: m["predictions"][0]["cpi"] for at, m in zip(PLACES, report["machines"])}


KINDS = {"plain, no pending hits": ["--windows=plain", "--no-pending-hits"],
         "plain": ["--windows=plain"], "SWAM": ["--windows=swam"], "SWAM-MLP":
         ["--windows=swam-mlp"]}
COMPENSATIONS = ["none", "distance", "window"]
WAYS = {
    **{(kind, how): [*options, f"--compensation={how}"] for kind, options in KINDS.items()
       for how in COMPENSATIONS},
    "plain, MSHRs ignored": ["--windows=plain", "--ignore-mshrs", "--compensation=distance"],
    "SWAM, no pending hits": ["--windows=swam", "--no-pending-hits", "--compensation=distance"],
    "no part B": ["--windows=swam-mlp", "--parts=ac", "--compensation=distance"],
    "sliding": [],
}
PLAIN, SWAM, MLP = (("plain", "distance"), ("SWAM", "distance"), ("SWAM-MLP", "distance"))
FIXED = ["oldest", "1/4", "1/2", "3/4", "youngest"]
found = {}
for part in TRACES:
    checked = predict(part, "--check")
    found[part] = {
        "report": checked,
        "actual": {at: m["simulated_cpi"] for at, m in zip(PLACES, checked["machines"])},
        **{way: cells(predict(part, *options)) for way, options in WAYS.items()},
        **{(how, pending): cells(predict(part, "--windows=plain", f"--compensation={how}", *more))
           for how in FIXED for pending, more in ((True, []), (False, ["--no-pending-hits"]))}}


def thousand(part, key):
    report = found[part]["report"]
    return 1000 * report["machines"][0][key] / report["instructions"]


PARTS = list(TRACES)
DEBIAN = ["tsort", "shuf", "perl sort", "python sum", "python objects"]
MEANT = [part for part in PARTS if thousand(part, "load_misses") >= FEW]


def error(part, way, at):
    return 100 * (found[part][way][at] / found[part]["actual"][at] - 1)


def mean(way, places, parts=MEANT):
    errors = [abs(error(part, way, at)) for part in parts for at in places]
    return sum(errors) / len(errors)


UNLIMITED = [(0, "none")]
FETCHING = [(0, kind) for kind in PREFETCHERS[1:]]
LIMITED = [(mshrs, "none") for mshrs in MSHRS[1:]]
BOTH = [(mshrs, kind) for mshrs in MSHRS[1:] for kind in PREFETCHERS[1:]]


def percent(value):
    return f"{value:.1f} %"


def window(way):
    return (way[0], "window")


SUMMARY = [
    ("unlimited MSHRs, plain, no pending hits", ("plain, no pending hits", "distance"), UNLIMITED,
     "39.7 %"),
    ("unlimited MSHRs, plain", PLAIN, UNLIMITED, "29.3 %"),
    ("unlimited MSHRs, SWAM", SWAM, UNLIMITED, "10.3 %"),
    *((f"prefetch {kind}, SWAM", SWAM, [(0, kind)], paper)
      for kind, paper in zip(PREFETCHERS[1:], ("10.7 %", "9.4 %", "21.3 %"))),
    ("prefetchers, SWAM", SWAM, FETCHING, "13.8 %"),
    ("prefetchers, without part B", "no part B", FETCHING, "21.4 %"),
    ("prefetchers, SWAM, no pending hits", "SWAM, no pending hits", FETCHING, "50.5 %"),
    ("16, 8 and 4 MSHRs, plain that ignores them", "plain, MSHRs ignored", LIMITED, "33.6 %"),
    ("16, 8 and 4 MSHRs, plain", PLAIN, LIMITED, ""),
    *((f"{mshrs} MSHRs, {way[0]}", way, [(mshrs, "none")], paper)
      for way, papers in ((SWAM, ("9.8 %", "12.8 %", "23.2 %")),
                          (MLP, ("9.3 %", "9.2 %", "9.9 %")))
      for mshrs, paper in zip(MSHRS[1:], papers)),
    ("16, 8 and 4 MSHRs, SWAM-MLP", MLP, LIMITED, "9.5 %"),
    *((f"{mshrs} MSHRs and prefetchers, SWAM-MLP", MLP,
       [(mshrs, kind) for kind in PREFETCHERS[1:]], paper)
      for mshrs, paper in zip(MSHRS[1:], ("15.2 %", "17.7 %", "20.5 %"))),
    ("MSHRs and prefetchers, SWAM-MLP", MLP, BOTH, "17.8 %"),
]


def other(way, places, column):
    """The same with window compensation, or without windows."""
    if column == "window":
        return percent(mean(window(way), places)) if isinstance(way, tuple) else ""
    return percent(mean("sliding", places)) if way in (SWAM, MLP) else ""


measured = f"## Mean absolute error\n\nOver the {len(MEANT)} programs with {FEW} or more load " \
    "misses per 1000 instructions.\n\n" + page.table(
        ["what is predicted, and how", "thesis", "distance compensation", "window compensation",
         "sliding"],
        [(text, paper, percent(mean(way, places)), other(way, places, "window"),
          other(way, places, "sliding")) for text, way, places, paper in SUMMARY])

OURS = [part for part in MEANT if part not in DEBIAN]
measured += "\nOf the workloads alone SWAM, with unlimited MSHRs, is off by " + " and ".join(
    f"{percent(mean(way, UNLIMITED, OURS))} with {how} compensation"
    for way, how in ((SWAM, "distance"), (window(SWAM), "window"))) + ".\n"

LADDER = [("unlimited MSHRs", UNLIMITED), ("16, 8 and 4 MSHRs", LIMITED),
          ("all, prefetchers too", PLACES)]
measured += "\n## One refinement after the other\n\nMean absolute error; each has those before it." \
    "\n\n" + page.table(
        ["", "compensation", "plain windows", "+ pending hits", "+ SWAM", "+ SWAM-MLP"],
        [(text, how, *(percent(mean((kind, how), places)) for kind in KINDS))
         for text, places in LADDER for how in COMPENSATIONS])
STEPS = [("plain windows", ("plain, no pending hits", "none")),
         ("+ window compensation", ("plain, no pending hits", "window")),
         ("+ pending hits", ("plain", "window")), ("+ SWAM", ("SWAM", "window")),
         ("+ SWAM-MLP", ("SWAM-MLP", "window")), ("sliding", "sliding")]
measured += "\nIn the order of `--check`:\n\n" + page.table(
    ["", *(name for name, way in STEPS)],
    [(text, *(percent(mean(way, places)) for name, way in STEPS)) for text, places in LADDER])
measured += "\n![Error by program](hybrid.svg)\n\n## Programs (Fig. 6.2)\n\nA program in brackets " \
    "is in no mean.\n\n" + page.table(
    ["program", "load misses per 1000", "store misses per 1000", "CPI, simulated", "plain, no PH",
     "plain", "SWAM", "SWAM, window comp.", "sliding"],
    [(part if part in MEANT else f"({part})", f"{thousand(part, 'load_misses'):.1f}",
      f"{thousand(part, 'store_misses'):.1f}", f"{found[part]['actual'][0, 'none']:.3f}",
      *(f"{found[part][way][0, 'none']:.3f} ({error(part, way, (0, 'none')):+.0f} %)" for way in
        (("plain, no pending hits", "distance"), PLAIN, SWAM, window(SWAM), "sliding")))
     for part in PARTS])
measured += "\nWithout pending hits the model shows what they are worth, as [simulation](pending-hits.md) " \
    "does (Fig. 2.4): where the two " \
    "plain columns differ, misses are connected by hits on blocks on their way.\n"
measured += "\n## Fixed compensation (Fig. 6.1)\n\nMean absolute error of plain windows.\n\n" + \
    page.table(["", *FIXED], [
        (text, *(percent(mean((how, pending), UNLIMITED)) for how in FIXED))
        for text, pending in (("without pending hits (thesis: youngest 43.5 %)", False),
                              ("with pending hits (thesis: youngest 26.9 %)", True))])
measured += "\n## Prefetchers (Fig. 6.3)\n\nErrors of SWAM with distance compensation, and of the " \
    "sliding reorder buffer.\n\n" + page.table(
    ["program", *PREFETCHERS[1:]],
    [(part, *(f"{error(part, SWAM, at):+.1f}, {error(part, 'sliding', at):+.1f} %"
              for at in FETCHING)) for part in PARTS])
measured += "\n## MSHRs (Figs 6.4 and 6.5)\n\nCPI simulated, and errors of plain windows that " \
    "ignore MSHRs, of plain ones, SWAM and SWAM-MLP with distance compensation, and of the sliding " \
    "reorder buffer.\n\n" + page.table(
        ["program", *(f"{mshrs} MSHRs" for mshrs in MSHRS[1:])],
        [(part, *(f"{found[part]['actual'][at]:.3f}: " + ", ".join(
            f"{error(part, way, at):+.0f}" for way in
            ("plain, MSHRs ignored", PLAIN, SWAM, MLP, "sliding")) +
            " %" for at in LIMITED)) for part in PARTS])
page.write("hybrid", "experiments/hybrid.py", measured)
svg.figure(page.picture("hybrid"), [
    svg.Bars("Unlimited MSHRs (Fig. 6.2 b)", "error without its sign, %", PARTS,
             [(name, [abs(error(part, way, (0, "none"))) for part in PARTS])
              for name, way in (("plain, no pending hits", ("plain, no pending hits", "distance")),
                                ("SWAM", SWAM), ("sliding", "sliding"))], height=280),
    svg.Bars("4 MSHRs (Fig. 6.5 c)", "error without its sign, %", PARTS,
             [(name, [abs(error(part, way, (4, "none"))) for part in PARTS])
              for name, way in (("plain, MSHRs ignored", "plain, MSHRs ignored"),
                                ("SWAM-MLP", MLP), ("sliding", "sliding"))], height=280),
    svg.Bars("Prefetchers, sliding (Fig. 6.3 b)", "error without its sign, %", PARTS,
             [(kind, [abs(error(part, "sliding", (0, kind))) for part in PARTS])
              for kind in PREFETCHERS[1:]], height=280)])
