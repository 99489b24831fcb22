#!/usr/bin/env python3
"""Basic blocks of Debian's programs: cycles on this processor beside those of the machine that
culprit describes it by, and those of llvm-mca.

    host-blocks.py [--again] [MACHINE [CPU]]

MACHINE: that of this host's processor or the nearest to it, if none is named. CPU: llvm-mca's -mcpu,
if it is not that of MACHINE below. --again: from what was measured the last time. The page has a part
for each machine; those of others are kept. Needs llvm-mca and llvm-mc, which `make deps` does not install:
`apt-get install llvm-19` or any other version; the newest is taken.

Each program's hottest blocks are found by `culprit bbv --counts`, and run by bench/blocks.c."""
import collections
import csv
import glob
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

from lib import host, page, programs, run, svg

PER_PROGRAM, LIMIT = 45, "40M"  # blocks; instructions from a program's beginning on
LONGEST = 15  # bytes of an instruction
ROUNDS = 6  # of measuring all blocks
COPIES = (100, 200)  # as many blocks in a row as are run
CPUS = {"zen3": "znver3", "zen4": "znver4", "zen4-server": "znver4", "zen5": "znver5", "icelake-server": "icelake-server",
        "sapphire-rapids": "sapphirerapids", "granite-rapids": "graniterapids"}
BLOCKS = os.path.join(run.ROOT, "build", "bench", "blocks")


