/* What the user has chosen: see scope.h. */
#include "scope.h"
#include <common/bisect.h>
#include <common/place.h>
#include <common/scope.h>
#include <common/text.h>
#include <pct/random.h>
#include <preload/core/kernel.h>
#include <preload/core/maps.h>
#include <preload/core/real.h>
#include <preload/core/run_pct.h>
#include <preload/core/shim.h>
#include <preload/core/sys.h>
#include <sched/races.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { PAGE = 4096, MOST_MODULES = 64, MOST_PLACES = 64, MOST_ARGUMENTS = 128, RECENT_LOG = 5 };

struct range {
    uintptr_t from, to;
};

/* The code of a file, to name its places by. */
struct place {
    struct range range;
    uint64_t offset, file; /* of the file's first byte, from address 0; a hash of its name */
};

static struct {
    bool looked; /* for a scope */
    const struct pct_scope_head *scope;
    const struct pct_scope_module *modules;
    const struct pct_scope_range *ranges;
    struct {
        const struct pct_scope_module *module;
        uintptr_t base;
    } found[MOST_MODULES]; /* in rising order of their addresses */
    uint32_t found_count;
    struct range *sorted[PCT_SCOPE_KINDS];
    uint32_t count[PCT_SCOPE_KINDS];
    struct place places[MOST_PLACES];
    uint32_t place_count;
    struct {
        uint64_t pc;
        uint32_t place;
    } recent[1 << RECENT_LOG]; /* steps are made at the same few places again and again */
} scope;

/* The kinds that suppress races, as pct_scope_head.has has them. */
static const uint32_t suppressing = 1u << PCT_SCOPE_RACE | 1u << PCT_SCOPE_RACE_TOP;

bool pct_scope_chooses;
const char *pct_scope_file, *pct_scope_suppressions;

/* --- Reading ------------------------------------------------------------------------------------------------------ */

static const struct r_debug *loader(void)
{
    /* Not by its name: libpct.so would depend on the loader's library. */
    const struct r_debug *list = REAL(dlsym)(RTLD_DEFAULT, "_r_debug");
    return list && list->r_state == RT_CONSISTENT ? list : NULL;
}

/* The file of the program itself, whose name the loader does not keep. */
static bool find_program(const struct r_debug *list, char *path, size_t size)
{
    struct pct_mapping mapping;
    *path = 0;
    return pct_maps_find(list->r_map->l_ld, &mapping, path, size);
}

void pct_scope_refuse(const char *message)
{
    pct_shim.quiet = false;
    pct_say(message);
    PCT_SYS1(SYS_exit_group, PCT_EXIT_USAGE);
    __builtin_unreachable();
}

/* Have the command make a scope for the modules that are loaded, from what the configuration says. Returns a
 * descriptor, or a negative errno. */
static long make_scope(void)
{
    static char focus[sizeof "--focus=" + sizeof pct_shim.config.focus];
    static char watch[sizeof "--watch=" + sizeof pct_shim.config.watch], suppressions[PAGE];
    static char functions[sizeof "--functions=" + sizeof pct_shim.config.functions];
    const size_t option = sizeof "--focus=" - 1;
    char *arguments[MOST_ARGUMENTS] = { (char[]){ "pct" }, (char[]){ "scope" }, (char[]){ "--write" } };
    unsigned count = 3;
    const struct r_debug *list = loader();
    struct pct_text text;
    if (pct_shim.config.focus[0]) {
        pct_text_init(&text, focus, sizeof focus);
        pct_text_add(&text, "--focus=");
        pct_config_format_focus(&pct_shim.config, focus + option, sizeof focus - option);
        arguments[count++] = focus;
    }
    if (pct_shim.config.watch[0]) {
        pct_text_init(&text, watch, sizeof watch);
        pct_text_add(&text, "--watch=");
        pct_config_format_watch(&pct_shim.config, watch + option, sizeof watch - option);
        arguments[count++] = watch;
    }
    if (pct_shim.config.functions[0]) {
        pct_text_init(&text, functions, sizeof functions);
        pct_text_add(&text, "--functions=");
        pct_config_format_functions(&pct_shim.config, functions + sizeof "--functions=" - 1,
                                    sizeof functions - (sizeof "--functions=" - 1));
        arguments[count++] = functions;
    }
    if (pct_scope_suppressions) {
        pct_text_init(&text, suppressions, sizeof suppressions);
        pct_text_add(&text, "--suppressions=");
        pct_text_add(&text, pct_scope_suppressions);
        arguments[count++] = suppressions;
    }
    char program[PAGE];
    if (!list || !find_program(list, program, sizeof program))
        return -ENOENT;
    arguments[count++] = program;
    for (const struct link_map *m = list->r_map->l_next; m && count + 1 < MOST_ARGUMENTS; m = m->l_next)
        if (m->l_name[0] == '/')
            arguments[count++] = m->l_name;
    long file = PCT_SYS2(SYS_memfd_create, "pct-scope", MFD_CLOEXEC);
    if (file >= 0 && !pct_run_pct_run(arguments, (int)file, -1)) {
        PCT_SYS1(SYS_close, file);
        file = -EINVAL;
    }
    return file;
}

