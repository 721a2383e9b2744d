#!/usr/bin/env bats
# `pct explain --json` is what its schema says (docs/explain.schema.json), and what the screen says.
load common

setup()
{
    enter
    program=$build/bugs/fig1c-deadlock
    token=$("$pct" run -n 500 -s 1 --state none -q -- "$program" 2>&1 | grep -o "pct1:[^' ]*" | tail -n 1)
}

@test "by rules" {
    run --separate-stderr "$pct" explain --json "$token" -- "$program"
    is "$status" 0
    printf '%s\n' "$output" > found.json
    follows_schema explain found.json
    run --separate-stderr "$pct" explain "$token" -- "$program"
    screen=$output
    /usr/bin/python3 - "$token" "$screen" << 'PYTHON'
import json, sys
found, token, screen = json.load(open("found.json")), sys.argv[1], sys.argv[2]
assert found["token"] == token and token in found["replay"] and found["verdict"] == "deadlock"
first = found["diagnoses"][0]
assert first["rule"] == "wait cycle" and "cause: " + first["text"] + "." in screen
assert {frame["file"].rsplit("/", 1)[-1] for step in first["steps"] for frame in step["frames"]} == {"fig1c-deadlock.c"}
assert any("step" not in step for step in first["steps"]), "the waits were not made"
PYTHON
    # The command in it replays the run.
    command=$(/usr/bin/python3 -c 'import json; print(json.load(open("found.json"))["replay"])')
    run bash -c "$command"
    is "$status" 120
}

@test "by a search" {
    run --separate-stderr "$pct" explain --json --search --seconds 60 "$token" -- "$program"
    is "$status" 0
    printf '%s\n' "$output" > found.json
    follows_schema explain found.json
    /usr/bin/python3 - << 'PYTHON'
import json
found = json.load(open("found.json"))
assert found["diagnoses"] == [] and found["search"]["measured"]
assert len(found["search"]["orderings"]) >= 1
assert all(event["frames"] for order in found["search"]["orderings"] for event in (order["first"], order["then"]))
PYTHON
}

@test "a run of maple: the iRoot that it was to force" {
    program=$build/scale/reorder
    token=$("$pct" run -S maple -n 40 -s 1 --state none -q -- "$program" 3 2>&1 | grep -o "pct1:maple[^' ]*" |
        tail -n 1)
    run --separate-stderr "$pct" explain --json "$token" -- "$program" 3
    is "$status" 0
    printf '%s\n' "$output" > found.json
    follows_schema explain found.json
    /usr/bin/python3 - "$token" << 'PYTHON'
import json, re, sys
root, token = json.load(open("found.json"))["iroot"], sys.argv[1]
idiom, accesses = re.search(r"iroot=(\d)((?:-\d+\.[0-9a-f]{8})+)", token).groups()
assert root["idiom"] == int(idiom) and len(root["places"]) == accesses.count("-")
assert root["places"][0]["file"].endswith("reorder.c") and root["places"][0]["line"]
PYTHON
}
