#!/usr/bin/env bats
# `pct replay --gdb`: the cases of debugger.bash under gdb.
# shellcheck disable=SC2034,SC2154 # for debugger.bash, from common.bash
load common
debugger=gdb
load debugger

setup_file()
{
    record_runs
}

setup()
{
    enter_debugger
}

@test "every step, with next, is the recorded one, and the run ends as recorded" {
    every_step
}

@test "until and back, forwards and backwards; breakpoints on the way are skipped" {
    until_and_back
}

@test "switch goes to the first step of another thread" {
    switch_to_another
}

@test "a deadlock stops with all threads alive: who waits for what, who holds it" {
    deadlock_alive
}

@test "breakpoints, stepping over a lock at which threads change, calls and finish leave the schedule as it was" {
    leaves_the_schedule
}

@test "schedule prefers another thread here, as a token and as a file that can be replayed" {
    prefers_another
}

@test "a token, a stripped program" {
    token_and_stripped
}

@test "--stdin FILE is what the program reads, not the debugger" {
    reads_a_file
}

@test "mistakes are said, and what to do" {
    mistakes
}

# In a home without plans, so that pct runs in a child of the target's, which gdb must not take for one of its threads.
@test "a debugger of one's own sees the target alone while its code is read for --memory" {
    export PCT_MEMORY=atomics
    run gdb -nx -batch -ex "set environment LD_PRELOAD $build/libpct.so" -ex run --args ./target yields 20 < /dev/null
    [[ $output == *PCT_TOKEN=* && $output == *"exited normally"* && $output != *"executing new program"* ]]
}

@test "--memory=stacks: pct's commands go on behind an int3, and the run stays the recorded one" {
    cat > shared.c << 'END'
#include <pthread.h>
#include <stdlib.h>
struct job { int *sum, more; };
static void *add(void *job)
{
    struct job *j = job;
    *j->sum += j->more;
    return 0;
}
int main(void)
{
    int sum = 0;
    struct job jobs[2] = { { &sum, 3 }, { &sum, 4 } };
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, add, &jobs[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    if (sum != 7)
        abort();
    return 0;
}
END
    gcc -O2 -g -pthread -o shared shared.c
    run -1 "$pct" explore --memory=all --first -- ./shared
    token=$(grep -o "pct1:[^']*" <<< "$output" | head -n 1)
    [[ $token == *,memory=stacks,* ]]
    printf '%s\n' 'pct until 9' 'pct next' 'pct back' 'pct until 100' continue continue > commands
    run "$pct" replay --gdb "$token" -- ./shared < commands
    echo "$output"
    [[ $output == *"received signal SIGTRAP"*"before step 9: "*"before step 10: "*"before step 9: "*SIGABRT* ]]
    [[ $output == *"the last run under gdb was the recorded one"* ]]
    printf '%s\n' 'signal 0' 'signal SIGTRAP' 'signal SIGTRAP' continue continue > commands
    run "$pct" replay --gdb "$token" -- ./shared < commands
    echo "$output"
    [[ $output == *"at a scheduling point by an int3: "*"the last run under gdb was the recorded one"* ]]
    # The user's continue goes on, too: the second one is for SIGABRT.
    printf '%s\n' continue continue > commands
    run "$pct" replay --gdb "$token" -- ./shared < commands
    echo "$output"
    [[ $output == *SIGTRAP*SIGTRAP*SIGABRT*"the last run under gdb was the recorded one"* ]]
    [[ $output != *"at a scheduling point by an int3: "* ]]
    # Breakpoints from before the code is patched, on and just behind what is: they are hit, come and go, and hide
    # nothing.
    for at in 7 8 "*(long)add + 6"; do
        printf '%s\n' "tbreak $at" "break $at" continue delete "break $at" continue delete continue continue continue \
            continue > commands
        run "$pct" replay --gdb "$token" -- ./shared < commands
        echo "$output"
        [[ $output == *"hit Temporary breakpoint 2"*"hit Breakpoint 4"*SIGABRT*"the last run under gdb was the \
recorded one"* ]]
    done
}
