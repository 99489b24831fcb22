# Profiles to and from other tools: pprof, perf script, flame graphs.
. tests/e2e/lib.sh
export CULPRIT_STORE=$scratch/profiles.db
export XDG_CACHE_HOME=$scratch/cache # of how late samples are
export LC_ALL=C.UTF-8

# 30 samples of two processes in a file that is not here, the kernel and nowhere.
fixture() {
    local i
    echo '# hostname : here'
    echo 'a 7 1.000000: PERF_RECORD_MMAP2 7/7: [0x10000(0x2000) @ 0x3000 <0a0b>]: r-xp /nowhere/a'
    for i in $(seq 20); do
        echo "a 7 1.0000$i:     1000 cycles:u:            10010 first+0x10 (/nowhere/a)"
    done
    for i in $(seq 7); do
        printf 'my shell 9 2.0000%s: 1000 cycles:u: \n\tffffffff81000010 do_it(int)+0x10 ([kernel.kallsyms])\n\n' "$i"
    done
    for i in $(seq 3); do
        echo "my shell 9 3.0000$i:     1000 cycles:u:             1234 [unknown] ([unknown])"
    done
}
fixture >"$scratch/fixture.txt"

imports_perf_script() {
    run epochs import "$scratch/fixture.txt" >"$scratch/said" || return 1
    cat "$scratch/said"
    grep -q '^imported 30 records as epoch 1 into .*: 2 processes, 3 images, 1 event$' "$scratch/said" &&
        grep -q '^next: culprit top --epoch 1$' "$scratch/said" && run epochs | tee "$scratch/list" &&
        grep -qE ' 30 +10\.00% ' "$scratch/list" &&
        grep -q 'imported on here: cycles every 1,000 cycles, 30 samples' "$scratch/list"
}
check "imports the text of perf script" imports_perf_script

imports_standard_input() {
    gzip -c "$scratch/fixture.txt" | run epochs import - | grep -q '^imported 30 records as epoch 2 '
}
check "imports standard input, compressed" imports_standard_input

folded() {
    run epochs export --epoch 1 --format folded - >"$scratch/folded" &&
        sort "$scratch/folded" | diff - <(printf '%s\n' 'a;/nowhere/a;first 20' \
            'my shell;[kernel];do_it(int) 7' 'my shell;[unknown];[unknown] 3')
}
check "exports folded stacks" folded

perf_script() {
    run epochs export --epoch 1 --format perf-script "$scratch/again.txt" &&
        grep -q '^# one sample of cycles: 1000$' "$scratch/again.txt" &&
        grep -qE '^a [0-9]+ \[000\] [0-9]+\.[0-9]{6}: +20000 cycles: $' "$scratch/again.txt" &&
        run epochs import "$scratch/again.txt" && run epochs export --format folded - --epoch 3 |
        sort | diff - <(sort "$scratch/folded")
}
check "exports as perf script prints, and reads that again" perf_script

