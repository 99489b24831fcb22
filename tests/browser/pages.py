"""Opens pages of --html in a headless Chromium and uses them as a person would.

    pages.py PAGE CHECK...            each CHECK is a function below
    pages.py --pictures FOLDER NAME=PAGE...
                                        a picture of every view
"""
import re
import sys
import time

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait


def begin():
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     "--hide-scrollbars", "--force-device-scale-factor=1", "--lang=en"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)


def tabs(driver):
    return driver.execute_script(
        "return [...document.querySelectorAll('[role=tab]')].map(tab => tab.getAttribute('href').slice(1))")


def open_page(driver, page):
    driver.get("file://" + page)
    WebDriverWait(driver, 120).until(lambda d: d.find_elements(By.CSS_SELECTOR, "main > *"))


def view(driver, name):
    driver.execute_script(
        "if (location.hash === '#' + arguments[0]) dispatchEvent(new Event('hashchange'));"
        "location.hash = arguments[0]", name)
    WebDriverWait(driver, 120).until(
        lambda d: d.find_element(By.ID, "view").get_attribute("aria-labelledby") == "tab-" + name.split("/")[0])
    frame(driver)


def frame(driver):
    """What was asked to be drawn with the next frame has been."""
    driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")


def text(driver, selector):
    return driver.find_element(By.CSS_SELECTOR, selector).text


def rows(driver, label):
    return driver.execute_script(
        "return [...document.querySelectorAll(`table[aria-label='${arguments[0]}'] tbody tr:not(.gap)`)]"
        ".map(row => [...row.cells].map(cell => cell.textContent))", label)


def all_names(driver, label):
    """What the first column of a table has, also behind what can be seen of it."""
    names = {}
    box = driver.find_element(By.CSS_SELECTOR, f"#view .scroll[aria-label='{label}']")
    top = 0
    while True:
        driver.execute_script("arguments[0].scrollTop = arguments[1]", box, top)
        frame(driver)
        for index, name in driver.execute_script("""return [...arguments[0].querySelectorAll('tbody tr')].reduce(([list, at], row) =>
                row.className === 'gap' ? [list, at + Math.round(parseFloat(row.style.height) / 24)]
                    : [[...list, [at, row.cells[0].textContent]], at + 1], [[], 0])[0]""", box):
            names[index] = name
        if top >= driver.execute_script("return arguments[0].scrollHeight - arguments[0].clientHeight", box):
            return [names[index] for index in sorted(names)]
        top += 480


# ---- checks: each is given the driver, and fails by an assertion ----

def views(driver):
    """Every view draws something, of which nothing is undefined."""
    for name in tabs(driver):
        view(driver, name)
        shown = text(driver, "#view")
        assert len(shown) > 20, name
        assert "undefined" not in shown and "NaN" not in shown, (name, shown)


def sorts(driver):
    """A click on a head sorts, a second one the other way."""
    view(driver, "functions")
    def names():
        return [row[0] for row in rows(driver, "functions")]
    head = driver.find_element(By.XPATH, "//table[@aria-label='functions']//th/button[text()='function']")
    head.click()
    ascending = names()
    assert head.find_element(By.XPATH, "..").get_attribute("aria-sort") == "ascending"
    head.click()
    assert len(set(ascending)) > 1 and names() != ascending
    assert head.find_element(By.XPATH, "..").get_attribute("aria-sort") == "descending"


def filters(driver):
    """What is typed leaves the rows that have it."""
    view(driver, "functions")
    all_rows = rows(driver, "functions")
    name = all_rows[0][0]
    box = driver.find_element(By.CSS_SELECTOR, "#view input[type=search]")
    box.send_keys(name)
    left = rows(driver, "functions")
    assert 0 < len(left) < len(all_rows) and all(name.lower() in "\n".join(row).lower() for row in left)
    box.clear()
    box.send_keys("no function is called this")
    assert rows(driver, "functions") == []


