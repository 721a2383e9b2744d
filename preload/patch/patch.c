/* Patching the modules of the process: see patch.h. The change is made by the thread with the baton, inside
 * pthread_create, while all others are parked: so nothing runs in the code that changes, and whoever will return to it
 * returns between two instructions. All that comes before it is memory beside the program, which the process that runs
 * are forked from has made for all of them. */
#include "patch.h"
#include <common/bisect.h>
#include <common/demon.h>
#include <common/text.h>
#include <patch/place.h>
#include <preload/core/apart.h>
#include <preload/core/debugger.h>
#include <preload/core/host.h>
#include <preload/core/maps.h>
#include <preload/core/real.h>
#include <preload/core/sys.h>
#include <preload/memory/memory.h>
#include <preload/memory/scope.h>
#include <preload/signals/signals.h>
#include <preload/signals/trap.h>
#include "patch_choice.h"
#include "patch_leaf.h"
#include "patch_plan.h"
#include "patch_room.h"
#include "patch_slots.h"
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { PAGE = 4096, NAME = 1100, MOST_PAGES = 28000 };

/* A page of a module's code that is to change: what it is, and what it will be. */
struct change {
    uint64_t at;
    size_t size;
    uint8_t before[PAGE], after[PAGE];
};

/* A module that was looked at. */
struct module {
    struct module *next;
    const void *dynamic;                    /* by which it is known again */
    enum pct_plan_refusal why;              /* it is not patched */
    bool changed;                           /* it was, or it was said why it is not */
    uint64_t from, to;                      /* its code */
    uint64_t near, near_end, sites, untold; /* untold: accesses to stacks that are left alone */
    struct change *changes;                 /* until they are made */
    size_t changes_count;
    struct pct_placing place;
    struct pct_patch_slots slots;
    char path[NAME];
};

/* What all of this depends on: a forked run may want something else than the process that it is forked from. */
struct settings {
    uint32_t memory, points, races, calls, strings, blocks; /* blocks: no thread stands between what moves together */
    char modules[sizeof pct_shim.config.modules], functions[sizeof pct_shim.config.functions];
};

static struct module *modules;
static struct settings settings;
static const struct r_debug *loader; /* its list of modules */

static void unmap(const void *at, size_t size)
{
    if (at)
        PCT_SYS2(SYS_munmap, at, size);
}

/* --- One module --------------------------------------------------------------------------------------------------- */

static unsigned pages; /* of all modules; the kernel's limit is 65,530 mappings, and the program needs some, too */

static uint8_t *map_page(void *context, uint64_t address)
{
    (void)context;
    if (pages == MOST_PAGES)
        return NULL;
    uint8_t *page = pct_patch_map_at(address, PAGE);
    pages += page != NULL;
    return page;
}

/* Room for trampolines that the whole code can reach, and that can reach its data. */
static bool find_room(struct pct_placing *p, uint64_t from, uint64_t to)
{
    p->near_size = pct_place_room(p->plan->sites, pct_leaf_size());
    p->near = pct_patch_room_below(from & ~(uint64_t)(PAGE - 1), p->near_size);
    if (!p->near)
        p->near = pct_patch_room_above((to + PAGE - 1) & ~(uint64_t)(PAGE - 1), PCT_PATCH_HEAP_ROOM, p->near_size);
    p->near_address = (uint64_t)(uintptr_t)p->near;
    return p->near != NULL;
}

/* The module whose trampolines are being made. */
static const struct pct_placing *placing;

/* A part of the table of cells, further from the code than the trampolines are, but in their reach; or else anywhere.
 */
static void *map_near(size_t size)
{
    const uint64_t first = placing->near_address, end = first + placing->near_size;
    size = (size + PAGE - 1) & ~(size_t)(PAGE - 1);
    void *room = end <= placing->bias + placing->plan->from ? pct_patch_room_below(first, size)
                                                            : pct_patch_room_above(end, PCT_PATCH_NEAR_STEP, size);
    return room ? room : pct_apart_map(size);
}

static uint64_t mark_of(uint64_t address)
{
    return pct_memory_mark_of(address, map_near);
}

