#!/usr/bin/env bats
# Targets that behave badly: contained, reported, and the next run goes on.
load common

setup_file()
{
    compile_targets
    "$cc" -O1 -fPIC -shared -o "$BATS_FILE_TMPDIR/nofork.so" "$root/tests/cli/nofork.c"
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
        has "signals to the pct that started the run: not delivered"
        # Nor does one that looks for the process which the user sees.
        run "$pct" run "${fixed[@]}" $mode -n 5 -- bash \
            -c 'read -r _ _ _ parent _ < /proc/$PPID/stat; kill -KILL $parent; exit 0'
        is "$status" 0
        has "5 runs"
        has "signals to the pct that started the run: not delivered"
    done
}

@test "a target that signals pct by a system call of its own, past every library, ends nothing" {
    cat > signal.c <<'C'
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
static long raw(long number, long first, long second)
{
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(first), "S"(second) : "rcx", "r11", "memory");
    return result;
}
int main(void)
{
    /* Should pct have ended, nobody else is to be hit. */
    char path[64], name[4] = "";
    snprintf(path, sizeof path, "/proc/%d/comm", getppid());
    FILE *in = fopen(path, "r");
    if (!in || !fgets(name, sizeof name, in) || strcmp(name, "pct"))
        return 1;
    raw(SYS_kill, getppid(), SIGTERM);
    raw(SYS_kill, getppid(), SIGINT);
    return (int)raw(SYS_kill, getppid(), SIGHUP);
}
C
    "$cc" -o signal signal.c
    for mode in -g --exec; do
        run "$pct" run "${fixed[@]}" $mode -n 5 -- ./signal
        is "$status" 0
        has "5 runs"
        has "a run has sent signal "
        has "to pct, which goes on"
    done
    run "$pct" campaign "${fixed[@]:2}" -n 20 -- ./signal
    is "$status" 0
    has "20 of 20 runs"
}

@test "scratch files of commands that were killed are removed by the next one, those of others are not" {
    export XDG_RUNTIME_DIR=$BATS_TEST_TMPDIR/runtime
    mkdir runtime
    "$pct" run "${fixed[@]}" -n 2 -- "$PWD/target" hang > out 2>&1 &
    child=$!
    # Before the run begins, files come and go.
    until grep -qsa "^$PWD/target.hang" /proc/[0-9]*/cmdline; do sleep 0.1; done
    find runtime -type f -exec touch -cd '1 hour ago' {} +
    "$pct" run "${fixed[@]}" -n 2 -- ./target
    [ -n "$(ls runtime)" ]
    kill -KILL $child
    wait $child || true
    # Its run ends with it.
    while grep -qsa "^$PWD/target.hang" /proc/[0-9]*/cmdline; do sleep 0.1; done
    echo "a diary" > runtime/pct-aaaaaa
    touch -d '1 hour ago' runtime/*
    "$pct" run "${fixed[@]}" -n 2 -- ./target
    is "$(ls runtime)" pct-aaaaaa
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
    run "$pct" run "${fixed[@]}" -g -n 2 -s 1 --timeout 1 -- "$PWD/bomb"
    is "$status" 124
    has "2 failed (2 timeout)"
    ! grep -qsa "^$PWD/bomb" /proc/[0-9]*/cmdline
}

@test "processes that multiply outside of the session of their run are ended with it" {
    cat > chain.c <<'C'
#include <unistd.h>
int main(void)
{
    /* Four chains of processes, each of which lives as long as it takes to make the next one. */
    for (int i = 0; i < 4; i++)
        if (!fork())
            for (;;) {
                setsid();
                if (fork() > 0)
                    _exit(0);
            }
    return 0;
}
C
    "$cc" -o chain chain.c
    run "$pct" run "${fixed[@]}" -n 2 -s 1 -- ./chain
    is "$status" 0
    has "2 runs"
    lacks "cannot be ended"
    ! grep -qsa "^./chain" /proc/[0-9]*/cmdline
}

