# Each experiment has its page and picture, and the pictures show the numbers that they are given.
. tests/e2e/lib.sh

has_page() {
    local name=$1 page=docs/results/$1.md
    grep -qF "<!-- measured: rewritten by experiments/$name.py from here on -->" "$page" || return 1
    grep -q '^|---' "$page" || { echo "no table in $page"; return 1; }
    grep -qF "($name.svg)" "$page" && python3 -S -c '
import sys, xml.dom.minidom
xml.dom.minidom.parse(sys.argv[1])' "docs/results/$name.svg"
}
for script in experiments/*.py; do
    name=$(basename "$script" .py)
    [ -e "docs/results/$name.svg" ] || continue
    check "experiment $name has a page with table and picture" has_page "$name"
done

# Every page says in its text how it is made, by scripts that are there; every script has its page, and
# every picture.
pages_say_how_they_are_made() {
    python3 -S - <<'PYTHON'
import glob, os, re, sys
SCRIPT = r"(?:experiments|bench)/[\w-]+\.(?:py|sh)"
COMMAND = re.compile(rf"`(?:[A-Z]+=\S+ )*(?:python3 -B )?({SCRIPT})(?: [^`]*)?`")
wrong, made, shown = [], set(), set()
for path in sorted(glob.glob("docs/results/*.md")):
    text = open(path).read()
    seen = re.sub(r"<!--.*?-->", "", text, flags=re.S)
    commands = set(COMMAND.findall(seen))
    made |= commands
    shown |= set(re.findall(r"!\[[^]]*\]\((.*?)\)", seen))
    if not commands:
        wrong.append(f"{path} says no command that makes it")
    wrong += [f"{path} names {script}, which is not there"
              for script in sorted(set(re.findall(SCRIPT, text))) if not os.path.exists(script)]
    wrong += [f"{path} does not say how {script} is run"
              for script in re.findall(r"rewritten by (\S+)", text) if script not in commands]
for script in glob.glob("experiments/*.py") + glob.glob("experiments/*.sh"):
    others = set(glob.glob("experiments/*.*")) - {script}
    if script not in made and not any(script in open(other).read() for other in others):
        wrong.append(f"no page says that {script} makes it")
drawn = set(map(os.path.basename, glob.glob("docs/results/*.svg")))
wrong += [f"no page shows {picture}" for picture in drawn - shown]
wrong += [f"a page shows {picture}, which is not there" for picture in shown - drawn]
sys.exit("\n".join(wrong) or 0)
PYTHON
}
check "every page of results says how it is made" pages_say_how_they_are_made

draws() {
    PYTHONPATH=experiments python3 -S -B - "$scratch/drawn.svg" <<'PYTHON'
import re, sys, xml.dom.minidom
from lib import svg
def rects(path):
    page = xml.dom.minidom.parse(path)
    found = {}
    for rect in page.getElementsByTagName("rect"):
        title = rect.getElementsByTagName("title")
        if title and title[0].firstChild:
            found[title[0].firstChild.data] = rect
    return found
path = sys.argv[1]
def height(rect):
    return float(rect.getAttribute("height"))
def top(rect):
    return float(rect.getAttribute("y"))

# Bars are as high as their values are large; an axis with a limit cuts, and says what was cut.
svg.figure(path, [svg.Bars("a < b & c", "%", ["x", "y"], [("s", [1, 2]), ("t", [4, None])])])
bars = rects(path)
assert set(bars) == {"x, s: 1", "y, s: 2", "x, t: 4"}, bars
assert abs(height(bars["y, s: 2"]) - 2 * height(bars["x, s: 1"])) < 0.2
assert abs(height(bars["x, t: 4"]) - 4 * height(bars["x, s: 1"])) < 0.2
svg.figure(path, [svg.Bars("cut", "%", ["x"], [("s", [80])], limit=50)])
assert ">80</text>" in open(path).read()

# Parts stand on each other.
svg.figure(path, [svg.Stacks("stack", "%", ["x"], [("p", [3]), ("q", [1]), ("none", [0])])])
bars = rects(path)
assert set(bars) == {"x, p: 3", "x, q: 1"}, bars
assert abs(top(bars["x, p: 3"]) - top(bars["x, q: 1"]) - height(bars["x, q: 1"])) < 0.2

# Quartiles by interpolation; round numbers on axes.
assert svg.quantile([1, 2, 3, 4], 0.25) == 1.75 and svg.quantile([5], 0.5) == 5
assert svg.steps(0, 90) == [0, 20, 40, 60, 80, 100] and svg.steps(0, 0.9)[-1] == 1
assert svg.number_text(12500) == "12.5K" and svg.number_text(1e6) == "1M"
svg.figure(path, [svg.Boxes("box", "r", [("e", [1, 2, 3, 4]), ("none", [])], marks=("m", [2, None]))])
assert "e: median 2.5, half of all 1.75 to 3.25" in rects(path)
svg.figure(path, [svg.Lines("line", "n", "%", [10, 100, 1000], [("s", [1, 2, 3])], logarithmic=True)])
xs = [float(x) for x in re.findall(r'<path [^>]*translate\(([0-9.]+) ', open(path).read())][1:]
assert abs((xs[1] - xs[0]) - (xs[2] - xs[1])) < 0.2, xs
PYTHON
}

# What made pictures hard to read: names over the next one's square, one profiler in two colours,
# two parts in one, values over the legend, numbers over each other.
reads() {
    PYTHONPATH=experiments python3 -S -B - "$scratch/drawn.svg" <<'PYTHON'
import re, sys
from lib import svg
path = sys.argv[1]
def drawn(*panels):
    svg.figure(path, panels)
    return open(path).read()
def fills(text):
    """Colours by the name of the series, from the titles of bars."""
    return {name: fill for fill, name in re.findall(r'fill="(#\w+)"><title>x, ([^:]*):', text)}

text = drawn(svg.Bars("b", "%", ["x"], [("SWAM-MLP", [1]), ("sliding", [2])]))
squares = [float(x) for x in re.findall(r'<rect x="([0-9.]+)"[^>]*width="12.0"', text)]
assert squares[1] > squares[0] + 18 + 66.7 + 8, squares  # DejaVu Sans of 12 pixels

all_profilers = ["Software", "Dispatch", "LCI", "NCI", "NCI+ILP", "TIP-ILP", "TIP"]
every = fills(drawn(svg.Bars("b", "%", ["x"], [(name, [1]) for name in all_profilers])))
some = fills(drawn(svg.Bars("b", "%", ["x"], [(name, [1]) for name in ("NCI", "TIP-ILP", "TIP")])))
assert len(set(every.values())) == 7 and all(every[name] == some[name] for name in some), (every, some)

parts = ["unknown", "execute", "another", "LLC miss", "ST-TLB", "third"]
colours = fills(drawn(svg.Stacks("s", "%", ["x"], [(name, [1]) for name in parts])))
assert len(set(colours.values())) == len(parts), colours

text = drawn(svg.Bars("cut", "%", ["x"], [("s", [120])], limit=100))
legend = float(re.search(r'y="([0-9.]+)" width="12.0"', text).group(1)) + 12
written = float(re.search(r'y="([0-9.]+)"[^>]*>120<', text).group(1))
assert written > legend + 12, (legend, written)

text = drawn(svg.Lines("l", "n", "%", list(range(1, 51)), [("s", list(range(50)))]))
numbers = [(float(x), word) for x, y, word in re.findall(
    r'<text x="([0-9.]+)" y="([0-9.]+)" text-anchor="middle"[^>]*>(\d+)<', text)]
assert len(numbers) >= 13 and len({round(b[0] - a[0]) for a, b in zip(numbers, numbers[1:])}) <= 2
assert all(b[0] - a[0] > 7.6 * len(b[1]) for a, b in zip(numbers, numbers[1:])), numbers

# Turned names do not begin left of the picture: of 20 groups the first has 23 letters of 7.4 pixels.
text = drawn(svg.Bars("b", "%", ["pending sum_values abcde"] + ["g"] * 19, [("s", [1] * 20)]), )
x = float(re.search(r'<text x="([0-9.]+)"[^>]*rotate[^>]*>pending sum', text).group(1))
assert x - 0.766 * 7.0 * 23 > 0, x

# Points lie on the diagonal where both are the same, and the axes are alike.
text = drawn(svg.Scatter("p", "x", "y", [("s", [(1, 1), (0.00001, 10), (0, 5)])]))
(x1, y1), (x2, y2) = [tuple(map(float, pair)) for pair in
                      re.findall(r'translate\(([0-9.]+) ([0-9.]+)\)', text)[1:]]
diagonal = [float(v) for v in re.search(r'x1="([0-9.]+)" y1="([0-9.]+)" x2="([0-9.]+)" y2="([0-9.]+)" '
                                        r'stroke="#888"', text).groups()]
share = (x1 - diagonal[0]) / (diagonal[2] - diagonal[0])
assert abs(share - 5 / 6) < 0.01 and abs((y1 - diagonal[1]) / (diagonal[3] - diagonal[1]) - share) < 0.01
assert x2 == diagonal[0] and abs(y2 - diagonal[3]) < 0.11 and ">0.00001<" in text

text = drawn(svg.Lines("l", "n", "%", [1, 2], [("s", [1, 2]), ("t", [2, 1])], dashed={"t": "s"}))
lines = re.findall(r'stroke="(#\w+)" stroke-width="2"( stroke-dasharray)?', text)
assert len(lines) == 2 and lines[0][0] == lines[1][0] and [bool(d) for _, d in lines] == [False, True], lines
PYTHON
}
check "pictures show the numbers that they are given" draws
check "pictures can be read" reads

finish
