#!/usr/bin/env bats
# Objects of C++ in contracts: members of base classes, and std::mutex as a lock.
load common
load demon

setup()
{
    enter_demon || return
}

# judges STATUS FLAG CONTRACT...
judges()
{
    judge demon_classes.cc "--points=calls --bound 1" "$@"
}

locked='rely locked: holds(q.lock) implies unchanged(q.count) and unchanged(q.item.uses) and unchanged(q.item)'

@test "members of a base class are the class's own, and std::mutex is a lock" {
    judges 1 '' 'test get(q)' "$locked" 'proc take(q) require some: q.count > 0' \
        'proc steal(q) require some: q.count > 0 ensure less: q.count = old q.count - 1'
    has '      q.count: 1 -> 0'
    has 'q.lock is not held there'
    replays
    judges 0 -DFIXED 'test get(q)' "$locked" 'proc take(q) require some: q.count > 0' \
        'proc steal(q) require some: q.count > 0 ensure less: q.count = old q.count - 1'
    has '1 proven stable'
}

@test "others know what members of a base class lead to" {
    judges 1 '' 'test get(q)' "$locked" 'proc take(q) require some: q.item.uses > 0' \
        'proc wear(i) ensure gone: i.uses = 0'
    has 'another thread calls wear(q.item)'
}

@test "a member that no object has is refused" {
    judges 2 '' 'test get(q)' 'proc take(q) require some: q.all > 0' 'proc wear(i) ensure gone: i.uses = 0'
    is "$(grep -c 'spec.demon:2: q.all: ' <<< "$stderr")" 1
}
