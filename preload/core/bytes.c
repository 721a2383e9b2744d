/* libc's functions of memory and strings, for libpct.so alone. A program may bring its own, as those do that a
 * sanitizer is linked into: these look at what they are given, count as the program's, or stand in code that is just
 * being patched. What the compiler makes calls of comes here, too: nothing of this leaves the library. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Two pieces of a size may overlap: one from the start, one that ends at the end. */
#define BY_PIECES(type)                                                                                                \
    do {                                                                                                               \
        type first, last;                                                                                              \
        __builtin_memcpy(&first, from, sizeof first);                                                                  \
        __builtin_memcpy(&last, (const char *)from + size - sizeof last, sizeof last);                                 \
        __builtin_memcpy(to, &first, sizeof first);                                                                    \
        __builtin_memcpy((char *)to + size - sizeof last, &last, sizeof last);                                         \
        return to;                                                                                                     \
    } while (0)

void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
    void *at = to;
    if (size >= 16 || !size) {
        __asm__ volatile("rep movsb" : "+D"(at), "+S"(from), "+c"(size) : : "memory");
        return to;
    }
    if (size >= sizeof(uint64_t))
        BY_PIECES(uint64_t);
    if (size >= sizeof(uint32_t))
        BY_PIECES(uint32_t);
    if (size >= sizeof(uint16_t))
        BY_PIECES(uint16_t);
    *(char *)to = *(const char *)from;
    return to;
}

void *memmove(void *to, const void *from, size_t size)
{
    if ((uintptr_t)to - (uintptr_t)from >= size)
        return memcpy(to, from, size);
    for (char *at = to; size--;)
        at[size] = ((const char *)from)[size];
    return to;
}

void *memset(void *to, int byte, size_t size)
{
    void *at = to;
    __asm__ volatile("rep stosb" : "+D"(at), "+c"(size) : "a"(byte) : "memory");
    return to;
}

int memcmp(const void *one, const void *other, size_t size)
{
    const unsigned char *a = one, *b = other;
    for (uint64_t x, y; size >= sizeof x; a += sizeof x, b += sizeof y, size -= sizeof x) {
        __builtin_memcpy(&x, a, sizeof x);
        __builtin_memcpy(&y, b, sizeof y);
        if (x != y)
            break;
    }
    for (; size; a++, b++, size--)
        if (*a != *b)
            return *a - *b;
    return 0;
}

size_t strlen(const char *text)
{
    const char *at = text;
    while (*at)
        at++;
    return (size_t)(at - text);
}

int strncmp(const char *one, const char *other, size_t size)
{
    for (; size; one++, other++, size--)
        if (*one != *other || !*one)
            return (unsigned char)*one - (unsigned char)*other;
    return 0;
}

int strcmp(const char *one, const char *other)
{
    return strncmp(one, other, SIZE_MAX);
}

char *strchr(const char *text, int wanted)
{
    while (*text != (char)wanted)
        if (!*text++)
            return NULL;
    return (char *)text;
}

char *strrchr(const char *text, int wanted)
{
    const char *last = NULL;
    do
        last = *text == (char)wanted ? text : last;
    while (*text++);
    return (char *)last;
}

size_t strcspn(const char *text, const char *ends)
{
    const char *at = text;
    while (*at && !strchr(ends, *at))
        at++;
    return (size_t)(at - text);
}
