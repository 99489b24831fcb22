"""What `culprit daemon` costs at the rates that people use, beside `perf record -a -g` at the same
rate, into docs/results/live-overhead.md.    python3 -B experiments/live-overhead.py [--rounds 10]
[--print]

As root. A round runs each workload without sampling (three times) and beside each of the two at
each rate, in an order drawn anew; what a run took is its processor time with that of its children,
in which interrupts are, against the median of the three of its round. Shown are medians over the
rounds with 95 % intervals (bootstrap). What sampling takes outside of the command, the daemon's or
perf's own processor time, is told apart. Of culprit its cost is also counted: interrupts times what
one was measured to take when the daemon began, its BPF program as the kernel times it, and the
daemon, of the time that processors worked."""
import argparse
import json
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from lib import page
from lib.live import interval, workloads
from lib.run import CULPRIT

RATES = 19, 97, 997, 5200  # samples per second and processor


def run(command):
    """Processor seconds of the command and its children."""
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime


def used(pid):
    """Processor seconds of a process that runs."""
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def busy():
    """Processor seconds of all processors that were not idle."""
    with open("/proc/stat") as stat:
        ticks = [int(word) for word in stat.readline().split()[1:]]
    return (sum(ticks[:3]) + sum(ticks[5:7])) / os.sysconf("SC_CLK_TCK")


class Daemon:
    name = "culprit daemon"
    options = ()

    def __init__(self, rate, scratch):
        self.environment = dict(os.environ, CULPRIT_RUN=os.path.join(scratch, "run"),
                                CULPRIT_STORE=os.path.join(scratch, "profiles.db"))
        # Under a budget of everything the rate stays, and the kernel times the program.
        self.process = subprocess.Popen(
            [CULPRIT, "daemon", "--rate", str(rate), "--budget", "100%", *self.options],
            env=self.environment, stderr=subprocess.DEVNULL)
        while self.ask() is None:
            if self.process.poll() is not None:
                sys.exit("culprit daemon cannot collect here: it needs root, and no other daemon")
            time.sleep(0.05)
        self.before, self.busy = self.ask(), busy()

    def ask(self):
        told = subprocess.run([CULPRIT, "daemon", "--status", "--json"], env=self.environment,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        return json.loads(told.stdout) if told.returncode == 0 else None

    def counted(self):
        """The share of the busy time."""
        now, worked = self.ask(), busy() - self.busy
        took = {name: now[name] - self.before[name]
                for name in ("samples", "program_seconds", "processor_seconds")}
        return (took["samples"] * now["interrupt_seconds"] + took["program_seconds"] +
                took["processor_seconds"]) / worked

    def stop(self):
        self.process.terminate()
        self.process.wait()


class DaemonWithStacks(Daemon):
    name = "culprit daemon --stacks"
    options = ("--stacks",)


class Perf:
    name = "perf record -a -g"

    def __init__(self, rate, scratch):
        self.output = os.path.join("/dev/shm", f"culprit-overhead-{os.getpid()}")
        self.process = subprocess.Popen(
            ["perf", "record", "-q", "-a", "-g", "-F", str(rate), "-e", "cpu-clock", "-o", self.output],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.5)
        if self.process.poll() is not None:
            sys.exit("perf record cannot sample here")

    def counted(self):
        return None

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait()
        os.unlink(self.output)


def kinds():
    help_text = subprocess.run([CULPRIT, "daemon", "--help"], stdout=subprocess.PIPE, text=True).stdout
    yield Daemon
    if "--stacks" in help_text:
        yield DaemonWithStacks
    if shutil.which("perf"):
        yield Perf


def beside(kind, rate, command, scratch):
    """Processor seconds of the command, of the sampler per second, the counted share."""
    sampler = kind(rate, scratch)
    own, began = used(sampler.process.pid), time.monotonic()
    took = run(command)
    own = (used(sampler.process.pid) - own) / (time.monotonic() - began)
    counted = sampler.counted()
    sampler.stop()
    return took, own, counted


def one_round(command, order, scratch):
    """By kind and rate: slowdown, own share of a processor, counted share."""
    runs = [None] * 3 + [(kind, rate) for kind in kinds() for rate in RATES]
    order.shuffle(runs)
    without, with_it = [], {}
    for what in runs:
        if what is None:
            without.append(run(command))
        else:
            with_it[what] = beside(*what, command, scratch)
    base = statistics.median(without)
    return {what: (took / base - 1, own, counted) for what, (took, own, counted) in with_it.items()}


def shown(values, draws):
    middle, low, high = (100 * value for value in interval(values, draws))
    return f"{middle:.2f} ({low:.2f} to {high:.2f})"


def table(rounds, draws):
    rows = []
    for rate in RATES:
        for kind in kinds():
            found = [one[kind, rate] for one in rounds]
            counted = [share for _, _, share in found if share is not None]
            rows.append([f"{rate} Hz, {kind.name}", shown([slow for slow, _, _ in found], draws),
                         f"{100 * statistics.median(own for _, own, _ in found):.2f}",
                         f"{100 * statistics.median(counted):.2f}" if counted else ""])
    return page.table(["sampled", "slower by %", "itself, % of a processor", "counted, % of busy time"],
                      rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--print", action="store_true", help="instead of rewriting the page")
    choice = parser.parse_args()
    order, draws = random.Random(1), random.Random(2)
    loads = [os.getloadavg()[0]]
    parts = []
    with tempfile.TemporaryDirectory() as scratch:
        for name, command in workloads(scratch):
            rounds = [one_round(command, order, scratch) for _ in range(choice.rounds)]
            loads.append(os.getloadavg()[0])
            parts.append(f"## {name}\n\n{table(rounds, draws)}")
    measured = "\n".join(parts) + (
        f"\nMedians of {choice.rounds} rounds, with 95 % intervals. {os.cpu_count()} processors, Linux "
        f"{os.uname().release}; load average {min(loads):.1f} to {max(loads):.1f}.\n")
    if choice.print:
        print(measured)
    else:
        page.write("live-overhead", "experiments/live-overhead.py", measured)


main()
