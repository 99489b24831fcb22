"""Table III of the interaction-cost paper, into docs/results/icost-tables.md: where the time goes
on a long pipeline, by the dependence graph.
    python3 -B experiments/icost-tables.py"""
from lib import icost, page, svg

TABLES = [
    ("a", "Four-cycle L1 data cache", "dl1", icost.SLOW_L1),
    ("b", "Two-cycle issue-wakeup loop", "shalu", icost.SLOW_WAKEUP),
    ("c", "15-cycle branch mispredict loop", "bmisp", icost.SLOW_BRANCH),
]
DRAWN = 2  # percent of any program's time; smaller sets are among the others of the picture

# What the paper finds of the focus with another cause, lowest and highest of its programs.
PAPER = [("a", "win", "−25.9 to −0.1"), ("a", "bw", "0.3 to 16.8"), ("a", "dmiss", "−2.4 to −0.2"),
         ("b", "win", "down to −23.5"), ("b", "bw", "up to 9.9"),
         ("c", "win", "7.6 to 62.5"), ("c", "dmiss", "down to −16.2 (mcf)")]


def against_paper(found):
    """`found`: of each table its focus, programs and columns."""
    rows = []
    for letter, other, paper in PAPER:
        focus, parts, columns = found[letter]
        here = sorted((column[frozenset([focus, other])], part.name)
                      for part, column in zip(parts, columns))
        ends = [f"{value:.1f} ({name})" for value, name in (here[0], here[-1])]
        rows.append((f"({letter}) {focus} + {other}", paper, *ends))
    return "## Against the paper\n\n" + page.table(
        ["icost, % of time", "paper", "here, lowest", "highest"], rows) + "\n"


measured, panels, found = "", [], {}
for letter, title, focus, machine in TABLES:
    parts = icost.chosen()
    columns = [icost.shares(icost.breakdown(p, machine, "--focus", focus)) for p in parts]
    found[letter] = focus, parts, columns
    sets = icost.rows(focus)
    lines = [(name, *(f"{column[members]:.1f}" for column in columns)) for name, members in sets]
    others = [100 - sum(column[members] for _, members in sets) for column in columns]
    lines += [("Other", *(f"{other:.1f}" for other in others)),
              ("Total", *("100.0" for _ in parts))]
    measured += f"## ({letter}) {title}\n\n" + page.table(
        ["% of time", *(p.name for p in parts)], lines) + "\n"
    drawn = [(name, members) for name, members in sets
             if any(abs(column[members]) >= DRAWN for column in columns)]
    svg.PARTS.update({name: icost.colour(focus, members) for name, members in drawn})
    panels.append(svg.Stacks(
        f"({letter}) {title}", "% of time", [p.name for p in parts],
        [(name, [column[members] for column in columns]) for name, members in drawn]
        + [("others", [100 - sum(column[members] for _, members in drawn)
                       for column in columns])], low=-100, height=300))
measured = "![The three breakdowns as stacked bars](icost-tables.svg)\n\n" + \
    against_paper(found) + measured
page.write("icost-tables", "experiments/icost-tables.py", measured)
svg.figure(page.picture("icost-tables"), panels, width=1000)
