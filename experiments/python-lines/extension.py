# A C extension of the standard library: _json, and zlib's checksums.
import json
import zlib


def make(count):
    return [{"id": i, "name": "item %d" % i, "tags": ["a", "b", str(i % 5)], "value": i / 7}
            for i in range(count)]


def write(items):
    return json.dumps(items)


def read(text):
    return json.loads(text)


def check(text, times):
    total = 0
    for i in range(times):
        total ^= zlib.crc32(text.encode(), i)
    return total


def select(items):
    chosen = 0
    for item in items:
        if item["tags"][2] == "3":
            chosen += item["id"]
    return chosen


text = write(make(600))
print(len(text), check(text, 20), select(read(text)))
