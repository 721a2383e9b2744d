/* Is a program controllable: see controllability.h. It looks at files only, and runs nothing but the dynamic linker in
 * the mode in which it lists libraries.
 *
 * A reason is one of three: it makes control impossible (not), leaves something uncontrolled (partly), or is worth
 * knowing (a note). The verdict is the worst of them. */
#include "controllability.h"
#include "libraries.h"
#include <cli/base/cli.h>
#include "elf_facts.h"
#include "memory_advice.h"
#include "locate.h"
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

static void add(struct pct_controllability *d, enum pct_controllability_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void add(struct pct_controllability *d, enum pct_controllability_kind kind, const char *format, ...)
{
    if (d->count == PCT_CONTROLLABILITY_REASONS)
        return;
    struct pct_controllability_reason *reason = &d->reasons[d->count++];
    reason->kind = kind;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason->text, sizeof reason->text, format, arguments);
    va_end(arguments);
}

enum pct_controllability_kind pct_controllability_worst(const struct pct_controllability *d)
{
    enum pct_controllability_kind kind = PCT_CONTROLLABILITY_NOTE;
    for (size_t i = 0; i < d->count; i++)
        if (d->reasons[i].kind > kind)
            kind = d->reasons[i].kind;
    return kind;
}

/* Follow `#!` lines to the program that is executed in the end. */
static void follow_scripts(struct pct_controllability *d)
{
    struct pct_interpreter_line script;
    for (unsigned depth = 0; depth < PCT_INTERPRETER_DEPTH && pct_elf_read_script(d->program, &script); depth++) {
        const char *slash = strrchr(script.interpreter, '/'), *interpreter = script.interpreter;
        bool env = slash && !strcmp(slash, "/env") && script.argument[0] && script.argument[0] != '-';
        char found[PATH_MAX];
        if (env && !pct_locate_command(script.argument, found, sizeof found))
            interpreter = found;
        add(d, PCT_CONTROLLABILITY_NOTE, "%s is a script: %s is what pct controls", d->program, interpreter);
        snprintf(d->program, sizeof d->program, "%s", interpreter);
    }
}

static void check_privileges(struct pct_controllability *d)
{
    struct stat status;
    if (stat(d->program, &status))
        return;
    const char *way_out = "; a copy of it (cp) has no such right and can be controlled";
    if (status.st_mode & S_ISUID && status.st_uid != getuid())
        add(d, PCT_CONTROLLABILITY_NOT, "it is setuid: the linker ignores LD_PRELOAD%s", way_out);
    else if (status.st_mode & S_ISUID)
        add(d, PCT_CONTROLLABILITY_NOTE,
            "it is setuid, without effect for its owner; run by others it cannot be controlled");
    if (status.st_mode & S_ISGID && status.st_mode & S_IXGRP) {
        if (status.st_gid != getgid())
            add(d, PCT_CONTROLLABILITY_NOT, "it is setgid: the linker ignores LD_PRELOAD%s", way_out);
        else
            add(d, PCT_CONTROLLABILITY_NOTE,
                "it is setgid, without effect for its group; run by others it cannot be controlled");
    }
    if (getxattr(d->program, "security.capability", NULL, 0) > 0)
        add(d, getuid() ? PCT_CONTROLLABILITY_NOT : PCT_CONTROLLABILITY_NOTE,
            "it has file capabilities: the linker ignores LD_PRELOAD for all users but root%s", way_out);
}

/* Returns false if nothing more can be said. */
static bool check_kind(struct pct_controllability *d, const struct pct_elf_facts *facts)
{
    if (!facts->is_elf) {
        add(d, PCT_CONTROLLABILITY_NOT, "%s is not an ELF program", d->program);
        return false;
    }
    if (facts->type == ET_REL || facts->type == ET_CORE) {
        add(d, PCT_CONTROLLABILITY_NOT, "%s is an object or core file, not a program", d->program);
        return false;
    }
    if (!facts->is_64 || facts->machine != EM_X86_64) {
        add(d, PCT_CONTROLLABILITY_NOT, "it is not an x86-64 program (%s, ELF machine %u); this pct is for x86-64",
            facts->is_64 ? "64-bit" : "32-bit", facts->machine);
        return false;
    }
    if (facts->is_go)
        add(d, PCT_CONTROLLABILITY_NOT,
            "it is a Go program: Go's runtime makes its threads and its system calls without libc");
    if (!facts->interpreter[0] && facts->type == ET_DYN && facts->has_dynamic)
        add(d, PCT_CONTROLLABILITY_NOT,
            "it names no dynamic linker: a library, or statically linked (static-pie); link a program without "
            "-static");
    else if (!facts->interpreter[0])
        add(d, PCT_CONTROLLABILITY_NOT,
            "it is statically linked: there is no dynamic linker that could preload; link it without -static");
    else if (strstr(facts->interpreter, "ld-musl"))
        add(d, PCT_CONTROLLABILITY_NOT, "its libc is musl (%s); pct is for glibc", facts->interpreter);
    return facts->interpreter[0];
}

