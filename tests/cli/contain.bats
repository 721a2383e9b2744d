#!/usr/bin/env bats
# Targets that behave badly: contained, reported, and the next run goes on.
load common

setup_file()
{
    compile_targets
}

setup()
{
    enter
}

fixed=(--state none --epoch 1700000000)

@test "a memory limit: what is beyond it is not given, what is below it is" {
    cat > eat.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
    size_t size = strtoul(argv[argc - 1], NULL, 0) << 20;
    char *memory = malloc(size);
    if (memory)
        memset(memory, 1, size);
    return !memory;
}
C
    "$cc" -o eat eat.c
    for mode in -q --exec; do
        run "$pct" run "${fixed[@]}" $mode -n 3 --memory-limit 100M -- ./eat 90
        is "$status" 0
        run --separate-stderr "$pct" run "${fixed[@]}" $mode -n 3 --memory-limit 100M -- ./eat 300
        is "$status" 1
    done
    # The replay has it, too.
    run sh -c "$(replay_line)"
    is "$status" 1
    has "replayed identically"
    for bad in 5X -1 0 1K '' 99999999999G; do
        run "$pct" run --memory-limit "$bad" -- ./eat 1
        is "$status" 2
        has "--memory-limit"
    done
}

@test "a target that kills the process that started it ends nothing but itself" {
    for mode in -g --exec; do
        run "$pct" run "${fixed[@]}" $mode -n 5 -- bash -c 'kill -KILL $PPID; kill -TERM $PPID; exit 0'
        is "$status" 0
        has "5 runs"
        has "signals to the pct that started the run, which it was spared"
    done
}

@test "processes without end: those of a run that is over its time are ended, and the next run begins" {
    cat > bomb.c <<'C'
#include <unistd.h>
int main(void)
{
    /* 63 of them, so that a failing test is no fork bomb. Half of them leave the process group. */
    for (int i = 0; i < 6; i++)
        if (!fork() && i == 5)
            setsid();
    for (;;)
        pause();
}
C
    "$cc" -o bomb bomb.c
    run "$pct" run "${fixed[@]}" -g -n 2 -s 1 --timeout 1 -- ./bomb
    is "$status" 124
    has "2 failed (2 timeout)"
    ! grep -qsa "^./bomb" /proc/[0-9]*/cmdline
}

@test "a run over its time tells where it computes, also when no thread has ever waited for another" {
    cat > alone.c <<'C'
#include <pthread.h>
static volatile int n;
static void *nothing(void *unused)
{
    return unused;
}
static void compute_forever(void)
{
    for (;;)
        n++;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, nothing, NULL);
    pthread_join(thread, NULL);
    compute_forever();
}
C
    "$cc" -g -pthread -o alone alone.c
    run "$pct" run --timeout 1 -- ./alone
    is "$status" 124
    has "compute_forever"
}

@test "a daemon that leaves its session is ended with its run" {
    run "$pct" run -n 3 -- sh -c 'setsid sleep 300.75 > /dev/null 2>&1 & exit 0'
    is "$status" 0
    ! grep -qsa 'sleep.300\.75' /proc/[0-9]*/cmdline
}

@test "output of many megabytes is kept in its last part, and does not stop the run" {
    run --separate-stderr "$pct" run "${fixed[@]}" -n 2 -- sh -c 'head -c 100000000 /dev/zero | tr "\0" x; echo; echo end; exit 3'
    is "$status" 3
    is "$(printf '%s\n' "$output" | tail -n 1)" end
    [ "${#output}" -lt 1000000 ]
    has "bytes before this are left out"
}

@test "a target that closes all descriptors, in a forked run too, loses nothing but those" {
    cat > shut.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void *lock(void *unused)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return unused;
}
int main(void)
{
    pthread_t thread;
    close_range(0, ~0u, 0);
    pthread_create(&thread, NULL, lock, NULL);
    lock(NULL);
    return pthread_join(thread, NULL);
}
C
    "$cc" -pthread -o shut shut.c
    run "$pct" run "${fixed[@]}" -n 20 -- ./shut
    is "$status" 0
    has "20 runs"
    has "n=2"
    lacks "started by exec"
}
