// A sanitizer that has found something ends the process by a system call of its own. That was said to have "gone on
// after the last step", its token had no hash, and there were no stacks.
//
// BUILD: gcc -O1 -g -pthread -fsanitize=address -o %p %s &&
//     gcc -g -pthread -fsanitize=undefined -fno-sanitize-recover -o %p.ub %s
// RUN 1: pct run -n 50 -s 1 --state none -t %t/trace -- %p > %t/log 2>&1 && exit 9; grep 'went on after' %t/log &&
//     exit 9; grep -q ' in main\|  main  at' %t/log || exit 9; grep -q ':-:' %t/log && exit 9; pct report %t/trace |
//     grep -q 'a sanitizer ended' || exit 9; exit 1
// RUN: pct run -q -n 50 -s 1 --state none -t %t/trace -- %p; (pct replay %t/trace -- %p || true) 2>&1 |
//     grep "replayed identically"
// RUN 1: pct run -s 1 --state none -- %p.ub overflow > %t/log 2>&1; s=$?; grep 'went on after' %t/log && exit 9;
//     exit $s
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *memory;
static volatile int sum = 0x7fffffff;

static void *give_back(void *unused)
{
    pthread_mutex_lock(&lock);
    free(memory);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(int argc, char **argv)
{
    (void)argv;
    pthread_t thread;
    memory = malloc(10);
    memory[3] = 0;
    pthread_create(&thread, NULL, give_back, NULL);
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&lock);
        pthread_mutex_unlock(&lock);
    }
    pthread_mutex_lock(&lock);
    sum = sum + (argc > 1 ? 1 : -*(volatile char *)&memory[3]); /* it may have been given back */
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return 0;
}
