/* Colours on terminals: see color.h. */
#include "color.h"
#include "status_line.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum { AUTO, ALWAYS, NEVER } chosen;

bool pct_color_choose(const char *when)
{
    static const char *const names[] = { [AUTO] = "auto", [ALWAYS] = "always", [NEVER] = "never" };
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(when, names[i])) {
            chosen = i;
            return true;
        }
    return false;
}

static bool has_colors(FILE *out)
{
    const char *no = getenv("NO_COLOR"), *terminal = getenv("TERM");
    int fd = pct_status_line_descriptor(out);
    if (fd < 0 || chosen == NEVER)
        return false;
    return chosen == ALWAYS || (isatty(fd) && !(no && *no) && terminal && *terminal && strcmp(terminal, "dumb") != 0);
}

void pct_color(FILE *out, enum pct_color color)
{
    static const char *const codes[] = { [PCT_COLOR_NONE] = "0",
                                         [PCT_COLOR_BAD] = "1;31",
                                         [PCT_COLOR_CAUSE] = "1",
                                         [PCT_COLOR_SWITCH] = "33",
                                         [PCT_COLOR_COMMAND] = "36" };
    if (has_colors(out))
        fprintf(out, "\033[%sm", codes[color]);
}
