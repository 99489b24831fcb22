# sim and explain --by field: what the fields of structs cost, by debug information.
. tests/e2e/lib.sh
cd "$scratch" || exit 1

# A ring of nodes is walked 30 times: each round loads `next` of every node and nothing else, 400
# nodes a round; `value` of 50 of them is then summed.
cat >ring.c <<'PROGRAM'
#include <stdlib.h>
struct node {
    char name[48];
    struct node *next;
    long value;
};
static struct node nodes[400];
__attribute__((noinline)) static struct node *around(struct node *node, int steps) {
    do
        node = node->next;
    while (--steps);
    return node;
}
__attribute__((noinline)) static long sum(const struct node *first, int count) {
    long all = 0;
    for (int i = 0; i < count; i++)
        all += first[i].value;
    return all;
}
int main(void) {
    for (int i = 0; i < 400; i++)
        nodes[i].next = &nodes[(i + 7) % 400];
    struct node *node = nodes;
    for (int i = 0; i < 30; i++)
        node = around(node, 400);
    return sum(nodes, 50) != 0 || !node;
}
PROGRAM
cc -O1 -g -static -fno-tree-vectorize -fno-unroll-loops -o ring ring.c || exit 1
run sim --by field --top 0 --json -o ring.json -- ./ring 2>why || cat why
cat >fields.py <<'PROGRAM'
import json
report = json.load(open("ring.json"))
fields = report["fields"]
of = lambda name: [row for row in fields if row["type"] == "struct node" and row["field"] == name]
(next_,), (value,) = of("next"), of("value")
assert (next_["offset"], next_["size"], next_["type_size"]) == (48, 8, 64), next_
assert (value["offset"], value["size"]) == (56, 8), value
# 400 stores and 30 x 400 loads; 50 loads
assert next_["executions"] == 12400, next_
assert value["executions"] == 50, value
assert not of("name")
assert abs(sum(row["cycles"] for row in fields) - report["cycles"]) < 1e-6 * report["cycles"]
assert sum(row["executions"] for row in fields) == report["instructions"]
for row in fields:
    assert abs(sum(row["stack"].values()) - row["cycles"]) < 1e-6 * report["cycles"], row
    assert row["miss_cycles"] <= row["cycles"] + 1e-6
    assert (row["type"] is None) == (row["reason"] is not None), row
assert len(fields) == report["field_count"]
PROGRAM
check "fields have the accesses that the source says, and all rows sum to the run" python3 -S fields.py

run explain --no-what-if --by field --top 20 -o ring.txt -- ./ring 2>why || cat why
check "the text has the field with its offset and size" \
    grep -qE ' 12\.4 k +48 +8  struct node\.next' ring.txt
# The misses of data are as many, whether by field or by object.
agree() {
    run trace --data -o ring.ctrace -- ./ring 2>/dev/null && run sim --by field --top 0 --json -o both.json ring.ctrace &&
        run sim --by object --json -o objects.json ring.ctrace && python3 -S - <<'PYTHON'
import json
fields, objects = json.load(open("both.json")), json.load(open("objects.json"))
by_field = sum(row["miss_cycles"] for row in fields["fields"])
data, units = objects["data"], objects["units_per_cycle"]
others = sum(cycles for events, cycles in objects["stack"].items()
             if {"DR-SQ", "FL-MO", "ST-FW", "ST-CO"} & set(events.split("+"))
             and not {"ST-L1", "ST-TLB", "ST-LLC"} & set(events.split("+")))
assert by_field > 0 and abs(by_field - data["data_miss_units"] / units) < 1e-3, (by_field, data)
assert abs(data["data_miss_units"] / units + others + data["code_units"] / units - data["units"] / units) < 1e-3
PYTHON
}
check "misses of data are those by object, whose other events are told apart" agree
both_say() {
    local share
    run sim --by field -o both.txt ring.ctrace && run sim --by object -o objects.txt ring.ctrace &&
        share=$(sed -n 's/^misses of data, which --by field shows, \([0-9.]* %\);.*/\1/p' objects.txt) && [ -n "$share" ] &&
        grep -q "^misses of data (L1, TLB, last level) take $share of all cycles; .* % of these have a type" both.txt
}
check "and both texts say the same share" both_say
check "and what has none, by reason" grep -q '(no memory access)' ring.txt
check "on 60 columns it fits" env COLUMNS=60 "$CULPRIT" sim --by field -o narrow.txt -- ./ring
check "its lines do" bash -c '[ "$(LC_ALL=C.UTF-8 wc -L <narrow.txt)" -le 60 ]'

