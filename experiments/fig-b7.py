"""Fig. B.7 of TEA: how well counts of an event tell what it costs, into docs/results/fig-b7.md.
    python3 -B experiments/fig-b7.py"""
from lib import page, profilers, svg

# In the order of the text of §5.3, with what it says of them.
EVENTS = {"FL-MB": "strong", "FL-EX": "strong", "FL-MO": "strong", "DR-TLB": "moderate",
          "ST-TLB": "moderate", "DR-L1": "moderate", "ST-L1": "moderate, below ST-LLC",
          "ST-LLC": "moderate, above ST-L1", "DR-SQ": "least, widest spread"}
# A correlation over a few instructions, or of an event that a program hardly has, says nothing.
FEWEST_INSTRUCTIONS = 5
FEWEST_TIMES = 1000

reports = profilers.of_events()


def correlations(event):
    rows = [(program, report["events"][event]) for program, report in reports]
    return [(program, row["correlation"]) for program, row in rows
            if row["correlation"] is not None and row["uops"] >= FEWEST_TIMES and
            row["instructions"] >= FEWEST_INSTRUCTIONS]


rows = []
for event, theirs in EVENTS.items():
    values = [r for _, r in correlations(event)]
    rows.append((f"`{event}`", len(values),
                 *(f"{svg.quantile(values, q):.2f}" if values else "" for q in (0, 0.25, 0.5, 0.75, 1)),
                 f"{sum(values) / len(values):.2f}" if values else "", theirs))
measured = "![Correlation of counts of events with their cycles](fig-b7.svg)\n\n" + page.table(
    ["event", "programs", "smallest", "first quarter", "median", "third quarter", "largest", "mean",
     "paper"], rows)
measured += (f"\nPearson's r over the instructions that had the event, in programs where "
             f"{FEWEST_INSTRUCTIONS} or more had it, {FEWEST_TIMES:,} times or more.\n")
page.write("fig-b7", "experiments/fig-b7.py", measured)
svg.figure(page.picture("fig-b7"), [svg.Boxes(
    "Correlation of counts with cycles, by event", "Pearson's r",
    [(event, [r for _, r in correlations(event)]) for event in EVENTS], low=-0.2, limit=1)])
