# culprit regions: the phases of made-up programs are found, in every file that it writes; runs are
# merged; what does not fit together is named.
. tests/e2e/lib.sh

# make NAME SEED SLICES THREADS [FIRST_ID]: vectors, slices and costs of a program of four phases,
# each of ten blocks of its own; phase p takes p + 1 cycles per instruction. FIRST_ID turns the ids.
make_run() {
    python3 -S - "$scratch/$1" "$2" "$3" "$4" "${5:-0}" <<'PYTHON'
import random, sys
path, (seed, count, threads, turn) = sys.argv[1], map(int, sys.argv[2:])
rng = random.Random(seed)
bb, slices, costs = (open(path + end, "w") for end in (".bb", ".bb.slices", ".costs.csv"))
slices.write("culprit-slices 1\nisa x86_64\ncommand prog\nsize 1000\nimage 0 4f6e01 /usr/bin/prog\n"
             "process 0 42 /usr/bin/prog\n")
ids = [(b + turn) % 40 + 1 for b in range(40)]
for b in range(40):
    slices.write(f"block {b + 1} 0 {16 * ids.index(b + 1) + 256:x} 5\n")
costs.write("process,thread,first,instructions,cycles,misses\n")
total = 0
for thread in range(threads):
    first = 0
    for i in range(count // threads):
        phase = i // 7 % 4
        counts = {ids[phase * 10 + b]: 100 + b + rng.randrange(5) for b in range(10)}
        length = sum(counts.values())
        bb.write("T" + " ".join(f":{b}:{n}" for b, n in counts.items()) + "\n")
        slices.write(f"slice 0 {thread} {first} {length} 0 {160 * phase + 256:x} {i + 1}\n")
        costs.write(f"0,{thread},{first},{length},{length * (phase + 1)},{phase}\n")
        first += length
        total += length
slices.write(f"end {total}\n")
PYTHON
}
cd "$scratch" || exit 1
case $CULPRIT in /*) ;; *) CULPRIT=$OLDPWD/$CULPRIT ;; esac
make_run one 1 280 1
make_run two 2 560 4 17

finds_phases() {
    run regions one.bb -o one.csv --simpoints one.simpoints --weights one.weights \
        --labels one.labels --svg one.svg --json >one.json && python3 -S - <<'PYTHON'
import csv, json
report = json.load(open("one.json"))
labels = [int(line) for line in open("one.labels")]
points = {int(c): int(s) for s, c in map(str.split, open("one.simpoints"))}
weights = {int(c): float(w) for w, c in map(str.split, open("one.weights"))}
rows = list(csv.DictReader(line for line in open("one.csv") if line[0] != "#"))
assert [labels[i] for i in range(280)] == [i // 7 % 4 for i in range(280)]
assert len(points) == len(weights) == len(rows) == len(report["regions"]) == 4
lengths = [sum(int(pair.split(":")[1]) for pair in line[2:].split(" :"))
           for line in open("one.bb")]
for row, region in zip(rows, report["regions"]):
    cluster, slice = region["cluster"], region["slice"]
    assert row["comment"] == f"cluster {cluster}" and labels[slice] == cluster
    assert points[cluster] == slice == int(row["slice"])
    share = sum(n for n, l in zip(lengths, labels) if l == cluster) / sum(lengths)
    assert abs(float(row["region-weight"]) - share) < 1e-9 > abs(weights[cluster] - share) - 1e-9
    assert int(row["start-icount"]) == sum(lengths[:slice])
    assert int(row["region-length"]) == lengths[slice]
    assert row["start-image"] == "/usr/bin/prog" and row["start-build-id"] == "4f6e01"
    assert row["start-offset"] == hex(160 * cluster + 256) and int(row["start-count"]) == slice + 1
    if slice + 1 < 280:
        assert row["end-offset"] == hex(160 * labels[slice + 1] + 256)
        assert int(row["end-count"]) == slice + 2
    multiplier = share * sum(lengths) / lengths[slice]
    assert abs(float(row["region-multiplier"]) - multiplier) < 1e-6
assert [tried["clusters"] for tried in report["tried"] if tried["chosen"]] == [4]
PYTHON
}
check "four phases, in every file that is written" finds_phases

# Four phases with no block in common: of all in one cluster three quarters are not common (in few
# dimensions about that); with a cluster each the most that is allowed is used, but nothing is far.
forced_together() {
    run regions one.bb --max-clusters 1 --dimensions 200 --json >forced.json &&
        run regions one.bb --max-clusters 1 --dimensions 200 >forced.txt &&
        run regions one.bb --max-clusters 4 >four.txt && run regions one.bb >free.txt &&
        python3 -S - <<'PYTHON' && grep -q 'warning: all of --max-clusters 1 are used' forced.txt &&
import json
forced, free = json.load(open("forced.json")), json.load(open("one.json"))
assert forced["max_clusters_used"] and abs(forced["regions"][0]["scatter"] - 0.75) < 0.05, forced
assert not free["max_clusters_used"] and all(r["scatter"] < 0.01 for r in free["regions"]), free
PYTHON
        grep -q 'warning: cluster 0 (100.0 % of the instructions) has slices far apart' forced.txt &&
        grep -q 'warning: all of --max-clusters 4' four.txt && ! grep -q 'far apart' four.txt &&
        ! grep warning free.txt
}
check "too few clusters are warned of" forced_together

picture() {
    python3 -S - <<'PYTHON'
import xml.etree.ElementTree as tree
root = tree.parse("one.svg").getroot()
titles = [e.text for e in root.iter("{http://www.w3.org/2000/svg}title")]
assert len(titles) == 4 and titles[0].startswith("region 1, cluster "), titles
# 280 slices change their phase every 7: each stretch is a piece of one of four colours.
pieces = [e for e in root.iter("{http://www.w3.org/2000/svg}rect") if e.get("fill", "")[:1] == "#"][1:]
assert len(pieces) == 40 and len({piece.get("fill") for piece in pieces}) == 4, len(pieces)
PYTHON
}
check "the picture has the phases and the regions" picture

text_report() {
    run regions one.bb -o one.csv >out && cat out && grep -q '4 regions, .* one for each phase' out &&
        grep -qE '^ +4 +[0-9.]+ +chosen$' out &&
        grep -q 'next: culprit trace --regions one.csv -- prog' out
}
check "the text lists regions, what was tried, and what is next" text_report

# $1: of the table of slices. Words that are only joined, of a table of an earlier version, cannot be
# told apart.
next_is() {
    cp one.bb quoted.bb && awk -v command="$1" '/^command / { $0 = "command " command } { print }' \
        one.bb.slices >quoted.bb.slices && run regions quoted.bb -o quoted.csv >out && cat out && grep -qxF "next: culprit trace --regions quoted.csv -- $2" out
}
repeats_quotes() {
    next_is "prog 'a b' 'f(1)'" "prog 'a b' 'f(1)'" && next_is 'prog f(1)' COMMAND && next_is "prog it's" COMMAND
}
check "the next command has its quotes, where they are known" repeats_quotes

same_again() {
    run regions one.bb -o again.csv --json >again.json && same_file one.csv again.csv &&
        same_file one.json again.json
}
check "the same command gives the same bytes" same_again

# A processor with nothing newer than SSE3.
old_processor() {
    timeout 300 qemu-x86_64 -cpu qemu64 "$CULPRIT" regions one.bb --json >old.json &&
        same_file one.json old.json
}
what="an old processor chooses the same"
skip_without qemu-x86_64 "$what" || check "$what" old_processor

# A triangle whose projection puts the slice alone in its block next to the mean of the three: with
# other blocks (tests/unit/test_full_space.c) it is the farthest.
near() {
    printf 'T:1:100\nT:2:60 :5:40\nT:2:45 :5:55\n' >three.bb
    run regions three.bb --dimensions 1 --max-clusters 1 --json "$@" | python3 -S -c '
import json, sys
report = json.load(sys.stdin)
print(report["nearest_in"], report["regions"][0]["slice"])'
}
nearest() {
    [ "$(near)" = "projected 0" ] && [ "$(near --nearest-in full)" = "full 2" ] &&
        run regions three.bb --nearest-in full >out && grep -q 'nearest to its centroid before projection' out
}
check "the nearest to the centroid as projected, or before projection" nearest
check "... not of a pipe, which cannot be read again" fails_with 1 'no file that can be read again' \
    run regions --nearest-in full <(cat one.bb)
check "a space that is none" fails_with 2 'projected or full' run regions --nearest-in here one.bb
check "a sweep has projected distances" fails_with 2 'nearest in the projected space' \
    run regions one.bb --sweep one.costs.csv --nearest-in full

of_threads() {
    run regions two.bb --json | python3 -S -c '
import json, sys
report = json.load(sys.stdin)
assert len(report["regions"]) == 4 and report["slices"] == 560, report
assert {r["thread"] for r in report["regions"]} <= {0, 1, 2, 3}'
}
check "slices of all threads are clustered together" of_threads

# Ids of the second run are other ones, the blocks are the same: merged, there are four phases.
merges() {
    run regions --merge one.bb two.bb --json >merged.json && python3 -S - <<'PYTHON' &&
import json
report = json.load(open("merged.json"))
assert len(report["regions"]) == 4 and report["max_clusters"] == 20
assert abs(sum(r["weight"] for r in report["regions"]) - 1) < 1e-9
runs = {r["run"] for r in report["regions"]}
open("run", "w").write(str(min(runs)))
PYTHON
        run regions --merge one.bb two.bb --run "$(cat run)" -o merged.csv >/dev/null &&
        python3 -S - <<'PYTHON'
import csv, json
run, regions = int(open("run").read()), json.load(open("merged.json"))["regions"]
rows = list(csv.DictReader(line for line in open("merged.csv") if line[0] != "#"))
own = [r for r in regions if r["run"] == run]
assert [int(row["slice"]) for row in rows] == [r["slice"] for r in own]
assert abs(sum(float(row["region-weight"]) for row in rows) - sum(r["weight"] for r in own)) < 1e-6
assert sum(r["weight"] for r in own) < 0.99
PYTHON
        grep -qE '^# merged: [01] 2 [0-9]+$' merged.csv &&
        run regions --merge one.bb two.bb | grep -q '^next: culprit regions -o run0.csv --run 0 --merge one.bb two.bb$'
}
check "runs are merged by what their blocks are" merges
check "a merged list is of one run" fails_with 2 "which with --run" \
    run regions --merge one.bb two.bb -o merged.csv

loads() {
    run regions one.bb --load-simpoints one.simpoints --load-weights one.weights -o loaded.csv &&
        cut -d, -f1-15 one.csv >a && cut -d, -f1-15 loaded.csv >b && same_file a b
}
check "SimPoint's choice gets markers" loads
echo '280 0' >beyond.simpoints
echo '1 0' >beyond.weights
check "... but not of slices that are not there" fails_with 1 'beyond.simpoints: slice 280: .*280' \
    run regions one.bb --load-simpoints beyond.simpoints --load-weights beyond.weights

# 40 merged slices of a phase each.
merged_slices() {
    run regions one.bb --merge-slices 7 -o long.csv --json >long.json && python3 -S - <<'PYTHON'
import csv, json
report = json.load(open("long.json"))
rows = list(csv.DictReader(line for line in open("long.csv") if line[0] != "#"))
assert report["slices"] == 40 and len(rows) == 4
for row in rows:
    assert int(row["slice"]) % 7 == 0 and 7000 < int(row["region-length"]) < 8000
    assert int(row["end-count"] or 281) == int(row["start-count"]) + 7
PYTHON
}
check "slices are merged into longer ones" merged_slices

covered() {
    run regions one.bb --coverage 0.5 --json | python3 -S -c '
import json, sys
regions = json.load(sys.stdin)["regions"]
assert len(regions) == 2 and abs(sum(r["weight"] for r in regions) - 1) < 1e-9, regions'
}
check "half of the run has the two heaviest of four phases" covered

drawn() {
    for method in random systematic; do
        run regions one.bb --method $method --count 20 --json >a &&
            run regions one.bb --method $method --count 20 --draw 2 --json >b && ! cmp -s a b &&
            run regions one.bb --method $method --count 20 -o $method.csv >/dev/null &&
            python3 -S - $method <<'PYTHON' || return 1
import json, sys
method, slices = sys.argv[1], [r["slice"] for r in json.load(open("a"))["regions"]]
assert len(set(slices)) == 20 and slices == sorted(slices)
if method == "systematic":
    assert {b - a for a, b in zip(slices, slices[1:])} == {14}
PYTHON
    done
    run regions one.bb --method random --json | grep -c '"region":' | grep -qx 4
}
check "random and systematic draws" drawn

plain() {
    gzip -c one.bb >plain.bb.gz &&
        run regions plain.bb.gz -o plain.csv >out && cat out && grep -q 'without markers' out &&
        run regions plain.bb.gz --json | grep -c '"cluster":' | grep -qx 4
}
check "vectors without a table of slices will do" plain
check "... but not to merge" fails_with 1 'plain.bb.gz.slices: is not there' \
    run regions --merge one.bb plain.bb.gz

cp two.bb.slices other.bb.slices
cp one.bb other.bb
check "a table of another run is named" fails_with 1 \
    'other.bb: slice 0 is of [0-9]+ instructions, in other.bb.slices of' run regions other.bb
head -n 100 one.bb >fewer.bb
cp one.bb.slices fewer.bb.slices
check "fewer slices than its table" fails_with 1 'fewer.bb has fewer slices than the 280' \
    run regions fewer.bb
cat one.bb one.bb >more.bb
cp one.bb.slices more.bb.slices
check "more slices than its table" fails_with 1 'more.bb has more slices than the 280' \
    run regions more.bb
grep -v ^end one.bb.slices >fewer.bb.slices
check "... is well when the run was cut" run regions fewer.bb
check "two files are not one" fails_with 2 'two.bb: one file at a time, or --merge' \
    run regions one.bb two.bb
check "no vectors" fails_with 2 'which vectors' run regions
check "a file that is missing" fails_with 1 'missing.bb' run regions missing.bb
check "an unknown method" fails_with 2 'one of simpoint' run regions --method best one.bb
check "a threshold over 1" fails_with 2 'from 0 to 1' run regions --threshold 2 one.bb
check "a count without a draw" fails_with 2 'only with --method' run regions --count 3 one.bb

# ---- costs ----

# Phase p takes p + 1 cycles per instruction, and misses p times in a slice of a thousand.
predicts() {
    run regions one.bb --predict one.costs.csv --json | python3 -S -c '
import json, sys
report = json.load(sys.stdin)
found = report["prediction"]
assert abs(found["error"]) < 0.002, found["error"]
assert 2.4 < found["true_cpi"] < 2.6, found["true_cpi"]
misses = found["columns"][1]
assert misses["name"] == "misses" and 1.3 < misses["true_per_1000_instructions"] < 1.5, misses
assert abs(misses["predicted_per_1000_instructions"] - misses["true_per_1000_instructions"]) < 0.01
# Four of 280 slices drawn at random of CPI 1, 2, 3 or 4: the deviation of their mean is
# sqrt(1.25 / 4 * 276 / 279) = 0.556, of 2.5 cycles 22 %.
assert found["draws"] == 100 and 0.17 < found["random"]["deviation"] < 0.28, found["random"]
assert [round(c["mean_cpi"]) for c in found["clusters"]] == [1, 2, 3, 4]
assert all(c["coefficient_of_variation"] < 1e-9 for c in found["clusters"])' &&
        run regions one.bb --predict one.costs.csv >out && cat out &&
        grep -qE '^CPI 2\.[0-9]+, predicted from the regions 2\.' out && grep -q '^systematic' out
}
check "what regions predict, beside draws" predicts

# With at most k clusters, k of the four phases are told apart; from four on nothing is left to gain.
sweeps() {
    run regions one.bb two.bb --sweep one.costs.csv --sweep two.costs.csv --svg sweep.svg \
        --sweep-max-clusters 1:8 --sweep-dimensions 2,15 --sweep-thresholds 0:1:0.5 \
        --sweep-coverages 0.05,1 --json >sweep.json && python3 -S - <<'PYTHON'
import json, xml.etree.ElementTree as tree
sweep = json.load(open("sweep.json"))
assert [len(sweep[k]) for k in ("max_clusters", "dimensions", "threshold", "coverage")] == [8, 16, 24, 16]
clusters = sweep["max_clusters"]
assert [p["max_clusters"] for p in clusters] == list(range(1, 9))
assert clusters[0]["mean_error"] > 0.1 and all(p["mean_error"] < 0.002 for p in clusters[3:])
assert clusters[3]["regions"] == 8 and clusters[3]["mean_front"]
assert all(p["max_error"] >= p["mean_error"] for p in clusters)
assert clusters[3]["mean_error"] == sweep["dimensions"][11]["mean_error"]
assert sweep["dimensions"][11]["dimensions"] == 15 and sweep["dimensions"][11]["max_clusters"] == 4
# Threshold 0 takes one cluster. A twentieth of one.bb is its first 14 slices, of two phases.
assert all(p["regions"] == 2 for p in sweep["threshold"] if p["threshold"] == 0)
assert all(p["mean_error"] > 0.2 for p in sweep["coverage"] if p["coverage"] == 0.05)
assert sweep["recommended"]["max_clusters"] == 4, sweep["recommended"]
circles = tree.parse("sweep.svg").getroot().iter("{http://www.w3.org/2000/svg}circle")
assert sum(1 for _ in circles) == 2 * 64
PYTHON
}
check "the sweep, its fronts and what it recommends" sweeps
sweep_text() {
    run regions one.bb --sweep one.costs.csv --sweep-max-clusters 1:6 --sweep-dimensions 15 \
        --sweep-thresholds 0.9 --sweep-coverages 1 >out && cat out &&
        grep -q '^24 settings, each of 1 input$' out && grep -qx '  --max-clusters 4' out
}
check "... as text" sweep_text

# Seven slices at a time cost what the seven did.
merged_costs() {
    run regions one.bb --predict one.costs.csv --merge-slices 7 --json | python3 -S -c '
import json, sys
found = json.load(sys.stdin)["prediction"]
assert 2.4 < found["true_cpi"] < 2.6 and abs(found["error"]) < 0.002, found'
}
check "costs of merged slices" merged_costs

(head -n 1 one.costs.csv; tail -n +2 one.costs.csv | sort -R --random-source=one.bb) >shuffled.csv
shuffled() {
    run regions one.bb --predict one.costs.csv --json >a &&
        run regions one.bb --predict shuffled.csv --json >b && same_file a b
}
check "lines of costs in any order" shuffled
head -n 200 one.costs.csv >some.csv
check "slices without costs" fails_with 1 'some.csv: has the costs of 0 instructions of slice 199' \
    run regions one.bb --predict some.csv
check "costs of another run" fails_with 1 'two.costs.csv: line [0-9]+: (of no slice|reaches beyond)' \
    run regions one.bb --predict two.costs.csv
check "not costs" fails_with 1 'one.csv: line 7: not costs of slices' \
    run regions one.bb --predict one.csv
sed 's/misses/hits/' two.costs.csv >hits.csv
check "costs of other columns" fails_with 1 'hits.csv: line 1: not the columns' \
    run regions --merge one.bb two.bb --predict one.costs.csv --predict hits.csv
check "costs for each file" fails_with 2 'once for each FILE.bb' \
    run regions --merge one.bb two.bb --predict one.costs.csv
check "a list that falls" fails_with 2 'whole numbers from 1' \
    run regions one.bb --sweep one.costs.csv --sweep-max-clusters 3,2
check "a sweep writes no list" fails_with 2 'no list of regions' \
    run regions one.bb --sweep one.costs.csv -o list.csv

# ---- a real program, with slices and costs of one trace ----

real_run() {
    run trace --stop --limit 3M -o real.ctrace -- gzip -9 -c /bin/bash >/dev/null &&
        run bbv --size 100K -o real.bb real.ctrace &&
        run sim --slices real.costs.csv --slices-like real.bb.slices real.ctrace >/dev/null &&
        run regions real.bb --predict real.costs.csv -o real.csv --json >real.json &&
        python3 -S - <<'PYTHON'
import csv, json
report = json.load(open("real.json"))
costs = list(csv.DictReader(open("real.costs.csv")))
found = report["prediction"]
cycles, instructions = (sum(int(row[key]) for row in costs) for key in ("cycles", "instructions"))
assert instructions == report["instructions"] == 3000000
assert abs(found["true_cpi"] - cycles / instructions) < 1e-9
predicted = sum(region["weight"] * int(row["cycles"]) / int(row["instructions"])
                for region in report["regions"] for row in [costs[region["slice"]]])
assert abs(found["predicted_cpi"] - predicted) < 1e-9
assert len(found["columns"]) == len(costs[0]) - 4
rows = list(csv.DictReader(line for line in open("real.csv") if line[0] != "#"))
assert all(row["start-count"] and row["start-image"] for row in rows)
PYTHON
}
check "slices of a real program, and what they cost" real_run

cd "$OLDPWD" || exit 1
finish
