# A run in the formats of other tools, each read by a parser that takes nothing but that format.
. tests/e2e/lib.sh
export LC_ALL=C.UTF-8
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

# Each line of gem5's statistics: a name, a value, shares of vectors alone, a description, a unit.
gem5_agrees() {
    run sim --machine zen4 --json -o "$scratch/run.json" --export "$scratch/stats.txt" -- "$scratch/calls" &&
        python3 -S - "$scratch/run.json" "$scratch/stats.txt" <<'PYTHON'
import json, re, sys
report, text = json.load(open(sys.argv[1])), open(sys.argv[2]).read()
lines = text.split("\n")
assert lines[:2] == ["", "---------- Begin Simulation Statistics ----------"], lines[:2]
assert lines[-3:] == ["", "---------- End Simulation Statistics   ----------", ""], lines[-3:]
scalar = re.compile(r"([A-Za-z_][\w.]*(?:::total)?) +(\d+(?:\.\d+)?|nan) +# \S.* \(([A-Z]\w*|\([A-Z]\w*/[A-Z]\w*\))\)")
element = re.compile(r"([A-Za-z_][\w.]*)::(\w+) +(\d+) +(\d+\.\d\d)% +(\d+\.\d\d)% # \S.* \(([A-Z]\w*)\)")
stats, vectors = {}, {}
for line in lines[2:-3]:
    if found := element.fullmatch(line):
        vectors.setdefault(found[1], []).append((found[2], int(found[3]), float(found[4]), float(found[5])))
    else:
        found = scalar.fullmatch(line)
        assert found and found[1] not in stats, line
        stats[found[1]] = float(found[2])
for name, elements in vectors.items():
    *parts, (last, total, _, _) = elements
    assert last == "total" and sum(value for _, value, _, _ in parts) == total == report["cycles"], name
    so_far = 0
    for key, value, share, cumulated in parts:
        so_far += value
        assert abs(share - 100 * value / total) < 0.0051 and abs(cumulated - 100 * so_far / total) < 0.0051, key
stack = {key: value for key, value, _, _ in vectors["system.cpu.cycleStack"]}
assert stack.keys() == report["components"].keys() | {"total"}
assert all(abs(stack[key] - cycles) <= 1 for key, cycles in report["components"].items())
states = {key: value for key, value, _, _ in vectors["system.cpu.commitState"]}
assert states == {**report["commit_states"], "total": report["cycles"]}
counted, branches = report["statistics"], report["statistics"]["branches"]
expected = {
    "simInsts": report["instructions"], "simOps": counted["uops"], "simFreq": 10**12,
    "system.cpu.numCycles": report["cycles"], "system.cpu.commitStats0.numInsts": report["instructions"],
    "system.cpu.commitStats0.numLoadInsts": counted["loads"], "system.cpu.commitStats0.numStoreInsts": counted["stores"],
    "system.cpu.lsq0.forwLoads": counted["forwarded_loads"], "system.cpu.lsq0.memOrderViolation": counted["ordering_violations"],
    "system.cpu.commit.flushes": counted["flushes"], "system.cpu.workload.numSyscalls": counted["system_calls"],
    "system.cpu.branchPred.condPredicted": branches["conditional"],
    "system.cpu.branchPred.condIncorrect": branches["conditional_mispredicted"],
    "system.cpu.branchPred.indirectMispredicted": branches["indirect_mispredicted"],
    "system.cpu.branchPred.ras.used": branches["returns"], "system.cpu.branchPred.lateTargets": branches["late_targets"],
    "system.cpu.mmu.dtb.accesses": counted["dtlb_accesses"], "system.cpu.mmu.dtb.misses": counted["dtlb_misses"],
    "system.cpu.mmu.itb.misses": counted["itlb_misses"], "system.cpu.mmu.walks": counted["page_walks"],
    "system.mem_ctrl.readReqs": counted["dram_reads"], "system.mem_ctrl.dram.rowHits": counted["dram_row_hits"]}
for object, cache in (("system.cpu.icache", "l1i"), ("system.cpu.dcache", "l1d"), ("system.l2", "l2"), ("system.l3", "llc")):
    for name, key in (("overallAccesses::total", "accesses"), ("overallMisses::total", "misses"),
                      ("overallMshrHits::total", "pending_hits"), ("writebacks::total", "writebacks"),
                      ("prefetcher.pfIssued", "prefetches"), ("prefetcher.pfUseful", "useful_prefetches")):
        expected[f"{object}.{name}"] = counted[cache][key]
for name, value in expected.items():
    assert stats[name] == value, (name, stats[name], value)
assert abs(stats["system.cpu.cpi"] - report["cpi"]) < 1e-6 and abs(stats["system.cpu.ipc"] - 1 / report["cpi"]) < 1e-6
assert abs(stats["simTicks"] - report["cycles"] * 1000 / report["clock_ghz"]) <= 1
PYTHON
}
check "gem5's statistics have the counts of the report" gem5_agrees
check "statistics are not of an epoch" fails_with 2 'of a run, not of an epoch' \
    run epochs export --format gem5-stats "$scratch/out"
