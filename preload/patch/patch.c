/* Patching the modules of the process: see patch.h. By the thread with the baton, inside pthread_create, while all others are
 * parked: so nothing runs in the code that changes, and whoever will return to it returns between two instructions. */
#include "patch.h"
#include <preload/core/command.h>
#include <preload/core/maps.h>
#include <preload/memory/memory.h>
#include "patch_leaf.h"
#include <preload/core/shim.h>
#include <preload/core/sys.h>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <patch/place.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { PAGE = 4096, NAME = 1100, MOST_PAGES = 28000, MOST_MODULES = 256 };

/* A program's heap begins behind it and grows: no islands there. Where it cannot grow any more, allocators ask for memory elsewhere. */
#define HEAP_ROOM (UINT64_C(3) << 26)
/* Where to look for room for trampolines: so far apart, and at most so far away from the code. */
#define NEAR_STEP (UINT64_C(1) << 26)
#define NEAR_REACH (UINT64_C(0x70000000))

/* A module that was patched. */
struct module {
    struct module *next;
    uint64_t from, to; /* its code */
    uint64_t near, near_end;
    uint64_t sites;
    struct pct_placing place;
};

const char *pct_patch_plans;
static struct module *modules;
static const struct r_debug *loader; /* its list of modules */

static void *map(size_t size)
{
    long at = PCT_SYS6(SYS_mmap, 0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at < 0 && at > -PAGE ? NULL : (void *)at;
}

static void *map_at(uint64_t address, size_t size)
{
    long at = PCT_SYS6(SYS_mmap, address, size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (at < 0 && at > -PAGE)
        return NULL;
    if ((uint64_t)at == address)
        return (void *)at;
    PCT_SYS2(SYS_munmap, at, size); /* a kernel that does not know that flag */
    return NULL;
}

static void unmap(const void *at, size_t size)
{
    if (at)
        PCT_SYS2(SYS_munmap, at, size);
}

/* --- The user's wishes ------------------------------------------------------------------------------------------------- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Whether the name of a file is this word, with a version and the like behind it. */
static bool is_named(const char *file, const char *word, size_t length)
{
    return !strncmp(file, word, length) && (!file[length] || strchr(".-", file[length]));
}

/* What must never be patched: what the slow half itself runs in, and what is no file. */
static bool is_excluded(const char *file)
{
    static const char *const never[] = { "libc",       "ld-linux-x86-64", "ld",      "libpct",   "libpct-tsan",
                                         "linux-vdso", "libasan",         "libtsan", "libubsan", "liblsan" };
    for (unsigned i = 0; i < sizeof never / sizeof *never; i++)
        if (is_named(file, never[i], strlen(never[i])))
            return true;
    return !*file;
}

static bool is_wanted(const char *file)
{
    if (is_excluded(file))
        return false;
    for (const char *word = pct_shim.config.modules; *word;) {
        size_t length = strcspn(word, "/");
        if (length && (is_named(file, word, length) || (length == 3 && !strncmp(word, "all", 3))))
            return true;
        word += length;
        word += *word != 0;
    }
    return false;
}

/* --- Plans ------------------------------------------------------------------------------------------------------------- */

static bool make_plan(long file, long output)
{
    char path[32], option[32];
    struct pct_text text;
    static const char *const levels[] = PCT_MEMORY_WORDS;
    pct_text_init(&text, path, sizeof path);
    pct_text_add(&text, "/proc/self/fd/");
    pct_text_add_u64(&text, (uint64_t)file);
    pct_text_init(&text, option, sizeof option);
    pct_text_add(&text, "--memory=");
    pct_text_add(&text, levels[pct_shim.config.memory]);
    char *const arguments[] = { "pct", "sites", "--plan", option, path, NULL };
    return pct_command_run(arguments, (int)output, (int)file);
}

/* The file in pct_patch_plans that is for this module as it is now: other runs may have made it. */
static void name_plan(char *path, size_t size, const struct stat *status)
{
    struct pct_text text;
    pct_text_init(&text, path, size);
    pct_text_add(&text, pct_patch_plans);
    pct_text_add(&text, "/");
    const uint64_t numbers[] = { status->st_dev,
                                 status->st_ino,
                                 (uint64_t)status->st_size,
                                 (uint64_t)status->st_mtim.tv_sec,
                                 (uint64_t)status->st_mtim.tv_nsec,
                                 pct_shim.config.memory };
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        pct_text_add_hex(&text, numbers[i], 0);
        pct_text_add_char(&text, '-');
    }
    pct_text_add(&text, "plan");
}

/* Whether a plan is what it should be: it comes from a file. */
static bool is_sound(const struct pct_plan *plan, uint64_t size)
{
    if (size < sizeof *plan || memcmp(plan->magic, PCT_PLAN_MAGIC, sizeof plan->magic) || plan->size != size ||
        plan->level != pct_shim.config.memory || plan->refusal >= PCT_PLAN_REFUSALS_COUNT ||
        plan->sites > size / sizeof(struct pct_plan_site) || plan->pads > size / sizeof(struct pct_pad) ||
        size != sizeof *plan + plan->sites * sizeof(struct pct_plan_site) + plan->pads * sizeof(struct pct_pad))
        return false;
    uint64_t last = plan->from;
    for (uint64_t i = 0; i < plan->sites; i++) {
        const struct pct_plan_site *site = &pct_plan_sites(plan)[i];
        if (site->address < last || site->length < PCT_SITE_SHORTEST || site->length > 15 ||
            site->address + site->length > plan->to || site->displacement_at + 4 > 16)
            return false;
        last = site->address + site->length;
    }
    last = plan->from;
    for (uint64_t i = 0; i < plan->pads; i++) {
        const struct pct_pad *pad = &pct_plan_pads(plan)[i];
        if (pad->address < last || pad->size > plan->to || pad->address + pad->size > plan->to)
            return false;
        last = pad->address + pad->size;
    }
    return true;
}

/* The plan in this file; NULL: there is none that could be used. */
static const struct pct_plan *map_plan(long plan)
{
    struct stat status;
    long at = -1;
    if (plan >= 0 && !PCT_SYS2(SYS_fstat, plan, &status) && status.st_size > 0)
        at = PCT_SYS6(SYS_mmap, 0, status.st_size, PROT_READ, MAP_PRIVATE, plan, 0);
    if (plan >= 0)
        PCT_SYS1(SYS_close, plan);
    if (at < 0 && at > -PAGE)
        return NULL;
    if (is_sound((void *)at, (uint64_t)status.st_size))
        return (void *)at;
    PCT_SYS2(SYS_munmap, at, status.st_size);
    return NULL;
}

/* Let the command make the plan of the module that is open as `file`, and keep it as `path`, if that is not NULL. */
static const struct pct_plan *new_plan(long file, const char *path)
{
    char own[NAME + 24];
    long plan = -1;
    if (path) {
        struct pct_text text;
        pct_text_init(&text, own, sizeof own);
        pct_text_add(&text, path);
        pct_text_add_char(&text, '.');
        pct_text_add_u64(&text, (uint64_t)PCT_SYS0(SYS_getpid));
        plan = PCT_SYS3(SYS_open, own, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    }
    bool kept = plan >= 0;
    if (!kept)
        plan = PCT_SYS2(SYS_memfd_create, "pct-plan", MFD_CLOEXEC);
    bool made = plan >= 0 && make_plan(file, plan);
    if (kept && made)
        PCT_SYS2(SYS_rename, own, path);
    else if (kept)
        PCT_SYS1(SYS_unlink, own);
    return map_plan(plan);
}

static const struct pct_plan *read_plan(const char *module)
{
    char path[NAME];
    struct stat status;
    const struct pct_plan *plan = NULL;
    long file = PCT_SYS3(SYS_open, module, O_RDONLY | O_CLOEXEC, 0);
    if (file < 0)
        return NULL;
    bool kept = pct_patch_plans && !PCT_SYS2(SYS_fstat, file, &status);
    if (kept) {
        name_plan(path, sizeof path, &status);
        plan = map_plan(PCT_SYS3(SYS_open, path, O_RDONLY | O_CLOEXEC, 0));
    }
    if (!plan)
        plan = new_plan(file, kept ? path : NULL);
    PCT_SYS1(SYS_close, file);
    return plan;
}

/* --- One module -------------------------------------------------------------------------------------------------------- */

static uint8_t *map_page(void *context, uint64_t address)
{
    static unsigned pages; /* of all modules; the kernel's limit is 65,530 mappings, and the program needs some, too */
    (void)context;
    if (pages == MOST_PAGES)
        return NULL;
    uint8_t *page = map_at(address, PAGE);
    pages += page != NULL;
    return page;
}

/* Free memory of this size, as near below `from` as there is any in steps. NULL: none that code there could reach. */
static void *room_below(uint64_t from, size_t size)
{
    void *room = NULL;
    for (uint64_t away = NEAR_STEP; away < NEAR_REACH && !room; away += NEAR_STEP)
        if (from > away + size + NEAR_STEP)
            room = map_at(from - away - size, size);
    return room;
}

/* The same above `to`, this far away at least. */
static void *room_above(uint64_t to, uint64_t least, size_t size)
{
    void *room = NULL;
    for (uint64_t away = least; away < NEAR_REACH && !room; away += NEAR_STEP)
        room = map_at(to + away, size);
    return room;
}

/* Room for trampolines that the whole code can reach, and that can reach its data. */
static bool find_room(struct pct_placing *p, uint64_t from, uint64_t to)
{
    p->near_size = pct_place_room(p->plan->sites, pct_leaf_size());
    p->near = room_below(from & ~(uint64_t)(PAGE - 1), p->near_size);
    if (!p->near)
        p->near = room_above((to + PAGE - 1) & ~(uint64_t)(PAGE - 1), HEAP_ROOM, p->near_size);
    p->near_address = (uint64_t)(uintptr_t)p->near;
    return p->near != NULL;
}

/* The module whose trampolines are being made. */
static const struct pct_placing *placing;

/* A part of the table of cells, further from the code than the trampolines are, but in their reach; or else anywhere. */
static void *map_near(size_t size)
{
    const uint64_t first = placing->near_address, end = first + placing->near_size;
    size = (size + PAGE - 1) & ~(size_t)(PAGE - 1);
    void *room =
        end <= placing->bias + placing->plan->from ? room_below(first, size) : room_above(end, NEAR_STEP, size);
    return room ? room : map(size);
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
    for (const struct pct_place_page *page = p->last_page; page && allowed; page = page->before)
        if (page->memory)
            allowed = !PCT_SYS3(SYS_mprotect, page->address, PAGE, PROT_READ | PROT_EXEC);
    return allowed;
}

/* The code of the module becomes what it is in our copy. */
static bool change(const struct pct_placing *p, uint64_t from, uint64_t to)
{
    uint64_t start = from & ~(uint64_t)(PAGE - 1), end = (to + PAGE - 1) & ~(uint64_t)(PAGE - 1);
    if (PCT_SYS3(SYS_mprotect, start, end - start, PROT_READ | PROT_WRITE))
        return false;
    for (uint64_t at = 0, step; at < to - from; at += step) {
        step = PAGE - (from + at) % PAGE;
        if (step > to - from - at)
            step = to - from - at;
        /* A page that stays as it is stays the file's. */
        if (memcmp((void *)(from + at), p->code + at, step))
            memcpy((void *)(from + at), p->code + at, step);
    }
    return !PCT_SYS3(SYS_mprotect, start, end - start, PROT_READ | PROT_EXEC);
}

/* The code was written to, but may not be run any more: back to the file's. */
static void restore(const struct pct_mapping *text, const char *path)
{
    long file = PCT_SYS3(SYS_open, path, O_RDONLY | O_CLOEXEC, 0);
    PCT_SYS6(SYS_mmap, text->from, text->to - text->from, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, file,
             text->offset);
    PCT_SYS1(SYS_close, file);
}

static void discard(struct pct_placing *p)
{
    uint64_t length = p->plan->to - p->plan->from;
    unmap(p->code, length);
    unmap(p->locked, length / 8 + 1);
    p->code = p->locked = NULL;
}

static void abandon(struct pct_placing *p)
{
    discard(p);
    unmap(p->near, p->near_size);
    unmap(p->patched, p->plan->sites * sizeof *p->patched);
    for (const struct pct_place_page *page = p->last_page; page; page = page->before)
        unmap(page->memory, PAGE);
    unmap(p->pages, sizeof *p->pages * 2 * PCT_PLACE_MAX_PAGES);
}

static enum pct_plan_refusal carry_out(struct module *m, const char *path, bool executable)
{
    struct pct_placing *p = &m->place;
    uint64_t length = m->to - m->from;
    struct pct_mapping text;
    if (!pct_maps_find((const void *)m->from, &text, NULL, 0) || m->to > text.to || text.shared)
        return PCT_PLAN_CHANGED;
    p->code = map(length);
    p->locked = map(length / 8 + 1);
    p->patched = map(p->plan->sites * sizeof *p->patched);
    p->pages = map(sizeof *p->pages * 2 * PCT_PLACE_MAX_PAGES);
    p->map = map_page;
    p->avoid_from = m->to;
    p->avoid_to = m->to + (executable ? HEAP_ROOM : 0);
    if (!p->code || !p->locked || !p->patched || !p->pages || !find_room(p, m->from, m->to))
        return PCT_PLAN_SPACE;
    memcpy(p->code, (const void *)m->from, length);
    if (!is_as_planned(p))
        return PCT_PLAN_CHANGED;
    int32_t own = (int32_t)((char *)&pct_memory_own - (char *)__builtin_thread_pointer());
    void *const *table = pct_memory_table();
    pct_leaf_make(p->near, p->near_address, table, own, &p->leaves);
    p->leaves.mark = table ? mark_of : NULL;
    placing = p;
    p->near_used = pct_leaf_size();
    pct_place_module(p);
    if (!protect(p))
        return PCT_PLAN_PROTECTED;
    if (!change(p, m->from, m->to)) {
        restore(&text, path);
        return PCT_PLAN_PROTECTED;
    }
    discard(p);
    m->near = p->near_address;
    m->near_end = p->near_address + p->near_used;
    m->sites = p->plan->sites;
    return PCT_PLAN_NONE;
}

/* For the report. */
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
        pct_text_add(&text, base_name(path));
        return;
    }
}

