"""Pages of results: docs/results/NAME.md. What stands above the mark is written by hand and kept;
what stands below is written by the experiment."""
import os

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
    with open(path + ".new", "w") as page:
        page.write(kept + mark + "\n\n" + measured)
    os.replace(path + ".new", path)
