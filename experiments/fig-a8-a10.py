"""Figs. A.8 to A.10 of TIP: errors of the profilers by function, basic block and instruction, into
docs/results/fig-a8-a10.md.    python3 -B experiments/fig-a8-a10.py"""
from lib import page, profilers, svg

# Means and, where it gives them, maxima (§5.1).
PAPER = {
    "function": {"Software": (9.1, 31.7), "Dispatch": (5.8, 27.4), "LCI": (1.6, 10.9),
                 "NCI": (0.6, None), "TIP-ILP": (0.4, None), "TIP": (0.3, None)},
    "basic_block": {"Software": (29.9, None), "Dispatch": (22.4, None), "LCI": (11.9, 56.1),
                    "NCI": (2.3, None), "TIP-ILP": (1.2, None), "TIP": (0.7, None)},
    "instruction": {"Software": (61.8, None), "Dispatch": (53.1, None), "LCI": (55.4, None),
                    "NCI": (9.3, 21.0), "TIP-ILP": (7.2, None), "TIP": (1.6, 5.0)},
}
FIGURES = {"function": "A.8", "basic_block": "A.9", "instruction": "A.10"}
# What the paper's figures leave out for its height, ours leave out as well; the tables do not.
DRAWN = {"function": list(PAPER["function"]), "basic_block": ["LCI", "NCI", "TIP-ILP", "TIP"],
         "instruction": ["NCI", "TIP-ILP", "TIP"]}

reports = profilers.of_time()
measured = "![Errors of the profilers by program](fig-a8-a10.svg)\n"
panels = []
for grain, paper in PAPER.items():
    def error(report, name):
        return profilers.row(report, name)["error"][grain]
    words = grain.replace("_", " ")
    measured += f"\n## By {words} (Fig. {FIGURES[grain]})\n\n" + profilers.beside_paper(
        reports, list(paper), paper, lambda r: r["error"][grain], lambda r: r["floor"][grain],
        lambda r: r["systematic"][grain])
    measured += "\n" + profilers.per_program(
        reports, list(paper), lambda report: [error(report, name) for name in paper])
    panels.append(svg.Bars(
        f"Error by {words}", "% of cycles", [program.name for program, _ in reports] + ["mean"],
        [(name, profilers.percents([error(report, name) for _, report in reports] +
                                   [profilers.mean(error(report, name) for _, report in reports)]))
         for name in DRAWN[grain]]))
chosen = profilers.with_floor("boom-tip", "TIP")
measured += f"\n## TIP by instruction, samples chosen for a floor of {profilers.FLOOR}\n\n"
rows = [(str(program), f"{r['samples']:,}", f"{r['period']:,}",
         page.percent(r["error"]["instruction"], 2), page.percent(r["floor"]["instruction"], 2))
        for program, report in chosen for r in [profilers.row(report, "TIP")]]
rows.append(("**mean**", "", "", *(
    page.percent(profilers.mean(profilers.row(report, "TIP")[key]["instruction"]
                                for _, report in chosen), 2) for key in ("error", "floor"))))
measured += page.table(["program", "samples", "period, cycles", "error, %", "floor, %"], rows)
page.write("fig-a8-a10", "experiments/fig-a8-a10.py", measured)
svg.figure(page.picture("fig-a8-a10"), panels, width=1200)
