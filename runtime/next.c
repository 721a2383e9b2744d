/* The library's own functions: see next.h. */
#include "next.h"
#include <dlfcn.h>
#include <stddef.h>

void *pct_next(const char *name, const char *library, const void *caller)
{
    void *found = dlsym(RTLD_NEXT, name), *file;
    Dl_info info;
    if (!found && (file = dlopen(library, RTLD_LAZY | RTLD_NOLOAD)))
        found = dlsym(file, name);
    if (!found && dladdr(caller, &info) && (file = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD)))
        found = dlsym(file, name);
    return found;
}
