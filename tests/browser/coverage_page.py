"""Looks at the page of `pct coverage --html` with Debian's chromium, headless, and prints TAP.
    coverage_page.py PAGE.html PAGE.json SCREENSHOTS
The numbers come from the JSON of the same runs. SCREENSHOTS: where pictures go, a prefix. Called by
tests/browser/coverage (make check-browser)."""
import json
import pathlib
import sys

from common import Browser, check, end_checks

page = pathlib.Path(sys.argv[1]).resolve()
coverage = json.loads(pathlib.Path(sys.argv[2]).read_text(encoding="utf-8"))

browser = Browser()
try:
    browser.open(str(page), "document.readyState == 'complete'")
    totals = dict(browser.js("""Array.from(document.querySelectorAll('dl.totals dt'),
                                dt => [dt.textContent, dt.parentNode.querySelector('dd').textContent])"""))
    for term, value in (("iRoots exposed", len(coverage["exposed"])), ("runs", coverage["runs"]),
                        ("predicted and not exposed", len(coverage["predicted"])),
                        ("reads-from pairs", len(coverage["reads_from"])), ("failing runs", coverage["failed"])):
        check(f"total: {term}", totals.get(term) == str(value), totals)

    rows = browser.js("Array.from(document.querySelectorAll('table'), t => t.rows.length - 1)")
    wanted = [count for count in (sum(root["idiom"] == idiom for root in coverage["exposed"] + coverage["predicted"])
                                  for idiom in range(1, 7)) if count] + [len(coverage["reads_from"])]
    check("a row for each, in a table of its idiom", rows == wanted, (rows, wanted))
    check("two curves", browser.js("document.querySelectorAll('figure svg .curve').length") == 2)

    for width in (360, 1600):
        browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                       {"width": width, "height": 2400, "deviceScaleFactor": 1, "mobile": False})
        browser.driver.save_screenshot(f"{sys.argv[3]}-{width}.png")
        wide = browser.js("document.documentElement.scrollWidth")
        check(f"nothing sticks out at a width of {width}", wide <= width, wide)
        boxes = browser.js("""Array.from(document.querySelectorAll('table'), t => {
            const box = t.parentNode, style = getComputedStyle(box).overflowX;
            return [box.clientWidth, box.scrollWidth, style]; })""")
        check(f"each table scrolls in a box of its own at {width}",
              all(style == "auto" and client <= width for client, _, style in boxes), boxes)
        check(f"which is there for one that is wider at {width}",
              width > 1000 or any(inner > client for client, inner, _ in boxes), boxes)
    check("no errors on the browser's console", not browser.errors())
finally:
    browser.driver.quit()
end_checks()
