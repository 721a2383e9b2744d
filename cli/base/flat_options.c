/* The options of an argp description as one list: see flat_options.h. */
#include "flat_options.h"

static size_t collect(const struct argp *argp, struct pct_flat_option *to, size_t count)
{
    const struct argp_option *option = argp->options, *real = option;
    for (; option && (option->name || option->key || option->doc || option->group); option++) {
        if (!(option->flags & OPTION_ALIAS))
            real = option;
        int letter = option->key > ' ' && option->key < 127 ? option->key : 0;
        if (option->flags & OPTION_DOC || (!option->name && !letter) || count == PCT_FLAT_OPTIONS)
            continue;
        to[count++] = (struct pct_flat_option){ .name = option->name,
                                                .letter = letter,
                                                .argument = real->arg,
                                                .help = real->doc,
                                                .optional = real->arg && real->flags & OPTION_ARG_OPTIONAL,
                                                .hidden = option->flags & OPTION_HIDDEN };
    }
    for (const struct argp_child *child = argp->children; child && child->argp; child++)
        count = collect(child->argp, to, count);
    return count;
}

size_t pct_flat_options(const struct argp *argp, struct pct_flat_option *to)
{
    return collect(argp, to, 0);
}