check "statistics that cannot be written are told" fails_with 125 '--export /dev/full: writing the statistics: No space' \
    run sim --machine zen4 -o /dev/null --export /dev/full --format gem5-stats -- "$scratch/calls"

# A trace by the published Trace Event Format: what each phase has, and slices of a track within each
# other or apart. What it says of threads, phases and the pipeline is what the report says.
trace_agrees() { # JSON TRACE KIND
    python3 -S - "$@" <<'PYTHON'
import collections, json, sys
report, kind = json.load(open(sys.argv[1])), sys.argv[3]
def no_twice(pairs):
    assert len({key for key, _ in pairs}) == len(pairs), pairs
    return dict(pairs)
trace = json.load(open(sys.argv[2]), object_pairs_hook=no_twice, parse_float=str)
assert trace.keys() == {"displayTimeUnit", "otherData", "traceEvents"} and trace["displayTimeUnit"] == "ns"
tracks, names, counters = collections.defaultdict(list), collections.Counter(), collections.defaultdict(list)
def picoseconds(text):
    whole, part = text.split(".")
    assert len(part) == 6 and int(whole) >= 0
    return int(whole) * 10**6 + int(part)
for event in trace["traceEvents"]:
    assert isinstance(event["name"], str) and isinstance(event["pid"], int) and isinstance(event["tid"], int)
    rest = event.keys() - {"ph", "name", "pid", "tid"}
    if event["ph"] == "M":
        assert rest == {"args"} and event["name"] in ("process_name", "thread_name") and event["args"].keys() == {"name"}
        names[event["name"], event["pid"], event["tid"]] += 1
    elif event["ph"] == "C":
        assert rest == {"ts", "args"} and event["args"].keys() == report["components"].keys()
        counters[event["name"]].append((picoseconds(event["ts"]), sum(float(value) for value in event["args"].values())))
    else:
        assert event["ph"] == "X" and rest == {"cat", "ts", "dur", "args"}, event
        begin = picoseconds(event["ts"])
        tracks[event["pid"], event["tid"]].append((begin, begin + picoseconds(event["dur"]), event))
assert all(count == 1 for count in names.values())
slices = collections.Counter()
for (pid, tid), track in tracks.items():
    assert ("thread_name", pid, tid) in names
    open_ends = []
    for begin, end, event in sorted(track, key=lambda slice: (slice[0], -slice[1])):
        while open_ends and open_ends[-1] <= begin:
            open_ends.pop()
        assert not open_ends or end <= open_ends[-1], event
        open_ends.append(end)
        slices[event["cat"]] += 1
cycle = 1000 / report["clock_ghz"]
print(slices, len(tracks))
events = [slice for track in tracks.values() for slice in track]
assert kind == "phases" or all(end <= report["cycles"] * cycle + 1 for _, end, _ in events)
if kind == "thread":
    (thread,) = [slice for slice in events if slice[2]["cat"] == "thread"]
    assert slices["uop"] > 20 and slices["stage"] > slices["uop"] and abs(thread[1] - report["cycles"] * cycle) <= 1
    (cpi,) = counters.values()
    assert len(cpi) > 10 and cpi[-1][1] == 0 and abs(cpi[-1][0] - report["cycles"] * cycle) <= 1
    told = sum((after[0] - at[0]) / cycle / at[1] for at, after in zip(cpi, cpi[1:]))
    assert abs(told / report["instructions"] - 1) < 1e-4, (told, report["instructions"])
if kind == "together":
    for thread in report["threads"]:
        spent = collections.Counter()
        for begin, end, event in tracks[thread["process"] + 1, thread["thread"] + 1]:
            spent[event["name"]] += event["args"]["cycles"]
            assert abs(end - begin - event["args"]["cycles"] * cycle) <= 1
        keys = {"running": "running", "ready": "ready", "waits for a lock": "lock", "waits": "waiting", "sleeping": "sleeping", "spinning": "spinning"}
        assert {f"{keys[name]}_cycles": value for name, value in spent.items()} == {
            key: thread[key] for key in (f"{key}_cycles" for key in keys.values()) if thread[key]}, thread
    assert slices["thread"] > len(report["threads"]) > 1
if kind == "phases":
    phases = [slice for slice in events if slice[2]["cat"] == "phase"]
    assert sum(slice[2]["args"]["instructions"] for slice in phases) == report["instructions"]
    assert slices["region"] == report["regions"]["simulated"] > 0
    total = sum(end - begin for begin, end, _ in phases) / cycle
    assert abs(total - report["cycles"]) < report["cycles"] / 10, (total, report["cycles"])
if kind == "slices":
    assert slices["slice"] > 5 and sum(slice[2]["args"]["cycles"] for slice in events) == report["cycles"]
    assert sum(slice[2]["args"]["instructions"] for slice in events) == report["instructions"]
PYTHON
}
as_trace() { # KIND VERB ARGUMENTS...: --export with the report that it is to agree with
    local kind=$1 verb=$2
    shift 2
    run "$verb" --machine zen4 --json -o "$scratch/run.json" --export "$scratch/run.trace.json" "$@" >/dev/null &&
        trace_agrees "$scratch/run.json" "$scratch/run.trace.json" "$kind"
}
check "a trace of one thread has the pipeline's window" \
    as_trace thread sim --kanata "$scratch/kanata" --kanata-from 340000 --kanata-cycles 300 -- "$scratch/calls"
