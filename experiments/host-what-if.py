#!/usr/bin/env python3
"""What a remedy saves on this processor beside what culprit says that it could save at most.

    host-what-if.py [--machine MACHINE] [KERNEL ...]

The kernels are those of experiments/lib/remedies.c, each with and without a known remedy. The page has a
part for each machine; those of others are kept. With names only these, printed and not written down. Measured alternately, the least of several runs;
predicted is the cost of the cause in the kernel without the remedy, by `culprit icost`, or where the
remedy is a setting of the machine, what a simulation with that takes less."""
import os
import subprocess
import sys
import time

from lib import host, page, programs, run

RUNS = 9
SAMPLE = ["--skip", "1M", "--limit", "40M"]  # its beginning is cold
# Of each kernel the function in which it is simulated, the cause, and the remedy.
KERNELS = {
    "padding": ("follow", "dmiss", "rows of an automaton 4 KiB apart, in one set: 64 bytes more"),
    "prefetch": ("look_up", "dmiss", "a table of 64 MiB is looked into: prefetched 4 ahead"),
    "branch-free": ("choose_by_branch", "bmisp", "a random branch: a mask"),
    "blocked": ("walk", "dmiss", "a list of 256 KiB is walked again and again: in pieces of 16 KiB"),
    "huge-pages": ("touch", "dtlb", "a chain through 8192 pages: pages of 2 MiB"),
}
# Where the host of a virtual machine has pages of 4 KiB, large ones of the program are still translated in
# pieces of these: not all of what the cause costs is saved.
HUGE_PAGES = "tlb.page_size=2M"


def program():
    source = os.path.join(run.ROOT, "experiments", "lib", "remedies.c")
    path = os.path.join(programs.INPUTS, "remedies")
    if not os.path.exists(path) or os.path.getmtime(path) < os.path.getmtime(source):
        os.makedirs(programs.INPUTS, exist_ok=True)
        subprocess.run(["gcc", "-O2", "-g", "-o", path, source], check=True)
    return path


def kernel_seconds(kernel, side):
    """Processor time of the kernel in one run, natively, and what it computed."""
    said = subprocess.run([program(), kernel, side], env=host.ENVIRONMENT, capture_output=True,
                          text=True, check=True).stdout.split()
    return float(said[1]), said[0]


def measured(kernel):
    """The least time of the kernel before and after."""
    times, said = {"before": [], "after": []}, {}
    for _ in range(RUNS):
        for side, seconds in times.items():
            took, said[side] = kernel_seconds(kernel, side)
            seconds.append(took)
    if said["before"] != said["after"]:
        sys.exit(f"{kernel}: the remedy changes the result")
    return min(times["before"]), min(times["after"])


def has_host_tables(machine):
    shown = subprocess.run([run.CULPRIT, "machines", "show", machine], capture_output=True, text=True, check=True)
    return "host_tables = yes" in " ".join(shown.stdout.split())


def cause_of(machine, kernel):
    return HUGE_PAGES if kernel == "huge-pages" and has_host_tables(machine) else KERNELS[kernel][1]


def predicted(machine, kernel):
    """The share of the kernel's time that its cause costs, or that a setting saves."""
    cause = cause_of(machine, kernel)
    settings = [word for key, value in host.calibrated(machine).items()
                for word in ("--set", f"{key}={value}")]
    options = ["--machine", machine, *settings, "--from", KERNELS[kernel][0], *SAMPLE, "--stop"]
    command = [program(), kernel, "before"]
    if "=" in cause:
        before, after = (run.report("sim", options + more, command)["cycles"] for more in ([], ["--set", cause]))
        return 1 - after / before
    said = run.report("icost", options + ["--category", f"cause={cause}"], command)
    way = said["multisim"] or said
    cost = next(s["cost"]["percent"] for s in way["sets"] if s["members"] == ["cause"])
    return cost / 100


def row_of(machine, kernel):
    cause, remedy = cause_of(machine, kernel), KERNELS[kernel][2]
    before, after = measured(kernel)
    saved = 1 - after / before
    could = predicted(machine, kernel)
    good = abs(could - saved) <= abs(saved) / 3
    return [kernel, remedy, cause, f"{1000 * before:.0f}", f"{1000 * after:.0f}",
            page.percent(saved), page.percent(could), "yes" if good else "no"]


def main():
    words = sys.argv[1:]
    machine = None
    if "--machine" in words:
        at = words.index("--machine")
        machine = words[at + 1]
        del words[at:at + 2]
    machine = machine or host.default_machine()
    rows = [row_of(machine, kernel) for kernel in words or KERNELS]
    table = page.table(["kernel", "trouble: remedy", "cause", "before, ms", "after, ms",
                        "saved, % of before", "predicted, %", "within a third"], rows)
    if words:
        print(table)
        return
    page.write_part("host-what-if", "experiments/host-what-if.py", machine, f"""{host.processor()}; culprit's machine `{machine}`; {time.strftime("%Y-%m-%d %H:%M", time.gmtime())} (UTC), beside a load of {os.getloadavg()[1]:.1f}; processor time of the kernel, the least of {RUNS} runs each.

{table}""")


if __name__ == "__main__":
    main()
