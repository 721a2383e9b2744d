/* Calls of memcpy, strlen and their like (patch/strings.h) from code that does not tell of what libc reads and writes
 * in them: for each a function that tells, and calls libc's. Two include this, and define before it:
 *
 *     runtime/strings.c           programs by pct-cc come there by stubs that are linked into them
 *     preload/memory/strings.c    patched modules, by the linker's table
 *
 *     PLACE                       where all of its functions are
 *     CALLED(type, name, ...)     begins the function for this one
 *     LIBC(name)                  libc's own
 *     SEEN                        what the kind of each access is or'ed with
 *     IS_THERE(function)          whether memory.h's is
 *     wants_read(), wants_write() whether an access to what begins here is to be told of
 *     MOST_TOLD                   how many bytes of an access are told, at most
 *
 * A call is one access, in which all that it reads or writes is told. How far a string goes is known only behind the
 * scheduling point, so that is told there, with nothing in between. A copy is two accesses: it reads, and then writes.
 * In an explored run, what it has read by then is what it writes; elsewhere libc reads when it writes.
 *
 * Called by any thread, without or with the baton, in signal handlers, too. */
#include "memory.h"
#include <preload/core/sys.h>
#include <sched/memory.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>

/* --- What is told ------------------------------------------------------------------------------------------------- */

#define WATCHED __builtin_expect(pct_memory_view.active, 0)

/* How much is told of an access of this size. */
static PLACE size_t bounded(size_t size)
{
    const size_t most = MOST_TOLD;
    return size < most ? size : most;
}

/* Nobody but the thread has used any of it that would be told, and that is known here. */
static PLACE bool is_own(const void *at, size_t size)
{
    const uintptr_t from = (uintptr_t)at & ~(uintptr_t)7, to = (uintptr_t)at + bounded(size);
    void *const *quick = pct_memory_own.quick;
    if (!quick)
        return !WATCHED;
    for (uintptr_t place = from; place < to; place += 8)
        if (!pct_memory_marked(quick, place, pct_memory_own.mark))
            return false;
    return true;
}

static PLACE bool wants(const void *at, unsigned what)
{
    return what == PCT_MEMORY_WRITE ? wants_write(at) : wants_read(at);
}

static PLACE void point(const void *at, size_t size, unsigned what, const void *pc)
{
    if (size && WATCHED && wants(at, what) && !is_own(at, size))
        pct_memory_access(at, bounded(size), what | SEEN, pc);
}

static PLACE void reads(const void *at, size_t size, const void *pc)
{
    point(at, size, PCT_MEMORY_READ, pc);
}

static PLACE void writes(void *at, size_t size, const void *pc)
{
    point(at, size, PCT_MEMORY_WRITE, pc);
}

/* The access whose point has just been passed uses this, too. */
static PLACE void more(const void *at, size_t size, unsigned what, const void *pc)
{
    if (size && WATCHED && IS_THERE(pct_memory_more) && wants(at, what) && !is_own(at, size))
        pct_memory_more(at, bounded(size), what | SEEN, pc);
}

static PLACE void reads_more(const void *at, size_t size, const void *pc)
{
    more(at, size, PCT_MEMORY_READ, pc);
}

/* How much of a string is read: to its end, but no more than this. */
static PLACE size_t extent(const char *text, size_t most)
{
    size_t length = LIBC(strnlen)(text, most);
    return length < most ? length + 1 : most;
}

/* To where it was found; all, where it was not. */
static PLACE size_t up_to(const void *found, const void *from, size_t all)
{
    return found ? (size_t)((const char *)found - (const char *)from) + 1 : all;
}

static PLACE unsigned fold(char letter)
{
    unsigned value = (unsigned char)letter;
    return value - 'A' < 26 ? value | 0x20 : value;
}

/* How much of two strings is compared. */
static PLACE size_t compared(const char *a, const char *b, size_t most, bool folds)
{
    size_t i = 0;
    while (i < most && a[i] && (folds ? fold(a[i]) == fold(b[i]) : a[i] == b[i]))
        i++;
    return i < most ? i + 1 : most;
}

/* The run is one in which nothing may be read before its point, not even to see how far it goes. */
static PLACE bool is_explored(void)
{
    return IS_THERE(pct_memory_is_explored) && pct_memory_is_explored();
}

