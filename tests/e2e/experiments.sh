# Each experiment has its page and picture, and the pictures show the numbers that they are given.
. tests/e2e/lib.sh

has_page() {
    local name=$1 page=docs/results/$1.md
    grep -qF "<!-- measured: rewritten by experiments/$name.py from here on -->" "$page" || return 1
    grep -q '^|---' "$page" || { echo "no table in $page"; return 1; }
    grep -qF "($name.svg)" "$page" && python3 -c '
import sys, xml.dom.minidom
xml.dom.minidom.parse(sys.argv[1])' "docs/results/$name.svg"
}
for script in experiments/case-*.py experiments/fig-*.py experiments/pinpoints.py \
    experiments/simpoint-sweep.py experiments/explain.py experiments/shotgun.py \
    experiments/stalls.py; do
    name=$(basename "$script" .py)
    check "experiment $name has a page with table and picture" has_page "$name"
done

draws() {
    PYTHONPATH=experiments python3 -B - "$scratch/drawn.svg" <<'PYTHON'
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
check "pictures show the numbers that they are given" draws

finish
