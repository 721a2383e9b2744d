/* Colours on terminals: what a reader looks for first. Called by whatever prints a screen. */
#ifndef PCT_CLI_COLOR_H
#define PCT_CLI_COLOR_H

#include <stdbool.h>
#include <stdio.h>

enum pct_color {
    PCT_COLOR_NONE,   /* what follows is as usual */
    PCT_COLOR_BAD,    /* how it failed */
    PCT_COLOR_CAUSE,  /* why */
    PCT_COLOR_SWITCH, /* where another thread went on */
    PCT_COLOR_COMMAND /* what to type next */
};

/* --color: auto (terminals, unless NO_COLOR is set, https://no-color.org), always or never. False: none of these. */
bool pct_color_choose(const char *when);

/* From here on, if this stream has colours: a terminal, or any file with `always`; text that is put together in memory
 * has none, for it may go anywhere. */
void pct_color(FILE *out, enum pct_color color);

#endif
