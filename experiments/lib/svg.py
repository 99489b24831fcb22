"""Charts as SVG: grouped bars, stacked bars, lines and box plots.

A figure is a list of panels, one below the other; each panel is drawn into a frame with a value
axis on the left and names or numbers below. Colours are those of Okabe and Ito, which the
colour-blind can tell apart; series also differ in their order, and lines in their marks."""
import math
from xml.sax.saxutils import escape

COLOURS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#999999",
           "#000000", "#7F3C8D", "#A5AA99", "#4B4B8F"]
# One colour per part of a cycle stack, the same in every picture.
PARTS = {
    "execute": "#999999", "Base": "#999999", "computing": "#999999",
    "ALU stall": "#F0E442",
    "load stall": "#0072B2", "LLC miss": "#0072B2", "llc_miss": "#0072B2", "ST-LLC": "#0072B2",
    "L1 miss": "#56B4E9", "l1_miss": "#56B4E9", "ST-L1": "#56B4E9",
    "TLB miss": "#CC79A7", "tlb_miss": "#CC79A7", "ST-TLB": "#CC79A7",
    "stores": "#009E73", "store stall": "#009E73", "DR-SQ": "#009E73",
    "front end": "#7F3C8D", "front_end": "#7F3C8D", "DR-L1": "#7F3C8D", "DR-TLB": "#A5AA99",
    "mispredict": "#E69F00", "FL-MB": "#E69F00",
    "ST-L1+ST-LLC": "#0072B2", "ST-L1+ST-TLB+ST-LLC": "#00304D", "ST-L1+ST-TLB": "#9A4F79",
    "others": "#DDDDDD",
    "frflags, fsflags": "#D55E00", "all else": "#999999",
    "flush": "#D55E00", "misc. flush": "#D55E00", "FL-EX": "#D55E00", "FL-MO": "#000000",
}
FONT = 12
LETTER = 6.9  # mean width of a letter at that size
LEFT, RIGHT, GAP = 64, 24, 26


def colour_of(name, number):
    return PARTS.get(name, COLOURS[number % len(COLOURS)])


class Canvas:
    def __init__(self):
        self.parts = []

    def rect(self, x, y, width, height, fill, title=""):
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" '
                          f'height="{max(height, 0):.1f}" fill="{fill}">'
                          f'<title>{escape(title)}</title></rect>')

    def line(self, x1, y1, x2, y2, colour="#000", width=1, dash=""):
        dash = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
                          f'stroke="{colour}" stroke-width="{width}"{dash}/>')

    def text(self, x, y, words, anchor="middle", turn=0, bold=False, size=FONT, halo=False):
        turn = f' transform="rotate({turn} {x:.1f} {y:.1f})"' if turn else ""
        style = ' font-weight="bold"' if bold else ""
        if halo:
            style += ' stroke="#fff" stroke-width="3" paint-order="stroke"'
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" '
                          f'font-size="{size}" fill="#222"{style}{turn}>{escape(words)}</text>')

    def mark(self, x, y, number, colour):
        """A point of a line; its shape tells the series as its colour does."""
        shapes = ["M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0", "M-4 -4h8v8h-8z", "M0 -5l5 9h-10z",
                  "M0 -5l5 5l-5 5l-5 -5z", "M-5 -4h10l-5 9z"]
        self.parts.append(f'<path d="{shapes[number % len(shapes)]}" fill="{colour}" '
                          f'transform="translate({x:.1f} {y:.1f})"/>')

    def write(self, path, width, height):
        with open(path, "w") as out:
            out.write(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" '
                      f'height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}" '
                      f'font-family="DejaVu Sans, Verdana, sans-serif">\n'
                      f'<rect width="{width:.0f}" height="{height:.0f}" fill="#fff"/>\n')
            out.write("\n".join(self.parts))
            out.write("\n</svg>\n")


def steps(low, high, count=6):
    """Round numbers from `low` to beyond `high`, about `count` of them."""
    if high <= low:
        high = low + 1
    raw = (high - low) / count
    power = 10 ** math.floor(math.log10(raw))
    step = next(power * n for n in (1, 2, 2.5, 5, 10) if power * n >= raw)
    first = math.floor(low / step + 1e-9)
    last = math.ceil(high / step - 1e-9)
    return [n * step for n in range(first, last + 1)]


def number_text(value):
    for unit, letter in (1e6, "M"), (1e3, "K"):
        if abs(value) >= unit:
            return f"{value / unit:.10g}{letter}"
    return f"{value:.10g}"


