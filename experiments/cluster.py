#!/usr/bin/env python3
"""--cluster on a Slurm of this machine: what a job costs beside its work, how well nodes are used, a
sweep of 200 points with 5 regions each, and what a thousand nodes would need.

    cluster.py [--sleeping] [--working] [--many] [--costs]

Starts munged, slurmctld and slurmd's on the loopback (tests/slurm.sh). Nodes share the processors of
this machine, so efficiency is measured with jobs that sleep 20 s before their work, and with real
ones as far as there are processors. Needs make deps-cluster. Writes docs/results/cluster.md."""
import glob
import os
import resource
import subprocess
import sys
import time

from lib import page, run

SCRIPT = "experiments/cluster.py"
SLURM = os.path.join(run.ROOT, "tests", "slurm.sh")
SLEEP, WAVES = 20, 3
WORK = """#include <stdlib.h>
int main(int count, char **arguments) {
    static volatile unsigned table[1 << 16];
    unsigned x = 1;
    for (int i = 0; i < atoi(arguments[1]); i++) {
        x = x * 1664525 + 1013904223;
        table[x >> 16] += i;
    }
    return 0;
}
"""


class Cluster:
    """Nodes of so many processors each, while it is entered."""

    def __init__(self, folder, nodes, processors):
        self.folder, self.nodes, self.processors = folder, nodes, processors

    def __enter__(self):
        subprocess.run([SLURM, "start", self.folder, str(self.nodes), str(self.processors)], check=True, timeout=120)
        return self

    def __exit__(self, *_):
        subprocess.run([SLURM, "stop", self.folder], check=True, timeout=120)

    def environment(self):
        return dict(run.ENVIRONMENT, SLURM_CONF=f"{self.folder}/slurm.conf", PATH="/usr/sbin:/usr/bin:/bin", COLUMNS="100")

    def seconds(self, *names):
        """Of a processor, that daemons took so far."""
        ticks = 0
        for name in names:
            for path in glob.glob(f"{self.folder}/{name}.pid"):
                with open(path) as file, open(f"/proc/{file.read().strip()}/stat") as stat:
                    ticks += sum(map(int, stat.read().rsplit(")", 1)[1].split()[11:13]))
        return ticks / os.sysconf("SC_CLK_TCK")


def program(scratch):
    path = f"{scratch}/work"
    if not os.path.exists(path):
        with open(path + ".c", "w") as file:
            file.write(WORK)
        subprocess.run(["cc", "-O1", "-o", path, path + ".c"], check=True)
    return path


