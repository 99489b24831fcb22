# Sorting with keys and comparisons in Python, heaps, bisection: C that calls Python.
import bisect
import functools
import heapq


def key(word):
    return word[::-1]


def compare(a, b):
    return (a > b) - (a < b)


def make(count):
    return ["%x" % (i * 2654435761 % 4294967296) for i in range(count)]


def by_key(words):
    return sorted(words, key=key)


def by_comparison(words):
    return sorted(words, key=functools.cmp_to_key(compare))


def heap(words):
    queue = []
    for word in words:
        heapq.heappush(queue, word)
    return [heapq.heappop(queue) for _ in range(len(queue))]


def insert(words):
    ordered = []
    for word in words:
        place = bisect.bisect(ordered, word)
        ordered.insert(place, word)
    return ordered


words = make(1200)
print(by_key(words)[0], by_comparison(words)[0], heap(words)[0], insert(words)[0])
