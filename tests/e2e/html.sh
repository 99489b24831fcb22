# --html: one self-contained page, whose data are those of --json; names in it are never markup.
. tests/e2e/lib.sh
cd "$scratch" || exit 1
browser=$OLDPWD/tests/browser/pages.py

# A function that a page must not take for markup, and a few that are called.
cat >hostile.c <<'PROGRAM'
#include <stdlib.h>
__attribute__((noipa)) int hot(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += i % 7 ? i : -i;
    return sum;
}
__attribute__((noipa)) int evil(int n) __asm__("\"</script><img src=x onerror=window.hacked=1>\"");
int evil(int n) {
    return hot(n) + hot(n / 2);
}
int main(void) {
    return evil(20000) == 1;
}
PROGRAM
cc -O1 -g -static -o hostile hostile.c || exit 1
mkdir names && python3 -S "$OLDPWD/tests/e2e/hostile_names.py" names || exit 1

# page_is PAGE JSON: its data are the report, what they stand for is there, and its policy knows its
# script and style.
cat >page.py <<'PROGRAM'
import base64, hashlib, html.parser, json, re, sys
text = open(sys.argv[1]).read()

class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.now, self.parts, self.policy = None, [], None
    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if attributes.get("http-equiv") == "Content-Security-Policy":
            self.policy = attributes["content"]
        assert "src" not in attributes and "href" not in attributes, attributes
        if tag in ("script", "style"):
            self.now = [tag, attributes.get("id"), ""]
            self.parts.append(self.now)
    def handle_endtag(self, tag):
        self.now = None
    def handle_data(self, data):
        if self.now:
            self.now[2] += data

page = Page()
page.feed(text)
for tag, name, content in page.parts:
    if not name:
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in page.policy, (tag, page.policy)
assert "default-src 'none'" in page.policy
data = {name: json.loads(content) for tag, name, content in page.parts if name}
report = json.load(open(sys.argv[2]))
for key in ("seconds", "model_seconds", "simulation_seconds", "instructions_per_second"):
    data["report"].pop(key, None), report.pop(key, None)
assert data["report"] == report
PROGRAM
page_is() {
    python3 -S page.py "$@"
}

page_of_simulation() {
    run sim --json -o report.json --html page.html -- ./hostile && page_is page.html report.json &&
        cat page.py - >profile.py <<'PROGRAM'
assert {row[0] for row in data["components"]} == set(report["components"]) and data["components"][-1][3] == "Base"
profile = data["profile"]
units = sum(row[7] for row in profile["functions"])
assert units == report["units"], (units, report["units"])
texts, names = profile["texts"], [row[0] for row in profile["functions"]]
hot = next(i for i, row in enumerate(profile["functions"]) if row[0] >= 0 and texts[row[0]] == "hot")
insns = next(code["insns"] for code in profile["code"] if code["function"] == hot)
flat = [units for insn in insns for units in insn[9][1::2]]
assert sum(flat) == profile["functions"][hot][7]
assert profile["functions"][hot][6] == sum(insn[8] for insn in insns)
tree = profile["tree"]
assert tree["parent"][0] == -1 and all(0 <= parent < i for i, parent in enumerate(tree["parent"]) if i)
assert abs(sum(tree["self"]) - report["cycles"]) < 1 and abs(sum(tree["cell_cycles"]) - report["cycles"]) < 1
calls = {texts[profile["procedures"][p][0]]: n for p, n in zip(tree["procedure"][1:], tree["calls"][1:])}
assert calls["hot"] == 2, calls
loop = max(profile["loops"], key=lambda row: row[10])
assert texts[loop[0]] == "hot" and loop[8] == 30000 and loop[9] == 2, loop  # rounds, entries
source = next(part for part in profile["sources"] if part["file"].endswith("hostile.c"))
at = loop[5] - source["first"]
assert "for (int i" in source["lines"][at] or "sum +=" in source["lines"][at], source
series = profile["series"]
assert series["clock"] == "instructions" and len(series["threads"]) == 1 and not profile["time"]
thread = series["threads"][0]
assert sum(thread["instructions"]) == report["instructions"] and thread["doing"] == {}
for name, cycles in report["components"].items(): # each stretch is rounded
    column = thread["cycles"].get(name, [])
    assert abs(sum(column) - cycles) <= 0.5 * len(column) + 0.01, (name, sum(column), cycles)
levels = profile["top_down"]
assert sum(level["slots"] for level in levels["levels"] if level["depth"] == 1) == levels["slots"]
assert sum(row[7] for row in profile["functions"]) == sum(units for row in profile["functions"] for units in row[8][1::2])
PROGRAM
    python3 -S profile.py page.html report.json
}
check "the page of a simulation has the report, all functions, calls, loops, code and levels" page_of_simulation