def values(count):
    """So many points: sizes of the reorder buffer, by twos, and latencies of the L1."""
    robs = [str(64 + 8 * i) for i in range(min(count, 25 if count <= 200 else 63))]
    latencies = [str(3 + i) for i in range(-(-count // len(robs)))]
    return ["--set", "core.rob=" + ",".join(robs), "--set", "l1d.latency=" + ",".join(latencies)]


def sweep(scratch, name, options, command, environment=None):
    """Wall seconds, those of a processor, and the report."""
    output = f"{scratch}/{name}.txt"
    line = [run.CULPRIT, "sweep", "--keep", f"{scratch}/{name}", "-o", output, *options, "--", *command]
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(line, check=True, cwd=scratch, env=environment or run.ENVIRONMENT, timeout=3000, stderr=subprocess.DEVNULL)
    wall, after = time.monotonic() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(output) as report:
        return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, report.readline().strip()


def captured(scratch, source, name):
    """A folder with the capture of another, and no result."""
    target = f"{scratch}/{name}"
    os.makedirs(target)
    for path in glob.glob(f"{scratch}/{source}/*.capture.json") + glob.glob(f"{scratch}/{source}/*.ctrace"):
        os.link(path, os.path.join(target, os.path.basename(path)))


def sleeping(scratch):
    """Each node has room for one job, and gets three."""
    work = [program(scratch), "2000"]
    wrapper = f"{scratch}/asleep"
    with open(wrapper, "w") as file:
        file.write(f"#!/bin/sh\nsleep {SLEEP}\nexec {run.CULPRIT} \"$@\"\n")
    os.chmod(wrapper, 0o755)
    sweep(scratch, "asleep-once", values(1), work)
    rows = []
    for nodes in range(1, 5):
        name = f"asleep-{nodes}"
        captured(scratch, "asleep-once", name)
        with Cluster(f"{scratch}/slurm-{name}", nodes, 1) as cluster:
            jobs = WAVES * nodes
            wall, processor, report = sweep(scratch, name, [*values(jobs), "--cluster", f"slurm:cpus=1,each=1,program={wrapper}"],
                                            work, cluster.environment())
        ideal = SLEEP * WAVES
        rows.append((nodes, jobs, f"{wall:.1f}", f"{100 * ideal / wall:.1f}", f"{100 * (wall - ideal) / ideal:.1f}",
                     f"{(wall - ideal) / WAVES:.2f}", f"{processor:.2f}"))
        print(rows[-1], report, flush=True)
    return (f"Jobs that sleep {SLEEP} s and then simulate a point of a tenth of a second. Each node has room for one, and {WAVES} to do one "
            f"after the other, which is {SLEEP * WAVES} s of sleep. What a job costs is the wall time beyond that, a {WAVES}rd of it.\n\n" +
            page.table(["nodes", "jobs", "wall, s", "efficiency, %", "overhead, %", "of a job, s", "processor of culprit, s"], rows))


def working(scratch):
    """Points of some ten seconds on one node or two, against as many at once without Slurm."""
    work, points = [program(scratch), "600000"], 4
    sweep(scratch, "working-once", [*values(1), "--full"], work)
    rows = []
    for jobs in (1, 2):
        name = f"working-{jobs}"
        captured(scratch, "working-once", name)
        here, _, _ = sweep(scratch, name, [*values(points), "--full", "--jobs", str(jobs)], work)
        captured(scratch, "working-once", name + "-nodes")
        with Cluster(f"{scratch}/slurm-{name}", jobs, 1) as cluster:
            there, _, report = sweep(scratch, name + "-nodes", [*values(points), "--full", "--cluster", "slurm:cpus=1"],
                                     work, cluster.environment())
        rows.append((jobs, points, f"{here:.1f}", f"{there:.1f}", f"{100 * (there - here) / here:.1f}"))
        print(rows[-1], report, flush=True)
    return ("The same points by `--jobs` of one culprit, and by as many nodes with room for one job each.\n\n" +
            page.table(["at once", "points", "here, s", "by nodes, s", "more, %"], rows))


def many(scratch):
    """One command; a short run, so that what is measured is what jobs cost."""
    work = [program(scratch), "100000"]
    regions = ["--regions-over", "200K", "--regions", "5"]
    sweep(scratch, "many-once", [*values(1), *regions], work)
    rows = []
    with Cluster(f"{scratch}/slurm-many", 4, 1) as cluster:
        for name, each in (("many-1", 1), ("many-10", 10)):
            captured(scratch, "many-once", name)
            wall, processor, report = sweep(scratch, name, [*values(200), *regions, "--cluster", f"slurm:cpus=1,each={each}"],
                                            work, cluster.environment())
            again, _, known = sweep(scratch, name, [*values(200), *regions, "--cluster", f"slurm:cpus=1,each={each}"],
                                    work, cluster.environment())
            rows.append((f"{each} to a job", 200, 200 // each, f"{wall:.1f}", f"{wall / 200:.2f}", f"{processor:.2f}", f"{again:.1f}"))
            print(rows[-1], report, known, flush=True)
    here, _, _ = (captured(scratch, "many-once", "many-here"),
                  sweep(scratch, "many-here", [*values(200), *regions], work))[1]
    rows.append(("without Slurm", 200, "", f"{here:.1f}", f"{here / 200:.2f}", "", ""))
    return ("One command of 200 points, each of 5 regions, four nodes with room for one job each; the second run finds all of them.\n\n" +
            page.table(["", "points", "jobs", "wall, s", "of a point, s", "processor of culprit, s", "again, s"], rows))


def costs(scratch):
    """Of jobs that do next to nothing: what the daemons and culprit take for each."""
    work, jobs = [program(scratch), "200"], 504
    sweep(scratch, "costs-once", values(1), work)
    captured(scratch, "costs-once", "costs")
    with Cluster(f"{scratch}/slurm-costs", 4, 4) as cluster:
        before = [cluster.seconds("slurmctld"), cluster.seconds("slurmd.node*")]
        wall, culprit, report = sweep(scratch, "costs", [*values(jobs), "--cluster", "slurm:cpus=1,each=1"], work, cluster.environment())
        controller, node = (after - one for one, after in zip(before, [cluster.seconds("slurmctld"), cluster.seconds("slurmd.node*")]))
    print(wall, culprit, controller, node, report, flush=True)
    per_job = controller / jobs
    measured = page.table(["of a job that does nothing", "processor, ms"],
                          [("slurmctld", f"{1000 * per_job:.2f}"), ("slurmd, on its node, without what it starts", f"{1000 * node / jobs:.2f}"),
                           ("culprit and the commands that it runs", f"{1000 * culprit / jobs:.2f}")])
    rows = []
    for nodes, slots in ((10, 16), (100, 16), (1000, 1), (1000, 16)):
        for seconds in (20, 60, 300):
            rate = nodes * slots / seconds
            rows.append((f"{nodes:,} x {slots}", seconds, f"{rate:.1f}", f"{100 * rate * per_job:.1f}", f"{100 * rate * culprit / jobs:.1f}"))
    return (f"{jobs} jobs on four nodes with room for four each took {wall:.0f} s, {jobs / wall:.1f} a second.\n\n{measured}\n"
            "By arithmetic, nodes with room for so many jobs each, all of them busy: jobs that begin each second, and the share of one processor "
            "that the controller, and culprit, take for them.\n\n" +
            page.table(["nodes x jobs", "job, s", "jobs a second", "controller, %", "culprit, %"], rows))


page.write_sections("cluster", SCRIPT, [
    ("sleeping", "What a job costs beside its work", sleeping),
    ("working", "Jobs that work", working),
    ("many", "200 points of 5 regions", many),
    ("costs", "A thousand nodes, by arithmetic", costs)], sys.argv[1:])
