/* A line of progress: see status_line.h. */
#include "status_line.h"
#include "cli.h"
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define LOG_SECONDS 60
#define TERMINAL_SECONDS 0.15

bool pct_status_line_obeys(void)
{
    const char *terminal = getenv("TERM");
    return isatty(STDERR_FILENO) && !(terminal && !strcmp(terminal, "dumb"));
}

void pct_status_line_clear(bool quiet)
{
    if (!quiet && pct_status_line_obeys())
        fputs("\r\033[K", stderr);
}

static FILE *later;

void pct_status_line_later(FILE *memory)
{
    later = memory;
}

int pct_status_line_descriptor(FILE *out)
{
    return out == later ? STDERR_FILENO : fileno(out);
}

unsigned pct_status_line_columns(FILE *out)
{
    struct winsize size;
    int fd = pct_status_line_descriptor(out);
    return fd < 0 || ioctl(fd, TIOCGWINSZ, &size) || size.ws_col < 20 ? 0 : size.ws_col;
}

bool pct_status_line_is_due(bool terminal, double begun, double *drawn)
{
    double now = pct_cli_now();
    if (now - (*drawn > 0 ? *drawn : begun) < (terminal ? TERMINAL_SECONDS : LOG_SECONDS))
        return false;
    *drawn = now;
    return true;
}

void pct_status_line_put(bool terminal, const char *line)
{
    unsigned columns = pct_status_line_columns(stderr);
    /* What is longer than a line would not be cleared. */
    if (terminal)
        fprintf(stderr, "\rpct: %.*s\033[K", (int)(columns ? columns : 80) - 6, line);
    else
        fprintf(stderr, "pct: %s\n", line);
    fflush(stderr);
}
