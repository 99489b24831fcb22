"""Charts as SVG: grouped bars, stacked bars, lines, points and box plots.

A figure is a list of panels, one below the other; each panel is drawn into a frame with a value
axis on the left and names or numbers below. Colours are those of Okabe and Ito, which the
colour-blind can tell apart; series also differ in their order, and lines in their marks. What has a
colour of its own has it in every panel; the others take those that their panel has left."""
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
    "forwarding": "#4B4B8F", "ST-FW": "#4B4B8F",
    "stores": "#009E73", "store stall": "#009E73", "DR-SQ": "#009E73",
    "front end": "#7F3C8D", "front_end": "#7F3C8D", "DR-L1": "#7F3C8D", "DR-TLB": "#A5AA99",
    "mispredict": "#E69F00", "FL-MB": "#E69F00",
    "ST-L1+ST-LLC": "#0072B2", "ST-L1+ST-TLB+ST-LLC": "#00304D", "ST-L1+ST-TLB": "#9A4F79",
    "others": "#DDDDDD",
    "frflags, fsflags": "#D55E00", "all else": "#999999",
    "flush": "#D55E00", "misc. flush": "#D55E00", "FL-EX": "#D55E00", "FL-MO": "#000000",
}
# And one per profiler.
PROFILERS = {
    "Software": "#0072B2", "Dispatch": "#E69F00", "LCI": "#009E73", "NCI": "#CC79A7",
    "NCI+ILP": "#7F3C8D", "TIP-ILP": "#56B4E9", "TIP": "#D55E00", "IBS": "#0072B2",
    "SPE": "#E69F00", "RIS": "#009E73", "NCI-TEA": "#CC79A7", "TEA": "#D55E00",
    "floor": "#999999", "floor of TEA": "#999999", "Oracle": "#000000", "golden reference": "#000000",
}
FONT = 12
LEFT, RIGHT, GAP = 64, 24, 26
HEADROOM = 24  # above a frame with a limit, for the values of what is cut off


def width_of(words):
    """Of a text in pixels, at most: DejaVu Sans and Verdana are the widest that it is drawn in."""
    return sum(4.9 if c in "ijlI.,:;|!'()[]/ -" else 6 if c in "tfrscz" else
               12 if c in "mwMW+%→@" else 9.3 if c.isupper() else 7.7 for c in words)


def colours_of(names):
    """A colour for each of the names of one panel, no two the same but where they are of one
    thing."""
    own = {name: (PARTS | PROFILERS)[name] for name in names if name in PARTS | PROFILERS}
    left = [colour for colour in COLOURS if colour not in own.values()] or COLOURS
    others = [name for name in names if name not in own]
    return own | {name: left[i % len(left)] for i, name in enumerate(others)}


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
    if 0 < abs(value) < 1e-4:  # which would be written with an exponent
        return f"{value:.12f}".rstrip("0")
    return f"{value:.10g}"


