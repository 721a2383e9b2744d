/* Calls of memcpy and their like in patched modules: see strings.h. */
#include "strings.h"
#include <common/config.h>
#include <patch/strings.h>
#include <preload/core/real.h>
#include <preload/core/shim.h>

static void *libc[PCT_STRINGS_COUNT];
static bool replaced[PCT_STRINGS_COUNT]; /* somebody has such a function of his own, which calls lead to */
static enum { UNKNOWN, LACKING, FOUND } found;
static const struct pct_strings_module *modules;

/* Apart, so that the watchdog can tell it from what must not be interrupted. */
#define PLACE __attribute__((section("pct_strings")))
#define TOLD_NAME(name) told_##name
#define CALLED(type, name, ...)                                                                                        \
    static PLACE type TOLD_NAME(name)(__VA_ARGS__);                                                                    \
    static PLACE type TOLD_NAME(name)(__VA_ARGS__)
#define LIBC(name) ((__typeof__(name) *)libc[PCT_STRING_##name])
/* No compiler makes such a call of an atomic access. */
#define SEEN (PCT_MEMORY_SEEN | PCT_MEMORY_PLAIN)
#define IS_THERE(function) true
/* Each eight bytes that are told of cost as many of a table, and some time. What is longer mostly is data that is
 * handed on as a whole. Explored runs, which prove something, are told all. */
#define MOST_TOLD (pct_memory_is_explored() ? SIZE_MAX : (size_t)LARGE)

enum { LARGE = 4096 };

static PLACE bool is_in(const struct pct_plan_range *range, const void *at)
{
    return (uintptr_t)at - range->from < range->to - range->from;
}

/* Of a patched module, what is written once it runs, as of its own instructions; of --memory=all, all but the rest of
 * such modules. */
static PLACE bool wants_write(const void *at)
{
    for (const struct pct_strings_module *m = modules; m; m = m->next) {
        if (!is_in(&m->image, at))
            continue;
        for (unsigned i = 0; i < PCT_PLAN_WRITTEN; i++)
            if (is_in(&m->written[i], at))
                return true;
        return false;
    }
    return pct_shim.config.memory >= PCT_PATCH_ALL;
}

static PLACE bool wants_read(const void *at)
{
    return wants_write(at);
}

#include "strings_calls.h"

extern const char from[] __asm__("__start_pct_strings") __attribute__((visibility("hidden")));
extern const char to[] __asm__("__stop_pct_strings") __attribute__((visibility("hidden")));

bool pct_strings_has(uintptr_t pc)
{
    return pc - (uintptr_t)from < (uintptr_t)to - (uintptr_t)from;
}

void pct_strings_find(void)
{
    static const char *const names[] = {
#define NAME(name) #name,
        PCT_STRINGS(NAME)
#undef NAME
    };
    const struct link_map *unused;
    if (found != UNKNOWN)
        return;
    found = FOUND;
    for (unsigned i = 0; i < PCT_STRINGS_COUNT; i++) {
        replaced[i] = pct_real_is_replaced(names[i]);
        libc[i] = pct_real_symbol(names[i], &unused) ? REAL(dlsym)(RTLD_NEXT, names[i]) : NULL;
        if (!libc[i])
            found = LACKING;
    }
}

bool pct_strings_lead(unsigned function)
{
    return found == FOUND && !replaced[function];
}

void *pct_strings_libc(unsigned function)
{
    return libc[function];
}

void *pct_strings_told(unsigned function)
{
    static void *const told[] = {
#define TOLD(name) (void *)TOLD_NAME(name),
        PCT_STRINGS(TOLD)
#undef TOLD
    };
    return told[function];
}

bool pct_strings_calls(const void *pc)
{
    for (const struct pct_strings_module *m = modules; m; m = m->next)
        if (is_in(&m->image, pc))
            return true;
    return false;
}

size_t pct_strings_wants(const void *at, size_t size)
{
    return wants_write(at) ? bounded(size) : 0;
}

void pct_strings_take(struct pct_strings_module *module)
{
    module->next = modules;
    modules = module;
}
