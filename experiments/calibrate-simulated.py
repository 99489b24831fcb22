"""The shipped out-of-order machines for x86-64, read back by `culprit calibrate --simulated`: what
their descriptions say beside what was measured, into docs/results/calibrate-simulated.md. Takes five
minutes.
    python3 -B experiments/calibrate-simulated.py [MACHINE...]"""
import json
import os
import subprocess
import sys

from lib import page, programs, run

MACHINES = sys.argv[1:] or ["zen3", "zen4", "zen4-server", "zen5", "icelake-server", "sapphire-rapids"]
PARTS = ("width", "rename", "forwarding", "splits", "words", "branch", "history", "targets", "window", "caches", "tlb",
         "memory", "pages", "prefetch", "strings", "cpuid")

# How near is near enough: (kind, amount) by the end of the key; others exactly.
CYCLES = {"load_to_use": 0.5, "latency": 0.5, "walk": 0.5, "walk_interval": 0.5, "store_forward": 0.5,
          "misprediction": 1, "btb_miss_penalty": 0.5, "string_start": 0.5, "cpuid": 0.5}
SHARES = {"rob": 0.02, "int_registers": 0.02, "flag_registers": 0.02, "fp_registers": 0.02, "load_queue": 0.02,
          "store_queue": 0.02, "mshrs": 0.02, "integer scheduler": 0.02, "vector scheduler": 0.02,
          "bandwidth": 0.05, "indirect_targets": 0.2, "far_jumps": 0.2}
SUFFIXES = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
# What prefetchers that act on single misses fetch: behind and before an even line, an odd one.
# The up/down prefetcher learns from each kernel that the line which it probes is read next.
SINGLES = {"next_line": (1, 0, 1, 0), "adjacent": (1, 0, 0, 1), "up_down": (1, 1, 1, 1)}
MOST_BEYOND = 4  # lines beyond the page's end that are probed


def number(text):
    """48K as 49152; words as they are."""
    try:
        return float(text)
    except ValueError:
        pass
    if text[-1:] in SUFFIXES:
        return float(text[:-1]) * SUFFIXES[text[-1]]
    return text


def described(machine):
    """The machine's keys, with their sections."""
    text = subprocess.run([run.CULPRIT, "machines", "show", machine], check=True,
                          capture_output=True, text=True, env=run.ENVIRONMENT).stdout
    keys, section = {}, ""
    for line in text.splitlines():
        if line.startswith("["):
            section = line.strip("[]") + "."
        elif " = " in line:
            name, value = line.split(" = ", 1)
            keys[section + name.strip()] = value.split(";")[0].strip()
    return keys


def prefetchers(level, keys):
    return [keys[f"{level}.{which}"] for which in ("prefetcher", "second_prefetcher", "third_prefetcher")]


def expected(finding, keys):
    """What the description says of a finding; None: nothing."""
    what = finding["what"]
    if "published" in finding:
        return finding["published"]
    if what == "misprediction":
        return sum(float(keys[key]) for key in (
            "core.frontend_depth", "core.redirect", "core.dispatch_to_issue", "class.branch.latency"))
    if what == "integer scheduler":
        return keys[f"queue.{keys['pool.' + keys['class.int_alu.pool'] + '.queue']}.entries"]
    if what == "vector scheduler":
        return keys[f"queue.{keys['pool.' + keys['class.vec_alu.pool'] + '.queue']}.entries"]
    singles = [f"{side} a single, {parity} line" for parity in ("even", "odd")
               for side in ("behind", "before")]
    if what in singles:
        kinds = [kind for level in ("l1d", "l2", "llc") for kind in prefetchers(level, keys)]
        return max(SINGLES.get(kind, (0, 0, 0, 0))[singles.index(what)] for kind in kinds)
    if what == "a line that always follows another":
        return 0
    if what in ("beyond the page's end", "before the page's begin"):  # the line, and the other of its pair
        if "long_stream" in prefetchers("l1d", keys):
            return MOST_BEYOND
        return 1 + ("adjacent" in prefetchers("l2", keys)) if "next_page" in prefetchers("l1d", keys) else 0
    return None


def tolerance(finding):
    """(cycles or number, share) that it may be away."""
    name = (finding["key"] or finding["what"]).split(".")[-1]
    return CYCLES.get(name, 0), SHARES.get(name, 0)


def judge(finding, keys):
    """(said, read, error, verdict); None: the description says nothing of it."""
    said = expected(finding, keys)
    if said is None:
        return None
    if finding["state"] != "measured":
        return said, finding["state"], finding["note"], "not read"
    said_number, value = number(str(said)), finding["value"]
    if isinstance(said_number, str) or isinstance(value, str):
        return said, value, "", "yes" if str(value) == str(said) else "**no**"
    cycles, share = tolerance(finding)
    exact = round(value) if not cycles and not share else value
    good = abs(exact - said_number) <= max(cycles, share * said_number)
    return said, f"{value:.6g}", f"{value - said_number:+.2g}", "yes" if good else "**no**"


def without_frames(machine, keys):
    """The machine, or a file of it whose caches go by virtual addresses: in page frames that lie anywhere
    no size can be read, here as on a processor."""
    levels = [level for level in ("l2", "llc") if keys[f"{level}.frames"] == "yes"]
    if not levels:
        return machine
    os.makedirs(programs.INPUTS, exist_ok=True)
    path = os.path.join(programs.INPUTS, machine + ".ini")
    with open(path, "w") as out:
        out.write(f"base = {machine}\n" + "".join(f"[{level}]\nframes = no\n" for level in levels))
    return path


def measure(machine):
    print(machine, file=sys.stderr, flush=True)
    line = [run.CULPRIT, "calibrate", "--simulated", without_frames(machine, described(machine)),
            "--json"]
    for part in PARTS:
        line += ["--only", part]
    report = subprocess.run(line, check=True, capture_output=True, text=True,
                            env=run.ENVIRONMENT).stdout
    return json.loads(report)


def rows_of(report, keys):
    for finding in report["findings"]:
        judged = judge(finding, keys)
        if judged:
            yield finding["part"], finding["what"], finding["key"] or "", *judged


reports = {machine: measure(machine) for machine in MACHINES}
tables = {machine: list(rows_of(report, described(machine)))
          for machine, report in reports.items()}
summary = []
for part in PARTS:
    row = [f"`{part}`"]
    for machine in MACHINES:
        verdicts = [line[-1] for line in tables[machine] if line[0] == part]
        unread = verdicts.count("not read")
        row.append(f"{verdicts.count('yes')} of {len(verdicts)}"
                   + (f", {unread} not read" if unread else ""))
    summary.append(row)
text = page.table(["part"] + [f"`{machine}`" for machine in MACHINES], summary)
for machine in MACHINES:
    text += f"\n## {machine}\n\n" + page.table(
        ["part", "what", "key", "described", "read back", "error", "near enough"], tables[machine])
page.write("calibrate-simulated", "experiments/calibrate-simulated.py", text)
