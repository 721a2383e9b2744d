"""For the tests of pages: a Chromium without a display, driven by Debian's Selenium, and results as TAP.

A test file defines functions test_NAME(browser, pages) and calls main(make), with further options of the browser if it
needs any: make(directory) writes the pages once and returns what each test gets besides the browser. Nothing here waits
for a fixed time: wait() looks until something holds. """
import inspect
import os
import subprocess
import sys
import tempfile
import time
import traceback

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
pct = os.path.join(root, os.environ.pop("PCT_BUILD", "build"), "pct")
LONGEST = 120  # seconds; only a page that is broken takes as long


def run(*command, status=0):
    """Run a command; its output. Any other exit status than this is an error."""
    done = subprocess.run(command, capture_output=True, text=True, cwd=root)
    if done.returncode != status:
        raise AssertionError("%s: status %d\n%s" % (" ".join(command), done.returncode, done.stderr))
    return done.stdout


checked = {"all": 0, "failed": 0}


def check(name, condition, detail=""):
    """Print one result of a file that is no list of tests, and the detail where the condition does not hold."""
    checked["all"] += 1
    print(f"{'ok' if condition else 'not ok'} {checked['all']} - {name}")
    if not condition:
        checked["failed"] += 1
        print(f"# {detail}")


def end_checks():
    """Behind the last of them."""
    print(f"1..{checked['all']}")
    sys.exit(1 if checked["failed"] else 0)


class Browser:
    def __init__(self, *arguments):
        options = webdriver.ChromeOptions()
        # As root Chromium has no sandbox; /dev/shm is small in containers.
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                         "--window-size=1400,1000", "--host-resolver-rules=MAP * ~NOTFOUND", *arguments):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
        self.driver.set_script_timeout(LONGEST)

    def open(self, path, ready):
        """Open a page anew, and wait until this expression is true in it."""
        self.driver.get("about:blank")
        self.driver.get("file://" + path)
        self.wait(ready)

    def js(self, expression, *arguments):
        return self.driver.execute_script("return " + expression, *arguments)

    def text(self, selector):
        return self.js("document.querySelector(arguments[0]).textContent", selector)

    def click(self, selector):
        self.driver.find_element("css selector", selector).click()

    def keys(self, *keys):
        self.driver.find_element("css selector", "body").send_keys(*keys)

    def wait(self, expression):
        end = time.monotonic() + LONGEST
        while not self.js(expression):
            if time.monotonic() > end:
                raise AssertionError("never true: " + expression)
            time.sleep(0.02)

    def errors(self):
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]


def main(make, *arguments):
    tests = [(name, f) for name, f in inspect.getmembers(sys.modules["__main__"], inspect.isfunction)
             if name.startswith("test_") and (len(sys.argv) < 2 or name in sys.argv[1:])]
    failed = False
    with tempfile.TemporaryDirectory() as directory:
        browser = Browser(*arguments)
        try:
            pages = make(directory)
            print("1..%d" % len(tests), flush=True)
            for number, (name, test) in enumerate(tests, 1):
                try:
                    test(browser, pages)
                    assert not browser.errors(), "errors on the browser's console"
                    print("ok %d - %s" % (number, name), flush=True)
                except Exception:
                    failed = True
                    print("not ok %d - %s" % (number, name))
                    print("".join("# " + line + "\n" for line in traceback.format_exc().splitlines()), flush=True)
        finally:
            browser.driver.quit()
    sys.exit(failed)
