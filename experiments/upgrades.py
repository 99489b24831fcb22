"""What `culprit explain` says that a larger machine would save of memory-bound programs, against
simulations of that machine, into docs/results/upgrades.md.    python3 -B experiments/upgrades.py"""
import os
import statistics

from lib import page, run, svg

# A program, where its part begins, and its arguments: inputs several times larger than the caches.
LARGE = [("bipartite", "relax", "4", "200000"), ("chase", "chase_many", "500000", "4"),
         ("hashjoin", "probe", "400000"), ("lbm", "stream_collide", "1", "100000"),
         ("pending", "sum_values", "500000"), ("quadtree", "perimeter", "1", "13"),
         ("stencil", "collide", "1", "100000"), ("stream", "triad", "4", "1000000")]
REAL = [("bzip2", ["--skip", "5M"], ["bzip2", "-9", "-c", run.CULPRIT]),
        ("python3", ["--skip", "150M"],
         ["python3", "-S", "-c", "import random; r = random.Random(1); k = list(range(200000)); r.shuffle(k); "
                                 "d = {i: str(i) for i in k}; r.shuffle(k); print(sum(len(d[i]) for i in k))"]),
        ("xz", ["--skip", "20M"], ["xz", "-6", "-T1", "-c", run.CULPRIT])]
# Title, options, and parts of programs: (name, options, command).
LIMIT = "1M"


def workloads(isa):
    return [(name, ["--from", function], [run.workload(name, isa), *arguments])
            for name, function, *arguments in LARGE]


MACHINES = [("zen4", [], workloads("x86_64")),
            ("boom-tea", [], workloads("riscv64")),
            ("chen-ooo", [], workloads("riscv64") + REAL),
            ("chen-ooo, 8 MSHRs", ["--set", "l1d.mshrs=8"], workloads("riscv64") + REAL)]


def asked(title, options):
    return ["--machine", title.split(",")[0], "--limit", LIMIT, "--top", "1", *options]


def settings(upgrade):
    return [word for setting in upgrade["settings"] for word in ("--set", setting)]


def name_of(upgrade):
    return upgrade["upgrade"] + (f" × {upgrade['times']}" if upgrade["times"] > 1 else "")


found = {}  # [title][program]: the report, and {upgrade: (said, simulated)} in percent of the time
for title, options, parts in MACHINES:
    found[title] = {}
    for name, part, command in parts:
        base = asked(title, options) + part
        report = run.report("explain", base, command)
        savings = {}
        for upgrade in report["larger_machine"]["upgrades"]:
            if upgrade["times"] <= 2:
                cycles = run.report("sim", base + settings(upgrade), command)["cycles"]
                savings[name_of(upgrade)] = (upgrade["saves"]["percent"],
                                             100 * (1 - cycles / report["cycles"]))
        found[title][name] = report, savings


def share(report, *keys):
    return sum(report["larger_machine"][key]["percent"] for key in keys)


def upgrades_of(title):
    return list(next(iter(found[title].values()))[1])


measured = "## By machine and upgrade\n\nMean difference without its sign, in points of the run " \
    "time. Right: of those that save or cost 5 points or more when simulated, the ones said to save " \
    "or to cost.\n\n"
rows = []
for title in found:
    for upgrade in upgrades_of(title):
        pairs = [savings[upgrade] for _, savings in found[title].values()]
        large = [(said, true) for said, true in pairs if abs(true) >= 5]
        rows.append((title, upgrade, f"{statistics.mean(abs(s - t) for s, t in pairs):.1f}",
                     f"{statistics.median(abs(s - t) for s, t in pairs):.1f}",
                     f"{sum(s * t > 0 for s, t in large)} of {len(large)}"))
measured += page.table(["machine", "upgrade", "mean", "median", "right"], rows)
measured += "\n![What is said to be saved, and what is when simulated](upgrades.svg)\n"
for title in found:
    names = upgrades_of(title)
    measured += f"\n## {title}\n\nLong misses: percent of the time by the model, and simulated (waiting " \
        "for loads that missed the last cache, behind a full store queue). Of each upgrade what is " \
        "said to be saved, and what is when simulated.\n\n"
    measured += page.table(["program", "CPI", "long misses", *names], [
        (name, f"{report['cpi']:.2f}", f"{share(report, 'long_misses'):.0f} / "
         f"{share(report, 'simulated_llc_miss'):.0f} + {share(report, 'simulated_stores'):.0f}",
         *(f"{savings[u][0]:.1f} / {savings[u][1]:.1f}" for u in names))
        for name, (report, savings) in found[title].items()])
page.write("upgrades", "experiments/upgrades.py", measured)
svg.figure(page.picture("upgrades"), [
    svg.Bars(f"{title}: {upgrade}", "saved, % of run time", list(found[title]),
             [("said", [savings[upgrade][0] for _, savings in found[title].values()]),
              ("simulated", [savings[upgrade][1] for _, savings in found[title].values()])], height=240)
    for title, upgrade in (("zen4", "rob × 2"), ("boom-tea", "rob+mshrs × 2"), ("chen-ooo", "rob × 2"),
                           ("chen-ooo", "stride"), ("chen-ooo, 8 MSHRs", "mshrs × 2"))])
