#!/usr/bin/env bats
# `pct demon --depth 2`: what others can break only where the test goes another way, behind an earlier call of theirs.
load common
load demon

setup()
{
    enter_demon || return
    cat > spec.demon << 'SPEC'
test visit(c)
  rely locked: holds(c.lock) implies unchanged(c.tickets)
proc look(c)
proc take(c)
  require some: c.tickets > 0
proc open_counter(c)
  ensure opened: c.open = 1
proc sell(c)
  require some: c.tickets > 0
  ensure fewer: c.tickets = old c.tickets - 1
SPEC
}

# judges STATUS DEPTH FLAG...: `pct demon` of the program, built so.
judges()
{
    "$cc" -O0 -g -pthread "${@:3}" -o program "$root/tests/cli/demon_depth.c"
    run --separate-stderr timeout 120 "$pct" demon --depth "$2" --spec spec.demon --report json:out.json -- ./program
    is "$status" "$1"
}

@test "--depth 2: a call opens a way, a later one breaks what it comes to" {
    judges 2 1
    has 'pct: nothing was asked, so nothing is known: no function that visit enters'
    judges 1 2
    has 'another thread calls open_counter(c); later, where visit enters take (demon_depth.c:'
    has '): another thread calls sell(c)'
    has '      c.tickets: 1 -> 0'
    has 'then `require some: c.tickets > 0` of take does not hold'
    has 'confirmed by a real schedule of two threads'
    [[ $output =~ switches=0\.[0-9]+\.1-0\.[0-9]+\.1 ]]
    /usr/bin/python3 -c 'import json; [f] = json.load(open("out.json"))["confirmed"]
assert (f["earlier_enters"], f["earlier_calls"], f["calls"]) == ("visit", ["open_counter(c)"], ["sell(c)"])'
    replays
}

@test "--depth 2: nothing is found in the correction, and it is said how much was looked at" {
    judges 0 2 -DFIXED
    has 'no interference found'
    has '4 other ways of the test, behind an earlier call of others, were looked at, too'
    is "$(grep -c '"calls"' out.json)" "$(grep -c '"earlier_calls"' out.json)"
}

@test "--depth 2: a call may lead to what does not hold at once" {
    judges 2 1 -DTICKETS=0
    judges 1 2 -DTICKETS=0
    has 'another thread calls open_counter(c)'
    lacks 'later'
    has 'then `require some: c.tickets > 0` of take does not hold'
    judges 0 2 -DTICKETS=0 -DFIXED
}

@test "--depth 2: there are no more than two" {
    "$cc" -O0 -g -pthread -o program "$root/tests/cli/demon_depth.c"
    run --separate-stderr "$pct" demon --depth 3 --spec spec.demon -- ./program
    is "$status" 2
    has "'3' is not a number from 1 to 2"
}
