/* A shell that became pct had a child, in a process group of its own. When a run killed pct, what that had left was
 * ended, and this child with it.
 *
 * RUN: bash -mc 'sleep 300 > /dev/null 2>&1 & echo $! > %t/pid; exec pct run -q -n 2 --explore=0 -- %p' > %t/out 2>&1;
 *     cat %t/out; kill $(cat %t/pid) && grep 'pct itself was ended by signal 9' %t/out
 */
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

static void *work(void *unused)
{
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    long number = SYS_kill; /* in a way that pct does not see */
    __asm__ volatile("syscall" : "+a"(number) : "D"((long)getppid()), "S"((long)SIGKILL) : "rcx", "r11", "memory");
    return 0;
}
