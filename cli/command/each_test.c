/* --each-test: see each_test.h. */
#include "each_test.h"
#include "subcommand.h"
#include <cli/base/cli.h>
#include <cli/binary/locate.h>
#include <common/text.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct tests {
    char **names;
    size_t count;
};

/* How a framework lists its test cases and runs one. */
struct framework {
    const char *kind;
    const char *mark; /* stands in the program's file (its strings, or the name of a library), if it is this one */
    const char *list[4];
    const char *left_out[4]; /* lists those that it would not run; or NULL */
    int (*read)(FILE *in, struct tests *tests);
    char *(*select)(const char *name); /* the argument that runs this test case only; to be freed */
    const char *with[2];               /* stands behind that */
    bool may_be_empty;                 /* programs without a test case are usual */
};

static int add(struct tests *tests, const char *name)
{
    char **more = reallocarray(tests->names, tests->count + 1, sizeof *more);
    char *copy = strdup(name);
    if (more)
        tests->names = more;
    if (!more || !copy) {
        free(copy);
        return -ENOMEM;
    }
    more[tests->count++] = copy;
    return 0;
}

/* --- GoogleTest: "Suite.", then its tests with two blanks before; "  # " and what the parameter is behind ------------
 */

static int read_gtest(FILE *in, struct tests *tests)
{
    char *line = NULL, suite[512] = "", name[1100];
    size_t room = 0;
    int failed = 0;
    while (!failed && getline(&line, &room, in) >= 0) {
        char *comment = strstr(line, "  # ");
        if (comment)
            *comment = 0;
        size_t length = strcspn(line, "\n");
        line[length] = 0;
        if (*line != ' ') {
            /* Anything else is what a main function of the program's own has said. */
            bool begins = length && length < sizeof suite && line[length - 1] == '.' && !strchr(line, ' ');
            snprintf(suite, sizeof suite, "%s", begins ? line : "");
            continue;
        }
        snprintf(name, sizeof name, "%s%s", suite, line + strspn(line, " "));
        bool off = !strncmp(name, "DISABLED_", 9) || strstr(name, ".DISABLED_") || strstr(name, "/DISABLED_");
        if (*suite && !off)
            failed = add(tests, name);
    }
    free(line);
    return failed;
}

static char *select_gtest(const char *name)
{
    char *word = NULL;
    return asprintf(&word, "--gtest_filter=%s", name) < 0 ? NULL : word;
}

/* --- Catch2: a name a line ---------------------------------------------------------------------------------------- */

static int read_catch2(FILE *in, struct tests *tests)
{
    char *line = NULL;
    size_t room = 0;
    int failed = 0;
    while (!failed && getline(&line, &room, in) >= 0) {
        line[strcspn(line, "\n")] = 0;
        if (*line)
            failed = add(tests, line);
    }
    free(line);
    return failed;
}

/* A name as a test specification, in which some characters mean something. */
static char *select_catch2(const char *name)
{
    char *word = malloc(2 * strlen(name) + 1), *to = word;
    for (; word && *name; name++) {
        if (strchr("\\,[]\"~", *name))
            *to++ = '\\';
        *to++ = *name;
    }
    if (word)
        *to = 0;
    return word;
}

/* --- libtest, of Rust: "NAME: test" or "NAME: benchmark" a line --------------------------------------------------- */

static int read_libtest(FILE *in, struct tests *tests)
{
    static const char mark[] = ": test\n";
    char *line = NULL;
    size_t room = 0;
    int failed = 0;
    while (!failed && getline(&line, &room, in) >= 0) {
        char *found = strstr(line, mark);
        if (!found || found[sizeof mark - 1])
            continue;
        *found = 0;
        failed = add(tests, line);
    }
    free(line);
    return failed;
}

static char *select_libtest(const char *name)
{
    return strdup(name);
}

/* Version 3 has given up the option of version 2. */
static const struct framework frameworks[] = {
    { .kind = "gtest", .mark = "gtest", .list = { "--gtest_list_tests" }, .read = read_gtest, .select = select_gtest },
    { .kind = "catch2",
      .mark = "list-test-names-only",
      .list = { "--list-test-names-only" },
      .read = read_catch2,
      .select = select_catch2 },
    { .kind = "catch2",
      .mark = "Catch2",
      .list = { "--list-tests", "--verbosity", "quiet" },
      .read = read_catch2,
      .select = select_catch2 },
    { .kind = "libtest",
      .mark = "RUST_TEST_THREADS",
      .list = { "--list", "--format", "terse" },
      .left_out = { "--list", "--format", "terse", "--ignored" },
      .read = read_libtest,
      .select = select_libtest,
      .with = { "--exact", "--test-threads=1" },
      .may_be_empty = true },
};
enum { FRAMEWORKS = sizeof frameworks / sizeof *frameworks };

static bool has(const char *program, const char *mark)
{
    int fd = open(program, O_RDONLY | O_CLOEXEC);
    struct stat status;
    bool found = false;
    if (fd >= 0 && !fstat(fd, &status) && status.st_size > 0) {
        void *map = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (map != MAP_FAILED) {
            found = memmem(map, (size_t)status.st_size, mark, strlen(mark));
            munmap(map, (size_t)status.st_size);
        }
    }
    if (fd >= 0)
        close(fd);
    return found;
}