static bool is_as_planned(const struct pct_placing *p)
{
    const struct pct_plan_site *sites = pct_plan_sites(p->plan);
    for (uint64_t i = 0; i < p->plan->sites; i++)
        if (memcmp(p->code + (sites[i].address - p->plan->from), sites[i].bytes, sizeof sites[i].bytes))
            return false;
    return true;
}

/* Let the processor run all that was made. False: the system does not allow it. */
static bool protect(const struct pct_placing *p)
{
    bool allowed = !PCT_SYS3(SYS_mprotect, p->near_address, p->near_size, PROT_READ | PROT_EXEC);
    for (uint32_t i = 0; i < p->page_count && allowed; i++)
        if (p->pages[i].memory)
            allowed = !PCT_SYS3(SYS_mprotect, p->pages[i].address, PAGE, PROT_READ | PROT_EXEC);
    return allowed;
}

/* The size of the part of the code that begins here and does not go beyond a page. */
static size_t part(const struct module *m, uint64_t at)
{
    size_t size = PAGE - at % PAGE;
    return size < m->to - at ? size : m->to - at;
}

/* Which pages of the code are not what they are in our copy. False: out of memory. A page that stays as it is stays the
 * file's. */
static bool find_changes(struct module *m)
{
    const uint8_t *code = m->place.code;
    size_t count = 0, size;
    for (uint64_t at = m->from; at < m->to; at += size) {
        size = part(m, at);
        count += !pct_debugger_code_is((const void *)at, code + (at - m->from), size);
    }
    m->changes_count = count;
    m->changes = count ? pct_apart_map(count * sizeof *m->changes) : NULL;
    struct change *change = m->changes;
    for (uint64_t at = m->from; change && at < m->to; at += size) {
        const uint8_t *after = code + (at - m->from);
        size = part(m, at);
        if (pct_debugger_code_is((const void *)at, after, size))
            continue;
        change->at = at;
        change->size = size;
        pct_debugger_copy_code(change->before, (const void *)at, size);
        memcpy(change->after, after, size);
        change++;
    }
    return m->changes || !count;
}

/* Whether the code is what was made ready; or what it was before. */
static bool is_code(const struct module *m, bool patched)
{
    const struct change *c = m->changes, *end = c + m->changes_count;
    while (c < end && pct_debugger_code_is((const void *)c->at, patched ? c->after : c->before, c->size))
        c++;
    return c == end;
}

/* Where the code was written to, but may not be run any more: back to the file's. */
static void restore(const struct module *m)
{
    struct pct_mapping text;
    if (is_code(m, false) || !pct_maps_find((const void *)m->from, &text, NULL, 0))
        return;
    long file = PCT_SYS3(SYS_open, m->path, O_RDONLY | O_CLOEXEC, 0);
    PCT_SYS6(SYS_mmap, text.from, text.to - text.from, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, file,
             text.offset);
    PCT_SYS1(SYS_close, file);
}

/* What a host lets nobody else do, since it undoes it (undo()). */
static bool allow(const struct module *m, int rights)
{
    const uint64_t from = m->from & ~(uint64_t)(PAGE - 1), to = (m->to + PAGE - 1) & ~(uint64_t)(PAGE - 1);
    return !pct_host_sys4(SYS_mprotect, (long)from, (long)(to - from), rights, 0);
}

/* The code becomes what was made ready; back: or what it was. */
static bool write_code(const struct module *m, bool back)
{
    const struct change *c = m->changes, *end = c + m->changes_count;
    for (bool written = true; c < end && written; c += written) {
        const uint8_t *code = back ? c->before : c->after;
        written =
            pct_debugger_copies((void *)c->at, code, c->size) || pct_host_memory_write((void *)c->at, code, c->size);
    }
    if (c == end) /* the code could be run all the time: debuggers step over breakpoints somewhere in it */
        return true;
    if (!allow(m, PROT_READ | PROT_WRITE))
        return false;
    for (; c < end; c++)
        memcpy((void *)c->at, back ? c->before : c->after, c->size);
    return allow(m, PROT_READ | PROT_EXEC);
}

