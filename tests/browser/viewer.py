#!/usr/bin/python3
"""What `pct trace --format=chrome` writes, in the viewer for which the format was made: Catapult's, which browsers had
as chrome://tracing. Debian's Chromium is built without it; Debian's Go has it among the sources of `go tool trace`."""
import glob
import json
import os

import common

PAGE = """<!doctype html><html><head><meta charset="utf-8"><script src="file://{0}/webcomponents.min.js"></script>
<link rel="import" href="file://{0}/trace_viewer_full.html">
<style>html, body {{ margin: 0; height: 100%; overflow: hidden }}
tr-ui-timeline-view {{ width: 100%; height: 100% }}</style>
<script>document.addEventListener('WebComponentsReady', () => window.ready = true)</script>
</head><body></body></html>"""
# As its documentation has it embedded. Steps of the trace stand at their own numbers.
SHOW = """
const [text] = arguments, container = document.createElement('track-view-container');
const view = document.createElement('tr-ui-timeline-view'), model = new tr.Model(),
  options = new tr.importer.ImportOptions();
container.id = 'track_view_container';
view.track_view_container = container;
Polymer.dom(view).appendChild(container);
view.globalMode = true;
Polymer.dom(document.body).appendChild(view);
options.shiftWorldToZero = false;
new tr.importer.Import(model, options).importTraces([text]);
view.model = model;
const end = s => [s.title, s.start * 1000, s.duration * 1000, s.parentContainer.name];
return {
    warnings: model.importWarnings.map(w => w.message),
    threads: model.getAllThreads().map(t => ({
        name: t.name,
        slices: t.sliceGroup.slices.filter(s => s.duration > 0).map(s => [s.title, s.start * 1000, s.duration * 1000]),
        instants: t.sliceGroup.slices.filter(s => !s.duration).map(s => s.title)})),
    flows: model.flowEvents.map(f => [f.title, end(f.startSlice), end(f.endSlice)]),
};
"""


def viewer():
    """The directory that has it."""
    for place in ("cmd/trace/static", "internal/trace/traceviewer/static"):
        for path in sorted(glob.glob("/usr/share/go-*/src/%s/trace_viewer_full.html" % place)):
            return os.path.dirname(path)
    raise AssertionError("no trace viewer: it comes with Debian's golang-src")


def make(directory):
    page = os.path.join(directory, "viewer.html")
    with open(page, "w") as file:
        file.write(PAGE.format(viewer()))
    target = os.path.join(directory, "target")
    common.run("cc", "-g", "-O1", "-pthread", "-o", target, "tests/cli/target.c")

    def record(name, *command, strategy="pct,depth=2,k=20", runs="500", status=0, window=()):
        trace = os.path.join(directory, name + ".pct")
        common.run(common.pct, "run", "-n", runs, "-s", "1", "-S", strategy, "--sites", "-t", trace, "--", *command,
                   status=status)
        lines = map(json.loads, common.run(common.pct, "trace", trace, "-f", "jsonl", *window).splitlines())
        steps = [line for line in lines if line["type"] == "step"]
        return common.run(common.pct, "trace", trace, "-f", "chrome", *window), steps

    return {"page": page,
            "deadlock": record("deadlock", target, "abba", status=120),
            "window": record("window", target, "handover", strategy="random-walk", runs="1",
                             window=("--from", "5", "--to", "18"))}


def show(browser, pages, name):
    text, steps = pages[name]
    browser.open(pages["page"], "window.ready === true")
    return browser.driver.execute_script(SHOW, text), steps


def check(seen, steps):
    assert seen["warnings"] == [], seen["warnings"]
    threads = {step["thread"] for step in steps}
    tracks = {track["name"]: track for track in seen["threads"]}
    assert set(tracks) == {"thread %d" % thread for thread in threads}, set(tracks)
    for thread in threads:
        mine = [step for step in steps if step["thread"] == thread]
        slices = sorted(s for s in tracks["thread %d" % thread]["slices"] if s[0] != "runs")
        expected = sorted([step["text"], step["step"], 1] for step in mine)
        assert [[s[0], round(s[1], 3), round(s[2], 3)] for s in slices] == expected, (slices, expected)
        switches = sum("switch_to" in step for step in mine)
        assert len(tracks["thread %d" % thread]["instants"]) == switches
    # An arrow for each wait, from the step that ended it to the one that waited. A window has those whose both ends are
    # in it.
    there = {step["step"]: step for step in steps}
    expected = sorted([step["link"], step["after"], step["step"]] for step in steps if "link" in step
                      and step["after"] in there)
    flows = sorted([title, round(begin[1]), round(end[1])] for title, begin, end in seen["flows"])
    assert expected and flows == expected, (flows, expected)
    for title, begin, end in seen["flows"]:
        for slice_ in (begin, end):
            step = there[round(slice_[1])]
            assert slice_[0] == step["text"] and slice_[3] == "thread %d" % step["thread"], (slice_, step)


def test_tracks_and_arrows(browser, pages):
    check(*show(browser, pages, "deadlock"))


def test_window(browser, pages):
    check(*show(browser, pages, "window"))


def test_drawn(browser, pages):
    seen, _ = show(browser, pages, "deadlock")
    names = "Array.prototype.map.call(document.querySelectorAll('tr-ui-b-heading'), h => h.textContent)"
    for track in seen["threads"]:
        browser.wait("%s.some(t => t.includes('%s'))" % (names, track["name"]))
    picture = os.path.join(os.path.dirname(common.pct), "browser", "viewer.png")
    os.makedirs(os.path.dirname(picture), exist_ok=True)
    browser.driver.save_screenshot(picture)


common.main(make, "--allow-file-access-from-files")
