/* Names as their programmers wrote them: see demangle.h. */
#include "demangle.h"
#include <libiberty/demangle.h>
#include <stddef.h>

char *pct_demangle(const char *symbol)
{
    if (symbol[0] != '_')
        return NULL;
    /* Symbols of Rust's older kind are well-formed ones of C++, too. */
    char *plain = rust_demangle(symbol, DMGL_NO_OPTS);
    return plain || symbol[1] != 'Z' ? plain : cplus_demangle_v3(symbol, DMGL_PARAMS);
}