# Reads what culprit wrote with a decoder of its own, by field numbers.
pprof_decodes() {
    run epochs export --epoch 1 --format pprof "$scratch/one.pb.gz" && python3 -S - "$scratch/one.pb.gz" <<'PYTHON'
import gzip, sys
def number(data, at):
    value = shift = 0
    while True:
        byte = data[at]; at += 1
        value |= (byte & 127) << shift; shift += 7
        if byte < 128:
            return value, at
def fields(data):
    at, found = 0, {}
    while at < len(data):
        tag, at = number(data, at)
        value, at = number(data, at)
        if tag & 7 == 2:
            value, at = data[at:at + value], at + value
        found.setdefault(tag >> 3, []).append(value)
    return found
def packed(data):
    at, values = 0, []
    while at < len(data):
        value, at = number(data, at)
        values.append(value)
    return values
profile = fields(gzip.open(sys.argv[1]).read())
text = [string.decode() for string in profile[6]]
assert text[0] == ""
types = [fields(entry) for entry in profile[1]]
assert [(text[t[1][0]], text[t[2][0]]) for t in types] == [("samples", "count"), ("cycles", "count")]
functions = {f[1][0]: text[f[2][0]] for f in map(fields, profile[5])}
mappings = {m[1][0]: m for m in map(fields, profile[3])}
locations = {l[1][0]: l for l in map(fields, profile[4])}
told = set()
for sample in map(fields, profile[2]):
    location = locations[packed(sample[1][0])[0]]
    mapping = mappings[location[2][0]]
    name = functions[fields(location[4][-1])[1][0]] if 4 in location else None
    labels = {text[l[1][0]]: text[l[2][0]] for l in map(fields, sample[3])}
    offset = location[3][0] - mapping.get(2, [0])[0] + mapping.get(4, [0])[0]
    assert mapping[2][0] <= location[3][0] < mapping[3][0] or name is None
    told.add((labels["process"], labels["event"], text[mapping[5][0]],
              text[mapping[6][0]] if 6 in mapping else "", name, tuple(packed(sample[2][0]))))
    assert name != "first" or offset == 0x3010
assert told == {("a", "cycles", "/nowhere/a", "0a0b", "first", (20, 20000)),
                ("my shell", "cycles", "[kernel]", "", "do_it(int)", (7, 7000)),
                ("my shell", "cycles", "[unknown]", "", None, (3, 3000))}, told
assert text[next(map(fields, profile[3]))[5][0]] == "/nowhere/a"  # the main program is first
assert profile[10] == [2000011000] or profile[10][0] > 0
assert text[fields(profile[11][0])[1][0]] == "cycles" and profile[12] == [1000]
PYTHON
}
check "exports for pprof" pprof_decodes

pprof_again() {
    run epochs import "$scratch/one.pb.gz" | grep -q '^imported 3 records as epoch 4 ' &&
        run epochs export --epoch 4 --format folded - | sort | diff - <(sort "$scratch/folded") &&
        run epochs export --epoch 4 --format pprof "$scratch/two.pb.gz" &&
        same_file "$scratch/one.pb.gz" "$scratch/two.pb.gz"
}
check "reads a pprof profile, and writes the same bytes again" pprof_again

go_reads() {
    HOME=$scratch go tool pprof -top "$scratch/one.pb.gz" >"$scratch/top" 2>&1 || { cat "$scratch/top"; return 1; }
    HOME=$scratch go tool pprof -sample_index=samples -traces "$scratch/one.pb.gz" >"$scratch/traces" 2>&1 &&
        HOME=$scratch go tool pprof -raw "$scratch/one.pb.gz" >"$scratch/raw" 2>&1 || return 1
    cat "$scratch/top" "$scratch/traces"
    grep -q '^File: a$' "$scratch/top" && grep -q '^Build ID: 0a0b$' "$scratch/top" &&
        grep -qE '^ +20000 66\.67% .* first$' "$scratch/top" &&
        grep -qE '^ +7000 23\.33% .* do_it\(int\)$' "$scratch/top" &&
        grep -qE '^ +process: +my shell$' "$scratch/traces" &&
        grep -q '^samples/count cycles/count$' "$scratch/raw"
}
skip_without go "go tool pprof reads it" || check "go tool pprof reads it" go_reads

# Simulated profiles: cycles and what they were spent on.
simulated() {
    run sim --limit 200k --save --machine zen4 -- "$WORKLOADS/x86_64/branchy" 2>"$scratch/said" >/dev/null
    cat "$scratch/said"
    run epochs export --format pprof "$scratch/sim.pb.gz" && run epochs export --format folded "$scratch/sim.folded" &&
        grep -qE '^branchy;.*;main [0-9]+$' "$scratch/sim.folded" && zcat "$scratch/sim.pb.gz" | grep -qa 'FL-MB' &&
        run epochs import "$scratch/sim.pb.gz" &&
        run epochs export --format folded "$scratch/sim2.folded" --event cycles --epoch 6 &&
        awk '{ sum[FILENAME] += $NF }
            END { for (file in sum) {
                      print file, sum[file]
                      low = !low || sum[file] < low ? sum[file] : low
                      high = sum[file] > high ? sum[file] : high
                  }
                  exit high - low > 1 || high < 10000 }' "$scratch/sim.folded" "$scratch/sim2.folded"
}
has x86_64-workloads && check "exports simulated cycles with their causes" simulated