/* The framework, or NULL after a message. */
static const struct framework *find(const char *program, const char *kind)
{
    const struct framework *named = NULL;
    for (size_t i = 0; i < FRAMEWORKS; i++) {
        const struct framework *f = &frameworks[i];
        if (kind && strcmp(kind, f->kind))
            continue;
        if (has(program, f->mark))
            return f;
        named = f;
    }
    /* Where it is named, the program may be a script around the tests. */
    if (kind && !named)
        pct_cli_say("--each-test: '%s' is not one of gtest, catch2 and libtest", kind);
    else if (!kind)
        pct_cli_say(
            "--each-test: %s is made with none of GoogleTest, Catch2 and Rust's libtest, as far as can be seen; if it "
            "is, say --each-test=gtest, catch2 or libtest",
            program);
    return kind ? named : NULL;
}

static size_t length_of(char *const *words)
{
    size_t length = 0;
    while (words[length])
        length++;
    return length;
}

/* Ask the program for test cases, by these words, not under control. Returns its exit status or a negative errno. */
static int ask(const char *program, char **command, const struct framework *f, const char *const *by,
               struct tests *tests)
{
    size_t count = length_of(command);
    char **words = calloc(count + 5, sizeof *words);
    int ends[2];
    if (!words || pipe2(ends, O_CLOEXEC)) {
        free(words);
        return -errno;
    }
    memcpy(words, command, count * sizeof *words);
    for (size_t i = 0; i < 4 && by[i]; i++)
        words[count + i] = (char *)(uintptr_t)by[i];
    pid_t pid = pct_subcommand_start(program, words, ends[1], -1);
    close(ends[1]);
    FILE *in = fdopen(ends[0], "r");
    int failed = pid < 0 ? (int)pid : in ? f->read(in, tests) : -ENOMEM;
    if (in)
        fclose(in);
    int status = pid < 0 ? 0 : pct_subcommand_wait(pid);
    free(words);
    return failed ? failed : status;
}

static void free_tests(struct tests *tests)
{
    for (size_t i = 0; i < tests->count; i++)
        free(tests->names[i]);
    free(tests->names);
    *tests = (struct tests){ 0 };
}

static void leave_out(struct tests *tests, const struct tests *those)
{
    size_t kept = 0;
    for (size_t i = 0; i < tests->count; i++) {
        bool out = false;
        for (size_t k = 0; k < those->count && !out; k++)
            out = !strcmp(tests->names[i], those->names[k]);
        if (out)
            free(tests->names[i]);
        else
            tests->names[kept++] = tests->names[i];
    }
    tests->count = kept;
}

/* Returns 0, or an exit status after a message. */
static int list(const char *program, char **command, const struct framework *f, struct tests *tests)
{
    /* Catch2's status is the number of its tests. */
    int status = ask(program, command, f, f->list, tests);
    bool none = !tests->count;
    if (status >= 0 && f->left_out[0]) {
        struct tests those = { 0 };
        int failed = ask(program, command, f, f->left_out, &those);
        status = failed < 0 ? failed : status;
        leave_out(tests, &those);
        free_tests(&those);
    }
    if (status < 0)
        return pct_cli_usage("--each-test: %s", strerror(-status));
    if (none && (!f->may_be_empty || status))
        return pct_cli_usage("--each-test: %s %s named no test case (status %d)", program, f->list[0], status);
    return 0;
}

/* A word of the options, with the name in place of {test}, fit for a file name. To be freed. */
static char *replace(const char *word, const char *name)
{
    static const char mark[] = "{test}";
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    for (const char *found; (found = strstr(word, mark)); word = found + sizeof mark - 1) {
        fwrite(word, 1, (size_t)(found - word), out);
        for (const char *c = name; *c; c++)
            fputc(*c == '/' || (unsigned char)*c < ' ' ? '-' : *c, out);
    }
    fputs(word, out);
    return fclose(out) ? NULL : text;
}

/* The option itself, also where its name was cut short: each sub-command with it would run each test case once more. */
static bool is_option(const char *word)
{
    static const char option[] = "--" PCT_EACH_TEST_OPTION;
    enum { DASHES = 2 };
    size_t length = strcspn(word, "=");
    return length > DASHES && length < sizeof option && !strncmp(word, option, length);
}

/* The same sub-command for one test case; begun: for PCT_EACH_TEST_BEGUN, or -1. Returns its exit status, or a negative
 * errno. */
