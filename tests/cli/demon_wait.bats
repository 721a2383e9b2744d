#!/usr/bin/env bats
# `wait` of `pct demon`: a test that waits for others, the calls that let it go on, and what comes behind them.
load common
load demon

setup()
{
    enter_demon || return
    cp "$root/bench/demon/apache-45605-empty.demon" spec.demon
}

# judges STATUS TEXT FLAG...: `pct demon` of the program, built so.
judges()
{
    "$cc" -O0 -g -pthread "${@:3}" -o program "${source:-$root/bench/demon/apache-45605-empty.c}"
    run --separate-stderr timeout 120 "$pct" demon --spec spec.demon --report json:out.json -- ./program
    is "$status" "$1"
    has "$2"
}

@test "wait: calls of others let the test go on, and one behind them breaks what comes next" {
    local line
    judges 1 'another thread calls take_idler(queue)'
    has 'where wait_for_idler waits for others, another thread calls set_idle(queue)'
    has "Assertion \`queue->idlers > 0' failed"
    line=$(grep ' replay --demon ' <<< "$output")
    run --separate-stderr bash -c "$line"
    is "$status" 134
    has 'replayed identically'
    judges 0 'no interference found' -DFIXED
    is "$(grep -c '"points": 6' out.json)" 1
}

@test "wait: a test that waits only behind what others have done goes on, too" {
    source=$root/bench/demon/apache-45605.c judges 0 'no interference found' -DFIXED -DWAITS
    has 'candidates were refuted by a real run'
    grep -A1 '"helps"' out.json | grep -q 'set_idle(queue)'
    # Where it waited, others came in between: a guarantee is not theirs.
    sed -i 's/^  wait/  guarantee fewer: queue.idlers <= old queue.idlers\n&/' spec.demon
    judges 0 'no interference found' -DFIXED
}

@test "wait: what does not let the test go on is no help, and without the clause it is said what is missing" {
    sed 's/pthread_cond_signal.*/;/' "$root/bench/demon/apache-45605.c" > p.c
    source=p.c judges 2 'wait_for_idler waits for others, and no sequence of at most 3 calls was found that makes '\
'what it waits for hold and lets it go on' -DWAITS -DEMPTY
    sed -i '/^  wait/d' spec.demon
    judges 2 'wait_for_idler waits for others: say what for by `wait TAG: CONDITION` of the test, and which calls of '\
'others make it hold by their `ensure`'
}

@test "wait: --points=locks lets others come in before the wait, and in it" {
    "$cc" -O0 -g -pthread -o program "$root/bench/demon/apache-45605-empty.c"
    run --separate-stderr timeout 120 "$pct" demon --points locks --list --spec spec.demon -- ./program
    is "$status" 0
    is "$(grep -c 'is about to cond wait' <<< "$output")" 2
    lacks 'is about to unlock'
    judges 1 'another thread calls take_idler(queue)'
}

@test "wait: others let it go on, and take what it waits for before it does" {
    local source=$root/bench/demon/routines/wait.c
    echo '-- those in the comments of the source' > spec.demon
    judges 1 'about to cond wait (wait.c:26): another thread calls push(q), then steal(q)' -DBUG
    replays
    judges 0 'no interference found'
}
