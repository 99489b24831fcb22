"""The programs that the experiments run: our workloads, from the function that does their work on,
and Debian's programs, from where they have started. Every input is made here, always the same."""
import functools
import os
import typing

from lib import run

INPUTS = os.path.join(run.KEPT, "inputs")


class Program(typing.NamedTuple):
    name: str
    isa: str
    command: list
    options: list  # which part of the run

    def __str__(self):
        return f"{self.name} ({self.isa})"


def numbers(count, seed=1):
    """Park and Miller's random numbers."""
    for _ in range(count):
        seed = seed * 16807 % 2147483647
        yield seed


@functools.cache
def written(name, make):
    path = os.path.join(INPUTS, name)
    os.makedirs(INPUTS, exist_ok=True)
    with open(path, "w") as out:
        out.write(make())
    return path


def text():
    """Lines of two numbers and two words."""
    words = ("time proportional profiling attributes every cycle to what the processor could not "
             "get past when it was spent").split()
    return "".join(f"{x} {i % 977} {words[x % len(words)]} {words[x // 64 % len(words)]}\n"
                   for i, x in enumerate(numbers(100000)))


def query(rows=20000):
    return f"""create table t(a integer primary key, b integer, c text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < {rows})
insert into t select i, i * 7919 % 10007, 'row ' || i from n;
create index t_b on t(b);
select count(*), sum(t.a), max(u.c) from t join t u on t.b = u.b where t.a % 3 = 0;
"""


def python_program(words=20000):
    return f"""def queens(n, row=0, columns=0, left=0, right=0):
    if row == n:
        return 1
    count, free = 0, ~(columns | left | right) & ((1 << n) - 1)
    while free:
        bit = free & -free
        free ^= bit
        count += queens(n, row + 1, columns | bit, (left | bit) << 1, (right | bit) >> 1)
    return count

words = {{}}
for i in range({words}):
    words.setdefault(str(i * 7919 % 10007)[:2], []).append(i)
print(queens(7), sorted((len(v), k) for k, v in words.items())[-3:])
"""


def c_source():
    """Functions for a compiler: loops, branches, calls."""
    functions = "".join(f"""
static int work_{i}(int *items, int count) {{
    int sum = {x % 100};
    for (int i = 0; i < count; i++) {{
        if (items[i] % {x % 13 + 2} == 0)
            sum += items[i] * {x % 7 + 1};
        else if (items[i] > {x % 1000})
            sum ^= items[i] << {x % 5};
        else
            items[i] = sum - {x % 50};
    }}
    return sum;
}}
""" for i, x in enumerate(numbers(60)))
    calls = " + ".join(f"work_{i}(items, count)" for i in range(60))
    return f"{functions}\nint all(int *items, int count) {{\n    return {calls};\n}}\n"


def digits_of_pi():
    return "scale=300\n4*a(1)\nquit\n"


LIMIT = "10M"


def ours(name, start, *arguments, isa="riscv64", limit=LIMIT):
    return Program(name, isa, [run.workload(name, isa), *arguments],
                   ["--from", start, "--limit", limit])


def debian(name, *command, skip="5M", follow=False):
    return Program(name, "x86_64", list(command),
                   ["--skip", skip, "--limit", LIMIT] + (["--follow"] if follow else []))


def programs():
    lines = written("text", text)
    return [
        ours("bigcode", "call_all", 200),
        ours("branchy", "quicksort", 100000, 100000),
        ours("ceil", "round_both_ways", 800000),
        ours("chase", "chase_one", 400000, limit="2M"),
        ours("hashjoin", "probe", 800000),
        ours("interpreter", "interpret", 200000),
        ours("lbm", "stream_collide", 1, 60000),
        ours("matmul", "multiply"),
        ours("meanshift", "shift_to_mean", 32),
        ours("nab", "born_radii", 200, 4),
        ours("ordering", "store_then_load", isa="x86_64"),
        ours("pages", "touch", 3000000),
        ours("quadtree", "perimeter", 5),
        ours("stream", "copy", 2, 500000),
        ours("strings", "write_sentence", 4000, isa="x86_64"),
        debian("awk", "mawk", "{ n[$3] += $2; l[length $4]++ } END { for (w in n) print w, n[w] }",
               lines, skip="1M"),
        debian("bc", "bc", "-l", written("pi", digits_of_pi), skip="1M"),
        debian("bzip2", "bzip2", "-c", lines),
        debian("gcc", "gcc", "-O2", "-S", "-o", "/dev/null", written("source.c", c_source),
               skip="5M", follow=True),
        debian("grep", "grep", "-c", r"\([0-9][0-9]\)[0-9]*\1.*e", lines, skip="1M"),
        debian("gzip", "gzip", "-9", "-c", lines),
        debian("perl", "perl", "-ne", "$h{$_ % 977} .= $_; END { print length $h{5} }", lines),
        debian("python3", "/usr/bin/python3", written("program.py", python_program), skip="30M"),
        debian("sort", "sort", "-k3", lines),
        debian("sqlite3", "sqlite3", ":memory:", f".read {written('query.sql', query)}", skip="10M"),
        debian("xz", "xz", "-6", "-c", lines),
    ]
