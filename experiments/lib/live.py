"""What the experiments on the cost of sampling a live machine share."""
import os
import shutil
import statistics


def workloads(scratch):
    """Name, command."""
    text = os.path.join(scratch, "text")
    source = os.path.join(scratch, "source.c")
    with open(text, "wb") as out:
        for folder, _, names in sorted(os.walk("/usr/include")):
            for name in sorted(names):
                if name.endswith(".h") and out.tell() < 6000000:
                    with open(os.path.join(folder, name), "rb") as header:
                        out.write(header.read())
    with open(source, "w") as out:
        out.write("#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n")
        for i in range(60):
            out.write(f"int f{i}(int *a, int n) {{ int s = 0; for (int i = 0; i < n; i++) "
                      f"s += a[i] * {i} ^ (a[i] >> {i % 31}); return s; }}\n")
    true = shutil.which("true")
    yield "steady: gzip -9", ["gzip", "-9", "-c", text]
    yield "storm: a shell that starts /bin/true", [
        "sh", "-c", f"i=0; while [ $i -lt 1000 ]; do {true}; i=$((i+1)); done"]
    yield "compilation: gcc -O1, again and again", [
        "sh", "-c", f"i=0; while [ $i -lt 8 ]; do gcc -O1 -c -o {source}.o {source}; "
                    "i=$((i+1)); done"]


def interval(values, draws):
    """Median, and what holds 95 of 100 medians of values drawn from these."""
    medians = sorted(statistics.median(draws.choices(values, k=len(values))) for _ in range(2000))
    return statistics.median(values), medians[50], medians[1949]
