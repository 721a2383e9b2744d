#!/usr/bin/env bats
# `pct trace`: a recorded run in each format, whole, in a window, and cut short by SIGKILL. What the page does in a
# browser is in tests/browser.
load common

setup_file()
{
    compile_targets
    cd "$BATS_FILE_TMPDIR" || return
    "$pct" run -n 500 -s 1 -d 2 --sites -t deadlock.trace -- ./target abba > /dev/null 2>&1 || [ $? = 120 ]
    "$pct" run -t killed.trace -- ./target kill 40 > /dev/null 2>&1 || [ $? = 137 ]
    "$pct" run -s 1 -S round-robin,quantum=1 -t many.trace -- ./target turns 100 > /dev/null 2>&1
    "$pct" run -s 1 -S random-walk -t yields.trace -- ./target yields 300 > /dev/null 2>&1
}

setup()
{
    enter
    cp "$BATS_FILE_TMPDIR"/*.trace .
}

# python PROGRAM FILE...: with check(CONDITION, TEXT), which fails with the text.
python()
{
    python3 -c "import json, sys
def check(condition, text):
    if not condition: sys.exit('not so: %s' % text)
$1" "${@:2}"
}

@test "text: what the report prints, and a window of it" {
    run --separate-stderr "$pct" trace deadlock.trace
    is "$status" 0
    has "command: ./target abba"
    has "token: pct1:pct,"
    has "deadlock: no thread can go on"
    printf '%s\n' "$output" | tail -n +4 > whole
    "$pct" report --events deadlock.trace | cmp - whole
    run "$pct" trace --from 2 --to 3 deadlock.trace
    is "$(printf '%s\n' "$output" | grep -c '^ *[0-9][0-9]*  ')" 2
    run "$pct" trace --last 1 deadlock.trace
    is "$(printf '%s\n' "$output" | grep -c '^ *[0-9][0-9]*  ')" 1
}

@test "JSON lines: the run, its steps with reasons, waits and places, its threads" {
    "$pct" trace deadlock.trace -o out.jsonl
    # shellcheck disable=SC2016
    python '
lines = [json.loads(line) for line in open(sys.argv[1])]
run, steps, threads = lines[0], [l for l in lines if l["type"] == "step"], [l for l in lines if l["type"] == "thread"]
check(run["format"] == 1 and run["verdict"] == "deadlock" and run["command"] == "./target abba", run)
check([s["step"] for s in steps] == list(range(1, run["steps"] + 1)), "all steps, in order")
check(sum("switch_to" in s for s in steps) == run["switches"], "switches")
check(sum(s.get("reason") == "preempted" for s in steps) == run["preemptions"], "preemptions")
starts = [s for s in steps if s["op"] == "start"]
check(len(starts) == 2 and all(s["link"] == "create to start" for s in starts), "starts")
for s in starts: check(steps[s["after"] - 1]["op"] == "create" and steps[s["after"] - 1]["object"] == s["thread"], s)
locks = [s for s in steps if s["op"] == "lock"]
check(all(s["place"]["file"].endswith("target.c") and s["place"]["function"] == "take_both" for s in locks), "places")
waiting = {t["thread"]: t for t in threads if t["next_op"] == "lock"}
check(len(waiting) == 2 and all(waiting[t["waits_for_thread"]]["waits_for_thread"] == t["thread"]
          for t in waiting.values()),
      "the cycle")
check(all(t["stack"][0]["function"] == "take_both" for t in waiting.values()), "stacks")
' out.jsonl
}

@test "what is worked out agrees with what the scheduler counted: preemptions, and a signal for each wake" {
    for seed in {1..20}; do
        "$pct" run -s "$seed" -S random-walk -t one.trace -- ./target handover > /dev/null 2>&1
        "$pct" trace one.trace -f jsonl >> all.jsonl
    done
    # shellcheck disable=SC2016
    python '
lines = [json.loads(line) for line in open(sys.argv[1])]
steps = [l for l in lines if l["type"] == "step"]
check(sum(s.get("reason") == "preempted" for s in steps) == sum(l.get("preemptions", 0) for l in lines), "preemptions")
wakes = [s for s in steps if s["op"] == "cond wake"]
check(wakes and all(s["link"] == "signal to wake" for s in wakes), "wakes")
' all.jsonl
}

@test "the Trace Event Format: complete events, nested slices, arrows from slice to slice" {
    for trace in deadlock yields; do
        "$pct" trace $trace.trace -o $trace.json
        "$pct" trace $trace.trace -f jsonl -o $trace.jsonl
        # shellcheck disable=SC2016
        python '
events = json.load(open(sys.argv[1]))["traceEvents"]
steps = [s for s in map(json.loads, open(sys.argv[2])) if s["type"] == "step"]
slices, open_flows, closed = {}, {}, {}
for e in events:
    check(isinstance(e["name"], str) and e["pid"] == 1 and e["ph"] in "XsfiM", e)
    if e["ph"] == "M": continue
    check(e["ts"] >= 1 and e["tid"] >= 1, e)
    if e["ph"] == "X": slices.setdefault(e["tid"], []).append((e["ts"], e["ts"] + e["dur"], e["name"]))
    if e["ph"] == "s": open_flows[e["id"]] = e
    if e["ph"] == "f": closed[e["id"]] = e
for track in slices.values():
    stack, previous = [], 0
    for begin, end, name in track:  # in the order of the file: parents first
        check(begin >= previous, "sorted")
        previous = begin
        while stack and stack[-1] <= begin: stack.pop()
        check(not stack or end <= stack[-1], "nested: %s" % name)
        check(len(stack) == (name != "runs"), "each step inside a run, and no run inside another")
        stack.append(end)
check(sum(len(t) for t in slices.values()) - sum(n == "runs" for t in slices.values() for _, _, n in t) == len(steps),
      "a slice a step")
check(len(open_flows) == len(closed) == sum("link" in s for s in steps), "an arrow for each wait")
for id, begin in open_flows.items():
    end = closed[id]
    check(begin["ts"] < end["ts"] and begin["tid"] != end["tid"] and begin["name"] == end["name"], "an arrow")
    for e in (begin, end): check(any(b <= e["ts"] < x for b, x, _ in slices[e["tid"]]), "inside a slice")
named = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
check(all(named[t] == "thread %d" % (t - 1) for t in slices), "names")
' $trace.json $trace.jsonl
    done
}

# Its trace processor goes through the events in the order of their times, equal ones as in the file; an arrow belongs
# to the slice that began last on its track.
@test "the Trace Event Format: as Perfetto reads it" {
    for trace in deadlock yields; do
        "$pct" trace $trace.trace -f chrome -o $trace.json
        "$pct" trace $trace.trace -f jsonl -o $trace.jsonl
        # shellcheck disable=SC2016
        python '
file = json.load(open(sys.argv[1]))
steps = {s["step"]: s for s in map(json.loads, open(sys.argv[2])) if s["type"] == "step"}
check("displayTimeUnit" not in file, "until 2022 it was taken for the unit of the times")
events = [e for e in file["traceEvents"] if e["ph"] != "M"]
stacks, begun, bound, instants = {}, {}, set(), 0
for e in sorted(events, key=lambda e: e["ts"]):
    check(all(isinstance(e[k], int) for k in ("pid", "tid")), "numbers: a name in their place is another track")
    check(e["ts"] > 0 and "\\" not in e["name"] + e["cat"], e)
    stack = stacks.setdefault(e["tid"], [])
    if e["ph"] in "Xi":
        check(e["ph"] == "X" or e["s"] == "t", "an instant of its thread")
        while stack and stack[-1]["ts"] + stack[-1].get("dur", 0) <= e["ts"]: stack.pop()
        check(not stack or e["ts"] + e.get("dur", 0) <= stack[-1]["ts"] + stack[-1]["dur"], "no slice overlaps another")
        check((e["name"] == "runs") == (not stack), "tracks hold runs, runs hold steps")
        check(e["ph"] == "X" or stack[-1]["args"]["step"] == int(e["ts"]), "the reason of a switch stands in its step")
        stack.append(e)
        instants += e["ph"] == "i"
        continue
    check(isinstance(e["id"], int) and e["id"] >= 0 and e["cat"], "what names an arrow: number, category, name")
    key, step = (e["id"], e["cat"], e["name"]), steps[stack[-1]["args"]["step"]]
    if e["ph"] == "s":
        check(key not in begun, "one beginning each")
        begun[key] = step
    else:
        check(e["bp"] == "e", "it ends in the slice that it is in, not in the next one")
        check(key not in bound, "one end each")
        bound.add(key)
        check(begun[key]["step"] == step["after"] and step["link"] == e["name"], "from step to step")
check(set(begun) == bound and len(bound) == sum("link" in s for s in steps.values()) > 0, "an arrow for each wait")
check(instants == sum("switch_to" in s for s in steps.values()), "an instant for each switch")
names = {(e["name"], e.get("tid")): e["args"] for e in file["traceEvents"] if e["ph"] == "M"}
check(names["process_name", None]["name"], "the process has a name")
check(all(("thread_name", tid) in names for tid in stacks), "and so has each track")
' $trace.json $trace.jsonl
    done
}

@test "Graphviz: the cycle at the end, and before it who waits at that step" {
    run --separate-stderr "$pct" trace deadlock.trace -f dot
    is "$status" 0
    is "$(printf '%s\n' "$output" | grep -c ' -> .*red')" 4
    has "t0 -> t1;"
    has "shape=box, label=\"mutex 1 \`a\`\""
    run --separate-stderr "$pct" trace deadlock.trace -f dot --to 1
    is "$status" 0
    has "after step 1"
    has "t0 ["
    lacks "red"
    lacks "t2 ["
}

@test "a schedule: followed by replay, it is the same run" {
    "$pct" trace deadlock.trace -o out.schedule
    run --separate-stderr "$pct" replay -t again.trace out.schedule -- ./target abba
    is "$status" 120
    is "$("$pct" report --events again.trace)" "$("$pct" report --events deadlock.trace)"
    run "$pct" trace yields.trace -f schedule --last 3
    is "$status" 2
    has "begins with the first step"
    run "$pct" trace yields.trace -f text --then 1
    is "$status" 2
    # Many switches are packed.
    "$pct" trace many.trace -o many.schedule
    grep -q '^token pct1:schedule,switches=Z' many.schedule
    run -0 --separate-stderr "$pct" replay -t again.trace many.schedule -- ./target turns 100
    is "$("$pct" report --events again.trace)" "$("$pct" report --events many.trace)"
}

@test "a page: one file that loads nothing" {
    "$pct" trace deadlock.trace -o out.html
    run grep -cE '(src|href)="|url\(|@import' out.html
    is "$output" 0
    grep -q 'bench\|pthread_mutex_lock(' out.html # the source lines are in it
    run sh -c "\"$pct\" trace yields.trace -f html | head -c 15"
    is "$output" "<!doctype html>"
}

@test "sources that the compiler was given by relative names are found from elsewhere" {
    mkdir -p project/src project/build
    cp "$root/tests/cli/target.c" project/src/here.c
    (cd project/build && "$cc" -g -O1 -pthread -o app ../src/here.c)
    run -120 "$pct" run -q -n 200 -s 1 -d 2 --sites -t here.trace -- project/build/app abba
    has ' at project/src/here.c:'
    lacks ../src
    "$pct" trace here.trace -o here.html
    grep -q 'pthread_mutex_lock(' here.html
    mv project/src project/gone # they may have been compiled elsewhere
    run "$pct" report here.trace
    has 'src/here.c:'
}

@test "the largest seed is exact, also where JavaScript reads it" {
    local seed=18446744073709551615 format
    "$pct" run -n 1 -s $seed -t large.trace -- ./target kill 40 > /dev/null 2>&1 || true
    for format in html chrome; do
        "$pct" trace -f $format -o out large.trace
        grep -q "\"seed\":\"$seed\"" out
    done
    "$pct" trace -f jsonl large.trace | grep -q "\"seed\":$seed,\"seed_text\":\"$seed\","
}

@test "a trace cut short by SIGKILL, in every format" {
    for format in text jsonl chrome dot html; do
        run --separate-stderr "$pct" trace killed.trace -f $format
        is "$status" 0
        has "was killed, or ended in a way that pct does not see"
    done
    "$pct" trace killed.trace -f jsonl -o out.jsonl
    # shellcheck disable=SC2016
    python '
lines = [json.loads(line) for line in open(sys.argv[1])]
check(lines[0]["verdict"] == "running" and "hash" not in lines[0], lines[0])
check(lines[0]["steps"] >= 40 and len(lines) == lines[0]["steps"] + 1, "all its steps, and nothing else")
' out.jsonl
}

@test "what is no trace, no format, no window; an output that cannot be written" {
    echo nonsense > nonsense
    run "$pct" trace nonsense
    is "$status" 2
    has "nonsense: not a pct trace"
    run "$pct" trace
    is "$status" 2
    has 'pct run -t FILE -- COMMAND'
    run "$pct" trace deadlock.trace -f hmtl
    is "$status" 2
    has "did you mean html?"
    run "$pct" trace deadlock.trace --from 99999
    is "$status" 2
    has "the trace has the steps 1 to"
    run "$pct" trace deadlock.trace -o missing/out.html
    is "$status" 2
    has "missing/out.html: No such file"
    run "$pct" trace deadlock.trace -f text -o /dev/full
    is "$status" 125
    has "No space left"
    [ -c /dev/full ]
    echo mine > out.json
    run sh -c "ulimit -f 1; \"$pct\" trace yields.trace -o out.json"
    is "$status" 125
    is "$(cat out.json)" mine
    is "$(echo out.json.*)" 'out.json.*'
}
