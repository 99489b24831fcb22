# Regular expressions: search, substitution with a function, splitting.
import re

NUMBER = re.compile(r"[0-9]+")
PAIR = re.compile(r"(\w+)=(\w+)")


def make_text(lines):
    return "\n".join("key%d=value%d and other words %d" % (i, i * 7, i * i) for i in range(lines))


def find_numbers(text):
    total = 0
    for match in NUMBER.finditer(text):
        total += int(match.group())
    return total


def swap(match):
    return match.group(2) + "=" + match.group(1)


def substitute(text):
    return PAIR.sub(swap, text)


def split(text):
    count = 0
    for line in text.splitlines():
        count += len(re.split(r"\s+", line))
    return count


text = make_text(600)
print(find_numbers(text), len(substitute(text)), split(text))