run sim --fields=node --json -o map.json -- ./ring 2>why || cat why
cat >map.py <<'PROGRAM'
import json
report = json.load(open("map.json"))
struct = report["struct"]
assert (struct["type"], struct["size"], struct["elements"]) == ("struct node", 64, 400), struct
name, next_, value = struct["fields"]
assert [field["field"] for field in struct["fields"]] == ["name[]", "next", "value"]
assert (name["executions"], next_["executions"], value["executions"]) == (0, 12400, 50)
assert not name["together"] and 0 < next_["together"].get("value", 0) < 0.1, next_
assert struct["line_share"] == 1
assert {remedy["kind"] for remedy in struct["remedies"]} == {"reordered", "split"}
for remedy in struct["remedies"]:
    assert abs(remedy["saving"] - (1 - remedy["cycles"] / report["cycles"])) < 1e-9, remedy
split = next(remedy for remedy in struct["remedies"] if remedy["kind"] == "split")
assert "next" in split["hot"] and "name[]" not in split["hot"], split
PROGRAM
check "a struct's map has all fields, and remedies" python3 -S map.py

# Each element is written once, where the compiler may go by what malloc() returned, whose type is
# not known, and read once through a pointer that has one: no access is left out without a word.
cat >blocks.c <<'PROGRAM'
#include <stdlib.h>
struct record {
    long key, rest[7];
};
struct record *records;
__attribute__((noinline)) static long sum(int count) {
    long all = 0;
    for (int i = 0; i < count; i++)
        all += records[i].key;
    return all;
}
int main(void) {
    records = malloc(300 * sizeof *records);
    for (int i = 0; i < 300; i++)
        records[i].key = i;
    return sum(300) == 0;
}
PROGRAM
cc -O2 -g -static -fno-tree-vectorize -fno-unroll-loops -o blocks blocks.c || exit 1
untyped() {
    run sim --fields=record --json -o blocks.json -- ./blocks && run sim --fields=record -o blocks.txt -- ./blocks &&
        python3 -S - <<'PROGRAM'
import json
struct = json.load(open("blocks.json"))["struct"]
key = struct["fields"][0]["executions"]
assert key >= 300 and key + struct["untyped"] == 600, struct
said = [line for line in open("blocks.txt") if "count for no field" in line]
assert len(said) == (struct["untyped"] > 0) and all(line.startswith(f'{struct["untyped"]} more ') for line in said), said
PROGRAM
}
check "accesses to elements without a type are told" untyped
run sim --fields=node -o map.txt -- ./ring 2>why || cat why
check "as text, with what is never touched" grep -qE ' 0 +48 +never .* name' map.txt
check "and what it would save" grep -q ' % split: next' map.txt
run trace -o ring.ctrace -- ./ring 2>why || cat why
check "of a trace, too" bash -c '"$CULPRIT" sim --fields=node ring.ctrace | grep -q " % split: next"'
check "of part of one it is refused" \
    fails_with 2 "--fields: it is about a whole trace" "$CULPRIT" sim --fields --limit 5k ring.ctrace
check "a struct that nothing accesses is said" \
    bash -c '"$CULPRIT" sim --fields=nothing ring.ctrace | grep -q "no field of nothing was accessed"'

cc -O1 -g -o united -xc - <<'PROGRAM' || exit 1
struct item { char name[56]; union { long whole; float part; }; } items[99];
int main(void) {
    for (int i = 0; i < 99; i++)
        items[i].whole += i;
    return 0;
}
PROGRAM
run sim --fields=item -o united.txt -- ./united
check "a union without a name is called by its members" grep -qE ' 56 +8 .* whole\|part' united.txt

cc -O1 -nostdlib -static -o bare -xc - <<'PROGRAM' || exit 1
static volatile long words[64];
void _start(void) {
    for (int i = 0; i < 64; i++)
        words[i]++;
    __asm__ volatile("syscall" ::"a"(60L), "D"(0L));
}
PROGRAM
run sim --by field -o bare.txt -- ./bare
check "without debug information a line says what to do" \
    bash -c "tr '\n' ' ' <bare.txt | grep -q 'bare has no debug information: compile it with -g'"
finish
