/* A process forks while another of its threads goes on with its memory: the child has the code with its points, but
 * none of its parent's knowledge of who accesses what. It builds its own: its updates are lost as its parent's are, its
 * races are reported, and the same seed gives the same run. With points in compiled code, in patched code, in chosen
 * functions, with a watchpoint, and with places that earlier runs have shown to be ordered. Races that are suppressed
 * in the parent are in the child.
 * A line for each run; of 10 updates, fewer than 10 are left when some are lost: one digit.
 *
 * RUN: pct-cc -O1 -g -pthread -o %t/p %s && for i in 1 2; do for s in {1..12};
 *     do pct run -q -s $s -S random-walk -- %t/p; done > %t/$i; done; diff %t/1 %t/2 && grep -q 'parent .,' %t/1 &&
 *     grep -q 'child .$' %t/1
 * RUN: for i in 1 2; do for s in {1..12}; do pct run -q -s $s -S random-walk --memory=globals -- %p; done > %t/$i;
 *     done; diff %t/1 %t/2 && grep -q 'parent .,' %t/1 && grep -q 'child .$' %t/1
 * RUN: for i in 1 2; do for s in {1..12}; do pct run -q -s $s -S random-walk --memory=all --focus=add -- %p;
 *     done > %t/$i; done; diff %t/1 %t/2 && grep -q 'parent .,' %t/1 && grep -q 'child .$' %t/1
 * RUN: pct-cc -O1 -g -pthread -o %t/p %s && for i in 1 2; do for s in {1..12};
 *     do pct run -q -s $s -S random-walk --memory-points=learned -- %t/p; done > %t/$i; done; diff %t/1 %t/2 &&
 *     grep -q 'parent .,' %t/1 && grep -q 'child .$' %t/1
 * RUN: pct run -n 1 --watch=counter -- %p > %t/0 2>&1 || { cat %t/0; exit 0; }; for i in 1 2; do for s in {1..12};
 *     do pct run -q -s $s -S random-walk --watch=counter -- %p; done > %t/$i; done; diff %t/1 %t/2 &&
 *     grep -q 'parent .,' %t/1 && grep -q 'child .$' %t/1
 * RUN: pct-cc -O1 -g -pthread -o %t/p %s && pct run -q -s 1 -n 3 --races=report -- %t/p child 2> %t/said &&
 *     cat %t/said && grep -q 'in a child, process' %t/said && grep -q '`counter`' %t/said
 * RUN 118: pct-cc -O1 -g -pthread -o %t/p %s && pct run -q -s 1 --races=fail -- %t/p child
 * RUN: pct-cc -O1 -g -pthread -o %t/p %s && echo race:add > %t/known &&
 *     pct run -q -s 1 --races=fail --suppressions=%t/known -- %t/p child
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int counter, noise;
static atomic_int stop;

static void *add(void *unused)
{
    for (int i = 0; i < 5; i++) {
        int value = counter;
        __asm__ volatile("" : "+r"(value)); /* two accesses, also by gcc 16 */
        counter = value + 1;
    }
    return unused;
}

static int race(void)
{
    pthread_t a, b;
    counter = 0;
    pthread_create(&a, NULL, add, NULL), pthread_create(&b, NULL, add, NULL);
    pthread_join(a, NULL), pthread_join(b, NULL);
    return counter;
}

static void *go_on(void *unused)
{
    while (!stop)
        noise++, sched_yield();
    return unused;
}

int main(int argc, char **argv)
{
    bool only_child = argc > 1 && !strcmp(argv[1], "child");
    pthread_t busy;
    int status;
    pthread_create(&busy, NULL, go_on, NULL);
    if (!only_child)
        race();
    pid_t child = fork();
    if (!child)
        _exit(race());
    int left = only_child ? 0 : race();
    waitpid(child, &status, 0);
    stop = 1;
    pthread_join(busy, NULL);
    printf("parent %d, child %d\n", left, WEXITSTATUS(status));
    return !WIFEXITED(status);
}
