"""Figs 2.4 and 6.1 to 6.5 of the hybrid analytical model's thesis and the speeds of its §6.1.5, into
docs/results/hybrid.md: predicted against simulated CPI due to long data misses.
    python3 -B experiments/hybrid.py"""
import itertools

from lib import page, run, svg

# A program, where its part begins, and its arguments: inputs several times larger than the caches.
PROGRAMS = [("bipartite", "relax", "1", "100000"), ("chase", "chase_one", "200000", "1"),
            ("chase", "chase_many", "400000", "4"), ("hashjoin", "probe", "200000"),
            ("lbm", "stream_collide", "1", "60000"), ("lists", "walk_both", "200000"),
            ("pages", "touch", "600000"), ("pending", "sum_values", "600000"),
            ("quadtree", "perimeter", "1", "12"), ("stencil", "collide", "1", "60000"),
            ("stream", "triad", "1", "1000000")]
PARTS = [(isa, *program) for isa, programs in
         (("riscv64", PROGRAMS), ("x86_64", [p for p in PROGRAMS
                                             if p[0] in ("bipartite", "hashjoin", "quadtree")]))
         for program in programs]
MSHRS, PREFETCHERS = [0, 16, 8, 4], ["none", "on_miss", "tagged", "stride"]
PLACES = list(itertools.product(MSHRS, PREFETCHERS))
SWEEP = ["--sweep", f"mshr={','.join(map(str, MSHRS))} prefetch={','.join(PREFETCHERS)}"]
LIMIT = "400K"


def name(part):
    isa, program, function = part[:3]
    return f"{program} {function}" + (" (x86-64)" if isa == "x86_64" else "")


def predict(part, *options):
    isa, program, function, *arguments = part
    return run.report("predict", ["--from", function, "--limit", LIMIT, *SWEEP, *options],
                      [run.workload(program, isa), *arguments])


def cells(report):
    """Of each (mshrs, prefetcher) what the report's first method says."""
    return {at: m["predictions"][0]["cpi"] for at, m in zip(PLACES, report["machines"])}


WAYS = {
    "plain, no pending hits": ["--windows=plain", "--no-pending-hits"],
    "plain, pending hits": ["--windows=plain"],
    "plain, pending hits, MSHRs ignored": ["--windows=plain", "--ignore-mshrs"],
    "SWAM": ["--windows=swam"],
    "SWAM, no compensation": ["--windows=swam", "--compensation=none"],
    "SWAM, no pending hits": ["--windows=swam", "--no-pending-hits"],
    "SWAM-MLP": [],
    "SWAM-MLP, no part B": ["--parts=ac"],
}
FIXED = ["oldest", "1/4", "1/2", "3/4", "youngest"]
found = {}
for part in PARTS:
    checked = predict(part, "--check")
    found[part] = {
        "report": checked,
        "actual": {at: m["simulated_cpi"] for at, m in zip(PLACES, checked["machines"])},
        **{way: cells(predict(part, *options)) for way, options in WAYS.items()},
        **{(kind, pending): cells(predict(part, "--windows=plain", f"--compensation={kind}", *more))
           for kind in FIXED for pending, more in ((True, []), (False, ["--no-pending-hits"]))}}


def error(part, way, at):
    return 100 * (found[part][way][at] / found[part]["actual"][at] - 1)


def mean(way, places):
    errors = [abs(error(part, way, at)) for part in PARTS for at in places]
    return sum(errors) / len(errors)


UNLIMITED = [(0, "none")]
FETCHING = [(0, kind) for kind in PREFETCHERS[1:]]
LIMITED = [(mshrs, "none") for mshrs in MSHRS[1:]]
BOTH = [(mshrs, kind) for mshrs in MSHRS[1:] for kind in PREFETCHERS[1:]]


def percent(value):
    return f"{value:.1f} %"


def thousand(part, key):
    report = found[part]["report"]
    return f"{1000 * report['machines'][0][key] / report['instructions']:.1f}"


SUMMARY = [
    ("unlimited MSHRs, plain, no pending hits", "plain, no pending hits", UNLIMITED, "39.7 %"),
    ("unlimited MSHRs, plain, pending hits", "plain, pending hits", UNLIMITED, "29.3 %"),
    ("unlimited MSHRs, SWAM, no compensation", "SWAM, no compensation", UNLIMITED, ""),
    ("unlimited MSHRs, SWAM", "SWAM", UNLIMITED, "10.3 %"),
    *((f"prefetch {kind}, SWAM", "SWAM", [(0, kind)], paper)
      for kind, paper in zip(PREFETCHERS[1:], ("10.7 %", "9.4 %", "21.3 %"))),
    ("prefetchers, SWAM", "SWAM", FETCHING, "13.8 %"),
    ("prefetchers, without part B", "SWAM-MLP, no part B", FETCHING, "21.4 %"),
    ("prefetchers, SWAM, no pending hits", "SWAM, no pending hits", FETCHING, "50.5 %"),
    ("16, 8 and 4 MSHRs, plain that ignores them", "plain, pending hits, MSHRs ignored", LIMITED,
     "33.6 %"),
    ("16, 8 and 4 MSHRs, plain", "plain, pending hits", LIMITED, ""),
    *((f"{mshrs} MSHRs, {way}", way, [(mshrs, "none")], paper)
      for way, papers in (("SWAM", ("9.8 %", "12.8 %", "23.2 %")),
                          ("SWAM-MLP", ("9.3 %", "9.2 %", "9.9 %")))
      for mshrs, paper in zip(MSHRS[1:], papers)),
    ("16, 8 and 4 MSHRs, SWAM-MLP", "SWAM-MLP", LIMITED, "9.5 %"),
    *((f"{mshrs} MSHRs and prefetchers, SWAM-MLP", "SWAM-MLP",
       [(mshrs, kind) for kind in PREFETCHERS[1:]], paper)
      for mshrs, paper in zip(MSHRS[1:], ("15.2 %", "17.7 %", "20.5 %"))),
    ("MSHRs and prefetchers, SWAM-MLP", "SWAM-MLP", BOTH, "17.8 %"),
]
measured = "## Mean absolute error\n\nOver all programs; after distance compensation unless it " \
    "says otherwise.\n\n" + page.table(
        ["what is predicted, and how", "here", "thesis"],
        [(text, percent(mean(way, places)), paper) for text, way, places, paper in SUMMARY])
