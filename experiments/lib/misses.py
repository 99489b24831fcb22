"""The parts of programs that the experiments on long data misses predict and simulate, as traces."""
from lib import programs, run

# A program, where its part begins, and its arguments: inputs several times larger than the caches.
WORKLOADS = [("bipartite", "relax", "1", "100000"), ("chase", "chase_one", "200000", "1"),
             ("chase", "chase_many", "400000", "4"), ("hashjoin", "probe", "200000"),
             ("lbm", "stream_collide", "1", "60000"), ("lists", "walk_both", "200000"),
             ("pages", "touch", "600000"), ("pending", "sum_values", "600000"),
             ("quadtree", "perimeter", "1", "12"), ("stencil", "collide", "1", "60000"),
             ("stream", "triad", "1", "1000000")]
BOTH_ISAS = ("bipartite", "hashjoin", "quadtree")
LIMIT = ["--limit", "400K"]


def pairs():
    return "".join(f"{x} {i}\n" for i, x in enumerate(programs.numbers(60000)))


def lines():
    return "".join(f"{x} {i}\n" for i, x in enumerate(programs.numbers(400000)))


SUM = """import random
random.seed(1)
values = [i + 1000 for i in range(200000)]
random.shuffle(values)
for _ in range(5):
    total = sum(values)
print(total)
"""
OBJECTS = """import random
random.seed(1)
class Node:
    __slots__ = "next", "value"
nodes = [Node() for _ in range(60000)]
random.shuffle(nodes)
for i, node in enumerate(nodes):
    node.value = i
    node.next = nodes[i + 1] if i + 1 < len(nodes) else None
total = 0
for _ in range(8):
    node = nodes[0]
    while node is not None:
        total += node.value
        node = node.next
print(total)
"""
SORT = """srand(1); my @a = map { int(rand(1e9)) } 1 .. 200000;
my @b = sort { $a <=> $b } @a; print $b[0], "\\n";
"""


def trace_of_workload(isa, program, function, *arguments):
    return run.trace(["--from", function, *LIMIT], [run.workload(program, isa), *arguments])


def trace_of_debian(skip, *command):
    return run.trace(["--skip", skip, *LIMIT], command)


TRACES = {
    **{f"{w[0]} {w[1]}": trace_of_workload("riscv64", *w) for w in WORKLOADS},
    **{f"{w[0]} {w[1]} (x86-64)": trace_of_workload("x86_64", *w)
       for w in WORKLOADS if w[0] in BOTH_ISAS},
    # Debian's, where they look at their data a last time
    "tsort": trace_of_debian("215M", "tsort", programs.written("pairs.txt", pairs)),
    "shuf": trace_of_debian("120M", "shuf", "--random-source", programs.written("lines.txt", lines),
                            programs.written("lines.txt", lines)),
    "perl sort": trace_of_debian("300M", "perl", programs.written("sort.pl", lambda: SORT)),
    "python sum": trace_of_debian("605M", "/usr/bin/python3",
                                  programs.written("sum.py", lambda: SUM)),
    "python objects": trace_of_debian("935M", "/usr/bin/python3",
                                      programs.written("objects.py", lambda: OBJECTS)),
}
