"""Traces of other tools, written and read strictly by their published layouts.

foreign.py champsim FILE              a loop with a call and a repeated store, as ChampSim records it
foreign.py drmemtrace FILE            the same kind of loop on two threads, as drmemtrace has it
foreign.py same FILE FILE             two of ChampSim's say the same: code, branches, accesses
foreign.py follows FILE DRMEMTRACE    what ChampSim's says is what foreign.py wrote for thread 0
foreign.py counts FILE                records, loads, stores, branches by kind
"""
import collections, gzip, lzma, struct, sys, zipfile

RECORD = struct.Struct("<QBB2B4B2Q4Q")
assert RECORD.size == 64
SP, FLAGS, IP = 6, 25, 26


def opened(path, mode):
    opener = {"gz": gzip.open, "xz": lzma.open}.get(path.rsplit(".", 1)[-1], open)
    return opener(path, mode)


def record(ip, written=(), read=(), stores=(), loads=(), branch=0, taken=0):
    pad = lambda values, size: list(values) + [0] * (size - len(values))
    return RECORD.pack(ip, branch, taken, *pad(written, 2), *pad(read, 4), *pad(stores, 2), *pad(loads, 4))


def write_champsim(path):
    out = []
    for i in range(1000):
        out.append(record(0x400000, [10], [3], loads=[0x10000000 + 8 * (i % 64)]))
        out.append(record(0x400004, [8, FLAGS], [8, 10]))
        out.append(record(0x400007, [], [4, 8], stores=[0x20000000 + 8 * (i % 64)]))
        out.append(record(0x40000b, [3, FLAGS], [3]))
        last = i % 50 == 49
        out.append(record(0x40000f, [IP], [IP, FLAGS], branch=1, taken=not last))
        if last:
            out.append(record(0x400011, [IP, SP], [IP, SP], stores=[0x7fff0000], branch=1, taken=1))
            out += [record(0x500000, [9, 3], [9, 3, 10], stores=[0x30000000 + 8 * k]) for k in range(5)]
            out.append(record(0x500003, [IP, SP], [SP], loads=[0x7fff0000], branch=1, taken=1))
            out.append(record(0x400016, [IP], [IP], branch=1, taken=1))
    with opened(path, "wb") as file:
        file.write(b"".join(out))


# Entries of drmemtrace: (type, size, value).
READ, WRITE, INSTR, THREAD, EXIT, PID, HEADER, FOOTER, MARKER, NO_FETCH, ENCODING = \
    0, 1, 10, 22, 23, 24, 25, 26, 28, 29, 47
TAKEN, UNTAKEN = 48, 49


def loop(base):
    """mov eax,[rdi]; add rdi,4; dec ecx; jne; then rep stosq, and the loop again by a jump."""
    seen = set()

    def insn(kind, at, code):
        if at not in seen:
            seen.add(at)
            for i in range(0, len(code), 8):
                part = code[i:i + 8]
                yield ENCODING, len(part), int.from_bytes(part.ljust(8, b"\0"), "little")
        yield kind, len(code), at

    for i in range(300):
        last = i % 30 == 29
        yield from insn(INSTR, base, b"\x8b\x07")
        yield READ, 4, 0x7000_0000 + 4 * i
        yield from insn(INSTR, base + 2, b"\x48\x83\xc7\x04")
        yield from insn(INSTR, base + 6, b"\xff\xc9")
        yield from insn(UNTAKEN if last else TAKEN, base + 8, b"\x75\xf6")
        if last:
            yield from insn(INSTR, base + 10, b"\xf3\x48\xab")
            for k in range(3):
                if k:
                    yield NO_FETCH, 3, base + 10
                yield WRITE, 8, 0x7100_0000 + 8 * k
            yield from insn(INSTR + 1, base + 13, b"\xeb\xf1")