static enum pct_plan_refusal change(struct module *m)
{
    if (!is_code(m, false))
        return PCT_PLAN_CHANGED;
    if (!write_code(m, false)) {
        restore(m);
        return PCT_PLAN_PROTECTED;
    }
    if (!pct_host_is_on()) {
        unmap(m->changes, m->changes_count * sizeof *m->changes);
        m->changes = NULL;
    }
    m->near = m->place.near_address;
    m->near_end = m->place.near_address + m->place.near_used;
    return PCT_PLAN_NONE;
}

/* Memory of a host is as it was before a run, or at a point in the middle of one: so are the code, and what the loader
 * has locked. */
static bool undo(void)
{
    for (const struct module *m = modules; m; m = m->next) {
        const bool patched = m->near_end;
        if ((m->changes && !is_code(m, patched) && !write_code(m, !patched)) ||
            !pct_patch_slots_put_back(&m->slots, m->changed))
            return false;
    }
    return true;
}

/* What only the making needs. */
static void discard(struct pct_placing *p)
{
    uint64_t length = p->plan->to - p->plan->from;
    unmap(p->code, length);
    unmap(p->locked, 2 * (length / 8 + 1));
    p->code = p->locked = p->breaks = NULL;
}

/* What a patched module needs. */
static void abandon(struct module *m)
{
    struct pct_placing *p = &m->place;
    unmap(p->near, p->near_size);
    unmap(p->patched, m->sites * sizeof *p->patched);
    for (uint32_t i = 0; i < p->page_count; i++) {
        unmap(p->pages[i].memory, PAGE);
        pages -= p->pages[i].memory != NULL;
    }
    unmap(p->pages, sizeof *p->pages * PCT_PLACE_MAX_PAGES);
    unmap(p->slots, sizeof *p->slots * PCT_PLACE_SLOTS);
    unmap(m->changes, m->changes_count * sizeof *m->changes);
    *p = (struct pct_placing){ 0 };
    m->changes = NULL;
    pct_patch_slots_abandon(&m->slots);
}

/* Make all that the patched module will need. */
static enum pct_plan_refusal carry_out(struct module *m, bool executable)
{
    struct pct_placing *p = &m->place;
    uint64_t length = m->to - m->from;
    struct pct_mapping text;
    if (!pct_maps_find((const void *)m->from, &text, NULL, 0) || m->to > text.to || text.shared)
        return PCT_PLAN_CHANGED;
    p->code = pct_apart_map(length);
    p->locked = pct_apart_map(2 * (length / 8 + 1));
    p->breaks = p->locked ? p->locked + length / 8 + 1 : NULL;
    p->patched = pct_apart_map(p->plan->sites * sizeof *p->patched);
    p->pages = pct_apart_map(sizeof *p->pages * PCT_PLACE_MAX_PAGES);
    p->slots = pct_apart_map(sizeof *p->slots * PCT_PLACE_SLOTS);
    p->map = map_page;
    p->calls = pct_shim.config.calls;
    p->traps = pct_config_traps(&pct_shim.config);
    p->blocks = settings.blocks && pct_sched_threads(&pct_S) <= 1;
    p->avoid_from = m->to;
    p->avoid_to = m->to + (executable ? PCT_PATCH_HEAP_ROOM : 0);
    if (!p->code || !p->locked || !p->patched || !p->pages || !p->slots || !find_room(p, m->from, m->to))
        return PCT_PLAN_SPACE;
    pct_debugger_copy_code(p->code, (const void *)m->from, length);
    for (uint64_t at = 0; at < length; at++) /* of a debugger's breakpoints */
        p->breaks[at / 8] |= (uint8_t)((p->code[at] != ((const uint8_t *)m->from)[at]) << at % 8);
    if (!is_as_planned(p))
        return PCT_PLAN_CHANGED;
    char *variable = (char *)&pct_memory_own;
    /* gcc 14 would read half of the offset from the table of the linker, which assemblers refuse. */
    __asm__("" : "+r"(variable));
    int32_t own = (int32_t)(variable - (char *)__builtin_thread_pointer());
    void *const *table = pct_memory_table();
    pct_leaf_make(p->near, p->near_address, table, own, &p->leaves);
    p->leaves.mark = table ? mark_of : NULL;
    placing = p;
    p->near_used = pct_leaf_size();
    pct_place_module(p);
    if (!protect(p))
        return PCT_PLAN_PROTECTED;
    return find_changes(m) ? PCT_PLAN_NONE : PCT_PLAN_SPACE;
}

