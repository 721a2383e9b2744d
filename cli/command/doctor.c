/* `pct doctor`: is this program controllable? It looks at files only, and runs nothing but the dynamic linker in the mode
 * in which it lists libraries.
 *
 * A reason is one of three: it makes control impossible (not), leaves something uncontrolled (partly), or is worth knowing
 * (a note). The verdict is the worst of them. */
#include "doctor.h"
#include "cli.h"
#include "elf_facts.h"
#include "parse.h"
#include "plan.h"
#include "locate.h"
#include <argp.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

enum kind { NOTE, PARTLY, NOT };
enum { REASONS_MAX = 64, SCRIPT_DEPTH = 4 };

struct diagnosis {
    char program[PATH_MAX]; /* what would be executed; behind scripts, the interpreter */
    struct reason {
        enum kind kind;
        char text[512];
    } reasons[REASONS_MAX];
    size_t count;
};

static void add(struct diagnosis *d, enum kind kind, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void add(struct diagnosis *d, enum kind kind, const char *format, ...)
{
    if (d->count == REASONS_MAX)
        return;
    struct reason *reason = &d->reasons[d->count++];
    reason->kind = kind;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason->text, sizeof reason->text, format, arguments);
    va_end(arguments);
}

static enum kind worst(const struct diagnosis *d)
{
    enum kind kind = NOTE;
    for (size_t i = 0; i < d->count; i++)
        if (d->reasons[i].kind > kind)
            kind = d->reasons[i].kind;
    return kind;
}

