"""Hand-made loops (lib/cycles.h) that are timed on this processor and simulated on its machine."""
import json
import os
import subprocess
import time

from lib import host, run


def build(name):
    """The program of experiments/lib/NAME.c, by its path."""
    path = os.path.join(run.KEPT, name.replace("_", "-"))
    os.makedirs(run.KEPT, exist_ok=True)
    subprocess.run(["gcc", "-O2", "-o", path, os.path.join(run.ROOT, "experiments", "lib", f"{name}.c")], check=True)
    return path


def per_turn(machine, command, turns, settings=()):
    """Cycles of a turn, by the difference of so many turns and so many."""
    options = [word for setting in settings for word in ("--set", setting)]
    first, last = (json.loads(subprocess.run(
        [run.CULPRIT, "sim", "--machine", machine, *options, "--json", "--", *command], check=True,
        env=run.ENVIRONMENT | {"TURNS": str(count)}, capture_output=True, text=True).stdout)["cycles"]
        for count in turns)
    return (last - first) / (turns[1] - turns[0])


def least(command, tries):
    """What the program prints on processor 1, the least of so many tries."""
    return min(float(subprocess.run(["taskset", "-c", "1", *command], check=True, capture_output=True,
                                    text=True).stdout) for _ in range(tries))


def where():
    """What the part of a page begins with."""
    return (f"{host.processor()}, {time.strftime('%Y-%m-%d', time.gmtime())}, "
            f"beside a load of {os.getloadavg()[0]:.1f}.\n\n")