class Panel:
    """What the kinds of charts share. `limit` cuts the value axis; what is higher is cut off and
    its value written above. `low` is where the axis begins, `high` what it reaches at least, so that
    panels can have the same axis."""

    def __init__(self, title, value_title, low=0, high=0, limit=None, height=240):
        self.title, self.value_title = title, value_title
        self.low, self.high, self.limit, self.height = low, high, limit, height

    def legend_rows(self, width):
        rows, used = [[]], 0
        for entry in self.legend():
            space = width_of(entry[0]) + 32
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
        return (max(map(width_of, names)) * 0.66 + 24) if turned else 40

    def prepare(self, width):
        inner = width - LEFT - RIGHT
        names = self.names()
        self.turned = bool(names) and max(map(width_of, names)) > inner / len(names) - 4
        self.rows = self.legend_rows(inner)
        return 26 + 18 * len(self.rows) + self.headroom() + self.height + self.below() + GAP

    def room_for_turned(self):
        """Where the frame begins at least so that no turned name begins left of the picture."""
        names = self.names() if self.turned else []
        places = [((i + 0.5) / len(names), 0.77 * width_of(name)) for i, name in enumerate(names)]
        return max(((reach - share * self.x1) / (1 - share) for share, reach in places), default=0)

    def headroom(self):
        return HEADROOM if self.limit is not None else 0

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
                x += width_of(name) + 32
            y += 18
        y += self.headroom()
        self.x1 = width - RIGHT
        self.x0 = max(LEFT, self.room_for_turned())
        self.y0, self.y1 = y + self.height, y + 12
        self.draw_axes(canvas)
        canvas.text(16, (self.y0 + self.y1) / 2, self.value_title, turn=-90)
        self.plot(canvas)
        canvas.line(self.x0, self.y0, self.x1, self.y0, "#222")
        canvas.line(self.x0, self.y0, self.x0, self.y1, "#222")

    def draw_axes(self, canvas):
        ticks = steps(self.low, self.limit if self.limit is not None else
                      max(self.high, self.highest()))
        self.floor, self.top = ticks[0], ticks[-1]
        for tick in ticks:
            at = self.y_of(tick)
            canvas.line(self.x0, at, self.x1, at, "#ddd")
            canvas.text(self.x0 - 6, at + 4, number_text(tick), anchor="end")

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
            words = f"{value:.0f}" if value >= 100 else f"{value:.3g}"
            canvas.text(x + 7, self.y1 - 3, words, anchor="start", turn=-60, size=9)


class Bars(Panel):
    """Groups of bars beside each other: `groups` names, `series` of (name, values)."""

    def __init__(self, title, value_title, groups, series, **options):
        super().__init__(title, value_title, **options)
        self.groups, self.series = groups, series

    def names(self):
        return self.groups

    def legend(self):
        return [(name, colour, None) for name, colour in self.colours().items()]

    def colours(self):
        return colours_of([name for name, _ in self.series])

    def highest(self):
        return max(v for _, values in self.series for v in values if v is not None)

    def plot(self, canvas):
        colours = self.colours()
        space = (self.x1 - self.x0) / len(self.groups)
        width = min(0.8 * space / len(self.series), 40)
        for g, group in enumerate(self.groups):
            middle = self.x0 + (g + 0.5) * space
            left = middle - width * len(self.series) / 2
            for s, (name, values) in enumerate(self.series):
                if values[g] is None:
                    continue
                self.bar(canvas, left + s * width, width * 0.94, self.floor, values[g],
                         colours[name], f"{group}, {name}: {values[g]:.4g}")
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
        entries = [(name, colour, None) for name, colour in self.colours().items()]
        return entries + ([(self.overlay[0], "#000", 0)] if self.overlay else [])

    def colours(self):
        return colours_of([name for name, _ in self.parts])

    def highest(self):
        return max(sum(max(values[b], 0) for _, values in self.parts)
                   for b in range(len(self.bars)))

    def plot(self, canvas):
        gaps, colours = len(self.clusters), self.colours()
        space = (self.x1 - self.x0) / (len(self.bars) + 0.6 * gaps)
        width = min(space * 0.86, 46)
        x, b, middles = self.x0 + 0.3 * space, 0, []
        for cluster in self.clusters:
            for _ in range(cluster):
                middle, low, under = x + space / 2, 0, 0
                for name, values in self.parts:
                    value = values[b]
                    begin = low if value >= 0 else under + value
                    self.bar(canvas, middle - width / 2, width, begin, begin + abs(value),
                             colours[name], f"{self.bars[b]}, {name}: {value:.4g}")
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
    """Lines: `x` numbers, `series` of (name, values); `logarithmic` the axis below; `x_names` what
    stands at the numbers. `dashed`: names of series that are drawn broken, in the colour of the
    series whose name they are given with."""

    def __init__(self, title, x_title, value_title, x, series, logarithmic=False, x_names=None,
                 dashed=None, **options):
        super().__init__(title, value_title, **options)
        self.x, self.x_title, self.series, self.logarithmic = x, x_title, series, logarithmic
        self.x_names, self.dashed = x_names or [number_text(value) for value in x], dashed or {}

    def names(self):
        return []

    def below(self):
        return 44

    def colours(self):
        whole = colours_of([name for name, _ in self.series if name not in self.dashed])
        return {name: whole[self.dashed.get(name, name)] for name, _ in self.series}

    def marks(self):
        """Of each series the number of its shape; a broken line has that of its whole one."""
        whole = [name for name, _ in self.series if name not in self.dashed]
        return {name: whole.index(self.dashed.get(name, name)) for name, _ in self.series}

    def legend(self):
        colours, marks = self.colours(), self.marks()
        return [(name + " (broken)" * (name in self.dashed), colours[name], marks[name])
                for name, _ in self.series]

    def highest(self):
        return max(v for _, values in self.series for v in values if v is not None)

    def x_of(self, value):
        scale = math.log10 if self.logarithmic else float
        low, high = scale(self.x[0]), scale(self.x[-1])
        return self.x0 + 14 + (self.x1 - self.x0 - 28) * (scale(value) - low) / (high - low)

    def plot_numbers(self, canvas):
        """Below the axis: all, or every second, fourth, fifth ... where they would touch."""
        places = [(self.x_of(value), name, width_of(name) / 2)
                  for value, name in zip(self.x, self.x_names)]
        shown = places[:1]
        for step in (1, 2, 4, 5, 10, 20, 50):
            some = places[::step]
            if all(b[0] - b[2] > a[0] + a[2] + 4 for a, b in zip(some, some[1:])):
                shown = some
                break
        for at, name, _ in shown:
            canvas.line(at, self.y0, at, self.y0 + 4, "#222")
            canvas.text(at, self.y0 + 17, name)

    def plot(self, canvas):
        self.plot_numbers(canvas)
        canvas.text((self.x0 + self.x1) / 2, self.y0 + 36, self.x_title)
        colours, marks = self.colours(), self.marks()
        for name, values in self.series:
            points = [(self.x_of(x), self.y_of(v)) for x, v in zip(self.x, values) if v is not None]
            for before, after in zip(points, points[1:]):
                canvas.line(*before, *after, colours[name], 2, "5 4" * (name in self.dashed))
            for point in points:
                canvas.mark(*point, marks[name], colours[name])


