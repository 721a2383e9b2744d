/* A bug between two accesses to the heap, in a program that nobody has rebuilt and without any option: no global is
 * accessed out of order, so --memory=globals would not show it. From the 17th run on, one run in four has --memory=all.
 * None has where a lock orders the accesses (`locked`), where a run has more than 10,000 of them (`accesses`), or more
 * than 1,000 points (`points`).
 *
 * BUILD: gcc -O1 -g -pthread -o %p %s
 * RUN 134: pct run -q -s 1 -n 400 --state none -- %p
 * RUN: pct run -s 1 -n 400 --explore=0 --state none -- %p > %t/out 2>&1;
 *     [ $(grep -c 'memory that calls do not order.*(--memory=all: all have' %t/out) = 1 ] &&
 *     token=$(grep -o -m 1 'pct1:[^ ]*,memory=all[^ ]*[0-9a-f]' %t/out) &&
 *     { pct replay -q "$token" -- %p > /dev/null 2>&1; [ $? = 134 ]; }
 * RUN: for how in locked accesses points; do pct run -s 3 -n 130 --state none -- %p $how > %t/out 2>&1;
 *     ! grep -e 'do not order' -e 'other scheduling points' %t/out || exit 1; done
 *
 * A campaign in two parts has the same runs as one in one part; and its guarantee counts only those with points at
 * calls.
 * RUN: for explore in ${FULL:+--explore=0} -q;
 *     do rm -f %t/1 %t/2; for j in 1 2; do for n in 40 160; do [ $j$n = 240 ] ||
 *     pct campaign -q $explore -s 1 --epoch 1 -n $n -j $j --db %t/$j -- %p > /dev/null 2>&1; done;
 *     pct campaign report --format json %t/$j | grep -e token -e identical > %t/$j.out; done;
 *     case $explore in -q) grep time=still %t/1.out;; *) grep memory=all, %t/1.out;; esac &&
 *     diff %t/1.out %t/2.out || exit 1; done
 *
 * What was explored in a session of an earlier version, which it did not end, is a finding, too.
 * RUN: pct campaign -q -s 1 --epoch 1 -n 40 --db %t/e -- %p > /dev/null 2>&1;
 *     python3 -c 'import sqlite3; file = sqlite3.connect("%t/e"); file.execute("delete from frames");
 *     file.execute("delete from findings"); file.commit()' &&
 *     ! { pct campaign report %t/e || :; } | grep pct1: || exit 1;
 *     pct campaign -q -s 1 --epoch 1 -n 42 --db %t/e -- %p > /dev/null 2>&1; [ $? = 1 ] &&
 *     { pct campaign report %t/e || :; } | grep time=still
 * RUN: pct run -s 1 -n 140 --state none -- %p waits > %t/out 2>&1;
 *     grep -q 'of these runs had other scheduling points' %t/out
 */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct account {
    pthread_mutex_t lock;
    volatile int balance;
    volatile int history[1024];
};

static const char *how = "";

static void *pay(void *argument)
{
    struct account *account = argument;
    const char *way = how;
    if (!strcmp(way, "locked"))
        pthread_mutex_lock(&account->lock);
    account->balance = account->balance + 1;
    if (!strcmp(way, "locked"))
        pthread_mutex_unlock(&account->lock);
    for (int i = 0; i < 1000 && !strcmp(way, "points"); i++)
        account->balance = account->balance + 0;
    volatile int *own = malloc(sizeof account->history);
    for (int i = 0; i < 10000 && !strcmp(way, "accesses"); i++)
        own[1000] = 1;
    free((void *)own);
    return NULL;
}

int main(int argc, char **argv)
{
    struct account *account = calloc(1, sizeof *account);
    pthread_t threads[2];
    how = argc > 1 ? argv[1] : "";
    pthread_mutex_init(&account->lock, NULL);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, pay, account);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(account->balance == 2 || argc > 1);
    free(account);
    return 0;
}