class Panel:
    """What the kinds of charts share. `limit` cuts the value axis; what is higher is cut off and
    its value written above. `low` is where the axis begins."""

    def __init__(self, title, value_title, low=0, limit=None, height=240):
        self.title, self.value_title = title, value_title
        self.low, self.limit, self.height = low, limit, height

    def legend_rows(self, width):
        rows, used = [[]], 0
        for entry in self.legend():
            space = len(entry[0]) * LETTER + 30
            if used + space > width and rows[-1]:
                rows.append([])
                used = 0
            rows[-1].append(entry)
            used += space
        return rows if rows[0] else []

    def below(self):
        """Room for names below the frame."""
        names = self.names()
        turned = self.turned
        return (max(len(name) for name in names) * LETTER * 0.72 + 24) if turned else 40

    def prepare(self, width):
        inner = width - LEFT - RIGHT
        names = self.names()
        self.turned = bool(names) and max(len(n) for n in names) * LETTER > inner / len(names) - 4
        self.rows = self.legend_rows(inner)
        return 26 + 18 * len(self.rows) + self.height + self.below() + GAP

    def draw(self, canvas, top, width):
        canvas.text(LEFT, top + 16, self.title, anchor="start", bold=True, size=FONT + 1)
        y = top + 26
        for row in self.rows:
            x = LEFT
            for name, colour, shape in row:
                if shape is None:
                    canvas.rect(x, y, 12, 12, colour)
                else:
                    canvas.mark(x + 6, y + 6, shape, colour)
                canvas.text(x + 18, y + 10, name, anchor="start")
                x += len(name) * LETTER + 30
            y += 18
        self.x0, self.x1 = LEFT, width - RIGHT
        self.y0, self.y1 = y + self.height, y + 12
        ticks = steps(self.low, self.limit if self.limit is not None else self.highest())
        self.floor, self.top = ticks[0], ticks[-1]
        for tick in ticks:
            at = self.y_of(tick)
            canvas.line(self.x0, at, self.x1, at, "#ddd")
            canvas.text(self.x0 - 6, at + 4, number_text(tick), anchor="end")
        canvas.text(16, (self.y0 + self.y1) / 2, self.value_title, turn=-90)
        self.plot(canvas)
        canvas.line(self.x0, self.y0, self.x1, self.y0, "#222")
        canvas.line(self.x0, self.y0, self.x0, self.y1, "#222")

    def y_of(self, value):
        share = (value - self.floor) / (self.top - self.floor)
        return self.y0 - (self.y0 - self.y1) * min(max(share, 0), 1)

    def name_below(self, canvas, x, name):
        if self.turned:
            canvas.text(x + 4, self.y0 + 14, name, anchor="end", turn=-40)
        else:
            canvas.text(x, self.y0 + 16, name)

    def bar(self, canvas, x, width, low, high, colour, title):
        canvas.rect(x, self.y_of(high), width, self.y_of(low) - self.y_of(high), colour, title)

    def note_cut(self, canvas, x, value):
        if value > self.top * 1.001:  # more than the error of a sum
            canvas.text(x + 3, self.y1 - 2, f"{value:.0f}", anchor="start", turn=-60, size=9)


class Bars(Panel):
    """Groups of bars beside each other: `groups` names, `series` of (name, values)."""

    def __init__(self, title, value_title, groups, series, **options):
        super().__init__(title, value_title, **options)
        self.groups, self.series = groups, series

    def names(self):
        return self.groups

    def legend(self):
        return [(name, colour_of(name, i), None) for i, (name, _) in enumerate(self.series)]

    def highest(self):
        return max(v for _, values in self.series for v in values if v is not None)

    def plot(self, canvas):
        space = (self.x1 - self.x0) / len(self.groups)
        width = min(0.8 * space / len(self.series), 40)
        for g, group in enumerate(self.groups):
            middle = self.x0 + (g + 0.5) * space
            left = middle - width * len(self.series) / 2
            for s, (name, values) in enumerate(self.series):
                if values[g] is None:
                    continue
                self.bar(canvas, left + s * width, width * 0.94, self.floor, values[g],
                         colour_of(name, s), f"{group}, {name}: {values[g]:.4g}")
                self.note_cut(canvas, left + s * width, values[g])
            self.name_below(canvas, middle, group)


class Stacks(Panel):
    """Stacked bars: `bars` of names, `parts` of (name, values from the axis on, negative ones
    downward: `low` must then be below). `clusters`: how many bars stand together, one number each; `overlay` a (name, values) drawn as marks on an axis
    of its own on the right."""

    def __init__(self, title, value_title, bars, parts, clusters=None, overlay=None, **options):
        super().__init__(title, value_title, **options)
        self.bars, self.overlay = bars, overlay
        self.parts = [(name, values) for name, values in parts if any(values)]
        self.clusters = clusters or [1] * len(bars)

    def names(self):
        return self.bars

    def legend(self):
        entries = [(name, colour_of(name, i), None) for i, (name, _) in enumerate(self.parts)]
        return entries + ([(self.overlay[0], "#000", 0)] if self.overlay else [])

    def highest(self):
        return max(sum(max(values[b], 0) for _, values in self.parts)
                   for b in range(len(self.bars)))

    def plot(self, canvas):
        gaps = len(self.clusters)
        space = (self.x1 - self.x0) / (len(self.bars) + 0.6 * gaps)
        width = min(space * 0.86, 46)
        x, b, middles = self.x0 + 0.3 * space, 0, []
        for cluster in self.clusters:
            for _ in range(cluster):
                middle, low, under = x + space / 2, 0, 0
                for i, (name, values) in enumerate(self.parts):
                    value = values[b]
                    begin = low if value >= 0 else under + value
                    self.bar(canvas, middle - width / 2, width, begin, begin + abs(value),
                             colour_of(name, i), f"{self.bars[b]}, {name}: {value:.4g}")
                    low += max(value, 0)
                    under += min(value, 0)
                self.note_cut(canvas, middle - width / 2, low)
                self.name_below(canvas, middle, self.bars[b])
                middles.append(middle)
                x += space
                b += 1
            x += 0.6 * space
        if self.overlay:
            self.plot_overlay(canvas, middles)

    def plot_overlay(self, canvas, middles):
        ticks = steps(min(self.overlay[1]), max(self.overlay[1]), 5)
        at = [self.y0 - (self.y0 - self.y1) * (v - ticks[0]) / (ticks[-1] - ticks[0])
              for v in self.overlay[1]]
        for (x1, y1), (x2, y2) in zip(zip(middles, at), zip(middles[1:], at[1:])):
            canvas.line(x1, y1, x2, y2, "#000", 1.5)
        for x, y, value in zip(middles, at, self.overlay[1]):
            canvas.mark(x, y, 0, "#000")
            canvas.text(x, y - 8, f"{value:.2f}", size=10, halo=True)


