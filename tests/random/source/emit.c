/* Prints random correct programs as source code: emit.h says what they are.
 *     random-source [--cxx] [--only EVENT,...] [--mutant] SEED...
 * In C, or in C++20. The file's main() takes [--closed] [--expect RESULT] SEED, one of these, runs that program and
 * prints what it has computed, the same in each run. --only leaves the other events out; --mutant leaves one lock out
 * in one thread, so that there is a race. */
#include "emit.h"
#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_THREADS = 5, MOST_EVENTS = 10, MOST_LOCKS = 3 };

struct event {
    const struct pattern_row *row;
    unsigned number, parties, rounds, constant, lock, party[MOST_THREADS], depth[MOST_THREADS], inlining[MOST_THREADS];
};

static struct {
    unsigned long seed;
    bool cxx, mutant;
    unsigned threads, events, unlocked; /* the event whose last party forgets the lock */
    struct event event[MOST_EVENTS];
    const struct lock_row *lock[MOST_LOCKS];
} program;

/* splitmix64 */
static unsigned draw(uint64_t *place, unsigned below)
{
    uint64_t x = *place += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    x ^= x >> 31;
    return (unsigned)((x >> 32) * below >> 32);
}

/* --- Drawing ----------------------------------------------------------------------------------------------------- */

static const struct lock_row *draw_lock(unsigned need, uint64_t *place)
{
    const struct lock_row *fit[64] = { lock_rows };
    unsigned count = 0;
    for (const struct lock_row *row = lock_rows; row->name; row++)
        if ((row->flags & need) == need && (program.cxx || !(row->flags & CXX)))
            fit[count++] = row;
    return fit[draw(place, count)];
}

static const struct pattern_row *draw_pattern(uint64_t *place)
{
    const struct pattern_row *fit[128] = { pattern_rows };
    unsigned count = 0;
    for (const struct pattern_row *row = pattern_rows; row->name; row++)
        if (row->least <= program.threads)
            fit[count++] = row;
    for (const struct pattern_row *row = pattern_rows_cxx; program.cxx && row->name; row++)
        if (row->least <= program.threads)
            fit[count++] = row;
    return fit[draw(place, count)];
}

static void draw_parties(struct event *event, uint64_t *place)
{
    unsigned order[MOST_THREADS];
    unsigned most = event->row->most < program.threads ? event->row->most : program.threads;
    event->parties = event->row->least + draw(place, most - event->row->least + 1);
    for (unsigned i = 0; i < program.threads; i++) {
        unsigned at = draw(place, i + 1);
        order[i] = order[at];
        order[at] = i;
    }
    for (unsigned i = 0; i < program.threads; i++) {
        event->party[i] = order[i];
        event->depth[i] = draw(place, 3) ? 0 : 1 + draw(place, 3);
        event->inlining[i] = draw(place, 3);
    }
}

/* The first lock is one for readers, too. */
static void draw_program(unsigned long seed)
{
    uint64_t place = seed * UINT64_C(0x2545f4914f6cdd1d) + 7;
    program.seed = seed;
    program.threads = 2 + draw(&place, MOST_THREADS - 1);
    program.events = 2 + draw(&place, MOST_EVENTS - 1);
    for (unsigned i = 0; i < MOST_LOCKS; i++)
        program.lock[i] = draw_lock(i ? 0 : SHARES, &place);
    program.unlocked = draw(&place, program.events);
    for (unsigned i = 0; i < program.events; i++) {
        struct event *event = &program.event[i];
        event->number = i;
        event->row = draw_pattern(&place);
        if (program.mutant && i == program.unlocked)
            event->row = pattern_rows; /* critical sections */
        event->rounds = 1 + draw(&place, 4);
        event->constant = 1 + draw(&place, 99);
        event->lock = event->row->flags & SHARES ? 0 : draw(&place, MOST_LOCKS);
        draw_parties(event, &place);
        if (program.mutant && i == program.unlocked && event->parties < 2)
            event->parties = 2;
    }
}