class Scatter(Panel):
    """Points (x, y) of `series` of (name, points) on two logarithmic axes that are alike, and the
    line where both are the same. Points at or below 0 are left out."""

    def __init__(self, title, x_title, y_title, series, **options):
        super().__init__(title, y_title, **{"height": 320, **options})
        self.x_title = x_title
        self.series = [(name, [point for point in points if min(point) > 0])
                       for name, points in series]

    def names(self):
        return []

    def below(self):
        return 44

    def colours(self):
        return colours_of([name for name, _ in self.series])

    def legend(self):
        return [(name, colour, i) for i, (name, colour) in enumerate(self.colours().items())]

    def draw_axes(self, canvas):
        values = [math.log10(v) for _, points in self.series for point in points for v in point]
        self.floor, self.top = math.floor(min(values)), math.ceil(max(values))
        self.x1 = self.x0 + (self.y0 - self.y1) * 1.6
        for power in range(self.floor, self.top + 1):
            x, y = self.x_of(10 ** power), self.y_of(10 ** power)
            canvas.line(self.x0, y, self.x1, y, "#ddd")
            canvas.line(x, self.y0, x, self.y1, "#ddd")
            canvas.text(self.x0 - 6, y + 4, number_text(10.0 ** power), anchor="end")
            canvas.text(x, self.y0 + 17, number_text(10.0 ** power))
        canvas.text((self.x0 + self.x1) / 2, self.y0 + 36, self.x_title)

    def share_of(self, value):
        return (math.log10(value) - self.floor) / (self.top - self.floor)

    def x_of(self, value):
        return self.x0 + (self.x1 - self.x0) * self.share_of(value)

    def y_of(self, value):
        return self.y0 - (self.y0 - self.y1) * self.share_of(value)

    def plot(self, canvas):
        canvas.line(self.x0, self.y0, self.x1, self.y1, "#888", 1, "4 3")
        for s, (name, points) in enumerate(self.series):
            for x, y in points:
                canvas.mark(self.x_of(x), self.y_of(y), s, self.colours()[name])


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
        colours = colours_of(self.names())
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
            self.bar(canvas, middle - half, 2 * half, q1, q3, colours[name],
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
