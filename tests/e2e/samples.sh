# culprit sim --tap tip:, tea: and culprit samples: the bytes are as docs/sample-format.md says, the
# dump tells what they hold, and they agree with the report; damaged files.
. tests/e2e/lib.sh

report=$scratch/report.json
run trace --stop --limit 1M --output "$scratch/run.ctrace" -- gzip -9 -c /bin/bash >/dev/null 2>&1
traced() {
    run sim --json --output "$report" "$@" "$scratch/run.ctrace"
}
write() {
    traced --machine boom-tea --tap "tip:$scratch/run.tip,interval=1000" \
        --tap "tea:$scratch/run.tea,interval=1000"
}
check "both are written" write

# A reader of docs/sample-format.md, against the dump in JSON, against the report.
agree() {
    run samples --json --output "$scratch/$1.json" "$scratch/run.$1" &&
        python3 -S - "$1" "$scratch" <<'PYTHON'
import json, struct, sys
kind, base = sys.argv[1:]
data = open(f"{base}/run.{kind}", "rb").read()
dump = json.load(open(f"{base}/{kind}.json"))
report = json.load(open(f"{base}/report.json"))
names = "DR-L1 DR-TLB DR-SQ FL-MB FL-EX FL-MO ST-L1 ST-TLB ST-LLC ST-FW".split()

assert data[:16] == b"\x89CSM\r\n\x1a\n" + struct.pack("<II", 2, 0)
at, images, places, samples, ended = 16, [], {}, [], False
while at < len(data):
    record, size, _ = struct.unpack_from("<IIQ", data, at)
    payload = data[at + 16:at + 16 + size]
    at += 16 + size
    if record == 1:
        tea, mode, width, clock, period, seed, machine, command = struct.unpack_from("<BBxxIQQQII", payload)
        assert payload[40 + machine:].decode() == "gzip -9 -c /bin/bash"
    elif record == 2:
        images.append(payload[28:].decode())
    elif record == 3:
        process, image, address, offset = struct.unpack("<IIQQ", payload)
        places[address] = images[image]
    elif record == 4:
        for sample in struct.iter_unpack(f"<IHH II Q II Q Q Q {width}Q", payload):
            samples.append((sample, dict(places)))
    elif record == 5:
        ended = struct.unpack("<Q", payload) == (len(samples),)
assert ended and width == 4 and tea == (kind == "tea") and period == 1000
assert dump["sample_bytes"] == 88 and dump["bytes_per_second"] == 88 * clock / period
assert len(samples) == dump["count"] == len(dump["samples"]) == report["cycles"] // 1000 > 100

drained = 0
for number, ((_, misc, size, process, thread, time, core, zero, wanted, cycles, flags, *addresses), known) \
        in enumerate(samples):
    shown = dump["samples"][number]
    assert (misc, size, zero, wanted, cycles) == (2, 88, 0, 1000, 1000)
    assert time >= 1000 * (number + 1) and shown["time"] == time
    valid, oldest = flags >> 5 & 15, flags >> 9 & 3
    sharers = [oldest] if flags & 31 else [b % 4 for b in range(oldest, oldest + 4) if valid >> b % 4 & 1]
    told = [(i["address"], i["image"], i.get("events")) for i in shown["instructions"]]
    events = [flags >> 11 + 10 * bank & 1023 for bank in sharers]
    assert told == [(f"{addresses[bank]:#x}", known[addresses[bank]],
                     ("+".join(n for i, n in enumerate(names) if e >> i & 1) or "Base") if tea else None)
                    for bank, e in zip(sharers, events)]
    drained += bool(flags & 16)
share = report["commit_states"]["drained"] / report["cycles"]
assert abs(drained / len(samples) - share) < 0.1, (drained, len(samples), share)
PYTHON
}
check "TIP's bytes, dump and report agree" agree tip
check "TEA's bytes, dump and report agree" agree tea

