// What libc reads and writes in memset, strcpy and their like was no access of a program built by pct-cc: two threads
// that race by them were "verified", and no race was seen. Here one thread calls the function that is named, on the
// first bytes of shared memory; the other writes to a byte among them (in), to one that it leaves alone (out), or to
// one among them with a mutex that both take (locked).
//
// And of programs that are only patched: they tell of calls by the linker's table (%p.plain, and with _FORTIFY_SOURCE).
//
// BUILD: pct-cc -O2 -g -pthread -o %p %s && gcc -O0 -g -fno-builtin -pthread -o %p.plain %s &&
//     gcc -O1 -g -fno-builtin -D_FORTIFY_SOURCE=2 -pthread -w -o %p.fortified %s
// RUN: for f in $(%p); do pct run -q -s 1 --races=fail --state none -- %p $f in > /dev/null 2>&1; [ $? = 118 ] ||
//     { echo "$f in"; exit 1; }; done
// RUN: for f in $(%p); do for where in ${FULL:+out} locked;
//     do pct run -q -s 1 --races=fail --state none -- %p $f $where || { echo "$f $where"; exit 1; }; done; done
// RUN: for f in $(%p); do pct explore -- %p $f in 2>&1 | grep 'verified .* all 2 classes' || { echo "$f in"; exit 1; };
//     done
// RUN: for f in ${FULL:+$(%p)}; do pct explore -- %p $f out 2>&1 | grep 'verified .* the only class' ||
//     { echo "$f out"; exit 1; }; done
// RUN: pct explore -- %p found in > %t/out 2>&1; grep 'found: 1 of all 2 classes' %t/out
// RUN: pct run -q -n 200 -s 1 --state none -- %p found in; [ $? = 3 ]
// RUN: pct run -q -s 1 -- %p all same && pct run -q -s 1 --races=report -- %p all same &&
//     pct explore -q --max-steps=200000 -- %p all same
// RUN: look() { pct explore --memory=all -- $1 $2 in > %t/out 2>&1; grep -q 'verified .* all 2 classes' %t/out ||
//     { echo "$*"; exit 1; }; }; for f in ${FULL:+$(%p)}; do look %p.plain $f; done;
//     for f in memset memcpy_to mempcpy_from memmove_to explicit_bzero str{,n}cpy_to stpcpy_to str{,n}cat_to
//     {,v}s{,n}printf; do look %p.plain $f; look %p.fortified $f; done
// RUN: for p in %p.plain %p.fortified; do for level in globals all;
//     do pct run -q -s 1 --memory=$level --races=report -- $p all same || exit; done; done
#define _GNU_SOURCE
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Far from each other's aligned eight bytes: [2] and [40]. */
static _Alignas(8) char shared[64] = "abcdef";
static _Alignas(8) char other[64] = "abcdefgh";
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static const char *where;
static int function;
static volatile size_t eight = 8, two = 2; /* the compiler knows no sizes */
static volatile int number = 1234567890;
static volatile long sink;

static int print(size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = size ? vsnprintf(shared, size, format, arguments) : vsprintf(shared, format, arguments);
    va_end(arguments);
    return length;
}

