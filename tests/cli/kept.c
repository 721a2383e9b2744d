/* A target for runs that are restored: what it does its argument says. It prints what a run could find in another way
 * than it was before the first one.
 *
 *     memory       changes all kinds of memory
 *     status       ends with status 3
 *     race         its threads write to a variable in no order
 *     handler, pipe  what a host does undo, and would fail if it did not
 *     sends        one thread sends signals to another, and to the process
 *     leave        a thread ends by pthread_exit(), for which libc loads a library
 *     read         reads a file and a directory, and leaves them open
 *     open, proc, trap, munmap, shared, large, running, pending, child, shrink: what a host does not undo, or not have
 *     long, fail, killed N  from the run of seed N on: waits in a loop, aborts, is killed
 *     pad          prints how much room the environment has left
 *     resident N   ends with status 1 where the process has had more than N KB of memory
 *     switches N   ends with status 1 where the process has had more than N switches: no copy that was just made has
 *     tells N      prints whether it has;
 *     crashes N    crashes if it has, and blocks the signal. These three ask for one thread: each then has a kernel
 *                  thread */
#define _GNU_SOURCE
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ROUNDS = 40, PAGE = 4096, PART = 100 << 20, PARTS = 50, MOST_FILES = 12, MARK = 0x6b657074 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static int turn, data = 7, ended;
static volatile int begun, waited;
static bool racing;
static char zeros[100000];
static __thread int own = 3;
static void *before;

__attribute__((constructor)) static void construct(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int sharing = !strcmp(what, "shared") ? MAP_SHARED : MAP_PRIVATE;
    before = mmap(NULL, !strcmp(what, "large") ? (size_t)PART * PARTS : PART, PROT_READ | PROT_WRITE,
                  MAP_ANONYMOUS | MAP_NORESERVE | sharing, -1, 0);
    __asm__ volatile("" : : "r"(malloc(1))); /* there is a heap */
}

static void *alternate(void *number)
{
    own++;
    if (racing)
        ended++;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&mutex);
        while (turn % 2 != (int)(long)number)
            pthread_cond_wait(&turned, &mutex);
        turn++;
        pthread_cond_broadcast(&turned);
        pthread_mutex_unlock(&mutex);
    }
    free(malloc(1000)); /* a heap of the thread's own */
    return &own;
}

static void *spin(void *unused)
{
    begun = 1;
    while (!waited)
        ;
    return unused;
}

static void at_end(void)
{
    ended++;
}

/* Writes to the stack, deep below. Returns how much of that it finds there before. */
static int descend(int depth)
{
    volatile int frame[1024];
    int found = 0;
    for (unsigned i = 0; i < sizeof frame / sizeof *frame; i++) {
        __asm__ volatile("" : "=m"(frame[i]));
        found += frame[i] == MARK;
        frame[i] = MARK;
    }
    return depth ? found + descend(depth - 1) : found;
}

static void *forever(void *unused)
{
    static pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&other);
    pthread_mutex_lock(&other);
    return unused;
}

static void change_memory(void)
{
    sigset_t mask;
    int sum = 0;
    for (unsigned i = 0; i < sizeof zeros; i++)
        sum += zeros[i];
    char *small = malloc(10), *big = malloc(1 << 20),
         *mapped = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sigprocmask(SIG_BLOCK, NULL, &mask);
    printf("%d %d %d %d %d %d %p %p %p %d %d\n", data, sum, own, ended, (int)__builtin_ia32_stmxcsr() & 0x6000,
           sigismember(&mask, SIGUSR1), (void *)small, (void *)big, (void *)mapped, descend(100), *(char *)before);
    data++;
    own++;
    memset(zeros, 1, sizeof zeros);
    *(char *)before = 1;
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x4000); /* rounds up */
    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR1);
    sigprocmask(SIG_BLOCK, &mask, NULL);
    putenv(strdup("KEPT=1"));
    atexit(at_end);
}

/* A child process that nobody sees being made, or waits for. */
static void make_child(void)
{
    struct clone_args arguments = { .exit_signal = SIGCHLD };
    long pid = SYS_clone3;
    __asm__ volatile("syscall" : "+a"(pid) : "D"(&arguments), "S"(sizeof arguments) : "rcx", "r11", "memory");
    if (!pid)
        __asm__ volatile("syscall" : : "a"((long)SYS_exit_group), "D"(0L) : "rcx", "r11", "memory");
}

static void note(int signal)
{
    own += signal;
}

static void *leave(void *unused)
{
    (void)unused;
    pthread_exit(&own);
}

