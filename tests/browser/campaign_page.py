"""Looks at an HTML report of a campaign with Debian's chromium, headless, and prints TAP.
    campaign_page.py REPORT.html REPORT.json [SCREENSHOT.png]
The numbers come from the JSON of the same campaign. Called by tests/browser/campaign (make check-browser)."""
import json
import pathlib
import sys

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By

from common import check, end_checks

page = pathlib.Path(sys.argv[1]).resolve()
campaign = json.loads(pathlib.Path(sys.argv[2]).read_text(encoding="utf-8"))

options = webdriver.ChromeOptions()
for option in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1100,1600"):
    options.add_argument(option)
options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
browser = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
try:
    browser.set_page_load_timeout(120)
    browser.get(page.as_uri())
    if len(sys.argv) > 3:
        browser.save_screenshot(sys.argv[3])

    log = [entry["message"] for entry in browser.get_log("browser")]
    check("the browser has nothing to complain about", not log, log)
    asked = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    urls = [m["params"]["request"]["url"] for m in asked if m["method"] == "Network.requestWillBeSent"]
    check("it loads nothing but itself", urls == [page.as_uri()], urls)

    check("the title has the command", campaign["command"] in browser.title, browser.title)
    totals = {term.text: value.text for term, value in zip(browser.find_elements(By.CSS_SELECTOR, "dl.totals dt"),
                                                           browser.find_elements(By.CSS_SELECTOR, "dl.totals dd"))}
    for term, member in (("runs", "runs"), ("failing runs", "failures"), ("different schedules", "schedules"),
                         ("threads, at most", "threads"), ("steps, at most", "steps")):
        check(f"total: {term}", totals.get(term) == str(campaign[member]), totals)

    sections = browser.find_elements(By.CSS_SELECTOR, "section.finding")
    check("a section for each finding", len(sections) == len(campaign["findings"]), len(sections))
    for section, finding in zip(sections, campaign["findings"]):
        text = section.text
        check("its title is text, not markup", section.find_element(By.TAG_NAME, "h3").text.split() ==
              finding["title"].split(), text)
        check("its replay command is there", section.find_element(By.CSS_SELECTOR, ".replay pre").text ==
              "pct " + finding["replay"], text)
        check("and a button that copies it", section.find_element(By.CSS_SELECTOR, "button.copy").is_displayed())
        frames = sum(len(stack["frames"]) for stack in finding["stacks"])
        check("all frames of its stacks", len(section.find_elements(By.CSS_SELECTOR, "ol.frames li")) == frames, text)
        report = section.find_element(By.TAG_NAME, "details")
        report.find_element(By.TAG_NAME, "summary").click()
        shown = report.find_element(By.TAG_NAME, "pre")
        keep = section.find_element(By.CSS_SELECTOR, "details.keep pre").get_attribute("textContent")
        check("and how to keep it", keep == "pct add" + finding["replay"].removeprefix("replay"), keep)
        check("its report opens", shown.is_displayed() and shown.text.split() == finding["report"].split(), shown.text)

    figures = browser.find_elements(By.TAG_NAME, "figure")
    check("four curves", len(figures) == 4, len(figures))
    last = campaign["curve"][-1]
    for figure, member in zip(figures, ("failures", "findings", "schedules", "pairs")):
        drawing = figure.find_element(By.TAG_NAME, "svg")
        inside = browser.execute_script("""
            const box = arguments[0].querySelector('.curve').getBBox(), view = arguments[0].viewBox.baseVal;
            return box.width > 300 && box.x >= 0 && box.y >= 0 && box.x + box.width <= view.width &&
                   box.y + box.height <= view.height""", drawing)
        check(f"the curve of {member} is inside of its picture", inside)
        browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", drawing)
        ActionChains(browser).move_to_element_with_offset(drawing, drawing.size["width"] // 2 - 14, 0).perform()
        value = figure.find_element(By.TAG_NAME, "output").text.replace(",", "")
        check(f"the pointer at its end shows the last value of {member}",
              value == f"{last[member]} after {last['runs']} runs", value)

    for width in (1100, 400):
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False})
        wide = browser.execute_script("return document.documentElement.scrollWidth")
        check(f"nothing sticks out at a width of {width}", wide <= width, wide)
finally:
    browser.quit()
end_checks()
