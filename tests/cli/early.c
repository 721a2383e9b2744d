/* A target with a past: what it does before main, in a constructor, its first argument says.
 *
 *     early WHAT FILE    appends a line to FILE in each run, with all that a forked run could have in another way than
 *                        one that was started by exec; ends with status 1 in some schedules */
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_t thread;
static struct timespec constructed;
static unsigned drawn;
static int turns, first = -1;

static void *take_turn(void *number)
{
    for (int i = 0; i < 5; i++) {
        pthread_mutex_lock(&mutex);
        if (first < 0)
            first = (int)(long)number;
        turns++;
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

/* libc's clone, by a name that pct does not know. */
int __clone(int (*run)(void *), void *stack, int flags, void *argument, ...);

/* This thread borrows the first one's storage, its identity in libc's locks included: it may call nothing in libc. */
static int sleep_unseen(void *unused)
{
    for (;;) {
        long number = SYS_pause;
        __asm__ volatile("syscall" : "+a"(number) : : "rcx", "r11", "memory");
    }
    return unused != NULL;
}

__attribute__((constructor)) static void construct(int argc, char **argv)
{
    static char stack[1 << 16];
    const char *what = argc > 1 ? argv[1] : "";
    if (!strcmp(what, "thread"))
        assert(!pthread_create(&thread, NULL, take_turn, (void *)1));
    else if (!strcmp(what, "clock"))
        clock_gettime(CLOCK_REALTIME, &constructed);
    else if (!strcmp(what, "random"))
        assert(getrandom(&drawn, sizeof drawn, 0) == sizeof drawn);
    else if (!strcmp(what, "lock"))
        take_turn((void *)0);
    else if (!strcmp(what, "open"))
        assert(syscall(SYS_open, "/dev/null", O_RDONLY) >= 0);
    else if (!strcmp(what, "unseen"))
        assert(__clone(sleep_unseen, stack + sizeof stack,
                       CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM, NULL) > 0);
    else if (!strcmp(what, "shared"))
        assert(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
    else if (!strcmp(what, "close"))
        assert(!syscall(SYS_close_range, 3, ~0u, 0));
    else if (!strcmp(what, "variable"))
        assert(!setenv("EARLY", "yes", 1));
    else if (!strcmp(what, "write"))
        fputs("early\n", stderr);
    else if (!strcmp(what, "exit"))
        _exit(3);
    else if (!strcmp(what, "pid"))
        drawn = (unsigned)getpid();
}

/* Everything in the environment but the name of the trace. */
static unsigned long digest(void)
{
    unsigned long sum = 0;
    for (char **at = environ; *at; at++) {
        sum = 31 * sum + (unsigned long)*at;
        for (const char *c = *at; strncmp(*at, "PCT_TRACE=", 10) && *c; c++)
            sum = 31 * sum + (unsigned char)*c;
    }
    return sum;
}

/* What an own child sees: the token is in its environment, too. */
static int ask_child(void)
{
    int status;
    pid_t child = fork();
    if (!child) {
        execl("/bin/sh", "sh", "-c", "case $PCT_TOKEN in \"$1\") exit 0;; esac; exit 9", "sh", getenv("PCT_TOKEN"),
              (char *)NULL);
        _exit(8);
    }
    assert(waitpid(child, &status, 0) == child);
    return WEXITSTATUS(status);
}

/* The other child of our parent: the server that has forked us, if one has. As many calls in either case. */
static void kill_sibling(void)
{
    char text[4096];
    snprintf(text, sizeof text, "/proc/%d/task/%d/children", getppid(), getppid());
    long file = syscall(SYS_open, text, O_RDONLY), size = syscall(SYS_read, file, text, sizeof text - 1);
    assert(size > 0);
    text[size] = 0;
    syscall(SYS_close, file);
    long sibling = 0;
    for (char *at = text; *at && *at != '\n'; at += strspn(at, " ")) {
        long pid = strtol(at, &at, 10);
        if (pid != getpid())
            sibling = pid;
    }
    syscall(SYS_kill, sibling ? sibling : getpid(), sibling ? SIGKILL : 0);
}

int main(int argc, char **argv)
{
    pthread_t other;
    assert(argc > 2);
    int here, child = !strcmp(argv[1], "child") ? ask_child() : 0;
    if (!strcmp(argv[1], "kill"))
        kill_sibling();
    if (!strcmp(argv[1], "pid") && drawn != (unsigned)getpid())
        take_turn((void *)2); /* more steps than in a process that has always had this number */
    assert(!pthread_create(&other, NULL, take_turn, (void *)2));
    void *heap = malloc(100), *map = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    take_turn((void *)0);
    pthread_join(other, NULL);
    if (thread)
        pthread_join(thread, NULL);
    struct timespec now;
    unsigned number;
    clock_gettime(CLOCK_REALTIME, &now);
    assert(getrandom(&number, sizeof number, 0) == sizeof number);
    int lowest = dup(STDIN_FILENO);
    char line[1024];
    int length =
        snprintf(line, sizeof line,
                 "%s first=%d turns=%d stack=%p heap=%p map=%p environment=%lx time=%ld.%09ld then=%ld.%09ld "
                 "random=%u then=%u descriptor=%d child=%d leader=%d thread=%d\n",
                 getenv("PCT_TOKEN"), first, turns, (void *)&here, heap, map, digest(), (long)now.tv_sec, now.tv_nsec,
                 (long)constructed.tv_sec, constructed.tv_nsec, number, strcmp(argv[1], "pid") ? drawn : 0, lowest,
                 child, getpgrp() == getpid(), gettid() == getpid());
    int file = open(argv[2], O_WRONLY | O_CREAT | O_APPEND, 0600);
    assert(write(file, line, (size_t)length) == length);
    return first == 2;
}
