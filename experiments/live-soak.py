#!/usr/bin/env python3
"""The daemon with call stacks under a storm of short processes, for an hour: is anything lost that is
not counted, and does its memory stay flat?

    live-soak.py [--minutes 60] [--rate 997] [--a-minute 10000] [--print]

As root. Writes docs/results/live-soak.md; --print: the figures alone, to standard output. Fails when
samples are lost uncounted or memory grows. What is expected: the time that processors worked, as the
kernel counts it in ticks, times the rate."""
import argparse
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from lib import page
from lib.run import CULPRIT

SCRIPT = "experiments/live-soak.py"
COMMANDS = (["true"], ["ls", "/usr/lib"], ["date"], ["id"], ["expr", "1", "+", "2"], ["uname", "-a"],
            ["env"], ["printf", "x"], ["stat", "/"], ["basename", "/a/b"], ["seq", "100"],
            ["grep", "-c", "a", "/etc/passwd"], ["sed", "-n", "1p", "/etc/passwd"],
            ["sort", "/etc/passwd"], ["wc", "/etc/passwd"], ["cut", "-c1", "/etc/passwd"],
            ["awk", "BEGIN { print 1 }"], ["bash", "-c", "exit"], ["perl", "-e", "1"],
            ["gzip", "-c", "/etc/passwd"])


def busy():
    """Processor seconds of all processors that were not idle."""
    with open("/proc/stat") as stat:
        ticks = [int(word) for word in stat.readline().split()[1:]]
    return (sum(ticks[:3]) + sum(ticks[5:7])) / os.sysconf("SC_CLK_TCK")


class Daemon:
    def __init__(self, rate, scratch):
        self.environment = dict(os.environ, CULPRIT_RUN=os.path.join(scratch, "run"),
                                CULPRIT_STORE=os.path.join(scratch, "profiles.db"))
        self.log = open(os.path.join(scratch, "log"), "w")
        self.process = subprocess.Popen(
            [CULPRIT, "daemon", "--stacks", "--rate", str(rate), "--epoch", "1h"],
            env=self.environment, stderr=self.log)
        for _ in range(600):
            if self.culprit("daemon", "--status").returncode == 0:
                return
            time.sleep(0.1)
        raise SystemExit("the daemon does not start: see " + self.log.name)

    def culprit(self, *words):
        return subprocess.run([CULPRIT, *words], env=self.environment, capture_output=True, text=True)

    def status(self):
        return json.loads(self.culprit("daemon", "--status", "--json").stdout)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait()


def storm(seconds, pace, commands):
    """Starts so many processes a second, and waits for them; how many."""
    begin, started = time.monotonic(), 0
    nothing = os.open("/dev/null", os.O_RDWR)
    actions = [(os.POSIX_SPAWN_DUP2, nothing, i) for i in range(3)]
    running = set()
    while time.monotonic() - begin < seconds:
        due = int((time.monotonic() - begin) * pace)
        while started < due and len(running) < 64:
            command = next(commands)
            running.add(os.posix_spawnp(command[0], command, os.environ, file_actions=actions))
            started += 1
        while running:
            pid, _ = os.waitpid(-1, os.WNOHANG)
            if not pid:
                break
            running.discard(pid)
        time.sleep(0.002)
    for pid in running:
        os.waitpid(pid, 0)
    os.close(nothing)
    return started


def soak(minutes, rate, a_minute, scratch):
    commands = itertools.cycle(COMMANDS)
    daemon = Daemon(rate, scratch)
    first, rows, worked, started = daemon.status(), [], busy(), 0
    for minute in range(1, minutes + 1):
        # The children are this process's, but for the daemon, which stays.
        started += storm(60, a_minute / 60, commands)
        status = daemon.status()
        rows.append({"minute": minute, "processes": started,
                     "expected": (busy() - worked) * rate,
                     "samples": status["samples"] - first["samples"], "taken": status["samples"],
                     **{key: status[key] for key in
                        ("dropped", "attributed", "unknown", "stacks_whole", "stacks_truncated",
                         "stacks_failed", "resident_bytes", "kernel_bytes", "store_bytes",
                         "processor_seconds", "problem")}})
        print(f"{minute:3} min: {started} processes, {rows[-1]['samples']} samples, "
              f"{status['dropped']} dropped, {status['resident_bytes'] / 2**20:.0f} MiB",
              file=sys.stderr)
    stopped = daemon.stop()
    return rows, stopped, daemon


