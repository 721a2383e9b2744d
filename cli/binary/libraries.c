/* Libraries of a program: see libraries.h. */
#include "libraries.h"
#include "elf_facts.h"
#include <cli/base/cli.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

char *pct_libraries_list(const char *interpreter, const char *program)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return NULL;
    char option[] = "--list";
    /* $ORIGIN is where the program itself lies, and not a link to it; to this linker, where the name says. */
    char *real = realpath(program, NULL);
    char *arguments[] = { (char *)(uintptr_t)interpreter, option, real ? real : (char *)(uintptr_t)program, NULL };
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    pid_t pid;
    int failed = posix_spawn(&pid, interpreter, &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    free(real);
    close(ends[1]);
    char *text = failed ? NULL : pct_cli_read_all(ends[0]);
    close(ends[0]);
    if (!failed)
        waitpid(pid, NULL, 0);
    return text;
}

char *pct_libraries_of(const char *program)
{
    static struct pct_elf_facts facts; /* large */
    char buffer[PATH_MAX];
    program = pct_elf_program(program, buffer);
    bool linked = !pct_elf_facts_read(&facts, program, false) && facts.interpreter[0];
    return linked ? pct_libraries_list(facts.interpreter, program) : NULL;
}

char *pct_libraries_path(char *line)
{
    char *arrow = strstr(line, " => ");
    char *path = arrow ? arrow + 4 : line + strspn(line, "\t "), *end = strstr(path, " (0x");
    if (!end || !memchr(path, '/', (size_t)(end - path))) /* the kernel's has none; one may be relative */
        return NULL;
    *end = 0;
    return path;
}

int pct_libraries_each(const char *program, int (*each)(void *data, const char *path), void *data)
{
    char *text = pct_libraries_of(program), *rest = text, *line;
    int stopped = 0;
    while (!stopped && rest && (line = strsep(&rest, "\n"))) {
        const char *path = pct_libraries_path(line);
        stopped = path ? each(data, path) : 0;
    }
    free(text);
    return stopped;
}
