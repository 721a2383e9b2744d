/* Names as their programmers wrote them: see demangle.h. */
#include "demangle.h"
#include <libiberty/demangle.h>
#include <stddef.h>
#include <string.h>

char *pct_demangle(const char *symbol)
{
    if (symbol[0] != '_')
        return NULL;
    /* Symbols of Rust's older kind are well-formed ones of C++, too. */
    char *plain = rust_demangle(symbol, DMGL_NO_OPTS);
    return plain || symbol[1] != 'Z' ? plain : cplus_demangle_v3(symbol, DMGL_PARAMS);
}

static void replace(char *name, const char *is, const char *better)
{
    size_t was = strlen(is), length = strlen(better);
    for (char *at = strstr(name, is); at; at = strstr(at, is)) {
        char *behind = mempcpy(at, better, length);
        memmove(behind, at + was, strlen(at + was) + 1);
        at = behind;
    }
}

/* The end of the arguments that begin behind this "<". NULL: they have none. */
static char *end_of_arguments(char *at)
{
    for (unsigned open = 1; *at; at++) {
        open += *at == '<';
        open -= *at == '>';
        if (!open)
            return at + 1;
    }
    return NULL;
}

/* Leave out this argument, which has arguments itself, wherever it is not the first. */
static void leave_out(char *name, const char *begin)
{
    char *at = strstr(name, begin), *end = NULL;
    while (at && (end = end_of_arguments(at + strlen(begin)))) {
        /* A space stands between two ">". */
        end += end[0] == ' ' && end[1] == '>' && at > name && at[-1] != '>';
        memmove(at, end, strlen(end) + 1);
        at = strstr(at, begin);
    }
}

void pct_demangle_shorten(char *name)
{
    static const char *const defaults[] = { ", std::char_traits<", ", std::allocator<", ", std::default_delete<",
                                            ", std::less<",        ", std::hash<",      ", std::equal_to<" };
    replace(name, "[abi:cxx11]", "");
    replace(name, "std::__cxx11::", "std::");
    replace(name, "std::__1::", "std::");
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++)
        leave_out(name, defaults[i]);
    replace(name, "std::basic_string<char>", "std::string");
    replace(name, "std::basic_string_view<char>", "std::string_view");
    /* Where that was an argument, and the last. */
    replace(name, "std::string >", "std::string>");
}
