"""Fig. B.5 of TEA: errors of cycle stacks by instruction, into docs/results/fig-b5.md.
    python3 -B experiments/fig-b5.py"""
from lib import page, profilers, svg

PAPER = {"IBS": (55.6, 79.7), "SPE": (55.5, 79.7), "RIS": (56.0, 79.7), "NCI-TEA": (11.3, 22.0),
         "TEA": (2.1, 7.7)}

reports = profilers.of_events()


def error(report, name):
    return profilers.row(report, name)["stack_error"]


measured = "![Errors of cycle stacks by program](fig-b5.svg)\n\n" + profilers.beside_paper(
    reports, list(PAPER), PAPER, lambda r: r["stack_error"], lambda r: r["stack_floor"],
    lambda r: r["systematic_stack_error"])
measured += "\n" + profilers.per_program(reports, list(PAPER),
                                         lambda report: [error(report, name) for name in PAPER])
longest = [(program.name, report["event_free_stalls"]["cycles_99_percent"])
           for program, report in reports]
lengths = [cycles for _, cycles in longest]
measured += (f"\n99 % of the stalls without any event took no longer than (cycles): median of the "
             f"programs {svg.quantile(lengths, 0.5):.0f}, mean {profilers.mean(lengths):.1f} (paper: "
             f"5.8); longest in " + ", ".join(f"{name} {cycles}" for name, cycles in
                                             sorted(longest, key=lambda pair: -pair[1])[:5]) + ".\n")
chosen = profilers.with_floor("boom-tea", "TEA")
measured += f"\n## TEA, samples chosen for a floor of {profilers.FLOOR}\n\n"
rows = [(str(program), f"{r['samples']:,}", f"{r['period']:,}", page.percent(r["stack_error"], 2),
         page.percent(r["stack_floor"], 2))
        for program, report in chosen for r in [profilers.row(report, "TEA")]]
rows.append(("**mean**", "", "", *(
    page.percent(profilers.mean(profilers.row(report, "TEA")[key] for _, report in chosen), 2)
    for key in ("stack_error", "stack_floor"))))
measured += page.table(["program", "samples", "period, cycles", "error, %", "floor, %"], rows)
page.write("fig-b5", "experiments/fig-b5.py", measured)
svg.figure(page.picture("fig-b5"), [svg.Bars(
    "Error of cycle stacks by instruction", "% of cycles",
    [program.name for program, _ in reports] + ["mean"],
    [(name, profilers.percents([error(report, name) for _, report in reports] +
                               [profilers.mean(error(report, name) for _, report in reports)]))
     for name in PAPER], height=300)], width=1200)
