#!/usr/bin/env bats
# `pct demon`: the eight bugs of bench/demon and their corrections, the three grades, and what is refused.
load common

setup()
{
    [ -x "$build/pct-demon" ] || skip 'built without Z3'
    cd "$BATS_TEST_TMPDIR" || return
}

compile()
{
    "$cc" -O0 -g -pthread "${@:2}" -o program "$root/bench/demon/$1.c"
}

demon()
{
    run --separate-stderr timeout 120 "$pct" demon "$@"
}

confirms()
{
    local line
    compile "$1"
    demon --spec "$root/bench/demon/$1.demon" -- ./program
    is "$status" 1
    has "another thread calls $2"
    has 'confirmed by a real schedule of two threads'
    line=$(grep ' replay --demon ' <<< "$output")
    for _ in 1 2 3; do
        run --separate-stderr bash -c "$line"
        is "$status" 134
        grep -q 'replayed identically' <<< "$output$stderr"
    done
    compile "$1" -DFIXED
    demon --spec "$root/bench/demon/$1.demon" -- ./program
    is "$status" 0
    has 'no interference found'
}

@test "Apache 21285: an object is ejected before it is inserted again" { confirms apache-21285 'eject(cache)'; }
@test "Apache 25520: another line comes into the buffer" { confirms apache-25520 'other_writer(log, '; }
@test "Apache 45605: another takes the idle worker" { confirms apache-45605 'take_idler(queue)'; }
@test "MySQL 169: a row is inserted between the change and its log entry" { confirms mysql-169 'insert_row(table)'; }
@test "MySQL 644: a field is added behind the count" { confirms mysql-644 'fix_fields(field, 7)'; }
@test "MySQL 791: the log is closed behind the question" { confirms mysql-791 'log_close(log)'; }
@test "pbzip2: the queue is deleted before the unlock" { confirms pbzip2 'queue_delete(queue)'; }
@test "Vector: all is removed behind the question for the size" { confirms vector 'remove_all(vector)'; }

@test "what the program does not mind is the contract's alone" {
    sed 's/assert(queue->idlers > 0);//' "$root/bench/demon/apache-45605.c" > p.c
    "$cc" -O0 -g -pthread -o program p.c
    demon --spec "$root/bench/demon/apache-45605.demon" -- ./program
    is "$status" 3
    has 'only the contract is broken'
    lacks 'confirmed'
}

@test "--list: procedures, what they change, and points" {
    compile apache-45605
    demon --list --spec "$root/bench/demon/apache-45605.demon" -- ./program
    is "$status" 0
    has 'proc take_idler (apache-45605.c:'
    has 'which others may call; it changes queue.idlers'
    has '2  enters decrement'
}

# refuses TEXT MESSAGE: contracts that are not fit.
refuses()
{
    printf '%s\n' "$1" > bad.demon
    demon --spec bad.demon -- ./program
    is "$status" 2
    [[ $stderr == *"$2"* ]]
}

@test "contracts and programs that are not fit are refused, and it is said why" {
    compile apache-45605
    refuses 'test wait_for_idlr(queue)' 'has no function wait_for_idlr'
    refuses 'test wait_for_idler(q)' 'is called queue in the program, not q'
    refuses 'test wait_for_idler(queue) rely a: queue.idler > 0' 'did you mean idlers?'
    refuses 'test wait_for_idler(queue) rely a: queue.idlers > 0 b: queue.idlers = 0' 'contradict each other'
    refuses 'test wait_for_idler(queue) proc decrement(queue) require a: queue.idlers > 1' 'without any interference'
    refuses 'test wait_for_idler(queue) shared none' 'has no global variable none'
    "$cc" -O0 -pthread -o program "$root/bench/demon/apache-45605.c"
    refuses 'test wait_for_idler(queue)' 'has no debug information'
    "$cc" -O2 -g -pthread -o program "$root/bench/demon/apache-45605.c"
    refuses 'test wait_for_idler(queue) proc decrement(queue)' 'inlined'
    sed 's/wait_for_idler(&queue);/wait_for_idler(\&queue); assert(0);/' "$root/bench/demon/apache-45605.c" > p.c
    "$cc" -O0 -g -pthread -o program p.c
    refuses 'test wait_for_idler(queue)' 'fails by itself'
    demon --spec nothing.demon -- ./program
    is "$status" 2
    run --separate-stderr "$pct" replay --demon "$root/README.md" pct1:x -- ./program
    is "$status" 2
}
