# Generators: chains of them, yield from, send, comprehensions.
def numbers(n):
    for i in range(n):
        yield i


def odd(source):
    for n in source:
        if n % 2:
            yield n


def squares(source):
    for n in source:
        yield n * n


def flatten(tree):
    for item in tree:
        if isinstance(item, list):
            yield from flatten(item)
        else:
            yield item


def averager():
    total, count, value = 0, 0, None
    while True:
        value = yield value
        total += value
        count += 1
        value = total / count


def averages(n):
    mean = averager()
    next(mean)
    last = 0
    for i in range(n):
        last = mean.send(i)
    return last


def make_tree(depth):
    return [depth] if depth == 0 else [make_tree(depth - 1), depth, make_tree(depth - 1)]


print(sum(squares(odd(numbers(5000)))), sum(flatten(make_tree(8))), averages(2500))
