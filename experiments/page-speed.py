#!/usr/bin/env python3
"""Pages of --html in a browser: how large they are, how soon they are there, and how long a person
waits when they zoom, sort and search.

    page-speed.py [ROUNDS]

Of gzip, a Go program, python3, and a program with a hundred thousand functions and a million call
paths, whose page culprit writes as any other. Headless Chromium; medians of ROUNDS (5) openings. Needs
chromium-driver, python3-selenium (make deps-browser) and Go. Writes docs/results/page-speed.md."""
import os
import statistics
import subprocess
import sys
import tempfile
import time

from lib import page, run

sys.path.append(os.path.join(run.ROOT, "tests", "browser"))
import pages

SCRIPT = "experiments/page-speed.py"
FUNCTIONS, LEVELS = 100000, 19
GO = """package main
import ("fmt"; "sort"; "strings")
type item struct { key string; value int }
func fill(n int) []item {
    items := make([]item, n)
    for i := range items { items[i] = item{strings.Repeat(fmt.Sprint(i*7919%n), 3), i} }
    return items
}
func main() {
    items, counts := fill(3000), map[string]int{}
    sort.Slice(items, func(a, b int) bool { return items[a].key < items[b].key })
    for _, one := range items { counts[one.key] += one.value }
    fmt.Println(len(counts), items[0].key)
}
"""

# What a page's script cannot know of: tasks that held the browser up.
WATCH = """
window.tasks = [];
new PerformanceObserver(list => list.getEntries().forEach(one => tasks.push(one.duration)))
    .observe({type: 'longtask', buffered: true});
"""
# Milliseconds from an action to the frame that shows what it did.
ACT = """
const done = arguments[arguments.length - 1], begun = performance.now();
(%s)();
requestAnimationFrame(() => setTimeout(() => done(performance.now() - begun)));
"""
TYPE = """() => { const box = document.querySelector("#view %s");
    box.value = "%s"; box.dispatchEvent(new Event("input")); }"""
ACTIONS = [
    ("functions", "functions", "sort by name", """() => document.querySelector("table[aria-label=functions] th button").click()"""),
    ("functions", None, "sort by CPI", """() => [...document.querySelectorAll("table[aria-label=functions] th button")].find(one => one.textContent === "CPI").click()"""),
    ("functions", None, "filter", TYPE % ("input[type=search]", "in")),
    ("calls", "calls", "zoom", """() => { const canvas = document.querySelector("canvas");
        for (const key of ["ArrowUp", "Enter"]) canvas.dispatchEvent(new KeyboardEvent("keydown", {key})); }"""),
    ("calls", None, "search", TYPE % (".flame input[type=search]", "in")),
]


def large(folder):
    """Each of many functions is called once, and of two functions a level each calls both of the next."""
    def function(name, body):
        return f".globl {name}\n.type {name},@function\n{name}:\n{body}\tret\n.size {name},.-{name}\n"
    names = [f"function_{i:06d}_of_many" for i in range(FUNCTIONS)]
    text = [".text\n", *(function(name, "\tadd $1, %eax\n") for name in names)]
    for level in range(LEVELS):
        below = "".join(f"\tcall level_{level + 1:02d}{side}\n" for side in "ab")
        text += [function(f"level_{level:02d}{side}", below if level + 1 < LEVELS else "\tadd $1, %eax\n") for side in "ab"]
    calls = "".join(f"\tcall {name}\n" for name in names + ["level_00a", "level_00b"])
    text += [function("main", calls + "\txor %eax, %eax\n"), '.section .note.GNU-stack,"",@progbits\n']
    with open(f"{folder}/large.s", "w") as file:
        file.write("".join(text))
    subprocess.run(["gcc", "-no-pie", "-o", f"{folder}/large", f"{folder}/large.s"], check=True)
    return [f"{folder}/large"]


