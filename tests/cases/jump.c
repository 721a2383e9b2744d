/* A signal handler that leaves by siglongjmp() leaves nothing of itself behind. A thread that was interrupted in its
 * own code keeps the baton only as long as the handler runs; one that was interrupted in a call that waits for the
 * outside world can end by pthread_exit(), which runs what is to be cleaned up, but nothing of that call.
 * RUN: for how in own alternate; do pct run -q -s 1 -S random-walk -- %p $how &&
 *     pct run -q -s 2 -S random-walk -- %p $how || exit 1; done
 * RUN: for seed in 1 2 3 4 5; do pct run -q -s $seed -- %p outside || exit 1; done
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 1000, LEAST = 100, DEEP = 16384 };

static sigjmp_buf back;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, others_mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int others;
static sem_t *shared;

static void handle(int signal)
{
    (void)signal;
    siglongjmp(back, 1);
}

static void *other(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&others_mutex);
        others++;
        pthread_mutex_unlock(&others_mutex);
    }
    return unused;
}

/* Deeper than the handler was. */
__attribute__((noinline)) static int deep(void)
{
    volatile char room[DEEP];
    int switches = 0, last = others;
    memset((char *)room, 1, sizeof room);
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
        switches += others != last;
        last = others;
    }
    return switches + !room[0];
}

static void *wait_outside(void *unused)
{
    sigset_t own;
    sigemptyset(&own);
    sigaddset(&own, SIGUSR1);
    pthread_sigmask(SIG_UNBLOCK, &own, NULL);
    if (!sigsetjmp(back, 1))
        sem_wait(shared);
    deep();
    pthread_exit(unused);
}

int main(int argc, char **argv)
{
    pthread_t thread;
    struct sigaction action = { .sa_handler = handle };
    const stack_t stack = { .ss_sp = malloc(65536), .ss_size = 65536 };
    sigset_t own;
    (void)argc;
    sigemptyset(&own);
    sigaddset(&own, SIGUSR1);
    sigaltstack(&stack, NULL);
    action.sa_flags = strcmp(argv[1], "alternate") ? 0 : SA_ONSTACK;
    sigaction(SIGUSR1, &action, NULL);
    if (!strcmp(argv[1], "outside")) {
        pthread_sigmask(SIG_BLOCK, &own, NULL);
        shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        sem_init(shared, 1, 0);
        pthread_create(&thread, NULL, wait_outside, NULL);
        pid_t parent = getpid(), child = fork();
        if (!child) {
            for (;;) {
                usleep(100000);
                if (kill(parent, SIGUSR1))
                    _exit(0);
            }
        }
        pthread_join(thread, NULL);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        return 0;
    }
    pthread_sigmask(SIG_BLOCK, &own, NULL);
    pthread_create(&thread, NULL, other, NULL);
    pthread_sigmask(SIG_UNBLOCK, &own, NULL);
    if (!sigsetjmp(back, 1)) /* by a system call of its own: in its own code */
        __asm__ volatile("syscall"
                         :
                         : "a"(SYS_tgkill), "D"(getpid()), "S"(gettid()), "d"(SIGUSR1)
                         : "rcx", "r11", "memory");
    int switches = deep();
    pthread_join(thread, NULL);
    if (switches < LEAST)
        printf("the other thread has run %d times meanwhile\n", switches);
    return switches < LEAST;
}
