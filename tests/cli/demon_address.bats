#!/usr/bin/env bats
# Contracts that speak of addresses: &PATH.
load common
load demon

setup()
{
    enter_demon || return
}

# judges STATUS FLAG CONTRACT...: `pct demon` of the queue, from which others may take.
judges()
{
    judge demon_address.c --points=locks "$@"
}

contracts=('test pop(q)' 'rely locked: holds(q.lock) implies unchanged(q.head.next)'
    'invariant back: q.head.next.previous = &q.head' 'proc take(q) require some: q.head.next != &q.head'
    'proc steal(q) require some: q.head.next != &q.head'
    'ensure none: q.head.next = &q.head and q.head.previous = &q.head')

@test "an empty list leads to its own head: found, and the correction is stable" {
    judges 1 '' "${contracts[@]}"
    has 'another thread calls steal(q)'
    has 'then `require some: q.head.next != &q.head` of take does not hold'
    replays
    judges 0 -DFIXED "${contracts[@]:0:3}" 'invariant too: q.head.next.previous = &queue.head' "${contracts[@]:3}" \
        'shared queue'
    has '1 proven stable'
}

@test "what has no address is refused by name" {
    local path say
    while IFS='|' read -r path say; do
        judges 2 '' "test pop(q) invariant it: $path != null" 'ghost seen' "${contracts[@]:3}"
        is "$stderr" "pct: spec.demon:1: $say"
    done << 'END'
&q|a parameter has no address that others know: &q
&seen|a ghost has no address: &seen
&q.kind|a bit field has no address: &q.kind
&q.haed|q.haed: struct queue has no member 'haed'; did you mean head?
&3|the name of a parameter or shared variable is expected, not 3
END
}