@test "while the kernel has no process to give, runs wait, and none is lost" {
    for jobs in 1 2; do
        rm -f pct-campaign.db
        LD_PRELOAD=$BATS_FILE_TMPDIR/nofork.so NOFORK=5-12 run "$pct" campaign "${fixed[@]:2}" -n 6 -s 1 -j $jobs \
            --exec -- ./target
        is "$status" 0
        has "6 of 6 runs"
    done
    rm -f pct-campaign.db
    LD_PRELOAD=$BATS_FILE_TMPDIR/nofork.so NOFORK=19-24 run "$pct" campaign "${fixed[@]:2}" -n 6 -s 1 -j 2 -- ./target
    is "$status" 0
    has "6 of 6 runs"
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

@test "a run that is over its time, or killed, before its first step is no full disk, nor one that was not controlled" {
    cat > late.c <<'C'
#include <sys/syscall.h>
/* The first four runs end, the others compute for ever, or are killed, while the linker binds: before libpct.so comes
 * up. Nothing of libc is there yet. */
static long call(long number, long first, long second)
{
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(first), "S"(second) : "rcx", "r11", "memory");
    return result;
}
static int nothing(void)
{
    return 0;
}
static int (*choose(void))(void)
{
    char path[] = "3.run";
    for (; call(SYS_symlink, (long)"run", (long)path); path[0]--)
        while (path[0] == '0')
            if (KILLED)
                call(SYS_kill, call(SYS_getpid, 0, 0), 9);
    return nothing;
}
int chosen(void) __attribute__((ifunc("choose")));
int main(void)
{
    return chosen();
}
C
    endings=(timeout "killed by signal 9")
    for killed in 0 1; do
        "$cc" -DKILLED=$killed -Wl,-z,now -o late late.c
        # Two are those of the calibration.
        run "$pct" campaign "${fixed[@]:2}" --exec -k 10 -n 4 -s 1 -j 1 --timeout 0.4 --fresh -- ./late
        is "$status" 1
        has "4 of 4 runs"
        has "2 failed, 1 finding"
        has "10 of 10"
        has "${endings[killed]}"
        lacks "no space"
        rm ./*.run
    done
    # Of the first run, nobody knows whether it would have been controlled.
    for run in 0 1 2 3; do ln -s run $run.run; done
    run "$pct" run -s 1 -- ./late
    is "$status" 123
    has "./late did not start under control, or was ended by signal 9 (Killed) before pct came up"
}

@test "a daemon that leaves its session is ended with its run" {
    run "$pct" run -n 3 -- sh -c "setsid sleep 300.$$ > /dev/null 2>&1 & exit 0"
    is "$status" 0
    ! grep -qsa "sleep.300\.$$" /proc/[0-9]*/cmdline
}

@test "of daemons that runs leave behind there are never many, with several workers, too" {
    cat > leaves.c <<'C'
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
/* left 300: a daemon. Else: fails where there are many, leaves one, and ends when that has a session of its own. */
int main(int argc, char **argv)
{
    int many = 0, ready[2];
    if (argc > 1)
        return (int)sleep(300);
    DIR *all = opendir("/proc");
    for (struct dirent *entry; all && (entry = readdir(all));) {
        char path[300], name[16] = "";
        snprintf(path, sizeof path, "/proc/%s/comm", entry->d_name);
        FILE *file = fopen(path, "r");
        many += file && fgets(name, sizeof name, file) && !strcmp(name, "left\n");
        if (file)
            fclose(file);
    }
    if (many > 100 || pipe(ready))
        return 7;
    if (!fork()) {
        setsid();
        close(ready[0]);
        close(ready[1]);
        execle("./left", "left", "300", (char *)NULL, (char *[]){ NULL });
        _exit(1);
    }
    close(ready[1]);
    return read(ready[0], &many, 1) ? 8 : 0;
}
C
    "$cc" -O1 -o leaves leaves.c
    cp leaves left
    run "$pct" run "${fixed[@]}" --explore=0 -n 300 -j 2 -- ./leaves
    is "$status" 0
    run ! pgrep -x left
}

@test "output of many megabytes is kept in its last part, and does not stop the run" {
    run --separate-stderr "$pct" run "${fixed[@]}" -n 2 -- sh \
        -c 'head -c 100000000 /dev/zero | tr "\0" x; echo; echo end; exit 3'
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
