"""The effect of a cold start by length of warm-up, into docs/results/cold-start.md: regions
simulated alone against the same regions within the full run.
python3 -B experiments/cold-start.py"""
from lib import page, programs, run

LENGTHS = [1000000, 10000000, 100000000]
STAMPS = None  # everything before a region, most of it by time stamps
OPTIONS = ["--limit", "200M", "--size", "10M", "--max-clusters", 4,
           "--warm-up", ",".join([*map(str, LENGTHS), "all"])]


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


def mean(values):
    return sum(values) / len(values)


def signed(share):
    return "" if share is None else f"{100 * share:+.2f}"


reports = [(name, run.report("validate", OPTIONS, command)) for name, command in inputs()]
rows = []
for name, report in reports:
    alone = captured(report)
    rows.append((name, len(report["regions"]), f"{report['cycles'] / report['instructions']:.3f}",
                 *(signed(trial(report, length)["cpi_error"]) for length in [*LENGTHS, STAMPS]),
                 signed(alone and alone["cpi_error"]),
                 signed(trial(report, LENGTHS[-1])["largest_cpi_error"]),
                 signed(report["choice"]["cpi_error"]),
                 report["markers"] and report["markers"]["largest_skew"]))
rows.append(("mean of absolute errors", "", "",
             *(f"{100 * mean([abs(trial(r, n)['cpi_error']) for _, r in reports]):.2f}"
               for n in [*LENGTHS, STAMPS]),
             f"{100 * mean([abs(captured(r)['cpi_error']) for _, r in reports if captured(r)]):.2f}",
             "", f"{100 * mean([abs(r['choice']['cpi_error']) for _, r in reports]):.2f}", ""))
page.write("cold-start", "experiments/cold-start.py", page.table(
    ["program", "regions", "CPI", "1M, %", "10M, %", "100M, %", "stamps, %", "from own traces, stamps, %",
     "a region, 100M, at most, %", "choice, %", "skew"], rows))
