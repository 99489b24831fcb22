# Three threads with a queue, and text.
import queue
import threading


def produce(out, count):
    for i in range(count):
        out.put("line %d of %d" % (i, count))
    out.put(None)


def words_of(line):
    return line.upper().replace("LINE", "row").split(" ")


def consume(source, results):
    while True:
        line = source.get()
        if line is None:
            break
        for word in words_of(line):
            results[word] = results.get(word, 0) + 1


def numbers(results, count):
    total = 0
    for i in range(count):
        total += i ^ (total & 255)
    results["total"] = total


lines, results = queue.Queue(), {}
threads = [threading.Thread(target=produce, args=(lines, 400)),
           threading.Thread(target=consume, args=(lines, results)),
           threading.Thread(target=numbers, args=(results, 4000))]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len(results), results["total"])
