/* Functions of libc that read and write memory for their caller, of which that is told: calls of code that pct-cc
 * compiles (runtime/), and those of patched modules (preload/memory/strings.c). */
#ifndef PCT_PATCH_STRINGS_H
#define PCT_PATCH_STRINGS_H

/* scripts/pct-cc keeps compilers from making instructions of their own of those that they know. */
#define PCT_STRINGS(X)                                                                                                 \
    X(memcpy)                                                                                                          \
    X(mempcpy)                                                                                                         \
    X(memmove)                                                                                                         \
    X(memset)                                                                                                          \
    X(bcopy)                                                                                                           \
    X(bzero)                                                                                                           \
    X(explicit_bzero)                                                                                                  \
    X(memcmp)                                                                                                          \
    X(bcmp)                                                                                                            \
    X(memchr)                                                                                                          \
    X(memrchr)                                                                                                         \
    X(rawmemchr)                                                                                                       \
    X(strlen)                                                                                                          \
    X(strnlen)                                                                                                         \
    X(strcpy)                                                                                                          \
    X(stpcpy)                                                                                                          \
    X(strncpy)                                                                                                         \
    X(stpncpy)                                                                                                         \
    X(strcat)                                                                                                          \
    X(strncat)                                                                                                         \
    X(strcmp)                                                                                                          \
    X(strncmp)                                                                                                         \
    X(strcasecmp)                                                                                                      \
    X(strncasecmp)                                                                                                     \
    X(strchr)                                                                                                          \
    X(strrchr)                                                                                                         \
    X(strchrnul)                                                                                                       \
    X(index)                                                                                                           \
    X(rindex)                                                                                                          \
    X(strstr)                                                                                                          \
    X(strspn)                                                                                                          \
    X(strcspn)                                                                                                         \
    X(strpbrk)                                                                                                         \
    X(strdup)                                                                                                          \
    X(strndup)                                                                                                         \
    X(sprintf)                                                                                                         \
    X(snprintf)                                                                                                        \
    X(vsprintf)                                                                                                        \
    X(vsnprintf)                                                                                                       \
    X(__memcpy_chk)                                                                                                    \
    X(__mempcpy_chk)                                                                                                   \
    X(__memmove_chk)                                                                                                   \
    X(__memset_chk)                                                                                                    \
    X(__explicit_bzero_chk)                                                                                            \
    X(__strcpy_chk)                                                                                                    \
    X(__stpcpy_chk)                                                                                                    \
    X(__strncpy_chk)                                                                                                   \
    X(__stpncpy_chk)                                                                                                   \
    X(__strcat_chk)                                                                                                    \
    X(__strncat_chk)                                                                                                   \
    X(__sprintf_chk)                                                                                                   \
    X(__snprintf_chk)                                                                                                  \
    X(__vsprintf_chk)                                                                                                  \
    X(__vsnprintf_chk)

/* Their numbers in plans (plan.h): a change of the list is one of PCT_PLAN_MAGIC. */
enum pct_string_function {
#define PCT_STRING_ENUM(name) PCT_STRING_##name,
    PCT_STRINGS(PCT_STRING_ENUM)
#undef PCT_STRING_ENUM
        PCT_STRINGS_COUNT
};

#endif
