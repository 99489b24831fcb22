"""Stores written and read as docs/store-format.md says.

store.py make FILE SESSION...   a store; a session is NAME:KIND:START:END:SAMPLES, times in seconds
store.py fleet FILE NAME=VALUE...   epochs of several hosts: see fleet()
store.py dump FILE              every value, "session/event image process offset:signature=value"
"""
import random
import sqlite3
import sys
import zlib

TABLES = """
CREATE TABLE session(id INTEGER PRIMARY KEY AUTOINCREMENT, kind INTEGER NOT NULL,
 name TEXT NOT NULL, host TEXT NOT NULL, kernel TEXT NOT NULL, processor TEXT NOT NULL,
 weight REAL NOT NULL, start INTEGER NOT NULL, "end" INTEGER NOT NULL, unknown INTEGER NOT NULL,
 dropped INTEGER NOT NULL, saved INTEGER NOT NULL) STRICT;
CREATE INDEX session_days ON session(kind, host, start, "end", saved, weight);
CREATE TABLE event(id INTEGER PRIMARY KEY, session INTEGER NOT NULL REFERENCES session,
 name TEXT NOT NULL, unit TEXT NOT NULL, period INTEGER NOT NULL, period_unit TEXT NOT NULL,
 precise INTEGER NOT NULL) STRICT;
CREATE INDEX event_session ON event(session);
CREATE TABLE process(id INTEGER PRIMARY KEY, session INTEGER NOT NULL REFERENCES session,
 command TEXT NOT NULL, executable TEXT NOT NULL,
 pid INTEGER NOT NULL DEFAULT 0, thread INTEGER NOT NULL DEFAULT 0,
 processor INTEGER NOT NULL DEFAULT 0, cgroup TEXT NOT NULL DEFAULT '',
 "begin" INTEGER NOT NULL DEFAULT 0, "end" INTEGER NOT NULL DEFAULT 0,
 UNIQUE(session, command, executable, pid, thread, processor, cgroup, "begin", "end")) STRICT;
CREATE TABLE image(id INTEGER PRIMARY KEY AUTOINCREMENT, kind INTEGER NOT NULL,
 path TEXT NOT NULL, build_id BLOB NOT NULL, root TEXT NOT NULL,
 UNIQUE(path, build_id, kind, root)) STRICT;
CREATE TABLE symbols(image INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT;
CREATE TABLE profile(id INTEGER PRIMARY KEY, session INTEGER NOT NULL REFERENCES session,
 image INTEGER NOT NULL, process INTEGER NOT NULL, event INTEGER NOT NULL,
 total INTEGER NOT NULL, data BLOB NOT NULL, UNIQUE(session, image, process, event)) STRICT;
CREATE TABLE calls(id INTEGER PRIMARY KEY, session INTEGER NOT NULL REFERENCES session,
 process INTEGER NOT NULL, event INTEGER NOT NULL, total INTEGER NOT NULL, data BLOB NOT NULL,
 UNIQUE(session, process, event)) STRICT;
CREATE TABLE calls_image(image INTEGER NOT NULL, calls INTEGER NOT NULL,
 PRIMARY KEY(image, calls)) STRICT, WITHOUT ROWID;
CREATE TABLE identity(id BLOB NOT NULL, server BLOB NOT NULL) STRICT;
INSERT INTO identity VALUES(randomblob(16), x'');
CREATE TABLE sent(server BLOB NOT NULL, session INTEGER NOT NULL REFERENCES session,
 at INTEGER NOT NULL, given_up INTEGER NOT NULL, PRIMARY KEY(server, session))
 STRICT, WITHOUT ROWID;
CREATE TABLE sent_symbols(server BLOB NOT NULL, image INTEGER NOT NULL, number INTEGER NOT NULL,
 checksum INTEGER NOT NULL, PRIMARY KEY(server, image)) STRICT, WITHOUT ROWID;
PRAGMA application_id=0x43554c50; PRAGMA user_version=5; PRAGMA journal_mode=WAL;
"""


