# Exceptions, recursion, context managers, closures.
import contextlib


class Stop(Exception):
    pass


def depth(n):
    if n == 0:
        raise Stop
    return depth(n - 1) + 1


def catches(times):
    caught = 0
    for i in range(times):
        try:
            depth(i % 20)
        except Stop:
            caught += 1
        finally:
            caught += 0
    return caught


@contextlib.contextmanager
def counted(log):
    log.append("in")
    try:
        yield log
    finally:
        log.append("out")


def contexts(times):
    log = []
    for _ in range(times):
        with counted(log):
            pass
    return len(log)


def adders(count):
    functions = [lambda value, add=i: value + add for i in range(count)]
    total = 0
    for function in functions * 20:
        total = function(total)
    return total


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


print(catches(400), contexts(500), adders(60), fibonacci(15))