/* The C library's own raw system calls are behind functions that pct wraps; those of the library that pct-cc links a
 * program with are pct's. */
static bool is_libc_or_pct(const char *path)
{
    static const char *const names[] = { "libc.so",  "libm.so",      "libpthread.so", "libdl.so",   "librt.so",
                                         "ld-linux", "libresolv.so", "libutil.so",    "linux-vdso", "libpct-tsan.so" };
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strncmp(name, names[i], strlen(names[i])))
            return true;
    return false;
}

/* What waits in there is no lock of the program's, and is never patched. */
static bool is_of_sanitizers(const char *name)
{
    static const char *const names[] = { "libasan.so", "liblsan.so", "libtsan.so", "libubsan.so", "libclang_rt." };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strncmp(name, names[i], strlen(names[i])))
            return true;
    return false;
}

static void list_raw_calls(char *out, size_t size, const struct pct_raw_calls *raw)
{
    size_t length = 0;
    out[0] = 0;
    for (unsigned i = 0; i < PCT_RAW_NUMBER_MAX && length < size; i++) {
        if (!raw->by_number[i])
            continue;
        const char *name = pct_raw_calls_name(i);
        char number[16];
        snprintf(number, sizeof number, "call %u", i);
        length += (size_t)snprintf(out + length, size - length, "%s%s %llu", length ? ", " : "", name ? name : number,
                                   (unsigned long long)raw->by_number[i]);
    }
    if (raw->unknown && length < size)
        snprintf(out + length, size - length, "%sof unknown number %llu", length ? ", " : "",
                 (unsigned long long)raw->unknown);
}

/* Whether any of these calls can make a thread wait, or start one, behind pct's back. */
static bool calls_matter(const struct pct_raw_calls *raw)
{
    bool matter = raw->unknown || raw->legacy;
    for (unsigned i = 0; i < PCT_RAW_NUMBER_MAX && !matter; i++)
        matter = raw->by_number[i] && pct_raw_calls_wait(i);
    return matter;
}

static void check_object(struct pct_controllability *d, const char *path, const struct pct_elf_facts *facts)
{
    char list[400];
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    list_raw_calls(list, sizeof list, &facts->raw);
    if (facts->raw.total)
        add(d, calls_matter(&facts->raw) ? PCT_CONTROLLABILITY_PARTLY : PCT_CONTROLLABILITY_NOTE,
            "%s makes raw system calls in its own code (%llu places: %s)", name, (unsigned long long)facts->raw.total,
            list);
    if (facts->raw.legacy)
        add(d, PCT_CONTROLLABILITY_PARTLY, "%s has %llu old system call instructions (int 0x80, sysenter)", name,
            (unsigned long long)facts->raw.legacy);
    bool own = path == d->program;
    if (facts->raw.clock)
        add(d, own ? PCT_CONTROLLABILITY_PARTLY : PCT_CONTROLLABILITY_NOTE,
            "%s reads the processor's clock itself (rdtsc; such instructions: %llu): real time, which does not replay",
            name, (unsigned long long)facts->raw.clock);
    if (facts->raw.random && strncmp(name, "libstdc++", 9) != 0) /* std::random_device, which the seed decides */
        add(d, own ? PCT_CONTROLLABILITY_PARTLY : PCT_CONTROLLABILITY_NOTE,
            "%s takes random numbers from the processor (rdrand; such instructions: %llu): no seed decides them", name,
            (unsigned long long)facts->raw.random);
    if (facts->imports_priorities)
        add(d, PCT_CONTROLLABILITY_NOTE,
            "%s asks for real-time priorities (SCHED_FIFO, SCHED_RR): pct's schedules ignore them, so a failure may be "
            "one that these priorities rule out",
            name);
    if (facts->imports_syscall)
        add(d, PCT_CONTROLLABILITY_NOTE,
            "%s calls syscall(): futexes, clocks, getrandom and signals to threads made that way are controlled, other "
            "calls pass through",
            name);
    if (facts->imports_io_uring)
        add(d, PCT_CONTROLLABILITY_PARTLY,
            "%s uses io_uring: completions come from the kernel, in the order of the outside world", name);
    if (facts->imports_seccomp)
        add(d, PCT_CONTROLLABILITY_NOTE, "%s installs seccomp filters: what they forbid, pct cannot do either", name);
    if (facts->has_futexes && !own && !is_of_sanitizers(name))
        add(d, PCT_CONTROLLABILITY_NOTE,
            "%s implements its own locks (futexes): --memory=atomics --memory-modules=%.*s makes them scheduling "
            "points",
            name, (int)strcspn(name, "."), name);
    if (facts->imports_clone)
        add(d, PCT_CONTROLLABILITY_PARTLY, "%s calls clone(): threads made that way are not controlled", name);
}