# A program of which every cost is known by its calls: what each format says of it.
cat >"$scratch/calls.c" <<'PROGRAM'
static volatile int sink;
__attribute__((noipa)) void leaf(int n) {
    for (int i = 0; i < n; i++)
        sink += i;
}
__attribute__((noipa)) void left(void) { leaf(3000); }
__attribute__((noipa)) void right(void) { leaf(1000); left(); }
int main(void) {
    left();
    right();
    return 0;
}
PROGRAM
cc -O1 -g -o "$scratch/calls" "$scratch/calls.c" || exit 1
export_as() { # FORMAT
    run sim --machine zen4 --tree --json -o "$scratch/calls.json" --export "$scratch/calls.$1" --format "$1" -- "$scratch/calls"
}
# Inclusive cycles by its own annotator are those of the tree.
callgrind_agrees() {
    export_as callgrind && callgrind_annotate --inclusive=yes --threshold=100 --show=cycles "$scratch/calls.callgrind" >"$scratch/annotated" &&
        python3 -S - "$scratch/calls.json" "$scratch/annotated" <<'PYTHON'
import json, re, sys
report = json.load(open(sys.argv[1]))
totals = {}
for frame in report["tree"][1:]:
    totals[frame["procedure"]] = totals.get(frame["procedure"], 0) + frame["total"]
said = {}
for line in open(sys.argv[2]):
    found = re.match(r" *([\d,]+) \([ \d.]+%\)  \S*:(\w+) \[", line)
    if found:
        said[found[2]] = int(found[1].replace(",", ""))
assert {"main", "left", "right", "leaf"} <= set(said), said
for name in ("main", "left", "right", "leaf"):
    assert abs(said[name] - totals[name]) <= 3 + 1e-4 * totals[name], (name, said[name], totals[name])
PYTHON
}
skip_without callgrind_annotate "callgrind_annotate has the inclusive cycles of the tree" ||
    check "callgrind_annotate has the inclusive cycles of the tree" callgrind_agrees
