#!/usr/bin/python3
"""The page of `pct trace --format=html`: what it shows and does, in a browser without a network."""
import json
import os

import common
from selenium.webdriver.common.keys import Keys

READY = "document.body && document.body.dataset.ready !== undefined"
SELECTED = "document.querySelector('#step-title').textContent"
STEPS = 100000


def make(directory):
    def record(name, *command, seed="1", strategy="pct,depth=2", runs="500", status=0):
        trace = os.path.join(directory, name + ".pct")
        common.run(common.pct, "run", "-n", runs, "-s", seed, "-S", strategy, "--sites", "-t", trace, "--", *command,
                   status=status)
        common.run(common.pct, "trace", trace, "-o", trace + ".html")
        lines = map(json.loads, common.run(common.pct, "trace", trace, "-f", "jsonl").splitlines())
        return trace + ".html", [line for line in lines if line["type"] == "step"]

    target = os.path.join(directory, "target")
    common.run("cc", "-g", "-O1", "-pthread", "-o", target, "tests/cli/target.c")
    pages = {"deadlock": record("deadlock", target, "abba", status=120),
             "long": record("long", target, "yields", str(STEPS), strategy="random-walk", runs="1")}
    # A killed run, and a window of a long one.
    common.run(common.pct, "run", "-s", str(2**64 - 1), "-t", directory + "/killed.pct", "--", target, "kill", "40",
               status=137)
    common.run(common.pct, "trace", directory + "/killed.pct", "-o", directory + "/killed.html")
    common.run(common.pct, "trace", directory + "/long.pct", "--from", "101", "--to", "200", "-o",
               directory + "/window.html")
    with open(directory + "/said.lua", "w") as script:
        script.write('local a, b = thread(starts), thread(starts)\nrun(a, locks) step(a)\nrun(b, locks)\n')
    common.run(common.pct, "script", "-q", "-t", directory + "/said.pct", directory + "/said.lua", "--", target, "abba",
               status=120)
    common.run(common.pct, "trace", directory + "/said.pct", "-o", directory + "/said.html")
    pages["said"] = directory + "/said.html", []
    pages["killed"] = directory + "/killed.html", []
    pages["window"] = directory + "/window.html", pages["long"][1][100:200]
    return pages


def test_verdict_and_steps(browser, pages):
    page, steps = pages["deadlock"]
    browser.open(page, READY)
    assert browser.text("#verdict").startswith("deadlock"), browser.text("#verdict")
    assert "%d steps" % len(steps) in browser.text("#facts"), browser.text("#facts")
    assert "pct replay 'pct1:pct,depth=2" in browser.text("#replay")
    rows = browser.js("[...document.querySelectorAll('#steps tr.step')]"
                      ".map(r => [...r.cells].map(c => c.textContent))")
    assert len(rows) == len(steps)
    for row, step in zip(rows, steps):
        assert row[0] == str(step["step"]) and "".join(row[1:]) == step["text"], (row, step)


def test_critical_switches(browser, pages):
    page, steps = pages["deadlock"]
    browser.open(page, READY)
    critical = [s for s in steps if s.get("reason") == "preempted"]
    browser.keys(*("p" * len(critical)))
    for step in critical:
        wanted = "Step %d: thread %d: %s" % (step["step"], step["thread"], step["text"])
        assert browser.js(SELECTED) == wanted, browser.js(SELECTED)
        assert "switch to thread %d: preempted" % step["switch_to"] in browser.text("#details")
        browser.click("#next-switch")
    assert "%d of %d preemptions" % (len(critical), len(critical)) in browser.text("#switch-place")
    browser.click("#all-switches")
    assert "%d switches" % sum("switch_to" in s for s in steps) in browser.text("#switch-place")


def test_source_lines(browser, pages):
    page, steps = pages["deadlock"]
    browser.open(page, READY)
    lock = next(s for s in steps if s["op"] == "lock")
    browser.js("(location.hash = '#step=%d', 1)" % lock["step"])
    browser.wait(SELECTED + ".startsWith('Step %d:')" % lock["step"])
    place = lock["place"]
    assert browser.text("#details a[href^='file:']") == "%s:%d" % (place["file"], place["line"])
    source = open(os.path.join(common.root, place["file"])).read().splitlines()
    assert browser.text("#details .here") == "%5d  %s" % (place["line"], source[place["line"] - 1])


def test_stacks_at_the_end(browser, pages):
    browser.open(pages["deadlock"][0], READY)
    assert browser.js("document.querySelectorAll('#end details[open]').length") == 3
    assert "take_both" in browser.text("#end") and "held by thread" in browser.text("#end")