REFINEMENTS = [p["method"] for p in found[PARTS[0]]["report"]["machines"][0]["predictions"]][1:]


def refined(number, places):
    errors = [abs(m["predictions"][number + 1]["error_percent"]) for part in PARTS
              for at, m in zip(PLACES, found[part]["report"]["machines"]) if at in places]
    return percent(sum(errors) / len(errors))


measured += "\n## One refinement after the other\n\nMean absolute error of `--check`; the first " \
    "three without compensation.\n\n" + page.table(
        ["", *REFINEMENTS], [(text, *(refined(i, places) for i in range(len(REFINEMENTS))))
                             for text, places in (("unlimited MSHRs", UNLIMITED),
                                                  ("16, 8 and 4 MSHRs", LIMITED),
                                                  ("all, prefetchers too", PLACES))])
measured += "\n![Error by program](hybrid.svg)\n\n## Programs (Fig. 6.2)\n\n" + page.table(
    ["program", "load misses per 1000", "store misses per 1000", "CPI, simulated", "plain, no PH",
     "plain", "SWAM, no comp.", "SWAM"],
    [(name(part), thousand(part, "load_misses"), thousand(part, "store_misses"),
      f"{found[part]['actual'][0, 'none']:.3f}",
      *(f"{found[part][way][0, 'none']:.3f} ({error(part, way, (0, 'none')):+.0f} %)" for way in
        ("plain, no pending hits", "plain, pending hits", "SWAM, no compensation", "SWAM")))
     for part in PARTS])
measured += "\nWithout pending hits the model shows what they are worth (Fig. 2.4): where the two " \
    "plain columns differ, misses are connected by hits on blocks on their way.\n"
measured += "\n## Fixed compensation (Fig. 6.1)\n\nMean absolute error of plain windows.\n\n" + \
    page.table(["", *FIXED], [
        (text, *(percent(mean((kind, pending), UNLIMITED)) for kind in FIXED))
        for text, pending in (("without pending hits (thesis: youngest 43.5 %)", False),
                              ("with pending hits (thesis: youngest 26.9 %)", True))])
measured += "\n## Prefetchers (Fig. 6.3)\n\nSWAM, error.\n\n" + page.table(
    ["program", *PREFETCHERS[1:]],
    [(name(part), *(f"{error(part, 'SWAM', at):+.1f} %" for at in FETCHING)) for part in PARTS])
measured += "\n## MSHRs (Figs 6.4 and 6.5)\n\nCPI simulated, and errors of plain windows that " \
    "ignore MSHRs, of plain ones, SWAM and SWAM-MLP.\n\n" + page.table(
        ["program", *(f"{mshrs} MSHRs" for mshrs in MSHRS[1:])],
        [(name(part), *(f"{found[part]['actual'][at]:.3f}: " + ", ".join(
            f"{error(part, way, at):+.0f}" for way in
            ("plain, pending hits, MSHRs ignored", "plain, pending hits", "SWAM", "SWAM-MLP")) +
            " %" for at in LIMITED)) for part in PARTS])
page.write("hybrid", "experiments/hybrid.py", measured)
names = [name(part) for part in PARTS]
svg.figure(page.picture("hybrid"), [
    svg.Bars("Unlimited MSHRs (Fig. 6.2 b)", "error without its sign, %", names,
             [(way, [abs(error(part, way, (0, "none"))) for part in PARTS])
              for way in ("plain, no pending hits", "plain, pending hits", "SWAM")], height=280),
    svg.Bars("4 MSHRs (Fig. 6.5 c)", "error without its sign, %", names,
             [(way, [abs(error(part, way, (4, "none"))) for part in PARTS])
              for way in ("plain, pending hits, MSHRs ignored", "SWAM", "SWAM-MLP")], height=280),
    svg.Bars("Prefetchers, SWAM (Fig. 6.3 b)", "error without its sign, %", names,
             [(kind, [abs(error(part, "SWAM", (0, kind))) for part in PARTS])
              for kind in PREFETCHERS[1:]], height=280)])
