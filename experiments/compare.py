"""Whether `culprit compare` names the cause of a known change first: pairs of small programs, of which
one has the change (experiments/compare/), and pairs without one. Into docs/results/compare.md. A
minute.
    python3 -B experiments/compare.py"""
import json
import os
import subprocess

from lib import page, run

SOURCES = os.path.join(run.ROOT, "experiments", "compare")
BUILT = os.path.join(run.KEPT, "compare")
PLAIN = ["-g", "-O2", "-fno-tree-vectorize", "-fno-unswitch-loops"]
BRANCHES = ["-fno-if-conversion", "-fno-if-conversion2", "-fno-tree-loop-if-convert"]
MISSES = {"l1_miss", "llc_miss", "tlb_miss"}
ALLOCATOR = {"malloc", "free", "cfree", "_int_malloc", "_int_free", "__libc_malloc", "__libc_free",
             "tcache_get", "tcache_put", "__GI___libc_malloc", "__GI___libc_free"}
STRLEN = {"strlen", "__strlen_avx2", "__strlen_sse2", "__strlen_evex"}
# Name, what changed, flags of both, of the second; functions and components, one of which is the cause.
CHANGES = [
    ("field", "a field more in the struct of an array", PLAIN, [], {"find"}, MISSES),
    ("switched", "an `if` within the loop, not around it", PLAIN, [], {"blend"}, {"execute"}),
    ("level", "`-O1` in place of `-O2`", PLAIN, ["-O1"], {"mix", "step"}, {"execute"}),
    ("branch", "data that are not in order", PLAIN + BRANCHES, [], {"count"}, {"mispredict"}),
    ("allocation", "an allocation in each round", PLAIN, [], ALLOCATOR, {"execute"}),
    ("divide", "a division in place of a shift", PLAIN, [], {"scale"}, {"execute"}),
    ("table", "a table larger than the L1", PLAIN, [], {"look_up"}, MISSES),
    ("prefetch", "a prefetch less", PLAIN, [], {"gather"}, MISSES),
    ("forward", "a word read that was written in halves", PLAIN, [], {"pack"}, {"forwarding"}),
    ("length", "`strlen()` in each round", PLAIN, [], STRLEN, {"execute"}),
    ("inlined", "a function that is not inlined", PLAIN, [], {"mix", "step"}, {"execute"}),
    ("list", "a list in place of an array", PLAIN, [], {"sum_up"}, MISSES)]
SAME = [("a comment more", [], ["-DCOMMENT"]), ("without `-g`", [], ["-g0"]),
        ("unrelated functions in another order", [], ["-DREORDERED"]),
        ("an unrelated function more", [], ["-DUNUSED"])]


def built(name, which, *flags):
    program = os.path.join(BUILT, f"{name}.{which}")
    os.makedirs(BUILT, exist_ok=True)
    subprocess.run(["gcc", *flags, "-o", program, os.path.join(SOURCES, name + ".c")], check=True)
    return program


def compared(before, after):
    told = os.path.join(BUILT, "compared.json")
    run.execute([run.CULPRIT, "compare", "--json", "-o", told, before, after], 300)
    with open(told) as content:
        return json.load(content)


def marked(name):
    """The lines of the source that say that the change is there."""
    with open(os.path.join(SOURCES, name + ".c")) as source:
        return {number for number, line in enumerate(source, 1) if "/* here */" in line}


def judge(name, functions, components, report):
    """Whether the first function, event and line are those of the change."""
    first = report["changes"][0]
    line = first["line_after"] or first["line_before"]
    lines = marked(name)
    return [first["function"] in functions, first["component"] in components,
            not lines or line["line"] in lines]


def main():
    rows, right = [], 0
    for name, what, flags, more, functions, components in CHANGES:
        report = compared(built(name, "old", *flags), built(name, "new", *flags, "-DCHANGE", *more))
        judged = judge(name, functions, components, report)
        right += all(judged)
        wrong = [word for word, good in zip(("function", "event", "line"), judged) if not good]
        rows.append([what, "`" + report["sentence"] + "`", "yes" if all(judged) else "no: " + ", ".join(wrong)])
    same = []
    for number, (what, before, after) in enumerate(SAME):
        report = compared(built("same", f"old{number}", *PLAIN, *before), built("same", f"new{number}", *PLAIN, *after))
        same.append([what, f"{report['percent']:+.3f}", "`" + report["sentence"] + "`"])
    page.write("compare", "experiments/compare.py",
               f"The cause is named first in {right} of {len(rows)}.\n\n" +
               page.table(["change", "what it says", "function, event and line right"], rows) + "\n" +
               page.table(["no change, but", "cycles, %", "what it says"], same))


main()
