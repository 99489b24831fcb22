"""docs/papers.md against the sources, run from the root of the repository.

    papers.py cited [FILE...]   every citation in a comment is of a paper that the page defines, or of
                                a page that is in the repository
    papers.py found             every file that the page names exists and holds the names beside it

A citation is the paper's name and then sections, figures or tables: "DCPI §6.1.2", "paper A §3.1 and
Fig. A.5". Behind one, a section alone is of the same paper. Other works are cited as "Tarjan 1972".
"""
import glob
import os
import re
import sys

PAGE = "docs/papers.md"
LOCATOR = re.compile(r"(?:§|\b(?:Figs?\.|Figs|Tables?|chapter|footnote|eqs?\.) )(?=\d|[A-D]\.\d|[IVX]+\b)")
# What may stand before a section, figure or table of a paper that was named before.
LINKS = re.compile(r"(?:^|\(|(?:\d[a-z]?[,;:]?|[IVX][,;:]?|\b(?:and|to|of|in|by|as|its)) )$")
YEAR = re.compile(r"([A-Z][\w-]+(?: et al\.)?,? \(?(?:19|20)\d\d)\b")


def rows(page):
    """Cells of the page's tables, by section."""
    section = ""
    for line in page.splitlines():
        if line.startswith("## "):
            section = line[3:]
        elif line.startswith("| ") and not line.startswith("|---"):
            yield section, [cell.strip() for cell in line.strip("|").split("|")]


def names(page):
    """Papers have sections of their own; other works a row each."""
    of_papers = [line[3:] for line in page.splitlines() if line.startswith("## ")]
    others = [cells[0] for section, cells in rows(page) if section == "Other works"]
    return [name for name in of_papers if name != "Other works"], others[1:]


def comments(text):
    for match in re.finditer(r"/\*.*?\*/", text, re.S):
        plain = re.sub(r"\s+", " ", re.sub(r"\n[ \t]*\*? ?", " ", match.group()[2:-2])).strip()
        yield text.count("\n", 0, match.start()) + 1, plain


def wrong_in(path, papers, works):
    """Places whose citation names no paper of the page."""
    named = re.compile("|".join(map(re.escape, papers + works)), re.I)
    before_locator = re.compile("(?:%s) $" % named.pattern, re.I)
    seen = False
    with open(path) as file:
        text = file.read()
    for line, comment in comments(text):
        for match in LOCATOR.finditer(comment):
            before = comment[:match.start()]
            linked = LINKS.search(before) and (seen or named.search(before))
            if not before_locator.search(before) and not linked:
                yield line, comment[max(0, match.start() - 40):match.end() + 8]
        seen = seen or named.search(comment)
        for match in re.finditer(r"\b[Pp]apers? [A-Z]\b", comment):
            if match.group().lower() not in map(str.lower, papers):
                yield line, match.group()
        for match in YEAR.finditer(comment):
            if not any(name.endswith(match.group()) for name in papers + works):
                yield line, match.group()
        for match in re.finditer(r"[\w/-]+\.md\b", comment):
            if not os.path.isfile(match.group()):
                yield line, match.group()
        for match in re.finditer(r"\b(the|that) (paper|thesis)\b", comment, re.I):
            if not seen:
                yield line, comment[max(0, match.start() - 40):match.end() + 8]


def cited(files):
    with open(PAGE) as file:
        papers, works = names(file.read())
    files = files or sorted(glob.glob("src/**/*.[ch]", recursive=True))
    if not papers or not works or not files:
        return [f"{PAGE} defines no papers, or there are no files"]
    return [f"{path}:{line}: {text}" for path in files
            for line, text in wrong_in(path, papers, works)]


def found():
    wrong, count = [], 0
    with open(PAGE) as file:
        page = file.read()
    for _, cells in rows(page):
        text = None
        for token in re.findall(r"`([^`]+)`", cells[-1]):
            if re.fullmatch(r"[\w.-]+(/[\w.-]+)+", token):
                path = next((p for p in ("src/" + token, token) if os.path.isfile(p)), None)
                text = open(path).read() if path else ""
                if not path:
                    wrong.append(f"no file {token}")
            elif text is None or not re.search(r"\b%s\b" % re.escape(token).replace(r"\(\)", r"\("),
                                               text):
                wrong.append(f"{token} in no file of its row: {cells[0]}")
            count += 1
    return wrong if count else [f"{PAGE} names no file"]


wrong = cited(sys.argv[2:]) if sys.argv[1] == "cited" else found()
sys.exit("\n".join(wrong) if wrong else 0)