static enum pct_plan_refusal prepare_by(struct module *m, const struct pct_plan *plan, const struct link_map *map_)
{
    if (plan->refusal)
        return plan->refusal;
    if (pct_shim.config.strings && !pct_patch_slots_prepare(&m->slots, plan, map_->l_addr))
        return PCT_PLAN_SPACE;
    if (!plan->sites)
        return PCT_PLAN_NONE;
    m->from = plan->from + map_->l_addr;
    m->to = plan->to + map_->l_addr;
    m->sites = plan->sites;
    m->untold = plan->untold;
    m->place.plan = plan;
    m->place.bias = map_->l_addr;
    enum pct_plan_refusal why = carry_out(m, map_ == loader->r_map);
    discard(&m->place);
    if (why != PCT_PLAN_NONE)
        abandon(m);
    m->place.plan = NULL;
    return why;
}

static void prepare(struct module *m, const struct link_map *map_)
{
    struct pct_mapping mapping;
    m->why = PCT_PLAN_NO_PLAN;
    if (!pct_patch_entry_start())
        m->why = PCT_PLAN_PROCESSOR;
    else if (pct_maps_find(map_->l_ld, &mapping, m->path, sizeof m->path)) {
        const struct pct_plan *plan =
            pct_plan_read(m->path, pct_patch_level(map_, map_ == loader->r_map), pct_patch_functions(map_));
        m->why = plan ? prepare_by(m, plan, map_) : PCT_PLAN_NO_PLAN;
        unmap(plan, plan ? plan->size : 0);
    }
}

static void note(const char *path, enum pct_plan_refusal why)
{
    pct_uncontrolled(PCT_UNCONTROLLED_MODULE);
    for (unsigned i = 0; i < PCT_PLACES; i++) {
        struct pct_place *place = &pct_shim.header->places[i];
        struct pct_text text;
        if (place->count)
            continue;
        *place = (struct pct_place){ .kind = PCT_UNCONTROLLED_MODULE, .call = why, .count = 1 };
        pct_text_init(&text, place->where, sizeof place->where);
        pct_text_add(&text, pct_text_base_name(path));
        return;
    }
}

static struct module *module_at(const void *dynamic)
{
    struct module *m = modules;
    while (m && m->dynamic != dynamic)
        m = m->next;
    return m;
}

/* The module behind this entry of the loader's list, which may be new; made ready, unless the process has confined
 * itself. NULL: it is none to be patched, or there is no memory. */
static struct module *look_at(const struct link_map *map_)
{
    struct module *m = module_at(map_->l_ld);
    if (m && m->changed && map_ != loader->r_map && !pct_host_is_on() &&
        pct_patch_is_gone(m->place.patched, m->sites)) {
        m->dynamic = NULL;
        m->from = m->to = 0;
        m = NULL;
    }
    if (m || (pct_patch_level(map_, map_ == loader->r_map) == PCT_PATCH_OFF && !*pct_patch_functions(map_)))
        return m;
    m = pct_apart_map(sizeof *m);
    if (!m)
        return NULL;
    m->dynamic = map_->l_ld;
    if (!pct_shim.confined)
        prepare(m, map_);
    m->next = modules;
    modules = m;
    return m;
}

/* A forked run has other settings than its server, which has patched nothing yet. All that was prepared goes, so that
 * the jumps of this run fit where they do in a process of its own. */
static void give_up(void)
{
    for (struct module *m = modules, *next; m; m = next) {
        next = m->next;
        abandon(m);
        unmap(m, sizeof *m);
    }
    modules = NULL;
    pct_memory_unmark();
}

/* In a child of a process with threads: what is patched runs, and keeps what it jumps to. */
static bool is_patched(void)
{
    const struct module *m = modules;
    while (m && !m->changed)
        m = m->next;
    return m != NULL;
}