/* LIST: the numbers of the events that stay, with commas between. */
static void keep(const char *list)
{
    bool stays[MOST_EVENTS] = { false };
    while (*list) {
        char *end;
        unsigned long number = strtoul(list, &end, 10);
        if (end == list || number >= program.events)
            exit(2);
        stays[number] = true;
        list = end + (*end == ',');
    }
    for (unsigned i = 0; i < program.events; i++)
        if (!stays[i])
            program.event[i].row = NULL;
}

/* --- Printing ---------------------------------------------------------------------------------------------------- */

static void print_lock_text(const char *text, unsigned lock)
{
    for (; text && *text; text++)
        if (*text == '$')
            printf("p%lu_l%u_", program.seed, lock);
        else
            putchar(*text);
}

static void print_lock(char what, const struct event *event, unsigned role)
{
    const struct lock_row *row = program.lock[event->lock];
    if (program.mutant && event->number == program.unlocked && role == event->parties - 1)
        printf("/* no lock: a race */");
    else
        print_lock_text(what == 'L'   ? row->take
                        : what == 'U' ? row->give
                        : what == 'S' ? row->shared
                                      : row->unshared,
                        event->lock);
}

static void print_text(const char *text, const struct event *event, unsigned role)
{
    for (; text && *text; text++)
        if (*text == '$')
            printf("p%lu_e%u_", program.seed, event->number);
        else if (*text != '@')
            putchar(*text);
        else if (*++text == 'N' || *text == 'K' || *text == 'C' || *text == 'R')
            printf("%u", *text == 'N'   ? event->parties
                         : *text == 'K' ? event->rounds
                         : *text == 'C' ? event->constant
                                        : role);
        else
            print_lock(*text, event, role);
}

/* The function of a party, which may be inlined or may stand under frames of its own. */
static void print_role(const struct event *event, unsigned role)
{
    static const char *const inlinings[] = { "", "__attribute__((noinline)) ",
                                             "inline __attribute__((always_inline)) " };
    printf("static %slong p%lu_e%u_role%u(void)\n{\n", inlinings[event->inlining[role]], program.seed, event->number,
           role);
    print_text(role && event->row->others ? event->row->others : event->row->first, event, role);
    printf("}\n");
    if (event->depth[role])
        printf("static __attribute__((noinline)) long p%lu_e%u_deep%u(int depth)\n{\n    volatile char room[%u];\n"
               "    room[depth] = 1;\n    return depth ? p%lu_e%u_deep%u(depth - 1) + !room[depth] : "
               "p%lu_e%u_role%u();\n}\n",
               program.seed, event->number, role, 64 * event->depth[role], program.seed, event->number, role,
               program.seed, event->number, role);
}

static void print_thread(unsigned thread)
{
    printf("static void *p%lu_thread%u(void *sum)\n{\n    long total = 0;\n", program.seed, thread);
    for (unsigned i = 0; i < program.events; i++)
        for (unsigned role = 0; program.event[i].row && role < program.event[i].parties; role++) {
            const struct event *event = &program.event[i];
            if (event->party[role] != thread)
                continue;
            printf("    total = total * 31 + p%lu_e%u_", program.seed, i);
            if (event->depth[role])
                printf("deep%u(%u);\n", role, event->depth[role]);
            else
                printf("role%u();\n", role);
        }
    printf("    *(long *)sum = total;\n    return NULL;\n}\n");
}