check "a trace has recorded slices with their CPI" \
    as_trace slices sim --slices "$scratch/slices" --slice-size 10k -- "$scratch/calls"
if has x86_64-workloads; then
    check "a trace has what threads did when" as_trace together sim -- "$WORKLOADS/x86_64/counters" together 2 5000
    check "a trace has the phases of a run, and the regions that stand for them" \
        as_trace phases explain --no-what-if --regions-over 500k --regions 8 -- "$WORKLOADS/x86_64/branchy" 20000
else
    skip "a trace of threads and phases" "no x86_64-workloads here"
fi

# A collector of OpenTelemetry: answers each request with the next of the ANSWERS, and keeps the body
# of the last. OTLP is decoded by field numbers, and nothing else is taken.
cat >"$scratch/collector.py" <<'PYTHON'
import http.server, sys, time
folder, *answers = sys.argv[1:]
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        open(f"{folder}/body", "wb").write(body)
        with open(f"{folder}/requests", "a") as log:
            print(self.path, self.headers["Content-Type"], len(body), file=log)
        status, *more = answers.pop(0).split(":", 1)
        if status == "silent":
            time.sleep(3)
            return
        said, type = "".join(more).encode(), "text/plain"
        if said.startswith(b"hex "):
            said, type = bytes.fromhex(said[4:].decode()), "application/x-protobuf"
        self.send_response(int(status))
        self.send_header("Content-Type", type)
        self.send_header("Content-Length", len(said))
        if status in ("429", "503"):
            self.send_header("Retry-After", "0")
        self.end_headers()
        self.wfile.write(said)
    def log_message(self, *_):
        pass
server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
open(f"{folder}/port.new", "w").write(str(server.server_port))
import os
os.rename(f"{folder}/port.new", f"{folder}/port")
while answers:
    server.handle_request()