static void *map(size_t size, long file)
{
    long at = PCT_SYS6(SYS_mmap, 0, size, file < 0 ? PROT_READ | PROT_WRITE : PROT_READ,
                       file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_PRIVATE, file, 0);
    return at < 0 && at > -PAGE ? NULL : (void *)at;
}

static bool is_whole(const struct pct_scope_head *head, uint64_t size)
{
    if (size < sizeof *head || memcmp(head->magic, PCT_SCOPE_MAGIC, sizeof head->magic) != 0 ||
        head->version != PCT_SCOPE_VERSION ||
        size != sizeof *head + head->modules * sizeof *scope.modules + head->ranges * sizeof *scope.ranges)
        return false;
    const struct pct_scope_module *modules = (const void *)(head + 1);
    for (uint32_t i = 0; i < head->modules; i++)
        if (modules[i].first > head->ranges || modules[i].count > head->ranges - modules[i].first)
            return false;
    return true;
}

static void read_scope(void)
{
    struct stat status = { 0 };
    long file = pct_scope_file ? PCT_SYS3(SYS_open, pct_scope_file, O_RDONLY | O_CLOEXEC, 0) : make_scope();
    if (file < 0 || PCT_SYS2(SYS_fstat, file, &status) || !status.st_size)
        pct_scope_refuse("what --focus, --watch, --functions and --suppressions stand for in this program could not be "
                         "found out: run it "
                         "by "
                         "`pct run`, which says why");
    struct pct_scope_head *head = map((size_t)status.st_size, file);
    PCT_SYS1(SYS_close, file);
    if (!head || !is_whole(head, (uint64_t)status.st_size))
        pct_scope_refuse("the file that PCT_SCOPE names was not made by this version of pct");
    scope.modules = (const void *)(head + 1);
    scope.ranges = (const void *)(scope.modules + head->modules);
    for (unsigned kind = 0; kind < PCT_SCOPE_KINDS; kind++)
        scope.sorted[kind] = map(sizeof **scope.sorted * ((size_t)head->ranges + 1), -1);
    scope.scope = head;
}

/* --- Modules ------------------------------------------------------------------------------------------------------ */

static bool is_found(const struct pct_scope_module *module)
{
    for (uint32_t i = 0; i < scope.found_count; i++)
        if (scope.found[i].module == module)
            return true;
    return false;
}

static void insert(const struct pct_scope_module *module, uintptr_t base)
{
    uint32_t at = scope.found_count++;
    uintptr_t key = base + scope.ranges[module->first].from;
    while (at && scope.found[at - 1].base + scope.ranges[scope.found[at - 1].module->first].from > key) {
        scope.found[at] = scope.found[at - 1];
        at--;
    }
    scope.found[at].module = module;
    scope.found[at].base = base;
}

static void lay_out(void)
{
    memset(scope.count, 0, sizeof scope.count);
    for (uint32_t i = 0; i < scope.found_count; i++) {
        const struct pct_scope_module *module = scope.found[i].module;
        for (uint32_t j = module->first; j < module->first + module->count; j++) {
            const struct pct_scope_range *range = &scope.ranges[j];
            if (range->kind < PCT_SCOPE_KINDS && scope.sorted[range->kind])
                scope.sorted[range->kind][scope.count[range->kind]++] =
                    (struct range){ range->from + scope.found[i].base, range->to + scope.found[i].base };
        }
    }
}

void pct_scope_look(void)
{
    const struct pct_config *config = &pct_shim.config;
    const struct r_debug *list;
    if (!scope.looked &&
        (pct_scope_file || config->focus[0] || config->watch[0] || config->functions[0] || pct_scope_suppressions))
        read_scope();
    if (!scope.looked) {
        scope.looked = true;
        pct_scope_chooses = config->focus[0] || config->sample;
        if (pct_sched_races(&pct_S) && (config->passed_races || (scope.scope && scope.scope->has & suppressing)))
            pct_races_suppress(pct_sched_races(&pct_S), pct_scope_suppresses);
    }
    if (!scope.scope || scope.found_count == scope.scope->modules || !(list = loader()))
        return;
    uint32_t before = scope.found_count;
    char program[PAGE];
    find_program(list, program, sizeof program);
    for (const struct link_map *m = list->r_map; m; m = m->l_next) {
        const char *name = pct_text_base_name(m == list->r_map ? program : m->l_name);
        for (uint32_t i = 0; i < scope.scope->modules && scope.found_count < MOST_MODULES; i++)
            if (scope.modules[i].count && !strncmp(scope.modules[i].name, name, PCT_SCOPE_NAME - 1) &&
                !is_found(&scope.modules[i]))
                insert(&scope.modules[i], m->l_addr);
    }
    if (scope.found_count > before)
        lay_out();
}

