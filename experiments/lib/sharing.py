"""Programs that share a chip, as in Table 5.4 of the hybrid model's thesis: eight programs in four
workloads, each on two cores of the machine niagara. For each program of the table one of the same
kind: ammp and nab compute molecules, applu and stencil a fluid, art and hashjoin search a table,
mcf and bipartite follow a graph, mgrid and lbm, swim and stream walk through grids and arrays,
equake has indirect accesses as sqlite3."""
import os

from lib import run, svg
from lib.programs import query, text, written

# Which part, and of what. Each takes some 120 million cycles beside the others, so that none runs
# beside the others' beginnings alone.
COMMANDS = {
    "nab": (["--from", "born_radii", "--limit", "8M"], [run.workload("nab", "x86_64"), 1000, 4]),
    "stencil": (["--from", "collide", "--limit", "4500K"], [run.workload("stencil", "x86_64"), 5, 20000]),
    "hashjoin": (["--from", "probe", "--limit", "17M"], [run.workload("hashjoin", "x86_64"), 2000000]),
    "bipartite": (["--from", "relax", "--limit", "4M"], [run.workload("bipartite", "x86_64"), 3, 200000]),
    "bzip2": (["--skip", "5M", "--limit", "60M"], ["bzip2", "-c", lambda: written("text", text)]),
    "lbm": (["--from", "stream_collide", "--limit", "5M"], [run.workload("lbm", "x86_64"), 5, 20000]),
    "stream": (["--from", "triad", "--limit", "9M"], [run.workload("stream", "x86_64"), 5, 500000]),
    "sqlite3": (["--skip", "20M", "--limit", "40M"],
                ["sqlite3", ":memory:",
                 lambda: f".read {written('query.sql', lambda: query(50000))}"]),
}
WORKLOADS = [["nab", "stencil", "hashjoin", "bipartite"], ["bzip2", "lbm", "stream", "sqlite3"],
             ["nab", "hashjoin", "lbm", "sqlite3"], ["stencil", "bzip2", "bipartite", "stream"]]
CHIP = [name for workload in WORKLOADS for name in workload * 2]
SHAPES = [(sets, ways) for sets in (1024, 2048, 4096) for ways in (8, 12, 16)]  # of L2s, Table 6.1
LONG = 3600  # seconds that a simulation may take


def trace(name):
    part, command = COMMANDS[name]
    return run.trace(part, [word() if callable(word) else word for word in command])


def l2(sets, ways):
    """Options for an L2 of that shape."""
    return ["--set", f"l2.size={sets * ways * 64}", "--set", f"l2.ways={ways}"]


def profile(name):
    """The path of what `contend --profile` says of a program, for L2s of all these shapes."""
    path = os.path.join(run.KEPT, "profiles",
                        run.key_of(["contend", SHAPES], [run.CULPRIT, trace(name)]) + ".locality")
    if not os.path.exists(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        shapes = ",".join(f"{sets}x{ways}" for sets, ways in SHAPES)
        run.execute([run.CULPRIT, "contend", "--profile", path + ".new", "--shapes", shapes,
                     trace(name)], LONG)
        os.replace(path + ".new", path)
    return path


def model(options, names):
    """What `throughput` says of these programs, from their profiles."""
    return run.report_of("throughput", options, *map(profile, names))


def check(options, names):
    """The same simulated as well, from their traces."""
    return run.report_of("throughput", ["--check", *options], *map(trace, names),
                         limit_seconds=LONG)


def predicted(sets=4096, ways=12, *options):
    """All workloads on the chip, by a model."""
    return model([*l2(sets, ways), *options], CHIP)


def simulated(sets=4096, ways=12):
    """The same chip simulated: `simulated` of each thread, `simulated_ipc` of each core."""
    return check(l2(sets, ways), CHIP)


def ratios(model, simulation, level):
    """Of each thread extra misses over those alone: by the model, simulated (Fig. 6.6)."""
    alone, extra = level + "_misses_alone", level + "_misses_extra"
    return [(a[extra] / a[alone], b["simulated"][extra] / b["simulated"][alone])
            for a, b in zip(model["threads"], simulation["threads"])]


def errors(pairs, least=0.001):
    """Without their sign, of threads whose extra misses are more than a thousandth of those alone:
    by less than that, misses differ with how page frames fall."""
    return [abs(a / b - 1) for a, b in pairs if b > least]


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def median(values):
    return svg.quantile(values, .5)


def correlation(pairs):
    x, y = zip(*pairs)
    middle_x, middle_y = mean(x), mean(y)
    both = sum((a - middle_x) * (b - middle_y) for a, b in pairs)
    return both / (sum((a - middle_x) ** 2 for a in x) * sum((b - middle_y) ** 2 for b in y)) ** .5
