"""Do the vectors of `culprit bbv` and those of valgrind's exp-bbv cluster to the same phases? Into
docs/results/bbv.md.    python3 -B experiments/bbv-valgrind.py

Both profile the same command in slices of a million instructions, and `culprit regions` chooses from
both. The adjusted Rand index of the two labellings is 1 when they are the same but for the names of
the clusters, and 0 on average when they have nothing to do with each other (Hubert, Arabie 1985).
What k-means itself leaves to chance shows between two seeds on the same vectors.

The index takes all clusters to be equally different. By how much they differ is in the spread: how much
of the variance of bbv's vectors is left within the clusters, its own and exp-bbv's."""
import collections
import os
import shutil
import subprocess
import sys
import tempfile

from lib import page
from lib.run import CULPRIT, ENVIRONMENT, ROOT, workload

SIZE = 1000000
SEEDS = range(1, 6)
MOST = 30, 5  # clusters


def programs(scratch):
    """Name, command."""
    text = os.path.join(scratch, "text")
    with open(text, "wb") as out:
        for name in sorted(os.listdir("/usr/include/linux")):
            path = os.path.join("/usr/include/linux", name)
            if os.path.isfile(path):
                with open(path, "rb") as header:
                    out.write(header.read())
    with open(text, "rb+") as out:
        out.truncate(2000000)
    yield "gzip -9", ["gzip", "-9", "-c", text]
    yield "bzip2 -9", ["bzip2", "-9", "-c", text]
    yield "xz -1", ["xz", "-1", "-T1", "-c", text]
    yield "sort", ["sort", "--parallel=1", text]
    yield "perl", ["perl", "-ne", "$n{$_}++ for split; END { print scalar(keys %n), qq(\\n) }", text]
    yield "python3", ["python3", "-S", "-c", "import re; t = open(r'%s').read(600000); print("
                      "len(re.findall(r'\\w+', t)), len(sorted(t.split())), "
                      "sum(hash(w) %% 7 for w in t.split()))" % text]
    for name in ("interpreter", "hashjoin", "quadtree"):
        yield name, [workload(name, "x86_64")]


def call(line, **options):
    done = subprocess.run(line, env=ENVIRONMENT, stdin=subprocess.DEVNULL, cwd=ROOT,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=900, **options)
    if done.returncode:
        sys.exit(f"status {done.returncode} of {' '.join(line)}:\n{done.stderr.decode()}")


def labels(vectors, seed, most, scratch):
    """The cluster of each slice."""
    path = os.path.join(scratch, "labels")
    call([CULPRIT, "regions", "--seed", str(seed), "--maxk", str(most), "--labels", path, vectors])
    with open(path) as lines:
        return [line.split()[0] for line in lines]


def adjusted_rand_index(a, b):
    def pairs(groups):
        return sum(n * (n - 1) / 2 for n in collections.Counter(groups).values())

    together, of_a, of_b, total = pairs(zip(a, b)), pairs(a), pairs(b), len(a) * (len(a) - 1) / 2
    expected = of_a * of_b / total
    most = (of_a + of_b) / 2
    return 1.0 if most == expected else (together - expected) / (most - expected)


def shares_of(path):
    """The vectors, each with the sum 1."""
    vectors = []
    with open(path) as lines:
        for line in lines:
            pairs = [entry.split(":") for entry in line[2:].split(" :")]
            whole = sum(int(count) for _, count in pairs)
            vectors.append({block: int(count) / whole for block, count in pairs})
    return vectors


def spread(vectors, groups):
    """The sum of squared distances to the centroids."""
    centroids, sizes = collections.defaultdict(collections.Counter), collections.Counter(groups)
    for vector, group in zip(vectors, groups):
        centroids[group].update(vector)
    squares = sum(value * value for vector in vectors for value in vector.values())
    return squares - sum(value * value / sizes[group] for group, centroid in centroids.items()
                         for value in centroid.values())


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def measure(command, scratch):
    ours, theirs = os.path.join(scratch, "ours.bb"), os.path.join(scratch, "theirs.bb")
    call([CULPRIT, "bbv", "--size", str(SIZE), "-o", ours, "--"] + command)
    call(["valgrind", "--tool=exp-bbv", f"--interval-size={SIZE}", f"--bb-out-file={theirs}",
          f"--pc-out-file={os.path.join(scratch, 'pc')}"] + command)
    vectors = shares_of(ours)
    figures = [len(vectors)]
    for most in MOST:
        of_ours = [labels(ours, seed, most, scratch) for seed in SEEDS]
        of_theirs = [labels(theirs, seed, most, scratch) for seed in SEEDS]
        slices = min(len(of_ours[0]), len(of_theirs[0]))
        all_alike = spread(vectors[:slices], [0] * slices)

        def index(a, b):
            return adjusted_rand_index(a[:slices], b[:slices])

        def left(groups):
            return mean(spread(vectors[:slices], of[:slices]) for of in groups) / all_alike

        def between_seeds(of):
            return mean(index(of[i], of[k]) for i in range(len(of)) for k in range(i))

        figures += [mean(len(set(of)) for of in of_ours), mean(len(set(of)) for of in of_theirs),
                    mean(index(a, b) for a in of_ours for b in of_theirs), between_seeds(of_ours),
                    between_seeds(of_theirs), left(of_ours), left(of_theirs)]
    return figures


def main():
    if not shutil.which("valgrind"):
        sys.exit("valgrind is not installed")
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        for name, command in programs(scratch):
            print(name, file=sys.stderr)
            rows.append((name, measure(command, scratch)))
    measured = "## The phases that valgrind's vectors give\n\n"
    measured += (f"Slices of {SIZE // 1000000} M instructions, clustered with {len(SEEDS)} seeds; "
                 f"means. ARI: adjusted Rand index. Left: of the variance of bbv's vectors, within the "
                 f"clusters.\n")
    for i, most in enumerate(MOST):
        at = 1 + 7 * i
        cells = [(name, row[0], f"{row[at]:.1f}", f"{row[at + 1]:.1f}",
                  *(f"{value:.3f}" for value in row[at + 2:at + 5]),
                  *(page.percent(value) for value in row[at + 5:at + 7])) for name, row in rows]
        means = [mean(row[k] for _, row in rows) for k in range(at + 2, at + 7)]
        cells.append(("**mean**", "", "", "", *(f"{value:.3f}" for value in means[:3]),
                      *(page.percent(value) for value in means[3:])))
        measured += f"\nAt most {most} clusters:\n\n"
        measured += page.table(["program", "slices", "clusters, bbv", "exp-bbv", "ARI", "bbv, seeds",
                                "exp-bbv, seeds", "left, bbv, %", "exp-bbv, %"], cells)
    page.write("bbv", "experiments/bbv-valgrind.py", measured)


main()