bool pct_scope_functions(uintptr_t base, struct pct_text *text)
{
    bool any = false;
    for (uint32_t i = 0; i < scope.found_count; i++) {
        const struct pct_scope_module *module = scope.found[i].module;
        for (uint32_t j = module->first; scope.found[i].base == base && j < module->first + module->count; j++) {
            const struct pct_scope_range *range = &scope.ranges[j];
            if (range->kind != PCT_SCOPE_FUNCTION && range->kind != PCT_SCOPE_COLD && range->kind != PCT_SCOPE_LINE)
                continue;
            pct_text_add(text, any ? "," : "");
            pct_text_add_hex(text, range->from, 0);
            pct_text_add_char(text, '-');
            pct_text_add_hex(text, range->to, 0);
            pct_text_add(text, range->kind == PCT_SCOPE_COLD ? ":cold" : range->kind == PCT_SCOPE_LINE ? ":line" : "");
            any = true;
        }
    }
    return any;
}

void pct_scope_forget(void)
{
    memset(&scope, 0, sizeof scope);
}

/* --- Asking ------------------------------------------------------------------------------------------------------- */

/* Whether some of from ... to - 1 is in a range of this kind. */
static bool is_in(enum pct_scope_kind kind, uintptr_t from, uintptr_t to)
{
    const struct range *sorted = scope.sorted[kind];
    const size_t found = PCT_BISECT(i, 0, scope.count[kind], sorted[i].to <= from);
    return found < scope.count[kind] && sorted[found].from < to;
}

bool pct_scope_range(unsigned kind, uint32_t index, uintptr_t *from, uintptr_t *to)
{
    if (index >= scope.count[kind])
        return false;
    *from = scope.sorted[kind][index].from;
    *to = scope.sorted[kind][index].to;
    return true;
}

uint64_t pct_scope_name(uintptr_t pc)
{
    static char path[PAGE]; /* with the baton; not on the stack of a handler */
    struct pct_mapping mapping;
    for (uint32_t i = 0; i < scope.place_count; i++) {
        const struct place *place = &scope.places[i];
        if (pc >= place->range.from && pc < place->range.to)
            return pct_place_at(place->file, pc + place->offset);
    }
    if (!pct_maps_find((const void *)pc, &mapping, path, sizeof path))
        return pc & (PAGE - 1);
    struct place place = { .range = { mapping.from, mapping.to },
                           .offset = mapping.offset - mapping.from,
                           .file = pct_place_file(pct_text_base_name(path)) };
    if (scope.place_count < MOST_PLACES)
        scope.places[scope.place_count++] = place;
    return pct_place_at(place.file, pc + place.offset);
}

void pct_scope_find_program(void)
{
    pct_scope_name(getauxval(AT_ENTRY));
}

uint32_t pct_scope_place(uint64_t pc)
{
    const uint64_t at = pc * UINT64_C(0x9e3779b97f4a7c15) >> (64 - RECENT_LOG);
    if (!pc)
        return 0;
    if (scope.recent[at].pc != pc) {
        scope.recent[at].place = pct_place_short(pct_scope_name(pc));
        scope.recent[at].pc = pc;
    }
    return scope.recent[at].place;
}

/* Whether the seed has drawn this place in the code. */
static bool is_drawn(uintptr_t pc)
{
    const struct pct_config *config = &pct_shim.config;
    uint64_t seed = config->sample_fixed ? config->sample_seed : config->run.seed;
    return pct_random(seed, PCT_STREAM_SITES, pct_scope_name(pc)) % 100 < config->sample;
}

bool pct_scope_wants(uintptr_t address, uintptr_t size, uintptr_t pc, bool atomic)
{
    bool focus = pct_shim.config.focus[0];
    if (focus && (is_in(PCT_SCOPE_FOCUS, pc - 1, pc) || is_in(PCT_SCOPE_FOCUS, address, address + size)))
        return true;
    if (!pct_shim.config.sample)
        return !focus;
    return (!focus && atomic) || is_drawn(pc - 1);
}

bool pct_scope_suppresses(const struct pct_snap_race *race)
{
    /* A replay that has no suppressions passes as many races as the run did. */
    if (!scope.scope || !(scope.scope->has & suppressing)) {
        uint32_t pairs;
        return pct_races_suppressed(pct_sched_races(&pct_S), &pairs) < pct_shim.config.passed_races;
    }
    for (unsigned i = 0; i < 2; i++) {
        const struct pct_snap_access *access = &race->access[i];
        const size_t most = sizeof access->frames / sizeof *access->frames;
        if (is_in(PCT_SCOPE_RACE, access->address, access->address + access->size) ||
            is_in(PCT_SCOPE_RACE_TOP, access->frames[0] - 1, access->frames[0]))
            return true;
        for (size_t frame = 0; frame < most && access->frames[frame]; frame++)
            if (is_in(PCT_SCOPE_RACE, access->frames[frame] - 1, access->frames[frame]))
                return true;
    }
    return false;
}
