/* In an explored run an int3 stands where no jump fits, at each level of --memory. But only with --memory=all was
 * SIGTRAP kept out of what threads block and processes ignore: with the others the kernel killed the program there, and
 * that was taken for a failure of its own.
 *
 *     BUILD: gcc -O1 -g -pthread -no-pie -fno-pie -o %p %s
 *     RUN: for how in plain blocked ignored; do for level in atomics all;
 *         do pct explore --memory=$level -- %p $how > %t/out 2>&1; grep -q 'classes of schedules pass' %t/out &&
 *         ! grep -q 'classes of schedules fail' %t/out || { echo "$how $level"; exit 1; }; done; done
 *     RUN: for how in plain blocked ignored; do %p $how || exit; done
 */
#include <pthread.h>
#include <signal.h>

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
    add(&count);
    return unused;
}

int main(int argc, char **argv)
{
    const char how = argc > 1 ? *argv[1] : 'p';
    pthread_t thread;
    sigset_t all;
    sigfillset(&all);
    if (how == 'b')
        pthread_sigmask(SIG_BLOCK, &all, NULL);
    if (how == 'i')
        signal(SIGTRAP, SIG_IGN);
    pthread_create(&thread, NULL, work, NULL);
    add(&count);
    pthread_join(thread, NULL);
    return count != 2;
}
