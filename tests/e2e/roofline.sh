# --roofline: operations and bytes of a loop are those of its instructions, the roofs those of the
# machine's units and memory; the picture is well-formed.
. tests/e2e/lib.sh
cd "$scratch" || exit 1

# A multiplication and an addition for 16 bytes.
cat >dot.c <<'PROGRAM'
double a[500], b[500];
__attribute__((noipa)) double dot(void) {
    double sum = 0;
    for (int i = 0; i < 500; i++)
        sum += a[i] * b[i];
    return sum;
}
int main(void) {
    double sum = 0;
    for (int i = 0; i < 200; i++)
        sum += dot();
    return sum != 0;
}
PROGRAM
cc -O1 -g -fno-tree-vectorize -o dot dot.c || exit 1

dot_is_told() {
    run "$@" --machine zen4 --top 1 --roofline picture.svg --json -o report.json -- ./dot 2>why || { cat why; return 1; }
    python3 -S - <<'PROGRAM'
import json
roofline = json.load(open("report.json"))["roofline"]
assert roofline["operations"] == "floating point"
computing = [roof["operations_per_second"] for roof in roofline["computing"]]
assert computing[-1] == 2 * 2 * 5e9, computing  # two multiply-adds a cycle at 5 GHz
memory = {roof["name"]: roof["bytes_per_second"] for roof in roofline["memory"]}
assert abs(memory["DRAM"] - 83.2e9) < 1e6, memory
loop = max(roofline["loops"], key=lambda loop: loop["operations"])
assert loop["function"] == "dot"
assert loop["operations"] == 2 * 500 * 200 and loop["bytes"] == 16 * 500 * 200, loop
assert loop["operations_per_byte"] == 1 / 8
# An addition waits for the one before, three cycles: two operations in them, of 5 G cycles a second.
assert abs(loop["operations_per_second"] / (2 / 3 * 5e9) - 1) < 0.1, loop
PROGRAM
    python3 -c 'import sys, xml.dom.minidom as xml; xml.parse("picture.svg")' && grep -q '>dot dot.c:' picture.svg
}
check "sim tells operations and bytes of a loop, and draws them" dot_is_told sim
check "so does explain" dot_is_told explain --no-what-if

table_fits() {
    COLUMNS=80 run sim --machine zen4 --roofline picture.svg -o text -- ./dot &&
        grep -q '^roofline' text && grep -q '0\.125 .* dot' text && [ "$(wc -L <text)" -le 80 ]
}
check "the table is on a page of 80 columns" table_fits
check "a picture that cannot be written is told before anything runs" \
    fails_with 125 'roofline' run sim --roofline /nowhere/picture.svg -- ./dot
report_stays() {
    run sim --roofline /dev/full -o text -- ./dot
    [ $? = 125 ] && grep -q '^roofline' text
}
check "one that cannot be written then leaves the report" report_stays
check "beside levels, too" run sim --machine zen4 --levels --roofline picture.svg -o text -- ./dot

finish