/* Follow `#!` lines to the program that is executed in the end. */
static void follow_scripts(struct diagnosis *d)
{
    for (int depth = 0; depth < SCRIPT_DEPTH; depth++) {
        char line[512] = "", interpreter[PATH_MAX], argument[PATH_MAX] = "";
        int fd = open(d->program, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        ssize_t got = fd < 0 ? -1 : read(fd, line, sizeof line - 1);
        if (fd >= 0)
            close(fd);
        if (got < 2 || line[0] != '#' || line[1] != '!')
            return;
        line[strcspn(line, "\n")] = 0;
        if (sscanf(line + 2, " %511s %511s", interpreter, argument) < 1)
            return;
        const char *slash = strrchr(interpreter, '/');
        bool env = slash && !strcmp(slash, "/env") && argument[0] && argument[0] != '-';
        char found[PATH_MAX];
        if (env && !pct_locate_command(argument, found, sizeof found))
            snprintf(interpreter, sizeof interpreter, "%s", found);
        add(d, NOTE, "%s is a script: %s is what pct controls", d->program, interpreter);
        snprintf(d->program, sizeof d->program, "%s", interpreter);
    }
}

static void check_privileges(struct diagnosis *d)
{
    struct stat status;
    if (stat(d->program, &status))
        return;
    const char *way_out = "; a copy of it (cp) has no such right and can be controlled";
    if (status.st_mode & S_ISUID && status.st_uid != getuid())
        add(d, NOT, "it is setuid: the linker ignores LD_PRELOAD%s", way_out);
    else if (status.st_mode & S_ISUID)
        add(d, NOTE, "it is setuid, without effect for its owner; run by others it cannot be controlled");
    if (status.st_mode & S_ISGID && status.st_mode & S_IXGRP) {
        if (status.st_gid != getgid())
            add(d, NOT, "it is setgid: the linker ignores LD_PRELOAD%s", way_out);
        else
            add(d, NOTE, "it is setgid, without effect for its group; run by others it cannot be controlled");
    }
    if (getxattr(d->program, "security.capability", NULL, 0) > 0)
        add(d, getuid() ? NOT : NOTE, "it has file capabilities: the linker ignores LD_PRELOAD for users but root%s",
            way_out);
}

/* Returns false if nothing more can be said. */
static bool check_kind(struct diagnosis *d, const struct pct_elf_facts *facts)
{
    if (!facts->is_elf) {
        add(d, NOT, "%s is not an ELF program", d->program);
        return false;
    }
    if (facts->type == ET_REL || facts->type == ET_CORE) {
        add(d, NOT, "%s is an object or core file, not a program", d->program);
        return false;
    }
    if (!facts->is_64 || facts->machine != EM_X86_64) {
        add(d, NOT, "it is not an x86-64 program (%s, ELF machine %u); this pct is for x86-64",
            facts->is_64 ? "64-bit" : "32-bit", facts->machine);
        return false;
    }
    if (facts->is_go)
        add(d, NOT, "it is a Go program: Go's runtime makes its threads and its system calls without libc");
    if (!facts->interpreter[0] && facts->type == ET_DYN && facts->has_dynamic)
        add(d, NOT,
            "it names no dynamic linker: a library, or statically linked (static-pie); link a program without "
            "-static");
    else if (!facts->interpreter[0])
        add(d, NOT, "it is statically linked: there is no dynamic linker that could preload; link it without -static");
    else if (strstr(facts->interpreter, "ld-musl"))
        add(d, NOT, "its libc is musl (%s); pct is for glibc", facts->interpreter);
    return facts->interpreter[0];
}

/* The C library's own raw system calls are behind functions that pct wraps. */
static bool is_libc(const char *path)
{
    static const char *const names[] = { "libc.so",  "libm.so",      "libpthread.so", "libdl.so",  "librt.so",
                                         "ld-linux", "libresolv.so", "libutil.so",    "linux-vdso" };
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
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
    static const char *const waits[] = { "futex",  "clone",      "clone3",          "poll",         "ppoll",
                                         "select", "epoll_wait", "epoll_pwait",     "epoll_pwait2", "io_uring_enter",
                                         "read",   "nanosleep",  "clock_nanosleep", "futex_waitv",  "wait4",
                                         "fork",   "vfork" };
    for (unsigned i = 0; i < PCT_RAW_NUMBER_MAX; i++) {
        const char *name = raw->by_number[i] ? pct_raw_calls_name(i) : NULL;
        for (size_t j = 0; name && j < sizeof waits / sizeof *waits; j++)
            if (!strcmp(name, waits[j]))
                return true;
    }
    return raw->unknown || raw->legacy;
}

static void check_object(struct diagnosis *d, const char *path, const struct pct_elf_facts *facts)
{
    char list[400];
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    list_raw_calls(list, sizeof list, &facts->raw);
    if (facts->raw.total)
        add(d, calls_matter(&facts->raw) ? PARTLY : NOTE, "%s makes raw system calls in its own code (%llu places: %s)",
            name, (unsigned long long)facts->raw.total, list);
    if (facts->raw.legacy)
        add(d, PARTLY, "%s has %llu old system call instructions (int 0x80, sysenter)", name,
            (unsigned long long)facts->raw.legacy);
    bool own = path == d->program;
    if (facts->raw.clock)
        add(d, own ? PARTLY : NOTE,
            "%s reads the processor's clock itself (rdtsc; such instructions: %llu): real time, which does not replay",
            name, (unsigned long long)facts->raw.clock);
    if (facts->raw.random && strncmp(name, "libstdc++", 9) != 0) /* std::random_device, which the seed decides */
        add(d, own ? PARTLY : NOTE,
            "%s takes random numbers from the processor (rdrand; such instructions: %llu): no seed decides them", name,
            (unsigned long long)facts->raw.random);
    if (facts->imports_priorities)
        add(d, NOTE,
            "%s asks for real-time priorities (SCHED_FIFO, SCHED_RR): pct's schedules do not keep to them, and may be "
            "such as cannot come on one processor",
            name);
    if (facts->imports_syscall)
        add(d, NOTE, "%s calls syscall(): futexes made that way are controlled, other calls pass through", name);
    if (facts->imports_io_uring)
        add(d, PARTLY, "%s uses io_uring: completions come from the kernel, in the order of the outside world", name);
    if (facts->imports_seccomp)
        add(d, NOTE, "%s installs seccomp filters: what they forbid, pct cannot do either", name);
    if (facts->has_futexes && !own)
        add(d, NOTE,
            "%s has locks of its own (futexes): --memory=atomics --memory-modules=%.*s makes them scheduling points",
            name, (int)strcspn(name, "."), name);
    if (facts->imports_clone)
        add(d, PARTLY, "%s calls clone(): threads made that way are not controlled", name);
}

/* What the dynamic linker would load: the output of `ld.so --list`, to be freed; NULL if it fails. */
static char *list_libraries(const char *interpreter, const char *program)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return NULL;
    char option[] = "--list";
    char *arguments[] = { (char *)(uintptr_t)interpreter, option, (char *)(uintptr_t)program, NULL };
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    pid_t pid;
    int failed = posix_spawn(&pid, interpreter, &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    char *text = NULL;
    size_t size = 0;
    FILE *memory = failed ? NULL : open_memstream(&text, &size);
    char buffer[4096];
    ssize_t got;
    while (memory && (got = read(ends[0], buffer, sizeof buffer)) > 0)
        fwrite(buffer, 1, (size_t)got, memory);
    if (memory)
        fclose(memory);
    close(ends[0]);
    if (!failed)
        waitpid(pid, NULL, 0);
    return text;
}

/* Lines are `NAME => PATH (ADDRESS)`, `PATH (ADDRESS)`, `NAME => not found`, or an error about the first library that is
 * missing. */
static void check_libraries(struct diagnosis *d, const char *interpreter)
{
    char *text = list_libraries(interpreter, d->program), *rest = text, *line;
    while (text && (line = strsep(&rest, "\n"))) {
        static const char missing[] = ": error while loading shared libraries: ";
        char *error = strstr(line, missing);
        if (error) {
            error += sizeof missing - 1;
            add(d, NOT, "its library %.*s is not found: it would not start", (int)strcspn(error, ":"), error);
            continue;
        }
        char *arrow = strstr(line, " => ");
        char *path = arrow ? arrow + 4 : line + strspn(line, "\t ");
        if (!strncmp(path, "not found", 9)) {
            add(d, NOT, "its library %.*s is not found: it would not start", (int)(arrow - line - 1), line + 1);
            continue;
        }
        char *end = strstr(path, " (0x");
        if (path[0] != '/' || !end)
            continue;
        *end = 0;
        struct pct_elf_facts facts;
        if (!is_libc(path) && !pct_elf_facts_read(&facts, path, true) && facts.is_elf)
            check_object(d, path, &facts);
    }
    free(text);
}

/* What --memory could do for a program that makes threads. */
static void check_memory(struct diagnosis *d)
{
    struct pct_plan *plan = pct_plan_make(d->program, PCT_PATCH_GLOBALS);
    if (plan && plan->refusal)
        add(d, NOTE, "--memory cannot make scheduling points of its memory accesses: %s",
            pct_plan_refusal(plan->refusal));
    else if (plan && plan->sites)
        add(d, NOTE,
            "%llu atomic instructions and accesses to global variables in its own code could be scheduling points: "
            "pct run --memory=globals",
            (unsigned long long)plan->sites);
    free(plan);
}

/* Returns 0, or an exit status when there is nothing to look at. */
static int diagnose(struct diagnosis *d, const char *word, bool libraries)
{
    d->count = 0;
    int status = pct_locate_command(word, d->program, sizeof d->program);
    if (status == 127) {
        pct_cli_say("%s: command not found", word);
        return status;
    }
    follow_scripts(d);
    struct pct_elf_facts facts;
    int failed = pct_elf_facts_read(&facts, d->program, libraries);
    if (failed) {
        add(d, NOT, "%s cannot be read: %s", d->program, strerror(-failed));
        return 0;
    }
    if (status == 126)
        add(d, NOT, "it may not be executed");
    check_privileges(d);
    if (!check_kind(d, &facts) || !libraries)
        return 0;
    check_object(d, d->program, &facts);
    if (facts.has_futexes && !pct_elf_tells(d->program))
        add(d, NOTE,
            "it has locks of its own (futexes), whose taking is an atomic instruction and no call: pct run and "
            "campaign "
            "choose --memory=atomics");
    if (facts.imports_threads)
        check_memory(d);
    if (facts.imports_threads && !pct_elf_tells(d->program))
        add(d, NOTE,
            "its memory accesses are not seen: --races needs a program that is built with pct-cc, or --memory=globals");
    check_libraries(d, facts.interpreter);
    return 0;
}

bool pct_doctor_explain(const char *program)
{
    static struct diagnosis d;
    bool found = false;
    if (diagnose(&d, program, false))
        return false;
    for (size_t i = 0; i < d.count; i++) {
        if (d.reasons[i].kind != NOT)
            continue;
        pct_cli_say("%s", d.reasons[i].text);
        found = true;
    }
    return found;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    const char **program = state->input;
    if (key == ARGP_KEY_END && !*program)
        argp_error(state, "no program is given");
    if (key != ARGP_KEY_ARG)
        return key == ARGP_KEY_END ? 0 : ARGP_ERR_UNKNOWN;
    if (*program)
        argp_error(state, "one program at a time");
    *program = argument;
    return 0;
}

static const struct argp argp = {
    .parser = parse,
    .args_doc = "PROGRAM",
    .doc =
        "Say whether pct can control a program, and if not, why and what to do.\v"
        "Looks at the program's file and its libraries, and runs nothing of them. The exit status is 0 if the program "
        "can be controlled, at least partly, and 1 if not.",
};

int pct_cmd_doctor(int argc, char **argv)
{
    static struct diagnosis d;
    static const char *const marks[] = { [NOTE] = "note", [PARTLY] = "partly", [NOT] = "not" };
    static const char *const verdicts[] = { [NOTE] = "controllable",
                                            [PARTLY] =
                                                "partly controllable: what it does there is counted and reported",
                                            [NOT] = "not controllable" };
    const char *word = NULL;
    pct_parse(&argp, argc, argv, PCT_PARSE_ALL, &word);
    int status = diagnose(&d, word, true);
    if (status)
        return status;
    for (size_t i = 0; i < d.count; i++)
        printf("%-6s  %s\n", marks[d.reasons[i].kind], d.reasons[i].text);
    printf("%s: %s\n", word, verdicts[worst(&d)]);
    return worst(&d) == NOT;
}
