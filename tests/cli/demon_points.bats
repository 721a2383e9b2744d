#!/usr/bin/env bats
# `pct demon --points`: operations of the test before which others may come in.
load common
load demon

setup()
{
    enter_demon || return
    printf '%s\n' 'test take(s)' '  rely locked: holds(s.lock) implies unchanged(s.size)' 'proc pop(s)' \
        '  require some: s.size > 0' 'proc clear(s)' '  ensure none: s.size = 0' > locks.demon
    printf '%s\n' 'test visit(r)' '  rely mine: old r.owner = 1 implies unchanged(r.owner)' 'proc use(r)' \
        '  require alone: r.guests = 0' 'proc enter(r)' '  require free: r.owner = 0' \
        '  ensure owned: r.owner = 2 and r.guests = old r.guests + 1' > accesses.demon
}

# judges STATUS POINTS SPEC FLAG...: `pct demon` of the program, built so.
judges()
{
    "${compiler:-$cc}" -O0 -g -pthread "${@:4}" -o program "$root/tests/cli/demon_points.c"
    # shellcheck disable=SC2086 # two words, or none
    run --separate-stderr timeout 120 "$pct" demon ${2:+--points $2} --spec "$3.demon" --report json:out.json \
        -- ./program
    is "$status" "$1"
}

@test "--points=locks: between two critical sections, which calls do not show" {
    judges 0 calls locks
    has 'no interference found'
    judges 1 locks locks
    has 'interference where take is about to lock mutex (demon_points.c:31): another thread calls clear(s)'
    has '      s.size: 1 -> 0'
    has 's.lock is not held there'
    grep -q '"enters": "lock mutex"' out.json
    replays
    judges 0 locks locks -DFIXED
    has 'no interference found'
    run --separate-stderr "$pct" demon --points locks --list --spec locks.demon -- ./program
    has '2  is about to lock mutex (demon_points.c:'
    has '3  enters pop'
    has '4  is about to unlock mutex (demon_points.c:'
}

@test "--points: places in the source are known in programs of clang, too, which has no table of addresses" {
    compiler=$(command -v clang) || skip 'no clang'
    judges 1 locks locks
    has 'interference where take is about to lock mutex (demon_points.c:31)'
    printf '%s\n' 'test take(s) assert "demon_points.c:31" some: s.size > 0' 'proc clear(s) ensure none: s.size = 0' \
        > line.demon
    run --separate-stderr "$pct" demon --list --spec line.demon -- ./program
    is "$status" 0
    has 'line demon_points.c:31'
    lacks null
}

@test "--points=accesses: between two accesses, in a program as it is and in one built by pct-cc" {
    judges 0 locks accesses -DACCESSES
    has 'no interference found'
    judges 1 accesses accesses -DACCESSES
    has 'interference where visit is about to store memory (demon_points.c:70): another thread calls enter(r)'
    has ',memory=all'
    replays
    judges 0 accesses accesses -DACCESSES -DFIXED
    compiler=$build/pct-cc judges 1 accesses accesses -DACCESSES
    has 'interference where visit is about to store memory (demon_points.c:70): another thread calls enter(r)'
    has ',memory-points=all'
    lacks ',memory=all'
    replays
    compiler=$build/pct-cc judges 0 accesses accesses -DACCESSES -DFIXED
    has 'no interference found'
}

@test "without --points, operations on locks are points where calls show nothing; accesses, where the program tells" {
    judges 1 '' locks
    has 'interference where take is about to lock mutex (demon_points.c:31): another thread calls clear(s)'
    replays
    judges 0 '' locks -DFIXED
    has '4 points, 3 pairs of points: 1 proven stable'
    has 'no call was tried between accesses to memory: --points=accesses lets others in before each'
    judges 0 '' accesses -DACCESSES
    compiler=$build/pct-cc judges 1 '' accesses -DACCESSES
    has 'interference where visit is about to store memory (demon_points.c:70): another thread calls enter(r)'
    replays
    compiler=$build/pct-cc judges 0 '' accesses -DACCESSES -DFIXED
    lacks --points=
}

@test "--points: what there is not" {
    judges 2 lock locks
    has "--points: 'lock' is not calls, locks or accesses"
}
