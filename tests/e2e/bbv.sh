# culprit bbv: the same run gives the same files, a trace gives them too, threads keep their places,
# and counts are what a program of known counts must have.
. tests/e2e/lib.sh

bare="-static -nostdlib -ffreestanding -fno-stack-protector -fno-pie -no-pie -fcf-protection=none -mno-sse"
# shellcheck disable=SC2086
cc -O1 -o "$scratch/loop" tests/guests/bare_loop.c $bare || exit 1
# shellcheck disable=SC2086
cc -O1 -o "$scratch/rep" tests/guests/bare_rep.c $bare || exit 1
cc -O1 -pthread -o "$scratch/threads" tests/guests/threads.c || exit 1
cc -O1 -pthread -o "$scratch/sleepers" tests/guests/sleepers.c || exit 1
cc -O1 -pthread -o "$scratch/dies" tests/guests/dies.c || exit 1
ulimit -c 0
seq 20000 >"$scratch/input"
gzip=$(command -v gzip)

# A run in an environment that is always the same; processes are numbered by the system.
profile() {
    local name=$1
    shift
    env -i PATH="$PATH" CULPRIT="$CULPRIT" timeout 300 "$CULPRIT" bbv -o "$scratch/$name" "$@" \
        >/dev/null 2>"$scratch/err"
    local status=$?
    cat "$scratch/err"
    return $status
}
same_profile() {
    same_file "$scratch/$1" "$scratch/$2" &&
        diff <(grep -v '^process' "$scratch/$1.slices") <(grep -v '^process' "$scratch/$2.slices")
}

