"""Pages of results: docs/results/NAME.md. What stands above the mark is written by hand and kept;
what stands below is written by the experiment."""
import os
import re
import tempfile

from lib.run import ROOT

RESULTS = os.path.join(ROOT, "docs", "results")


def picture(name):
    """Where the picture of a page is kept."""
    return os.path.join(RESULTS, name + ".svg")


def table(headings, rows):
    """A Markdown table: the first column to the left, the others to the right."""
    lines = ["| " + " | ".join(headings) + " |", "|---" + "|---:" * (len(headings) - 1) + "|"]
    lines += ["| " + " | ".join("" if cell is None else str(cell) for cell in row) + " |"
              for row in rows]
    return "\n".join(lines) + "\n"


def percent(share, digits=1):
    return None if share is None else f"{100 * share:.{digits}f}"


def write(name, script, measured):
    """Replaces what is below the mark of docs/results/NAME.md."""
    mark = f"<!-- measured: rewritten by {script} from here on -->"
    path = os.path.join(RESULTS, name + ".md")
    with open(path) as page:
        kept = page.read().split(mark)[0]
    _replace(path, kept + mark + "\n\n" + measured)


def parts(name, script):
    """{title: text} of what stands below the mark, by headings of the third level."""
    mark = f"<!-- measured: rewritten by {script} from here on -->"
    with open(os.path.join(RESULTS, name + ".md")) as page:
        below = page.read().partition(mark)[2]
    return {title: text.strip() for title, text in
            re.findall(r"^### ([^\n]+)\n\n(.*?)(?=\n### |\Z)", below, re.M | re.S)}


def write_sections(name, script, sections, wanted):
    """Likewise of sections, (option, title, function of a scratch folder that gives the text) each:
    those of which `wanted` has the --option anew, and the others as they are; all, if it has none."""
    chosen = [option for option, _, _ in sections if f"--{option}" in wanted]
    path = os.path.join(RESULTS, name + ".md")
    old = {}
    if os.path.exists(path):
        with open(path) as page:
            old = dict(re.findall(r"^## ([^\n]+)\n\n(.*?)(?=\n## |\Z)", page.read(), re.M | re.S))
    parts = []
    with tempfile.TemporaryDirectory() as scratch:
        for option, title, measure in sections:
            text = measure(scratch) if not chosen or option in chosen else old.get(title, "").strip()
            parts.append(f"## {title}\n\n{text}")
    write(name, script, "\n\n".join(parts))


def write_part(name, script, kind, measured):
    """Likewise of the part of that kind of host alone, under a heading of its own. Those of other
    hosts are kept; parts are in the order of their kinds."""
    mark = f"<!-- measured: rewritten by {script} from here on -->"
    path = os.path.join(RESULTS, name + ".md")
    with open(path) as page:
        kept, _, below = page.read().partition(mark)
    parts = dict(re.findall(r"<!-- host: (\S+) -->\n(.*?)(?=<!-- host: |\Z)", below, re.DOTALL))
    parts[kind] = f"\n## Measured: {kind}\n\n{measured}\n"
    _replace(path, kept + mark + "\n\n" + "".join(
        f"<!-- host: {kind} -->\n{text}" for kind, text in sorted(parts.items())))


def _replace(path, text):
    with open(path + ".new", "w") as page:
        page.write(text.rstrip("\n") + "\n")
    os.replace(path + ".new", path)