class Lines(Panel):
    """Lines: `x` numbers, `series` of (name, values); `logarithmic` the axis below."""

    def __init__(self, title, x_title, value_title, x, series, logarithmic=False, **options):
        super().__init__(title, value_title, **options)
        self.x, self.x_title, self.series, self.logarithmic = x, x_title, series, logarithmic

    def names(self):
        return []

    def below(self):
        return 44

    def legend(self):
        return [(name, colour_of(name, i), i) for i, (name, _) in enumerate(self.series)]

    def highest(self):
        return max(v for _, values in self.series for v in values if v is not None)

    def x_of(self, value):
        scale = math.log10 if self.logarithmic else float
        low, high = scale(self.x[0]), scale(self.x[-1])
        return self.x0 + 14 + (self.x1 - self.x0 - 28) * (scale(value) - low) / (high - low)

    def plot(self, canvas):
        for value in self.x:
            canvas.line(self.x_of(value), self.y0, self.x_of(value), self.y0 + 4, "#222")
            canvas.text(self.x_of(value), self.y0 + 17, number_text(value))
        canvas.text((self.x0 + self.x1) / 2, self.y0 + 36, self.x_title)
        for s, (name, values) in enumerate(self.series):
            points = [(self.x_of(x), self.y_of(v)) for x, v in zip(self.x, values) if v is not None]
            for before, after in zip(points, points[1:]):
                canvas.line(*before, *after, colour_of(name, s), 2)
            for point in points:
                canvas.mark(*point, s, colour_of(name, s))


def quantile(values, share):
    ordered = sorted(values)
    at = share * (len(ordered) - 1)
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)


class Boxes(Panel):
    """Box plots: `boxes` of (name, values): the middle half in the box with the median, whiskers to
    the extremes, a diamond at the mean. `marks`: a (name, values) of one more point each, or None,
    as the paper's figure."""

    def __init__(self, title, value_title, boxes, marks=None, **options):
        super().__init__(title, value_title, **options)
        self.boxes, self.marks = boxes, marks

    def names(self):
        return [name for name, _ in self.boxes]

    def legend(self):
        entries = [("mean", "#000", 3)]
        return entries + ([(self.marks[0], "#D55E00", 1)] if self.marks else [])

    def highest(self):
        values = [v for _, values in self.boxes for v in values]
        return max(values + [v for v in (self.marks[1] if self.marks else []) if v is not None])

    def plot(self, canvas):
        space = (self.x1 - self.x0) / len(self.boxes)
        for b, (name, values) in enumerate(self.boxes):
            middle, half = self.x0 + (b + 0.5) * space, min(space * 0.28, 24)
            self.name_below(canvas, middle, name)
            if not values:
                continue
            low, q1, median, q3, high = (quantile(values, q) for q in (0, 0.25, 0.5, 0.75, 1))
            canvas.line(middle, self.y_of(low), middle, self.y_of(high), "#222")
            for end in low, high:
                canvas.line(middle - half / 2, self.y_of(end), middle + half / 2, self.y_of(end),
                            "#222")
            self.bar(canvas, middle - half, 2 * half, q1, q3, colour_of(name, b),
                     f"{name}: median {median:.4g}, half of all {q1:.4g} to {q3:.4g}")
            canvas.line(middle - half, self.y_of(median), middle + half, self.y_of(median), "#000",
                        2)
            canvas.mark(middle, self.y_of(sum(values) / len(values)), 3, "#000")
            if self.marks and self.marks[1][b] is not None:
                canvas.mark(middle + half + 8, self.y_of(self.marks[1][b]), 1, "#D55E00")


def figure(path, panels, width=900):
    canvas, top = Canvas(), 8
    for panel in panels:
        height = panel.prepare(width)
        panel.draw(canvas, top, width)
        top += height
    canvas.write(path, width, top)
