#!/usr/bin/env bats
# `pct replay`: tokens and traces, identical and not.
load common

setup_file()
{
    compile_targets
}

setup()
{
    enter
}

# A deadlock of ./target abba: $token, and its trace in the file deadlock.trace.
find_deadlock()
{
    run --separate-stderr "$pct" run -n 500 -s 1 -d 2 -t deadlock.trace -- ./target abba
    is "$status" 120
    token=$(replay_token)
}

@test "a token replays identically, many times" {
    find_deadlock
    run "$pct" replay "$token" -- ./target abba
    is "$status" 120
    has "replayed identically (hash "
    has "the cycle:"
    run "$pct" replay -n 10 "$token" ./target abba
    is "$status" 120
    has "replayed identically 10 times of 10 (hash "
}

@test "a passing run replays too, and its output passes through" {
    run --separate-stderr "$pct" run -s 3 -- ./target output
    token=$(printf '%s\n' "$stderr" | sed -n 's/^pct: token //p')
    run --separate-stderr "$pct" replay "$token" -- ./target output
    is "$status" 0
    is "$output" "to standard output"
    has "replayed identically"
}

@test "a trace replays identically" {
    find_deadlock
    run "$pct" replay deadlock.trace -- ./target abba
    is "$status" 120
    has "replayed identically (hash "
}

@test "another program does not replay: 122" {
    find_deadlock
    run "$pct" replay "$token" -- ./target exit 0
    is "$status" 122
    has "did NOT replay: the trace has hash "
    run "$pct" replay -n 3 "$token" -- ./target exit 0
    is "$status" 122
    has "replayed identically 0 times of 3"
    run "$pct" replay deadlock.trace -- ./target exit 0
    is "$status" 122
    has "did NOT replay: at step 1: expected thread 0: create thread 1, came thread 0: exit"
    run "$pct" replay deadlock.trace -- ./target race 0
    is "$status" 122
    has "did NOT replay: at step "
}

@test "a trace is followed by its program alone, not by children, nor by what its process was before" {
    local script='./target race 0; exec ./target shell "./target steps 9; ./target output"'
    run "$pct" run -s 3 -t tree.trace -- sh -c "$script"
    is "$status" 0
    run "$pct" replay tree.trace -- sh -c "$script"
    is "$status" 0
    has "to standard output"
    has "replayed identically (hash "
    lacks "divergence"
}

@test "a trace of a run that was killed is followed to its end" {
    run "$pct" run -s 1 -t killed.trace -- ./target kill
    is "$status" 137
    run "$pct" replay killed.trace -- ./target kill
    is "$status" 137
    has "no hash to compare with"
}

