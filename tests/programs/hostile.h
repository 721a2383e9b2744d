/* What hostile programs have in common: small work with threads, and a descriptor of their own on which they say what
 * came of it. */
#ifndef PCT_TESTS_HOSTILE_H
#define PCT_TESTS_HOSTILE_H

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int value; /* under lock */
static int rounds = 100;
static int said = 1; /* where the results go */

static void say(const char *what, long number)
{
    char line[128];
    int length = snprintf(line, sizeof line, "%s %ld\n", what, number);
    if (write(said, line, (size_t)length) != length)
        _exit(97);
}

__attribute__((noreturn)) static void fail(const char *what)
{
    say(what, errno);
    _exit(99);
}

/* --- The work: two threads take turns --- */

static void *take_turns(void *argument)
{
    int me = argument != NULL;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < rounds; i++) {
        while (value % 2 != me)
            pthread_cond_wait(&changed, &lock);
        value++;
        pthread_cond_signal(&changed);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

static pthread_t start(void *(*function)(void *), void *argument, const pthread_attr_t *attr)
{
    pthread_t thread;
    int error = pthread_create(&thread, attr, function, argument);
    if (error) {
        errno = error;
        fail("pthread_create");
    }
    return thread;
}

static void work(void)
{
    pthread_t one = start(take_turns, NULL, NULL), other = start(take_turns, &lock, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    say("turns", value);
    value = 0;
}

static void *crash(void *unused)
{
    *(volatile int *)16 = 1;
    return unused;
}

/* --- What the program is to do --- */

struct mode {
    const char *name;
    int (*function)(void);
};

static int run_mode(const struct mode *modes, size_t count, const char *name)
{
    for (size_t i = 0; name && i < count; i++)
        if (!strcmp(name, modes[i].name))
            return modes[i].function();
    puts("no such mode");
    return 98;
}

#endif
