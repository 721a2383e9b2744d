/* What libc writes by itself: who waits at the other end of the pipe goes on, though no step tells of it. */
/* tests: dprintf vdprintf __dprintf_chk __vdprintf_chk */
/* ops: READ */
#define _GNU_SOURCE
#include "check.h"
#include <stdarg.h>

int __dprintf_chk(int fd, int flag, const char *format, ...);
int __vdprintf_chk(int fd, int flag, const char *format, va_list arguments);

static int ends[2];
static FILE *stream;

static int by_list(int checked, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int sent = checked ? __vdprintf_chk(ends[1], 1, format, arguments) : vdprintf(ends[1], format, arguments);
    va_end(arguments);
    return sent;
}

static void *write_one(void *how)
{
    switch ((long)how) {
    case 0:
        CHECK_EQ(dprintf(ends[1], "%d", 7), 1);
        break;
    case 1:
        CHECK_EQ(by_list(0, "%d", 7), 1);
        break;
    case 2:
        CHECK_EQ(__dprintf_chk(ends[1], 1, "%d", 7), 1);
        break;
    case 3:
        CHECK_EQ(by_list(1, "%d", 7), 1);
        break;
    default:
        CHECK_EQ(fprintf(stream, "%d", 7), 1);
        CHECK_EQ(fflush(stream), 0);
    }
    return NULL;
}

int main(void)
{
    CHECK_EQ(pipe(ends), 0);
    stream = fdopen(ends[1], "w");
    CHECK(stream);
    for (long how = 0; how < 5; how++) {
        pthread_t thread;
        char byte = 0;
        CHECK_EQ(pthread_create(&thread, NULL, write_one, (void *)how), 0);
        CHECK_EQ(read(ends[0], &byte, 1), 1);
        CHECK_EQ(byte, '7');
        CHECK_EQ(pthread_join(thread, NULL), 0);
    }
    errno = 0;
    CHECK_EQ(dprintf(-1, "x"), -1);
    CHECK_EQ(errno, EBADF);
    return 0;
}