cachegrind_reads() {
    export_as cachegrind && cg_annotate "$scratch/calls.cachegrind" | grep -q 'calls.c:leaf'
}
skip_without cg_annotate "cg_annotate reads cachegrind's format" || check "cg_annotate reads cachegrind's format" cachegrind_reads
# Tables of a processed profile refer to what is there, and weigh what the run took.
firefox_holds() {
    export_as firefox && python3 -S - "$scratch/calls.json" "$scratch/calls.firefox" <<'PYTHON'
import json, sys
report, profile = (json.load(open(name)) for name in sys.argv[1:])
assert profile["meta"]["preprocessedProfileVersion"] == 48 and profile["libs"] == []
(thread,) = profile["threads"]
for table in ("samples", "stackTable", "frameTable", "funcTable", "resourceTable", "nativeSymbols", "markers"):
    for key, column in thread[table].items():
        if isinstance(column, list):
            assert len(column) == thread[table]["length"], (table, key)
stacks, frames, functions, texts = thread["stackTable"], thread["frameTable"], thread["funcTable"], thread["stringArray"]
assert all(prefix is None or prefix < i for i, prefix in enumerate(stacks["prefix"]))
assert abs(sum(thread["samples"]["weight"]) - report["cycles"]) <= 1
def names(stack):
    while stack is not None:
        yield texts[functions["name"][frames["func"][stacks["frame"][stack]]]]
        stack = stacks["prefix"][stack]
weights = {}
for stack, weight in zip(thread["samples"]["stack"], thread["samples"]["weight"]):
    for name in set(names(stack)):
        weights[name] = weights.get(name, 0) + weight
totals = {frame["procedure"]: 0 for frame in report["tree"][1:]}
for frame in report["tree"][1:]:
    totals[frame["procedure"]] += frame["total"]
for name in ("main", "left", "right", "leaf"):
    assert abs(weights[name] - totals[name]) <= 3 + 1e-4 * totals[name], name
categories = [category["name"] for category in profile["meta"]["categories"]]
assert {categories[category] for category in stacks["category"]} > {"Other", "execute"}
PYTHON
}
check "a profile of Firefox has the tables of its format, and the run's cycles" firefox_holds
# Each sample type by go's own reader: sums by function, with all that was called.
pprof_columns_agree() {
    local type
    export_as pprof || return 1
    HOME=$scratch go tool pprof -raw "$scratch/calls.pprof" 2>/dev/null | sed -n '/^Samples:/{n;p;q}' >"$scratch/types"
    cat "$scratch/types"
    for type in cycles instructions $(tr ' ' '\n' <"$scratch/types" | sed -n 's|^\(cycles_.*\)/cycles.*|\1|p'); do
        echo "= $type"
        HOME=$scratch go tool pprof -top -cum -nodecount=1000 -nodefraction=0 -sample_index="$type" "$scratch/calls.pprof" 2>/dev/null || return 1
    done >"$scratch/tops"
    python3 -S - "$scratch/calls.json" "$scratch/types" "$scratch/tops" <<'PYTHON'
import json, re, sys
report, types = json.load(open(sys.argv[1])), open(sys.argv[2]).read().split()
parts = {key: cycles for key, cycles in report["components"].items() if cycles > 0}
assert types[0] == "cycles/cycles[dflt]" and types[-1] == "instructions/count", types
assert types[1:-1] == [f"cycles_{key}/cycles" for key in reversed(list(parts))], (types, parts)
sums, rows = {}, {}
for line in open(sys.argv[3]):
    words = line.split()
    if line.startswith("= "):
        type = words[1]
    elif found := re.search(r"of (\d+)(?:cycles)? total", line):
        sums[type] = int(found[1])
    elif len(words) > 5 and words[0][0].isdigit():
        rows[type, words[5]] = int(words[3].removesuffix("cycles"))
print(sums)
assert abs(sums["cycles"] - report["cycles"]) <= 1 and sums["instructions"] == report["instructions"]
assert sum(sums[f"cycles_{key}"] for key in parts) == sums["cycles"]
for key, cycles in parts.items():
    assert abs(sums[f"cycles_{key}"] - cycles) <= 50 + 1e-3 * cycles, key
for name in ("main", "left", "right", "leaf"):
    frames = [frame for frame in report["tree"][1:] if frame["procedure"] == name]
    total, instructions = (sum(frame[key] for frame in frames) for key in ("total", "instructions"))
    assert abs(rows["cycles", name] - total) <= 3 + 1e-4 * total, name
    assert abs(rows["instructions", name] - instructions) <= 3, (name, rows["instructions", name], instructions)
PYTHON
}
skip_without go "go tool pprof has cycles, their components and instructions, with callers" ||
    check "go tool pprof has cycles, their components and instructions, with callers" pprof_columns_agree
csv_sums() {
    export_as csv && python3 -S - "$scratch/calls.json" "$scratch/calls.csv" <<'PYTHON'
import csv, json, sys
report, rows = json.load(open(sys.argv[1])), list(csv.DictReader(open(sys.argv[2], newline="")))
assert abs(sum(int(row["cycles"]) for row in rows) - report["cycles"]) <= 1
parts = [key for key in rows[0] if key in report["components"]]
assert len(parts) == len(report["components"])
assert all(sum(int(row[key]) for key in parts) == int(row["cycles"]) for row in rows)
assert any(row["function"] == "leaf" and row["file"].endswith("calls.c") and row["line"] == "4" for row in rows)
PYTHON
}
check "comma-separated values sum to the run's cycles" csv_sums
same_as_epochs() {
    run sim --machine zen4 --tree --save --store "$scratch/calls.db" -o /dev/null -- "$scratch/calls" &&
        run epochs export --store "$scratch/calls.db" --format csv "$scratch/epoch.csv" && same_file "$scratch/epoch.csv" "$scratch/calls.csv"
}
check "an epoch's export is the same" same_as_epochs
check "an export that cannot be written is told before anything runs" \
    fails_with 125 'nowhere' run sim --export /nowhere/x -- "$scratch/calls"
