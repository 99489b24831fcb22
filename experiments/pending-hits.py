"""Fig. 2.4 of the hybrid model's thesis: what long data misses cost in simulation, with pending hits
that wait for the line and with pending hits that do not, into docs/results/pending-hits.md.
Takes a minute.    python3 -B experiments/pending-hits.py"""
from lib import page, run, svg
from lib.misses import TRACES

MACHINE = ["--machine", "chen-ooo"]
FREE = ["--set", "l1d.free_pending_hits=yes"]


def cpi(part, *options):
    return run.report_of("sim", [*MACHINE, *options], TRACES[part])["cpi"]


def due_to_misses(part, *options):
    return cpi(part, *options) - cpi(part, *options, "--ideal", "dlong")


rows = [(part, due_to_misses(part), due_to_misses(part, *FREE)) for part in TRACES]
rows.sort(key=lambda row: row[2] - row[1])
measured = "![CPI due to long data misses, with and without pending hits](pending-hits.svg)\n\n" + page.table(
    ["program", "CPI due to long data misses", "pending hits free", "less, %"],
    [(part, f"{true:.3f}", f"{free:.3f}", f"{100 * (1 - free / true):.1f}" if true >= 0.005 else "")
     for part, true, free in rows])
page.write("pending-hits", "experiments/pending-hits.py", measured)
svg.figure(page.picture("pending-hits"), [svg.Bars(
    "CPI due to long data misses (Fig. 2.4)", "cycles per instruction", [row[0] for row in rows],
    [("pending hits wait", [row[1] for row in rows]), ("pending hits free", [row[2] for row in rows])],
    height=260, limit=2)])
