/* Options that only set variables: see settings.h. */
#include "settings.h"
#include "options.h"
#include <stdio.h>

static const struct pct_setting *find(const struct pct_setting *s, int key)
{
    for (; s->key || s->text; s++)
        if (s->key == key)
            return s;
    return NULL;
}

static void set_value(const struct pct_setting *s, const char *name, const char *value, struct argp_state *state)
{
    if (s->text)
        *s->text = value;
    else if (s->number)
        *s->number = pct_options_number(state, name, value, s->least, s->most);
    else if (s->count)
        *s->count = (unsigned)pct_options_number(state, name, value, s->least, s->most);
    else if (s->seconds)
        *s->seconds = pct_options_seconds(state, name, value);
}

bool pct_settings_take(const struct pct_setting *settings, const struct argp_option *options, int key, char *argument,
                       struct argp_state *state)
{
    const struct pct_setting *s = find(settings, key);
    char name[64] = "";
    if (!s)
        return false;
    for (; options && (options->name || options->key || options->doc || options->group); options++)
        if (options->key == key && options->name)
            snprintf(name, sizeof name, "--%s", options->name);
    if (s->once && state->arg_num)
        argp_error(state, "%s", s->once);
    if (s->missing && !*s->text)
        argp_error(state, "%s", s->missing);
    for (unsigned i = 0; s->inputs && s->inputs[i]; i++)
        state->child_inputs[i] = s->inputs[i];
    if (!s->missing && (argument || s->text))
        set_value(s, name, argument, state);
    if (s->on)
        *s->on = true;
    if (s->off)
        *s->off = false;
    return true;
}