static enum pct_plan_refusal patch(const struct link_map *map_, const char *path)
{
    const struct pct_plan *plan = read_plan(path);
    if (!plan || plan->refusal) {
        enum pct_plan_refusal why = plan ? plan->refusal : PCT_PLAN_NO_PLAN;
        unmap(plan, plan ? plan->size : 0);
        return why;
    }
    struct module *m = plan->sites ? pct_host_futex.map(sizeof *m) : NULL;
    if (!m) {
        enum pct_plan_refusal why = plan->sites ? PCT_PLAN_SPACE : PCT_PLAN_NONE;
        unmap(plan, plan->size);
        return why;
    }
    m->from = plan->from + map_->l_addr;
    m->to = plan->to + map_->l_addr;
    m->place.plan = plan;
    m->place.bias = map_->l_addr;
    enum pct_plan_refusal why = carry_out(m, path, map_ == loader->r_map);
    if (why != PCT_PLAN_NONE) {
        abandon(&m->place);
    } else {
        m->next = modules;
        modules = m;
        __atomic_fetch_add(&pct_S.uncontrolled[PCT_UNCONTROLLED_SITE], m->place.ways[PCT_WAY_ALONE], __ATOMIC_RELAXED);
    }
    unmap(plan, plan->size);
    return why;
}

