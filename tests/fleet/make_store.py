"""make_store.py FILE KEY=VALUE...: a store of profiles as a daemon of some host leaves it, with the given

    host      the host's name
    first     when its first epoch began, seconds since 1970
    epochs    how many, one after the other
    seconds   how long each is
    images    that every process has profiles in; the first half have a build id, the same at every host
    processes of each epoch
    rows      values in each profile
    trees     whether processes have trees of calls too
    hostile   whether names are what SQL, COPY or arrays might take for something else
    from      number of the host: what images have of symbols differs by it
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import sqlite3  # noqa: E402
import zlib  # noqa: E402

import store  # noqa: E402

HOSTILE = [
    b"'; DROP SCHEMA culprit CASCADE; --", b"\"; DELETE FROM culprit.session; --", b"$1", b"$$", b"?1", b"\\N",
    b"\\x41", b"{1,2}", b"{\"a\"}", b"NULL", b"", b"a\tb\nc\rd", b"\\.", b"%s%n", b"\xff\xfe\xc0\x80", "é\u202eü".encode(),
    b"x" * 4000, b"\\\\\\", b"'", b"--", b"/*", b"\x01\x7f", b"E'\\''", b"postgresql://ann:secret@db/",
]


def framed(count, body):
    body = b"\x00" + store.number(count) + body
    return zlib.crc32(body).to_bytes(4, "little") + body


def tree(images, values):
    """A chain of calls from image to image, each with a value of its own."""
    columns = [[0] + [1] * (len(values) - 1), [images[at % len(images)] for at in range(len(values))],
               [0x100 + 8 * at for at in range(len(values))], values]
    return framed(len(values), b"".join(store.number(item) for column in columns for item in column))


def symbols(names):
    """Of 64 bytes each, at 0x1000 and so on."""
    starts = [number for number, _ in names]
    body = b"".join(store.number(start - before) for start, before in zip(starts, [0] + starts))
    return framed(len(names), body + b"".join(store.number(64) for _ in names) +
                  b"".join(name + b"\0" for _, name in names))


def main():
    path = sys.argv[1]
    given = {"host": "web1", "first": "1767225600", "epochs": "2", "seconds": "3600", "images": "4", "processes": "3",
             "rows": "5", "trees": "1", "hostile": "0", "from": "0"}
    given.update(word.split("=", 1) for word in sys.argv[2:])
    host = given["host"]
    first, epochs, seconds, image_count, processes, rows, trees, hostile, number = (
        int(given[key]) for key in ("first", "epochs", "seconds", "images", "processes", "rows", "trees", "hostile", "from"))
    database = sqlite3.connect(path)
    database.executescript(store.TABLES)
    database.execute("PRAGMA synchronous=OFF")

    def add(sql, *values):
        return database.execute(sql, values).lastrowid

    def name(kind, at):
        return HOSTILE[at % len(HOSTILE)] + b"%d" % at if hostile else b"%s%d" % (kind, at)

    images = []
    for at in range(image_count):
        build = b"" if at >= (image_count + 1) // 2 else zlib.crc32(b"%d" % at).to_bytes(4, "little") * 5
        images.append(add("INSERT INTO image(kind, path, build_id, root) VALUES(0, CAST(? AS TEXT), ?, '')",
                          b"/usr/bin/" + name(b"image", at), build))
        # Every host knows some procedures that all know, and one of its own.
        known = [(0x1000 + 64 * k, name(b"procedure", k)) for k in range(3)]
        known.append((0x2000 + 64 * number, name(b"own", number)))
        add("INSERT INTO symbols(image, data) VALUES(?, ?)", images[-1], symbols(known))
    for at in range(epochs):
        start = (first + at * seconds) * 10**9
        session = add("INSERT INTO session(kind, name, host, kernel, processor, weight, start, \"end\", unknown, dropped,"
                      " saved) VALUES(0, 'daemon', ?, '6.1', CAST(? AS TEXT), 1, ?, ?, 1, 2, ?)", host,
                      name(b"processor", 0), start, start + seconds * 10**9, start + seconds * 10**9)
        event = add("INSERT INTO event(session, name, unit, period, period_unit, precise)"
                    " VALUES(?, 'cpu-clock', 'samples', 192000, 'ns', 0)", session)
        for command in range(processes):
            process = add("INSERT INTO process(session, command, executable, pid, thread, processor, cgroup, \"begin\","
                          " \"end\") VALUES(?, CAST(? AS TEXT), CAST(? AS TEXT), 0, 0, 0, CAST(? AS TEXT), 0, 0)",
                          session, name(b"command", command), b"/" + name(b"executable", command),
                          b"/" + name(b"group", command))
            for image in images:
                values = [(0x1000 + 64 * k, 0, 1 + (k + at + command + image + number) % 7) for k in range(rows)]
                add("INSERT INTO profile(session, image, process, event, total, data) VALUES(?, ?, ?, ?, ?, ?)",
                    session, image, process, event, sum(value for _, _, value in values), store.blob(values))
            if trees:
                values = [1 + k for k in range(rows)]
                calls = add("INSERT INTO calls(session, process, event, total, data) VALUES(?, ?, ?, ?, ?)", session,
                            process, event, sum(values), tree(images, values))
                database.executemany("INSERT INTO calls_image(image, calls) VALUES(?, ?)",
                                     [(image, calls) for image in images[:rows]])
    database.commit()
    database.close()


main()
