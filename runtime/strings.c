/* What libc does with memory for code that is compiled for us. Programs come here by stubs that are linked into them
 * (handlers.c). */
#include "strings.h"
#include "events.h"
#include "modules.h"

#define PLACE
#define CALLED(type, name, ...)                                                                                        \
    PCT_RUNTIME type PCT_STRING_NAME(name)(__VA_ARGS__);                                                               \
    PCT_RUNTIME type PCT_STRING_NAME(name)(__VA_ARGS__)
#define LIBC(name) (name) /* not a macro: glibc 2.43 has some that keep const */
#define SEEN 0
#define IS_THERE(function) (function)
#define MOST_TOLD SIZE_MAX

/* Where constants are, there is nothing to tell. */
static bool wants_read(const void *at)
{
    return !pct_module_is_constant(at);
}

static bool wants_write(const void *at)
{
    (void)at;
    return true;
}

#include <preload/memory/strings_calls.h>

/* What clang calls in the place of some of them. */
#define OTHER_NAME(name, of, ...)                                                                                      \
    PCT_RUNTIME void *name(__VA_ARGS__) __attribute__((alias(PCT_STRING_TEXT(PCT_STRING_NAME(of)))));
#define PCT_STRING_TEXT(name) PCT_STRING_TEXT_(name)
#define PCT_STRING_TEXT_(name) #name
OTHER_NAME(__tsan_memcpy, memcpy, void *to, const void *from, size_t size)
OTHER_NAME(__tsan_memmove, memmove, void *to, const void *from, size_t size)
OTHER_NAME(__tsan_memset, memset, void *to, int byte, size_t size)
