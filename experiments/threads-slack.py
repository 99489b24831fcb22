#!/usr/bin/env python3
"""How far threads may run ahead of each other, and what that changes.

    threads-slack.py

Each small program with threads and a known trouble, with three of them, is captured once. Its trace
is simulated with each bound of --together, and with the default, on eight cores."""
from lib import page, run

BOUNDS = [1, 10, None, 100, 1000]  # cycles; None: the default
LONG = 900  # seconds that a simulation may take
COMMANDS = ["counters together 3 20000", "counters apart 3 20000", "tallies static 3 20000",
            "tallies static-padded 3 20000", "critical long 3 4", "critical short 3 4",
            "barrier uneven 3 1", "barrier even 3 1", "queue uneven 3 100", "queue even 3 100",
            "readmostly rwlock 3 5000", "readmostly mutex 3 5000", "readmostly published 3 5000",
            "bandwidth memory 3 50000 1", "bandwidth cache 3 50000 1"]


def reports_of(command):
    name, *arguments = command.split()
    trace = run.trace([], [run.workload(name, "x86_64"), *arguments], LONG)
    bounds = [["--together", bound] if bound else [] for bound in BOUNDS]
    return [run.report_of("sim", ["--cores", 8, *bound, "--top", 1], trace, limit_seconds=LONG)
            for bound in bounds]


def differences(reports):
    """Of elapsed cycles, from those with the least bound."""
    cycles = [report["together"]["elapsed_cycles"] for report in reports]
    return cycles[0], [count / cycles[0] - 1 for count in cycles[1:]]


def main():
    rows, most = [], [0.0 for _ in BOUNDS[1:]]
    for command in COMMANDS:
        least, changes = differences(reports_of(command))
        most = [max(a, abs(b)) for a, b in zip(most, changes)]
        rows.append([command, f"{least:,}"] + [f"{100 * change:+.2f}" for change in changes])
    rows.append(["largest of them", None] + [page.percent(change, 2) for change in most])
    headings = ["program", f"elapsed cycles, bound {BOUNDS[0]}"]
    headings += [f"{f'bound {bound}' if bound else 'default'}: differs by, %" for bound in BOUNDS[1:]]
    page.write("threads-slack", "experiments/threads-slack.py", page.table(headings, rows))


if __name__ == "__main__":
    main()
