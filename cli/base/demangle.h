/* Names of functions and variables as their programmers wrote them. */
#ifndef PCT_CLI_DEMANGLE_H
#define PCT_CLI_DEMANGLE_H

/* The name behind a symbol of C++ or Rust: "ns::queue::push(int)", "app::work" (without the hash that the compiler adds
 * for itself). To be freed; NULL: the symbol is a name already, or memory is short. */
char *pct_demangle(const char *symbol);

/* Leave out of such a name, in its place, what C++ adds and no programmer writes: allocators and other arguments of
 * templates that are there if nothing else is said, and namespaces of versions. */
void pct_demangle_shorten(char *name);

#endif
