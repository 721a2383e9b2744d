/* Reading from streams whose other end is another thread: a reader waits without holding the others up. */
/* tests: fgetc getc getchar fgets __fgets_chk getline getdelim __getdelim fread __fread_chk vfscanf __isoc99_vfscanf
 * __isoc99_fscanf __isoc99_scanf __isoc23_vfscanf __isoc23_fscanf __isoc23_scanf flockfile ftrylockfile funlockfile */
/* ops: READ MUTEX_LOCK MUTEX_UNLOCK */
#define _GNU_SOURCE
#include "check.h"
#include <dlfcn.h>
#include <stdarg.h>
#include <stdlib.h>

char *__fgets_chk(char *line, size_t room, int size, FILE *file);
size_t __fread_chk(void *buffer, size_t room, size_t size, size_t count, FILE *file);
ssize_t __getdelim(char **line, size_t *size, int delimiter, FILE *file);
/* The names behind scanf and its relatives, by standard. */
int old_vfscanf(FILE *file, const char *format, va_list arguments) __asm__("vfscanf");
int new_vfscanf(FILE *file, const char *format, va_list arguments) __asm__("__isoc99_vfscanf");

/* Since glibc 2.38. Under pct the names are there in older ones, too, but there is nothing behind them. */
static int (*c23_vfscanf)(FILE *file, const char *format, va_list arguments);
static int (*c23_fscanf)(FILE *file, const char *format, ...);
static int (*c23_scanf)(const char *format, ...);

enum { WAYS = 15, C23_WAYS = 3 };

static int ways = WAYS;

static int out;
static FILE *in;
static int asked; /* how often the reader has asked; atomic */

/* One line for each request, and never before it. */
static void *answer(void *unused)
{
    for (int i = 1; i <= ways; i++) {
        while (__atomic_load_n(&asked, __ATOMIC_ACQUIRE) < i)
            sched_yield();
        sched_yield();
        CHECK_EQ(write(out, "12\n", 3), 3);
    }
    return unused;
}

static int scan(int (*with)(FILE *, const char *, va_list), const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int found = with(in, format, arguments);
    va_end(arguments);
    return found;
}

static void rest(int (*get)(FILE *))
{
    CHECK_EQ(get(in), '2');
    CHECK_EQ(get(in), '\n');
}

static void ask(int way)
{
    char text[8] = "", *line = NULL;
    size_t size = 0;
    int number = 0;
    switch (way) {
    case 0:
        CHECK_EQ(fgetc(in), '1');
        rest(fgetc);
        break;
    case 1:
        CHECK_EQ((getc)(in), '1');
        rest(getc);
        break;
    case 2:
        CHECK_EQ((getchar)(), '1');
        rest(fgetc);
        break;
    case 3:
        CHECK(fgets(text, sizeof text, in) == text);
        CHECK(!strcmp(text, "12\n"));
        break;
    case 4:
        CHECK(__fgets_chk(text, sizeof text, sizeof text, in) == text);
        CHECK(!strcmp(text, "12\n"));
        break;
    case 5:
        CHECK_EQ(getline(&line, &size, in), 3);
        break;
    case 6:
        CHECK_EQ(getdelim(&line, &size, '\n', in), 3);
        break;
    case 7:
        CHECK_EQ(__getdelim(&line, &size, '\n', in), 3);
        break;
    case 8:
        CHECK_EQ(fread(text, 3, 1, in), 1);
        break;
    case 9:
        CHECK_EQ(__fread_chk(text, sizeof text, 1, 3, in), 3);
        break;
    case 10:
        CHECK_EQ(scan(old_vfscanf, "%d", &number), 1);
        break;
    case 11:
        CHECK_EQ(scan(new_vfscanf, "%d", &number), 1);
        break;
    case 12:
        CHECK_EQ(fscanf(in, "%d", &number), 1);
        break;
    case 13:
        CHECK_EQ(scanf("%d", &number), 1);
        break;
    case 14:
        CHECK_EQ(fread(text, 0, 5, in), 0);
        CHECK_EQ(fgetc(in), '1');
        rest(fgetc);
        break;
    case 15:
        CHECK_EQ(scan(c23_vfscanf, "%d", &number), 1);
        break;
    case 16:
        CHECK_EQ(c23_fscanf(in, "%d", &number), 1);
        break;
    case 17:
        CHECK_EQ(c23_scanf("%d", &number), 1);
        break;
    }
    if (way >= 10 && way != 14) {
        CHECK_EQ(number, 12);
        CHECK_EQ(fgetc(in), '\n');
    }
    free(line);
}

static int inside;

static void *print(void *unused)
{
    for (int i = 0; i < 10; i++) {
        flockfile(in);
        CHECK_EQ(inside++, 0);
        flockfile(in); /* recursive */
        sched_yield();
        funlockfile(in);
        sched_yield();
        CHECK_EQ(--inside, 0);
        funlockfile(in);
        if (!ftrylockfile(in)) {
            CHECK_EQ(inside++, 0);
            sched_yield();
            CHECK_EQ(--inside, 0);
            funlockfile(in);
        }
    }
    return unused;
}

static void find_c23(void)
{
    if (check_libc_minor() < 38)
        return;
    *(void **)&c23_vfscanf = dlsym(RTLD_DEFAULT, "__isoc23_vfscanf");
    *(void **)&c23_fscanf = dlsym(RTLD_DEFAULT, "__isoc23_fscanf");
    *(void **)&c23_scanf = dlsym(RTLD_DEFAULT, "__isoc23_scanf");
    CHECK(c23_vfscanf && c23_fscanf && c23_scanf);
    ways += C23_WAYS;
}

int main(void)
{
    int fds[2];
    find_c23();
    CHECK_OK(pipe(fds));
    CHECK_EQ(dup2(fds[0], 0), 0);
    out = fds[1];
    in = stdin;
    pthread_t thread = check_spawn(answer, NULL);
    for (int way = 0; way < ways; way++) {
        __atomic_add_fetch(&asked, 1, __ATOMIC_RELEASE);
        ask(way);
    }
    check_join(thread);
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        threads[i] = check_spawn(print, NULL);
    for (int i = 0; i < 3; i++)
        check_join(threads[i]);
    CHECK_OK(close(out));
    CHECK_EQ(fgetc(in), EOF);
    return 0;
}
