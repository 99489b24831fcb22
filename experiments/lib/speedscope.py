"""What speedscope makes of a file: opened in its own page, in a headless browser, and read from its
table. The page is that of the npm package `speedscope`, served on this machine, as a page from a file
may not read another file."""
import functools
import http.server
import os
import re
import shutil
import tempfile
import threading
import time


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


UNITS = {"": 1, "ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1, "min": 60}


def _number(text):
    found = re.match(r"([\d.,]+)\s*([^\s(]*)", text)
    return float(found[1].replace(",", "")) * UNITS.get(found[2], 1) if found else None


def read(package, path, seconds=30):
    """({profile: total}, where it shows several; {function: total}, of those that are on the screen);
    None and what the page says, when it does not take the file."""
    from selenium import webdriver
    from selenium.common.exceptions import UnexpectedAlertPresentException
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--use-gl=angle",
                     "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--window-size=1600,2000"):
        options.add_argument(argument)
    with tempfile.TemporaryDirectory() as folder:
        served = os.path.join(folder, "served")
        shutil.copytree(os.path.join(package, "dist", "release"), served)
        shutil.copy(path, os.path.join(served, "profile-" + os.path.basename(path)))
        server = http.server.ThreadingHTTPServer(
            ("127.0.0.1", 0), functools.partial(_Quiet, directory=served))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        root = f"http://127.0.0.1:{server.server_port}"
        browser = webdriver.Chrome(options=options)
        try:
            browser.get(f"{root}/index.html#profileURL={root}/profile-{os.path.basename(path)}&view=sandwich")
            rows = []
            for _ in range(2 * seconds):
                time.sleep(0.5)
                rows = browser.execute_script(
                    "return [...document.querySelectorAll('tr')].map(row => "
                    "[...row.querySelectorAll('td')].map(cell => cell.textContent))")
                rows = [row for row in rows if len(row) >= 3]
                if rows:
                    break
            if not rows:
                return None, "it shows no functions"
            return ({row[1]: _number(row[2]) for row in rows if "%" not in row[0]},
                    {row[2]: _number(row[0]) for row in rows if "%" in row[0]})
        except UnexpectedAlertPresentException as alert:
            return None, alert.alert_text
        finally:
            browser.quit()
            server.shutdown()
