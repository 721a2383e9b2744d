/* Random correct programs as source code, in C or C++20: what the generator's parts share. ../DESIGN.md says what they
 * are.
 *
 * A program is a list of events in one order for all of its threads, each with some of them as its parties; so nobody
 * waits in a circle. All data is plain, and ordered by what the event is about: there is no race. What an event adds to
 * the result does not depend on the schedule.
 *
 * Two tables of text: `struct lock_row` and `struct pattern_row`. In the text,
 *     $name   is `name` with the event (of a lock: the lock) before it,
 *     @N @K   are the numbers of parties and of rounds, @C is a number of the event, @R the party's, from 0,
 *     @L @U   take the event's lock and give it back, @S @V do so for readers: each pair in one block. */
#ifndef PCT_TESTS_RANDOM_SOURCE_EMIT_H
#define PCT_TESTS_RANDOM_SOURCE_EMIT_H

enum { CXX = 1, LOCKS = 2, SHARES = 4 };

struct lock_row {
    const char *name;
    unsigned flags; /* CXX; SHARES: has `shared` and `unshared` */
    const char *declare, *start, *take, *give, *shared, *unshared, *end;
};

struct pattern_row {
    const char *name;
    unsigned flags, least, most; /* CXX; LOCKS, SHARES: needs a lock, one of that kind; parties */
    const char *declare;         /* at file scope */
    const char *start;           /* main, before the threads are there */
    const char *first, *others;  /* a function's body: of party 0, and of the others (NULL: the same); returns long */
    const char *result;          /* main, when they are gone: an expression (NULL: 0) */
};

extern const struct lock_row lock_rows[];
extern const struct pattern_row pattern_rows[], pattern_rows_cxx[];
extern const char *const prelude, *const prelude_c, *const prelude_cxx;

#endif