/* Lines are `NAME => PATH (ADDRESS)`, `PATH (ADDRESS)`, `NAME => not found`, or an error about the first library that
 * is missing. */
static void check_libraries(struct pct_controllability *d, const char *interpreter)
{
    char *text = pct_libraries_list(interpreter, d->program), *rest = text, *line;
    while (text && (line = strsep(&rest, "\n"))) {
        static const char missing[] = ": error while loading shared libraries: ";
        char *error = strstr(line, missing);
        if (error) {
            error += sizeof missing - 1;
            add(d, PCT_CONTROLLABILITY_NOT, "its library %.*s is not found: it would not start",
                (int)strcspn(error, ":"), error);
            continue;
        }
        char *arrow = strstr(line, " => ");
        if (arrow && !strncmp(arrow + 4, "not found", 9)) {
            add(d, PCT_CONTROLLABILITY_NOT, "its library %.*s is not found: it would not start",
                (int)(arrow - line - 1), line + 1);
            continue;
        }
        const char *path = pct_libraries_path(line);
        struct pct_elf_facts facts;
        if (path && !is_libc_or_pct(path) && !pct_elf_facts_read(&facts, path, true) && facts.is_elf)
            check_object(d, path, &facts);
    }
    free(text);
}

/* What a program that makes threads needs beside points at calls. */
static void check_memory(struct pct_controllability *d, const struct pct_elf_facts *facts)
{
    struct pct_memory_advice advice;
    pct_memory_advise(&advice, d->program, facts);
    for (unsigned kind = 0; kind < PCT_ADVICE_KINDS; kind++)
        if (advice.why[kind][0])
            add(d, PCT_CONTROLLABILITY_NOTE, "%s", advice.why[kind]);
    if (!pct_elf_tells(d->program))
        add(d, PCT_CONTROLLABILITY_NOTE,
            "its memory accesses are not seen: --races needs a program that is built with pct-cc, or --memory=globals");
}

/* Returns 0, or an exit status when there is nothing to look at. */
int pct_controllability_find(struct pct_controllability *d, const char *word, bool libraries)
{
    d->count = 0;
    struct stat what;
    int status = pct_locate_command(word, d->program, sizeof d->program);
    if (status == 127 || (status == 126 && !stat(word, &what) && S_ISDIR(what.st_mode))) {
        pct_cli_say("%s: %s", word, pct_locate_complaint(word, status));
        return status;
    }
    follow_scripts(d);
    struct pct_elf_facts facts;
    int failed = pct_elf_facts_read(&facts, d->program, libraries);
    if (failed) {
        add(d, PCT_CONTROLLABILITY_NOT, "%s cannot be read: %s", d->program, strerror(-failed));
        return 0;
    }
    if (status == 126)
        add(d, PCT_CONTROLLABILITY_NOT, "it may not be executed");
    check_privileges(d);
    if (!check_kind(d, &facts) || !libraries)
        return 0;
    check_object(d, d->program, &facts);
    if (facts.imports_threads)
        check_memory(d, &facts);
    check_libraries(d, facts.interpreter);
    return 0;
}

bool pct_controllability_explain(const char *program)
{
    static struct pct_controllability d;
    bool found = false;
    if (pct_controllability_find(&d, program, false))
        return false;
    for (size_t i = 0; i < d.count; i++) {
        if (d.reasons[i].kind != PCT_CONTROLLABILITY_NOT)
            continue;
        pct_cli_say("%s", d.reasons[i].text);
        found = true;
    }
    return found;
}