static void take_settings(void)
{
    const struct pct_config *config = &pct_shim.config;
    struct settings now = { .memory = config->memory,
                            .points = config->memory_points,
                            .races = config->races,
                            .calls = config->calls,
                            .strings = config->strings,
                            .blocks = !(pct_self && pct_signal_is_handling(pct_self)) };
    memcpy(now.modules, config->modules, sizeof now.modules);
    memcpy(now.functions, config->functions, sizeof now.functions);
    if (memcmp(&now, &settings, sizeof now) != 0 && !is_patched())
        give_up();
    settings = now;
}

/* The loader's list can be read. */
static bool find_loader(void)
{
    /* Not by its name: libpct.so would depend on the loader's library. The first time there is no other thread yet,
     * which could have been parked in the loader. */
    if (!loader)
        loader = REAL(dlsym)(RTLD_DEFAULT, "_r_debug");
    /* Reads the loader's list without its lock: who would change it has parked; in the middle of that, the state says
     * so. */
    return loader && loader->r_state == RT_CONSISTENT;
}

void pct_patch_prepare(void)
{
    if (!pct_patch_is_wanted() || !find_loader())
        return;
    pct_host_undo = undo;
    if (pct_shim.config.strings)
        pct_strings_find();
    take_settings();
    if (pct_shim.config.functions[0])
        pct_scope_look();
    for (const struct link_map *map_ = loader->r_map; map_; map_ = map_->l_next)
        look_at(map_);
    pct_scope_forget(); /* the runs have scopes of their own */
}

/* No jump that fits there leads to free memory. */
static void refuse_place(const struct module *m, uint64_t address)
{
    char message[NAME + 256];
    struct pct_text text;
    pct_text_init(&text, message, sizeof message);
    pct_text_add(&text, "--functions: no jump fits in this process at 0x");
    pct_text_add_hex(&text, address, 0);
    pct_text_add(&text, " of ");
    pct_text_add(&text, m->path);
    pct_text_add(&text, ", where one of these functions or lines begins or returns: name others, or build it with -O0 "
                        "-falign-functions=16");
    pct_scope_refuse(message);
}

/* A script's threads must be able to stand where it says, and a demon must see what begins. In other runs such a place
 * is counted with those that are no points. */
static void check_functions(const struct module *m, const char *functions)
{
    const unsigned flags = pct_sched_has_script(&pct_S) ? PCT_SITE_ENTERS | PCT_SITE_RETURNS : PCT_SITE_ENTERS;
    if (!*functions || !(pct_sched_has_script(&pct_S) || pct_demon_enter))
        return;
    if (m->why != PCT_PLAN_NONE)
        pct_scope_refuse("--functions: where these functions or lines begin or return, this process cannot be patched; "
                         "`pct sites` says what is known of its file");
    for (uint64_t i = 0; m->place.patched && i < m->sites; i++)
        if (m->place.patched[i].site.flags & flags && !m->place.patched[i].trampoline)
            refuse_place(m, m->place.patched[i].site.address - m->place.bias);
}

/* Change it, if nothing speaks against that. */
static enum pct_plan_refusal patch(struct module *m)
{
    if (pct_shim.confined)
        return PCT_PLAN_CONFINED;
    if (m->why == PCT_PLAN_PROCESSOR)
        return m->why;
    if (pct_patch_others_run())
        return PCT_PLAN_OTHERS;
    enum pct_plan_refusal why = m->changes && m->why == PCT_PLAN_NONE ? change(m) : m->why;
    if (why != PCT_PLAN_NONE) {
        abandon(m);
        return why;
    }
    if (m->place.patched)
        pct_sched_count_uncontrolled(&pct_S, PCT_UNCONTROLLED_SITE, m->place.ways[PCT_WAY_ALONE]);
    pct_shim.untold |= m->untold || m->place.ways[PCT_WAY_ALONE];
    return !pct_shim.config.strings || pct_patch_slots_change(&m->slots) ? PCT_PLAN_NONE : PCT_PLAN_PROTECTED;
}

