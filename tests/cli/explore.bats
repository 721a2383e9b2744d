#!/usr/bin/env bats
# `pct explore`: how many classes of schedules programs have, what is found, and that nothing is called verified that is
# not.
load common

setup_file()
{
    compile_targets
    "$cc" -O1 -g -pthread -o "$BATS_FILE_TMPDIR/explored" "$root/tests/cli/explore.c"
    "$cc" -O1 -g -pthread -o "$BATS_FILE_TMPDIR/futex" "$root/tests/cli/explore-futex.c"
}

setup()
{
    enter
    explored=$BATS_FILE_TMPDIR/explored
}

last()
{
    printf '%s\n' "$output" | tail -n 1
}

# verifies CLASSES COMMAND...: all pass.
verifies()
{
    local classes=$1
    shift
    run "$pct" explore -- "$@"
    echo "$output"
    [ "$status" -eq 0 ]
    if [ "$classes" = 1 ]; then
        [[ $(last) == "pct: verified at calls: the only class of schedules passes"*" (1 run,"* ]]
    else
        [[ $(last) == "pct: verified at calls: all $classes classes of schedules pass"*" ($classes runs,"* ]]
    fi
}

# finds CLASSES FAILING COMMAND...
finds()
{
    local classes=$1 failing=$2
    shift 2
    run "$pct" explore -- "$@"
    echo "$output"
    [ "$status" -eq 1 ]
    [[ $(last) == "pct: found: $failing of all $classes classes of schedules fail"* ]]
}

# With points at all accesses, ./right is verified, and the bug of ./wrong is found.
all_accesses_tell()
{
    run "$pct" explore --memory=all -- ./right
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $(last) == "pct: verified under sequential consistency: "* ]]
    run "$pct" explore --memory=all -- ./wrong
    echo "$output"
    [ "$status" -eq 1 ]
}

@test "the fixed twins of programs with known bugs are verified, in as many runs as they have classes" {
    verifies 6 "$build/bugs/philosophers-fixed"
    verifies 2 "$build/bugs/lost-wakeup-fixed"
    verifies 2 "$build/bugs/fig1c-deadlock-fixed"
    verifies 12 "$build/bugs/producer-consumer-fixed"
    verifies 16 "$build/bugs/double-checked-fixed"
    verifies 200 "$build/bugs/rw-starvation-fixed"
    verifies 1 "$build/bugs/fig1a-order-fixed"
}

