"""What `culprit explain` says would go with a cause, against `culprit sim --ideal` of the same run,
into docs/results/what-if.md.    python3 -B experiments/what-if.py [NAME...]

With names only these programs, printed and not written down. The last third of the programs was not
run before the method was settled."""
import statistics
import sys

from lib import page, programs, run

LEAST = 1      # percent: causes that cost less are not printed
PRINTED = 5    # causes, and a pair

SCENE = """camera { location <0,2,-3> look_at <0,1,2> } light_source { <2,4,-3> color rgb 1 }
plane { <0,1,0>, -1 pigment { checker color rgb 1, color rgb 0 } }
sphere { <0,1,2>, 2 texture { pigment { color rgb <1,1,0> } finish { reflection 0.3 phong 1 } } }
"""
GO = """package main
import ("fmt"; "sort"; "strings"; "sync")
func main() {
    var group sync.WaitGroup
    for t := 0; t < 4; t++ {
        group.Add(1)
        go func(t int) {
            defer group.Done()
            words := []string{}
            for i := 0; i < 3000; i++ { words = append(words, fmt.Sprint(i*7919%1009, t)) }
            sort.Strings(words)
            strings.Join(words, " ")
        }(t)
    }
    group.Wait()
}
"""


def inputs():
    text = programs.written("text", programs.text)
    short = programs.written("short-text", lambda: programs.text()[:40000])
    scene = programs.written("scene.pov", lambda: SCENE)
    sql = programs.written("little.sql", lambda: programs.query(800))
    return text, short, scene, sql


def all_programs():
    text, short, scene, sql = inputs()
    stopped = ["--limit", "3M"]
    threads = ["--limit", "4M"]
    known = [
        ("true", [], ["true"]),
        ("ls -l", [], ["ls", "-l", "/usr/include"]),
        ("gzip, short", [], ["gzip", "-c", short]),
        ("gzip", stopped, ["gzip", "-9", "-c", text]),
        ("xz, 2 threads", threads, ["xz", "-T2", "--block-size=200KiB", "-1", "-c", text]),
        ("sort, 4 threads", threads, ["sort", "--parallel=4", text]),
        ("zstd, 3 threads", threads, ["zstd", "-T3", "-B512KiB", "-c", text]),
        ("povray, 8 threads", threads, ["povray", f"+I{scene}", "+O/dev/null", "+W24", "+H16", "-D", "+WT8"]),
        ("python3", stopped, ["python3", "-S", "-c", "print(sum(i * i % 7 for i in range(20000)))"]),
        ("perl", stopped, ["perl", "-e", "my %h; $h{$_ % 977} .= $_ for 1..9000; print scalar keys %h"]),
        ("awk", stopped, ["awk", "{ n[$2] += $1 } END { print length(n) }", short]),
        ("sqlite3", stopped, ["sqlite3", ":memory:", f".read {sql}"]),
        ("shell pipeline", stopped, ["sh", "-c", f"cut -d ' ' -f 3 {short} | sort | uniq -c | tail -1"]),
        ("grep", [], ["grep", "-c", "time.*cycle", short]),
    ]
    unseen = [
        ("bc", stopped, ["sh", "-c", "echo 'scale=120; 4*a(1)' | bc -l"]),
        ("lua", stopped, ["lua5.4", "-e", "local t = {} for i = 1, 20000 do t[i] = i * 7919 % 10007 end table.sort(t)"]),
        ("bzip2", stopped, ["bzip2", "-9", "-c", short]),
        ("pigz, 4 threads", threads, ["pigz", "-p", "4", "-c", text]),
        ("git", stopped, ["git", "hash-object", text]),
        ("node", threads, ["node", "-e", "1"]),
        ("ruby", stopped, ["ruby", "-e", "puts (1..3000).map { |i| i.to_s.reverse }.uniq.size"]),
    ]
    return [(name, options, command, seen) for seen, group in ((True, known), (False, unseen))
            for name, options, command in group]


def simulated(trace, members, cycles):
    """Percent of the time that the set saves."""
    ideal = run.report_of("sim", ["--top", "1", "--ideal", ",".join(members)], trace)
    return 100 * (1 - ideal["cycles"] / cycles)


def rows_of(trace):
    """The report, and (members, said, half interval, simulated) of each row that is printed."""
    report = run.report_of("explain", ["--exact", "--top", "1"], trace)
    what_if = report["what_if"]
    costs = sorted(what_if["costs"], key=lambda c: -c["cost"]["percent"])
    said = [([c["category"]], c["cost"]) for c in costs[:PRINTED] if c["cost"]["percent"] >= LEAST]
    pair = max(what_if["pairs"], key=lambda p: p["cost"]["percent"] - p["cost"]["half_interval_95"])
    said.append((pair["members"], pair["cost"]))
    return report, [(members, cost["percent"], cost["half_interval_95"],
                     simulated(trace, members, report["cycles"])) for members, cost in said]


def put_page(errors, lines, missing):
    """After every program, so that what was measured is there when the rest is not."""
    summary = []
    for group, title in ((errors[True], "seen"), (errors[False], "unseen until the end"),
                         (errors[True] + errors[False], "all")):
        for pairs in (False, True):
            rows = [(size, inside) for size, inside, pair in group if pair == pairs]
            if rows:
                sizes = [size for size, _ in rows]
                summary.append((f"{title}, {'pairs' if pairs else 'single causes'}", len(rows),
                                f"{statistics.mean(sizes):.2f}", f"{statistics.median(sizes):.2f}",
                                f"{max(sizes):.1f}", sum(size > 2 for size in sizes),
                                f"{100 * sum(inside for _, inside in rows) / len(rows):.0f}"))
    text = "## All rows\n\n" + page.table(
        ["programs", "rows", "mean error, points", "median", "largest", "over 2 points",
         "within ± and 0.1, %"], summary)
    if missing:
        text += "\nNot measured: " + ", ".join(missing) + ".\n"
    text += "\n## By program\n\n" + page.table(
        ["program", "M instructions", "threads", "cause", "explain, %", "simulated, %",
         "error, points"], lines)
    page.write("what-if", "experiments/what-if.py", text)


def main(names):
    lines, errors = [], {True: [], False: []}
    left = [name for name, *_ in all_programs() if not names or name in names]
    for name, options, command, seen in all_programs():
        if name not in left:
            continue
        left.remove(name)
        trace = run.trace(["--follow", *options], command)
        report, rows = rows_of(trace)
        threads = sum(thread["cycles"] > 0 for thread in report["threads"])
        heading = (name, f"{report['instructions'] / 1e6:.1f}", threads)
        for members, said, half, true in rows:
            error = said - true
            errors[seen].append((abs(error), abs(error) <= half + 0.1, len(members) > 1))
            lines.append((*heading, "+".join(members), f"{said:.1f} ±{half:.1f}", f"{true:.1f}",
                          f"{error:+.1f}"))
            heading = ("", "", "")
        if names:
            print(*(line for line in lines), sep="\n")
        else:
            put_page(errors, lines, left)


main(sys.argv[1:])
