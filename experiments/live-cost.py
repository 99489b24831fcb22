"""What sampling the whole machine costs, as DCPI measured it (§5, Tables 3 to 5), into
docs/results/live-cost.md.    python3 -B experiments/live-cost.py [--rounds 10] [--print]

As root, on a machine that does nothing else. A round runs each workload without sampling, with an
empty BPF program on the same events (the interrupt itself), with culprit's collector, and beside
perf record, at several rates, in an order drawn anew. A command's time is its processor time with
that of its children: the kernel does not account interrupts apart, so they are in it, and waiting
for others is not. In a round, the cost of a sample is the slope of (1 − T₀/T) over the rate, where
T₀ is the time without sampling: samples come by the processor second. Shown are medians over the
rounds with 95 % intervals (bootstrap of the median of the rounds' differences)."""
import argparse
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile

from lib import page
from lib.live import interval, workloads
from lib.run import ROOT

RATES = 1300, 2600, 5200, 10400, 20800  # samples per second and processor
RATE = 5200
MODES = "empty", "culprit", "perf"
HELPER = os.path.join(ROOT, "build", "bench", "live_cost")
STRESS_ENTRIES = 256, 1024, 4096, 16384


def run(mode, rate, command, *options):
    done = subprocess.run([HELPER, *options, mode, str(rate), *command], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600)
    if done.returncode:
        sys.exit(done.stderr.decode().strip() or f"{HELPER}: failed")
    return {name: float(value) for name, value in
            (pair.split("=") for pair in done.stdout.decode().split())}


def modes():
    return [mode for mode in MODES if mode != "perf" or shutil.which("perf")]


def slope(time_without, times):
    """Seconds per sample, least squares through the origin; times by rate."""
    return (sum(rate * (1 - time_without / time) for rate, time in times.items()) /
            sum(rate * rate for rate in times))


def one_round(command, order):
    """The slope of each mode."""
    runs = [("none", 0)] * 3 + [(mode, rate) for mode in modes() for rate in RATES]
    order.shuffle(runs)
    times, without = {mode: {} for mode in modes()}, []
    for mode, rate in runs:
        took = run(mode, rate or RATE, command)["processor"]
        if mode == "none":
            without.append(took)
        else:
            times[mode][rate] = took
    return {mode: slope(statistics.median(without), times[mode]) for mode in modes()}


def shown(values, draws, scale=1e6):
    middle, low, high = (scale * value for value in interval(values, draws))
    return f"{middle:.2f} ({low:.2f} to {high:.2f})"


def slowdown(found, rounds, draws):
    """The table after DCPI's Table 3."""
    rows = []
    for name, slopes in found.items():
        ours = [s["culprit"] - s["empty"] for s in slopes]
        perf = [s["perf"] - s["empty"] for s in slopes] if "perf" in slopes[0] else None
        rows.append([name, shown([s["empty"] for s in slopes], draws), shown(ours, draws),
                     shown(perf, draws) if perf else "no perf",
                     shown(ours, draws, 100 * RATE)])
    return (f"## Time per sample\n\nMedians of {rounds} rounds at {', '.join(map(str, RATES))} samples "
            "per second and processor, with 95 % intervals. Microseconds of processor time per sample; "
            "what culprit and perf record add is above the bare interrupt.\n\n" +
            page.table(["workload", "bare interrupt µs", "culprit adds µs", "perf record adds µs",
                        f"culprit adds at {RATE} Hz, %"], rows))


def components(commands):
    """The table after DCPI's Table 4, and the memory of Table 5."""
    rows, last = [], None
    for name, command in commands:
        took = run("culprit", RATE, command, "-s")
        empty = run("empty", RATE, command, "-s")
        last = took
        samples = max(took["samples"], 1)
        rows.append([name, f"{100 * took['inserted'] / samples:.1f}",
                     f"{1e9 * took['program'] / max(took['runs'], 1):.0f}",
                     f"{1e9 * empty['program'] / max(empty['runs'], 1):.0f}",
                     f"{1e9 * took['drain'] / samples:.0f}",
                     f"{took['unknown']:.0f}", f"{took['dropped']:.0f}"])
    text = (f"## Components\n\nAt {RATE} samples per second and processor. Time in the program as the "
            "kernel counts it (which adds to it: see the empty one); the drain with whatever else "
            "the collecting process does, without attribution.\n\n" +
            page.table(["workload", "new in the table %", "program ns per sample", "empty program ns",
                        "drain ns per sample", "unknown", "dropped"], rows))
    per_processor = last["kernel_bytes"] / last["processors"]
    return text + (f"\nMemory of the kernel: {per_processor / 1024:.0f} KiB per processor (DCPI: 512 KB). "
                   f"Collecting process, without attribution: at most "
                   f"{last['resident'] / 2 ** 20:.1f} MiB resident.\n")


def stress(name, command):
    rows = []
    for entries in STRESS_ENTRIES:
        took = run("culprit", RATES[-1], command, "-s", "-e", str(entries))
        samples = max(took["samples"], 1)
        rows.append([entries, f"{samples:.0f}", f"{100 * took['hits'] / samples:.1f}",
                     f"{100 * took['evicted'] / samples:.1f}", f"{took['dropped']:.0f}",
                     f"{took['drains']:.0f}", f"{1e9 * took['program'] / max(took['runs'], 1):.0f}"])
    return (f"## Evictions\n\n{name}, at {RATES[-1]} samples per second and processor, with tables and "
            "overflow buffers of several sizes (default: 16384).\n\n" +
            page.table(["entries per processor", "samples", "hits %", "evicted %", "dropped",
                        "drains", "program ns per sample"], rows))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--print", action="store_true", help="instead of rewriting the page")
    choice = parser.parse_args()
    order = random.Random(1)
    with tempfile.TemporaryDirectory() as scratch:
        commands = list(workloads(scratch))
        found = {name: [one_round(command, order) for _ in range(choice.rounds)]
                 for name, command in commands}
        draws = random.Random(2)
        measured = "\n".join([slowdown(found, choice.rounds, draws), components(commands),
                              stress(*commands[1])])
        measured += (f"\n{os.cpu_count()} processors, Linux {os.uname().release}; load average at the "
                     f"end {os.getloadavg()[0]:.1f}.\n")
    if choice.print:
        print(measured)
    else:
        page.write("live-cost", "experiments/live-cost.py", measured)


main()
