/* A message that was there when a thread came to mq_receive() was taken by another process before the thread's turn;
 * then the call waited in the kernel, with the baton, and nobody else could run. The other process is played by a
 * thread that makes the system call itself. What is wrong with a message is found before there is room for it: under
 * pct a priority that is too high waited for that first.
 *
 * RUN: PCT_WATCHDOG=off pct run -q -n 40 -s 1 -S random-walk --explore=0 --timeout 20 --state none --
 *      %p taken
 * RUN: pct run -q -s 1 --timeout 20 --state none -- %p wrong
 */
#undef NDEBUG
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static mqd_t queue;

static void pause_here(void)
{
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
}

/* Whether there was one. */
static int take_unseen(void)
{
    char byte[8];
    static const struct timespec past;
    long result = SYS_mq_timedreceive;
    register void *priority __asm__("r10") = NULL;
    register const void *until __asm__("r8") = &past;
    __asm__ volatile("syscall"
                     : "+a"(result)
                     : "D"((long)queue), "S"(byte), "d"(sizeof byte), "r"(priority), "r"(until)
                     : "rcx", "r11", "memory");
    return result == 1;
}

static void *other(void *unused)
{
    for (int i = 0; i < 4; i++) {
        int taken = take_unseen();
        for (int j = 0; taken && j < 3; j++)
            pause_here();
        if (taken)
            assert(!mq_send(queue, "x", 1, 0));
        pause_here();
    }
    return unused;
}

int main(int argc, char **argv)
{
    char name[64], byte[8] = "";
    pthread_t thread;
    struct mq_attr limits = { .mq_maxmsg = 1, .mq_msgsize = sizeof byte };
    snprintf(name, sizeof name, "/mq-taken-%d", (int)getpid());
    if ((queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &limits)) < 0)
        return 0; /* a system without */
    mq_unlink(name);
    pthread_create(&thread, NULL, other, NULL);
    assert(argc == 2 && !mq_send(queue, "x", 1, 0));
    if (!strcmp(argv[1], "wrong")) {
        struct timespec never = { .tv_sec = time(NULL) + 1000 };
        pthread_join(thread, NULL);
        assert(mq_send(queue, "y", 1, 1u << 20) == -1 && errno == EINVAL);
        assert(mq_timedsend(queue, (const char *)8, 1, 0, &never) == -1 && errno == EFAULT);
        return 0;
    }
    assert(mq_receive(queue, byte, sizeof byte, NULL) == 1 && *byte == 'x');
    pthread_join(thread, NULL);
    return 0;
}
