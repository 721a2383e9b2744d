/* A byte that was in a pipe when a thread came to read() was taken by another process before the thread's turn; then
 * the call waited in the kernel, with the baton, and nobody else could run. The other process is played by a thread
 * that makes the system calls itself; a child has the pipe, too.
 *
 * RUN: PCT_WATCHDOG=off pct run -q -n 40 -s 1 -S random-walk --explore=0 --timeout 20 --state none -- %p
 */
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ends[2];

static void pause_here(void)
{
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
}

static long call(long number, long b, void *c)
{
    __asm__ volatile("syscall" : "+a"(number) : "D"((long)ends[0]), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return number;
}

static int take_unseen(void)
{
    int there = 0;
    char byte;
    return !call(SYS_ioctl, FIONREAD, &there) && there && call(SYS_read, (long)&byte, (void *)1) == 1;
}

static void *other(void *unused)
{
    for (int i = 0; i < 4; i++) {
        int taken = take_unseen();
        for (int j = 0; taken && j < 3; j++)
            pause_here();
        if (taken)
            assert(write(ends[1], "x", 1) == 1);
        pause_here();
    }
    return unused;
}

int main(void)
{
    char byte = 0;
    pthread_t thread;
    assert(!pipe(ends));
    pid_t child = fork();
    if (!child)
        _exit(0);
    assert(child > 0 && waitpid(child, NULL, 0) == child);
    pthread_create(&thread, NULL, other, NULL);
    assert(write(ends[1], "x", 1) == 1 && read(ends[0], &byte, 1) == 1 && byte == 'x');
    pthread_join(thread, NULL);
    return 0;
}