def test_script_beside_steps(browser, pages):
    page, _ = pages["said"]
    browser.open(page, READY)
    rows = browser.js("[...document.querySelectorAll('#steps tr.step')]"
                      ".map(r => r.cells[r.cells.length - 1].textContent)")
    said = [row[row.index("said.lua"):] for row in rows if "said.lua" in row]
    assert said and said[0].startswith("said.lua:1: local a, b"), rows
    assert any(row.startswith("said.lua:2: run(a, locks) step(a)") for row in said), rows
    browser.js("(location.hash = '#step=1', 1)")
    browser.wait(SELECTED + ".startsWith('Step 1:')")
    assert "said.lua:1:" in browser.text("#details")
    assert "pct replay TRACE -- " in browser.text("#replay")


def test_filters(browser, pages):
    page, steps = pages["deadlock"]
    browser.open(page, READY)
    mutexes = {s["object"] for s in steps if s.get("class") == "mutex"}
    options = browser.js("[...document.querySelectorAll('#object option')].map(o => o.textContent)")
    assert sum(o.startswith("mutex ") for o in options) == len(mutexes), options
    browser.js("(document.querySelector('#object').selectedIndex = 1,"
               "document.querySelector('#object').dispatchEvent(new Event('change')), 1)")
    faint = browser.js("[...document.querySelectorAll('#steps tr.step')].filter(r => r.style.opacity).length")
    assert 0 < faint < len(steps), faint
    browser.click("#threads summary")
    browser.click("#thread-list input[value='0']")
    shown = browser.js("[...document.querySelectorAll('#steps th')].map(h => h.textContent)")
    assert shown == ["step", "thread 1", "thread 2"], shown


def test_zoom(browser, pages):
    page, steps = pages["long"]
    browser.open(page, READY)
    visible = "document.querySelector('#timeline').dataset.visible"
    everything = "1-%d" % len(steps)
    browser.wait(visible + " === '%s'" % everything)
    browser.keys("+", "+")
    browser.wait(visible + " !== '%s'" % everything)
    low, high = map(int, browser.js(visible).split("-"))
    assert (high - low) < len(steps) / 2, (low, high)
    browser.keys("0")
    browser.wait(visible + " === '%s'" % everything)


def test_a_click_selects(browser, pages):
    page, steps = pages["deadlock"]
    browser.open(page, READY)
    box = browser.js("(r => [r.x, r.y, r.width])(document.querySelector('#timeline').getBoundingClientRect())")
    last = steps[-1]
    # The last step, in the middle of its box: lanes are 26 high, and begin behind the labels.
    x = box[0] + 74 + (box[2] - 78) * (len(steps) - 0.5) / len(steps)
    y = box[1] + 26 * (last["thread"] + 0.5)
    browser.js("document.querySelector('#timeline').dispatchEvent("
               "new MouseEvent('click', { clientX: arguments[0], clientY: arguments[1] }))", x, y)
    assert browser.js(SELECTED).startswith("Step %d:" % last["step"]), browser.js(SELECTED)


def test_long_trace(browser, pages):
    page, steps = pages["long"]
    browser.open(page, READY)
    assert int(browser.js("document.body.dataset.ready")) == len(steps) >= STEPS
    wanted = steps[len(steps) // 2]
    browser.js("(location.hash = '#step=%d', 1)" % wanted["step"])
    said = "Step %d: thread %d: %s" % (wanted["step"], wanted["thread"], wanted["text"])
    browser.wait(SELECTED + " === %s" % json.dumps(said))
    browser.keys(Keys.ARROW_RIGHT)
    assert browser.js(SELECTED).startswith("Step %d:" % (wanted["step"] + 1))


def test_killed_run(browser, pages):
    browser.open(pages["killed"][0], READY)
    assert "killed" in browser.text("#verdict") and "killed" in browser.text("#end")
    assert "seed %d;" % (2**64 - 1) in browser.text("#facts"), browser.text("#facts")
    assert int(browser.js("document.body.dataset.ready")) >= 40


def test_window(browser, pages):
    page, steps = pages["window"]
    browser.open(page, READY)
    assert "the steps 101 to 200" in browser.text("#note"), browser.text("#note")
    browser.js("(location.hash = '#step=150', 1)")
    said = "Step 150: thread %d: %s" % (steps[49]["thread"], steps[49]["text"])
    browser.wait(SELECTED + " === %s" % json.dumps(said))


common.main(make)
