/* A line of progress: see status_line.h. */
#include "status_line.h"
#include "cli.h"
#include <sys/ioctl.h>
#include <unistd.h>

#define LOG_SECONDS 60
#define TERMINAL_SECONDS 0.15

void pct_status_line_clear(bool quiet)
{
    if (!quiet && isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
}

/* Columns of the terminal; a line that is longer would not be cleared. */
static size_t columns(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || size.ws_col < 20 ? 80 : size.ws_col;
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
    if (terminal)
        fprintf(stderr, "\rpct: %.*s\033[K", (int)columns() - 6, line);
    else
        fprintf(stderr, "pct: %s\n", line);
    fflush(stderr);
}