static int run_one(char **argv, char **command, const struct framework *f, const char *extra, int begun,
                   const char *name)
{
    /* argv[0] is "pct NAME". */
    char *sub = strchr(argv[0], ' '), *filter = f->select(name);
    char **words = calloc(length_of(argv) + 8, sizeof *words), number[sizeof "--" PCT_EACH_TEST_BEGUN "=2147483647"];
    size_t count = 0, options = 0, own = 2;
    int status = -ENOMEM;
    if (!words || !filter || !sub)
        goto out;
    words[count++] = (char *)(uintptr_t)pct_cli_program;
    words[count++] = sub + 1;
    if (begun >= 0) {
        snprintf(number, sizeof number, "--" PCT_EACH_TEST_BEGUN "=%d", begun);
        words[count++] = number;
        own++;
    }
    for (char **word = argv + 1; word < command; word++)
        if (!is_option(*word) && !(words[count++] = replace(*word, name)))
            goto out;
    /* In front of what may be the "--" before the command. */
    if (extra) {
        if (!(words[count] = replace(extra, name)))
            goto out;
        char *added = words[count++];
        memmove(words + own + 1, words + own, (count - own - 1) * sizeof *words);
        words[own] = added;
    }
    options = count;
    for (char **word = command; *word; word++)
        words[count++] = *word;
    words[count++] = filter;
    for (size_t i = 0; i < 2 && f->with[i]; i++)
        words[count++] = (char *)(uintptr_t)f->with[i];
    pid_t pid = pct_subcommand_start(PCT_SUBCOMMAND_SELF, words, -1, -1);
    status = pid < 0 ? (int)pid : pct_subcommand_wait(pid);
    count = options;
out:
    for (size_t i = own; words && i < (options ? options : count); i++)
        free(words[i]);
    free(words);
    free(filter);
    return status;
}

int pct_each_test_take(const char *argument)
{
    int begun = atoi(argument);
    fcntl(begun, F_SETFD, FD_CLOEXEC);
    return begun;
}

/* How far a test case came, as it told: a byte for each step, of which the last one counts. It begins once more where
 * all its runs are made again. */
enum progress { NOT_BEGUN, BEGUN, ENDED };

static void tell(int begun, enum progress progress)
{
    char byte = (char)progress;
    if (begun && write(begun, &byte, 1) < 0)
        pct_cli_say("--each-test: %s", strerror(errno));
}

void pct_each_test_begun(int begun)
{
    tell(begun, BEGUN);
}

void pct_each_test_ended(int begun)
{
    tell(begun, ENDED);
}

/* run_one(). */
static int run_and_hear(char **argv, char **command, const struct framework *f, const char *extra, const char *name,
                        enum progress *progress)
{
    int ends[2];
    char byte;
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
        return -errno;
    fcntl(ends[1], F_SETFD, 0);
    int status = run_one(argv, command, f, extra, ends[1], name);
    *progress = NOT_BEGUN;
    while (read(ends[0], &byte, 1) == 1)
        *progress = (enum progress)byte;
    close(ends[0]);
    close(ends[1]);
    return status;
}

/* What would end each of the others, too: bad usage, no control, no command, an interrupt. What a test case itself
 * ended with is none of that, whatever it is (Catch2: the number of checks that failed), nor, of one that began,
 * PCT_EXIT_USAGE. */
static bool ends_all(int status, enum progress progress)
{
    return progress != ENDED && ((status == PCT_EXIT_USAGE && progress == NOT_BEGUN) ||
                                 status == PCT_EXIT_NOT_CONTROLLED || (status >= 125 && status <= 127) ||
                                 status == 128 + SIGINT || status == 128 + SIGTERM || status == 128 + SIGHUP);
}

int pct_each_test(char **argv, char **command, const char *kind, const char *extra, bool passes)
{
    char program[PATH_MAX];
    int status = pct_locate_command(command[0], program, sizeof program);
    if (status) {
        pct_cli_say("%s: %s", command[0], status == 126 ? "is there, but cannot be executed" : "command not found");
        return status;
    }
    const struct framework *f = find(program, kind);
    if (!f)
        return PCT_EXIT_USAGE;
    struct tests tests = { 0 };
    status = list(program, command, f, &tests);
    int first = 0;
    size_t done = 0, failed = 0, open = 0;
    if (!status) {
        signal(SIGINT, SIG_IGN);
        signal(SIGQUIT, SIG_IGN);
    }
    for (; !status && done < tests.count; done++) {
        pct_cli_say("test %zu of %zu: %s", done + 1, tests.count, tests.names[done]);
        enum progress progress = NOT_BEGUN;
        int code = passes ? run_and_hear(argv, command, f, extra, tests.names[done], &progress)
                          : run_one(argv, command, f, extra, -1, tests.names[done]);
        if (code < 0)
            status = pct_cli_usage("--each-test: %s", strerror(-code));
        else if (ends_all(code, progress))
            status = code;
        bool undecided = code == PCT_EXIT_CONFIDENCE;
        /* What failed counts for more than what is not known. */
        if (code > 0 && (!first || (!undecided && first == PCT_EXIT_CONFIDENCE)))
            first = code;
        failed += code > 0 && !undecided;
        open += undecided;
        if (code > 0 && !status)
            pct_cli_say("%s %s (status %d)", tests.names[done], undecided ? "UNDECIDED" : "FAILED", code);
    }
    char undecided[48] = "";
    if (open)
        snprintf(undecided, sizeof undecided, ", %zu undecided", open);
    if (!status)
        pct_cli_say("%zu test case%s: %zu failed%s", tests.count, tests.count == 1 ? "" : "s", failed, undecided);
    free_tests(&tests);
    return status ? status : first;
}