# Vectors and table agree, slices follow each other and are about as long as asked for, and the
# marker of one is reached after that of the slice before.
consistent() {
    python3 -S - "$scratch/$1" "$2" <<'PYTHON'
import gzip, sys
path, size = sys.argv[1], int(sys.argv[2])
opened = gzip.open(path, "rt") if path.endswith(".gz") else open(path)
vectors = [dict(tuple(map(int, entry.split(":"))) for entry in line[2:].split(" :"))
           for line in opened]
insns, slices, end = {}, [], None
for line in open(path + ".slices"):
    word = line.split()
    if word[0] == "block":
        insns[int(word[1])] = int(word[4])
    elif word[0] == "slice":
        slices.append(list(map(int, word[2:5])) + word[5:7] + [int(word[7])])
    elif word[0] == "end":
        end = int(word[1])
assert len(vectors) == len(slices) and slices
assert end == sum(length for _, _, length, _, _, _ in slices), "end"
position, counts = {}, {}
for i, (vector, (thread, first, length, image, offset, count)) in enumerate(zip(vectors, slices)):
    assert sum(vector.values()) == length, "length"
    assert all(times % insns[block] == 0 for block, times in vector.items()), "whole blocks"
    assert i == 0 or thread >= slices[i - 1][0], "order"
    assert first == position.get(thread, first), "place"
    last = i + 1 == len(slices) or slices[i + 1][0] != thread
    assert last or size <= length < size + max(512, size // 50), length  # a slice ends where a loop can
    assert count > counts.get((thread, image, offset), 0), "marker"
    position[thread], counts[thread, image, offset] = first + length, count
PYTHON
}

deterministic() {
    profile a.bb --size 100K -- "$gzip" -9 -c "$scratch/input" &&
        profile b.bb --size 100K -- "$gzip" -9 -c "$scratch/input" && same_profile a.bb b.bb &&
        consistent a.bb 100000
}
check "two runs give the same vectors and slices" deterministic

from_trace() {
    env -i PATH="$PATH" CULPRIT="$CULPRIT" timeout 300 "$CULPRIT" trace "$@" -o "$scratch/t.ctrace" -- \
        "$gzip" -9 -c "$scratch/input" >/dev/null &&
        profile t.bb --size 100K "$scratch/t.ctrace" && same_profile a.bb t.bb
}
check "a trace gives the same" from_trace
check "... also without addresses" from_trace --no-addresses

compressed() {
    profile c.bb.gz --size 100K -- "$gzip" -9 -c "$scratch/input" &&
        consistent c.bb.gz 100000 && zcat "$scratch/c.bb.gz" | cmp - "$scratch/a.bb"
}
check "vectors can be compressed" compressed

threads() {
    profile th.bb --size 5K -- "$scratch/threads" 20 && consistent th.bb 5000 &&
        [ "$(grep '^slice' "$scratch/th.bb.slices" | cut -d' ' -f3 | uniq | wc -l)" = 21 ] &&
        profile one.bb --size 5K --thread 3 -- "$scratch/threads" 20 &&
        [ "$(grep '^slice' "$scratch/one.bb.slices" | cut -d' ' -f3 | sort -u)" = 0 ]
}
check "threads follow each other; one can be chosen" threads
limited() { # limited COMMAND...
    local size
    for size in 1K 10M; do
        profile lim.bb --size $size --limit 300K -- "$@" &&
            python3 -S - "$scratch/lim.bb.slices" <<'END' || return 1
import sys
end = [int(line.split()[1]) for line in open(sys.argv[1]) if line.startswith("end")]
assert 300000 <= end[0] < 400000, end
END
    done
}
check "--limit with threads that sleep: so many instructions, and little more" limited "$scratch/sleepers" 24 1000
check "... also of a program that calls exec" limited sh -c 'exec gzip -c /bin/bash'
after_exec() {
    profile ex.bb --size 10K --skip 200K --limit 150K -- sh -c 'exec env env true' &&
        python3 -S - "$scratch/ex.bb.slices" <<'END'
import sys
lines = [line.split() for line in open(sys.argv[1])]
end = [int(line[1]) for line in lines if line[0] == "end"]
assert 150000 <= end[0] < 160000, end
assert len({line[1] for line in lines if line[0] == "slice"}) > 1, "of one program only"
END
}
check "--skip and --limit count over programs that exec starts" after_exec

riscv64() {
    profile r.bb --size 1M -- "$WORKLOADS/riscv64/threads" && consistent r.bb 1000000 &&
        grep -qx 'isa riscv64' "$scratch/r.bb.slices"
}
skip_without riscv64-workloads "a riscv64 program with threads" ||
    check "a riscv64 program with threads" riscv64

followed() {
    profile f.bb --size 10K --follow -- sh -c "cat $scratch/input | head -1; exit 5"
    [ $? = 5 ] && [ "$(grep -c '^process' "$scratch/f.bb.slices")" -ge 4 ] &&
        [ "$(grep '^slice' "$scratch/f.bb.slices" | cut -d' ' -f2 | sort -u | wc -l)" -ge 3 ]
}
check "processes are followed on request, the exit status kept" followed

# Three slices and the half of one, behind the first million.
window() {
    profile w.bb --size 100K --skip 1M --limit 350K -- "$gzip" -9 -c "$scratch/input" &&
        grep '^slice' "$scratch/w.bb.slices" | tee /dev/stderr |
        awk 'NR == 1 && ($4 < 1e6 || $4 > 1.03e6) { exit 1 }
            { sum += $5 } END { exit !(NR == 4 && sum >= 350e3 && sum < 353e3) }'
}
check "a window of the run" window

deaths() {
    local cause
    for cause in abort null kill divide; do
        "$scratch/dies" $cause >/dev/null 2>&1
        local native=$?
        profile d.bb --size 10K -- "$scratch/dies" $cause
        [ $? = $native ] || return 1
        env -i PATH="$PATH" CULPRIT="$CULPRIT" "$CULPRIT" trace --no-addresses -o "$scratch/d.ctrace" \
            -- "$scratch/dies" $cause >/dev/null 2>&1
        profile e.bb --size 10K "$scratch/d.ctrace" && same_profile d.bb e.bb || return 1
    done
}
check "a program that dies is profiled to its last instruction" deaths

# The loop runs 1000 times and calls mix each time: one entry, one return. The stores behind the test
# of a random bit are executed as often as natively, which single steps tell.
known_counts() {
    profile l.bb --size 1K --counts "$scratch/l.csv" -- "$scratch/loop"
    [ $? = 7 ] || return 1
    python3 -S - "$scratch/l.csv" "$(nm "$scratch/loop" | awk '$3 == "mix" { print $1 }')" \
        "$(readelf -lW "$scratch/loop" | awk '$1 == "LOAD" && / E / { print $2, $3 }')" <<'PYTHON'
import csv, sys
offset, address = (int(number, 16) for number in sys.argv[3].split())
mix = int(sys.argv[2], 16) - address + offset
x, odd = 1, 0
for _ in range(1000):
    x = (x * 6364136223846793005 + 1442695040888963407) % 2**64
    odd += x % 2
rows = list(csv.DictReader(open(sys.argv[1])))
place = lambda row: int(row["offset"], 16)
times = {place(row): int(row["times"]) for row in rows if row["kind"] == "instruction"}
edges = [row for row in rows if row["kind"] == "edge"]
blocks = [row for row in rows if row["kind"] == "block"]
assert times[mix] == 1000
into = [row for row in edges if int(row["to-offset"], 16) == mix]
assert [(row["how"], row["times"]) for row in into] == [("taken", "1000")], into
back = [row for row in edges if row["how"] == "indirect" and mix <= place(row) < mix + 64]
assert [row["times"] for row in back] == ["1000"], back
assert odd in times.values() and 999 in [int(row["times"]) for row in edges]
assert sum(times.values()) == sum(int(row["times"]) * int(row["instructions"]) for row in blocks)
PYTHON
}
check "counts of blocks, edges and instructions" known_counts

as_json() {
    profile j.bb --size 1K --json --counts "$scratch/j.json" -- "$scratch/loop"
    python3 -S - "$scratch/j.json" "$scratch/err" "$scratch/l.csv" <<'PYTHON'
import csv, json, sys
counts, summary = json.load(open(sys.argv[1])), json.load(open(sys.argv[2]))
rows = list(csv.DictReader(open(sys.argv[3])))
for kind in "blocks", "edges", "instructions":
    assert [item["times"] for item in counts[kind]] == \
        [int(row["times"]) for row in rows if row["kind"] + "s" == kind]
assert counts["images"][counts["blocks"][0]["image"]]["path"].endswith("/loop")
assert summary["instructions"] == sum(item["times"] for item in counts["instructions"])
assert summary["slice_count"] == 18 and not summary["partial"]
PYTHON
}
check "counts and summary as JSON" as_json

# A rep instruction counts once: 16 of them, see the source.
rep_counts() {
    profile p.bb --size 1K --counts "$scratch/p.csv" -- "$scratch/rep" &&
        profile q.bb --size 1K -- "$scratch/rep" && same_profile p.bb q.bb
}
check "rep instructions count once" rep_counts

# The emulator's processor and valgrind's differ in what the loader and libc choose, but not in what
# gzip itself does, but for the names in its environment.
like_callgrind() {
    (cd "$scratch" && timeout 300 valgrind --tool=callgrind --callgrind-out-file="$scratch/cg" \
        --dump-instr=yes "$gzip" -9 -c "$scratch/input" >/dev/null 2>&1) &&
        profile v.bb --counts "$scratch/v.csv" -- "$gzip" -9 -c "$scratch/input" &&
        callgrind_annotate --show=Ir "$scratch/cg" 2>/dev/null | grep -q . &&
        python3 -S - "$scratch/cg" "$scratch/v.csv" "$gzip" <<'PYTHON'
import csv, os, re, sys
gzip = os.path.realpath(sys.argv[3])
theirs, names, inside, calls = 0, {}, False, False
for line in open(sys.argv[1]):
    found = re.match(r"ob=\((\d+)\)(?: (.*))?", line)
    if found:
        if found[2]:
            names[found[1]] = found[2].strip()
        inside = os.path.realpath(names[found[1]]) == gzip
    elif line.startswith("calls="):
        calls = True
    elif re.match(r"cob=\((\d+)\) (.*)", line):
        found = re.match(r"cob=\((\d+)\) (.*)", line)
        names[found[1]] = found[2].strip()
    elif re.match(r"(0x|[+*-])", line):
        if not calls and inside:
            theirs += int(line.split()[-1])
        calls = False
ours = sum(int(row["times"]) for row in csv.DictReader(open(sys.argv[2]))
           if row["kind"] == "instruction" and os.path.realpath(row["image"]) == gzip)
print(ours, theirs)
assert abs(ours - theirs) <= 200, "instructions of gzip"
PYTHON
}
skip_without valgrind "instructions of gzip as callgrind counts them" ||
    check "instructions of gzip as callgrind counts them" like_callgrind

to_regions() {
    run regions -o "$scratch/a.csv" "$scratch/a.bb" >/dev/null || return 1
    env -i PATH="$PATH" CULPRIT="$CULPRIT" timeout 300 "$CULPRIT" trace --regions "$scratch/a.csv" \
        -o "$scratch/a" -- "$gzip" -9 -c "$scratch/input" >/dev/null 2>"$scratch/said" || return 1
    cat "$scratch/said"
    grep -q ' +0 ' "$scratch/said" && ! grep -q 'skew up to' "$scratch/said"
}
check "regions chosen from the vectors are found again, to the instruction" to_regions

check "nothing to do" fails_with 2 "what to profile" run bbv
check "slices that are too short" fails_with 2 "from 1000" run bbv --size 999 x.ctrace
check "a file that cannot be written" fails_with 125 "/nonexistent/x.bb" \
    run bbv -o /nonexistent/x.bb -- touch "$scratch/ran"
check "... before the command runs" test ! -e "$scratch/ran"
check "a trace that is missing" fails_with 1 "missing.ctrace" run bbv -o "$scratch/m.bb" missing.ctrace
check "a command that is missing leaves no file" fails_with 127 "nosuchcommand" \
    run bbv -o "$scratch/none.bb" -- nosuchcommand
check "... indeed" test ! -e "$scratch/none.bb"

# A file system without room: what cannot be written at all leaves no file.
full=$scratch/full
leaves_nothing() {
    run "$@" -- "$WORKLOADS/x86_64/branchy" >/dev/null 2>"$scratch/said"
    local status=$?
    cat "$scratch/said"
    ls "$full"
    [ $status = 125 ] && grep -q 'cannot write.*No space left' "$scratch/said" && [ "$(ls "$full")" = filler ]
}
if mkdir "$full" && mount -t tmpfs -o size=64k none "$full" 2>"$scratch/.mount"; then
    dd if=/dev/zero of="$full/filler" bs=4k >/dev/null 2>&1
    check "vectors that find no room leave no file" leaves_nothing bbv --limit 100k --size 10k -o "$full/x.bb"
    check "... nor does a trace" leaves_nothing trace --limit 100k -o "$full/x.ctrace"
    umount "$full"
else
    skip "vectors that find no room leave no file" "$(head -n 1 "$scratch/.mount")"
    skip "... nor does a trace" "$(head -n 1 "$scratch/.mount")"
fi
finish