def debian_programs():
    """Those of the other experiments, and some more."""
    text = programs.written("text", programs.text)
    source = programs.written("source.c", programs.c_source)
    found = [program for program in programs.programs()
             if program.isa == "x86_64" and not program.command[0].startswith(run.ROOT)]
    more = {
        "b2sum": ["b2sum", text],
        "base64": ["base64", text],
        "cksum": ["cksum", "-a", "crc", text],
        "dash": ["dash", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"],
        "diff": ["diff", text, source],
        "factor": ["factor", "1000000007000000049", "340282366920938463463374607431768211457"],
        "find": ["find", "/usr/share/doc", "-name", "*.gz"],
        "md5sum": ["md5sum", text],
        "objdump": ["objdump", "-d", run.CULPRIT],
        "od": ["od", "-A", "d", "-t", "x1z", text],
        "openssl": ["openssl", "dgst", "-sha3-256", text],
        "readelf": ["readelf", "-Ws", run.CULPRIT],
        "sed": ["sed", "-n", r"s/\([0-9]*\) \([0-9]*\)/\2 \1/p", text],
        "sha256sum": ["sha256sum", text],
        "tar": ["tar", "-cf", os.path.join(programs.INPUTS, "all.tar"), "/usr/include/linux"],
        "wc": ["wc", text]}
    found += [programs.debian(name, *command, skip="1M") for name, command in more.items()]
    return sorted(found, key=lambda program: program.name)


def hot_blocks(program, scratch):
    """(instructions, image, offset, bytes) of the blocks that most instructions were executed in."""
    path = os.path.join(scratch, "counts.csv")
    follow = [option for option in program.options if option == "--follow"]
    print(program.name, file=sys.stderr, flush=True)
    subprocess.run([run.CULPRIT, "bbv", *follow, "--limit", LIMIT, "--stop", "--counts", path, "-o",
                    os.path.join(scratch, "vectors"), "--", *program.command], check=False,
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   env=run.ENVIRONMENT, timeout=900)
    if not os.path.exists(path):
        sys.exit(f"{program.name} cannot be run: {' '.join(program.command)}")
    with open(path, newline="") as rows:
        found = [(int(row["instructions"]), int(row["times"]), row["image"], int(row["offset"], 16))
                 for row in csv.DictReader(rows) if row["kind"] == "block" and row["image"]]
    os.remove(path)
    found.sort(key=lambda block: (-block[0] * block[1], block[2:]))
    blocks = []
    for instructions, _, image, offset in found[:PER_PROGRAM]:
        if os.path.isfile(image):
            with open(image, "rb") as content:
                content.seek(offset)
                blocks.append((instructions, image, offset, content.read(LONGEST * instructions)))
    return blocks


def collect():
    """{(image, offset): (program, line of bench/blocks.c)}, each block once."""
    found = {}
    with tempfile.TemporaryDirectory() as scratch:
        for program in debian_programs():
            for instructions, image, offset, code in hot_blocks(program, scratch):
                line = f"{code[:2047].hex()} {offset:x} {instructions}"
                found.setdefault((image, offset), (program.name, line))
    return found


def as_measured(lines, *machines):
    """An object of bench/blocks.c for each line."""
    text = "".join(line + "\n" for line in lines)
    done = subprocess.run([BLOCKS, *machines], input=text, capture_output=True, text=True,
                          env=run.ENVIRONMENT, cwd=run.ROOT, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]


def is_faster(result, other):
    return result["state"] == "measured" and (other["state"] == "unstable" or
                                              result["cycles"] < (other["cycles"] or 0))


def measure(found, machine):
    """The blocks as bench/blocks.c sees them, those that are run as the same code once. What another
    thread of the same core does, a neighbour on a host of several, slows down for seconds all that
    is run: of ROUNDS the fastest holds."""
    lines = [line for _, line in found.values()]
    objects = as_measured(lines, machine)
    for _ in range(1, ROUNDS):
        for block, again in zip(objects, as_measured(lines)):
            if not block["failure"] and is_faster(again["native"], block["native"]):
                block["native"] = again["native"]
    blocks, seen = [], set()
    for (place, (program, _)), block in zip(found.items(), objects):
        block |= {"program": program, "place": place}
        if block["failure"] or block["run"] not in seen:
            blocks.append(block)
        seen.add(block["run"])
    return blocks


# ---- llvm-mca ----

def tool(name):
    found = glob.glob(f"/usr/bin/{name}-[0-9]*")
    if not found:
        sys.exit(f"{name} is not installed: apt-get install llvm-19")
    return max(found, key=lambda path: int(path.rsplit("-", 1)[1]))


def disassemble(blocks):
    """Gives each its "text", a list of lines. An int3, which is in none, stands between them."""
    lines = "".join(" ".join("0x" + block["run"][i:i + 2] for i in range(0, len(block["run"]), 2)) +
                    "\n0xcc\n" for block in blocks)
    attributes = "-mattr=+avx512f,+avx512bw,+avx512vl,+avx512dq,+avx512cd"
    done = subprocess.run([tool("llvm-mc"), "--disassemble", "-triple=x86_64", attributes],
                          input=lines, capture_output=True, text=True, check=True)
    text = [line.split("#")[0].strip().replace("\t", " ") for line in done.stdout.splitlines()]
    part = []
    left = iter(blocks)
    for line in text:
        if line == "int3":
            next(left)["text"] = part
            part = []
        elif line and not line.startswith("."):
            part.append(line)


def total_cycles(blocks, cpu, copies):
    """Of each block, so many copies in a row; None where llvm-mca does not know an instruction."""
    regions = "".join(f"# LLVM-MCA-BEGIN\n{chr(10).join(block['text'])}\n# LLVM-MCA-END\n"
                      for block in blocks)
    done = subprocess.run([tool("llvm-mca"), "-mtriple=x86_64", f"-mcpu={cpu}", "-json",
                           f"-iterations={copies}"], input=regions, capture_output=True, text=True,
                          check=False)
    if not done.returncode:
        return [region["SummaryView"]["TotalCycles"]
                for region in json.loads(done.stdout)["CodeRegions"]]
    if len(blocks) == 1:
        return [None]
    half = len(blocks) // 2
    return total_cycles(blocks[:half], cpu, copies) + total_cycles(blocks[half:], cpu, copies)


def add_mca(blocks, cpu):
    disassemble(blocks)
    few, many = (total_cycles(blocks, cpu, copies) for copies in COPIES)
    for block, low, high in zip(blocks, few, many):
        block["mca"] = None if low is None else (high - low) / (COPIES[1] - COPIES[0])


# ---- what comes of it ----

def reason(block, machine):
    """Why the block is not compared; None: it is."""
    for name, who in (("failure", None), ("native", "on this processor"), (machine, "simulated")):
        if who is None and block["failure"]:
            return re.sub(r" at 0x[0-9a-f]+$", "", block["failure"])
        if who and block[name]["state"] != "measured":
            why = block[name]["failure"] or "the measurement is not stable"
            return f"{who}: " + re.sub(r" at 0x[0-9a-f]+$", "", why)
    if block["native"]["cycles"] <= 0.05:
        return "takes no time that could be measured"
    return "llvm-mca does not know an instruction" if block.get("mca", 0) is None else None


def kendall(pairs):
    """Kendall's tau-b."""
    agree = ties_x = ties_y = all_pairs = 0
    for i, (x, y) in enumerate(pairs):
        for u, v in pairs[:i]:
            order = (x - u) * (y - v)
            agree += (order > 0) - (order < 0)
            ties_x += x == u
            ties_y += y == v
            all_pairs += 1
    below = ((all_pairs - ties_x) * (all_pairs - ties_y)) ** 0.5
    return agree / below if below else None


def summary(blocks):
    """Of culprit and of llvm-mca: median and mean error, tau."""
    row = []
    for name in ("culprit", "mca"):
        errors = [abs(block[name] / block["cycles"] - 1) for block in blocks]
        tau = kendall([(round(block["cycles"], 2), round(block[name], 2)) for block in blocks])
        row += [page.percent(statistics.median(errors)), page.percent(statistics.mean(errors)),
                None if tau is None else f"{tau:.3f}"]
    return row


def held_out(names):
    """Every third program."""
    return set(sorted(names)[2::3])


HEADINGS = ["blocks", "culprit: median error, %", "mean, %", "Kendall's tau",
            "llvm-mca: median error, %", "mean, %", "Kendall's tau"]


def loads_what_it_stores(block):
    """Whether it reads from where it writes, by the same registers, in this copy or the next."""
    stored, loaded = set(), set()
    for line in block["text"]:
        mnemonic, operands = (line.split(" ", 1) + [""])[:2]
        memory = re.search(r"-?\w*\([^)]*\)", operands)
        if mnemonic.startswith(("push", "pop")):
            (stored if mnemonic.startswith("push") else loaded).add("stack")
        elif memory and not mnemonic.startswith(("lea", "nop", "prefetch")):
            last = operands.split("#")[0].strip().endswith(memory.group())
            writes = last and not mnemonic.startswith(("cmp", "test", "bt"))
            if writes:
                stored.add(memory.group())
            if not writes or not mnemonic.startswith(("mov", "set", "vmov", "vextract")):
                loaded.add(memory.group())
    return bool(stored & loaded)


def tables(blocks):
    apart = held_out({block["program"] for block in blocks})
    groups = {"all": blocks,
              "programs to learn from": [b for b in blocks if b["program"] not in apart],
              "programs held out": [b for b in blocks if b["program"] in apart],
              "one page": [b for b in blocks if b["pages"] == 1],
              "several pages": [b for b in blocks if b["pages"] > 1],
              "load what they store, by the same registers": [b for b in blocks
                                                              if loads_what_it_stores(b)],
              "do not": [b for b in blocks if not loads_what_it_stores(b)]}
    rows = [[name, len(some), *summary(some)] for name, some in groups.items() if some]
    text = page.table(["", *HEADINGS], rows)
    by_program = collections.defaultdict(list)
    for block in blocks:
        by_program[block["program"]].append(block)
    rows = [[f"{name}{' (held out)' if name in apart else ''}", len(some), *summary(some)]
            for name, some in sorted(by_program.items())]
    return text + "\n" + page.table(["program", *HEADINGS], rows)


def worst(blocks):
    """The ten that culprit is furthest from, of programs that are not held out."""
    apart = held_out({block["program"] for block in blocks})
    blocks = [block for block in blocks if block["program"] not in apart]
    listed = sorted(blocks, key=lambda block: -abs(block["culprit"] / block["cycles"] - 1))[:10]
    rows = []
    for block in listed:
        shown = "; ".join(block["text"][:8]) + ("; …" if len(block["text"]) > 8 else "")
        rows.append([block["program"], block["instructions"], f"{block['cycles']:.2f}",
                     f"{block['culprit']:.2f}", f"{block['mca']:.2f}", f"`{shown}`"])
    return page.table(["program", "instructions", "measured", "culprit", "llvm-mca", "block"], rows)


def reasons(blocks, machine):
    counts = collections.Counter(filter(None, (reason(block, machine) for block in blocks)))
    rows = [["compared", len(blocks) - sum(counts.values())]]
    return page.table(["blocks", "number"],
                      rows + [[why, number] for why, number in counts.most_common()])


def measured(machine, cpu):
    """All that the page is made of, kept in a file."""
    found = collect()
    blocks = measure(found, machine)
    add_mca([block for block in blocks if not reason(block, machine)], cpu)
    version = subprocess.run([tool("llvm-mca"), "--version"], capture_output=True, text=True,
                             check=True).stdout
    return {"machine": machine, "cpu": cpu, "processor": host.processor(), "blocks": blocks,
            "llvm": re.search(r"LLVM version ([\d.]+)", version).group(1), "found": len(found),
            "programs": len({program for program, _ in found.values()})}


def report(result):
    blocks, machine = result["blocks"], result["machine"]
    compared = [block for block in blocks if not reason(block, machine)]
    for block in compared:
        block |= {"cycles": block["native"]["cycles"], "culprit": block[machine]["cycles"]}
    others = [block for block in compared if not loads_what_it_stores(block)]
    svg.figure(page.picture(f"host-blocks-{machine}"), [svg.Scatter(
        "Cycles of basic blocks", "measured", "predicted",
        [(name, [(block["cycles"], block[key]) for block in compared])
         for name, key in (("llvm-mca", "mca"), ("culprit", "culprit"))])])
    page.write_part("host-blocks", "experiments/host-blocks.py", machine, f"""{result["processor"]}; culprit's machine `{machine}`; llvm-mca {result["llvm"]}, `-mcpu={result["cpu"]}`. {result["found"]} blocks of {result["programs"]} programs, {len(blocks)} without those that are run as the same code.

{reasons(blocks, machine)}
{tables(compared)}
The ten that culprit is furthest from, of programs that are not held out:

{worst(compared)}
And of those that do not load what they store by the same registers:

{worst(others)}
![Cycles measured and predicted](host-blocks-{machine}.svg)
""")


def main():
    words = [word for word in sys.argv[1:] if word != "--again"]
    machine = words[0] if words else host.default_machine()
    kept = os.path.join(run.KEPT, f"host-blocks-{machine}.json")
    if "--again" not in sys.argv:
        result = measured(machine, words[1] if len(words) > 1 else CPUS.get(machine, "native"))
        with open(kept, "w") as out:
            json.dump(result, out, indent=1)
    with open(kept) as content:
        report(json.load(content))


if __name__ == "__main__":
    main()
