/* How far a search is: see progress.h. */
#include "progress.h"
#include <cli/base/cli.h>
#include <cli/base/status_line.h>

void demon_progress_clear(void)
{
    pct_status_line_clear(false);
}

/* By the pace so far; the runs behind each call, which come last, are not among them. */
static double seconds_left(const struct demon_search *s, double now)
{
    const double bound = s->until > 0 ? s->until - now : 0;
    const double left =
        s->done ? (now - s->begun) / (double)s->done * (double)(s->all > s->done ? s->all - s->done : 0) : 0;
    return bound > 0 && (!s->done || bound < left) ? bound : left;
}

void demon_progress_draw(struct demon_search *s)
{
    const bool terminal = pct_status_line_obeys();
    char text[256], left[64];
    size_t length;
    if (!pct_status_line_is_due(terminal, s->begun, &s->drawn))
        return;
    const double now = pct_cli_now(), seconds = seconds_left(s, now);
    length = (size_t)snprintf(text, sizeof text, "%llu of %llu pairs of points, %llu runs, %.0f/s",
                              (unsigned long long)s->done, (unsigned long long)s->all,
                              (unsigned long long)s->program->runs, (double)s->program->runs / (now - s->begun));
    if (s->done < s->all && seconds > 0)
        snprintf(text + length, sizeof text - length, ", about %s left",
                 pct_cli_format_duration(left, sizeof left, seconds));
    else if (s->done >= s->all)
        snprintf(text + length, sizeof text - length, "; then single calls");
    pct_status_line_put(terminal, text);
}
