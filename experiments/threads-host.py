#!/usr/bin/env python3
"""What a second thread, and what remedies for threads, give on this host beside what culprit says.

    threads-host.py [--machine MACHINE] [--rounds N] [--budget SECONDS] [NAME ...]

With names only these programs, printed and not written down. In each round every program runs with
one thread and with two, one after the other, on two processors; before and after them the latency of
a line between these is measured (`culprit calibrate --only transfers`), as a hypervisor may move
them apart meanwhile. Predicted is the ratio of elapsed cycles of `culprit sim` of a trace, on two
cores with the latencies that were measured where the two share a cache; what would begin when
the budget is used up is not predicted."""
import functools
import json
import os
import statistics
import subprocess
import sys
import time
import typing

from lib import host, page, programs, run

ROUNDS = 15
LONG = 3600  # seconds that a simulation may take
WAKES = 5  # times that waking is measured
FEWEST, NEAR = 3, 5  # pairs, of which anything is said; that are wanted where processors are near


class Command(typing.NamedTuple):
    name: str
    native: object     # a function of the number of threads: the command that is measured
    simulated: object  # likewise, that is simulated: less of the same work
    result: object     # all commands that have the same print the same


def workload(name, variant, work, short):
    path = run.workload(name, "x86_64")
    return Command(f"{name} {variant}", lambda threads: [path, variant, threads, work],
                   lambda threads: [path, variant, threads, short], (name, work))


def lines():
    return "".join(f"{x} {i % 977}\n" for i, x in enumerate(programs.numbers(400000)))


def text():
    return programs.text()[:1 << 20]


def debian(name, words):
    """`words`: of the command, by its threads and its input: the same measured and simulated, as
    what a second thread gives depends on how many pieces there are."""
    def command(threads):
        return words(threads, programs.written(*(("lines", lines) if name == "sort" else
                                                 ("short-text", text))))
    return Command(name, command, command, None)


# Work of some tenths of a second, work of some 15 million instructions, which the beginning of a
# program is a small part of, and the variants that do it; then what is a remedy of what.
WORKLOADS = [("counters", 400000000, 3000000, ["together", "apart"]),
             ("counters", 100000000, 2000000, ["shared", "private"]),
             ("tallies", 50000000, 400000, ["static", "static-padded", "heap", "heap-padded"]),
             ("critical", 15000, 120, ["long", "short"]), ("barrier", 1000, 10, ["uneven", "even"]),
             ("queue", 200000, 12000, ["uneven", "single", "even"]),
             ("readmostly", 30000000, 100000, ["rwlock", "mutex", "published"]),
             ("bandwidth", 200000000, 3000000, ["memory"]),
             ("bandwidth", 1000000000, 4000000, ["cache"])]
COMMANDS = [workload(name, variant, work, short) for name, work, short, variants in WORKLOADS
            for variant in variants]
COMMANDS += [
    debian("pigz", lambda threads, file: ["pigz", "-p", threads, "-c", file]),
    debian("xz", lambda threads, file: ["xz", f"-T{threads}", "-2", "--block-size=256KiB", "-c", file]),
    debian("zstd", lambda threads, file: ["zstd", "-q", f"-T{threads}", "-12", "-B524288", "-c", file]),
    debian("lbzip2", lambda threads, file: ["lbzip2", "-n", threads, "-c", file]),
    debian("sort", lambda threads, file: ["sort", f"--parallel={threads}", "-S", "256M", file]),
]
REMEDIES = [("counters together", "counters apart"), ("counters shared", "counters private"),
            ("tallies static", "tallies static-padded"), ("tallies heap", "tallies heap-padded"),
            ("critical long", "critical short"), ("barrier uneven", "barrier even"),
            ("queue uneven", "queue even"), ("queue single", "queue even"),
            ("readmostly rwlock", "readmostly published"),
            ("readmostly mutex", "readmostly published")]


# ---- this host ----

@functools.cache
def processors():
    """Two that a program may use, on two cores if there are."""
    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) < 2:
        sys.exit("threads-host.py needs two processors")
    try:
        with open(f"/sys/devices/system/cpu/cpu{allowed[0]}/topology/thread_siblings_list") as said:
            siblings = said.read()
    except OSError:
        siblings = ""
    others = [p for p in allowed[1:] if str(p) not in siblings.replace("-", ",").strip().split(",")]
    return allowed[0], (others or allowed[1:])[0]


