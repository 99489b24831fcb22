"""work.py shares|others|threads SECONDS: works until a thread has used so much of a processor. By work
done `most`, `some` and `least` have 6 : 3 : 1."""
import functools
import sys
import threading
import time


def spin(times):
    total = 0
    for i in range(times):
        total += i & 3
    return total


class Half:
    def most(self):
        spin(6000)


def some():
    spin(3000)


def least():
    spin(1000)


def generated(times):
    for i in range(times):
        yield spin(i)


def recursive(levels):
    return recursive(levels - 1) if levels else spin(20000)


def compare(a, b):
    spin(20)
    return a - b


def raising(times):
    for i in range(times):
        try:
            raise ValueError(i)
        except ValueError as error:
            spin(10)
            str(error)


def until(seconds, function):
    while time.thread_time() < seconds:
        function()


def shares():
    Half().most()
    some()
    least()


def others():
    sum(generated(200))
    recursive(50)
    sorted(range(300, 0, -1), key=functools.cmp_to_key(compare))
    raising(500)


def in_threads(seconds):
    threads = [threading.Thread(target=until, args=(seconds, function)) for function in (some, least)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]


if __name__ == "__main__":
    way, used = sys.argv[1], float(sys.argv[2])
    if way == "threads":
        in_threads(used)
    else:
        until(used, shares if way == "shares" else others)