def number(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def blob(values):
    """Of (offset, signature, value), sorted."""
    signed = any(signature for _, signature, _ in values)
    before = [0] + [offset for offset, _, _ in values]
    body = bytes([2 if signed else 0]) + number(len(values))
    body += b"".join(number(value[0] - last) for value, last in zip(values, before))
    if signed:
        body += b"".join(number(signature) for _, signature, _ in values)
    body += b"".join(number(value) for _, _, value in values)
    return zlib.crc32(body).to_bytes(4, "little") + body


def items(data):
    assert zlib.crc32(data[4:]) == int.from_bytes(data[:4], "little"), "checksum"
    flags, at = data[4], 5
    assert flags in (0, 2), "compressed: Python has no zstd"

    def take():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    count = take()
    offset, offsets = 0, []
    for _ in range(count):
        offset += take()
        offsets.append(offset)
    signatures = [take() if flags & 2 else 0 for _ in range(count)]
    values = [take() for _ in range(count)]
    assert at == len(data), "bytes behind the columns"
    return zip(offsets, signatures, values)


def make(path, sessions):
    database = sqlite3.connect(path)
    database.executescript(TABLES)
    image = database.execute("INSERT INTO image(kind, path, build_id, root) VALUES(0, ?, ?, '')",
                             ("/usr/bin/gzip", b"\x01\x02")).lastrowid
    for session in sessions:
        name, kind, start, end, samples = session.split(":")
        unit, period = ("1/840 cycles", 0) if kind == "1" else ("samples", 192000)
        number_of = database.execute(
            "INSERT INTO session(kind, name, host, kernel, processor, weight, start, \"end\","
            " unknown, dropped, saved) VALUES(?, ?, 'vm', '6.1', 'zen4', 1, ?, ?, 2, 1, ?)",
            (int(kind), name, int(start) * 10**9, int(end) * 10**9, int(start) * 10**9)).lastrowid
        event = database.execute(
            "INSERT INTO event(session, name, unit, period, period_unit, precise)"
            " VALUES(?, 'cpu-clock', ?, ?, 'ns', 0)", (number_of, unit, period)).lastrowid
        process = database.execute(
            "INSERT INTO process(session, command, executable) VALUES(?, 'gzip', '/usr/bin/gzip')",
            (number_of,)).lastrowid
        values = [(0x1000, 0, int(samples) - 3), (0x1004, 0, 1), (0x1004, 5, 2)]
        database.execute(
            "INSERT INTO profile(session, image, process, event, total, data)"
            " VALUES(?, ?, ?, ?, ?, ?)",
            (number_of, image, process, event, int(samples), blob(values)))
    database.commit()
    database.close()


def symbols(names, size):
    """A symbol blob of procedures of one size, one behind the other."""
    body = bytes([0]) + number(len(names)) + number(0) + number(size) * (len(names) - 1)
    body += number(size) * len(names) + b"".join(name.encode() + b"\0" for name in names)
    return zlib.crc32(body).to_bytes(4, "little") + body


def fleet(path, hosts=4, days=2, epochs=3, samples=1000, odd=0, seed=1, swap=0, start=1767225600):
    """Epochs of equal length, which fill the days: of the program app and, one sample in ten, the
    daemon logd. Samples are drawn from one profile of 20 procedures; in `odd` hosts, the last, the
    procedure work_3 has three times its share. From day `swap` on (0: never) app is another build,
    whose work_5 takes twice as much. Epochs begin an hour and a half after midnight."""
    draw = random.Random(seed)
    names = [f"work_{i}" for i in range(20)]
    shares = [1 / (1 + i) for i in range(20)]
    database = sqlite3.connect(path)
    database.executescript(TABLES)

    def add(sql, *data):
        return database.execute(sql, data).lastrowid

    def image(kind, name, build):
        found = add("INSERT INTO image(kind, path, build_id, root) VALUES(?, ?, ?, '')", kind, name, build)
        add("INSERT INTO symbols(image, data) VALUES(?, ?)", found, symbols(names, 64))
        return found

    builds = [image(0, "/srv/app", bytes([0xA1] * 20)), image(0, "/srv/app", bytes([0xB2] * 20))]
    daemon, kernel = image(0, "/usr/sbin/logd", bytes([0xC3] * 20)), image(1, "[kernel]", bytes([0xD4] * 20))

    def profile(session, process, event, where, count, weights):
        picked = {}
        for i in draw.choices(range(20), weights, k=count):
            offset = 64 * i + 4 * draw.randrange(4)
            picked[offset] = picked.get(offset, 0) + 1
        if picked:
            add("INSERT INTO profile(session, image, process, event, total, data)"
                " VALUES(?, ?, ?, ?, ?, ?)", session, where, process, event, count,
                blob([(offset, 0, value) for offset, value in sorted(picked.items())]))

    length = 86400 // epochs
    for host in range(hosts):
        weights = list(shares)
        weights[3] *= 3 if host >= hosts - odd else 1
        for at in range(days * epochs):
            begin = start + 5400 + at * length
            session = add(
                'INSERT INTO session(kind, name, host, kernel, processor, weight, start, "end",'
                " unknown, dropped, saved) VALUES(0, 'daemon', ?, '6.1', 'zen4', 1, ?, ?, 2, 1, ?)",
                f"web-{host:02}", begin * 10**9, (begin + length) * 10**9, (begin + length) * 10**9)
            event = add("INSERT INTO event(session, name, unit, period, period_unit, precise)"
                        " VALUES(?, 'cpu-clock', 'samples', 192000, 'ns', 0)", session)
            swapped = swap and at >= swap * epochs
            for name, where, share in (("app", builds[1 if swapped else 0], 0.9), ("logd", daemon, 0.1)):
                process = add("INSERT INTO process(session, command, executable) VALUES(?, ?, ?)",
                              session, name, "/srv/app" if name == "app" else "/usr/sbin/logd")
                mine = list(weights)
                mine[5] *= 2 if swapped and name == "app" else 1
                count = int(samples * share)
                in_kernel = sum(draw.random() < 0.2 for _ in range(count))
                profile(session, process, event, where, count - in_kernel, mine)
                profile(session, process, event, kernel, in_kernel, shares)
    database.commit()
    database.close()


def dump(path):
    database = sqlite3.connect(path)
    for session, event, image, command, data in database.execute(
            "SELECT session.name, event.name, image.path, process.command, data FROM profile"
            " JOIN session ON session.id = profile.session JOIN event ON event.id = event"
            " JOIN image ON image.id = image JOIN process ON process.id = process"
            " ORDER BY session.start, image.id, process.id, event.id"):
        for offset, signature, value in items(data):
            print(f"{session}/{event} {image} {command} {offset:x}:{signature:x}={value}")


def main():
    if sys.argv[1] == "make":
        make(sys.argv[2], sys.argv[3:])
    elif sys.argv[1] == "fleet":
        fleet(sys.argv[2], **{word.split("=")[0]: int(word.split("=")[1]) for word in sys.argv[3:]})
    else:
        dump(sys.argv[2])


if __name__ == "__main__":
    main()
