"""The effect of a cold start by length of warm-up, into docs/results/cold-start.md: regions
simulated alone against the same regions within the full run.

    cold-start.py [--private] [--shared]

--private: a processor that has its caches to itself; --shared: one whose last cache others use too.
Only these anew; both, if none is named."""
import sys

from lib import page, programs, run

LENGTHS = [1000000, 10000000, 100000000]
STAMPS = None  # everything before a region, most of it by time stamps
OPTIONS = ["--limit", "200M", "--size", "10M", "--max-clusters", 4, "--machine", "zen4",
           "--warm-up", ",".join([*map(str, LENGTHS), "all"])]
SHARED_OPTIONS = ["--limit", "80M", "--size", "5M", "--max-clusters", 4, "--machine",
                  "granite-rapids", "--warm-up", f"{LENGTHS[-1]},all"]


def inputs():
    lines = programs.written("lines", lambda: programs.text() * 2)
    query = programs.written("large.sql", lambda: programs.query().replace("20000", "100000"))
    script = programs.written("large.py", lambda: programs.python_program().replace(
        "queens(7)", "queens(9)").replace("20000", "200000"))
    return [
        ("gzip", ["gzip", "-9", "-c", lines]),
        ("xz", ["xz", "-6", "-c", lines]),
        ("sort", ["sort", "-k3", lines]),
        ("sqlite3", ["sqlite3", ":memory:", f".read {query}"]),
        ("python3", ["/usr/bin/python3", script]),
        ("perl", ["perl", "-ne", "$h{$_ % 977} .= $_; $n{$1}++ while /(\\w+)/g; "
                  "END { print length $h{5}, scalar keys %n }", lines]),
        ("branchy", [run.workload("branchy", "x86_64"), 100000, 400000]),
        ("chase", [run.workload("chase", "x86_64"), 3000000]),
    ]


def trial(report, warm_up):
    return next(t for t in report["cold_start"] if t["warm_up"] == warm_up and not t["captured"])


def captured(report):
    return next((t for t in report["cold_start"] if t["captured"]), None)


def absolute(errors):
    errors = list(errors)
    return f"{100 * sum(map(abs, errors)) / len(errors):.2f}"


def cpi(report):
    return f"{report['cycles'] / report['instructions']:.3f}"


def signed(share):
    return "" if share is None else f"{100 * share:+.2f}"


def of_private_caches(_):
    reports = [(name, run.report("validate", OPTIONS, command)) for name, command in inputs()]
    rows = []
    for name, report in reports:
        alone = captured(report)
        rows.append((name, len(report["regions"]), cpi(report),
                     *(signed(trial(report, length)["cpi_error"]) for length in [*LENGTHS, STAMPS]),
                     signed(alone and alone["cpi_error"]),
                     signed(trial(report, STAMPS)["largest_cpi_error"]),
                     signed(report["choice"]["cpi_error"]),
                     report["markers"] and report["markers"]["largest_skew"]))
    alone = [captured(r)["cpi_error"] for _, r in reports if captured(r)]
    rows.append(("mean of absolute errors", "", "",
                 *(absolute(trial(r, n)["cpi_error"] for _, r in reports)
                   for n in [*LENGTHS, STAMPS]),
                 absolute(alone), "", absolute(r["choice"]["cpi_error"] for _, r in reports), ""))
    return page.table(
        ["program", "regions", "CPI", "1M, %", "10M, %", "100M, %", "stamps, %",
         "from own traces, stamps, %", "a region, stamps, at most, %", "choice, %", "skew"], rows)


def of_a_shared_cache(_):
    more = [("hashjoin", [run.workload("hashjoin", "x86_64"), 1000000])]
    reports = [(name, run.report("validate", SHARED_OPTIONS, command))
               for name, command in inputs() + more]
    lengths = [LENGTHS[-1], STAMPS]
    rows = [(name, len(report["regions"]), cpi(report),
             *(signed(trial(report, n)["cpi_error"]) for n in lengths),
             *(signed(trial(report, n)["largest_cpi_error"]) for n in lengths))
            for name, report in reports]
    rows.append(("mean of absolute errors", "", "",
                 *(absolute(trial(r, n)["cpi_error"] for _, r in reports) for n in lengths), "", ""))
    return page.table(["program", "regions", "CPI", "all simulated, %", "stamps, %",
                       "a region, simulated, at most, %", "a region, stamps, at most, %"], rows)


page.write_sections("cold-start", "experiments/cold-start.py", [
    ("private", "zen4, 200 million instructions", of_private_caches),
    ("shared", "granite-rapids, 80 million instructions", of_a_shared_cache)], sys.argv[1:])