void pct_patch_modules(void)
{
    if (!pct_patch_is_wanted() || !find_loader())
        return;
    if (pct_sched_threads(&pct_S) == 1)
        take_settings();
    if (pct_shim.config.strings)
        pct_strings_find();
    if (pct_config_traps(&pct_shim.config))
        pct_trap_start(PCT_TRAP_CODE);
    for (const struct link_map *map_ = loader->r_map; map_; map_ = map_->l_next) {
        struct module *m = look_at(map_);
        if (!m || m->changed)
            continue;
        m->changed = true;
        m->why = patch(m);
        check_functions(m, pct_patch_functions(map_));
        if (m->why != PCT_PLAN_NONE)
            note(*m->path ? m->path : map_ == loader->r_map ? "the program" : map_->l_name, m->why);
    }
}

/* --- Signals ------------------------------------------------------------------------------------------------------ */

static const struct module *module_of(uint64_t pc)
{
    for (const struct module *m = modules; m; m = m->next)
        if (pc >= m->near && pc < m->near_end)
            return m;
    return NULL;
}

/* pc may be at a jmp that leads to a trampoline: an island, or a site. */
static uint64_t follow(uint64_t pc)
{
    int32_t distance;
    memcpy(&distance, (const void *)(pc + 1), sizeof distance);
    return *(const uint8_t *)pc == 0xe9 ? pc + PCT_JUMP_SIZE + (uint64_t)(int64_t)distance : pc;
}

static bool is_island(uint64_t pc)
{
    for (const struct module *m = modules; m; m = m->next) {
        if (pc >= m->from && pc < m->to)
            return true;
        for (uint32_t i = 0; i < m->place.page_count; i++)
            if (m->place.pages[i].memory && pc - m->place.pages[i].address < PAGE)
                return true;
    }
    return false;
}

/* The module's site at this address; NULL: there is none. */
static const struct pct_patched *site_at(const struct module *m, uint64_t address)
{
    const struct pct_patched *patched = m->place.patched;
    const size_t count = patched ? m->sites : 0, found = PCT_BISECT(i, 0, count, patched[i].site.address < address);
    return found < count && patched[found].site.address == address ? &patched[found] : NULL;
}

bool pct_patch_trapped(int signal, const siginfo_t *info, ucontext_t *context)
{
    const uint64_t address = (uint64_t)context->uc_mcontext.gregs[REG_RIP] - 1;
    if (signal != SIGTRAP || info->si_code != SI_KERNEL)
        return false;
    for (const struct module *m = modules; m; m = m->next) {
        const struct pct_patched *patched = address >= m->from && address < m->to ? site_at(m, address) : NULL;
        if (!patched || !patched->trampoline)
            continue;
        context->uc_mcontext.gregs[REG_RIP] = (greg_t)patched->trampoline;
        return true;
    }
    return false;
}

void pct_patch_translate(ucontext_t *context)
{
    greg_t *regs = context->uc_mcontext.gregs;
    struct pct_interrupted at = { .pc = (uint64_t)regs[REG_RIP],
                                  .sp = (uint64_t)regs[REG_RSP],
                                  .rax = (uint64_t)regs[REG_RAX],
                                  .rcx = (uint64_t)regs[REG_RCX],
                                  .rdx = (uint64_t)regs[REG_RDX],
                                  .flags = (uint64_t)regs[REG_EFL] };
    if (!modules || pct_patch_leave_probe(regs))
        return;
    if (!module_of(at.pc) && is_island(at.pc))
        at.pc = follow(at.pc);
    const struct module *m = module_of(at.pc);
    if (!m)
        return;
    uint64_t trampolines = m->near + pct_leaf_size();
    if (at.pc < trampolines && !pct_leaf_unwind(at.pc - m->near, &at))
        return;
    const struct pct_patched *patched = pct_emit_find(at.pc, trampolines, m->place.patched, m->sites);
    if (!patched)
        return;
    pct_emit_unwind(patched, &at);
    regs[REG_RIP] = (greg_t)at.pc;
    regs[REG_RSP] = (greg_t)at.sp;
    regs[REG_RAX] = (greg_t)at.rax;
    regs[REG_RCX] = (greg_t)at.rcx;
    regs[REG_RDX] = (greg_t)at.rdx;
    regs[REG_EFL] = (greg_t)at.flags;
}
