"""This processor, calibrated: the machine file into docs/results/hosts/NAME.ini, its table of forms into
NAME.forms, and what was measured beside what is published into docs/results/hosts/NAME.md. NAME is that
of the kind of processor, not of the host; the page must be there. Takes up to five minutes.
    python3 -B experiments/calibrate-host.py NAME"""
import json
import os
import subprocess
import sys

from lib import page, run

SCRIPT = "experiments/calibrate-host.py"


def shown(finding):
    if finding["state"] != "measured":
        return finding["state"]
    value = finding["value"]
    if isinstance(value, str):
        return value
    return f"{value / 1024:.4g}K" if finding["unit"] == "bytes" and value >= 1024 else f"{value:.4g}"


def table(report):
    rows = []
    for finding in report["findings"]:
        spread = finding.get("spread", 0)
        numeric = finding["state"] == "measured" and not isinstance(finding["value"], str)
        rows.append([finding["part"], finding["what"], shown(finding),
                     f"{spread:.2g}" if spread and numeric else "", finding["unit"],
                     finding.get("published", ""), finding["note"]])
    return page.table(["part", "what", "measured", "±", "", report["published"], "note"], rows)


def describe(path, begin, said):
    """The kind of processor in place of what this one calls itself: the line that begins so."""
    with open(path) as file:
        lines = [said + "\n" if line.startswith(begin) else line for line in file]
    with open(path, "w") as file:
        file.writelines(lines)


def main(name):
    path = os.path.join(page.RESULTS, "hosts", name + ".ini")
    report = json.loads(subprocess.run(
        [run.CULPRIT, "calibrate", "--json", "-o", path], check=True, capture_output=True,
        text=True, env=run.ENVIRONMENT).stdout)
    describe(path, "description = ", f"description = {name}, calibrated")
    describe(path.replace(".ini", ".forms"), "; Instruction forms of ",
             f"; Instruction forms of {name}, measured by culprit calibrate.")
    page.write("hosts/" + name, SCRIPT, table(report))


if __name__ == "__main__":
    main(sys.argv[1])