PYTHON
collector() { # ANSWERS...: $url is its address
    rm -rf "$scratch/collector"
    mkdir "$scratch/collector"
    timeout 60 python3 -S "$scratch/collector.py" "$scratch/collector" "$@" &
    while [ ! -e "$scratch/collector/port" ]; do sleep 0.05; done
    url=http://127.0.0.1:$(cat "$scratch/collector/port")
}
otlp_agrees() { # JSON FILE
    python3 -S - "$@" "$scratch/calls.c" <<'PYTHON'
import json, sys
report, data = json.load(open(sys.argv[1])), open(sys.argv[2], "rb").read()
def number(data, at):
    value = shift = 0
    while True:
        byte = data[at]; at += 1
        value |= (byte & 127) << shift; shift += 7
        if byte < 128:
            return value, at
# What each message has: by field, its name, and what it is: a number, fixed 64 bits, text, bytes, packed numbers, a message.
SHAPES = {
    "Request": {1: ("resource_profiles", "ResourceProfiles"), 2: ("dictionary", "Dictionary")},
    "ResourceProfiles": {1: ("resource", "Resource"), 2: ("scope_profiles", "ScopeProfiles")},
    "Resource": {1: ("attributes", "KeyValue")}, "KeyValue": {1: ("key", "text"), 2: ("value", "AnyValue")},
    "AnyValue": {1: ("string_value", "text")},
    "ScopeProfiles": {1: ("scope", "Scope"), 2: ("profiles", "Profile")}, "Scope": {1: ("name", "text"), 2: ("version", "text")},
    "Profile": {1: ("sample_type", "ValueType"), 2: ("samples", "Sample"), 3: ("time", "fixed"), 4: ("duration", "number"),
                5: ("period_type", "ValueType"), 6: ("period", "number"), 7: ("profile_id", "bytes")},
    "ValueType": {1: ("type", "number"), 2: ("unit", "number")},
    "Sample": {1: ("stack", "number"), 2: ("attributes", "packed"), 4: ("values", "packed")},
    "Dictionary": {1: ("mappings", "Mapping"), 2: ("locations", "Location"), 3: ("functions", "Function"), 4: ("links", "Link"),
                   5: ("strings", "text"), 6: ("attributes", "Attribute"), 7: ("stacks", "Stack")},
    "Mapping": {1: ("start", "number"), 2: ("limit", "number"), 3: ("offset", "number"), 4: ("file", "number"), 5: ("attributes", "packed")},
    "Location": {1: ("mapping", "number"), 2: ("address", "number"), 3: ("lines", "Line")},
    "Line": {1: ("function", "number"), 2: ("line", "number")},
    "Function": {1: ("name", "number"), 2: ("system_name", "number"), 3: ("file", "number"), 4: ("first_line", "number")},
    "Link": {1: ("trace_id", "bytes"), 2: ("span_id", "bytes")}, "Stack": {1: ("locations", "packed")},
    "Attribute": {1: ("key", "number"), 2: ("value", "AnyValue")}}
REPEATED = {"resource_profiles", "scope_profiles", "profiles", "samples", "attributes", "mappings", "locations", "functions", "links",
            "strings", "stacks", "lines", "values"}
def decode(shape, data):
    at, found = 0, {}
    while at < len(data):
        tag, at = number(data, at)
        name, kind = SHAPES[shape][tag >> 3]
        wire = 0 if kind == "number" else 1 if kind == "fixed" else 2
        assert tag & 7 == wire, (shape, name, tag)
        if wire == 0:
            value, at = number(data, at)
        else:
            size, at = (8, at) if wire == 1 else number(data, at)
            assert at + size <= len(data), (shape, name)
            part, at = data[at:at + size], at + size
            if kind == "fixed":
                value = int.from_bytes(part, "little")
            elif kind == "packed":
                value, place = [], 0
                while place < len(part):
                    one, place = number(part, place)
                    value.append(one)
            else:
                value = part.decode() if kind == "text" else part if kind == "bytes" else decode(kind, part)
        if kind == "packed":
            found.setdefault(name, []).extend(value)
        elif name in REPEATED:
            found.setdefault(name, []).append(value)
        else:
            assert name not in found, (shape, name)
            found[name] = value
    return found
request = decode("Request", data)
tables = request["dictionary"]
for name, table in tables.items():
    assert table[0] in ({}, "", {"trace_id": bytes(16), "span_id": bytes(8)}), (name, table[0])
    assert len(set(map(repr, table))) == len(table), name
(resource,) = request["resource_profiles"]
assert resource["resource"]["attributes"] == [{"key": "service.name", "value": {"string_value": "calls"}}]
(scope,) = resource["scope_profiles"]
assert scope["scope"]["name"] == "culprit"
text = tables["strings"]
for mapping in tables["mappings"][1:]:
    assert text[mapping["file"]] and mapping["start"] < mapping["limit"]
for location in tables["locations"][1:]:
    mapping = tables["mappings"][location["mapping"]]
    assert mapping["start"] <= location["address"] < mapping["limit"]
firsts = {text[f["name"]]: f.get("first_line") for f in tables["functions"][1:]}
for first, line in enumerate(open(sys.argv[3]), 1):
    assert not line.startswith("int main(") or firsts["main"] == first, (firsts, first)
def names(stack):
    for location in tables["stacks"][stack]["locations"]:
        yield text[tables["functions"][tables["locations"][location]["lines"][-1]["function"]]["name"]]
sums, inclusive = {}, {}
for profile in scope["profiles"]:
    type = text[profile["sample_type"]["type"]]
    assert type not in sums and len(profile["profile_id"]) == 16
    assert text[profile["sample_type"]["unit"]] == ("count" if type == "instructions" else "cycles")
    sums[type] = 0
    for sample in profile["samples"]:
        (value,) = sample["values"]
        sums[type] += value
        keys = {text[tables["attributes"][i]["key"]]: tables["attributes"][i]["value"]["string_value"] for i in sample["attributes"]}
        assert keys["process.command"] == "calls" and keys["process.executable.path"].endswith("/calls")
        assert ("culprit.signature" in keys) == (type != "instructions")
        for name in set(names(sample["stack"])):
            inclusive[type, name] = inclusive.get((type, name), 0) + value
print(sums)
parts = {key: cycles for key, cycles in report["components"].items() if cycles > 0}
assert set(sums) == {"cycles", "instructions"} | {f"cycles_{key}" for key in parts}
assert abs(sums["cycles"] - report["cycles"]) <= 1 and sums["instructions"] == report["instructions"]
assert sum(sums[f"cycles_{key}"] for key in parts) == sums["cycles"]
for name in ("main", "left", "right", "leaf"):
    frames = [frame for frame in report["tree"][1:] if frame["procedure"] == name]
    total, instructions = (sum(frame[key] for frame in frames) for key in ("total", "instructions"))
    assert abs(inclusive["cycles", name] - total) <= 3 + 1e-4 * total and inclusive["instructions", name] == instructions, name
PYTHON
}
export CULPRIT_STORE=$scratch/profiles.db
sent() {
    collector 503 200 200 && run sim --machine zen4 --tree --json -o "$scratch/run.json" --save --push "$url" \
        --export "$scratch/run.otlp.pb" -- "$scratch/calls" >/dev/null && cp "$scratch/collector/body" "$scratch/sent.pb" &&
        run epochs export --push "$url/" && wait && cat "$scratch/collector/requests" &&
        [ "$(sort -u "$scratch/collector/requests" | wc -l)" = 1 ] && [ "$(wc -l <"$scratch/collector/requests")" = 3 ] &&
        grep -q "^/v1development/profiles application/x-protobuf $(stat -c %s "$scratch/run.otlp.pb")\$" "$scratch/collector/requests" &&
        otlp_agrees "$scratch/run.json" "$scratch/sent.pb" && otlp_agrees "$scratch/run.json" "$scratch/collector/body" &&
        otlp_agrees "$scratch/run.json" "$scratch/run.otlp.pb"
}
refused() { # MESSAGE ANSWERS...
    local message=$1 status
    shift
    collector "$@"
    fails_with 1 "$message" run epochs export --push "$url"
    status=$?
    kill %% 2>/dev/null
    wait
    return $status
}
no_server() {
    collector 200
    run epochs export --push "$url" && wait && fails_with 1 "$url/v1development/profiles: .*connect" run epochs export --push "$url"
}
if ldconfig -p | grep -qE 'libcurl(-gnutls)?\.so\.4'; then
    check "a collector gets the profile, as the report has it" sent
    check "what a collector says is told" refused '/v1development/profiles: the server answered 400: too \?large' $'400:too \alarge\nreally'
    check "likewise what it says as protobuf" refused 'answered 403: no entry$' '403:hex 08071208 6e6f20656e747279'
    check "a busy one is asked again a few times" refused 'the server answered 503$' 503 503 503 503
    check "a partial success is none" refused 'the server rejected 2 profiles: bad$' '200:hex 0a07 0802 1203 626164'
    OTEL_EXPORTER_OTLP_TIMEOUT=300 check "one that does not answer is given up" refused 'no answer within 0.3 s' silent
    check "one that is not there is told" no_server
else
    skip "a collector gets the profile" "no libcurl here"
fi
spaced() {
    cp "$scratch/calls" "$scratch/the calls" &&
        run sim --export "$scratch/spaced.folded" -- "$scratch/the calls" one two >/dev/null &&
        grep -q '^the calls;_start;' "$scratch/spaced.folded"
}
check "a space in the name of a program is a part of it" spaced
check "one file to an option that writes one" fails_with 125 'already given, as' \
    run sim --export "$scratch/a.folded" --export "$scratch/b.folded" -- true
check "what is no address is refused" fails_with 2 'an address is http' run epochs export --push localhost:4318

finish
