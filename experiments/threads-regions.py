#!/usr/bin/env python3
"""How far off regions of programs with threads are: elapsed cycles, and what they go to, of regions
that are simulated together beside those of the whole run.

    threads-regions.py [NAME ...]

With names only these programs, printed and not written down. Each is captured once; its trace is
simulated in full, and by REGIONS regions. UNSEEN programs were not looked at while the way was built."""
import os
import statistics
import subprocess
import sys

from lib import page, programs, run

REGIONS = 30
MACHINE = "zen4"
LONG = 3600  # seconds that a simulation may take
PARTS = [("lock",), ("barrier",), ("event", "join"), ("coherence",)]


def compiled(name, *compiler):
    """A program of experiments/lib, compiled unless that was done."""
    source = os.path.join(run.ROOT, "experiments", "lib", name)
    path = os.path.join(run.KEPT, "programs", name.replace(".", "-"))
    if not os.path.exists(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        subprocess.run([*compiler, "-o", path, source], check=True,
                       env=os.environ | {"GOFLAGS": "-buildvcs=false", "GO111MODULE": "off"})
    return path


def workload(*words):
    return lambda: [run.workload(words[0], "x86_64"), *words[1:]]


def text():
    return programs.written("text-of-400k", lambda: programs.text()[:400000])


COMMANDS = {
    "pigz -p2": lambda: ["pigz", "-p", 2, "-b", 128, "-c", text()],
    "xz -T2": lambda: ["xz", "-T2", "-2", "--block-size=64KiB", "-c", text()],
    "barrier uneven": workload("barrier", "uneven", 2, 50),
    "critical long": workload("critical", "long", 2, 500),
    "critical short": workload("critical", "short", 3, 500),
    "counters together": workload("counters", "together", 2, 10000000),
    "tallies static": workload("tallies", "static", 2, 1500000),
    "bandwidth memory": workload("bandwidth", "memory", 2, 10000000),
    "words (C++)": lambda: [compiled("words.cpp", "g++", "-O2", "-pthread"), 2, 20],
    "queue uneven": workload("queue", "uneven", 2, 10000),
    "readmostly rwlock": workload("readmostly", "rwlock", 2, 300000),
    "lbzip2 -n2": lambda: ["lbzip2", "-n", 2, "-1", "-c", text()],
    "zstd -T2": lambda: ["zstd", "-q", "-T2", "-12", "-B524288", "-c", text()],
    "sums (Go)": lambda: [compiled("sums.go", "go", "build"), 1500],
}
UNSEEN = ["queue uneven", "readmostly rwlock", "lbzip2 -n2", "zstd -T2", "sums (Go)"]


def simulated(trace, *options):
    return run.report_of("sim", ["--machine", MACHINE, "--top", 1, *options], trace,
                         limit_seconds=LONG)


def shares(report):
    """Of the time of the cores that the program can use."""
    stack = report["together"]["speedup_stack"]
    return [sum(stack[part] for part in parts) / stack["cores"] for parts in PARTS]


def compare(name):
    trace = run.trace([], [str(word) for word in COMMANDS[name]()], LONG)
    whole = simulated(trace, "--regions-over", 0)
    regions = simulated(trace, "--regions-over", 1000000, "--thread-regions", REGIONS)
    cycles = [report["together"]["elapsed_cycles"] for report in (whole, regions)]
    half = regions["together"]["elapsed_interval"]
    return {"name": name, "instructions": whole["instructions"], "cycles": cycles,
            "simulated": regions["instructions_simulated"] / whole["instructions"],
            "error": cycles[1] / cycles[0] - 1,
            "interval": half / cycles[1] if half is not None else None,
            "shares": list(zip(shares(whole), shares(regions))),
            "seconds": (whole["seconds"], regions["seconds"])}


def row(result):
    name = result["name"] + (" *" if result["name"] in UNSEEN else "")
    return [name, f"{result['instructions'] / 1e6:.0f}", page.percent(result["simulated"]),
            f"{result['cycles'][0]:,}", f"{result['cycles'][1]:,}", f"{100 * result['error']:+.2f}",
            page.percent(result["interval"]) if result["interval"] is not None else "–"] + [
                f"{100 * a:.1f} / {100 * b:.1f}" for a, b in result["shares"]]


def summary(results, what):
    errors = [abs(result["error"]) for result in results]
    if not errors:
        return ""
    moved = [max(abs(a - b) for a, b in result["shares"]) for result in results]
    held = sum(result["interval"] is not None and abs(result["error"]) <= result["interval"]
               for result in results)
    return (f"{what}: elapsed cycles are {100 * statistics.median(errors):.2f} % off in the median, "
            f"{100 * max(errors):.2f} % at most; the largest share of a stack is "
            f"{100 * statistics.median(moved):.2f} points off in the median, {100 * max(moved):.2f} at "
            f"most; the interval holds the whole run's cycles of {held} of {len(results)}.\n")


def main():
    names = sys.argv[1:] or list(COMMANDS)
    results = []
    for name in names:
        results.append(compare(name))
        print(*row(results[-1]), *(f"{seconds:.0f} s" for seconds in results[-1]["seconds"]),
              sep=" | ", flush=True)
    if sys.argv[1:]:
        return
    headings = ["program", "instructions, M", "simulated, %", "elapsed, whole", "elapsed, regions",
                "off by, %", "interval, ± %", "lock, %", "barrier, %", "event and end, %", "coherence, %"]
    seen = [result for result in results if result["name"] not in UNSEEN]
    unseen = [result for result in results if result["name"] in UNSEEN]
    seconds = [sum(result["seconds"][i] for result in results) for i in range(2)]
    page.write("threads-regions", "experiments/threads-regions.py",
               page.table(headings, [row(result) for result in results]) + "\n" +
               summary(seen, "Programs that were looked at meanwhile") + "\n" +
               summary(unseen, "Programs that were not (*)") + "\n" +
               f"The whole runs took {seconds[0]:.0f} seconds to simulate, the regions "
               f"{seconds[1]:.0f}, profile not included.\n")


if __name__ == "__main__":
    main()
