"""Whether `culprit compare` names the cause of a known change first: pairs of small programs, of which
one has the change (experiments/compare/), and pairs without one, under layouts. Into
docs/results/compare.md. Ten minutes, with lld.
    python3 -B experiments/compare.py"""
import json
import os
import shutil
import subprocess

from lib import page, run

SOURCES = os.path.join(run.ROOT, "experiments", "compare")
BUILT = os.path.join(run.KEPT, "compare")
PLAIN = ["-g", "-O2", "-fno-tree-vectorize", "-fno-unswitch-loops"]
VECTORS = ["-g", "-O2", "-ftree-vectorize", "-fno-unswitch-loops"]
BRANCHES = ["-fno-if-conversion", "-fno-if-conversion2", "-fno-tree-loop-if-convert"]
MISSES = {"l1_miss", "llc_miss", "tlb_miss"}
ALLOCATOR = {"malloc", "free", "cfree", "_int_malloc", "_int_free", "__libc_malloc", "__libc_free",
             "tcache_get", "tcache_put", "__GI___libc_malloc", "__GI___libc_free"}
CLEARING = {"calloc", "__libc_calloc", "memset", "__memset_avx2_unaligned_erms", "__memset_avx2_unaligned"}
COPYING = {"memcpy", "__memmove_avx_unaligned_erms", "__memcpy_avx_unaligned_erms"}
COMPARING = {"strcmp", "__strcmp_avx2", "__strcmp_sse2", "__strcmp_sse2_unaligned"}
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
    ("list", "a list in place of an array", PLAIN, [], {"sum_up"}, MISSES),
    ("interchange", "two loops interchanged", PLAIN, [], {"add_up"}, MISSES),
    ("vector", "a loop without vectors", VECTORS, [], {"blend"}, {"execute"}),
    ("pages", "data on many pages", PLAIN, [], {"visit"}, MISSES),
    ("indirect", "calls through a table, mixed", PLAIN, [], {"execute"}, {"mispredict"}),
    ("atomic", "atomic additions", PLAIN, [], {"count"}, {"execute", "flush"}),
    ("alignment", "records that no longer begin a line", PLAIN, [], {"score"}, MISSES),
    ("stack", "a sum kept in memory, not in a register", PLAIN, [], {"add_up"}, {"execute", "forwarding"}),
    ("pipeline FIELD", "a field more, in a program of many functions", PLAIN, [], {"find", "add"}, MISSES),
    ("pipeline ALLOCATION", "there an allocation moved into the loop", PLAIN, [], ALLOCATOR | CLEARING, {"execute"}),
    ("pipeline DIVISION", "there a division by what is not known", PLAIN, [], {"put_number"}, {"execute"}),
    ("pipeline HASH", "there a hash that hardly differs", PLAIN, [], {"find"} | COMPARING, {"execute"} | MISSES),
    ("pipeline COPY", "there a struct passed by value", PLAIN, [], {"add", "read_lines"} | COPYING, {"execute", "stores"}),
    ("pipeline CHECK", "there checks in a loop", PLAIN, [], {"parse"}, {"execute"}),
    ("pipeline LEVEL", "there `-O1` for one of two files", PLAIN, ["-O1"], {"sum_bytes", "mix"}, {"execute"})]
# Not looked at while compare could be changed by what it said of the others.
UNSEEN = {"pages", "indirect", "atomic", "alignment", "stack", "pipeline HASH", "pipeline COPY", "pipeline CHECK",
          "pipeline LEVEL"}
# Program, what else is not the same, how each is built.
SAME = [("same", "a comment more", [], ["-DCOMMENT"]), ("same", "without `-g`", [], ["-g0"]),
        ("same", "unrelated functions in another order", [], ["-DREORDERED"]),
        ("same", "an unrelated function more", [], ["-DUNUSED"]),
        ("pipeline", "`-fno-toplevel-reorder`", [], ["-fno-toplevel-reorder"]),
        ("pipeline", "functions in another order, by the linker", [], ["-Wl,--sort-section=name"]),
        ("pipeline", "each function begins 256 bytes", [], ["-falign-functions=256"]),
        ("pipeline", "an unused function and 200 bytes of data more", [], ["-DUNUSED"]),
        ("pipeline", "its two files linked in another order", [], ["last"]),
        ("pipeline", "built under a longer path", [], ["elsewhere"]),
        ("pipeline", "functions begin lines", [], ["-falign-functions=64"]),
        ("pipeline", "stripped", [], ["-s"]),
        ("pipeline", "not position-independent", [], ["-no-pie", "-fno-pie"])]
LAYOUTS, LIMIT = 10, 1.0
SECTIONS = ["-ffunction-sections", "-fdata-sections"]
SHUFFLED = ["-fuse-ld=lld", "-Wl,--shuffle-sections=*={n}"]


def compiled(source, program, flags):
    target = f"{program}.{os.path.basename(source)}.o"
    subprocess.run(["gcc", *flags, "-c", "-o", target, source], check=True)
    return target


def linked(objects, program, flags, *more):
    """How: of compared --relink, too, which may put the sections in another order."""
    return " ".join(["gcc", *more, *flags, "-o", program, *objects])