/* Reads from `from` on as far as `far` says, which depends on what stands there. */
#define READS(from, far)                                                                                               \
    do {                                                                                                               \
        if (!wants_read(from))                                                                                         \
            break;                                                                                                     \
        const size_t before = is_explored() ? 1 : (far);                                                               \
        reads(from, before, PC);                                                                                       \
        const size_t now = far;                                                                                        \
        if (now > before)                                                                                              \
            reads_more(from, now, PC);                                                                                 \
    } while (0)

/* The same of two places, which are read together: in an explored run that is one access. */
#define READS_BOTH(a, far, b, also)                                                                                    \
    do {                                                                                                               \
        if (!wants_read(a) && !wants_read(b))                                                                          \
            break;                                                                                                     \
        if (is_explored()) {                                                                                           \
            reads(wants_read(a) ? (a) : (b), 1, PC);                                                                   \
        } else {                                                                                                       \
            reads(a, far, PC);                                                                                         \
            reads(b, also, PC);                                                                                        \
        }                                                                                                              \
        reads_more(a, far, PC);                                                                                        \
        reads_more(b, also, PC);                                                                                       \
    } while (0)

/* What was read, to be written: NULL: it is where it was. */
struct held {
    char few[128];
    void *copy;
    size_t mapped;
};

/* Returns where it stands now. */
static PLACE const void *hold(struct held *held, const void *from, size_t size)
{
    held->mapped = 0;
    if (!size || !WATCHED || !is_explored())
        return from;
    held->copy = held->few;
    if (size > sizeof held->few) {
        long at = PCT_SYS6(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (at < 0 && at > -4096)
            return from;
        held->copy = (void *)at;
        held->mapped = size;
    }
    return LIBC(memcpy)(held->copy, from, size);
}

static PLACE void release(const struct held *held)
{
    if (held->mapped)
        PCT_SYS2(SYS_munmap, held->copy, held->mapped);
}

/* Of a function that programs call: where from. */
#define PC __builtin_return_address(0)

/* --- The functions ------------------------------------------------------------------------------------------------ */

/* Declared where a program is compiled with _FORTIFY_SOURCE. */
void *__memcpy_chk(void *to, const void *from, size_t size, size_t room);
void *__mempcpy_chk(void *to, const void *from, size_t size, size_t room);
void *__memmove_chk(void *to, const void *from, size_t size, size_t room);
void *__memset_chk(void *to, int byte, size_t size, size_t room);
void __explicit_bzero_chk(void *to, size_t size, size_t room);
char *__strcpy_chk(char *to, const char *from, size_t room);
char *__stpcpy_chk(char *to, const char *from, size_t room);
char *__strncpy_chk(char *to, const char *from, size_t size, size_t room);
char *__stpncpy_chk(char *to, const char *from, size_t size, size_t room);
char *__strcat_chk(char *to, const char *from, size_t room);
char *__strncat_chk(char *to, const char *from, size_t size, size_t room);

/* From `from` to `to`, both of this size; `call` copies from `source`. */
#define COPY(type, name, parameters, call)                                                                             \
    CALLED(type, name, PCT_UNPACK parameters)                                                                          \
    {                                                                                                                  \
        if (is_own(from, size) && is_own(to, size))                                                                    \
            return call(from);                                                                                         \
        struct held held;                                                                                              \
        reads(from, size, PC);                                                                                         \
        const void *source = hold(&held, from, size);                                                                  \
        writes(to, size, PC);                                                                                          \
        type result = call(source);                                                                                    \
        release(&held);                                                                                                \
        return result;                                                                                                 \
    }
#define PCT_UNPACK(...) __VA_ARGS__
#define MEMCPY(source) LIBC(memcpy)(to, source, size)
#define MEMPCPY(source) LIBC(mempcpy)(to, source, size)
#define MEMMOVE(source) LIBC(memmove)(to, source, size)
#define MEMCPY_CHK(source) LIBC(__memcpy_chk)(to, source, size, room)
#define MEMPCPY_CHK(source) LIBC(__mempcpy_chk)(to, source, size, room)
#define MEMMOVE_CHK(source) LIBC(__memmove_chk)(to, source, size, room)
COPY(void *, memcpy, (void *to, const void *from, size_t size), MEMCPY)
COPY(void *, mempcpy, (void *to, const void *from, size_t size), MEMPCPY)
COPY(void *, memmove, (void *to, const void *from, size_t size), MEMMOVE)
COPY(void *, __memcpy_chk, (void *to, const void *from, size_t size, size_t room), MEMCPY_CHK)
COPY(void *, __mempcpy_chk, (void *to, const void *from, size_t size, size_t room), MEMPCPY_CHK)
COPY(void *, __memmove_chk, (void *to, const void *from, size_t size, size_t room), MEMMOVE_CHK)

CALLED(void, bcopy, const void *from, void *to, size_t size)
{
    struct held held;
    reads(from, size, PC);
    const void *source = hold(&held, from, size);
    writes(to, size, PC);
    LIBC(memmove)(to, source, size);
    release(&held);
}

CALLED(void *, memset, void *to, int byte, size_t size)
{
    writes(to, size, PC);
    return LIBC(memset)(to, byte, size);
}

CALLED(void *, __memset_chk, void *to, int byte, size_t size, size_t room)
{
    writes(to, size, PC);
    return LIBC(__memset_chk)(to, byte, size, room);
}

CALLED(void, bzero, void *to, size_t size)
{
    writes(to, size, PC);
    LIBC(memset)(to, 0, size);
}

CALLED(void, explicit_bzero, void *to, size_t size)
{
    writes(to, size, PC);
    LIBC(explicit_bzero)(to, size);
}

CALLED(void, __explicit_bzero_chk, void *to, size_t size, size_t room)
{
    writes(to, size, PC);
    LIBC(__explicit_bzero_chk)(to, size, room);
}

#define COMPARE_MEMORY(name)                                                                                           \
    CALLED(int, name, const void *a, const void *b, size_t size)                                                       \
    {                                                                                                                  \
        if (WATCHED && size)                                                                                           \
            READS_BOTH(a, size, b, size);                                                                              \
        return LIBC(memcmp)(a, b, size);                                                                               \
    }
COMPARE_MEMORY(memcmp)
COMPARE_MEMORY(bcmp)

/* What searches in memory from `from` on: how far, if it is there. */
#define SEARCH(type, name, parameters, far, call)                                                                      \
    CALLED(type, name, PCT_UNPACK parameters)                                                                          \
    {                                                                                                                  \
        if (WATCHED)                                                                                                   \
            READS(from, far);                                                                                          \
        return call;                                                                                                   \
    }

CALLED(void *, memchr, const void *from, int byte, size_t size)
{
    if (WATCHED && size)
        READS(from, up_to(LIBC(memchr)(from, byte, size), from, size));
    return LIBC(memchr)(from, byte, size);
}

CALLED(void *, memrchr, const void *from, int byte, size_t size)
{
    reads(from, size, PC);
    return LIBC(memrchr)(from, byte, size);
}

SEARCH(void *, rawmemchr, (const void *from, int byte), up_to(LIBC(rawmemchr)(from, byte), from, 0),
       LIBC(rawmemchr)(from, byte))
SEARCH(char *, strchr, (const char *from, int byte), up_to(LIBC(strchr)(from, byte), from, LIBC(strlen)(from) + 1),
       LIBC(strchr)(from, byte))
SEARCH(char *, index, (const char *from, int byte), up_to(LIBC(strchr)(from, byte), from, LIBC(strlen)(from) + 1),
       LIBC(strchr)(from, byte))
SEARCH(char *, strchrnul, (const char *from, int byte), up_to(LIBC(strchrnul)(from, byte), from, 0),
       LIBC(strchrnul)(from, byte))
SEARCH(char *, strrchr, (const char *from, int byte), LIBC(strlen)(from) + 1, LIBC(strrchr)(from, byte))
SEARCH(char *, rindex, (const char *from, int byte), LIBC(strlen)(from) + 1, LIBC(strrchr)(from, byte))
SEARCH(size_t, strlen, (const char *from), LIBC(strlen)(from) + 1, LIBC(strlen)(from))
SEARCH(char *, strdup, (const char *from), LIBC(strlen)(from) + 1, LIBC(strdup)(from))

CALLED(size_t, strnlen, const char *from, size_t most)
{
    if (WATCHED && most)
        READS(from, extent(from, most));
    return LIBC(strnlen)(from, most);
}

CALLED(char *, strndup, const char *from, size_t most)
{
    if (WATCHED && most)
        READS(from, extent(from, most));
    return LIBC(strndup)(from, most);
}

/* `size` of two strings is compared. */
#define COMPARE(name, parameters, most, size, call)                                                                    \
    CALLED(int, name, PCT_UNPACK parameters)                                                                           \
    {                                                                                                                  \
        if (WATCHED && (most))                                                                                         \
            READS_BOTH(a, size, b, size);                                                                              \
        return call;                                                                                                   \
    }
COMPARE(strcmp, (const char *a, const char *b), 1, compared(a, b, SIZE_MAX, false), LIBC(strcmp)(a, b))
COMPARE(strcasecmp, (const char *a, const char *b), 1, compared(a, b, SIZE_MAX, true), LIBC(strcasecmp)(a, b))
COMPARE(strncmp, (const char *a, const char *b, size_t most), most, compared(a, b, most, false),
        LIBC(strncmp)(a, b, most))
COMPARE(strncasecmp, (const char *a, const char *b, size_t most), most, compared(a, b, most, true),
        LIBC(strncasecmp)(a, b, most))

/* What looks in a string for something that is in another one. */
#define LOOK(type, name, far)                                                                                          \
    CALLED(type, name, const char *from, const char *wanted)                                                           \
    {                                                                                                                  \
        if (WATCHED)                                                                                                   \
            READS_BOTH(from, far, wanted, LIBC(strlen)(wanted) + 1);                                                   \
        return LIBC(name)(from, wanted);                                                                               \
    }
LOOK(size_t, strspn, LIBC(strspn)(from, wanted) + 1)
LOOK(size_t, strcspn, LIBC(strcspn)(from, wanted) + 1)
LOOK(char *, strpbrk, LIBC(strcspn)(from, wanted) + 1)

static PLACE size_t looked_at(const char *from, const char *wanted)
{
    const char *found = LIBC(strstr)(from, wanted);
    return found ? (size_t)(found - from) + LIBC(strlen)(wanted) : LIBC(strlen)(from) + 1;
}
LOOK(char *, strstr, looked_at(from, wanted))

/* A string, of which no more than `most` is read, and `written` of the other one written. */
#define COPY_TEXT(name, parameters, most, written, call)                                                               \
    CALLED(char *, name, PCT_UNPACK parameters)                                                                        \
    {                                                                                                                  \
        if (!WATCHED || !(most))                                                                                       \
            return call(from);                                                                                         \
        struct held held;                                                                                              \
        READS(from, extent(from, most));                                                                               \
        size_t taken = extent(from, most);                                                                             \
        const char *source = hold(&held, from, taken);                                                                 \
        writes(to, written, PC);                                                                                       \
        char *result = call(source);                                                                                   \
        release(&held);                                                                                                \
        return result;                                                                                                 \
    }
#define STRCPY(source) LIBC(strcpy)(to, source)
#define STPCPY(source) LIBC(stpcpy)(to, source)
#define STRNCPY(source) LIBC(strncpy)(to, source, size)
#define STPNCPY(source) LIBC(stpncpy)(to, source, size)
#define STRCPY_CHK(source) LIBC(__strcpy_chk)(to, source, room)
#define STPCPY_CHK(source) LIBC(__stpcpy_chk)(to, source, room)
#define STRNCPY_CHK(source) LIBC(__strncpy_chk)(to, source, size, room)
#define STPNCPY_CHK(source) LIBC(__stpncpy_chk)(to, source, size, room)
COPY_TEXT(strcpy, (char *to, const char *from), SIZE_MAX, taken, STRCPY)
COPY_TEXT(stpcpy, (char *to, const char *from), SIZE_MAX, taken, STPCPY)
COPY_TEXT(strncpy, (char *to, const char *from, size_t size), size, size, STRNCPY)
COPY_TEXT(stpncpy, (char *to, const char *from, size_t size), size, size, STPNCPY)
COPY_TEXT(__strcpy_chk, (char *to, const char *from, size_t room), SIZE_MAX, taken, STRCPY_CHK)
COPY_TEXT(__stpcpy_chk, (char *to, const char *from, size_t room), SIZE_MAX, taken, STPCPY_CHK)
COPY_TEXT(__strncpy_chk, (char *to, const char *from, size_t size, size_t room), size, size, STRNCPY_CHK)
COPY_TEXT(__stpncpy_chk, (char *to, const char *from, size_t size, size_t room), size, size, STPNCPY_CHK)

/* A string behind another one, whose end is looked for when it is written. */
#define APPEND(name, parameters, most, call)                                                                           \
    CALLED(char *, name, PCT_UNPACK parameters)                                                                        \
    {                                                                                                                  \
        if (!WATCHED || !(most))                                                                                       \
            return call(from);                                                                                         \
        struct held held;                                                                                              \
        READS(from, extent(from, most));                                                                               \
        size_t taken = LIBC(strnlen)(from, most);                                                                      \
        const char *source = hold(&held, from, extent(from, most));                                                    \
        READS(to, LIBC(strlen)(to) + 1);                                                                               \
        size_t length = LIBC(strlen)(to);                                                                              \
        more(to + length, taken + 1, PCT_MEMORY_WRITE, PC);                                                            \
        char *result = call(source);                                                                                   \
        release(&held);                                                                                                \
        return result;                                                                                                 \
    }
#define STRCAT(source) LIBC(strcat)(to, source)
#define STRNCAT(source) LIBC(strncat)(to, source, size)
#define STRCAT_CHK(source) LIBC(__strcat_chk)(to, source, room)
#define STRNCAT_CHK(source) LIBC(__strncat_chk)(to, source, size, room)
APPEND(strcat, (char *to, const char *from), SIZE_MAX, STRCAT)
APPEND(strncat, (char *to, const char *from, size_t size), size, STRNCAT)
APPEND(__strcat_chk, (char *to, const char *from, size_t room), SIZE_MAX, STRCAT_CHK)
APPEND(__strncat_chk, (char *to, const char *from, size_t size, size_t room), size, STRNCAT_CHK)

int __vsprintf_chk(char *to, int flag, size_t room, const char *format, va_list arguments);
int __vsnprintf_chk(char *to, size_t size, int flag, size_t room, const char *format, va_list arguments);

/* Behind the call that has printed this many letters, or would have: what it has written. */
static PLACE int printed(char *to, size_t size, int length, const void *pc)
{
    if (length >= 0 && size)
        more(to, (size_t)length < size ? (size_t)length + 1 : size, PCT_MEMORY_WRITE, pc);
    return length;
}

/* Of at most `size` bytes that are printed, how many is known only behind that. What of the arguments is read is not
 * told. */
#define PRINT(name, size, parameters, call)                                                                            \
    CALLED(int, name, PCT_UNPACK parameters)                                                                           \
    {                                                                                                                  \
        writes(to, (size) > 0, PC);                                                                                    \
        return printed(to, size, call, PC);                                                                            \
    }
#define PRINT_THESE(name, size, parameters, call)                                                                      \
    CALLED(int, name, PCT_UNPACK parameters, ...)                                                                      \
    {                                                                                                                  \
        va_list arguments;                                                                                             \
        writes(to, (size) > 0, PC);                                                                                    \
        va_start(arguments, format);                                                                                   \
        int length = call;                                                                                             \
        va_end(arguments);                                                                                             \
        return printed(to, size, length, PC);                                                                          \
    }
#define VSPRINTF_CHK LIBC(__vsprintf_chk)(to, flag, room, format, arguments)
#define VSNPRINTF_CHK LIBC(__vsnprintf_chk)(to, size, flag, room, format, arguments)
PRINT(vsprintf, SIZE_MAX, (char *to, const char *format, va_list arguments), LIBC(vsprintf)(to, format, arguments))
PRINT(vsnprintf, size, (char *to, size_t size, const char *format, va_list arguments),
      LIBC(vsnprintf)(to, size, format, arguments))
PRINT(__vsprintf_chk, SIZE_MAX, (char *to, int flag, size_t room, const char *format, va_list arguments), VSPRINTF_CHK)
PRINT(__vsnprintf_chk, size, (char *to, size_t size, int flag, size_t room, const char *format, va_list arguments),
      VSNPRINTF_CHK)
PRINT_THESE(sprintf, SIZE_MAX, (char *to, const char *format), LIBC(vsprintf)(to, format, arguments))
PRINT_THESE(snprintf, size, (char *to, size_t size, const char *format), LIBC(vsnprintf)(to, size, format, arguments))
PRINT_THESE(__sprintf_chk, SIZE_MAX, (char *to, int flag, size_t room, const char *format), VSPRINTF_CHK)
PRINT_THESE(__snprintf_chk, size, (char *to, size_t size, int flag, size_t room, const char *format), VSNPRINTF_CHK)