@test "a trace says when system() and pclose() came back, among threads that go on" {
    cat > commands.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ended;

static void *commands(void *unused)
{
    for (int i = 0; i < 4; i++) {
        if (i % 2)
            pclose(popen("exit 1", "w"));
        else
            system("exit 1");
        pthread_mutex_lock(&lock);
        ended++;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void)
{
    pthread_t thread;
    int seen = 0, looked = 0;
    pthread_create(&thread, NULL, commands, NULL);
    while (seen < 4) {
        pthread_mutex_lock(&lock);
        looked++;
        if (seen != ended)
            printf("%d ended before look %d\n", seen = ended, looked);
        pthread_mutex_unlock(&lock);
        usleep(1000);
    }
    pthread_join(thread, NULL);
    return 0;
}
END
    "$cc" -w -o commands commands.c -pthread
    for seed in 1 2 3; do
        "$pct" run -q -s $seed -S random-walk -t commands.trace -- ./commands > recorded
        run --separate-stderr "$pct" replay commands.trace -- ./commands
        is "$status" 0
        is "$output" "$(cat recorded)"
        [[ $stderr == *"replayed identically"* ]]
    done
}

@test "the token of a bad replay is refused with its reason" {
    run "$pct" replay pct1:pct,depth=3,k=10:1:0:-:0000 -- ./target
    is "$status" 2
    has "damaged"
    run "$pct" replay pct9:pct:1:0:-:0000 -- ./target
    is "$status" 2
    has "newer"
    run "$pct" replay nonsense -- ./target
    is "$status" 2
    has "'nonsense' is neither a file that is there nor a token"
    run "$pct" replay ./no-such.trace -- ./target
    is "$status" 2
    has "No such file"
}

@test "without a command, a trace says what it was recorded with" {
    find_deadlock
    run "$pct" replay deadlock.trace
    is "$status" 2
    has "./target abba"
}

@test "the trace of a replay can be kept, and is the same" {
    find_deadlock
    run "$pct" replay -t again.trace "$token" -- ./target abba
    is "$status" 120
    "$pct" report --events deadlock.trace > one
    "$pct" report --events again.trace > two
    cmp one two
}

@test "a static program is not controlled: 123" {
    find_deadlock
    run "$pct" replay "$token" -- ./static abba
    is "$status" 123
    has "statically linked"
}

@test "a trace with sites is the same run, and says where each step is made" {
    find_deadlock
    run "$pct" replay --sites -t sites.trace "$token" -- ./target abba
    is "$status" 120
    has "replayed identically (hash "
    run "$pct" report sites.trace
    is "$status" 0
    has "the cycle:"
    # Sections: a memory map, then the sites, 16 bytes a step (docs/TRACE.md).
    at=$(od -An -t u8 -j 264 -N 8 sites.trace)
    steps=$(od -An -t u8 -j 32 -N 8 sites.trace)
    maps=$(od -An -t u8 -j $((at + 8)) -N 8 sites.trace)
    base=$(tail -c +$((at + 17)) sites.trace | head -c "$maps" | grep -m 1 '/target$' | cut -d - -f 1)
    at=$((at + 16 + (maps + 7) / 8 * 8))
    is "$(od -An -t u4 -j "$at" -N 4 sites.trace | tr -d ' ')" 5
    is "$(od -An -t u8 -j $((at + 8)) -N 8 sites.trace | tr -d ' ')" $((16 * steps))
    # The first step is a pthread_create() in abba().
    call=$(od -An -t x8 -j $((at + 16)) -N 8 sites.trace | tr -d ' ')
    is "$(addr2line -f -e ./target "$(printf '%x' $((0x$call - 0x$base - 1)))" | head -n 1)" abba
}

# The sites of a trace, eight bytes in each line: call and callers, then the object.
sites_of()
{
    local at maps
    at=$(od -An -t u8 -j 264 -N 8 "$1")
    maps=$(od -An -t u8 -j $((at + 8)) -N 8 "$1")
    at=$((at + 16 + (maps + 7) / 8 * 8))
    od -An -v -w8 -t x8 -j $((at + 16)) -N $((16 * $(od -An -t u8 -j 32 -N 8 "$1"))) "$1" | tr -d ' '
}

@test "PCT_SITES=calls: the same steps and calls as on, without who called" {
    for value in on calls; do
        run setarch -R env LD_PRELOAD="$build/libpct.so" PCT_STRATEGY=pct PCT_SEED=1 PCT_SITES="$value" \
            PCT_TRACE="$value.trace" ./target abba
        # Of each step: the first of two lines.
        sites_of "$value.trace" | awk 'NR % 2' > "$value.sites"
    done
    [ -s on.sites ]
    is "$(cut -c 5- calls.sites)" "$(cut -c 5- on.sites)"
    is "$(cut -c 1-4 calls.sites | sort -u)" 0000
    [ "$(cut -c 1-4 on.sites | sort -u)" != 0000 ]
}

@test "bad PCT_SITES" {
    for value in off 0 3,2 3,,4 12x; do
        run -2 env PCT_SITES="$value" LD_PRELOAD="$build/libpct.so" ./target exit 0
        has "PCT_SITES must be on, calls, family, or up to 64 rising numbers of steps"
    done
}

@test "with another command before the target; what is not there is said" {
    "$pct" run -n 500 -s 1 -d 2 -t one.trace -- ./target abba > /dev/null 2>&1 || [ $? = 120 ]
    run --separate-stderr "$pct" replay -q --with 'env GREETING=hello' one.trace -- ./target abba
    is "$status" 120
    has "replayed identically"
    run "$pct" replay --with 'no-such-tool -q' one.trace -- touch started
    is "$status" 2
    has "--with: no-such-tool: command not found"
    run "$pct" replay --with '' one.trace -- touch started
    is "$status" 2
    has "--with: no command is given"
    [ ! -e started ]
}

@test "where the output goes is no part of the schedule" {
    "$pct" run --state none -s 7 -S random-walk -- ./target speakers > out 2> said
    is "$(wc -l < out)" 30
    token=$(sed -n 's/^pct: token //p' said)
    for output in out /dev/null; do
        "$pct" replay "$token" -- ./target speakers > "$output" 2> said
        output=$(cat said)
        has "replayed identically"
    done
    "$pct" replay "$token" -- ./target speakers 2> said | cat > /dev/null
    output=$(cat said)
    has "replayed identically"
    "$pct" replay -n 2 "$token" -- ./target speakers > out 2>&1
    output=$(cat out)
    has "replayed identically 2 times of 2"
}

@test "a program that acts by where its output goes: a replay that goes elsewhere says so, and how to repeat it" {
    cat > kind.c <<'END'
#include <pthread.h>
#include <sys/stat.h>
int main(void)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    struct stat output;
    for (int i = fstat(1, &output) || S_ISREG(output.st_mode) ? 3 : 5; i--;)
        if (pthread_mutex_lock(&mutex) || pthread_mutex_unlock(&mutex))
            return 1;
    return 0;
}
END
    "$cc" -O1 -pthread kind.c -o kind
    "$pct" run -q -s 1 -t kind.trace -- ./kind > output
    run bash -c '"$0" replay -q kind.trace -- ./kind 2>&1 | cat' "$pct"
    has "did NOT replay"
    has "the target's output goes to a pipe now: if it went to something else then"
    run "$pct" replay -q -n 2 kind.trace -- ./kind
    has "replayed identically 2 times of 2"
    run bash -c '"$0" replay -q kind.trace -- ./kind 2>&1 > output' "$pct"
    has "replayed identically"
    lacks "output goes to"
}

@test "where the environment stands does not hang on the number that pct has as a process" {
    run "$pct" run -q -n 1 -- env
    is "$(sed -n 's,^PCT_TRACE=.*/pct-,,p' <<< "$output" | sed 's/-.*//' | wc -c)" 11
    # In a namespace of its own pct has a number of one digit or two.
    if unshare --user --map-root-user --pid --fork true 2> /dev/null; then
        printf '#include <stdio.h>\n#include <stdlib.h>\nint main(void) { return printf("%%p", (void '\
'*)getenv("HERE")) < 3; }\n' > where.c
        "$cc" -o where where.c
        here=$(HERE=1 "$pct" run -q -n 1 -- ./where)
        is "$(HERE=1 unshare --user --map-root-user --pid --fork "$pct" run -q -n 1 -- ./where)" "$here"
    fi
}