def prepare():
    """In the child: the two processors; before other programs, if that is permitted, as a second
    thread would else begin on the processor of the first and stay there beside load."""
    os.sched_setaffinity(0, processors())
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    except PermissionError:
        pass


def busy_seconds():
    """Processor time that all programs of this system have used."""
    with open("/proc/stat") as lines_of:
        fields = [int(word) for word in lines_of.readline().split()[1:]]
    return (sum(fields[:3]) + sum(fields[5:7])) / os.sysconf("SC_CLK_TCK")


def run_of(command):
    """Wall time of a run, processors that others used meanwhile, and what it printed."""
    command = [str(word) for word in command]
    busy, begin = busy_seconds(), time.monotonic()
    with subprocess.Popen(command, env=host.ENVIRONMENT, cwd=run.ROOT, preexec_fn=prepare,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as child:
        said = child.stdout.read()
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    took = time.monotonic() - begin
    if child.returncode:
        sys.exit(f"status {child.returncode} of {' '.join(command)}")
    others = busy_seconds() - busy - used.ru_utime - used.ru_stime
    return took, others / took, said


def calibrated(part):
    """What `culprit calibrate` measures on the two processors, by key."""
    said = subprocess.run([run.CULPRIT, "calibrate", "--quick", "--only", part, "--json"],
                          env=run.ENVIRONMENT, preexec_fn=prepare, check=True, capture_output=True,
                          text=True).stdout
    return {finding["key"]: finding["value"] for finding in json.loads(said)["findings"]
            if finding["key"] and finding["state"] == "measured"}


def wakes():
    """Nanoseconds by key of machine files; each the median of several times that it is measured."""
    found = [calibrated("wakes") for _ in range(WAKES)]
    values = {key: [one[key] for one in found if key in one] for key in found[0]}
    return {key: round(statistics.median(known)) for key, known in values.items()}


def transfers():
    """Cycles of a line between the two processors by key of machine files; {}: not measured."""
    found = calibrated("transfers")
    if len(found) < 4:
        return {}
    return {"chip.modified_transfer": found["chip.modified_load_to_use"] - 1,
            "chip.clean_transfer": found["chip.clean_load_to_use"] - 1,
            "chip.upgrade": found["chip.upgrade"],
            "chip.request_latency": found["chip.request_latency"]}


class Pair(typing.NamedTuple):
    seconds: tuple  # with one thread and with two
    others: tuple   # processors that other programs used meanwhile
    lines: tuple    # transfers() before and behind


def take_pair(command, number, before, said):
    """A pair, in which one thread comes first by turns."""
    took, others = {}, {}
    for threads in ((1, 2), (2, 1))[number % 2]:
        took[threads], others[threads], output = run_of(command.native(threads))
        if command.result and said.setdefault(command.result, output) != output:
            sys.exit(f"{command.name}: another result with {threads} threads")
    return Pair((took[1], took[2]), (others[1], others[2]), (before, transfers()))


def measured(commands, rounds):
    """{name: {round: Pair}}. When the processors were seldom near, further rounds of what lacks
    pairs there, up to three times as many."""
    pairs, said, before = {command.name: {} for command in commands}, {}, transfers()
    for number in range(3 * rounds):
        places = Places(pairs)
        wanted = [command for command in commands if number < rounds or
                  len(chosen(pairs[command.name], places, False)) < NEAR]
        for command in wanted:
            pair = take_pair(command, number, before, said)
            pairs[command.name][number], before = pair, pair.lines[1]
        if wanted:
            print(f"round {number + 1}: {len(wanted)} programs", file=sys.stderr)
    return pairs


# ---- where the two processors were ----

MODIFIED = "chip.modified_transfer"
APART = 2  # times as long: another place


SAME_CORE = 40  # cycles; no cache that cores share answers sooner


def apart(line):
    """The latencies, unless both processors are threads of one core at the moment: then no line
    leaves it, and they share its units."""
    return line if line and line[MODIFIED] >= SAME_CORE else None


class Places:
    """Near: both share a cache. Far: they do not. Where all latencies are alike there is one."""

    def __init__(self, pairs):
        self.all = [line for of_one in pairs.values() for pair in of_one.values()
                    for line in map(apart, pair.lines) if line]
        known = [line[MODIFIED] for line in self.all]
        self.several = bool(known) and max(known) > APART * min(known)
        self.border = (max(known) * min(known)) ** 0.5 if self.several else float("inf")

    def of(self, pair):
        """None: they were moved meanwhile, or nobody knows."""
        where = {line[MODIFIED] > self.border if line else None for line in map(apart, pair.lines)}
        return None if len(where) > 1 else where.pop()

    def settings(self):
        """Latencies of the near place, rounded, as of machine files."""
        near = [line for line in self.all if line[MODIFIED] <= self.border]
        return {key: round(statistics.median(line[key] for line in near)) for key in near[0]} \
            if near else {}

    def latencies(self, far):
        return [line[MODIFIED] + 1 for line in self.all if (line[MODIFIED] > self.border) == far]


def chosen(pairs, places, far):
    return {number: pair for number, pair in pairs.items() if places.of(pair) is far}


def spread(values, digits=2):
    """Median, and quartiles."""
    if len(values) < FEWEST:
        return "–"
    low, _, high = statistics.quantiles(values, n=4)
    return f"{statistics.median(values):.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


# ---- what culprit says ----

def capture(commands):
    """All before the first simulation: what a thread takes of the work depends on what else runs."""
    for command in commands:
        for threads in (1, 2):
            run.trace([], command.simulated(threads), LONG)


def elapsed(machine, settings, command, threads):
    """Cycles from its beginning to its end; None: this culprit does not say."""
    options = ["--machine", machine, "--cores", "2"] + [
        word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    said = run.report_of("sim", options, run.trace([], command.simulated(threads), LONG),
                         limit_seconds=LONG)
    return (said.get("together") or {}).get("elapsed_cycles", said["cycles"] if threads == 1 else None)


class Prediction:
    """Elapsed cycles of a command with so many threads, simulated when asked for."""

    def __init__(self, machine, settings, budget):
        self.machine, self.settings = machine, settings
        self.known, self.until = {}, time.monotonic() + budget
        self.possible = bool(settings)

    def of(self, command, threads):
        if not self.possible:
            return None
        if (command.name, threads) not in self.known:
            if time.monotonic() > self.until:
                return None
            self.known[command.name, threads] = elapsed(self.machine, self.settings, command, threads)
        return self.known[command.name, threads]

    def speedup(self, command):
        one, two = self.of(command, 1), self.of(command, 2)
        return one / two if one and two else None

    def gain(self, before, after):
        old, new = self.of(before, 2), self.of(after, 2)
        return 1 - new / old if old and new else None


# ---- the page ----

def speedups(pairs, places, far):
    return [pair.seconds[0] / pair.seconds[1] for pair in chosen(pairs, places, far).values()]


def row_of(command, pairs, places, prediction):
    near = speedups(pairs, places, False)
    predicted = prediction.speedup(command)
    off = predicted / statistics.median(near) - 1 if predicted and len(near) >= FEWEST else None
    times = [1000 * min(pair.seconds[i] for pair in pairs.values()) for i in range(2)]
    return [command.name, f"{times[0]:.0f}", f"{times[1]:.0f}", spread(near),
            *([spread(speedups(pairs, places, True))] if places.several else []),
            f"{predicted:.2f}" if predicted else "not predicted", page.percent(off, 0)]


def gains(before, after, places, far):
    """Share of the time with two threads that the remedy saves, in percent, of rounds in which the
    processors were in the same place for both."""
    old, new = chosen(before, places, far), chosen(after, places, far)
    return [100 * (1 - new[number].seconds[1] / old[number].seconds[1])
            for number in old if number in new]


def remedy_row(before, after, pairs, places, prediction):
    near = gains(pairs[before.name], pairs[after.name], places, False)
    predicted = prediction.gain(before, after)
    good = None
    if predicted is not None and len(near) >= FEWEST:
        saved = statistics.median(near) / 100
        good = "yes" if abs(predicted - saved) <= abs(saved) / 3 else "no"
    return [before.name, after.name.split()[1], spread(near, 1),
            *([spread(gains(pairs[before.name], pairs[after.name], places, True), 1)]
              if places.several else []),
            "not predicted" if predicted is None else page.percent(predicted), good]


def waking(measured_ns):
    """What the page says of it."""
    if not measured_ns:
        return "Waking could not be measured."
    latency, cost = (measured_ns.get(f"chip.wake_{what}", 0) / 1000 for what in ("latency", "cost"))
    return (f"A thread that is woken on the other processor runs {latency:.1f} µs later, and the call takes "
            f"{cost:.1f} µs, which predictions take into account.")


def placement(places, pairs):
    if not places.all:
        return "What a line between the two processors takes could not be measured."
    def said(far):
        values = places.latencies(far)
        return f"{min(values):.0f} to {max(values):.0f} cycles, median {statistics.median(values):.0f}"
    every = [pair for of_one in pairs.values() for pair in of_one.values()]
    moved = sum(places.of(pair) is None for pair in every)
    if not places.several:
        return f"A load of a line that the other processor wrote took {said(False)}."
    return (f"A load of a line that the other processor wrote took {said(False)}, where the two were *near*, and "
            f"{said(True)}, where they were *far*; in {moved} of {len(every)} pairs they were moved, or it could not be "
            "measured: these are left out.")


def load(pairs):
    one, two = (statistics.mean(pair.others[i] for of_one in pairs.values()
                                for pair in of_one.values()) for i in range(2))
    return (f"Other programs used {one:.2f} processors beside runs of one thread, {two:.2f} beside "
            "those of two.")


def tables(commands, pairs, places, prediction):
    far = places.several
    by_name = {command.name: command for command in commands}
    speed = page.table(["program", "1 thread, least, ms", "2 threads, ms", "speedup" + ", near" * far,
                        *(["speedup, far"] * far), "predicted", "off by, %"],
                       [row_of(command, pairs[command.name], places, prediction)
                        for command in commands])
    remedies = [remedy_row(by_name[before], by_name[after], pairs, places, prediction)
                for before, after in REMEDIES if before in by_name and after in by_name]
    gain = page.table(["trouble", "remedy", "saved, %" + ", near" * far,
                       *(["saved, %, far"] * far), "predicted, %", "within a third"], remedies)
    return speed + ("\n" + gain if remedies else "")


def missing(command):
    program = str(command.native(1)[0])
    return not any(os.access(os.path.join(folder, program), os.X_OK)
                   for folder in [""] + run.ENVIRONMENT["PATH"].split(":"))


def option(words, name, otherwise):
    if name not in words:
        return otherwise
    at = words.index(name)
    value = words[at + 1]
    del words[at:at + 2]
    return value


def main():
    words = sys.argv[1:]
    machine = option(words, "--machine", None) or host.default_machine()
    rounds = int(option(words, "--rounds", ROUNDS))
    budget = float(option(words, "--budget", "inf"))
    wanted = [c for c in COMMANDS if not words or c.name in words or c.name.split()[0] in words]
    lacking = [command.name for command in wanted if missing(command)]
    commands = [command for command in wanted if command.name not in lacking]
    pairs = measured(commands, rounds)
    places = Places(pairs)
    late = wakes()
    capture(commands)
    prediction = Prediction(machine, {**places.settings(), **late} if places.settings() else {}, budget)
    text = tables(commands, pairs, places, prediction)
    if lacking:
        text += f"\nNot measured, as it is not installed: {', '.join(lacking)}.\n"
    if words:
        print(load(pairs) + " " + placement(places, pairs) + "\n\n" + text)
        return
    page.write("threads-host", "experiments/threads-host.py", f"""{host.processor()}, processors {processors()[0]} and {processors()[1]}; culprit's machine `{machine}`; {time.strftime("%Y-%m-%d %H:%M", time.gmtime())} (UTC); {rounds} rounds. {load(pairs)} {placement(places, pairs)} {waking(late)}

{text}""")


if __name__ == "__main__":
    main()