def built(name, which, flags, more=()):
    """The program, and how it is linked anew. `more`: of all files or, of a pipeline whose level is changed, of
    the second."""
    name, _, change = name.partition(" ")
    folder, options = SOURCES, [flag for flag in more if flag.startswith("-")]
    program = os.path.join(BUILT, f"{name}{change}.{which}")
    os.makedirs(BUILT, exist_ok=True)
    if "elsewhere" in more:
        folder = os.path.join(BUILT, "a-folder-with-a-rather-long-name", "below", "another")
        shutil.copytree(SOURCES, folder, dirs_exist_ok=True)
    files = [name + ".c"] + ([name + "_sum.c"] if name == "pipeline" else [])
    objects = []
    for number, source in enumerate(files):
        here = [flag for flag in options if change != "LEVEL" or number or flag != "-O1"]
        objects.append(compiled(os.path.join(folder, source), program, [*flags, *here]))
    if "last" in more:
        objects.reverse()
    subprocess.run(linked(objects, program, [*flags, *options]).split(), check=True)
    return program, linked(objects, "{}", options, *SHUFFLED)


def compared(before, after, *options):
    told = os.path.join(BUILT, "compared.json")
    run.execute([run.CULPRIT, "compare", *options, "--json", "-o", told, before, after], 300)
    with open(told) as content:
        return json.load(content)


def marked(name):
    """The lines of the sources that say that the change is there: by file and line."""
    name, _, change = name.partition(" ")
    lines = set()
    for source in (name, name + "_sum"):
        path = os.path.join(SOURCES, source + ".c")
        if os.path.exists(path):
            with open(path) as content:
                for number, line in enumerate(content, 1):
                    comment = line.partition("/* here ")[2].replace("*/", "").split()
                    if comment == [] and "/* here */" in line or "CHANGE_" + change in comment:
                        lines.add((source + ".c", number))
    return lines


def judge(name, functions, components, report):
    """Whether the first function, event and line are those of the change; a line of the C library is
    not asked for."""
    if not report["changes"]:
        return [False, False, False]
    first = report["changes"][0]
    line = first["line_after"] or first["line_before"]
    lines = marked(name)
    at = (os.path.basename(line["file"] or ""), line["line"])
    own = at[0].startswith(name.split()[0])
    return [first["function"] in functions, first["component"] in components,
            not lines or not own or at in lines]


def change_rows():
    """And in how many of them one run differs by more than the limit, and in how many of these all layouts do."""
    rows, right, alarmed = [], [0, 0], [0, 0]
    for name, what, flags, more, functions, components in CHANGES:
        change = "-DCHANGE" + "".join("_" + word for word in name.split()[1:])
        programs = built(name, "old", flags)[0], built(name, "new", [*flags, change], more)[0]
        report, over = compared(*programs), compared(*programs, "--layouts", str(LAYOUTS))
        judged = judge(name, functions, components, report)
        right[name in UNSEEN] += all(judged)
        beyond = abs(report["percent"]) > LIMIT
        alarmed[0] += beyond
        alarmed[1] += beyond and alarms(over)
        wrong = [word for word, good in zip(("function", "event", "line"), judged) if not good]
        rows.append([what + (" *" if name in UNSEEN else ""), "`" + report["sentence"] + "`",
                     "yes" if all(judged) else "no: " + ", ".join(wrong), interval(over)])
    return rows, right, alarmed


def alarms(report):
    return report["layouts"]["low_percent"] > LIMIT or report["layouts"]["high_percent"] < -LIMIT


def interval(report):
    layouts = report["layouts"]
    return f"{report['percent']:+.2f} ({layouts['low_percent']:+.2f} to {layouts['high_percent']:+.2f})"


def same_rows():
    """Once, under layouts, and under layouts with sections in another order in each: where a change beyond the
    limit is an alarm."""
    rows, counts = [], [0, 0, 0]
    for number, (name, what, before, after) in enumerate(SAME):
        builds = [built(name, f"{side}{number}", PLAIN + SECTIONS, more)
                  for side, more in (("old", before), ("new", after))]
        programs, relinks = zip(*builds)
        once = compared(*programs)
        over = compared(*programs, "--layouts", str(LAYOUTS))
        anew = compared(*programs, "--layouts", str(LAYOUTS), *(word for relink in relinks for word in ("--relink", relink)))
        counts[0] += abs(once["percent"]) > LIMIT
        counts[1] += alarms(over)
        counts[2] += alarms(anew)
        spreads = [max(report["layouts"][side]["spread_percent"] for side in ("before", "after")) for report in (over, anew)]
        rows.append([what, f"{once['percent']:+.2f}", interval(over), f"{spreads[0]:.1f}", interval(anew), f"{spreads[1]:.1f}"])
    return rows, counts


def main():
    changes, right, found = change_rows()
    same, alarmed = same_rows()
    unseen = len(UNSEEN)
    page.write("compare", "experiments/compare.py",
               f"The cause is named first in {sum(right)} of {len(changes)}; of those marked with a star in {right[1]} of "
               f"{unseen}. {found[0]} differ by more than {LIMIT:.0f} % in one run; over {LAYOUTS} layouts {found[1]} of "
               f"them would alarm.\n\n" +
               page.table(["change", "what it says", "function, event and line right", "over layouts, %"], changes) +
               f"\nOf {len(same)} pairs without a change so many would alarm at {LIMIT:.0f} %: of one run {alarmed[0]}; over "
               f"{LAYOUTS} layouts {alarmed[1]}; with the sections of the program in another order in each {alarmed[2]}.\n\n" +
               page.table(["no change, but", "cycles, %", "over layouts, %", "spread, %", "linked anew, %", "spread, %"],
                          same))


main()
