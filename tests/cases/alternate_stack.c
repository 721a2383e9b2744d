/* A handler on an alternate stack that has room for the kernel's frame and 3 KB: what the shim takes of it fits in,
 * also while another thread waits in sigwait(), which is asked for the signals that it blocks.
 * Bound lazily, too, where it fits in natively: then the loader saves the vector registers there, 2.7 KB of them on
 * some processors, and the way into the handler has some 0.2 KB left.
 * BUILD: gcc -O1 -g -pthread -Wl,-z,now -o %p %s
 * RUN: for seed in 1 2 3 4 5 6 7 8 9 10; do pct run -q -s $seed -- %p || exit 1; done
 * RUN: pct run -q -n 30 -s 1 -S random-walk -- %p
 * RUN: gcc -O1 -g -pthread -Wl,-z,lazy -o %t/lazy %s && { ! %t/lazy || pct run -q -n 10 -s 1 -- %t/lazy; }
 */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BELOW = 32768, PAINT = 0xaa };

static sem_t sem;
static sigset_t waited;

static void handle(int signal)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    (void)signal;
    sem_post(&sem);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    sched_yield();
}

static void *work(void *unused)
{
    int got;
    sigwait(&waited, &got);
    return unused;
}

int main(void)
{
    pthread_t worker;
    const struct sigaction action = { .sa_handler = handle, .sa_flags = SA_ONSTACK };
    sigemptyset(&waited);
    sigaddset(&waited, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &waited, NULL);
    sem_init(&sem, 0, 0);
    unsigned char *memory = mmap(NULL, 2 * BELOW, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(memory, PAINT, BELOW);
    const stack_t stack = { .ss_sp = memory + BELOW, .ss_size = (size_t)sysconf(_SC_MINSIGSTKSZ) + 3072 };
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &action, NULL);
    pthread_create(&worker, NULL, work, NULL);
    for (int i = 0; i < 5; i++)
        sched_yield();
    raise(SIGUSR1);
    sem_wait(&sem);
    int over = 0;
    for (int i = 0; i < BELOW; i++)
        over += memory[i] != PAINT;
    if (over)
        printf("%d bytes below the alternate stack were overwritten\n", over);
    pthread_kill(worker, SIGUSR2);
    pthread_join(worker, NULL);
    return over != 0;
}
