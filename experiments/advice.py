"""Whether explain's advice names the remedy of kernels whose remedy is known, and whether it saves what
it says; and what it promises of programs without one. Into docs/results/advice.md. Takes ten minutes.
    python3 -B experiments/advice.py"""
import os
import subprocess

from lib import page, run

BUILT = os.path.join(run.KEPT, "advice")
LIBRARY = os.path.join(run.ROOT, "experiments", "lib")
PAGES = ["--set", "tlb.page_size=2M"]
FLAGS = {"advised": ["-O1", "-g", "-fno-tree-vectorize"], "remedies": ["-O2", "-g"],
         "fields": ["-O2", "-g", "-fno-tree-vectorize"], "levels": ["-O1", "-g", "-fno-tree-vectorize"],
         "records": ["-O1", "-g", "-fno-tree-vectorize"], "checksum": ["-O2", "-g"]}

# Program, kernel, its functions before and after, the kind of advice, what is done.
REMEDIES = [
    ("remedies", "padding", "follow", "follow", "locality", "rows 64 bytes longer"),
    ("riscv64", "table", "kernel_table", "kernel_table_ahead", "prefetch", "prefetched 16 ahead"),
    ("remedies", "branch-free", "choose_by_branch", "choose_by_mask", "branch", "a mask"),
    ("remedies", "blocked", "walk", "walk_pieces", "locality", "in pieces of 16 KiB"),
    ("remedies", "huge-pages", "touch", "touch", "huge pages", "pages of 2 MiB"),
    ("advised", "forward", "kernel_forward", "kernel_forwarded", "forwarding", "put together in a register"),
    ("advised", "divide", "kernel_divide", "kernel_multiply", "divide", "a reciprocal, and a correction"),
    ("advised", "vectors", "kernel_scalar", "kernel_vector", "vectors", "4 floats at a time"),
    ("advised", "clamp", "kernel_clamp", "kernel_clamped", "branch", "a conditional move"),
    ("advised", "sparse", "kernel_search", "kernel_search_keys", "locality", "keys side by side"),
    ("fields", "scan", None, None, "fields", "hot fields apart"),
    ("fields", "list", None, None, "fields", "hot fields apart"),
    ("threads", "counters", "together", "apart", "padding", "a line for each"),
    ("threads", "packed", "packed", "padded", "split lines", "a header of a whole line"),
    ("advised", "scale", "kernel_scale", "kernel_scaled", "divide", "a reciprocal"),
    ("advised", "doubles", "kernel_doubles", "kernel_pairs", "vectors", "2 doubles at a time"),
    ("advised", "order", "kernel_order", "kernel_order", "branch", "the data sorted"),
    ("riscv64", "gather", "kernel_gather", "kernel_gather_ahead", "prefetch", "prefetched 16 ahead"),
    ("fields", "tree", None, None, "fields", "hot fields apart"),
    ("threads", "tallies", "static", "static-padded", "padding", "a line for each"),
    ("fields", "slots", None, None, "fields", "hot fields apart"),
    ("records", "fields", "kernel_fields", "kernel_fields_apart", "split lines", "records at the beginning of lines"),
    ("fields", "graph", None, None, "fields", "hot fields apart"),
    ("fields", "names", None, None, "fields", "texts elsewhere"),
    ("fields", "heap", None, None, "fields", "the rest behind a pointer"),
]
# Where the loops of `forward` lie: the same kernel with its functions and loops at multiples of so many bytes.
PLACES = [None, 1, 16, 64]
UNSEEN = "scale", "doubles", "order", "gather", "tree", "slots", "tallies", "fields", "graph", "names", "heap"
WITHOUT = [("four chains of additions", ["levels", "independent"]), ("one chain of additions", ["levels", "dependent"]),
           ("independent multiplications", ["levels", "multiply"]), ("pointers in the L1", ["levels", "chase_l1"]),
           ("taken jumps", ["levels", "jumps"]), ("sha256sum", ["sha256sum", "/usr/bin/python3.11"]),
           ("md5sum", ["md5sum", "/usr/bin/python3.11"]), ("b2sum", ["b2sum", "/usr/bin/python3.11"]),
           ("cksum", ["cksum", "/usr/bin/python3.11"]),
           ("cksum, four times as much", ["cksum", *4 * ["/usr/bin/python3.11"]])]
# The loop of cksum: what it is, bytes that it touches ahead, bytes of a piece.
CHECKSUMS = [("as it is", 0, 65536), ("touched 256 bytes ahead", 256, 65536), ("touched 1 KiB ahead", 1024, 65536),
             ("in pieces of 16 KiB", 0, 16384)]


def built(folder, name, *flags, compiler="gcc"):
    os.makedirs(BUILT, exist_ok=True)
    path = os.path.join(BUILT, compiler + "-" + name + "".join(flags))
    source = os.path.join(LIBRARY, folder, name + ".c")
    subprocess.run([compiler, *FLAGS[folder or name], *flags, "-o", path, source], check=True)
    return path


