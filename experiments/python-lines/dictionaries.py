# Dictionaries: counting words, grouping, inverting, sets.
def make_words(count):
    words = []
    state = 12345
    for _ in range(count):
        state = (state * 1103515245 + 12345) % 2147483648
        words.append("w%d" % (state % 701))
    return words


def count_words(words):
    counts = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    return counts


def group(words):
    groups = {}
    for word in words:
        groups.setdefault(len(word), []).append(word)
    return groups


def invert(counts):
    inverted = {}
    for word, count in counts.items():
        if count not in inverted:
            inverted[count] = set()
        inverted[count].add(word)
    return inverted


words = make_words(8000)
counts = count_words(words)
print(len(group(words)), len(invert(counts)), max(counts.values()))
