/* Functions of libc that read and write memory for their caller: what of them is told (strings.c), and that calls of
 * code compiled for us come there first (handlers.c). */
#ifndef PCT_RUNTIME_STRINGS_H
#define PCT_RUNTIME_STRINGS_H

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

/* What programs go on to in libpct-tsan.so, as plain.h says of its names. */
#define PCT_STRING_NAME(name) pct_tsan_##name##_1

#endif
