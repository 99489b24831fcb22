# culprit sim --tap: the files agree with the report, with each other, and with what ran; failures.
. tests/e2e/lib.sh

report=$scratch/report.json
run trace --stop --limit 300K --output "$scratch/run.ctrace" -- gzip -9 -c /bin/bash >/dev/null 2>&1
traced() {
    run sim --json --output "$report" "$@" "$scratch/run.ctrace"
}

all_kinds() {
    traced --tap "binary:$scratch/run.bin" --tap "csv:$scratch/run.csv" \
        --tap "calls:$scratch/run.folded" --tap "counters:$scratch/run.counters,interval=25000" \
        --tap "bbv:$scratch/run.bbv,interval=50000"
}
check "five kinds at once" all_kinds

# A reader of docs/tap-format.md: binary and csv tell the same, and both the report's cycles.
agree() {
    python3 -S - "$scratch" <<'PYTHON'
import csv, json, struct, sys
base = sys.argv[1]
report = json.load(open(f"{base}/report.json"))
states, cycles, instructions = report["commit_states"], report["cycles"], report["instructions"]
names = "DR-L1 DR-TLB DR-SQ FL-MB FL-EX FL-MO ST-L1 ST-TLB ST-LLC ST-FW ST-CO".split()

data = open(f"{base}/run.bin", "rb").read()
assert data.startswith(b"culprit tap 3\n")
at, places, rows, count = 1024, {}, [], 0
while at < len(data):
    kind, thread, size = struct.unpack_from("<IIQ", data, at)
    at += 16
    if kind == 2:
        first, = struct.unpack_from("<Q", data, at)
        for i in range((size - 8) // 24):
            places[first + i], = struct.unpack_from("<Q", data, at + 8 + 24 * i)
    if kind == 3:
        cycle, _, uop = struct.unpack_from("<QQQ", data, at)
        words = struct.unpack_from(f"<{(size - 48) // 8}Q", data, at + 48)
        i = 0
        while i < len(words):
            head = words[i]
            i += 1
            n, empty, delta = head >> 8 & 255, head >> 16 & 0xffffff, head >> 40
            if head >> 3 & 16:
                delta, empty = words[i:i + 2]
                i += 2
            cycle += delta
            shown = []
            for word in words[i:i + n]:
                events = [name for bit, name in enumerate(names) if word >> 32 + bit & 1]
                flags = word >> 43
                shown.append(hex(places[word & 0xffffffff]) + ("!" + "+".join(events) if events else ""))
                if head & 7 == 0 and flags & 1:
                    count += 2 if flags & 8 else 1
            i += n
            rows.append([str(thread), str(cycle), ["commit", "flush"][head & 7], str(empty),
                         ["drained", "flushed", "violation"][head >> 3 & 3] if empty else "",
                         str(uop), str(n), " ".join(shown)])
            uop += n if head & 7 == 0 else 0
    at += size
lines = list(csv.reader(open(f"{base}/run.csv")))[1:]
assert lines == rows, "csv and binary differ"
assert int(rows[-1][1]) == cycles and count == instructions

counters = list(csv.DictReader(open(f"{base}/run.counters")))
for state in states:
    assert sum(int(line[state]) for line in counters) == states[state], state
assert sum(int(line["instructions"]) for line in counters) == instructions
assert all(int(line["end_cycle"]) % 25000 == 0 for line in counters[:-1])

vectors = [line.split() for line in open(f"{base}/run.bbv")]
total = sum(int(entry.split(":")[-1]) for vector in vectors for entry in vector)
assert total == instructions, (total, instructions)
assert len(vectors) in (instructions // 50000, instructions // 50000 + 1), len(vectors)

stacks = [line.rsplit(" ", 1) for line in open(f"{base}/run.folded")]
assert abs(sum(int(n) for _, n in stacks) - cycles) <= len(stacks)
assert all(stack.startswith("thread 0") for stack, _ in stacks)
PYTHON
}
check "they agree with the report and with each other" agree

compressed() {
    traced --tap "bbv:$scratch/run.bbv.gz,interval=50000" &&
        gzip -dc "$scratch/run.bbv.gz" | cmp - "$scratch/run.bbv"
}
check "basic block vectors compressed hold the same" compressed

# The report must not depend on who watches.
same_report() {
    cp "$report" "$scratch/watched.json"
    traced && python3 -S - "$report" "$scratch/watched.json" <<'PYTHON'
import json, sys
def strip(name):
    report = json.load(open(name))
    return {key: value for key, value in report.items() if "second" not in key and key != "next"}
sys.exit(strip(sys.argv[1]) != strip(sys.argv[2]))
PYTHON
}
check "the report is the same without them" same_report

# Between two triggers: lines of the whole trace.
window() {
    traced --tap "csv:$scratch/part.csv,start=cycle:20000,stop=cycle:30000" &&
        awk -F, 'NR == 1 || ($2 >= 20000 && $2 < 30000)' "$scratch/run.csv" >"$scratch/expected" &&
        [ "$(wc -l <"$scratch/expected")" -gt 100 ] &&
        same_file "$scratch/expected" "$scratch/part.csv"
}
check "start and stop" window

# A start that never comes leaves a file without a line, and is told of; so is a stop.
triggers_that_never_come() {
    traced --tap "csv:$scratch/none.csv,start=insn:1G" --tap "csv:$scratch/b,c.csv,start=cycle:20000,stop=cycle:1G" \
        --tap "counters:$scratch/both.csv,start=insn:2000,stop=insn:1000" \
        --tap "csv:$scratch/part.csv,start=insn:10,stop=insn:20" &&
        [ "$(wc -l <"$scratch/none.csv")" = 1 ] &&
        told 'sum("none.csv: its start never came: nothing is in the file" in n for n in r["notes"]) == 1' \
            'sum("b,c.csv: its stop never came" in n for n in r["notes"]) == 1' \
            'sum("both.csv: its stop came before its start" in n for n in r["notes"]) == 1' \
            'not any("part.csv" in n for n in r["notes"])'
}
check "triggers that never come" triggers_that_never_come

marker() {
    local address
    address=$(awk -F, 'NR > 50000 { sub(/[! ].*/, "", $8); print $8; exit }' "$scratch/run.csv")
    traced --tap "csv:$scratch/part.csv,start=$address:3,stop=$address:4" &&
        sed -n 2p "$scratch/part.csv" | grep -q "$address"
}
check "a marker" marker

# Names of functions: the calls of the workload threads, each on a stack of its own.
stacks() {
    run sim --output "$report" --tap "calls:$scratch/threads.folded" -- \
        $WORKLOADS/x86_64/interpreter 2000 >/dev/null &&
        grep -q '^thread 0;.*;main.* [0-9]*$' "$scratch/threads.folded"
}
check "call stacks have names" stacks

# ---- failures: one line; the other files and the report hold what was done ----
disk_full() {
    local status=0
    traced --tap csv:/dev/full --tap "counters:$scratch/late.counters,interval=1000" \
        2>"$scratch/errors" || status=$?
    [ "$status" = 1 ] && [ "$(wc -l <"$scratch/errors")" = 1 ] &&
        grep -q 'csv: /dev/full: cannot write: No space left on device' "$scratch/errors" &&
        python3 -S - "$report" "$scratch/late.counters" <<'PYTHON'
import csv, json, sys
report = json.load(open(sys.argv[1]))
lines = list(csv.DictReader(open(sys.argv[2])))
assert report["partial"] and report["cycles"] > 1000
assert sum(int(line["cycles"]) for line in lines) == report["cycles"]
assert sum(int(line["instructions"]) for line in lines) == report["instructions"]
PYTHON
}
check "a full disk ends the run; the rest is whole" disk_full

reader_quits() {
    local status=0
    mkfifo "$scratch/pipe"
    head -c 100 "$scratch/pipe" >/dev/null &
    traced --tap "csv:$scratch/pipe" 2>"$scratch/errors" || status=$?
    wait
    [ "$status" = 1 ] && [ "$(wc -l <"$scratch/errors")" = 1 ] &&
        grep -q 'cannot write: Broken pipe' "$scratch/errors" && grep -q '"partial": true' "$report"
}
check "a reader that quits ends the run; the report is whole" reader_quits

cannot_open() {
    fails_with 1 'no/such: cannot write' traced --tap "csv:$scratch/no/such"
}
check "a file that cannot be made" cannot_open
check "a kind that is none" fails_with 2 "'cvs' is no tracer.*binary, csv, calls" traced --tap cvs:x
check "a trigger that is none" fails_with 2 "'5' is not a trigger" traced --tap csv:x,start=5
check "a setting that is none" fails_with 2 "'stopp=insn:5' is no setting" traced --tap csv:x,stopp=insn:5
check "a word that is no setting" fails_with 2 "'random' is no setting" traced --tap tip:x,random
check "a setting without its value" fails_with 2 "'interval:5' is no setting" traced --tap bbv:x,interval:5
check "standard output is no file" fails_with 2 "csv:-: standard output has the report" traced --tap csv:-
check "two tracers into one file" fails_with 2 "$scratch/x is the file of another" \
    traced --tap "csv:$scratch/x" --tap "life:$scratch/x"

# Files beside FILE: none beside a device.
devices() {
    local before
    before=$(echo /dev/null*)
    traced --tap csv:/dev/null --tap bbv:/dev/null && [ ! -e /dev/null.blocks ] &&
        run sim --output /dev/null --limit 1M --tap bbv:/dev/null -- "$WORKLOADS/x86_64/threads" >/dev/null &&
        [ "$(echo /dev/null*)" = "$before" ]
}
check "a device takes all, and nothing lies beside it" devices
check "an interval of what has none" fails_with 2 'csv has no interval' traced --tap csv:x,interval=5

# larger FILE BYTES
larger() {
    [ -e "$1" ] && [ "$(stat -c %s "$1")" -gt "$2" ]
}
# Killed while it writes: what is there is whole blocks, but for the last.
killed() {
    run trace --stop --limit 20M --output "$scratch/long.ctrace" -- gzip -9 -c /usr/bin/python3 \
        >/dev/null 2>&1
    "$CULPRIT" sim --output "$report" --tap "binary:$scratch/killed.bin" "$scratch/long.ctrace" &
    local child=$!
    until_true $child larger "$scratch/killed.bin" 1000000
    kill -KILL "$child" || return 1
    wait "$child" 2>/dev/null
    python3 -S - "$scratch/killed.bin" <<'PYTHON'
import struct, sys
data = open(sys.argv[1], "rb").read()
at, blocks = 1024, 0
while at + 16 <= len(data):
    kind, thread, size = struct.unpack_from("<IIQ", data, at)
    assert 1 <= kind <= 3
    at += 16 + size
    blocks += at <= len(data)
assert blocks > 5
PYTHON
}
check "readable after a kill" killed
finish
