"""How much time Debian's programs spend in loads that wait for a store which cannot forward, on
zen4 and boom-tea, into docs/results/forwarding.md. Takes ten minutes.
    python3 -B experiments/forwarding.py"""
from lib import page, programs, run

MACHINES = "zen4", "boom-tea"


def waits(stack):
    """Of a cycle stack, the cycles with the event."""
    return sum(cycles for name, cycles in stack.items() if "ST-FW" in name.split("+"))


def place(report):
    """The instruction that waits longest."""
    row = max(report["hot_instructions"], key=lambda row: waits(row["stack"]))
    if not waits(row["stack"]):
        return ""
    return f"`{row['text']}` in `{row['function'] or row['image']}`"


def measure(program):
    trace = run.trace(program.options, program.command)
    row = [program.name]
    for machine in MACHINES:
        sim = ["--machine", machine, "--top", "40"]
        real = run.report_of("sim", sim, trace)
        ideal = run.report_of("sim", [*sim, "--ideal", "stfwd"], trace)
        row += [page.percent(waits(real["stack"]) / real["cycles"], 2),
                page.percent(1 - ideal["cycles"] / real["cycles"], 2)]
        if machine == MACHINES[0]:
            where = place(real)
    return row + [where]


rows = [measure(program) for program in programs.programs()
        if program.isa == "x86_64" and not program.command[0].startswith(run.ROOT)]
rows.sort(key=lambda row: -float(row[1]))
page.write("forwarding", "experiments/forwarding.py", page.table(
    ["program"] + [f"{what}, `{machine}`" for machine in MACHINES for what in ("`ST-FW` %", "stfwd %")]
    + ["the load that waits longest, `zen4`"], rows))
