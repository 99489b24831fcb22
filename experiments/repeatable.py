#!/usr/bin/env python3
"""Whether `--repeatable` gives the same bytes, into docs/results/repeatable.md: a part for each kind of host.
python3 -B experiments/repeatable.py [--runs N] [PROGRAM...]

Each program is simulated N times (20), each time in another environment: variables of another size,
another locale, working directory, host name, priority, processor, limit of the stack, user, with or
without a terminal, and a load beside it in every other run.
Five runs without `--repeatable` are the comparison."""
import argparse
import hashlib
import json
import os
import random
import shlex
import shutil
import subprocess
import tempfile

from lib import host, page, run

FREE = 5  # runs without it
LINES = "\n".join(f"{n * 7919 % 10007} word{n % 97} {n}" for n in range(800)) + "\n"
PYTHON = """import random, time
table = {str(random.random()) + str(n): n for n in range(3000)}
print(len(table), sum(hash(key) & 7 for key in table), time.strftime("%c"))
"""
PERL = 'my %h; $h{rand()} = $_ for 1..3000; print join(",", (keys %h)[0..3]), time, "\\n";'
SQL = "select random(); with recursive c(x) as (select 1 union all select x+1 from c where x<20000) " \
      "select sum(x * x % 7) from c;"
CPP = """#include <chrono>
#include <iostream>
#include <random>
#include <unordered_map>
int main() {
    std::random_device device;
    std::unordered_map<std::string, unsigned> map;
    for (int n = 0; n < 5000; n++)
        map[std::to_string(device())] += n;
    std::cout << map.size() << ' ' << std::chrono::system_clock::now().time_since_epoch().count() << '\\n';
}
"""
GO = """package main

import (
	"fmt"
	"math/rand"
)

func main() {
	m := map[string]int{}
	for i := 0; i < 3000; i++ {
		m[fmt.Sprint(rand.Int(), i)] = i
	}
	fmt.Println(len(m))
}
"""
COMMANDS = {
    "gzip": ["gzip", "-9", "-c", "lines"], "xz": ["xz", "-T1", "-c", "lines"],
    "sort": ["sort", "--parallel=1", "lines"], "awk": ["awk", "{n[$2] += $1} END {for (k in n) print k, n[k]}", "lines"],
    "sh": ["sh", "-c", "i=0; while [ $i -lt 2000 ]; do i=$((i + 1)); done; date"],
    "perl": ["perl", "-e", PERL], "python3": ["python3", "-c", PYTHON],
    "sqlite3": ["sqlite3", ":memory:", SQL], "date": ["date"], "C++": ["./cpp"], "Go": ["./go"],
}


def prepare(folder):
    with open(os.path.join(folder, "lines"), "w") as lines:
        lines.write(LINES)
    for name, text, build in (("cpp", CPP, ["g++", "-O1", "-o", "cpp", "cpp.cpp"]),
                              ("go", GO, ["go", "build", "-o", "go", "go.go"])):
        with open(os.path.join(folder, f"{name}.{'cpp' if name == 'cpp' else 'go'}"), "w") as source:
            source.write(text)
        if shutil.which(build[0]):
            subprocess.run(build, cwd=folder, check=True,
                           env=os.environ | {"GO111MODULE": "off", "GOFLAGS": ""})


def surroundings(number, chance):
    """Environment, and what goes before the command."""
    environment = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"),
                   "VARIED": "x" * chance.randrange(4000), f"V{number}": "1",
                   "TZ": chance.choice(["UTC", "Asia/Tokyo", "America/Lima"]),
                   "LC_ALL": chance.choice(["C", "C.UTF-8", "tr_TR.UTF-8", "de_DE"])}
    before = ["prlimit", f"--stack={(4 + number % 7) << 20}:", "nice", "-n", str(number % 5), "taskset", "-c", str(number % os.cpu_count())]
    if os.geteuid() == 0 and number % 3 == 2:
        before = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"] + before
    if os.geteuid() == 0:
        before = ["unshare", "-u", "sh", "-c", f"hostname host{'x' * (number % 9)}.example; exec \"$@\"", "-"] + before
    return environment, before


def simulate(folder, command, options, number, chance):
    """The bytes of the report, without what says how it was made; and its cycles."""
    environment, before = surroundings(number, chance)
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o777)
        report = os.path.join(place, "report.json")
        words = [*before, run.CULPRIT, "sim", *options, "--json", "-o", report, "--", *command]
        if number % 4 == 1:  # its standard input and error are a terminal
            words = ["script", "-qec", shlex.join(words) + " > /dev/null", "/dev/null"]
        done = subprocess.run(words, cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{command}: {done.stderr}")
        with open(report, "rb") as written:
            text = written.read()
    return hashlib.sha256(text).hexdigest(), json.loads(text)["cycles"]


def measure(name, folders, runs):
    chance = random.Random(1)
    command, rows = COMMANDS[name], {}
    for label, options, times in (("fixed", ["--repeatable"], runs),
                                  ("free", ["--machine", "zen4"], FREE)):
        found = []
        for number in range(times):
            busy = subprocess.Popen(["sh", "-c", "while :; do :; done"]) if number % 2 else None
            found.append(simulate(folders[number % len(folders)], command, options, number, chance))
            if busy:
                busy.kill()
                busy.wait()
        rows[label] = found
    fixed, free = rows["fixed"], rows["free"]
    spread = [max(c for _, c in found) / min(c for _, c in found) - 1 for found in (fixed, free)]
    return [name, fixed[0][1], fixed[0][0][:12], len({digest for digest, _ in fixed}),
            f"{100 * spread[0]:.4f}", len({cycles for _, cycles in free}), f"{100 * spread[1]:.2f}"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("programs", nargs="*")
    given = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as base:
        folders = [os.path.join(base, name) for name in ("a", "another/and/longer/one")]
        for folder in folders:
            os.makedirs(folder)
            os.chmod(base, 0o755)
            prepare(folder)
        for name in given.programs or COMMANDS:
            if not shutil.which(os.path.join(folders[0], COMMANDS[name][0])) and not shutil.which(COMMANDS[name][0]):
                continue
            rows.append(measure(name, folders, given.runs))
            print(rows[-1], flush=True)
            page.write_part("repeatable", "experiments/repeatable.py", host.default_machine(), f"{host.processor()}. Of {given.runs} runs with it, {FREE} without.\n\n" + page.table(
                ["program", "cycles", "report", "different reports, --repeatable", "cycles: most above least, %",
                 "different cycles without it", "most above least, %"], rows))


if __name__ == "__main__":
    main()
