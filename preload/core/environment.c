/* What PCT_ENVIRONMENT=off leaves out of a trace: see environment.h. */
#include "environment.h"
#include <string.h>

/* The strings, one behind the other. */
static uintptr_t from, to;

void pct_environment_hide(char **environment)
{
    for (char **at = environment; at && *at; at++) {
        uintptr_t string = (uintptr_t)*at, end = string + strlen(*at);
        from = !from || string < from ? string : from;
        to = end > to ? end : to;
    }
}

void pct_environment_clean(void *copy, uintptr_t at, size_t size)
{
    /* Each string from its beginning: the copy may begin in the middle of one. */
    for (uintptr_t name = from; name < to; name += strlen((const char *)name) + 1) {
        const char *value = strchr((const char *)name, '=');
        for (uintptr_t c = (uintptr_t)value + 1; value && *(const char *)c; c++)
            if (c >= at && c < at + size)
                ((char *)copy)[c - at] = 'x';
    }
}
