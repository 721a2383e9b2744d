/* The variables of the environment: see config.h. */
#include "config.h"
#include "text.h"

const char *pct_config_unknown_variable(const char *variable)
{
#define NAME(name, value, help) #name,
    static const char *const names[] = { PCT_VARIABLES(NAME) };
#undef NAME
    const size_t count = sizeof names / sizeof names[0];
    for (size_t i = 0; i < count; i++)
        if (pct_text_same(variable, names[i]))
            return NULL;
    const char *closest = pct_text_closest(variable, names, count);
    return closest ? closest : "";
}