def go(folder):
    with open(f"{folder}/sorts.go", "w") as file:
        file.write(GO)
    subprocess.run(["go", "build", "-o", f"{folder}/sorts", f"{folder}/sorts.go"], check=True,
                   env=dict(os.environ, GOCACHE=f"{folder}/cache", GOFLAGS="-mod=mod", HOME=folder))
    return [f"{folder}/sorts"]


def worked(driver):
    """Seconds of a processor that the page's thread took so far."""
    return next(one["value"] for one in driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"] if one["name"] == "ThreadTime")


def opened(driver, path):
    """Seconds until its first view is painted; of what is done then, milliseconds until its frame, and of
    a processor."""
    driver.get("about:blank")
    before = worked(driver)
    driver.get("file://" + path)
    pages.WebDriverWait(driver, 120).until(lambda d: d.find_elements(pages.By.CSS_SELECTOR, "main > *"))
    pages.frame(driver)
    there = driver.execute_script("""return Math.max(performance.getEntriesByType('navigation')[0].loadEventEnd,
        ...performance.getEntriesByType('paint').map(one => one.startTime)) / 1000""")
    after = worked(driver)
    driver.execute_script("tasks.length = 0")
    took = {"page: open": (1000 * there, 1000 * (after - before if after > before else after))}
    def act(name, action):
        before = worked(driver)
        wall = driver.execute_async_script(ACT % action)
        time.sleep(0.5)  # what it put off
        took[name] = wall, 1000 * (worked(driver) - before)
    for view, opens, name, action in ACTIONS:
        if opens:
            act(f"{view}: open", f"() => {{ location.hash = '{opens}' }}")
            pages.view(driver, opens)
        act(f"{view}: {name}", action)
    took["longest task"] = max(driver.execute_script("return tasks") or [0]), 0
    return there, took


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    rows, waits = [], []
    with tempfile.TemporaryDirectory() as scratch:
        commands = [("gzip -9", "explain", ["gzip", "-9", "-c", os.path.join(run.ROOT, "docs", "guide.md")]),
                    ("a Go program", "explain", go(scratch)),
                    ("python3", "explain", ["python3", "-S", "-c", "print(sum(i * i for i in range(20000)))"]),
                    (f"{FUNCTIONS:,} functions", "sim", large(scratch))]
        for name, verb, command in commands:
            path = os.path.join(scratch, "page.html")
            run.execute([run.CULPRIT, verb, "--html", path, "-o", "/dev/null", "--", *command], 1200)
            driver = pages.begin()
            driver.set_window_size(1280, 900)
            driver.execute_cdp_cmd("Performance.enable", {})
            driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WATCH})
            try:
                results = [opened(driver, path) for _ in range(rounds)]
                pages.quiet(driver)
                counts = driver.execute_script("""const profile = JSON.parse(document.getElementById('profile').textContent);
                    return [profile.functions.length, profile.tree.parent.length]""")
            finally:
                driver.quit()
            took = {key: [statistics.median(result[key][i] for _, result in results) for i in range(2)] for key in results[0][1]}
            rows.append((name, f"{counts[0]:,}", f"{counts[1]:,}", f"{os.path.getsize(path) / 1e6:.1f}",
                         f"{statistics.median(there for there, _ in results):.2f}", f"{took['longest task'][0]:.0f}"))
            waits.append((name, took))
            print(rows[-1], {key: [round(one) for one in value] for key, value in took.items()}, flush=True)
    keys = [key for key in waits[0][1] if key != "longest task"]
    page.write("page-speed", SCRIPT, page.table(
        ["page of", "functions", "call paths", "MB", "there after, s", "longest task behind that, ms"], rows) +
        "\nFrom what a person does to the frame that shows it, and of that and what was put off in processor time, in ms:\n\n" +
        page.table(["", *(name for name, _ in waits)], [(key, *(f"{took[key][0]:.0f}, {took[key][1]:.0f}" for _, took in waits)) for key in keys]))


main()
