#!/usr/bin/env bats
# Around each run: a fresh scratch directory, and commands before and after it.
load common

setup_file()
{
    compile_targets
    cat > "$BATS_FILE_TMPDIR/files.c" <<'C'
/* files LOG STATUS: makes a file in TMPDIR, which must not be there, and one in the current directory if that is the
 * same. */
#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    char name[4096], here[4096];
    assert(argc == 3 && getenv("TMPDIR") && getcwd(here, sizeof here));
    snprintf(name, sizeof name, "%s/deep", getenv("TMPDIR"));
    assert(!mkdir(name, 0700));
    strcat(name, "/made");
    int file = open(name, O_WRONLY | O_CREAT | O_EXCL, 0600), log = open(argv[1], O_WRONLY | O_APPEND | O_CREAT, 0600);
    assert(file >= 0 && log >= 0);
    dprintf(log, "%s\n", strcmp(here, getenv("TMPDIR")) ? "elsewhere" : "there");
    return atoi(argv[2]);
}
C
    "$cc" -o "$BATS_FILE_TMPDIR/files" "$BATS_FILE_TMPDIR/files.c"
}

setup()
{
    enter
    ln -sf "$BATS_FILE_TMPDIR/files" .
    mkdir tmp
    export TMPDIR=$PWD/tmp
}

fixed=(--state none --epoch 1700000000)

@test "each run finds its scratch directory empty, and nothing stays when none fails" {
    for mode in -q --exec; do
        for jobs in 1 3; do
            run "$pct" run "${fixed[@]}" $mode -n 12 -j $jobs --scratch -- ./files "$PWD/log" 0
            is "$status" 0
        done
    done
    is "$(sort -u log)" elsewhere
    rm log
    run "$pct" run "${fixed[@]}" -n 12 -j 2 --scratch=cwd -- ./files "$PWD/log" 0
    is "$status" 0
    is "$(sort -u log)" there
    is "$(ls tmp)" ""
    run "$pct" run --scratch=there -- ./files "$PWD/log" 0
    is "$status" 2
    has "neither tmp nor cwd"
}

@test "what the first failing run has left is kept, and its replay has a fresh directory" {
    run --separate-stderr "$pct" run "${fixed[@]}" -g -n 6 --scratch=cwd -- ./files "$PWD/log" 4
    is "$status" 4
    kept=$(printf '%s\n' "$stderr" | sed -n 's/.*scratch directory is kept in //p')
    [ -f "$kept/deep/made" ]
    is "$(ls tmp/*)" "kept-0"
    run sh -c "$(replay_line)"
    is "$status" 4
    has "replayed identically"
}

@test "directories that a run has made read-only, or unreadable, are gone for the next one, too" {
    unprivileged=()
    [ "$(id -u)" != 0 ] || unprivileged=(setpriv "--bounding-set=-dac_override,-dac_read_search")
    for mode in -q --exec; do
        run "${unprivileged[@]}" "$pct" run "${fixed[@]}" $mode -n 3 --scratch \
            -- sh -c 'cd "$TMPDIR" && mkdir a a/deep b c && : > b/left && chmod 0 a && chmod 555 b && chmod 0 .'
        is "$status" 0
        is "$(ls tmp)" ""
        run "${unprivileged[@]}" "$pct" run "${fixed[@]}" $mode -n 3 --scratch \
            -- sh -c 'cd "$TMPDIR" && : > made && rm made && chmod 555 .'
        is "$status" 0
    done
}

@test "commands before and after each run, in this order" {
    run "$pct" run "${fixed[@]}" -q -n 9 -s 1 --setup 'printf s >> order' --teardown 'printf t >> order' \
        -- sh -c 'printf r >> order'
    is "$status" 0
    # A run more than asked for shows that forked runs are the same.
    case $(cat order) in srtsrtsrtsrtsrtsrtsrtsrtsrt*) ;; *) is "$(cat order)" "srt, nine times and more" ;; esac
    is "$(tr -d srt < order)" ""
    is "$(sed 's/srt//g' order)" ""
}

@test "a cause is looked for by runs with scratch directories of their own" {
    cat > lost.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static long balance;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static long get(void) { pthread_mutex_lock(&m); long v = balance; pthread_mutex_unlock(&m); return v; }
static void set(long v) { pthread_mutex_lock(&m); balance = v; pthread_mutex_unlock(&m); }
static void *deposit(void *arg) { set(get() + (long)arg); return NULL; }
int main(void)
{
    pthread_t a, b;
    FILE *left = fopen("left", "wx");
    if (!left)
        return 9;
    fprintf(left, "%d\n", getpid());
    fclose(left);
    pthread_create(&a, NULL, deposit, (void *)10L);
    pthread_create(&b, NULL, deposit, (void *)20L);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("process %d\n", getpid());
    return balance != 30;
}
END
    "$cc" -g -O1 -pthread -o lost lost.c
    run --separate-stderr "$pct" run "${fixed[@]}" --explore=0 -n 100 -s 1 --scratch=cwd -- "$PWD/lost"
    is "$status" 1
    [[ $stderr == *'cause: atomicity violation'* ]]
    kept=$(printf '%s\n' "$stderr" | sed -n 's/.*scratch directory is kept in //p')
    is "$(ls "$kept")" left
    has "process $(cat "$kept/left")"
    is "$(ls "$TMPDIR"/*)" "${kept##*/}"
}

@test "they see the scratch directory, and a replay does the same" {
    run --separate-stderr "$pct" run "${fixed[@]}" -n 3 --scratch --setup 'echo fresh > "$TMPDIR/input"' \
        -- sh -c 'read -r line < "$TMPDIR/input" && [ "$line" = fresh ] && exit 6'
    is "$status" 6
    run sh -c "$(replay_line)"
    is "$status" 6
}

@test "a command that fails ends the campaign, and is named" {
    for which in setup teardown; do
        run "$pct" run "${fixed[@]}" -g -n 5 --$which 'echo because; exit 3' -- ./target
        is "$status" 125
        has "because"
        has "the command of --$which failed (status 3): echo because; exit 3"
    done
    run "$pct" run "${fixed[@]}" -n 2 --timeout 0.2 --setup "sleep 300.$$" -- ./target
    is "$status" 125
    has "the command of --setup failed (signal 9)"
    ! grep -qsa "sleep.300\.$$" /proc/[0-9]*/cmdline
}

@test "the teardown is done for a run that is over its time, and for one that is interrupted" {
    run "$pct" run "${fixed[@]}" --timeout 0.3 --teardown 'printf t >> order' -- ./target hang
    is "$status" 124
    is "$(cat order)" t
    "$pct" run "${fixed[@]}" --setup 'echo > began' --teardown 'printf t >> order' -- ./target hang 2> said &
    pid=$!
    until [ -e began ]; do sleep 0.05; done
    kill -TERM $pid
    status=0
    wait $pid || status=$?
    is "$status" 143
    # The signal may have come while the setup was still ending: then there was nothing to tear down.
    case $(cat order) in t | tt) ;; *) is "$(cat order)" "one teardown or two" ;; esac
}
