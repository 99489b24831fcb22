"""How near `culprit compare` comes by regions of the same work in both builds to what it says when it
simulates every instruction of both: builds of bzip2, lua and gzip. Into docs/results/matched.md. FOLDER
holds what `apt-get source --download-only bzip2 lua5.4 gzip` fetches, its three .orig.tar unpacked: what Debian
changes in the last two takes more than a compiler to build. Half an hour on two processors; what was
exact is kept.
    python3 -B experiments/matched.py FOLDER"""
import glob
import json
import math
import os
import statistics
import subprocess
import sys

from lib import page, run

BUILT = os.path.join(run.KEPT, "matched")
BZIP2 = ["blocksort", "huffman", "crctable", "randtable", "compress", "decompress", "bzlib", "bzip2"]
CHANGES = [("`-O1`", ["-O1"]), ("`-O3`", ["-O3"]), ("functions begin lines", ["-falign-functions=64"]),
           ("without the frame of the stack in a register", ["-fno-omit-frame-pointer"])]


def built(program, folder, number, flags):
    """The program with these flags behind -O2."""
    target = os.path.join(BUILT, f"{program}.{number}")
    if os.path.exists(target):
        return target
    flags = ["-g", "-O2", *flags]
    if program == "gzip":
        source = glob.glob(os.path.join(folder, "gzip-*", ""))[0]
        if not os.path.exists(os.path.join(source, "Makefile")):
            subprocess.run(["./configure"], cwd=source, check=True, stdout=subprocess.DEVNULL)
        for words in (["clean"], ["-j2", "CFLAGS=" + " ".join(flags)]):
            subprocess.run(["make", *words], cwd=source, check=True, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
        subprocess.run(["cp", os.path.join(source, "gzip"), target], check=True)
        return target
    files = ([os.path.join(folder, "bzip2-1.0.8", name + ".c") for name in BZIP2] if program == "bzip2" else
             [name for name in glob.glob(os.path.join(folder, "lua-5.4*", "src", "*.c")) if "luac" not in name])
    more = ["-D_FILE_OFFSET_BITS=64"] if program == "bzip2" else ["-DLUA_USE_POSIX"]
    subprocess.run(["gcc", *flags, *more, "-w", "-o", target, *sorted(files), "-lm"], check=True)
    return target


def arguments_of(program, text):
    return {"bzip2": ["-kc", text], "gzip": ["-9c", text],
            "lua": [os.path.join(run.ROOT, "experiments", "lib", "words.lua"), "20"]}[program]


def compared(before, after, arguments, *options):
    told = os.path.join(BUILT, "compared.json")
    run.execute([run.CULPRIT, "compare", *options, "--json", "-o", told, before, after, *arguments], 3000)
    with open(told) as content:
        return json.load(content)


def exact(before, after, arguments):
    """The change in percent, of every instruction: kept by what the programs and their
    files are, as long as build/experiments is."""
    path = os.path.join(BUILT, "exact.json")
    kept = {}
    if os.path.exists(path):
        with open(path) as content:
            kept = json.load(content)
    files = [before, after, *(word for word in arguments if os.path.exists(word))]
    key = run.digest(*files) + " ".join(word for word in arguments if not os.path.exists(word))
    if key not in kept:
        report = compared(before, after, arguments, "--full")
        kept[key] = report["percent"]
        with open(path, "w") as content:
            json.dump(kept, content)
    return kept[key]


def apart(report):
    """Half of the interval in percent if both were estimated by themselves."""
    halves = [report[side]["half_interval_95"] or 0 for side in ("before", "after")]
    return 100 * math.hypot(*halves) / report["before"]["elapsed_cycles"]


def why_not(report):
    notes = [note for note in report["notes"] if note.startswith("every instruction")]
    return notes[0].split(": ", 1)[1] if notes else None


def measured(name, before, after, arguments, *options):
    true = exact(before, after, arguments)
    told = compared(before, after, arguments, *options)
    print(name, true, told["percent"], told["half_interval_95"], file=sys.stderr)
    return {"name": name, "true": true, "told": told["percent"], "half": told["half_interval_95"],
            "apart": apart(told), "why_not": why_not(told), "instructions": told["before"]["instructions"],
            "regions": told["pairs"] is not None}


def row(pair):
    if not pair["regions"]:
        return [pair["name"], f"{pair['instructions'] / 1e6:.0f}", f"{pair['true']:+.3f}",
                pair["why_not"] or "too short", "", "", "", ""]
    error = pair["told"] - pair["true"]
    return [pair["name"], f"{pair['instructions'] / 1e6:.0f}", f"{pair['true']:+.3f}", f"{pair['told']:+.3f}",
            f"{pair['half']:.3f}", f"{error:+.3f}", "yes" if abs(error) <= pair["half"] else "no",
            f"{pair['apart']:.2f}"]


HEADINGS = ["pair", "instructions, M", "all of both, %", "by regions, %", "±", "off by", "within", "± apart"]


def summary(pairs):
    by_regions = [pair for pair in pairs if pair["regions"]]
    if not by_regions:
        return ""
    off = [abs(pair["told"] - pair["true"]) for pair in by_regions]
    within = sum(error <= pair["half"] for error, pair in zip(off, by_regions))
    return (f"{len(by_regions)} of {len(pairs)} by regions of the same work. Off by {statistics.median(off):.3f} "
            f"percentage points in the median and {max(off):.3f} at most; within the interval {within}. The "
            f"interval is ±{statistics.median(p['half'] for p in by_regions):.3f} in the median, where that of "
            f"regions of each alone is ±{statistics.median(p['apart'] for p in by_regions):.2f}.\n\n")


def main(folder):
    os.makedirs(BUILT, exist_ok=True)
    text = os.path.join(BUILT, "text")
    tar = subprocess.run(["tar", "--sort=name", "-C", "/usr", "-cf", "-", "include"], capture_output=True,
                         check=True).stdout
    with open(text, "wb") as file:
        file.write(tar[:800000])
    pairs = []
    for number, (what, flags) in enumerate(CHANGES, 1):
        for program in ("bzip2", "lua", "gzip"):
            before, after = (built(program, folder, *build) for build in ((0, []), (number, flags)))
            pairs.append(measured(f"{program}, {what}", before, after, arguments_of(program, text)))
            page.write("matched", "experiments/matched.py",
                       summary(pairs) + page.table(HEADINGS, [row(pair) for pair in pairs]))


if __name__ == "__main__":
    main(sys.argv[1])