@test "the orderings that tell all classes that fail from all that pass are the cause, of a whole exploration alone" {
    run "$pct" explore -- "$build/bugs/fig1c-deadlock"
    echo "$output"
    [[ $output == *"
  cause, exact: each class that fails so (1) has all of these orderings, and none that passes (2):
  step "*" thread 2: lock mutex 2 \`b\`   comes before
"*"
  at the end  thread 1: lock mutex 2 \`b\`   and
"*"update fig1c-deadlock.c:21 < thread1 fig1c-deadlock.c:30
"* ]]
    run "$pct" explore --first -- "$build/bugs/fig1c-deadlock"
    [[ $output == *"stopped at the first finding"* ]]
    [[ $output != *exact* ]]
    run "$pct" explore --bound 2 -- "$build/bugs/fig1c-deadlock"
    [[ $output == *"pct: found: "* ]]
    [[ $output != *exact* ]]
}

@test "the bugs are found, and deadlocks leave nothing out" {
    finds 3 1 "$build/bugs/fig1c-deadlock"
    finds 3 1 "$build/bugs/lost-wakeup"
    finds 7 1 "$build/bugs/philosophers"
    finds 851 93 "$build/bugs/rw-starvation"
}

@test "a finding's token replays, without pct explore" {
    run "$pct" explore --first -- "$build/bugs/fig1c-deadlock"
    [ "$status" -eq 1 ]
    [[ $(last) == *"not all were explored: stopped at the first finding" ]]
    token=$(printf '%s\n' "$output" | grep -o "pct1:[^']*")
    [[ $token == pct1:schedule,switches=* ]]
    run "$pct" replay "$token" -- "$build/bugs/fig1c-deadlock"
    [ "$status" -eq 120 ]
    [[ $output == *"replayed identically"* ]]
}

@test "each order of two critical sections, of a once routine, of two waiters that are woken" {
    verifies 2 "$explored"
    for first in 0 1; do
        for what in "" once waits; do
            run "$pct" explore -q -- "$explored" "$what" $first
            echo "$what $first: $output"
            [ "$status" -eq 1 ]
            [[ $output == *"exit status 3"* ]]
        done
    done
}

@test "who waits for a once routine may go on before the thread that has run it" {
    cat > once.c << 'PROGRAM'
#include <fcntl.h>
#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_t first;
static int files[2];

static void begin(void)
{
    first = pthread_self();
}

static void *open_one(void *unused)
{
    (void)unused;
    pthread_once(&once, begin);
    int file = open("/dev/null", O_RDONLY);
    files[!pthread_equal(first, pthread_self())] = file;
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, open_one, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return files[1] < files[0];
}
PROGRAM
    "$cc" -O1 -g -pthread -o once once.c
    finds 4 2 ./once
    eval "$(grep -o "replay 'pct1:.*" <<< "$output" | sed "s|^|run '$pct' |")"
    is "$status" 1
    has "identical"
}

@test "a library's constructor runs with the loader's lock: who loads another one waits, maybe for ever" {
    cat > constructor.c << 'PROGRAM'
void loaded(void);
__attribute__((constructor)) static void begin(void)
{
    loaded();
}
PROGRAM
    cat > program.c << 'PROGRAM'
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread unsigned me;
static unsigned loader = 2; /* the thread whose routine loads a library */

static void load(unsigned which)
{
    char name[32];
    snprintf(name, sizeof name, "./lib%u.so", which);
    if (!dlopen(name, RTLD_NOW))
        puts(dlerror());
}

static void routine(void)
{
    pthread_mutex_lock(&lock);
    if (me == loader)
        load(2);
    pthread_mutex_unlock(&lock);
}

void loaded(void)
{
    if (me != 2)
        pthread_once(&once, routine);
}

static void *work(void *number)
{
    me = (unsigned)(uintptr_t)number;
    if (me == 1)
        load(1);
    pthread_once(&once, routine);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread[2];
    if (argc > 1)
        loader = (unsigned)(argv[1][0] - '0');
    for (uintptr_t i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, work, (void *)(i + 1));
    load(0);
    for (unsigned i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    return 0;
}
PROGRAM
    for i in 0 1 2; do "$cc" -shared -fPIC -o lib$i.so constructor.c; done
    "$cc" -g -rdynamic -pthread -o program program.c
    run "$pct" explore -- ./program
    echo "$output"
    [ "$status" -eq 1 ]
    [[ $(last) == "pct: found: 2 of all 6 classes of schedules fail "* ]]
    has 'deadlock'
    # Nobody loads in the routine.
    run "$pct" explore -- ./program 9
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $(last) == "pct: verified at calls: all "*" classes of schedules pass"* ]]
}

@test "what threads use between points may depend on the schedule: with all of it, the search begins again" {
    cat > naps.c << 'PROGRAM'
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *locks(void *unused)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void *tries(void *unused)
{
    if (!pthread_mutex_trylock(&mutex))
        pthread_mutex_unlock(&mutex);
    usleep(1000);
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, locks, NULL);
    pthread_create(&threads[1], NULL, tries, NULL);
    usleep(1000);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
PROGRAM
    "$cc" -O1 -g -pthread -o naps naps.c
    run "$pct" explore -- ./naps
    is "$status" 0
    has "of the runs have shown what threads use between scheduling points, which differs"
    [[ $(last) == "pct: verified at calls: all "* ]]
    run "$pct" explore --shard 1/2 --epoch 1 --db naps.db -- ./naps
    is "$status" 119
    has "not verified, because of: threads that use other things between scheduling points in other schedules"
}

@test "deadlines come when no thread can go on, and those that are near at any time" {
    verifies 5 "$explored" timed
    [[ $output == *"deadlines at most 20 ms ahead come at any time"* ]]
    [[ $(last) == *"nothing else depends on what the clocks show"* ]]
    verifies 12 "$explored" sleeps
    run "$pct" explore --slack=0 -- "$explored" sleeps
    [ "$status" -eq 0 ]
    [[ $output == *"deadlines come only when no thread can go on"* ]]
    [[ $(last) == *"the only class of schedules passes"* ]]
    # Whoever sleeps longer may be first.
    run "$pct" explore -q -- "$explored" sleeps 1
    [ "$status" -eq 1 ]
    token=$(printf '%s\n' "$output" | grep -o "pct1:[^']*" | head -n 1)
    run "$pct" replay "$token" -- "$explored" sleeps 1
    [ "$status" -eq 3 ]
    [[ $output == *"replayed identically"* ]]
    # A second is near enough if one says so: then the wait may time out before it is signalled.
    run "$pct" explore -q --slack=2s -- "$explored" timed
    [ "$status" -eq 0 ]
    [[ $(last) == "pct: verified at calls: all 19 classes of schedules pass, "*" (19 runs, "* ]]
}

@test "a wait for a descriptor ends by its deadline, or by what another thread writes, and all classes are known" {
    cat > polls.c << 'PROGRAM'
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>
static int event, ready;
static void *wait_for_it(void *unused)
{
    ready = poll(&(struct pollfd){ .fd = event, .events = POLLIN }, 1, 2);
    return unused;
}
static void *write_it(void *unused)
{
    return write(event, "12345678", 8) == 8 ? unused : &event;
}
int main(void)
{
    pthread_t thread[2];
    event = eventfd(0, 0);
    pthread_create(&thread[0], NULL, wait_for_it, NULL);
    pthread_create(&thread[1], NULL, write_it, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    close(event); /* behind the joins, which what the threads did with descriptors cannot follow */
    return !ready;
}
PROGRAM
    "$cc" -pthread -o polls polls.c
    run "$pct" explore -q -- ./polls
    echo "$output"
    [ "$status" -eq 1 ]
    whole=$(last)
    [[ $whole == *"of all "*" classes of schedules fail ("* ]]
    run "$pct" explore -q --bound 20 -- ./polls
    [[ ${whole%% of schedules*} == "$(last | sed 's/ of schedules.*//')" ]]
}

@test "deadlines of those who share a lock come early, too" {
    cat > readers.c << 'PROGRAM'
#include <pthread.h>
#include <time.h>
#include <unistd.h>
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static void *write_it(void *unused)
{
    pthread_rwlock_wrlock(&lock);
    pthread_rwlock_unlock(&lock);
    return unused;
}
static void *read_it(void *unused)
{
    pthread_rwlock_rdlock(&lock);
    pthread_rwlock_unlock(&lock);
    return unused;
}
static void *wait_for_it(void *unused)
{
    struct timespec when;
    clock_gettime(CLOCK_REALTIME, &when);
    when.tv_sec += (when.tv_nsec += 1000000) >= 1000000000;
    when.tv_nsec %= 1000000000;
    if (pthread_rwlock_timedrdlock(&lock, &when) == 0)
        pthread_rwlock_unlock(&lock);
    return unused;
}
int main(void)
{
    pthread_t thread[3];
    pthread_create(&thread[0], NULL, write_it, NULL);
    pthread_create(&thread[1], NULL, read_it, NULL);
    pthread_create(&thread[2], NULL, wait_for_it, NULL);
    usleep(2000);
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    return 0;
}
PROGRAM
    "$cc" -pthread -o readers readers.c
    run "$pct" explore -q -- ./readers
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $(last) == *"all 58 classes of schedules pass"*"(58 runs, "* ]]
    run "$pct" explore -q --slack=0 -- ./readers
    [ "$status" -eq 0 ]
    [[ $(last) == *"all 4 classes of schedules pass"* ]]
}

@test "what threads share beside objects counts: the heap, random numbers, files" {
    verifies 6 "$explored" heap
    for first in 0 1; do
        for what in random file; do
            run "$pct" explore -q -- "$explored" "$what" $first
            echo "$what $first: $output"
            [ "$status" -eq 1 ]
            [[ $output == *"exit status 3"* ]]
        done
    done
}

@test "the order in which threads write to a stream counts, of what they print where that is judged" {
    # Two orders of what is written, and two of the lock that both take behind that.
    run "$pct" explore -q --oracle '[ "$(cat)" = 01 ]' -- "$explored" prints
    echo "$output"
    [[ $(last) == "pct: found: 2 of all 4 classes of schedules fail"* ]]
    # It replays: what it prints is judged again.
    has " replay 'pct1:"
    run "$pct" explore -q -- "$explored" stream
    echo "$output"
    [[ $(last) == "pct: found: 2 of all 4 classes of schedules fail"* ]]
}

@test "a run that did not begin as it was to counts as no class" {
    run "$pct" explore -q -- "$explored" changes 1 runs
    echo "$output"
    [ "$status" -eq 1 ]
    [[ $output == *"pct: finding 1: exit status 3 (in no class; first in run 2)"* ]]
    [[ $(last) == "pct: found: runs that count as no class fail, beside 1 class that passes (2 runs, "* ]]
    [[ $(last) == *"did not begin as an earlier one"* ]]
}

@test "the first run that counts fails, and those before it passed: runs are not alike" {
    run "$pct" explore -q -- "$explored" changes 2 runs
    echo "$output"
    [ "$status" -eq 1 ]
    [[ $(last) == "pct: found: 1 of 1 class of schedules fails (1 run, "* ]]
    [[ $(last) == *"runs with the same choices were not the same"* ]]
}

@test "futex calls use all their words, and to wake all is no choice" {
    # A waiter that comes behind the wake waits for ever.
    run "$pct" explore --memory=all -- "$BATS_FILE_TMPDIR/futex" waitv
    [[ $(last) == "pct: found: 1 of all 2 classes of schedules fails (2 runs,"* ]]
    run "$pct" explore --memory=all -- "$BATS_FILE_TMPDIR/futex" all
    [[ $(last) == "pct: found: 4 of all 6 classes of schedules fail (6 runs,"* ]]
    run "$pct" explore --memory=all -- "$BATS_FILE_TMPDIR/futex" op
    [[ $(last) == "pct: verified under sequential consistency: all 2 classes of schedules pass"*" (2 runs,"* ]]
}

@test "which thread gets which id depends on who makes one first" {
    run "$pct" explore -- "$BATS_FILE_TMPDIR/futex" creators
    echo "$output"
    [ "$status" -eq 0 ]
}

@test "the end of the process comes before or behind what other threads still do" {
    for first in 0 1; do
        run "$pct" explore -q -- "$explored" exits $first
        echo "$first: $output"
        [ "$status" -eq 1 ]
        [[ $output == *"exit status 3"* ]]
    done
}

@test "what libc keeps for all, used twice between two points: the last line says if" {
    cat > drawn.c <<'PROGRAM'
#include <pthread.h>
#include <stdlib.h>
static int most;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void *draw(void *unused)
{
    if (most == 4) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
        rand();
    }
    for (int i = 0; i < most && most < 4; i++)
        rand();
    return unused;
}
int main(int argc, char **argv)
{
    pthread_t thread[2];
    (void)argv;
    most = argc;
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, draw, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    return 0;
}
PROGRAM
    "$cc" -pthread -o drawn drawn.c
    run "$pct" explore -- ./drawn
    has 'verified at calls: all 2 classes'
    lacks 'at scheduling points alone'
    run "$pct" explore -- ./drawn twice
    has 'and threads come in between uses of what libc and the kernel keep for all (rand, the environment, files) at '\
'scheduling points alone'
    # Behind its lock is given back, too: another thread's draw may come in between.
    run "$pct" explore -- ./drawn behind a lock
    has 'and threads come in between uses of what libc and the kernel keep for all'
    # What the first thread sets before it makes others is set for all of them.
    cat > early.c << 'PROGRAM'
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void *look(void *late)
{
    pthread_mutex_lock(&mutex);
    getenv("A");
    getenv("B");
    pthread_mutex_unlock(&mutex);
    return late;
}
int main(int argc, char **argv)
{
    pthread_t thread[2];
    setenv("A", "1", 1);
    setenv("B", "1", 1);
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, look, NULL);
    if (argc > 1)
        setenv("A", "2", 1);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    return 0;
}
PROGRAM
    "$cc" -pthread -o early early.c
    run "$pct" explore -- ./early
    has 'verified at calls: all 2 classes'
    lacks 'at scheduling points alone'
    run "$pct" explore -- ./early late
    has 'and threads come in between uses of what libc and the kernel keep for all'
}

@test "who gets the next descriptor, key or exit handler, and who sets what the process has, is tried both ways" {
    cat > kept.c << 'PROGRAM'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <locale.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static const char *what;
static int file, lowest, first, of_stream, ready, polled;
static pthread_key_t old;
static FILE *stream;
static void fails(int wrong)
{
    if (wrong)
        _exit(7);
}
static void one(void)
{
    first = first ? first : 1;
}
static void two(void)
{
    fails(!first);
}
static void handle(int number)
{
    (void)number;
}
static void destroy(void *value)
{
    (void)value;
    _exit(7);
}
static int look(struct dl_phdr_info *library, size_t size, void *unused)
{
    (void)unused;
    fails(size && strstr(library->dlpi_name, "libanl"));
    return 0;
}
static pthread_attr_t small;
static void *look_at_stack(void *unused)
{
    pthread_attr_t own;
    size_t size = 0;
    fails(pthread_getattr_np(pthread_self(), &own) || pthread_attr_getstacksize(&own, &size) || size == 1 << 20);
    return unused;
}
static pthread_t starter;
static timer_t timer, above_timer;
static void *above;
static int is(const char *name)
{
    return !strcmp(what, name);
}
static void *run(void *second)
{
    struct rlimit limit = { 100, 200 };
    struct itimerspec left;
    pthread_key_t key;
    pthread_t next;
    timer_t id;
    char byte = 'x';
    int pair[2];
    struct epoll_event event = { .events = EPOLLIN };
    if (is("locale"))
        second ? (void)setlocale(LC_ALL, "C.UTF-8") : fails(MB_CUR_MAX == 6);
    if (is("epoll"))
        second ? (void)epoll_ctl(polled, EPOLL_CTL_ADD, ready, &event) : fails(epoll_wait(polled, &event, 1, 0) == 1);
    if (is("eof"))
        second ? (void)fgetc(stream) : fails(feof(stream));
    if (is("destructor"))
        second ? (void)pthread_key_delete(old) : (void)pthread_setspecific(old, &byte);
    if (is("concurrency"))
        second ? (void)pthread_setconcurrency(3) : fails(pthread_getconcurrency() == 3);
    if (is("affinity")) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(0, &set);
        second ? (void)pthread_setaffinity_np(starter, sizeof set, &set)
               : fails(!pthread_getaffinity_np(starter, sizeof set, &set) && CPU_COUNT(&set) == 1);
    }
    if (is("mmap"))
        fails(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == above && second);
    if (is("mallinfo"))
        mallinfo2();
    if (is("dup"))
        fails(dup(file) == lowest && second);
    if (is("eventfd"))
        fails(eventfd(0, 0) == lowest && second);
    if (is("pipe"))
        fails(!pipe(pair) && pair[0] == lowest && second);
    if (is("fclose"))
        second ? (void)fclose(stream) : fails(open("/", O_RDONLY) == of_stream);
    if (is("atexit"))
        atexit(second ? one : two);
    if (is("key"))
        fails(!pthread_key_create(&key, NULL) && key == old + 1 && second);
    if (is("signal"))
        second ? (void)signal(SIGUSR1, handle) : fails(signal(SIGUSR1, SIG_DFL) == handle);
    if (is("limit"))
        second ? (void)setrlimit(RLIMIT_NOFILE, &limit)
               : fails(!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur == 100);
    if (is("pwrite"))
        second ? (void)!pwrite(file, &byte, 1, 0) : fails(pread(file, &byte, 1, 0) == 1);
    if (is("timer"))
        fails(!timer_create(CLOCK_REALTIME, NULL, &id) && id == above_timer && second);
    if (is("deleted"))
        second ? (void)timer_delete(timer) : fails(timer_gettime(timer, &left) == -1);
    if (is("stack") && second)
        pthread_setattr_default_np(&small);
    if (is("stack") && !second)
        pthread_create(&next, NULL, look_at_stack, NULL);
    if (is("libraries"))
        second ? (void)dlopen("libanl.so.1", RTLD_NOW) : dl_iterate_phdr(look, NULL);
    if (is("prctl"))
        second ? (void)prctl(PR_SET_DUMPABLE, 0) : fails(!prctl(PR_GET_DUMPABLE));
    if (is("syscall"))
        second ? (void)syscall(SYS_mkdir, "made", 0777) : fails(!syscall(SYS_access, "made", F_OK));
    return NULL;
}
int main(int argc, char **argv)
{
    pthread_t thread[2];
    what = argc > 1 ? argv[1] : "";
    rmdir("made");
    file = open("data", O_RDWR | O_CREAT | O_TRUNC, 0600);
    stream = fopen("/dev/null", "r");
    of_stream = fileno(stream);
    ready = eventfd(1, 0);
    polled = epoll_create1(0);
    lowest = dup(file);
    close(lowest);
    pthread_key_create(&old, destroy);
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 1 << 20);
    timer_create(CLOCK_REALTIME, NULL, &timer);
    timer_create(CLOCK_REALTIME, NULL, &above_timer);
    timer_delete(above_timer);
    starter = pthread_self();
    above = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(above, 4096);
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, run, i ? argv : NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    return 0;
}
PROGRAM
    "$cc" -pthread -o kept kept.c
    for what in dup eventfd pipe fclose atexit key signal limit pwrite timer deleted libraries prctl \
        syscall; do
        run "$pct" explore -q -- ./kept $what
        echo "$what: $output"
        [[ $(last) == "pct: found: 1 of all 2 classes"* ]]
    done
    for what in locale epoll eof destructor concurrency affinity mmap stack; do
        run "$pct" explore -q -- ./kept $what
        echo "$what: $output"
        [[ $(last) == "pct: found: "*" of all "*" classes"* ]]
    done
    run "$pct" explore -q -- ./kept mallinfo
    [[ $(last) == "pct: not verified, because of: mallinfo and its like, which show what all threads have allocated"* ]]
}

@test "handlers of exit may be there before the end, those of quick_exit run before others go on, a join may be late" {
    cat > ends.c << 'PROGRAM'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_t first;
static int seen;
static void look(void)
{
    pthread_mutex_lock(&mutex);
    if (!seen)
        _exit(7);
    pthread_mutex_unlock(&mutex);
}
static void *see(void *unused)
{
    pthread_mutex_lock(&mutex);
    seen = 1;
    pthread_mutex_unlock(&mutex);
    return unused;
}
static void *keep(void *unused)
{
    atexit(look);
    return unused;
}
static void *leave(void *unused)
{
    quick_exit(0);
    return unused;
}
static void *join(void *unused)
{
    struct timespec when;
    clock_gettime(CLOCK_REALTIME, &when);
    when.tv_sec += (when.tv_nsec += 3000000) >= 1000000000;
    when.tv_nsec %= 1000000000;
    if (pthread_timedjoin_np(first, NULL, &when))
        _exit(7);
    return unused;
}
int main(int argc, char **argv)
{
    pthread_t thread;
    (void)argc;
    at_quick_exit(look);
    if (*argv[1] == 'a') {
        pthread_create(&thread, NULL, keep, NULL);
        exit(0);
    }
    pthread_create(&first, NULL, see, NULL);
    pthread_create(&thread, NULL, *argv[1] == 'q' ? leave : join, NULL);
    pthread_join(thread, NULL);
    return 0;
}
PROGRAM
    "$cc" -pthread -o ends ends.c
    for what in atexit quick_exit join; do
        run "$pct" explore -q -- ./ends $what
        echo "$what: $output"
        [[ $(last) == "pct: found: "*" of all "*" classes"* ]]
    done
}

@test "threads that end the process at the same time share out its handlers, and the first that is through ends it" {
    cat > leave.c << 'PROGRAM'
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void handle(void)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
}
static void *leave(void *status)
{
    exit(*(int *)status);
}
int main(int argc, char **argv)
{
    (void)argv;
    static int status[] = { 0, 3 };
    pthread_t threads[2];
    if (argc > 1)
        __asm__ volatile("syscall" : : "a"(SYS_exit_group), "D"(0L) : "rcx", "r11", "memory");
    atexit(handle);
    atexit(handle);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, leave, &status[i]);
    pthread_join(threads[0], NULL);
    return 5;
}
PROGRAM
    "$cc" -pthread -o leave leave.c
    run "$pct" explore -- ./leave
    echo "$output"
    [[ $output == *"finding 1: exit status 3 "* ]]
    [[ $output != *"did not see"* ]]
    token=$(grep -o "pct1:[^']*" <<< "$output")
    # From 2.41 on, glibc lets all but the first wait in a lock of its own, which pct does not control.
    case $(getconf GNU_LIBC_VERSION) in
        *\ 2.[123]? | *\ 2.40) [[ $(last) == "pct: found: 12 of all 24 classes of schedules fail "* ]] ;;
        *) [[ $(last) == *"sleeps in calls that pct does not intercept"* ]] ;;
    esac
    run "$pct" replay "$token" -- ./leave
    echo "$output"
    [ "$status" -eq 3 ]
    [[ $output == *"the target ended with exit status 3"* ]]
    run "$pct" explore -q -- ./leave at-once
    echo "$output"
    [[ $(last) == "pct: not verified, because of: a run whose end pct did not see: by a system call of"* ]]
}

@test "no random schedule of random programs does what no explored one did" {
    local most=4 # of them: with FULL=1, all
    [ "${FULL:-}" != 1 ] || most=1
    PCT_BUILD=$build "$root/tests/explored/run" 100 $((16 / most)) 200
    PCT_BUILD=$build "$root/tests/explored/run" 0 $((8 / most)) 200 8388610 # robust mutexes, conditions
}

@test "the end of a thread gives up its robust mutexes: before, between and behind what others try, each once" {
    cat > robust.c << 'PROGRAM'
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t mutex;
static int wrong;
static void *ends(void *unused)
{
    pthread_mutex_lock(&mutex);
    return unused;
}
static void *tries(void *unused)
{
    if (pthread_mutex_trylock(&mutex) == wrong)
        abort();
    return unused;
}
static void *loses(void *unused)
{
    int error = pthread_mutex_lock(&mutex);
    if (error == wrong)
        abort();
    if (error != ENOTRECOVERABLE)
        pthread_mutex_unlock(&mutex);
    return unused;
}
int main(int argc, char **argv)
{
    pthread_t thread[3];
    pthread_mutexattr_t attr;
    wrong = argc > 2 ? atoi(argv[2]) : -1;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&mutex, &attr);
    pthread_create(&thread[0], NULL, ends, NULL);
    pthread_create(&thread[1], NULL, *argv[1] == 't' ? tries : loses, NULL);
    pthread_create(&thread[2], NULL, *argv[1] == 't' ? ends : loses, NULL);
    pthread_join(thread[0], NULL);
    if (*argv[1] == 'l') {
        pthread_join(thread[1], NULL);
        pthread_join(thread[2], NULL);
        return pthread_mutex_trylock(&mutex) == wrong;
    }
    return 0;
}
PROGRAM
    cc -g -pthread robust.c -o robust
    run "$pct" explore -- ./robust loses
    echo "$output"
    [ "$status" -eq 0 ]
    run "$pct" explore -- ./robust tries
    echo "$output"
    [ "$status" -eq 0 ]
    for wrong in 0 EBUSY=16 EOWNERDEAD=130; do
        run "$pct" explore --first -- ./robust tries "${wrong#*=}"
        echo "$output"
        [ "$status" -eq 1 ]
    done
    run "$pct" explore --first -- ./robust loses 131
    [ "$status" -eq 1 ]
}

@test "a robust mutex that is not recoverable: who tries it takes it for good, and says that it has not" {
    cat > lost.c << 'PROGRAM'
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t mutex;
static void *ends(void *unused)
{
    pthread_mutex_lock(&mutex);
    return unused;
}
static void *tries(void *wrong)
{
    if (pthread_mutex_trylock(&mutex) == (int)(long)wrong)
        abort();
    return NULL;
}
static void *locks(void *unused)
{
    pthread_mutex_lock(&mutex);
    return unused;
}
int main(int argc, char **argv)
{
    pthread_t thread[2];
    pthread_mutexattr_t attr;
    void *wrong = (void *)(long)(argc > 2 ? atoi(argv[2]) : -1);
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&mutex, &attr);
    pthread_create(&thread[0], NULL, ends, NULL);
    pthread_join(thread[0], NULL);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    pthread_create(&thread[0], NULL, tries, wrong);
    pthread_create(&thread[1], NULL, *argv[1] == 't' ? tries : locks, wrong);
    pthread_join(thread[0], NULL);
    pthread_join(thread[1], NULL);
    return 0;
}
PROGRAM
    cc -g -pthread lost.c -o lost
    run "$pct" explore -- ./lost tries
    [ "$status" -eq 0 ]
    [[ $(last) == *"all 2 classes"* ]]
    for wrong in 16 131; do # EBUSY, ENOTRECOVERABLE
        run "$pct" explore --first -- ./lost tries "$wrong"
        [ "$status" -eq 1 ]
    done
    run "$pct" explore -- ./lost locks
    echo "$output"
    [ "$status" -eq 1 ]
    [[ $output == *"deadlock"* && $(last) == *"1 of all 2 classes"* ]]
}

@test "what is not verified is not called that, and every reason is named" {
    run "$pct" explore -n 20 -- "$explored" forks
    echo "$output"
    [ "$status" -eq 119 ]
    [[ $(last) == "pct: not verified, because of: "*"child processes"* ]]
    [[ $output == *"after 1 run: nothing will be verified, because of: "*"child processes"* ]]
    run "$pct" explore -n 10 -- "$explored" spins
    echo "$output"
    [ "$status" -eq 119 ]
    [[ $(last) == *"the runs that -n allows are made"* ]]
    # A loop of tries has schedules without end.
    run "$pct" explore -- "$explored" spins
    echo "$output"
    [ "$status" -eq 119 ]
    [[ $(last) == "pct: not verified, because of: a loop that tries again and again, or waits and counts its rounds, \
was cut off: not all rounds behind the first 16 were tried (explore.c:"*") (370 classes passed, 370 runs, 0 open,"* ]]
    run "$pct" explore --max-steps=8 -- "$explored"
    echo "$output"
    [ "$status" -eq 119 ]
    [[ $(last) == *"cut off by --max-steps=8"* ]]
    [[ $output == *"after 1 run: nothing will be verified, because of: 1 run cut off by --max-steps=8"* ]]
    # It says where.
    run "$pct" explore -n 30 --max-steps=30 -- "$explored" spins
    echo "$output"
    [ "$status" -eq 119 ]
    [[ $(last) == *"cut off by --max-steps=30 or --timeout=60: "*"(livelock at "*"explore.c:"* ]]
}

# says_meanwhile TEXT COMMAND...: while a run of this command goes on, it says this.
says_meanwhile()
{
    local text=$1 pct_pid
    shift
    "$@" < /dev/null > /dev/null 2> said 3>&- &
    pct_pid=$!
    until grep -q "run has gone on for" said || ! kill -0 $pct_pid 2> /dev/null; do
        sleep 0.2
    done
    kill $pct_pid
    wait $pct_pid || true
    cat said
    [[ $(< said) == *"$text"* ]]
}

@test "a first run that does not end is said while it goes on, with what ends it" {
    says_meanwhile "it computes, maybe in a loop that waits for memory to change, which --memory=all sees; it is ended \
after 60 s (--timeout)" "$pct" explore -- "$explored" computes
    says_meanwhile "it waits for what is outside of it (input, a connection, a process), or for a call that pct does \
not see; it is ended after 60 s (--timeout)" "$pct" run -n 100 -- "$explored" receives
    # Behind its end, no time is lost with others.
    run "$pct" explore --timeout=1 -- "$explored" computes
    echo "$output"
    [ "$status" -eq 119 ]
    [[ $output == *"1 run cut off by --max-steps=20000 or --timeout=1: a loop that waits (if for memory: --memory=all \
sees it), or a longer run (timeout at "*"explore.c:"* ]]
}

@test "a later run that does not end is said while it goes on" {
    mkfifo nobody
    says_meanwhile "pct: a run has gone on for 1" \
        "$pct" run --exec -n 3 -- sh -c '[ ! -e before ] || read -r line < nobody; : > before'
}

@test "who talks to another process's sockets is not verified, who talks to its own is" {
    local kind
    "$cc" -O1 -g -pthread -o peers "$root/tests/cli/peers.c"
    for kind in connect sendto; do
        run "$pct" explore -n 20 -- ./peers $kind 9
        echo "$output"
        [ "$status" -eq 119 ]
        [[ $output == *"after 1 run: nothing will be verified, because of: sockets whose other end may be another"* ]]
        run "$pct" explore -n 20 -- ./peers $kind
        echo "$output"
        [[ $output != *"sockets whose other end"* ]]
    done
}

@test "a budget ends an exploration, and an estimate, even in its first run" {
    printf '%s\n' 'int main(void) { volatile int x = 0; for (;;) x++; }' | "$cc" -x c -o endless -
    run timeout 20 "$pct" explore --budget=0.3 -- ./endless
    echo "$output"
    [ "$status" -eq 119 ]
    [[ $(last) == "pct: not verified, because of: the budget is used up, and the first run goes on (0 classes"* ]]
    run timeout 20 "$pct" explore --budget=0.3 --estimate -- ./endless
    echo "$output"
    [ "$status" -eq 119 ]
    has "no estimate: no run was made"
    # A file that cannot be continued by then says what it said.
    printf '%s\n' '#!/bin/sh' 'if [ -e wait ]; then exec ./endless; fi' > program
    chmod +x program
    "$pct" explore -q -n 1 --db it.db -- ./program || [ $? -eq 119 ]
    cp it.db before.db
    touch wait
    run timeout 20 "$pct" explore --budget=0.3 --db it.db -- ./program
    echo "$output"
    [ "$status" -eq 119 ]
    for file in it.db before.db; do
        "$pct" campaign report "$file" > "$file.txt"
    done
    cmp it.db.txt before.db.txt
    run ! pgrep -f "$PWD/endless"
}

@test "as many classes as are published" {
    PCT_BUILD=$build "$root/tests/explored/counts"
}

@test "loops that wait for memory to change have a round at most, and what counts its rounds is not verified" {
    PCT_BUILD=$build "$root/tests/explored/awaits"
}

@test "a loop that tries to take a lock ends with a bound, too" {
    printf '%s\n' '#include <pthread.h>' 'static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;' \
        'static void *run(void *unused) { while (pthread_mutex_trylock(&mutex)) continue; '\
'pthread_mutex_unlock(&mutex); return unused; }' \
        'int main(void) { pthread_t thread; pthread_create(&thread, NULL, run, NULL); run(NULL); return '\
'pthread_join(thread, NULL); }' > tries.c
    "$cc" -O1 -pthread -o tries tries.c
    run "$pct" explore --bound 1 -n 400 -- ./tries
    echo "$output"
    [ "$status" -eq 119 ]
    [[ $(last) == "pct: not verified, because of: a loop that tries again and again"*" was cut off: not all rounds \
behind the first 16 were tried ("*", 0 open"* ]]
}

@test "a loop in patched code that waits for memory and counts its rounds is not verified" {
    printf '%s\n' '#include <pthread.h>' 'static volatile int ready;' \
        'static void *set(void *unused) { ready = 1; return unused; }' \
        'int main(void) { pthread_t thread; int rounds = 0; pthread_create(&thread, NULL, set, NULL);' \
        'while (!ready) rounds++;' 'if (rounds == 2) return 3; pthread_join(thread, NULL); }' > rounds.c
    "$cc" -O1 -pthread -o rounds rounds.c
    for bound in '' '--bound=1'; do
        # shellcheck disable=SC2086 # nothing, or a word
        run "$pct" explore -q --memory=globals $bound -- ./rounds
        echo "$output"
        [[ $(last) == "pct: found: "*"; not all were explored: a loop that tries again and again, or waits and counts \
its rounds, was cut off: not all rounds behind the first 16 were tried ("* ]]
    done
}

@test "an instruction where no jump fits is a scheduling point of explored runs all the same" {
    cat > program.c << 'PROGRAM'
#include <assert.h>
#include <pthread.h>
static int count;

/* No jump fits: the bytes behind the instruction are a target, lead to no address, and no pad is near. */
static void add(int *at)
{
    __asm__ volatile(".rept 80\n\taddl $1, %%eax\n\t.endr\n\t"
                     "lock incl (%0)\n"
                     "1:\tnop\n\tnop\n\t"
                     "movl $1, %%eax\n\t"
                     ".rept 80\n\taddl $1, %%eax\n\t.endr\n\t"
                     "testl %%eax, %%eax\n\tjs 1b"
                     :
                     : "r"(at)
                     : "eax", "memory");
}

static void *work(void *unused)
{
    (void)unused;
    int before = __atomic_exchange_n(&count, 7, __ATOMIC_SEQ_CST);
    if (before == 7)
        add(&count);
    return NULL;
}

int main(int argc, char **argv)
{
    (void)argv;
    pthread_t thread[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, work, NULL);
    add(&count);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    assert(argc == 1 || count != 8);
    return 0;
}
PROGRAM
    "$cc" -O1 -g -pthread -no-pie -fno-pie -o program program.c
    for level in atomics all; do
        run "$pct" explore --memory=$level -- ./program
        echo "$output"
        [ "$status" -eq 0 ]
        [[ $(last) == "pct: verified "*": all 8 classes of schedules pass"*" (8 runs,"* ]]
    done
    run "$pct" explore --memory=atomics -- ./program fails
    echo "$output"
    [[ $(last) == "pct: found: 2 of all 8 classes of schedules fail (8 runs,"* ]]
    eval "$(grep -o "replay 'pct1:.*" <<< "$output" | sed "s|^|run '$pct' |")"
    is "$status" 134
    has "identical"
}

@test "a library that is loaded takes a descriptor for a while, between scheduling points" {
    cat > loads.c <<'PROGRAM'
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>
static void *loads(void *unused)
{
    dlopen("libm.so.6", RTLD_NOW);
    return unused;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, loads, NULL);
    close(dup(0));
    pthread_join(thread, NULL);
    return 0;
}
PROGRAM
    cc -g -pthread loads.c -o loads
    run "$pct" explore -- ./loads
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $(last) == *"uses of what libc and the kernel keep for all"*" at scheduling points alone"* ]]
}

@test "locks of the program's own: loads that are no scheduling points are not called verified" {
    cat > flag.c <<'PROGRAM'
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_int flag;

static void *set(void *unused)
{
#ifdef WRONG
    syscall(SYS_futex, &flag, FUTEX_WAKE_PRIVATE, 1, NULL);
    flag = 1;
#else
    flag = 1;
    syscall(SYS_futex, &flag, FUTEX_WAKE_PRIVATE, 1, NULL);
#endif
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, set, NULL);
    for (int rounds = 0; rounds < 9 && !flag; rounds++)
        sched_yield();
    while (!flag)
        syscall(SYS_futex, &flag, FUTEX_WAIT_PRIVATE, 0, NULL);
    pthread_join(thread, NULL);
    return 0;
}
PROGRAM
    gcc -O1 -g -pthread -include sched.h flag.c -o right
    gcc -O1 -g -pthread -include sched.h -DWRONG flag.c -o wrong
    for program in right wrong; do
        run "$pct" explore --memory=off -- "./$program"
        echo "$output"
        [ "$status" -eq 119 ]
        [[ $(last) == *"locks of the program's own"* ]]
    done
    # By plain moves, which no level but all patches.
    sed 's/flag = 1;/atomic_store_explicit(\&flag, 1, memory_order_release);/' flag.c > plain.c
    gcc -O1 -g -pthread -include sched.h -DWRONG plain.c -o plain
    for program in right wrong plain; do
        for options in "" --memory=atomics; do
            # shellcheck disable=SC2086 # nothing, or a word
            run "$pct" explore $options -- "./$program"
            echo "$output"
            [ "$status" -eq 119 ]
            [[ $(last) == *"atomic loads and stores without"*"(--memory=all has them)"* ]]
        done
    done
    run "$pct" explore --memory=all -- ./plain
    [ "$status" -eq 1 ]
    # On the heap, which --memory=globals leaves alone.
    sed 's/^static atomic_int flag;/#include <stdlib.h>\nstatic atomic_int *heap;\n#define flag (*heap)/
        s/pthread_t thread;/&\n    heap = calloc(1, sizeof *heap);/' plain.c > heap.c
    gcc -O1 -g -pthread -include sched.h -DWRONG heap.c -o heap
    run "$pct" explore --memory=globals -- ./heap
    [ "$status" -eq 119 ]
    [[ $(last) == *"atomic loads and stores without"*"(--memory=all has them)"* ]]
    run "$pct" explore --memory=all -- ./heap
    [ "$status" -eq 1 ]
    all_accesses_tell
}

@test "what a thread does by a load that is no scheduling point is said, and not that objects have moved" {
    cat > program.c << 'PROGRAM'
#include <linux/futex.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>
static int state; /* 0: free; 1: held; 2: others wait */

static void lock(void)
{
    int found = 0;
    if (__atomic_compare_exchange_n(&state, &found, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return;
    found = __atomic_load_n(&state, __ATOMIC_RELAXED);
    while (found == 2 || __atomic_exchange_n(&state, 2, __ATOMIC_ACQUIRE) != 0) {
        syscall(SYS_futex, &state, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
        found = __atomic_load_n(&state, __ATOMIC_RELAXED);
    }
}

static void unlock(void)
{
    if (__atomic_exchange_n(&state, 0, __ATOMIC_RELEASE) == 2)
        syscall(SYS_futex, &state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void *work(void *unused)
{
    lock();
    unlock();
    return unused;
}

int main(void)
{
    pthread_t thread[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, work, NULL);
    work(NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    return 0;
}
PROGRAM
    "$cc" -O1 -g -pthread -o program program.c
    run "$pct" explore --memory=atomics -n 300 -- ./program
    echo "$output"
    [ "$status" -eq 119 ]
    [[ $(last) == *"did something else in another schedule of the same past ("*"program.c:15, "* ]]
    [[ $(last) == *" (--memory=all has more)"* ]]
    lacks 'other addresses'
}

@test "C++20 programs as they are built are explored at their accesses, with the heap the same in each run" {
    cat > wait.cc <<'PROGRAM'
#include <atomic>
#include <cassert>
#include <thread>

int main()
{
    std::atomic<int> come{0};
    int data = 0;
    std::thread thread([&] {
#ifdef WRONG
        come = 1;
        data = 1;
#else
        data = 1;
        come = 1;
#endif
        come.notify_one();
    });
    come.wait(0);
    assert(data);
    thread.join();
}
PROGRAM
    g++ -std=c++20 -O1 -g -pthread wait.cc -o right
    g++ -std=c++20 -O1 -g -pthread -DWRONG wait.cc -o wrong
    run "$pct" explore -- ./right
    [ "$status" -eq 119 ]
    [[ $(last) == *"another one's stack, not all of whose accesses are seen ("*":"*"): --memory=all sees more, "* ]]
    if nm -D right | grep -q 11__wait_impl; then
        # libstdc++ 16 waits inside its library, whose accesses are no scheduling points.
        run "$pct" explore --memory=all -- ./right
        [ "$status" -eq 119 ]
        run "$pct" explore --memory=all -- ./wrong
        [ "$status" -eq 1 ]
    else
        all_accesses_tell
    fi
}

@test "statics of C++: who makes them, who waits, and whose initialiser throws, as in random schedules without that" {
    cat > statics.cc <<'PROGRAM'
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <pthread.h>
#include <string>

static std::string seen[3];
static std::mutex lock;
static int count;

struct thing {
    explicit thing(int who) : maker(who)
    {
        std::lock_guard<std::mutex> held(lock);
        if (++count == 1)
            throw 1;
    }
    int maker;
};

static thing &use(int who)
{
    static thing one(who);
    return one;
}

static void *work(void *given)
{
    int who = (int)(long)given;
    if (who == 1) {
        std::lock_guard<std::mutex> held(lock);
        seen[who] += std::to_string(count);
    }
    for (int i = 0; i < 2; i++)
        try {
            seen[who] += (char)('a' + use(who).maker);
        } catch (int) {
            seen[who] += '!';
        }
    if (who == 2) {
        std::lock_guard<std::mutex> held(lock);
        seen[who] += std::to_string(count);
    }
    return nullptr;
}

int main(int, char **argv)
{
    pthread_t thread[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&thread[i], nullptr, work, (void *)(i + 1));
    work(nullptr);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], nullptr);
    FILE *file = fopen(argv[1], "a");
    fprintf(file, "%s %s %s\n", seen[0].c_str(), seen[1].c_str(), seen[2].c_str());
    fclose(file);
}
PROGRAM
    g++ -O1 -g -pthread statics.cc -o statics
    run "$pct" explore -- ./statics "$PWD/explored"
    echo "$output"
    [[ $(last) == "pct: verified at calls: all 28 classes of schedules pass, "*" (28 runs, "* ]]
    "$pct" run -g -n 500 -s 1 --memory=off -- ./statics "$PWD/random" || true
    sort -u explored > explored.all
    sort -u random > random.all
    [ "$(wc -l < explored.all)" -eq 19 ]
    is "$(comm -13 explored.all random.all)" ""
}

@test "statics of C++ are one call for each use: a race for who makes one is found, and replayed" {
    cat > first.cc <<'PROGRAM'
#include <cassert>
#include <pthread.h>

static int &first(int who)
{
    static int made = who + 1;
    return made;
}

static void *work(void *who)
{
    int &made = first((int)(long)who);
    assert(!WRONG || made != 3);
    return nullptr;
}

int main()
{
    pthread_t thread[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&thread[i], nullptr, work, (void *)(i + 1));
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], nullptr);
}
PROGRAM
    g++ -O1 -g -pthread -DWRONG=0 first.cc -o right
    g++ -O1 -g -pthread -DWRONG=1 first.cc -o wrong
    for options in --memory=off --memory=atomics --memory=all; do
        run "$pct" explore "$options" -- ./right
        echo "$output"
        [[ $(last) == "pct: verified "*": all 2 classes of schedules pass"* ]]
        run "$pct" explore "$options" -- ./wrong
        echo "$output"
        [ "$status" -eq 1 ]
        has ",statics=all,explored=all:"
        eval "$(grep -o "replay 'pct1:.*" <<< "$output" | sed "s|^|run '$pct' |")"
        is "$status" 134
        has "identical"
    done
}

@test "a thread finds the guard of its stack that it would have without pct" {
    cat > guard.c <<'PROGRAM'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>

static void *look(void *wanted)
{
    pthread_attr_t attr;
    size_t size, guard;
    void *stack;
    if (pthread_getattr_np(pthread_self(), &attr) || pthread_attr_getguardsize(&attr, &guard) ||
        pthread_attr_getstack(&attr, &stack, &size))
        abort();
    pthread_attr_destroy(&attr);
    char *here = (char *)&attr;
    if (guard != *(size_t *)wanted || here < (char *)stack || here >= (char *)stack + size)
        abort();
    return NULL;
}

int main(void)
{
    static size_t wanted[] = { 4096, 0, 12288 };
    static const size_t given[] = { 4096, 0, 8193 };
    for (int i = 0; i < 3; i++) {
        pthread_attr_t attr;
        pthread_t thread;
        pthread_attr_init(&attr);
        pthread_attr_setguardsize(&attr, given[i]);
        pthread_create(&thread, i ? &attr : NULL, look, &wanted[i]);
        pthread_join(thread, NULL);
    }
    return 0;
}
PROGRAM
    gcc -O1 -g -pthread guard.c -o guard
    ./guard
    for engine in fork restore; do
        run "$pct" explore --engine=$engine -- ./guard
        echo "$output"
        [ "$status" -eq 0 ]
    done
}

@test "a call through a variable that another thread writes, and a jump through a table, are accesses of patched code" {
    cat > calls.c << 'PROGRAM'
#include <pthread.h>
static int good(int unused) { return unused & 0; }
static int bad(int unused) { return unused | 3; }
static int (*function)(int) = good, (*table[2])(int) = { good, good };
__attribute__((noinline)) static int jump(int which) { return table[which](which); }
__attribute__((noinline)) static int call(int also) { return function(also) + also; }
static void *change(void *unused)
{
    function = bad;
    table[1] = bad;
    __asm__ volatile("" : : : "memory");
    function = good;
    table[1] = good;
    return unused;
}
int main(int argc, char **argv)
{
    (void)argv;
    pthread_t thread;
    pthread_create(&thread, NULL, change, NULL);
    int status = argc > 1 ? jump(argc - 1) : call(argc - 1);
    pthread_join(thread, NULL);
    return status;
}
PROGRAM
    gcc -O2 -pthread -fno-pie -no-pie -o calls calls.c
    for option in '' table; do
        run "$pct" explore --memory=globals -- ./calls $option
        echo "$output"
        [[ $(last) == "pct: found: 1 of all 3 classes of schedules fails"* ]]
        [[ $output == *",calls=all,strings=all,statics=all,explored=all:"* ]]
        token=$(grep -o "pct1:[^']*" <<< "$output")
        run "$pct" replay "$token" -- ./calls $option
        echo "$output"
        [ "$status" -eq 3 ]
    done
    run "$pct" sites calls
    echo "$output"
    [[ $output == *"2  reads of where to call or jump to"* ]]
}

@test "a block that another thread may still use when it is freed: nothing is verified" {
    cat > counted.c << 'PROGRAM'
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
static struct object {
    atomic_int users;
} *object;
static void *worker(void *unused)
{
#ifdef WRONG
    atomic_fetch_sub(&object->users, 1);
    if (atomic_load(&object->users) == 0)
#else
    if (atomic_fetch_sub(&object->users, 1) == 1)
#endif
        free(object);
    return unused;
}
int main(void)
{
    pthread_t thread[2];
    object = malloc(sizeof *object);
    atomic_init(&object->users, 2);
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, worker, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    return 0;
}
PROGRAM
    "$build/pct-cc" -g -O2 -pthread counted.c -o counted
    "$build/pct-cc" -g -O2 -pthread -DWRONG counted.c -o wrong
    run "$pct" explore -- ./counted
    echo "$output"
    [ "$status" -eq 0 ]
    for bound in "" "--bound=2"; do
        run "$pct" explore $bound -- ./wrong
        echo "$output"
        [ "$status" -ne 0 ] # it is found, too
        [[ $(last) == *"a block of memory that one thread frees while another one may still use it"* ]]
    done
}

@test "a lock in a block that another thread may still use when it is freed: nothing is verified" {
    cat > object.c << 'PROGRAM'
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t before = PTHREAD_MUTEX_INITIALIZER;
static pthread_t thread[2];
static struct object {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
} *object;
static void *user(void *unused)
{
#ifdef SIGNAL
    pthread_cond_signal(&object->cond);
#else
    pthread_mutex_lock(&object->mutex);
    pthread_mutex_unlock(&object->mutex);
#endif
    return unused;
}
static void *owner(void *unused)
{
    pthread_mutex_lock(&before);
    pthread_mutex_unlock(&before);
#ifndef WRONG
    pthread_join(thread[0], NULL);
#endif
#ifdef SIGNAL
    pthread_cond_destroy(&object->cond);
#endif
    free(object);
    return unused;
}
int main(void)
{
    object = malloc(sizeof *object);
    pthread_mutex_init(&object->mutex, NULL);
    pthread_cond_init(&object->cond, NULL);
    pthread_create(&thread[0], NULL, user, NULL);
    pthread_create(&thread[1], NULL, owner, NULL);
#ifdef WRONG
    pthread_join(thread[0], NULL);
#endif
    pthread_join(thread[1], NULL);
    return 0;
}
PROGRAM
    for signal in "" -DSIGNAL; do
        "$build/pct-cc" -g -O2 -pthread $signal object.c -o right
        "$build/pct-cc" -g -O2 -pthread $signal -DWRONG object.c -o wrong
        gcc -g -O2 -pthread $signal -DWRONG object.c -o plain
        run "$pct" explore -- ./right
        echo "$output"
        [ "$status" -eq 0 ]
        for command in "-- ./wrong" "--memory=all -- ./plain" "--memory=all --bound=2 -- ./plain"; do
            run "$pct" explore $command
            echo "$output"
            [ "$status" -ne 0 ] # it is found, too, where the user comes later
            [[ $(last) == *"a block of memory that one thread frees while another one may still use it"* ]]
        done
        run "$pct" explore -- ./plain
        echo "$output"
        [ "$status" -eq 0 ] # what it says is true all the same
        [[ $(last) == *", if threads share memory by calls alone (no data races, no atomics, no dangling pointers)"* ]]
    done
}

@test "with a bound, all schedules with so few preemptions" {
    run "$pct" explore --bound 0 -- "$build/bugs/fig1c-deadlock"
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $(last) == "pct: verified up to 0 preemptions at calls: all 2 classes of schedules with at most 0 preemptions \
pass"* ]]
    run "$pct" explore --bound 1 -- "$build/bugs/fig1c-deadlock"
    echo "$output"
    [ "$status" -eq 1 ]
    [[ $(last) == "pct: found: 1 of all 3 classes of schedules with at most 1 preemption fails"* ]]
    run "$pct" explore --bound 9 -n 60 -- "$build/bugs/philosophers-fixed"
    echo "$output"
    [ "$status" -eq 119 ]
    [[ $output == *"pct: no schedule with at most "*" fails, if "*" (complete)"* ]]
    [[ $(last) == "pct: not verified, because of: the runs that -n allows are made"* ]]
}

@test "rank and chess come to the same classes, and findings have a tuple" {
    for bug in fig1c-deadlock lost-wakeup; do
        for order in rank chess; do
            run "$pct" explore --bound 2 --order $order -- "$build/bugs/$bug"
            echo "$order: $output"
            [ "$status" -eq 1 ]
            [[ $output == *"pct: finding 1: "*"first in run "*", (c, v, t, l) = (1, 0, 2, 1))"* ]]
            [[ $(last) == "pct: found: 1 of all 3 classes of schedules with at most 2 preemptions fails"* ]]
        done
    done
    # Without --bound: 2.
    run "$pct" explore --order rank -- "$build/bugs/lost-wakeup-fixed"
    [ "$status" -eq 0 ]
    [[ $(last) == "pct: verified up to 2 preemptions at calls: all 2 classes"* ]]
    run "$pct" explore --order dpor --bound 2 -- "$build/bugs/lost-wakeup-fixed"
    [ "$status" -eq 2 ]
    run "$pct" explore --order other -- "$build/bugs/lost-wakeup-fixed"
    [ "$status" -eq 2 ]
}

@test "an estimate beforehand" {
    run "$pct" explore --estimate=300 -- "$build/bugs/philosophers-fixed"
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $(last) == "pct: estimate: at least about "*" classes of schedules (95 %: "*" to "*" classes in 300 random \
schedules"* ]]
    run "$pct" explore --estimate=300 --engine=restore -- "$build/bugs/philosophers-fixed"
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output =~ "pct: "2[0-9][0-9]" runs were restored; "[1-9][0-9]*" of them were made again, and were the same" ]]
    run "$pct" explore --estimate=300 -- "$build/bugs/fig1c-deadlock"
    [ "$status" -eq 1 ]
    [[ $output == *"finding 1: deadlock at "*" of the runs; first in run "* ]]
    run "$pct" explore --estimate=20 -- "$build/bugs/bounded-buffer"
    [[ $(last) == "pct: estimate: at least "*" classes of schedules, and how many more is not known"* ]]
    run "$pct" explore --estimate --bound 2 -- "$explored"
    [ "$status" -eq 2 ]
}

@test "what a search does not come to, the estimate shows, and other ways are named" {
    "$cc" -O1 -g -pthread -o late "$root/tests/cli/late.c"
    run "$pct" explore -n 50 -- ./late
    is "$status" 119
    has "--bound 2 explores schedules with few preemptions first"
    [[ $(last) == "pct: not verified, because of: the runs that -n allows are made (50 classes passed, 50 runs,"* ]]
    run "$pct" explore --estimate=20 -- ./late
    is "$status" 1
    has "finding 1: exit status 1"
    has "this replays it:"
    eval "$(grep -o "replay 'pct1:.*" <<< "$output" | sed "s|^|run '$pct' |")"
    is "$status" 1
    has "identical"
    # Random schedules show it: from the beginning with --first, else in a long search, with any number of workers.
    run "$pct" explore --first -- ./late
    is "$status" 1
    has "of the runs were random schedules, of which 1 failed: they count as no classes"
    [[ $(last) == "pct: found: 1 of "*" random schedules fail"*", beside "*"; stopped at the first finding" ]]
    run "$pct" explore -q -n 1200 -j 3 --db late.db -- ./late
    is "$status" 1
    [[ $(last) == "pct: found: "*" of 109 random schedules fail, beside 1091 classes that pass (1200 runs,"* ]]
    # It is no failure that "did not come again" where there was no time for it to come.
    run "$pct" run --explore=0.5 -n 1 -- ./late
    lacks "did not come again"
}

@test "options that choose among schedules are refused" {
    for option in --strategy=pct --depth=3 --time=real --memory-sample=10 --memory-points=shared --focus=main; do
        run "$pct" explore "$option" -- "$explored"
        [ "$status" -eq 2 ]
        [[ $output == *"pct explore"* ]]
    done
}

@test "each thread that is about to end the process ends it first, and one that aborts is not passed over" {
    for what in aborts ends; do
        run "$pct" explore -q -- "$explored" "$what"
        echo "$output"
        [ "$status" -eq 1 ]
        [[ $(last) == "pct: found: 1 of all 2 classes of schedules fails"* ]]
    done
    run "$pct" explore -q -- "$explored" frees
    echo "$output"
    [ "$status" -eq 1 ]
    [[ $output == *"crash by signal 6"* ]]
}

@test "with a bound, cancellation is explored; without one, nothing is verified" {
    cat > cancelled.c << 'PROGRAM'
#include <pthread.h>
#include <semaphore.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t sem;
static int asynchronous;
static void unlock(void *unused)
{
    pthread_mutex_unlock(&mutex);
}
static void *worker(void *forgets)
{
    pthread_setcanceltype(asynchronous ? PTHREAD_CANCEL_ASYNCHRONOUS : PTHREAD_CANCEL_DEFERRED, NULL);
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push(unlock, NULL);
    sem_wait(&sem);
    pthread_cleanup_pop(!forgets);
    if (forgets)
        pthread_testcancel();
    if (forgets)
        pthread_mutex_unlock(&mutex);
    return NULL;
}
int main(int argc, char **argv)
{
    pthread_t thread;
    asynchronous = argc > 2;
    pthread_create(&thread, NULL, worker, argc > 1 && !asynchronous ? argv : NULL);
    sem_post(&sem);
    pthread_cancel(thread);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return pthread_join(thread, NULL);
}
PROGRAM
    "$cc" -pthread -o cancelled cancelled.c
    run "$pct" explore -q --bound 2 -- ./cancelled
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $(last) == *"verified up to 2 preemptions at calls: all "* ]]
    # Who is cancelled with the mutex in its hands, which no handler gives back.
    run "$pct" explore -q --bound 2 -- ./cancelled forgets
    echo "$output"
    [ "$status" -eq 1 ]
    [[ $output == *"finding 1: deadlock"* ]]
    run "$pct" explore -q -- ./cancelled
    [ "$status" -eq 119 ]
    [[ $(last) == *"not verified, because of: cancellation of threads, which takes --bound ("* ]]
    run "$pct" explore -q --bound 1 -- ./cancelled 1 asynchronous
    [ "$status" -eq 119 ]
    [[ $(last) == *"because of: asynchronous cancellation, which comes between scheduling points, too ("* ]]
}