/* Whether some thread could be running in the program's code just now: one that pct did not see start, or one from which the
 * watchdog took the baton. */
static bool others_run(void)
{
    struct stat tasks;
    if (pct_S.foreign & PCT_FOREIGN_THREADS)
        return true;
    /* One that was made by hand shows as soon as it is there, while ours do not come and go yet. A folder has a link from each
     * of its folders, and two of its own. */
    if (pct_S.threads == 1)
        return PCT_SYS2(SYS_stat, "/proc/self/task", &tasks) || tasks.st_nlink > 3;
    for (uint32_t id = 0; id < pct_S.threads; id++)
        if (__atomic_load_n(&pct_shim.slots[id].seized, __ATOMIC_SEQ_CST))
            return true;
    return false;
}

/* Whether this module was looked at before. */
static bool is_known(const struct link_map *map_)
{
    static const void *known[MOST_MODULES];
    static unsigned count;
    for (unsigned i = 0; i < count; i++)
        if (known[i] == map_->l_ld)
            return true;
    if (count < MOST_MODULES)
        known[count++] = map_->l_ld;
    return count == MOST_MODULES;
}

void pct_patch_modules(void)
{
    if (pct_shim.config.memory == PCT_PATCH_OFF)
        return;
    /* Not by its name: libpct.so would depend on the loader's library. The first time there is no other thread yet, which could
     * have been parked in the loader. */
    if (!loader)
        loader = REAL(dlsym)(RTLD_DEFAULT, "_r_debug");
    /* Reads the loader's list without its lock: who would change it has parked; in the middle of that, the state says so. */
    if (!loader || loader->r_state != RT_CONSISTENT)
        return;
    for (const struct link_map *map_ = loader->r_map; map_; map_ = map_->l_next) {
        char path[NAME] = "";
        struct pct_mapping mapping;
        bool executable = map_ == loader->r_map;
        if ((!executable && !is_wanted(base_name(map_->l_name))) || is_known(map_))
            continue;
        enum pct_plan_refusal why = PCT_PLAN_NO_PLAN;
        if (pct_shim.confined)
            why = PCT_PLAN_CONFINED;
        else if (!pct_patch_entry_start())
            why = PCT_PLAN_PROCESSOR;
        else if (others_run())
            why = PCT_PLAN_OTHERS;
        else if (pct_maps_find(map_->l_ld, &mapping, path, sizeof path))
            why = patch(map_, path);
        if (why != PCT_PLAN_NONE)
            note(*path ? path : executable ? "the program" : map_->l_name, why);
    }
}

