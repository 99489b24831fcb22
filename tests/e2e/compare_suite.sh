# compare --suite: several pairs from a file, a row each, and the geometric mean of their changes.
. tests/e2e/lib.sh
cd "$scratch" || exit 1

cat >work.c <<'PROGRAM'
#include <stdlib.h>
int main(int count, char **arguments) {
    volatile int sum = 0;
    for (int i = 0; i < (count > 1 ? atoi(arguments[1]) : 1000) * ROUNDS; i++)
        sum += i;
    return 0;
}
PROGRAM
cc -O1 -g -static -DROUNDS=1 -o once work.c && cc -O1 -g -static -DROUNDS=2 -o twice work.c || exit 1
cat >pairs.ini <<'PAIRS'
; two builds, both ways
[slower]
old = ./once
new = ./twice
arguments = 20000
[faster]
old = ./twice
new = ./once
arguments = 20000
[the same]
old = ./once 5000
new = ./once 5000
PAIRS

rows() {
    run compare --suite pairs.ini --json --fail-above 5 -o suite.json
    [ $? = 1 ] && run compare --json -o pair.json ./once ./twice 20000 &&
        run compare --suite pairs.ini -o text && cat text && python3 -S - <<'PYTHON'
import json
suite, pair = json.load(open("suite.json")), json.load(open("pair.json"))
slower, faster, same = suite["pairs"]
assert [row["name"] for row in suite["pairs"]] == ["slower", "faster", "the same"]
for key in ("before", "after", "percent", "sentence", "verdict"):
    assert slower[key] == pair[key], key
assert slower["verdict"] == "slower" and faster["verdict"] == "faster" and same["percent"] == 0
assert slower["percent"] > 20 and slower["failure"] is None
# One is the other turned round, so that their ratios multiply to 1.
ratios = 1
for row in suite["pairs"]:
    ratios *= 1 + row["percent"] / 100
assert abs(ratios - 1) < 1e-9 and abs(suite["geometric_mean_percent"]) < 1e-9
PYTHON
    grep -q '^geometric mean: +0.00 % cycles$' text && grep -qE '^slower +[0-9.]+ k +[0-9.]+ M +\+[0-9.]+ %' text && fits_100 text
}
check "each pair is what compare says of it, the mean is geometric, and one slower pair fails the suite" rows
markdown() {
    run compare --suite pairs.ini --markdown -o table.md && grep -q '^\*\*+0.00 % cycles in the geometric mean of 3 pairs\*\*$' table.md &&
        [ "$(grep -c '^| ' table.md)" = 4 ]
}
check "as Markdown" markdown

judged() {
    sed '/^\[slower/,/^arguments/d' pairs.ini >good.ini && run compare --suite good.ini --fail-above 5 -o /dev/null
}
check "without a slower pair it does not fail" judged

a_pair_fails() {
    sed 's,^new = ./twice,new = ./nowhere,; /^\[the same/,$d' pairs.ini >bad.ini
    run compare --suite bad.ini --fail-above 5 --json -o suite.json 2>said
    [ $? = 125 ] && cat said && grep -q '^culprit: \[slower\]: .*nowhere' said && python3 -S -c '
import json
rows = json.load(open("suite.json"))["pairs"]
assert "nowhere" in rows[0]["failure"] and "percent" not in rows[0] and rows[1]["verdict"] == "faster"'
}
check "a pair that cannot be compared is named, and the others are compared" a_pair_fails

mistakes() {
    printf '[a]\nold = x\n' >half.ini && fails_with 1 'half.ini: \[a\] has no new' run compare --suite half.ini &&
        printf '[a]\nold = x\nnwe = y\n' >typo.ini && fails_with 1 'typo.ini:3: nwe: one of old, new, arguments' run compare --suite typo.ini &&
        printf 'old = x\n' >bare.ini && fails_with 1 'bare.ini:1: old belongs to no \[pair\]' run compare --suite bare.ini &&
        printf '[a]\nold = x\nnew = y\n[b]\nold = x\nnew = y\n[a]\nold = z\n' >again.ini && fails_with 1 'again.ini:8: \[a\] is there twice' run compare --suite again.ini &&
        : >empty.ini && fails_with 1 'there is no \[pair\]' run compare --suite empty.ini && fails_with 1 'nowhere.ini' run compare --suite nowhere.ini &&
        fails_with 2 'one more word' run compare --suite pairs.ini ./once
}
check "mistakes in the file are told by line" mistakes

finish