def stored(daemon):
    """Samples of all epochs in the store."""
    top = daemon.culprit("top", "--epoch", "all", "--by", "epoch", "--top", "0", "--json")
    checked = daemon.culprit("epochs", "check")
    return json.loads(top.stdout)["events"][0]["total"], checked.returncode


def faults(rows, stopped, samples, checked):
    """What is wrong, in words."""
    last, quarter = rows[-1], rows[len(rows) // 4]
    late = max(row["resident_bytes"] for row in rows[len(rows) // 4:])
    if stopped or checked:
        yield "the daemon did not end well, or its store is not whole"
    if any(row["problem"] for row in rows):
        yield "there were problems: " + str({row["problem"] for row in rows})
    if abs(samples - last["attributed"]) > 0.005 * last["attributed"]:
        yield f"{samples:.0f} samples in the store, {last['attributed']} were attributed"
    if abs(last["attributed"] + last["dropped"] - last["taken"]) > 0.002 * last["taken"]:
        yield f"of {last['taken']} samples {last['attributed']} were attributed"
    if abs(last["samples"] - last["expected"]) > 0.05 * last["expected"]:
        yield f"{last['samples']} samples, {last['expected']:.0f} expected"
    if late > 1.25 * quarter["resident_bytes"]:
        yield f"memory grew from {quarter['resident_bytes']} to {late} bytes"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=int, default=60)
    parser.add_argument("--rate", type=int, default=997)
    parser.add_argument("--a-minute", type=int, default=10000)
    parser.add_argument("--print", action="store_true")
    options = parser.parse_args()
    scratch = tempfile.mkdtemp()
    try:
        rows, stopped, daemon = soak(options.minutes, options.rate, options.a_minute, scratch)
        samples, checked = stored(daemon)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    last = rows[-1]
    mib = 2**20
    shown = [row for i, row in enumerate(rows) if i in (0, 4, 9, 14, 29, 44) or row is last]
    stacks = sum(last["stacks_" + end] for end in ("whole", "truncated", "failed"))
    text = page.table(
        ["minute", "processes", "samples", "expected", "dropped", "unknown", "memory, MiB",
         "of the kernel", "store, MiB", "daemon, % of a processor"],
        [[row["minute"], f"{row['processes']:,}", f"{row['samples']:,}", f"{row['expected']:,.0f}",
          f"{row['dropped']:,}", f"{row['unknown']:,}", f"{row['resident_bytes'] / mib:.0f}",
          f"{row['kernel_bytes'] / mib:.0f}", f"{row['store_bytes'] / mib:.1f}",
          f"{100 * row['processor_seconds'] / (60 * row['minute']):.1f}"] for row in shown])
    wrong = list(faults(rows, stopped, samples, checked))
    text += (f"\n{options.minutes} minutes at {options.rate} samples a second and processor, with "
             f"{last['processes'] / options.minutes:,.0f} processes a minute of {len(COMMANDS)} programs. "
             f"Of the stacks {100 * last['stacks_whole'] / stacks:.2f} % were whole. The store has "
             f"{samples:,.0f} samples. " + ("; ".join(wrong) if wrong else
             "Nothing was lost uncounted, and memory stayed flat after the first quarter") + ".\n")
    if options.print:
        print(text)
    else:
        page.write("live-soak", SCRIPT, text)
    return bool(wrong)


sys.exit(main())
