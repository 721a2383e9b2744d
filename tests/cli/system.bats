#!/usr/bin/env bats
# `pct doctor --system`: what a machine refuses is told, with what follows; filters of system calls and limits stand for
# machines.
load common

setup_file()
{
    compile_targets
    "$cc" -O1 -o "$BATS_FILE_TMPDIR/deny" "$root/tests/cli/deny.c"
    "$cc" -O1 -fPIC -shared -o "$BATS_FILE_TMPDIR/full.so" "$root/tests/cli/full.c"
}

setup()
{
    enter
    ln -s "$BATS_FILE_TMPDIR/deny" .
    # Of x86-64: man 2 syscall.
    personality=135 ptrace=101 perf_event_open=298 io_uring_setup=425 userfaultfd=323 shmget=29
}

# line WHAT: the line of the output about this.
line()
{
    printf '%s\n' "$output" | grep "^[a-z]*  *$1  "
}

@test "each fact has a line, and the last one is the verdict" {
    run "$pct" doctor --system
    is "$status" 0
    for what in system container library /proc addresses processes debuggers watchpoints io_uring userfaultfd CPUs \
        'address space' \
        'scratch files'; do
        line "$what"
    done
    has "library        $(realpath "$build/libpct.so") can be loaded"
    [[ ${lines[-1]} == 'this machine: pct '* ]]
}

@test "with a program, both are told" {
    run "$pct" doctor --system ./target
    is "$status" 0
    has "this machine: pct"
    has "./target: partly controllable"
    run "$pct" doctor --system ./static
    is "$status" 1
    run "$pct" doctor
    is "$status" 2
    has "no program is given, nor --system"
}

@test "without personality, addresses differ" {
    [ "$(cat /proc/sys/kernel/randomize_va_space)" != 0 ] || skip 'addresses are not random on this machine at all'
    [ "$(setarch -R sh -c 'echo set')" = set ] || skip 'this machine refuses it already'
    # Under setarch -R it is off already.
    run ./deny $personality "$pct" doctor --system
    is "$status" 0
    [[ $(line addresses) == partly*'differ between runs'* ]]
    has 'way out: a container: --security-opt seccomp=FILE'
    has 'this machine: pct works, but for what is marked "partly"'
    run "$pct" doctor --system
    [[ $(line addresses) == ok*'are the same in each run'* ]]
}

@test "what a filter refuses is marked, and what follows is said" {
    run ./deny $ptrace,$perf_event_open,$io_uring_setup,$userfaultfd,$shmget "$pct" doctor --system
    is "$status" 0
    [[ $(line debuggers) == partly*'replay --gdb and --lldb do not work' ]]
    [[ $(line watchpoints) == partly*'--watch does not work' ]]
    [[ $(line io_uring) == note*'is refused (Operation not permitted)'* ]]
    [[ $(line userfaultfd) == note*'is refused (Operation not permitted)'* ]]
    [[ $(line processes) == partly*'have times of their own (shmget: Operation not permitted)'* ]]
    line seccomp
    # And it is so.
    run ./deny $perf_event_open "$pct" run --watch=variable -- ./target exit 0
    is "$status" 2
}

@test "a small address space" {
    run bash -c 'ulimit -v 1048576 && exec "$@"' sh "$pct" doctor --system
    is "$status" 0
    [[ $(line 'address space') == partly*'1024 MiB for each process'* ]]
}

@test "a library that is not there, and one that cannot be loaded" {
    mkdir bin
    cp "$pct" bin/pct
    run bin/pct doctor --system
    is "$status" 1
    [[ $(line library) == not*'libpct.so was not found beside'* ]]
    has "this machine: pct does not work here"
}

@test "without /proc, that is what is missing" {
    unshare -m mount -t tmpfs none /proc || skip "mounting is not allowed"
    run -2 unshare -m sh -c 'mount -t tmpfs none /proc && exec "$1" run -- ./target exit 0' sh "$pct"
    has "/proc is not mounted, by which pct finds its library"
}

# 134: the failure of the target.
@test "debug information that does not fit in memory does not end pct with a status of the target" {
    for ((kilobytes = 70000; kilobytes < 120000; kilobytes += 5000)); do
        run bash -c 'ulimit -v "$1"; "$2" run --explore=0 -s 1 -n 40 -- ./target race' sh "$kilobytes" "$pct"
        ((status == 134 || status == 125))
    done
}

@test "where there is no room for the stack to grow, pct says that memory is out, or goes on" {
    LD_PRELOAD=$BATS_FILE_TMPDIR/full.so run "$pct" run --explore=0 -s 1 -n 40 -- ./target race
    expected=full
    ((status == 134)) || expected="pct: out of memory: the debug information of a program does not fit"
    ((status == 134 || status == 125))
    has "$expected"
}

@test "in an address space in which pct has no room itself, what it says has a cause" {
    for ((kilobytes = 40000; kilobytes > 8000; kilobytes -= 500)); do
        run -0 bash -c 'ulimit -v "$1"; "$2" run -n 1 -- /bin/true; true' sh "$kilobytes" "$pct"
        lacks "pct: ?"
    done
}
