// A thread that the program makes by a clone of its own, without libc: pct does not see it start. Whoever waits for it
// in a loop, by a sleep, by a futex or with a deadline finds what it has done, as natively; the report counts its
// steps, and makes no claim.
//
// RUN: for w in loop sleep futex deadline; do pct run -q -n 5 -s 1 --state none -- %p $w || exit; done
// RUN: pct run -n 20 -s 1 --state none -- %p futex > %t/out 2>&1;
//     grep -q 'by threads that pct did not see start' %t/out && ! grep 'would have been missed' %t/out
#define _GNU_SOURCE
#include <assert.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SIZE = 65536, ROUNDS = 2000000, ALIGNED = 64 };
static volatile int done;
static volatile uint32_t alive = 1; /* the kernel clears it, and wakes */

static void body(void)
{
    for (volatile int i = 0; i < ROUNDS; i++)
        ;
    done = 1;
}

static long start(void *stack)
{
    long result = SYS_clone;
    register void *tls __asm__("r8") = NULL;
    register volatile uint32_t *tid __asm__("r10") = &alive;
    __asm__ volatile(
        "syscall\n\t"
        "testq %%rax, %%rax\n\t"
        "jnz 1f\n\t"
        "call *%%rbx\n\t"
        "movl %[exit], %%eax\n\t"
        "xorl %%edi, %%edi\n\t"
        "syscall\n"
        "1:"
        : "+a"(result)
        : "D"(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_CHILD_CLEARTID),
          "S"(stack), "d"(0), "r"(tid), "r"(tls), "b"(body), [exit] "i"(SYS_exit)
        : "rcx", "r11", "memory", "cc");
    return result;
}

int main(int argc, char **argv)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t never = PTHREAD_COND_INITIALIZER;
    struct timespec deadline;
    char *stack = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert(argc == 2 && stack != MAP_FAILED && start(stack + SIZE - ALIGNED) > 0);
    if (!strcmp(argv[1], "loop")) {
        while (!done)
            ;
    } else if (!strcmp(argv[1], "sleep")) {
        while (!done)
            usleep(100);
    } else if (!strcmp(argv[1], "futex")) {
        while (alive)
            syscall(SYS_futex, &alive, FUTEX_WAIT, 1, NULL);
    } else {
        clock_gettime(CLOCK_REALTIME, &deadline);
        deadline.tv_sec += 10;
        pthread_mutex_lock(&mutex);
        pthread_cond_timedwait(&never, &mutex, &deadline);
        pthread_mutex_unlock(&mutex);
    }
    return !done;
}