/* Prints what a descriptor that was left open, or an offset, would change. */
static void read_files(void)
{
    char head[4];
    int file = open("kept", O_RDONLY);
    FILE *stream = fopen("kept", "r"), *nothing = fopen("/dev/null", "w");
    DIR *folder = opendir(".");
    assert(file >= 0 && nothing && fputs("x", nothing) == 1 && !fflush(nothing) && stream && folder &&
           read(file, head, sizeof head) == sizeof head && readdir(folder));
    assert(!fopen("nowhere", "r") && errno == ENOENT);
    char *mapped = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
    assert(mapped != MAP_FAILED);
    printf("%d %.3s %d %d %p %d\n", file, head + 1, fgetc(stream), dirfd(folder), (void *)mapped, *mapped);
    *mapped = 1;
}

/* Of this run. */
static long seed(void)
{
    const char *token = getenv("PCT_TOKEN"), *at = token ? strchr(token, ':') : NULL;
    at = at ? strchr(at + 1, ':') : NULL;
    return at ? atol(at + 1) : 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    const long number = argc > 2 ? atol(argv[2]) : 0;
    const bool late = seed() >= number;
    struct rusage used;
    pthread_t threads[2], other;
    void *result;
    int ends[2];
    if (!strcmp(what, "switches") || !strcmp(what, "tells") || !strcmp(what, "crashes"))
        getrusage(RUSAGE_THREAD, &used);
    getrusage(RUSAGE_SELF, &used);
    if (getenv("KEPT"))
        puts("an environment that was changed");
    racing = !strcmp(what, "race");
    if (!strcmp(what, "memory"))
        change_memory();
    for (long i = 0; i < 2; i++)
        assert(!pthread_create(&threads[i], NULL, alternate, (void *)i));
    if (!strcmp(what, "long") && late) {
        assert(!pthread_create(&other, NULL, spin, NULL));
        waited = 1;
        while (!begun)
            ;
        pthread_join(other, NULL);
    }
    if (!strcmp(what, "sends"))
        assert(signal(SIGUSR1, note) == SIG_DFL && !pthread_kill(threads[0], SIGUSR1) &&
               !sigqueue(getpid(), SIGUSR1, (union sigval){ .sival_int = 0 }));
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], &result);
        if (!strcmp(what, "memory"))
            printf("%p\n", result);
    }
    if (!strcmp(what, "open"))
        assert(open("made", O_WRONLY | O_CREAT, 0600) >= 0);
    else if (!strcmp(what, "leave"))
        assert(!pthread_create(&other, NULL, leave, NULL) && !pthread_join(other, &result) && result);
    else if (!strcmp(what, "proc"))
        assert(fopen("/proc/self/maps", "r"));
    else if (!strcmp(what, "read"))
        read_files();
    else if (!strcmp(what, "handler"))
        assert(signal(SIGUSR1, SIG_IGN) == SIG_DFL);
    else if (!strcmp(what, "trap"))
        assert(signal(SIGSYS, note) == SIG_DFL);
    else if (!strcmp(what, "pipe"))
        assert(!pipe(ends) && ends[0] < 3 + MOST_FILES && write(ends[1], "x", 1) == 1);
    else if (!strcmp(what, "munmap"))
        assert(!munmap(before, 4096));
    else if (!strcmp(what, "running"))
        assert(!pthread_create(&other, NULL, forever, NULL));
    else if (!strcmp(what, "child"))
        make_child();
    else if (!strcmp(what, "shrink"))
        assert(sbrk(-4096) != (void *)-1);
    else if (!strcmp(what, "killed") && late)
        raise(SIGKILL);
    else if (!strcmp(what, "fail") && late)
        abort();
    else if (!strcmp(what, "pad"))
        printf("%zu\n", strlen(getenv("_PCT_PAD")));
    else if (!strcmp(what, "pending")) {
        sigset_t mask;
        sigemptyset(&mask);
        sigaddset(&mask, SIGUSR1);
        sigprocmask(SIG_BLOCK, &mask, NULL);
        raise(SIGUSR1);
    }
    if (!strcmp(what, "crashes") && used.ru_nvcsw > number) {
        sigset_t set;
        sigfillset(&set);
        sigprocmask(SIG_BLOCK, &set, NULL);
        *(volatile char *)1 = 1;
    }
    if (!strcmp(what, "tells"))
        printf("%d\n", used.ru_nvcsw > number);
    if (!strcmp(what, "resident"))
        return used.ru_maxrss > number;
    return !strcmp(what, "status") ? 3 : !strcmp(what, "switches") && used.ru_nvcsw > number;
}
