"""ranking.py CULPRIT STORE ROUNDS [own] -- COMMAND...: records the command with culprit and with perf,
in turns, and compares what they say of its procedures: Spearman's coefficient of the shares of those
that have at least 1 % of the samples in either. Fails below 0.95. own: only procedures of the
command's file, not what a loaded machine does in the kernel meanwhile.

Procedures of files are known by the file offset where they begin, from the unwind tables, since
files may be stripped; those of the kernel by their names."""
import bisect
import collections
import functools
import json
import os
import re
import subprocess
import sys
import tempfile

LEAST_SHARE, LEAST_COEFFICIENT, RATE = 0.01, 0.95, 5200


@functools.lru_cache(maxsize=None)
class Procedures:
    """Where the procedures of an ELF file begin, as file offsets."""

    def __init__(self, path):
        said = subprocess.run(["readelf", "-lW", path], capture_output=True, text=True).stdout
        segments = [[int(word, 16) for word in match.groups()] for match in re.finditer(
            r"LOAD +0x([0-9a-f]+) 0x([0-9a-f]+) 0x[0-9a-f]+ 0x([0-9a-f]+) ", said)]
        frames = subprocess.run(["readelf", "--debug-dump=frames", path], capture_output=True,
                                text=True, errors="replace").stdout
        starts = {int(start, 16) for start in re.findall(r"FDE .*pc=([0-9a-f]+)\.\.", frames)}
        self.starts = sorted(start - address + offset for start in starts
                             for offset, address, size in segments
                             if address <= start < address + size)

    def start(self, offset):
        at = bisect.bisect_right(self.starts, offset)
        return self.starts[at - 1] if at else offset


def by_culprit(culprit, store, command, counts):
    subprocess.run([culprit, "record", "--rate", str(RATE), "--store", store, "--output",
                    os.devnull, "--", *command], stdout=subprocess.DEVNULL)
    rows = json.loads(subprocess.run([culprit, "top", "--store", store, "--json", "--top", "0"],
                                     capture_output=True, check=True).stdout)["rows"]
    for row in rows:
        image, count = row["image"], next(iter(row["values"].values()))
        if image.startswith("["):
            counts[image, row["procedure"]] += count
            continue
        counts[image, Procedures(image).start(row["offset"])] += count


MAPPING = re.compile(r"PERF_RECORD_MMAP2 (\d+)/\d+: \[0x([0-9a-f]+)\(0x([0-9a-f]+)\) @ "
                     r"(0x[0-9a-f]+|0) .*?\]: \S+ (.*)$")
FORK = re.compile(r"PERF_RECORD_FORK\((\d+):\d+\):\((\d+):")
EXEC = re.compile(r"PERF_RECORD_COMM exec: .*:(\d+)/\d+$")
SAMPLE = re.compile(r"^ *(\d+) +([0-9a-f]+) (.*) \((.*)\)$")


def by_perf(command, counts):
    with tempfile.NamedTemporaryFile() as data:
        subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-F", str(RATE), "-o", data.name,
                        "--", *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        said = subprocess.run(["perf", "script", "-i", data.name, "-F", "pid,ip,sym,dso",
                               "--show-mmap-events", "--show-task-events"],
                              capture_output=True, text=True, errors="replace").stdout
    maps = collections.defaultdict(list)
    for line in said.splitlines():
        if match := MAPPING.search(line):
            pid, start, length, offset, path = match.groups()
            maps[pid].insert(0, (int(start, 16), int(length, 16), int(offset, 16), path))
        elif match := FORK.search(line):
            if match[1] != match[2]:
                maps[match[1]] = list(maps[match[2]])
        elif match := EXEC.search(line):
            maps[match[1]] = []
        elif match := SAMPLE.search(line):
            pid, address, symbol, _ = match.groups()
            address = int(address, 16)
            if address >> 63:
                counts["[kernel]", symbol] += 1
                continue
            for start, length, offset, path in maps[pid]:
                if start <= address < start + length:
                    place = address - start + offset
                    if path.startswith("/") and os.path.exists(path):
                        place = Procedures(path).start(place)
                    counts[path, place] += 1
                    break


def ranks(values):
    order = sorted(range(len(values)), key=lambda i: values[i])
    result = [0.0] * len(values)
    at = 0
    while at < len(order):
        end = at
        while end < len(order) and values[order[end]] == values[order[at]]:
            end += 1
        for i in order[at:end]:
            result[i] = (at + end - 1) / 2
        at = end
    return result


def coefficient(one, other):
    """Spearman's: Pearson's of the ranks."""
    a, b = ranks(one), ranks(other)
    mean = (len(a) - 1) / 2
    spread = sum((x - mean) ** 2 for x in a) * sum((y - mean) ** 2 for y in b)
    return sum((x - mean) * (y - mean) for x, y in zip(a, b)) / spread ** 0.5 if spread else 1.0


def main():
    culprit, store, rounds = sys.argv[1:4]
    own = sys.argv[4] == "own"
    command = sys.argv[sys.argv.index("--") + 1:]
    ours, theirs = collections.Counter(), collections.Counter()
    for _ in range(int(rounds)):
        by_culprit(culprit, store, command, ours)
        by_perf(command, theirs)
    total, their_total = sum(ours.values()), sum(theirs.values())
    rows = sorted((key for key in ours.keys() | theirs.keys()
                   if max(ours[key] / total, theirs[key] / their_total) >= LEAST_SHARE
                   and (not own or os.path.basename(key[0]) == os.path.basename(command[0]))),
                  key=lambda key: -theirs[key])
    for image, procedure in rows:
        key = image, procedure
        name = procedure if isinstance(procedure, str) else f"{procedure or 0:#x}"
        print(f"{100 * ours[key] / total:6.2f} % {100 * theirs[key] / their_total:6.2f} %  "
              f"{os.path.basename(image)} {name}")
    found = coefficient([ours[key] / total for key in rows],
                        [theirs[key] / their_total for key in rows])
    print(f"{' '.join(command)[:60]}: {len(rows)} procedures, {total:.0f} and {their_total} "
          f"samples: Spearman {found:.3f}")
    sys.exit(found < LEAST_COEFFICIENT)


main()
