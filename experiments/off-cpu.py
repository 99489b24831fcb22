#!/usr/bin/env python3
"""Off-processor time: do running, waiting for a processor and being blocked make up the time of a
thread, and what does timing every wait cost?

    off-cpu.py [--rounds 7]

As root. Writes docs/results/off-cpu.md. The time of a program's first thread is what the kernel says
between its start and its end; running is its samples times their period. Costs are of a program
that does nothing but switch, `perf bench sched pipe`, against runs without sampling in between."""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from lib import page
from lib.run import CULPRIT

SCRIPT = "experiments/off-cpu.py"
RATE = 4999
PYTHON = """
import queue, threading, time
q = queue.Queue()
def work():
    while (x := q.get()) is not None:
        sum(i * i for i in range(20000)); time.sleep(0.001)
threads = [threading.Thread(target=work) for _ in range(4)]
for t in threads: t.start()
for i in range(1500): q.put(i)
for t in threads: q.put(None)
for t in threads: t.join()
"""
PROGRAMS = [
    ("sleep", ["sleep", "2"]),
    ("gzip -9", ["gzip", "-9", "-c", "/usr/bin/gdb", "/usr/bin/perl", "/usr/bin/git"]),
    ("find and sort", ["sh", "-c", "find /usr/lib /usr/share -type f | sort | tail -1"]),
    ("gzip, read from a pipe", ["bash", "-c", "cat /usr/bin/gdb /usr/bin/git /usr/bin/perl | gzip -6 | wc -c"]),
    ("python, four threads", ["/usr/bin/python3", "-c", PYTHON]),
    ("gcc", ["sh", "-c", "echo '#include <math.h>' | gcc -O2 -x c -c - -o /dev/null; sleep 0.5; "
                         "echo 'int main(void) { return 0; }' | gcc -x c - -o /dev/null"]),
    ("perf bench sched pipe", ["perf", "bench", "sched", "pipe", "-l", "20000"]),
]


def recorded(command, scratch):
    """What record says, and the waits and samples of each thread."""
    store = os.path.join(scratch, "profiles.db")
    if os.path.exists(store):
        os.unlink(store)
    report = os.path.join(scratch, "report.json")
    subprocess.run([CULPRIT, "record", "--off-cpu", "--rate", str(RATE), "--store", store, "--json",
                    "-o", report, "--", *command], stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, check=True)
    top = subprocess.run([CULPRIT, "top", "--store", store, "--by", "thread", "--top", "0", "--json"],
                         capture_output=True, text=True, check=True)
    with open(report) as file:
        return json.load(file), json.loads(top.stdout)


def account(command, scratch):
    """Seconds of the first thread: running, blocked, waiting for a processor; and in all."""
    report, top = recorded(command, scratch)
    period = report["events"][0]["period"] / 1e9
    first = min(row["pid"] for row in top["rows"] if row["pid"])
    values = [0, 0, 0]
    for row in top["rows"]:
        if row["thread"] == first:
            for i, event in enumerate((report["events"][0]["name"], "off-cpu", "run-queue")):
                values[i] += row["values"][event] * (period if not i else 1e-6)
    return *values, report["seconds"], report["dropped"]


def seconds(command):
    begin = time.monotonic()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return time.monotonic() - begin


def costs(rounds, scratch):
    """How many times as long the program takes, and microseconds for each switch."""
    switches = 100000
    command = ["perf", "bench", "sched", "pipe", "-l", str(switches // 2)]
    store, data = os.path.join(scratch, "cost.db"), os.path.join(scratch, "perf.data")
    ways = {"`record --off-cpu`": [CULPRIT, "record", "--off-cpu", "--store", store],
            "`record --off-cpu --stack-bytes 4096`":
                [CULPRIT, "record", "--off-cpu", "--stack-bytes", "4096", "--store", store],
            "`perf record -e sched:sched_switch --call-graph dwarf`":
                ["perf", "record", "-q", "-o", data, "-e", "sched:sched_switch", "--call-graph", "dwarf"],
            "`perf record -e sched:sched_switch -g`":
                ["perf", "record", "-q", "-o", data, "-e", "sched:sched_switch", "-g"]}
    ratios = {way: [] for way in ways}
    extra = {way: [] for way in ways}
    for _ in range(rounds):
        for way, prefix in ways.items():
            plain = seconds(command)
            with_it = seconds([*prefix, "--", *command])
            ratios[way].append(with_it / plain)
            extra[way].append((with_it - plain) / switches * 1e6)
    return [[way, f"{statistics.median(ratios[way]):.2f}", f"{statistics.median(extra[way]):.1f}"]
            for way in ways]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    scratch = tempfile.mkdtemp()
    try:
        rows, worst = [], 0
        for name, command in PROGRAMS:
            running, blocked, waiting, whole, dropped = account(command, scratch)
            off = (running + blocked + waiting) / whole - 1
            worst = max(worst, abs(off))
            rows.append([name, f"{running:.3f}", f"{blocked:.3f}", f"{waiting:.3f}", f"{whole:.3f}",
                         f"{100 * off:+.1f}", dropped])
        text = page.table(["program, its first thread", "running, s", "blocked, s",
                           "waiting for a processor, s", "in all, s", "sum, % off", "dropped"], rows)
        text += (f"\nThe sum is off by {100 * worst:.1f} % at most.\n\n## Cost\n\n"
                 "Of a program that switches 100,000 times and does nothing else; medians of "
                 f"{options.rounds} rounds, each run beside one without sampling.\n\n")
        text += page.table(["", "times as long", "more for a switch, us"], costs(options.rounds, scratch))
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    page.write("off-cpu", SCRIPT, text)


sys.exit(main())
