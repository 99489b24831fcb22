"""What `culprit annotate` says of live samples of programs whose answer is known, against that answer
and against a simulation of the same run.  Into docs/results/stalls-live.md, the part of this kind of
host.    python3 -B experiments/stalls-live.py [--others | --seen]

Each program is recorded, annotated with a simulation of the same command beside it, and its
executions are counted by emulating it whole (`culprit bbv --counts`). --others: programs whose answer
is not known, where lists of causes and executions are compared all the same. --seen prints those that
were looked at while the analysis was made."""
import csv
import json
import os
import subprocess
import sys
import tempfile
import typing

from lib import live, page, programs, run

LEAST = 0.01  # of a procedure's time: instructions and blocks that count
CAUSES = {"dmiss": "D-cache miss", "dtlbmiss": "DTLB miss", "imiss": "I-cache miss",
          "itlbmiss": "ITLB miss", "branchmp": "mispredicted branch", "writebuffer": "write buffer",
          "registers": "miss registers", "synchronisation": "synchronisation",
          "unit": "unit", "execution": "execution"}
# What the simulation's events are called here.
EVENTS = {"ST-L1": "dmiss", "ST-LLC": "dmiss", "ST-TLB": "dtlbmiss", "DR-L1": "imiss",
          "DR-TLB": "itlbmiss", "DR-SQ": "writebuffer", "FL-MB": "branchmp",
          "FL-EX": "synchronisation", "Base": "execution"}


class Program(typing.NamedTuple):
    name: str
    command: list
    procedure: str  # None: all that have a ten-thousandth of the samples
    cause: str      # of most of its time, by construction
    seen: bool      # while the analysis was made


def known(scratch):
    text = next(command for name, command in live.workloads(scratch) if "gzip" in name)

    def workload(name, *arguments):
        return [run.workload(name, "x86_64"), *arguments]
    yield Program("chase", workload("chase"), "chase_one", "dmiss", True)
    yield Program("branchy", workload("branchy", "20000", "6000000"), "search", "branchmp", True)
    yield Program("stream", workload("stream", "30", "4000000"), "triad", "dmiss", True)
    yield Program("dependent", workload("dependent", "500000000"), "chain", "execution", True)
    yield Program("gzip", text, "gzip:", "dmiss", True)
    yield Program("pages", workload("pages", "80000000"), "touch", "dtlbmiss", False)
    yield Program("nbody", workload("nbody", "150000"), "attract", "execution", False)
    yield Program("interpreter", workload("interpreter", "8000000"), "interpret", "branchmp",
                  False)
    yield Program("bigcode", workload("bigcode", "15000"), None, "imiss", False)


def of_others(scratch):
    """Programs that nobody made to be understood."""
    text = next(command for name, command in live.workloads(scratch) if "gzip" in name)[-1]
    source = programs.written("long.py", lambda: programs.python_program(500000))
    query = programs.written("long.sql", lambda: programs.query(80000))
    for name, command in (
            ("bzip2", ["bzip2", "-c", text]), ("xz", ["xz", "-2", "-c", text]),
            ("python3", ["/usr/bin/python3", source]),
            ("sqlite3", ["sqlite3", ":memory:", f".read {query}"]),
            ("perl", ["perl", "-ne", "for (split) { $h{$_}++ } END { print scalar keys %h }", text]),
            ("sort", ["sort", "-k3", text])):
        yield Program(name, command, "", None, False)


def culprit(*arguments):
    environment = {name: value for name, value in run.ENVIRONMENT.items()
                   if name != "CULPRIT_MACHINE"}
    environment["HOME"] = os.environ.get("HOME", "/")
    done = subprocess.run([run.CULPRIT, *arguments], env=environment, cwd=run.ROOT,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=3600)
    if done.returncode:
        sys.exit(f"culprit {' '.join(arguments)}:\n{done.stderr.decode()}")
    return done.stdout