text() {
    run samples "$scratch/run.tea" >"$scratch/text" && cat "$scratch/run.tea" | run samples - |
        same_file - "$scratch/text" &&
        grep -q '^# TEA on boom-tea at 3.20 GHz, 88 bytes a sample$' "$scratch/text" &&
        grep -q '^# one of every 1,000 cycles: 3.20 MHz, 282 MB/s$' "$scratch/text" &&
        grep -qE '^0/0 \[000\] [0-9]+: 1000 cycles: stalled$' "$scratch/text" &&
        grep -qE '^\s+[0-9a-f]+ .* \(/.*\) (Base|[DFS][RLT]-.*)$' "$scratch/text"
}
check "as text, from a file and a pipe" text

# A process of its own for each of three programs; threads are numbered over all of them.
processes() {
    run sim --follow --json --output "$report" --tap "tea:$scratch/many.tea,interval=1000" -- \
        sh -c 'true; sh -c :; :' && run samples --json --output "$scratch/many.json" "$scratch/many.tea" &&
        python3 -S - "$report" "$scratch/many.json" <<'PYTHON'
import json, sys
report, dump = (json.load(open(name)) for name in sys.argv[1:])
simulated = {(t["process"], t["thread"]) for t in report["threads"] if t["cycles"] >= 1000}
sampled = {(s["process"], s["thread"]) for s in dump["samples"]}
assert sampled == simulated and len({process for process, _ in sampled}) > 1, (sampled, simulated)
assert all("image" in i for s in dump["samples"] for i in s["instructions"])
PYTHON
}
check "processes are told apart" processes

cut_short() {
    head -c 5000 "$scratch/run.tea" | run samples - | tail -1 | grep -q 'samples*; the file is cut short$'
}
check "what is before a cut is shown" cut_short

# One sample in each period, wherever in it; as the header says, and the dump. Without the step that a
# period keeps with a loop the samples' cycles differ; the same seed gives the same bytes.
random_cycles() {
    traced --machine boom-tea --tap "tip:$scratch/random.tip,interval=1000,sampling=random,seed=3" \
        --tap "tip:$scratch/again.tip,seed=3,sampling=random,interval=1000" \
        --tap "tip:$scratch/other.tip,interval=1000,sampling=random" &&
        cmp "$scratch/random.tip" "$scratch/again.tip" &&
        ! cmp -s "$scratch/random.tip" "$scratch/other.tip" &&
        run samples --json --output "$scratch/random.json" "$scratch/random.tip" &&
        python3 -S - "$scratch" <<'PYTHON'
import json, sys
dump = json.load(open(f"{sys.argv[1]}/random.json"))
cycles = json.load(open(f"{sys.argv[1]}/report.json"))["cycles"]
assert dump["mode"] == "random" and dump["seed"] == 3 and dump["period"] == 1000, dump
at, inside = 0, set()
for number, sample in enumerate(dump["samples"]):
    at += sample["cycles"]
    assert 1000 * number < at <= 1000 * (number + 1), (number, at)
    inside.add(at - 1000 * number)
assert cycles // 1000 <= dump["count"] <= cycles // 1000 + 1 and len(inside) > 50, (cycles, dump["count"])
PYTHON
}
check "random cycles of each period" random_cycles
check "what takes no samples has no sampling" \
    fails_with 2 'csv takes no samples' traced --tap "csv:$scratch/x,sampling=random"
check "a word that is no way to sample" \
    fails_with 2 'neither random nor periodic' traced --tap "tip:$scratch/x,sampling=often"

damaged() {
    local status=0
    { head -c 60000 "$scratch/run.tip"; printf X; tail -c +60002 "$scratch/run.tip"; } >"$scratch/bad"
    run samples "$scratch/bad" >/dev/null 2>"$scratch/errors" || status=$?
    [ "$status" = 1 ] && [ "$(wc -l <"$scratch/errors")" = 1 ] &&
        grep -q 'bad is damaged at byte [0-9]*: ' "$scratch/errors"
}
check "damage is told with its place" damaged
check "no file of samples" fails_with 1 'is not a file of samples' run samples "$scratch/run.ctrace"
check "no such file" fails_with 1 'cannot open' run samples "$scratch/none"
check "no file named" fails_with 2 'which file of samples' run samples
check "a full disk" fails_with 1 'No space left on device' traced --tap tea:/dev/full,interval=10
check "a core that commits more than a sample holds" \
    fails_with 1 'an idealised core has no such samples' traced --ideal bw --tap "tip:$scratch/bw,interval=1"
finish
