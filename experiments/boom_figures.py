"""What experiments/boom-figures.sh reads out of pipeline pictures and reports.

    boom_figures.py windows KANATA...     JSON: the events of windows of cycles
    boom_figures.py table FOLDER LIMIT    the tables, from FOLDER/MACHINE.ISA/*"""
import glob
import json
import os
import re
import subprocess
import sys


def committed_of(path):
    """The committed µops of a Kanata log in program order: [text, dispatch, complete, commit]."""
    cycle, uops, committed = 0, {}, []
    with open(path) as log:
        for line in log:
            field = line.rstrip("\n").split("\t")
            if field[0] == "C":
                cycle += int(field[1])
            elif field[0] == "C=":
                cycle = int(field[1])
            elif field[0] == "L" and field[2] == "1":
                uops[field[1]] = [field[3], None, None, None]
            elif field[0] == "S" and field[3] != "F":
                uop = uops[field[1]]
                uop[1] = uop[1] or cycle
                if field[3] == "Cm":
                    uop[2] = cycle
            elif field[0] == "R" and field[3] == "0":
                uop = uops[field[1]]
                uop[1:] = uop[1] or cycle, uop[2] or cycle, cycle
                committed.append(uop)
    return committed


def windows(*paths):
    """hits: of each load that missed the L1 but no TLB and hit in the last level, the cycles that
    it stalled commit as the oldest instruction. wrong: of each mispredicted branch behind which
    fetch hit, [cycles the reorder buffer was empty, cycles from its completion to its commit].
    missed: of those behind which fetch missed, cycles the reorder buffer was empty."""
    hits, wrong, missed = [], [], []
    for path in paths:
        committed = committed_of(path)
        for before, this in zip(committed, committed[1:]):
            text, dispatch, _, commit = this
            if re.search(r", LLC, \d+ cycles in L1 and [1-9]", text) and "ST-TLB" not in text:
                hits.append(max(0, commit - max(before[3], dispatch) - 1))
            if ", mispredicted" in before[0]:
                empty = max(0, dispatch - before[3])
                if "DR-" in text:
                    missed.append(empty)
                else:
                    wrong.append([empty, before[3] - before[2]])
    json.dump({"hits": hits, "wrong": wrong, "missed": missed}, sys.stdout)


def mean(values):
    return sum(values) / len(values) if values else None


def shown(value, digits=1):
    return "" if value is None else f"{value:.{digits}f}"


def core_of(machine):
    text = subprocess.run([os.environ["CULPRIT"], "machines", "show", "--json", machine],
                          check=True, capture_output=True, text=True).stdout
    return json.loads(text)["core"]


ENOUGH = 20  # events, for a mean of them


def row(core, report, seen):
    """The figures of one program. A flush empties the reorder buffer for the machine's flush
    penalty and the depth of its front end, a system call for its cycles and that depth."""
    counts, cycles = report["statistics"], report["cycles"]
    calls = counts["system_calls"]
    flushes = counts["flushes"] - calls + counts["ordering_violations"]
    flush_cycles = flushes * (core["flush_penalty"] + core["frontend_depth"])
    call_cycles = calls * (core["syscall_cycles"] + core["frontend_depth"])
    wrong = sum(counts["branches"][kind + "_mispredicted"]
                for kind in ("conditional", "indirect", "returns"))
    stalls = [stall for stall in seen["hits"] if stall]
    empty = [empty for empty, _ in seen["wrong"]]
    return {
        "cpi": report["cpi"],
        "wrong": 1000 * wrong / report["instructions"],
        "all_empty": ((report["commit_states"]["flushed"] - flush_cycles - call_cycles) / wrong
                      if wrong >= 1000 else None),
        "empties": empty,
        "empty": mean(empty) if len(empty) >= ENOUGH else None,
        "waits": mean([wait for _, wait in seen["wrong"]]) if len(empty) >= ENOUGH else None,
        "hits": len(seen["hits"]),
        "hidden": (100 * (1 - len(stalls) / len(seen["hits"]))
                   if len(seen["hits"]) >= ENOUGH else None),
        "stalls": stalls,
        "stall": mean(stalls) if len(stalls) >= ENOUGH else None,
        "flush": 100 * flush_cycles / cycles,
        "calls": 100 * call_cycles / cycles,
    }


def rows_of(machine, folder):
    core, rows = core_of(machine), {}
    for isa in "riscv64", "x86_64":
        for path in sorted(glob.glob(f"{folder}/{machine}.{isa}/*.json")):
            name = os.path.basename(path)[:-5]
            with open(path) as report, open(path[:-4] + "windows") as seen:
                rows[f"{name} ({isa})"] = row(core, json.load(report), json.load(seen))
    return rows


def means_of(rows):
    return {key: mean([r[key] for r in rows.values() if r[key] is not None])
            for key in ("all_empty", "empty", "waits", "stall", "flush", "calls")}


SUMMARY = (("cycles that a partly hidden hit in the LLC stalls commit", "40", "stall"),
           ("cycles that the reorder buffer is empty after a misprediction, fetch hitting", "3.5",
            "empty"),
           ("the same, with instruction cache and TLB misses behind the branch", "", "all_empty"),
           ("miscellaneous flushes, % of time", "1.4", "flush"))


def summary(measured):
    print("\n## Means of the programs\n")
    print("| figure | paper | " + " | ".join(measured) + " |")
    print("|---" + "|---:" * (1 + len(measured)) + "|")
    for words, paper, key in SUMMARY:
        print(f"| {words} | {paper} | " +
              " | ".join(shown(means_of(rows)[key]) for rows in measured.values()) + " |")


def table(folder, limit):
    measured = {machine: rows_of(machine, folder) for machine in ("boom-tip", "boom-tea")}
    summary(measured)
    for machine, rows in measured.items():
        print(f"\n## {machine}\n\n{limit} instructions of each program.\n")
        print("| program | CPI | mispredictions per 1000 instructions | empty, all | empty, fetch hit "
              "| completion to commit | LLC hits seen | hidden, % | stall of the others "
              "| misc. flushes, % of time | system calls, % |")
        print("|---" + "|---:" * 10 + "|")
        for name, r in rows.items():
            print(f"| {name} | {r['cpi']:.2f} | {r['wrong']:.2f} | {shown(r['all_empty'])} "
                  f"| {shown(r['empty'])} | {shown(r['waits'])} | {r['hits']} "
                  f"| {shown(r['hidden'], 0)} | {shown(r['stall'])} | {r['flush']:.2f} "
                  f"| {r['calls']:.2f} |")
        means = means_of(rows)
        print(f"| **mean of programs** | | | {shown(means['all_empty'])} | {shown(means['empty'])} "
              f"| {shown(means['waits'])} | | | {shown(means['stall'])} | {means['flush']:.2f} "
              f"| {means['calls']:.2f} |")
        values = rows.values()
        empties = [empty for r in values for empty in r["empties"]]
        stalls = [stall for r in values for stall in r["stalls"]]
        print(f"| **mean of events** | | | | {shown(mean(empties))} | | "
              f"{sum(r['hits'] for r in values)} | | {shown(mean(stalls))} | | |")


if __name__ == "__main__":
    {"windows": windows, "table": table}[sys.argv[1]](*sys.argv[2:])