def opens_code(driver):
    """A row of functions leads to its code, where the shares of instructions are those of the function."""
    view(driver, "functions")
    driver.find_element(By.CSS_SELECTOR, "table[aria-label=functions] tbody tr.pick").click()
    WebDriverWait(driver, 60).until(lambda d: d.find_elements(By.CSS_SELECTOR, ".asm .line"))
    assert driver.execute_script("return location.hash").startswith("#code/")


def zooms(driver):
    """The flame graph searches and zooms, by mouse and by keys."""
    view(driver, "calls")
    canvas = driver.find_element(By.TAG_NAME, "canvas")
    crumbs = ".flame .crumbs"
    assert text(driver, crumbs).startswith("all")
    canvas.send_keys(Keys.ARROW_UP, Keys.ENTER)
    assert "›" in text(driver, crumbs), text(driver, crumbs)
    canvas.send_keys(Keys.ESCAPE)
    assert "›" not in text(driver, crumbs)
    webdriver.ActionChains(driver).move_to_element_with_offset(canvas, 0, canvas.size["height"] // 2 - 27).click().perform()
    assert "›" in text(driver, crumbs), text(driver, crumbs)
    driver.find_element(By.CSS_SELECTOR, ".flame input[type=search]").send_keys("main")
    assert "in frames that match" in text(driver, ".flame .tools")


def finds(driver):
    """The search over all views, by keys alone: a function's name leads to its code."""
    view(driver, "functions")
    name = rows(driver, "functions")[0][0]
    view(driver, tabs(driver)[0])
    driver.find_element(By.TAG_NAME, "body").send_keys("f")
    box = driver.switch_to.active_element
    assert box.get_attribute("id") == "search"
    box.send_keys(name)
    found = [item.text for item in driver.find_elements(By.CSS_SELECTOR, "#found li")]
    assert found and found[0].startswith("function") and name in found[0], found
    box.send_keys(Keys.ENTER)
    WebDriverWait(driver, 60).until(lambda d: d.find_elements(By.CSS_SELECTOR, ".asm .line"))
    assert driver.execute_script("return location.hash").startswith("#code/")
    box = driver.find_element(By.ID, "search")
    box.clear()
    box.send_keys("no view has this")
    assert "nothing" in text(driver, "#found")
    box.send_keys(Keys.ESCAPE)
    assert not driver.find_element(By.ID, "found").is_displayed()


def differs(driver):
    """Who called whom in two runs: frames of both are one, as wide as in either, and functions by change."""
    view(driver, "calls")
    changed = rows(driver, "functions with what they called")
    changes = [abs(float(row[2].replace("\u2212", "-"))) for row in changed]
    assert changes[0] > 0 and changes == sorted(changes, reverse=True), changed[:3]
    for side in ("before", "after"):
        driver.find_element(By.XPATH, f"//label[contains(., 'as wide as')]/select/option[text()='{side}']").click()
        canvas = driver.find_element(By.TAG_NAME, "canvas")
        canvas.send_keys(Keys.ARROW_UP, Keys.ENTER)
        assert "% with what it called" in text(driver, ".flame .crumbs"), text(driver, ".flame .crumbs")


def shares(driver):
    """Two saved profiles: their frames are shares, and how often functions were entered is not told."""
    view(driver, "calls")
    assert "a larger share of their run" in text(driver, "#view .note"), text(driver, "#view .note")
    assert "entered" not in text(driver, "table[aria-label='functions with what they called'] thead")


def elapsed(driver):
    """Threads: what went by is told apart from the cycles of all, and is what the time is of."""
    view(driver, "summary")
    told = dict(driver.execute_script("return [...document.querySelectorAll('.figures > div')].map(one => [...one.children].map(part => part.textContent))"))
    cycles, clock = driver.execute_script("const report = JSON.parse(document.getElementById('report').textContent); return [report.together.elapsed_cycles, report.clock_ghz]")
    assert "cycles of all threads" in told and told["elapsed time"] == "%.1f ms" % (cycles / clock / 1e6), told


def whole_stacks(driver):
    """Threads compared: the cycles that are in a stack are all of it, though less time went by."""
    view(driver, "changes")
    assert {"elapsed cycles", "cycles of all threads"} <= set(driver.execute_script("return [...document.querySelectorAll('.legend tbody th')].map(cell => cell.textContent)"))
    widths = driver.execute_script("return [...document.querySelectorAll('#view .bar')].slice(0, 2).map(bar => [...bar.children].reduce((sum, piece) => sum + parseFloat(piece.style.width), 0))")
    assert 99 < max(widths) <= 100.1 and min(widths) > 1, widths


def inert(driver):
    """Names that would be markup, scripts, or members of all objects, are text, and none is lost."""
    def look(name):
        view(driver, name)
        assert driver.execute_script("return window.hacked") is None, name
        foreign = driver.execute_script("""return [...document.querySelectorAll('body *')].filter(node =>
            /^(img|iframe|object|embed|form|base|link|style|foreignobject)$/i.test(node.tagName) && !node.closest('.paper') ||
            node.tagName.toLowerCase() === 'script' && node.closest('#page') || node.hasAttribute('src') && !node.closest('.paper') ||
            node.hasAttribute('href') && !node.getAttribute('href').startsWith('#') ||
            [...node.attributes].some(one => one.name.startsWith('on'))).map(node => node.outerHTML)""")
        assert not foreign, (name, foreign)
    for name in tabs(driver):
        look(name)
    if "functions" not in tabs(driver):
        return
    view(driver, "functions")
    shown = all_names(driver, "functions")
    profile = driver.execute_script("return JSON.parse(document.getElementById('profile').textContent)")
    names = [profile["texts"][row[0]] for row in profile["functions"] if row[0] >= 0]
    assert sorted(name for name in shown if name in names) == sorted(names)
    assert any("</script>" in name for name in names) and "__proto__" in names
    held = [code["function"] for code in profile["code"]]
    for index in [i for i in held if any(c in (shown[i] if i < len(shown) else "") for c in "<&'\"\\{%:")][:8]:
        look(f"code/{index}")


def keyboard(driver):
    """Arrows move between tabs, a slash goes to the filter."""
    first, second = tabs(driver)[:2]
    view(driver, first)
    driver.find_element(By.ID, "tab-" + first).send_keys(Keys.ARROW_RIGHT)
    assert driver.execute_script("return location.hash") == "#" + second
    view(driver, "functions")
    driver.find_element(By.TAG_NAME, "body").send_keys("/")
    assert driver.switch_to.active_element.get_attribute("type") == "search"


class Stranger:
    """Opens the page, and clicks at most three times to an answer."""

    def __init__(self, driver):
        self.driver, self.clicks = driver, 0
        driver.get(driver.current_url.split("#")[0])
        driver.refresh()
        WebDriverWait(driver, 120).until(lambda d: d.find_elements(By.CSS_SELECTOR, "main > *"))

    def click(self, path):
        self.clicks += 1
        assert self.clicks <= 3
        self.driver.find_element(By.XPATH, path).click()
        frame(self.driver)
        frame(self.driver)

    def tab(self, title):
        self.click(f"//*[@role='tab'][text()='{title}']")

    def answer(self, title):
        """What the page says to a question."""
        return text_of(self.driver, f"//dl[@class='short']//dt[starts-with(text(), '{title}')]/following-sibling::dd")


def text_of(driver, path):
    return driver.find_element(By.XPATH, path).text


def answers(driver):
    """Of slow.c: its hottest line and why, who calls it, what mending it gives, which phase is slow."""
    stranger = Stranger(driver)
    short = stranger.answer("The line that costs most")
    assert "slow.c:" in short and "in walk" in short and "TLB miss" in short, short
    assert stranger.answer("Who calls walk").startswith("main ("), stranger.answer("Who calls walk")
    assert stranger.answer("What mending it would give").startswith("without data misses")
    phase = re.match(r"phase (\d+): CPI ([\d.]+) where the run has ([\d.]+)", stranger.answer("The slowest phase"))
    assert phase and float(phase[2]) > 2 * float(phase[3]), phase

    stranger.tab("Lines")
    first = rows(driver, "source lines")[0]
    assert first[0] in short and first[1] == "sum += node->key;" and first[-1] == "TLB miss", first
    stranger.click("//table[@aria-label='source lines']//tr[contains(@class, 'pick')]")
    chosen = [line.text for line in driver.find_elements(By.CSS_SELECTOR, ".source .line.chosen")]
    assert len(chosen) == 1 and "sum += node->key;" in chosen[0], chosen

    stranger = Stranger(driver)
    stranger.click("//dl[@class='short']//a[starts-with(text(), 'slow.c:')]")
    assert stranger.answer("called by").startswith("main "), stranger.answer("called by")
    assert stranger.answer("mostly").startswith("TLB miss")
    assert "%" in stranger.answer("to try") and "without data misses" in stranger.answer("what if")
    stranger.click("//dl[@class='short']//a[text()='main']")
    assert text_of(driver, "//option[@selected]").endswith(" main")

    stranger = Stranger(driver)
    stranger.tab("What if")
    first = rows(driver, "causes")[0]
    assert first[0] == "data misses" and float(first[1]) > 30 and first[-1].startswith("walk slow.c:"), first

    stranger = Stranger(driver)
    stranger.tab("Time line")
    stranger.click("//table[@aria-label='phases']//th/button[text()='CPI']")
    first = rows(driver, "phases")[0]
    assert first[0] == phase[1], (first, phase)


def answers_of_two(driver):
    """What changed from slow.c to the other build of it: there when the page opens; a click tells the function."""
    Stranger(driver)
    sentence = text_of(driver, "//h2[text()='What changed']/following-sibling::p")
    assert "walk" in sentence and "TLB misses at slow.c:" in sentence, sentence
    first = rows(driver, "changes")[0]
    assert first[0] == "walk" and first[2].startswith("−") and "TLB" in first[4] and first[5].startswith("slow.c:"), first


def is_wide_enough(driver):
    """Nothing is wider than the page, narrow or wide, light or dark."""
    for width in (1280, 2560):
        driver.set_window_size(width, 900)
        for name in tabs(driver):
            view(driver, name)
            assert driver.execute_script("return document.documentElement.scrollWidth <= innerWidth"), (name, width)


def seconds(driver):
    """Says how long the page, and each view, takes to be there; no test depends on it."""
    driver.refresh()
    WebDriverWait(driver, 120).until(lambda d: d.find_elements(By.CSS_SELECTOR, "main > *"))
    print("# opened in %.2f s" % (driver.execute_script("return performance.getEntriesByType('navigation')[0].loadEventEnd") / 1000))
    for name in tabs(driver):
        begun = time.monotonic()
        view(driver, name)
        print("# %s: %.2f s" % (name, time.monotonic() - begun))


def quiet(driver):
    said = [entry for entry in driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]
    assert not said, said


def pictures(driver, folder, pages):
    driver.set_window_size(1280, 960)
    for name, page in (page.split("=", 1) for page in pages):
        open_page(driver, page)
        for tab in tabs(driver):
            view(driver, tab)
            driver.save_screenshot(f"{folder}/{name}-{tab}.png")
        quiet(driver)


def main():
    driver = begin()
    try:
        if sys.argv[1] == "--pictures":
            pictures(driver, sys.argv[2], sys.argv[3:])
            return
        driver.set_window_size(1280, 900)
        open_page(driver, sys.argv[1])
        for check in sys.argv[2:]:
            globals()[check](driver)
            quiet(driver)
    finally:
        driver.quit()


if __name__ == "__main__":
    main()