check "a format without a file is refused" fails_with 125 'format' run sim --format csv -- "$scratch/calls"

# The same samples by procedure as perf report has: by count, not by rank alone.
as_perf_report() {
    perf script -i "$scratch/perf.data" --show-mmap-events --show-task-events >"$scratch/script" 2>/dev/null &&
        run epochs import "$scratch/script" >"$scratch/said" || return 1
    cat "$scratch/said"
    run epochs export --format folded "$scratch/perf.folded" --epoch "$(sed -n 's/.*as epoch \([0-9]*\).*/\1/p' "$scratch/said")" || return 1
    perf report -i "$scratch/perf.data" --stdio -t '|' --sort sym,dso -F sample,sym,dso 2>/dev/null >"$scratch/report" || return 1
    python3 -S - "$scratch/perf.folded" "$scratch/report" <<'PYTHON'
import collections, os, re, sys
ours, theirs = collections.Counter(), collections.Counter()
for line in open(sys.argv[1]):
    stack, count = line.rsplit(" ", 1)
    _, image, procedure = stack.split(";")
    ours[os.path.basename(image), procedure] += int(count)
for line in open(sys.argv[2]):
    if line.startswith("#") or "|" not in line:
        continue
    count, symbol, dso = (part.strip() for part in line.split("|"))
    symbol = re.sub(r"^\[.\] ", "", symbol)
    dso = "[kernel]" if dso.startswith("[kernel") else dso
    theirs[os.path.basename(dso), symbol] += int(count)
assert sum(ours.values()) == sum(theirs.values()) > 100, (sum(ours.values()), sum(theirs.values()))
total, compared = sum(ours.values()), 0
for (image, symbol), count in theirs.items():
    # Code without symbols is an address to perf, and the function around it to culprit.
    if count < total / 100 or re.match("0x|\\[unknown", symbol):
        continue
    assert ours[image, symbol] == count, (image, symbol, ours[image, symbol], count)
    compared += 1
for image in {image for image, _ in theirs}:
    told = sum(count for (name, _), count in ours.items() if name == image)
    assert told == sum(count for (name, _), count in theirs.items() if name == image), image
print(compared, "procedures,", total, "samples")
PYTHON
}
records() { perf record -q -e cpu-clock -F 1999 -o "$scratch/perf.data" "$@" >/dev/null 2>"$scratch/perf.said"; }
if ! has perf || ! records -- true; then
    skip "counts as perf report does" "no perf here, or it may not sample"