#define FUNCTIONS(X)                                                                                                   \
    X(memset_constant, memset(shared, 0, 24))                                                                          \
    X(memcpy_constant, memcpy(shared, other, 24))                                                                      \
    X(memset, memset(shared, 'x', eight))                                                                              \
    X(memcpy_to, memcpy(shared, other, eight))                                                                         \
    X(memcpy_from, memcpy(other, shared, eight))                                                                       \
    X(memmove_to, memmove(shared, other, eight))                                                                       \
    X(mempcpy_from, mempcpy(other, shared, eight))                                                                     \
    X(bcopy_to, (bcopy(other, shared, eight), 0))                                                                      \
    X(bzero, (bzero(shared, eight), 0))                                                                                \
    X(explicit_bzero, (explicit_bzero(shared, eight), 0))                                                              \
    X(memcmp_first, memcmp(shared, other, eight))                                                                      \
    X(memcmp_second, memcmp(other, shared, eight))                                                                     \
    X(memchr, memchr(shared, 'z', eight))                                                                              \
    X(memrchr, memrchr(shared, 'z', eight))                                                                            \
    X(strlen, strlen(shared))                                                                                          \
    X(strnlen, strnlen(shared, eight))                                                                                 \
    X(strcpy_to, strcpy(shared, other))                                                                                \
    X(strcpy_from, strcpy(other, shared))                                                                              \
    X(stpcpy_to, stpcpy(shared, other))                                                                                \
    X(strncpy_to, strncpy(shared, other, eight))                                                                       \
    X(strncpy_from, strncpy(other, shared, eight))                                                                     \
    X(strcat_to, strcat(shared, other))                                                                                \
    X(strcat_from, strcat(other, shared))                                                                              \
    X(strncat_to, strncat(shared, other, two))                                                                         \
    X(strcmp, strcmp(shared, other))                                                                                   \
    X(strcmp_constant, strcmp("abcdef", shared))                                                                       \
    X(strncmp, strncmp(other, shared, eight))                                                                          \
    X(strcasecmp, strcasecmp(shared, "ABCDEFG"))                                                                       \
    X(strncasecmp, strncasecmp(shared, "ABCDEFG", eight))                                                              \
    X(strchr, strchr(shared, 'z'))                                                                                     \
    X(strrchr, strrchr(shared, 'a'))                                                                                   \
    X(strchrnul, strchrnul(shared, 'z'))                                                                               \
    X(index, index(shared, 'z'))                                                                                       \
    X(strstr, strstr(shared, "def"))                                                                                   \
    X(strspn, strspn(shared, "fedcba"))                                                                                \
    X(strcspn, strcspn(shared, "z"))                                                                                   \
    X(strpbrk, strpbrk(shared, "z"))                                                                                   \
    X(strdup, strlen(strdup(shared)))                                                                                  \
    X(strndup, strlen(strndup(shared, eight)))                                                                         \
    X(sprintf, sprintf(shared, "%d", number))                                                                          \
    X(snprintf, snprintf(shared, eight, "%d", number))                                                                 \
    X(vsprintf, print(0, "%d", number))                                                                                \
    X(vsnprintf, print(eight, "%d", number))

enum function {
#define NUMBER(name, expression) OF_##name,
    FUNCTIONS(NUMBER) COUNT,
    FOUND,
    ALL
};

static const char *const names[] = {
#define NAME(name, expression) #name,
    FUNCTIONS(NAME)
};

static long call(enum function number)
{
    switch (number) {
#define CASE(name, expression)                                                                                         \
    case OF_##name:                                                                                                    \
        return (long)(expression);
        FUNCTIONS(CASE)
    case FOUND:
        return (long)memset(shared, 'x', 24);
    default:
        return 0;
    }
}

static void *use(void *unused)
{
    if (*where == 'l')
        pthread_mutex_lock(&mutex);
    sink = call((enum function)function);
    if (*where == 'l')
        pthread_mutex_unlock(&mutex);
    return unused;
}

/* What each returns, and leaves behind. */
struct result {
    long value;
    char shared[64], other[64];
};

static void call_all(struct result *results)
{
    for (int i = 0; i < COUNT; i++) {
        struct result *r = &results[i];
        for (int j = 0; j < 64; j++) {
            shared[j] = j < 6 ? (char)('a' + j) : 0;
            other[j] = j < 8 ? (char)('a' + j) : 0;
        }
        r->value = call((enum function)i);
        for (int j = 0; j < 64; j++) {
            r->shared[j] = shared[j];
            r->other[j] = other[j];
        }
    }
}

/* The same by a thread that is alone and by one that is not. */
static int compare(void)
{
    static struct result alone[COUNT], watched[COUNT];
    pthread_t thread;
    call_all(alone);
    pthread_mutex_lock(&mutex);
    pthread_create(&thread, NULL, use, NULL);
    call_all(watched);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
    for (int i = 0; i < COUNT; i++)
        for (size_t j = 0; j < 64; j++)
            if (alone[i].value != watched[i].value || alone[i].shared[j] != watched[i].shared[j] ||
                alone[i].other[j] != watched[i].other[j]) {
                fprintf(stderr, "%s\n", names[i]);
                return 1;
            }
    return 0;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    for (int i = 0; argc < 3 && i < COUNT; i++)
        puts(names[i]);
    if (argc < 3)
        return 0;
    function = !strcmp(argv[1], "found") ? FOUND : ALL;
    for (int i = 0; i < COUNT; i++)
        function = !strcmp(argv[1], names[i]) ? i : function;
    where = !strcmp(argv[1], "all") ? "locked" : argv[2];
    if (function == ALL)
        return compare();
    pthread_create(&thread, NULL, use, NULL);
    if (*where == 'l')
        pthread_mutex_lock(&mutex);
    char before = 0;
    if (function == FOUND)
        before = shared[2];
    else
        shared[*where == 'o' ? 40 : 2] = 'c';
    if (*where == 'l')
        pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
    return before == 'x' ? 3 : 0;
}