def annotated(program, scratch):
    """Its procedures, with the simulation."""
    store = os.path.join(scratch, program.name + ".db")
    print(program.name, file=sys.stderr)
    culprit("record", "--store", store, "--output", os.path.join(scratch, "record"), "--",
            *program.command)
    which = {None: ["--all", "--least", "0.01"], "": ["--all", "--least", "2"],
             "gzip:": ["--image", "gzip"]}.get(program.procedure, [program.procedure])
    options = ["annotate", "--store", store, "--json", "--output", os.path.join(scratch, "json"),
               *which]
    culprit(*options)
    with open(os.path.join(scratch, "json")) as report:
        plain = json.load(report)["procedures"]
    culprit("explain", "--save", "--store", store, "--output", os.path.join(scratch, "explain"),
            "--", *program.command)
    culprit(*options, "--epoch", "1", "--simulated", "2")
    with open(os.path.join(scratch, "json")) as report:
        return plain, json.load(report)["procedures"]


def counted(program, scratch):
    """Executions of blocks in the whole run: by image and offset of their first instruction."""
    path = os.path.join(scratch, "counts.csv")
    culprit("bbv", "--counts", path, "--output", os.path.join(scratch, "bb"), "--",
            *program.command)
    counts = {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            if row["kind"] == "instruction":
                counts[os.path.basename(row["image"]), int(row["offset"], 16)] = int(row["times"])
    return counts


# ---- what is compared ----

def total(procedures):
    return sum(p["summary"]["total"] for p in procedures)


def range_of(procedures, cause):
    """Least and most of the time, as shares."""
    causes = [p["summary"]["causes"][cause] for p in procedures]
    return tuple(sum(c[end] for c in causes) / total(procedures) for end in ("least", "most"))


def simulated(procedures):
    """Shares of the simulated cycles by cause: where that alone is told, and with others."""
    alone, among, cycles = dict.fromkeys(CAUSES, 0), dict.fromkeys(CAUSES, 0), 0
    for procedure in procedures:
        for insn in procedure["instructions"]:
            for name, value in (insn["simulated"] or {"signatures": {}})["signatures"].items():
                causes = {EVENTS.get(event, "execution") for event in name.split("+")}
                cycles += value
                for cause in causes:
                    among[cause] += value
                    alone[cause] += value if len(causes) == 1 else 0
    return ({cause: value / cycles for cause, value in shares.items()} for shares in (alone, among))


def listed(procedures, cause):
    """Of the time at instructions that have a hundredth of it: where the cause is listed."""
    with_cause = slow = 0
    for procedure in procedures:
        for insn in procedure["instructions"]:
            if insn["cycles"] < LEAST * procedure["summary"]["total"]:
                continue
            slow += insn["cycles"]
            if cause == "execution" or cause in insn["possible"]:
                with_cause += insn["cycles"]
    return with_cause / slow if slow else 0


def unlisted(procedures):
    """Of the time at slow instructions, what the simulation gives, of their own cycles, to causes that
    are not in their lists. A mispredicted branch has there what in samples the instruction behind it
    has."""
    wrong = slow = 0
    for procedure in procedures:
        for insn in procedure["instructions"]:
            parts = (insn["simulated"] or {"signatures": {}})["signatures"]
            if insn["cycles"] < LEAST * procedure["summary"]["total"] or not parts:
                continue
            slow += insn["cycles"]
            for name, value in parts.items():
                causes = {EVENTS.get(event, "execution") for event in name.split("+")}
                if not causes & {"execution", "branchmp", *insn["possible"]}:
                    wrong += insn["cycles"] * value / sum(parts.values())
    return wrong / slow if slow else 0


def excluded(procedures):
    return [cause for cause in CAUSES if cause != "unit" and range_of(procedures, cause)[1] == 0]


def hottest(procedures):
    insn = max((i for p in procedures for i in p["instructions"]), key=lambda i: i["cycles"])
    return insn["text"].split()[0], insn["cycles"] / total(procedures)


def factors(procedures, counts):
    """How far the executions of blocks with a hundredth of the time are from what was counted, and
    how many of these are unknown."""
    off, unknown = [], 0
    for procedure in procedures:
        for block in procedure["blocks"]:
            if block["cycles"] < LEAST * procedure["summary"]["total"]:
                continue
            offset = block["address"] - procedure["address"] + procedure["offset"]
            truth = counts.get((os.path.basename(procedure["image"]), offset))
            if block["executions"] is None:
                unknown += 1
            elif truth:
                off.append(max(block["executions"] / truth, truth / block["executions"]))
    return off, unknown


# ---- the page ----

def share(value):
    return f"{100 * value:.1f}"


def rows_of(program, plain, beside, counts):
    least, most = range_of(plain, program.cause)
    alone, among = simulated(beside)
    ruled_out = excluded(plain)
    off, unknown = factors(plain, counts)
    stated = "unknown" if not off else f"{max(off):.2f}"
    off, unknown = factors(beside, counts)
    worst = max((among[cause] for cause in ruled_out), default=0)
    name = program.name if program.seen else f"{program.name} (unseen)"
    insn, part = hottest(plain)
    contradicted = [f"{CAUSES[c]} {share(alone[c])} > {share(range_of(plain, c)[1])}"
                    for c in CAUSES if alone[c] > range_of(plain, c)[1] + 0.02]
    return ((name, CAUSES[program.cause], share(listed(plain, program.cause)),
             f"{share(least)} to {share(most)}", share(alone[program.cause]),
             share(among[program.cause]), f"{insn} {share(part)}"),
            (name, ", ".join(CAUSES[cause] for cause in ruled_out) or "none", share(worst),
             "no" if program.cause not in ruled_out else "**yes**",
             share(unlisted(beside)),
             "; ".join(contradicted) or "none"),
            (name, stated, f"{max(off):.2f}" if off else "unknown", len(off), unknown))


def uncertain(procedures):
    """Of the time, what cannot be told to be of one instruction."""
    certain = sum(insn["late"]["least"] for p in procedures for insn in p["instructions"])
    return 1 - certain / total(procedures)


def row_of_others(program, plain, beside, counts):
    ruled_out = excluded(plain)
    _, among = simulated(beside)
    off, _ = factors(beside, counts)
    near = sum(factor <= 2 for factor in off)
    return (program.name, len(plain), share(sum(p["share"] for p in plain)),
            share(uncertain(plain)), ", ".join(CAUSES[cause] for cause in ruled_out) or "none",
            share(max((among[cause] for cause in ruled_out), default=0)), share(unlisted(beside)),
            f"{near} of {len(off)}")


def skid_text(procedures):
    skid = procedures[0]["skid"]
    if not skid["measured"]:
        return f"The skid could not be measured: {skid['why_not']}.\n"
    shares = ", ".join(f"{distance}: {share(value)} %" for distance, value
                       in enumerate(skid["shares"]) if value >= 0.001)
    return (f"Skid, from {skid['samples']} samples of a known loop: median {skid['median']}; by "
            f"distance in instructions {shares}.\n")


def measure_known(scratch):
    tables = ([], [], [])
    for program in known(scratch):
        if "--seen" in sys.argv and not program.seen:
            continue
        plain, beside = annotated(program, scratch)
        counts = counted(program, scratch)
        for table, row in zip(tables, rows_of(program, plain, beside, counts)):
            table.append(row)
    return os.path.basename(plain[0]["machine"]), "\n".join([
        f"Machine {plain[0]['machine']}. {skid_text(plain)}",
        "### The true cause\n",
        page.table(["program", "true cause", "listed at, % of the time of slow instructions",
                    "its range, % of the procedure", "simulated, alone", "simulated, with others",
                    "slowest instruction, % of the time"], tables[0]),
        "### Excluded causes\n",
        page.table(["program", "excluded", "of these in the simulation, % at most",
                    "the true one among them",
                    "simulated, not in an instruction's list, % of the time",
                    "simulated beyond the range by 2 points or more"],
                   tables[1]),
        "### Executions\n",
        page.table(["program", "from samples alone, off by a factor of",
                    "with --simulate, at most a factor of", "blocks", "of them unknown"],
                   tables[2])])


def measure_others(scratch):
    rows = []
    for program in of_others(scratch):
        plain, beside = annotated(program, scratch)
        rows.append(row_of_others(program, plain, beside, counted(program, scratch)))
    return os.path.basename(plain[0]["machine"]), page.table(
        ["program", "procedures with 2 %", "their share of the time, %",
         "of it not certain to be of one instruction, %", "excluded",
         "of these in the simulation, % at most",
         "simulated, not in an instruction's list, % of the time",
         "blocks whose executions are within a factor of 2, with --simulate"], rows)


def main():
    others = "--others" in sys.argv
    with tempfile.TemporaryDirectory() as scratch:
        machine, measured = (measure_others if others else measure_known)(scratch)
    if "--seen" in sys.argv:
        print(measured)
    else:
        page.write_part("stalls-live", "experiments/stalls-live.py",
                        f"{machine}-others" if others else machine, measured)


if __name__ == "__main__":
    main()