# What functions, files, the machine and the command are called; every name is there, as the report has it.
hostile_names() {
    cp "$OLDPWD/machines/zen4.ini" 'names/<script>window.hacked=1<!--.ini' &&
        run sim --machine 'names/<script>window.hacked=1<!--.ini' --tree --top 0 --json -o report.json --html names.html -- \
            names/\<img* '"</script><script>window.hacked=1</script>' $'\xff' __proto__ && page_is names.html report.json &&
        cat page.py - >names.py <<'PROGRAM'
import html.parser
class Tags(html.parser.HTMLParser):
    tags = []
    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        assert not any(name.startswith("on") for name, value in attributes)
tags = Tags()
tags.feed(text)
assert {*tags.tags} == {"html", "head", "meta", "title", "style", "body", "noscript", "div", "script"}, tags.tags
assert len([tag for tag in tags.tags if tag == "script"]) == 4, tags.tags
shown = {data["profile"]["texts"][row[0]] for row in data["profile"]["functions"] if row[0] >= 0}
told = {row["function"] for row in report["functions"] if row["function"]}
assert shown == told
def said(name): # what steers and is not escaped in JSON, and what is no character, is a question mark
    steers = lambda c: 127 <= ord(c) < 160 or ord(c) in (0x200e, 0x200f) or 0x2028 <= ord(c) <= 0x202e or 0x2066 <= ord(c) <= 0x2069
    return "".join("?" if steers(c) or 0xd800 <= ord(c) < 0xe000 else c for c in name)
names = json.load(open("names/names.json"))
lost = [what for what, name in names if said(name) not in shown]
assert len(names) >= 20 and not lost, (lost, sorted(shown))
PROGRAM
    python3 -S names.py names.html report.json
}
check "25 hostile names are in the page, each as the report has it, and none is markup" hostile_names

same_text() {
    run sim --repeatable -o with.txt --html page.html -- ./hostile && run sim --repeatable -o without.txt -- ./hostile &&
        same_file with.txt without.txt
}
check "a page changes nothing of the text" same_text

time_is_told() {
    run explain --no-what-if --regions-over 100K --regions 6 --json -o report.json --html regions.html -- ./hostile &&
        page_is regions.html report.json && cat page.py - >time.py <<'PROGRAM'
told = data["profile"]["time"]
assert len(told["regions"]) == report["regions"]["simulated"]
assert sum(phase[2] for phase in told["phases"]) == report["instructions"]
at = 0
for thread, first, instructions, cluster in told["phases"]:
    assert thread == 0 and first == at
    at += instructions
assert {region[3] for region in told["regions"]} == {phase[3] for phase in told["phases"]}
assert sum(region[5] for region in told["regions"]) == report["instructions"]
assert all(sum(region[6][1::2]) == 840 * region[4] for region in told["regions"])
assert data["profile"]["series"] is None
PROGRAM
    python3 -S time.py regions.html report.json
}
check "that of an explanation by regions has the phases, and the regions that stand for them" time_is_told

threads_in_time() {
    run sim --json -o report.json --html threads.html -- "$WORKLOADS/x86_64/barrier" uneven 2 2 &&
        page_is threads.html report.json && cat page.py - >threads.py <<'PROGRAM'
series = data["profile"]["series"]
assert series["clock"] == "cycles" and len(series["threads"]) == len(report["threads"]) == 2
for thread, told in zip(series["threads"], report["threads"]):
    doing = {name: sum(column) for name, column in thread["doing"].items()}
    assert thread["thread"] == told["thread"] and sum(thread["instructions"]) == told["instructions"]
    assert sum(doing.values()) == told["end_cycle"] - told["begin_cycle"], (doing, told)
    assert doing["running"] == told["running_cycles"]
    assert sum(doing.get(name, 0) for name in ("barrier", "event", "join")) == told["waiting_cycles"]
    for column in thread["doing"].values():
        assert (len(column) - 1) * thread["doing_width"] < told["end_cycle"]
assert "barrier" in series["threads"][0]["doing"]
PROGRAM
    python3 -S threads.py threads.html report.json
}
check "that of threads has what they did over the cycles of the program" threads_in_time

