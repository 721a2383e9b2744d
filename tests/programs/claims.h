/* What the programs of tests/programs/claims share: claims.c, claims_time.c. Each has a table of programs with a
 * planted bug of known depth:
 *     claims NAME       ends with status 1 if the bug shows
 *     claims NAME safe  makes the same steps, and ends with status 0
 *     claims --list     NAME DEPTH SENTENCE OPTIONS, tabs between them: which sentence of the guarantee counts it:
 *                       order: of a bug of this depth; early: "if one of them has to end earlier"; nothing: none does;
 *                       options of pct run
 * A point is a step that does nothing else. Where the bug shows, everything is behind it that the fewest constraints
 * ask for, and it is found no sooner: so a wrong factor in the bound is seen. */
#ifndef PCT_TESTS_CLAIMS_H
#define PCT_TESTS_CLAIMS_H

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CLAIMS_THREADS = 8 };

static bool safe;
static volatile unsigned reached, flags;
static volatile bool hit;
static pthread_t threads[CLAIMS_THREADS];
static unsigned made;
static sem_t nothing, item;
static int ends[2]; /* of a pipe */

static void point(void)
{
    sem_post(&nothing);
}

/* The events of a chain come in the order of their numbers, or not. Each is at a point. */
static void event(unsigned number)
{
    point();
    if (reached == number)
        reached = number + 1;
}

static void start(void *run(void *))
{
    unsigned long number = ++made; /* main is 0 */
    if (pthread_create(&threads[number - 1], NULL, run, (void *)number))
        abort();
}

static void join_all(void)
{
    while (made)
        pthread_join(threads[--made], NULL);
}

struct program {
    const char *name;
    unsigned depth;
    const char *sentence;
    void (*run)(void);
    const char *options; /* of pct run */
};

/* The exit status of the process, if it comes back. */
static int run_program(const struct program *programs, size_t count, int argc, char **argv)
{
    for (const struct program *p = programs; p < programs + count; p++)
        if (argc == 2 && !strcmp(argv[1], "--list")) {
            printf("%s\t%u\t%s\t%s\n", p->name, p->depth, p->sentence, p->options);
        } else if (argc > 1 && !strcmp(argv[1], p->name)) {
            safe = argc == 3 && !strcmp(argv[2], "safe");
            sem_init(&nothing, 0, 0);
            sem_init(&item, 0, 0);
            if (pipe(ends))
                return 2;
            p->run();
            _exit(hit && !safe);
        }
    return argc == 2 && !strcmp(argv[1], "--list") ? 0 : 2;
}

#endif
