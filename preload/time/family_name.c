/* The variable that names a family: see family_name.h. */
#include "family_name.h"
#include <common/text.h>
#include <preload/core/user_memory.h>
#include <stdbool.h>
#include <string.h>

static const char variable[] = "PCT_FAMILY=";
enum { VARIABLE_SIZE = 112 };

static bool is_variable(const char *string, const char *name)
{
    return !strncmp(string, name, strlen(name));
}

/* As far as that looks. */
static bool is_readable(const char *string)
{
    enum { PAGE = 4096 };
    for (size_t i = 0; i < sizeof variable; i++) {
        if ((!i || !((uintptr_t)(string + i) % PAGE)) && !pct_user_readable(string + i, 1))
            return false;
        if (!string[i])
            break;
    }
    return true;
}

size_t pct_family_name_room(char *const *environment)
{
    size_t count = 0;
    bool preloaded = false;
    for (;; count++) {
        const char *const *last = count ? (const char *const *)&environment[count - 1] : NULL;
        if (!pct_user_readable_beside(&environment[count], sizeof *environment, last))
            return 0; /* the kernel says so */
        if (!environment[count])
            break;
        if (!is_readable(environment[count]))
            return 0;
        preloaded |= is_variable(environment[count], "LD_PRELOAD=");
    }
    return preloaded ? VARIABLE_SIZE + (count + 2) * sizeof *environment : 0;
}

char **pct_family_name_add(void *room, char *const *environment, const struct pct_family_name *name)
{
    char **strings = room, **next = strings;
    for (; *environment; environment++)
        if (!is_variable(*environment, variable))
            *next++ = *environment;
    /* Of the same length always: it moves the stack. */
    struct pct_text text;
    pct_text_init(&text, (char *)(next + 2), VARIABLE_SIZE);
    pct_text_add(&text, variable);
    pct_text_add_hex(&text, name->memory, 8);
    pct_text_add(&text, ".");
    pct_text_add_hex(&text, name->slot, 8);
    pct_text_add(&text, ".");
    pct_text_add_hex(&text, name->mark, 16);
    pct_text_add(&text, ".");
    pct_text_add_hex(&text, name->place, 16);
    pct_text_add(&text, ".");
    pct_text_add_hex(&text, name->now, 16);
    pct_text_add(&text, ".");
    pct_text_add_hex(&text, name->epoch, 16);
    *next++ = text.data;
    *next = NULL;
    return strings;
}

static uint64_t hex(const char **text)
{
    uint64_t number = 0;
    for (;; ++*text)
        if (**text >= '0' && **text <= '9')
            number = number << 4 | (uint64_t)(**text - '0');
        else if (**text >= 'a' && **text <= 'f')
            number = number << 4 | (uint64_t)(**text - 'a' + 10);
        else
            break;
    *text += **text != 0;
    return number;
}

struct pct_family_name pct_family_name_read(const char *text)
{
    struct pct_family_name name = { .memory = (uint32_t)hex(&text) };
    name.slot = (uint32_t)hex(&text);
    name.mark = hex(&text);
    name.place = hex(&text);
    name.now = hex(&text);
    name.epoch = hex(&text);
    return name;
}