else
    of_gzip() { records -- gzip -9 -c "$scratch/megabytes" && as_perf_report; }
    head -c 3000000 "$CULPRIT" >"$scratch/megabytes"
    check "counts gzip as perf report does" of_gzip
    of_workload() { records -- "$WORKLOADS/x86_64/branchy" && as_perf_report; }
    has x86_64-workloads && check "counts a program with symbols as perf report does" of_workload
    # perf leaves out parameters and return types: of overloads it tells no difference. With mappings
    # and without, all samples are of one file, at places in it.
    of_cplusplus() {
        local way epoch
        cat >"$scratch/overloads.cc" <<'END'
#define APART __attribute__((noinline))
namespace ns {
template <class T> APART T smooth(T *v, long n) { T s = 0; for (long i = 0; i < n; i++) v[i & 63] = s += v[i & 63] / 3; return s; }
APART long fold(long n) { long s = 1; for (long i = 0; i < n; i++) s = s * 31 + i / (s | 1); return s; }
APART double fold(double d, long n) { for (long i = 0; i < n; i++) d = d * .999 + 1 / d; return d; }
struct Work { APART long operator()(long n) const { long s = n; while (n--) s ^= s << 7 ^ s / 3; return s; } };
}
int main() {
    static double a[64] = {1};
    static float b[64] = {1};
    const long n = 30000000;
    return ns::smooth(a, n) + ns::smooth(b, n) + ns::fold(n) + ns::fold(1.5, n) + ns::Work()(n) == 0;
}
END
        g++ -O1 -o "$scratch/overloads" "$scratch/overloads.cc" && records -- "$scratch/overloads" || return 1
        for way in "--show-mmap-events --show-task-events" ""; do
            perf script -i "$scratch/perf.data" $way >"$scratch/script" 2>/dev/null &&
                run epochs import "$scratch/script" >"$scratch/said" || return 1
            epoch=$(sed -n 's/.*as epoch \([0-9]*\).*/\1/p' "$scratch/said")
            run top --epoch "$epoch" --image overloads --top 0 --json >"$scratch/overloads.json" &&
                python3 -S - "$scratch/overloads.json" <<'END' || return 1
import json, sys
rows = json.load(open(sys.argv[1]))["rows"]
print([(row["procedure"], row["offset"], row["values"]) for row in rows])
names = ("double ns::smooth<double>", "float ns::smooth<float>", "ns::fold(long)", "ns::fold(double", "ns::Work::operator()(long) const")
assert all(row["offset"] for row in rows), "a place is known by its name alone"
for name in names:
    assert any(row["procedure"] and row["procedure"].startswith(name) for row in rows), name
END
            run annotate --epoch "$epoch" 'Work::operator()' | grep -q 'ns::Work::operator()(long) const' || return 1
            [ "$(run epochs export --epoch "$epoch" --format store "$scratch/one.db" >/dev/null 2>&1
                sqlite3 "$scratch/one.db" "select count(*) from image where path like '%/overloads'"
                rm -f "$scratch/one.db"*)" = 1 ] || return 1
        done
    }
    { skip_without g++ "imports C++" || skip_without sqlite3 "imports C++"; } || check "imports C++" of_cplusplus
    of_stacks() { records -g -- sh -c 'gzip -9 -c "$1" | sha1sum' sh "$scratch/megabytes" &&
        perf script -i "$scratch/perf.data" >"$scratch/script" 2>/dev/null && run epochs import "$scratch/script"; }
    check "imports call stacks" of_stacks
fi

# ---- what goes wrong ----
check "refuses what is no profile" fails_with 1 'README.md: line [0-9]+: not a line of perf script.*; a store, pprof or perf-script can be imported$' \
    run epochs import README.md
printf '\0\1abc' >"$scratch/bytes"
check "also in bytes that are no text" fails_with 1 'bytes: offset [0-9]+: .*; a store, pprof or perf-script can be imported$' \
    run epochs import "$scratch/bytes"
check "refuses perf's own format" fails_with 1 "perf's own format is not read" \
    run epochs import <(printf 'PERFILE2 and more')
gzip -c "$scratch/fixture.txt" | head -c 100 >"$scratch/cut.gz"
check "refuses a file that was cut" fails_with 1 'cut.gz: offset [0-9]+: the compressed file ends too early' \
    run epochs import "$scratch/cut.gz"
check "names a format that it does not know" fails_with 2 'one of store, pprof, perf-script, folded, callgrind' \
    run epochs export --format html "$scratch/out"
check "does not read folded stacks" fails_with 2 'only of export' \
    run epochs import --format folded "$scratch/folded"
check "knows which events there are" fails_with 1 'no event misses in these epochs' \
    run epochs export --epoch 1 --event misses --format folded "$scratch/out"
check "says when it cannot write" fails_with 1 'cannot write' \
    run epochs export --epoch 1 --format perf-script /dev/full
check "says when it cannot write what it compressed" fails_with 1 'cannot write' \
    run epochs export --epoch 1 --format pprof /dev/full
nothing_is_left() { [ ! -e "$scratch/out" ] && run epochs check; }
check "leaves nothing behind, and the store whole" nothing_is_left

finish
