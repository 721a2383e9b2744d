/* The libraries that the dynamic linker would load for a program: it is asked, and runs nothing of the program. */
#ifndef PCT_CLI_LIBRARIES_H
#define PCT_CLI_LIBRARIES_H

/* What `INTERPRETER --list PROGRAM` writes, with its errors; to be freed. NULL: it cannot be run. */
char *pct_libraries_list(const char *interpreter, const char *program);

/* The same by the program's own dynamic linker. NULL: it has none, too. */
char *pct_libraries_of(const char *program);

/* The path of the library in a line of that, which is cut behind it; as the program names it, it may be relative. NULL:
 * there is none. */
char *pct_libraries_path(char *line);

/* Call each() for the path of each library, until it returns something else than 0, which is then returned. None if the
 * program has no dynamic linker. Libraries that it loads while it runs are not among them. */
int pct_libraries_each(const char *program, int (*each)(void *data, const char *path), void *data);

#endif
