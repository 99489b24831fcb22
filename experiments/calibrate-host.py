"""This processor, calibrated: the machine file into docs/results/hosts/NAME.ini, its table of forms into
NAME.forms, and what was measured beside what is published into docs/results/hosts/NAME.md. NAME is that
of the kind of processor, not of the host; the page must be there. Takes up to five minutes. PART: that part
alone is measured, and what was measured of the others before stays.
    python3 -B experiments/calibrate-host.py NAME [PART]"""
import json
import os
import re
import subprocess
import sys
import tempfile

from lib import page, run

SCRIPT = "experiments/calibrate-host.py"


def shown(finding):
    if finding["state"] != "measured":
        return finding["state"]
    value = finding["value"]
    if isinstance(value, str):
        return value
    return f"{value / 1024:.4g}K" if finding["unit"] == "bytes" and value >= 1024 else f"{value:.4g}"


def rows_of(report):
    for finding in report["findings"]:
        spread = finding.get("spread", 0)
        numeric = finding["state"] == "measured" and not isinstance(finding["value"], str)
        yield [finding["part"], finding["what"], shown(finding), f"{spread:.2g}" if spread and numeric else "",
               finding["unit"], finding.get("published", ""), finding["note"]]


def table(report, rows):
    return page.table(["part", "what", "measured", "±", "", report["published"], "note"], rows)


def parts():
    """In the order in which they are measured."""
    said = subprocess.run([run.CULPRIT, "calibrate", "--only", "nothing"], capture_output=True, text=True,
                          check=False).stderr
    return re.findall(r"[a-z]+", said.partition("there are ")[2])


def with_rows(path, rows):
    """Those of the page, but for those of the parts that these rows are of."""
    with open(path) as file:
        kept = [[cell.strip() for cell in line.split("|")[1:-1]] for line in file if line.startswith("| ")][1:]
    order = parts()
    return sorted([row for row in kept if row[0] not in {row[0] for row in rows}] + rows,
                  key=lambda row: order.index(row[0]))


def with_measured(before, now):
    """Lines of the machine file before, with what was measured now; a new key behind the one it follows."""
    def lines(text):
        section = ""
        for line in text.splitlines(keepends=True):
            section = line if line.startswith("[") else section
            yield (section, line.partition("=")[0].strip()), line
    kept, last = list(lines(before)), 0
    for key, line in lines(now):
        at = next((i for i, one in enumerate(kept) if one[0] == key and key[1]), None)
        if "; measured" in line and key[1] != "forms":
            if at is None:
                kept.insert(last + 1, (key, line))
            else:
                kept[at] = key, line
        last = last if at is None else at
    return "".join(line for _, line in kept)


def describe(path, begin, said):
    """The kind of processor in place of what this one calls itself: the line that begins so."""
    with open(path) as file:
        lines = [said + "\n" if line.startswith(begin) else line for line in file]
    with open(path, "w") as file:
        file.writelines(lines)


def calibrate(path, *options):
    return json.loads(subprocess.run([run.CULPRIT, "calibrate", "--json", "-o", path, *options], check=True,
                                     capture_output=True, text=True, env=run.ENVIRONMENT).stdout)


def renew(name, path, part):
    """One part of what there is."""
    with tempfile.TemporaryDirectory() as folder:
        measured = os.path.join(folder, name + ".ini")
        report = calibrate(measured, "--only", part)
        with open(path) as before, open(measured) as now:
            text = with_measured(before.read(), now.read())
    rows = with_rows(path.replace(".ini", ".md"), list(rows_of(report)))
    with open(path, "w") as file:
        file.write(text)
    return table(report, rows)


def main(name, part=None):
    path = os.path.join(page.RESULTS, "hosts", name + ".ini")
    if part:
        text = renew(name, path, part)
    else:
        report = calibrate(path)
        text = table(report, list(rows_of(report)))
        describe(path.replace(".ini", ".forms"), "; Instruction forms of ",
                 f"; Instruction forms of {name}, measured by culprit calibrate.")
    describe(path, "description = ", f"description = {name}, calibrated")
    page.write("hosts/" + name, SCRIPT, text)


if __name__ == "__main__":
    main(*sys.argv[1:])