static void print_main(void)
{
    unsigned long seed = program.seed;
    printf("static unsigned long p%lu_main(void)\n{\n    unsigned long result = %lu;\n    pthread_t thread[%u];\n    "
           "long sum[%u];\n",
           seed, seed, program.threads, program.threads);
    for (unsigned i = 0; i < MOST_LOCKS; i++)
        if (program.lock[i]->start) {
            printf("    {\n        ");
            print_lock_text(program.lock[i]->start, i);
            printf("\n    }\n");
        }
    for (unsigned i = 0; i < program.events; i++)
        if (program.event[i].row && program.event[i].row->start) {
            printf("    ");
            print_text(program.event[i].row->start, &program.event[i], 0);
            putchar('\n');
        }
    for (unsigned i = 1; i < program.threads; i++)
        printf("    CHECK(!pthread_create(&thread[%u], NULL, p%lu_thread%u, &sum[%u]));\n", i, seed, i, i);
    printf("    p%lu_thread0(&sum[0]);\n", seed);
    for (unsigned i = 1; i < program.threads; i++)
        printf("    CHECK(!pthread_join(thread[%u], NULL));\n", i);
    printf("    (void)thread;\n    for (int i = 0; i < %u; i++)\n        result = result * 1000003 + (unsigned "
           "long)sum[i];\n",
           program.threads);
    for (unsigned i = 0; i < program.events; i++)
        if (program.event[i].row && program.event[i].row->result) {
            printf("    result = result * 1000003 + (unsigned long)(");
            print_text(program.event[i].row->result, &program.event[i], 0);
            printf(");\n");
        }
    for (unsigned i = 0; i < MOST_LOCKS; i++)
        if (program.lock[i]->end) {
            printf("    ");
            print_lock_text(program.lock[i]->end, i);
            putchar('\n');
        }
    printf("    return result;\n}\n\n");
}

static void print_program(void)
{
    printf("/* seed %lu: %u threads\n", program.seed, program.threads);
    for (unsigned i = 0; i < program.events; i++)
        if (program.event[i].row)
            printf("event %u: %s, %u parties, %u rounds%s%s\n", i, program.event[i].row->name, program.event[i].parties,
                   program.event[i].rounds, program.event[i].row->flags & (LOCKS | SHARES) ? ", " : "",
                   program.event[i].row->flags & (LOCKS | SHARES) ? program.lock[program.event[i].lock]->name : "");
    printf("*/\n");
    for (unsigned i = 0; i < MOST_LOCKS; i++) {
        print_lock_text(program.lock[i]->declare, i);
        putchar('\n');
    }
    for (unsigned i = 0; i < program.events; i++) {
        const struct event *event = &program.event[i];
        if (!event->row)
            continue;
        print_text(event->row->declare, event, 0);
        putchar('\n');
        for (unsigned role = 0; role < event->parties; role++)
            print_role(event, role);
    }
    for (unsigned i = 0; i < program.threads; i++)
        print_thread(i);
    print_main();
}

static void print_entry(char **seeds)
{
    puts("int main(int argc, char **argv)\n{\n    const char *expected = NULL;\n    unsigned long seed, result;\n    "
         "int at = 1;\n    char text[32];\n"
         "    signal(SIGUSR1, handle);\n"
         "    for (; at + 1 < argc; at++)\n        if (!strcmp(argv[at], \"--expect\"))\n            expected = "
         "argv[++at];\n"
         "    seed = at < argc ? strtoul(argv[at], NULL, 10) : 0;\n    switch (seed) {");
    for (; *seeds; seeds++)
        printf("    case %s:\n        result = p%s_main();\n        break;\n", *seeds, *seeds);
    puts("    default:\n        return 2;\n    }\n    snprintf(text, sizeof text, \"%016lx\", result);\n"
         "    CHECK(!expected || !strcmp(text, expected));\n    puts(text);\n    return 0;\n}");
}

int main(int argc, char **argv)
{
    const char *only = NULL;
    int at = 1;
    for (; at < argc && argv[at][0] == '-'; at++)
        if (!strcmp(argv[at], "--cxx"))
            program.cxx = true;
        else if (!strcmp(argv[at], "--mutant"))
            program.mutant = true;
        else if (!strcmp(argv[at], "--only") && at + 1 < argc)
            only = argv[++at];
        else
            argc = 0;
    for (int i = at; i < argc; i++)
        if (!isdigit((unsigned char)argv[i][0]))
            argc = 0;
    if (at >= argc) {
        fprintf(stderr, "usage: %s [--cxx] [--only EVENT,...] [--mutant] SEED...\n", argv[0]);
        return 2;
    }
    printf("%s%s\n", prelude, program.cxx ? prelude_cxx : prelude_c);
    for (int i = at; i < argc; i++) {
        draw_program(strtoul(argv[i], NULL, 10));
        if (only)
            keep(only);
        print_program();
    }
    print_entry(argv + at);
    return 0;
}