/* --- Signals ----------------------------------------------------------------------------------------------------------- */

extern const char probe[] __asm__("pct_patch_probe") __attribute__((visibility("hidden")));

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
        for (const struct pct_place_page *page = m->place.last_page; page; page = page->before)
            if (page->memory && pc - page->address < PAGE)
                return true;
    }
    return false;
}

/* The fault of a site's own access came up in the slow half. */
static void leave_probe(greg_t *regs)
{
    const struct pct_patch_frame *frame = (const void *)regs[REG_RBX];
    static const struct {
        int reg;
        unsigned number;
    } all[] = { { REG_RAX, 0 },  { REG_RCX, 1 },  { REG_RDX, 2 },  { REG_RBP, 5 },  { REG_RSI, 6 },
                { REG_RDI, 7 },  { REG_R8, 8 },   { REG_R9, 9 },   { REG_R10, 10 }, { REG_R11, 11 },
                { REG_R12, 12 }, { REG_R13, 13 }, { REG_R14, 14 }, { REG_R15, 15 }, { REG_RSP, 4 } };
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
        regs[all[i].reg] = (greg_t)pct_patch_register(frame, all[i].number);
    regs[REG_RIP] = (greg_t)frame->pc;
    regs[REG_EFL] = (regs[REG_EFL] & ~(greg_t)0x8d5) | (greg_t)((frame->flags >> 8 & 0xd5) | (frame->flags & 1) << 11);
    regs[REG_RBX] = (greg_t)frame->rbx;
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
    if (!modules)
        return;
    if (at.pc == (uint64_t)(uintptr_t)probe) {
        leave_probe(regs);
        return;
    }
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