others() {
    local verb
    run icost --json -o report.json --html other.html -- ./hostile && page_is other.html report.json &&
        run compare --json -o report.json --html other.html ./hostile ./hostile && page_is other.html report.json &&
        run profilers --json -o report.json --html other.html -- ./hostile && page_is other.html report.json &&
        run sharing --json -o report.json --html other.html -- ./hostile && page_is other.html report.json &&
        run trace -o hostile.ctrace -- ./hostile 2>said || { cat said; return 1; }
    run predict --sweep rob=64,256 --json -o report.json --html other.html --svg picture.svg hostile.ctrace &&
        cat page.py - >picture.py <<'PROGRAM' && python3 -S picture.py other.html report.json || return 1
assert data["picture"] == open("picture.svg").read()
PROGRAM
    for verb in predict contend throughput; do
        run "$verb" --json -o report.json --html other.html hostile.ctrace && page_is other.html report.json || { echo "$verb"; return 1; }
    done
}
check "other verbs have pages, too" others

# The second build does its work twice, and calls something else besides.
two_trees() {
    sed 's/return hot(n) + hot(n \/ 2);/return hot(n) + hot(2 * n);/' hostile.c >other.c && cc -O1 -g -static -o other other.c &&
        run compare --json -o report.json --html both.html ./hostile ./other && page_is both.html report.json &&
        cat page.py - >calls.py <<'PROGRAM' && python3 -S calls.py both.html report.json || return
calls = data["calls"]
assert calls["unit"] == "cycles" and all(parent < i for i, parent in enumerate(calls["parent"]))
assert abs(sum(calls["before"]) - report["before"]["elapsed_cycles"]) < 1
assert abs(sum(calls["after"]) - report["after"]["elapsed_cycles"]) < 1
hot = next(i for i, row in enumerate(calls["procedures"]) if row[0] == "hot")
frames = [i for i, procedure in enumerate(calls["procedure"]) if procedure == hot]
assert len(frames) == 1 and calls["calls_before"][frames[0]] == calls["calls_after"][frames[0]] == 2
assert calls["after"][frames[0]] > 1.5 * calls["before"][frames[0]]
PROGRAM
    CULPRIT_STORE=$scratch/trees.db run sim --save --tree -o /dev/null -- ./hostile && CULPRIT_STORE=$scratch/trees.db run sim --save --tree -o /dev/null -- ./other &&
        CULPRIT_STORE=$scratch/trees.db run diff --epoch 1 --epoch 2 --json -o report.json --html shares.html &&
        page_is shares.html report.json && cat page.py - >shares.py <<'PROGRAM' && python3 -S shares.py shares.html report.json
calls = data["calls"]
assert calls["unit"] == "% of all cycles" and abs(sum(calls["before"]) - 100) < 1e-3 and abs(sum(calls["after"]) - 100) < 1e-3
PROGRAM
}
check "those of two runs have who called whom in both" two_trees

refusals() {
    fails_with 125 'nowhere' run sim --html /nowhere/page.html -- ./hostile &&
        fails_with 125 'the report goes there' run sim --html same -o same -- ./hostile &&
        fails_with 125 'html -' run sim --html - -- ./hostile
}
check "a page that cannot be written is told before anything runs" refusals

usable() {
    python3 "$browser" "$scratch/names.html" views sorts filters opens_code zooms finds inert keyboard
}
if has chromedriver && python3 -c 'import selenium' 2>/dev/null; then
    check "in a browser a differential flame graph is as wide as in either run" python3 "$browser" "$scratch/both.html" differs
    check "in a browser that of two saved profiles says that it is of shares" python3 "$browser" "$scratch/shares.html" shares
    check "in a browser it draws every view, sorts, filters, zooms, and names stay text" usable
else
    skip "in a browser a differential flame graph is as wide as in either run" "no chromedriver and selenium here (make deps-browser)"
    skip "in a browser that of two saved profiles says that it is of shares" "no chromedriver and selenium here (make deps-browser)"
    skip "in a browser it draws every view, sorts, filters, zooms, and names stay text" "no chromedriver and selenium here (make deps-browser)"
fi

finish