def threads():
    """Two threads that take turns now and then, each an instruction with its accesses at a time."""
    left = {1: list(loop(0x401000)), 2: list(loop(0x501000))}
    turn = 0
    while any(left.values()):
        thread = 1 + turn % 2
        part, left[thread] = left[thread][:40 + turn], left[thread][40 + turn:]
        while left[thread] and left[thread][0][0] in (READ, WRITE, NO_FETCH):
            part.append(left[thread].pop(0))
        turn += 1
        if part:
            yield THREAD, 4, thread
            yield PID, 4, 77
            yield from part


def write_drmemtrace(path):
    entries = [(HEADER, 0, 4), (MARKER, 12, 4), (MARKER, 9, 0x240), (THREAD, 4, 1), (PID, 4, 77)]
    entries += threads()
    entries += [(EXIT, 4, 1), (EXIT, 4, 2), (FOOTER, 0, 0)]
    data = b"".join(struct.pack("<HHQ", *entry) for entry in entries)
    if not path.endswith(".zip"):
        with opened(path, "wb") as file:
            file.write(data)
        return
    with zipfile.ZipFile(path, "w") as archive: # members follow each other, of both kinds
        half = len(data) // 24 * 12
        archive.writestr("chunk.0000", data[:half], zipfile.ZIP_DEFLATED)
        archive.writestr("chunk.0001", data[half:], zipfile.ZIP_STORED)


def kind_of(written, read):
    """ChampSim's rule, in the words of its inc/instruction.h."""
    writes_ip, writes_sp = IP in written, SP in written
    reads_ip, reads_sp, reads_flags = IP in read, SP in read, FLAGS in read
    other = any(reg not in (0, SP, FLAGS, IP) for reg in read)
    if not writes_ip:
        return None
    if not reads_sp and not reads_flags and not other:
        return "jump"
    if not reads_sp and not reads_ip and not reads_flags and other:
        return "indirect"
    if not reads_sp and reads_ip and not writes_sp and (reads_flags or other):
        return "conditional"
    if reads_sp and reads_ip and writes_sp and not reads_flags:
        return "indirect call" if other else "call"
    if reads_sp and not reads_ip and writes_sp:
        return "return"
    raise AssertionError("a branch of no kind")


def read_champsim(path):
    with opened(path, "rb") as file:
        data = file.read()
    assert data and len(data) % RECORD.size == 0, len(data)
    for fields in RECORD.iter_unpack(data):
        ip, branch, taken = fields[:3]
        kind = kind_of(fields[3:5], fields[5:9])
        assert branch in (0, 1) and taken in (0, branch) and (kind is not None) == (branch == 1), fields
        assert kind in (None, "conditional") or taken, fields
        yield ip, kind, taken, fields[9:11], fields[11:15]


def expected(entries):
    """[ip, stores, loads] of each record that is to come of entries of one thread."""
    for kind, size, value in entries:
        if INSTR <= kind <= INSTR + 6 or kind in (TAKEN, UNTAKEN, NO_FETCH):
            if kind != INSTR - 1:
                last = [value, [], []]
                yield last
        elif kind == READ:
            last[2].append(value)
        elif kind == WRITE:
            last[1].append(value)


def main(verb, *paths):
    if verb == "champsim":
        write_champsim(paths[0])
    elif verb == "drmemtrace":
        write_drmemtrace(paths[0])
    elif verb == "same":
        one, other = (list(read_champsim(path)) for path in paths)
        assert one == other, next((i, a, b) for i, (a, b) in enumerate(zip(one, other)) if a != b)
    elif verb == "follows":
        got = [[ip, [a for a in stores if a], [a for a in loads if a]]
               for ip, _, _, stores, loads in read_champsim(paths[0])]
        want = list(expected(loop(0x401000)))
        assert got == want, (len(got), len(want), next((i, a, b) for i, (a, b) in enumerate(zip(got, want)) if a != b))
    else:
        counts = collections.Counter()
        for _, kind, _, stores, loads in read_champsim(paths[0]):
            counts["records"] += 1
            counts["stores"] += sum(a != 0 for a in stores)
            counts["loads"] += sum(a != 0 for a in loads)
            counts[kind or "no branch"] += 1
        print(dict(counts))


main(*sys.argv[1:])