def sides(program, kernel, before, after, *flags):
    """The two commands, with the options that begin them at the kernel."""
    if program == "fields":
        source = {"slots": "table"}.get(kernel, kernel)
        return ([built("fields", source)], []), ([built("fields", source, "-DREMEDY")], [])
    if program == "threads":
        path = run.workload(kernel, "x86_64")
        return ([path, before], []), ([path, after], [])
    path = (built("", "advised", "-static", compiler="riscv64-linux-gnu-gcc") if program == "riscv64"
            else built("", program, *flags))
    limit = ["--limit", "8M", "--stop"] if program == "remedies" else []
    return (([path, kernel, "before"], ["--from", before, *limit]),
            ([path, kernel, "after"], ["--from", after, *limit]))


def cycles_of(program, function, report):
    """Of a kernel that is cut short, of a round of its innermost loop."""
    if program != "remedies":
        return (report["together"] or {}).get("elapsed_cycles", report["cycles"])
    loops = [loop for loop in report["loops"] if loop["function"] == function]
    depth = max(loop["depth"] for loop in loops)
    loop = max((loop for loop in loops if loop["depth"] == depth), key=lambda loop: loop["cycles"])
    return loop["cycles"] / loop["rounds"]


def remedied(program, kernel, before, after, kind, done, *flags):
    old, new = sides(program, kernel, before, after, *flags)
    settings = PAGES if kind == "huge pages" else []
    cycles = [cycles_of(program, function, run.report("sim", ["--by", "loop", "--top", "0", *more, *options], command))
              for function, (command, options), more in ((before, old, []), (after, new, settings))]
    listed = run.report("explain", ["--top", "1", *old[1]], old[0])["advice"]
    of_kind = [advice for advice in listed if advice["kind"] == kind]
    saved = 1 - cycles[1] / cycles[0]
    place = next((number for number, advice in enumerate(listed, 1) if advice["kind"] == kind), None)
    predicted = sum(advice["saving_percent"] for advice in of_kind) / 100 if of_kind else None
    right = predicted is not None and abs(predicted - saved) <= abs(saved) / 3
    name = kernel + (" (unseen)" if kernel in UNSEEN else "")
    return [name, f"{kind}: {done}", place or "no", page.percent(predicted), page.percent(saved),
            "yes" if right else "no"], bool(place), right, kernel in UNSEEN


def placed(bytes_apart):
    """The row of `forward`, with its code elsewhere."""
    flags = [f"-falign-{what}={bytes_apart}" for what in ("loops", "jumps", "labels")] + ["-falign-functions=64"]
    case = next(case for case in REMEDIES if case[1] == "forward")
    row = remedied(*case, *(flags if bytes_apart else []))[0]
    return [f"functions at 64 bytes, loops at {bytes_apart}" if bytes_apart else "as compiled", *row[3:]]


def promised(name, command):
    command = [built("", "levels"), *command[1:]] if command[0] == "levels" else command
    options = ["--from", "kernel_" + command[1]] if command[0].endswith("levels") and command[1] != "chase_l1" else []
    listed = run.report("explain", ["--top", "1", *options], command)["advice"]
    best = listed[0] if listed else None
    return [name, page.percent(best["saving_percent"] / 100) if best else "none",
            f"{best['kind']}, {best['function']}" if best else "",
            "yes" if not best or best["saving_percent"] <= 3 else "no"]


def checksums():
    """What is promised of the loop of cksum, and what two remedies save: of all, and of the loop."""
    found = []
    for name, ahead, piece in CHECKSUMS:
        command = [built("", "checksum", f"-DAHEAD={ahead}"), "/usr/bin/python3.11", str(piece)]
        simulated = run.report("sim", ["--top", "0"], command)
        loop = sum(row["cycles"] for row in simulated["functions"] if (row["function"] or "").startswith("kernel_fold"))
        listed = run.report("explain", ["--top", "1"], command)["advice"]
        found.append((name, simulated["cycles"], loop, listed[0]["saving_percent"] / 100 if listed else None))
    _, cycles, loop, _ = found[0]
    return [[name, page.percent(promise), page.percent(1 - all_of_it / cycles), page.percent(1 - of_loop / loop)]
            for name, all_of_it, of_loop, promise in found]


rows = [remedied(*case) for case in REMEDIES]
without = [promised(*case) for case in WITHOUT]
places = [placed(place) for place in PLACES]
seen = [row for row in rows if not row[3]]
unseen = [row for row in rows if row[3]]
page.write("advice", "experiments/advice.py",
           page.table(["kernel", "remedy", "listed at", "saved at most, %", "saving when it is done, %",
                       "within a third"], [row[0] for row in rows]) + "\n"
           + page.table(["", "kernels", "remedy listed", "within a third"],
                        [[what, len(of), sum(row[1] for row in of), sum(row[2] for row in of)]
                         for what, of in (("seen", seen), ("unseen", unseen), ("all", rows))]) + "\n"
           + page.table(["`forward`, its code", "saved at most, %", "saving when it is done, %", "within a third"], places)
           + "\n" + page.table(["program", "most promised, %", "of", "at most 3 %"], without) + "\n"
           + page.table(["the loop of cksum", "most promised, %", "saved of all, %", "saved of the loop, %"], checksums()))
