/* What the shim leaves undone at the start of a process is done by the call that needs it, whichever that is: the
 * addresses in its tables, and its own calls of libc, which are bound one by one. The first call of the program may be
 * one that fails and sets errno, one of a child that shares its memory, one in a signal handler, or none before it
 * crashes; and the loader may have been told to leave nothing (LD_BIND_NOW).
 *
 * RUN: LD_PRELOAD=$LIBPCT PCT_LOG=quiet %p errno
 * RUN: LD_PRELOAD=$LIBPCT PCT_LOG=quiet %p vfork
 * RUN: LD_PRELOAD=$LIBPCT PCT_LOG=quiet %p handler
 * RUN: LD_PRELOAD=$LIBPCT PCT_LOG=quiet %p threads
 * RUN: LD_BIND_NOW=1 LD_PRELOAD=$LIBPCT PCT_LOG=quiet %p errno
 * RUN: LD_BIND_NOW=1 LD_PRELOAD=$LIBPCT PCT_LOG=quiet %p threads
 * RUN 132: exec env LD_PRELOAD=$LIBPCT PCT_LOG=quiet %p crash
 * RUN: for wrong in STRATEGY=pcct SEED=x MEMORY_POINTS=no SEDE=1; do
 *     status=0; env LD_PRELOAD=$LIBPCT PCT_$wrong %p errno 2> %t/said || status=$?;
 *     test $status = 2 && grep -q '^pct: ' %t/said || exit 1; done
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t semaphore;
static volatile int failed = 1;

static long call(long number, long a, long b, long c, long d)
{
    register long fourth __asm__("r10") = d;
    __asm__ volatile("syscall" : "+a"(number) : "D"(a), "S"(b), "d"(c), "r"(fourth) : "rcx", "r11", "memory");
    return number;
}

/* A call that fails. */
static int try(void)
{
    errno = 0;
    return sem_trywait(&semaphore) != -1 || errno != EAGAIN;
}

static void handle(int signal)
{
    (void)signal;
    failed = try();
}

__attribute__((naked)) static void leave(void)
{
    __asm__("mov $15, %eax\n syscall");
}

/* By the kernel alone: the first call is the handler's. */
static int in_handler(void)
{
    enum { RESTORER = 0x04000000 };
    struct {
        void (*handler)(int);
        unsigned long flags;
        void (*restorer)(void);
        unsigned long mask;
    } action = { handle, RESTORER, leave, 0 };
    call(SYS_rt_sigaction, SIGUSR1, (long)&action, 0, sizeof action.mask);
    call(SYS_kill, call(SYS_getpid, 0, 0, 0, 0), SIGUSR1, 0, 0);
    return failed;
}

static int in_child(void)
{
    int status = 1;
    pid_t pid = vfork();
    if (!pid)
        _exit(try());
    return waitpid(pid, &status, 0) != pid || status || try();
}

static void *take(void *unused)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return unused;
}

static int in_threads(void)
{
    pthread_t threads[3];
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 1 << 20);
    for (int i = 0; i < 3; i++)
        if (pthread_create(&threads[i], &attributes, take, NULL))
            return 1;
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return try();
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (!strcmp(what, "handler"))
        return in_handler();
    if (!strcmp(what, "vfork"))
        return in_child();
    if (!strcmp(what, "threads"))
        return in_threads();
    if (!strcmp(what, "crash"))
        __builtin_trap();
    return try();
}
