"""Stores of many hosts, made from recorded ones: each epoch has the profiles of some programs that
were recorded here, with counts drawn anew and shares of its host's own."""
import ctypes
import ctypes.util
import math
import random
import sqlite3
import zlib

DAY = 86400
VARIANTS = 48  # of each profile, of which every epoch takes one


def _number(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def _put(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


_zstd = ctypes.CDLL(ctypes.util.find_library("zstd"))
_zstd.ZSTD_compressBound.restype = _zstd.ZSTD_compress.restype = _zstd.ZSTD_decompress.restype = ctypes.c_size_t


def decode(data):
    """(offset, value) of a blob of live samples (docs/store-format.md)."""
    flags, at = data[4], 5
    count, at = _number(data, at)
    body = data[at:]
    if flags & 1:
        size, at = _number(data, at)
        room = ctypes.create_string_buffer(size)
        got = _zstd.ZSTD_decompress(room, ctypes.c_size_t(size), data[at:], ctypes.c_size_t(len(data) - at))
        body = room.raw[:got]
    offsets, values, offset, at = [], [], 0, 0
    for _ in range(count):
        step, at = _number(body, at)
        offset += step
        offsets.append(offset)
    for _ in range(count):
        value, at = _number(body, at)
        values.append(value)
    return list(zip(offsets, values))


def encode(values):
    last, columns = 0, bytearray()
    for offset, _ in values:
        columns += _put(offset - last)
        last = offset
    for _, value in values:
        columns += _put(value)
    columns, head = bytes(columns), bytes([0]) + _put(len(values))
    if len(columns) > 64:
        bound = _zstd.ZSTD_compressBound(ctypes.c_size_t(len(columns)))
        room = ctypes.create_string_buffer(bound)
        size = _zstd.ZSTD_compress(room, ctypes.c_size_t(bound), columns, ctypes.c_size_t(len(columns)), 3)
        if size < len(columns) <= 64 * size:
            head, columns = bytes([1]) + _put(len(values)) + _put(len(columns)), room.raw[:size]
    body = head + columns
    return zlib.crc32(body).to_bytes(4, "little") + body


def _poisson(mean, draw):
    if mean > 50:
        return max(0, round(draw.gauss(mean, math.sqrt(mean))))
    limit, count, product = math.exp(-mean), 0, draw.random()
    while product > limit:
        product *= draw.random()
        count += 1
    return count


class Recorded:
    """The profiles of stores that culprit recorded, as rows of one epoch."""

    def __init__(self, paths):
        self.images, self.rows, self.event, merged = {}, [], None, {}
        for path in paths:
            database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
            self.event = self.event or database.execute(
                "SELECT name, unit, period, period_unit, precise FROM event ORDER BY id LIMIT 1").fetchone()
            rows = database.execute(
                "SELECT command, executable, kind, path, build_id, root, profile.data, symbols.data FROM profile"
                " JOIN process ON process.id = process JOIN image ON image.id = profile.image"
                " LEFT JOIN symbols ON symbols.image = image.id"
                " WHERE profile.event = (SELECT min(id) FROM event)").fetchall()
            for command, executable, kind, name, build, root, data, symbols in rows:
                image = (kind, name, build, root)
                self.images[image] = symbols or self.images.get(image)
                into = merged.setdefault((command, executable, image), {})
                for offset, value in decode(data):
                    into[offset] = into.get(offset, 0) + value
            database.close()
        self.rows = [(*key, sorted(values.items())) for key, values in merged.items()]

    def samples(self):
        return sum(value for row in self.rows for _, value in row[3])

    def vary(self, samples, seed):
        """For each row VARIANTS of (total, blob), of epochs with so many samples in the mean."""
        draw, scale = random.Random(seed), samples / self.samples()
        pools = []
        for _, _, _, values in self.rows:
            pool = []
            for _ in range(VARIANTS):
                factor = scale * math.exp(draw.gauss(0, 0.2))
                counts = [(offset, _poisson(value * factor, draw)) for offset, value in values]
                counts = [(offset, count) for offset, count in counts if count]
                pool.append((sum(count for _, count in counts), encode(counts)) if counts else None)
            pools.append(pool)
        return pools


def fill(store, recorded, pools, hosts, start, days, minutes, seed, update=None):
    """Adds to a store, which culprit has made, the epochs of hosts (their names) of whole days."""
    draw = random.Random(seed)
    database = sqlite3.connect(store)
    database.executescript("PRAGMA synchronous=OFF; PRAGMA cache_size=-200000")
    images = {}
    for image, symbols in recorded.images.items():
        images[image] = database.execute(
            "INSERT INTO image(kind, path, build_id, root) VALUES(?, ?, ?, ?)", image).lastrowid
        if symbols:
            database.execute("INSERT INTO symbols VALUES(?, ?)", (images[image], symbols))
    (session,) = database.execute("SELECT coalesce(max(id), 0) FROM session").fetchone()
    event, process = session, session * len(recorded.rows)
    length = minutes * 60
    done = 0
    for day in range(days):
        for host in hosts:
            sessions, events, processes, profiles = [], [], [], []
            for at in range(DAY // length):
                begin = start + day * DAY + at * length
                session, event = session + 1, event + 1
                sessions.append((session, host, begin * 10**9, (begin + length) * 10**9, (begin + length) * 10**9))
                events.append((event, session, *recorded.event))
                numbers = {}
                for (command, executable, image, _), pool in zip(recorded.rows, pools):
                    variant = pool[draw.randrange(VARIANTS)]
                    if not variant:
                        continue
                    if (command, executable) not in numbers:
                        process += 1
                        numbers[command, executable] = process
                        processes.append((process, session, command, executable))
                    profiles.append((session, images[image], numbers[command, executable], event, *variant))
            database.executemany(
                'INSERT INTO session(id, kind, name, host, kernel, processor, weight, start, "end", unknown,'
                " dropped, saved) VALUES(?, 0, 'daemon', ?, '6.1', 'a processor', 1, ?, ?, 0, 0, ?)", sessions)
            database.executemany("INSERT INTO event(id, session, name, unit, period, period_unit, precise)"
                                 " VALUES(?, ?, ?, ?, ?, ?, ?)", events)
            database.executemany(
                "INSERT INTO process(id, session, command, executable, pid, thread, processor, cgroup,"
                " \"begin\", \"end\") VALUES(?, ?, ?, ?, 0, 0, 0, '', 0, 0)", processes)
            database.executemany("INSERT INTO profile(session, image, process, event, total, data)"
                                 " VALUES(?, ?, ?, ?, ?, ?)", profiles)
            done += len(sessions)
            if update:
                update(done)
        database.commit()
    database.commit()
    database.close()
    return done
