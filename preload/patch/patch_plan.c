/* Plans of modules: see patch_plan.h. */
#include "patch_plan.h"
#include <common/text.h>
#include <patch/strings.h>
#include <preload/core/apart.h>
#include <preload/core/kernel.h>
#include <preload/core/run_pct.h>
#include <preload/core/shim.h>
#include <preload/core/sys.h>
#include <preload/core/user_memory.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { NAME = 1100 };

/* What a plan is wanted for. */
struct request {
    unsigned level; /* PCT_PATCH_* */
    const char *functions;
};

const char *pct_patch_plans;

static bool make_plan(const struct request *request, long file, long output)
{
    static char *named; /* not among our variables, of which each forked run has a copy */
    const size_t size = PCT_PLAN_FUNCTIONS + 32;
    char path[32], option[32];
    struct pct_text text;
    static const char *const levels[] = PCT_MEMORY_WORDS;
    pct_text_init(&text, path, sizeof path);
    pct_text_add(&text, "/proc/self/fd/");
    pct_text_add_u64(&text, (uint64_t)file);
    pct_text_init(&text, option, sizeof option);
    pct_text_add(&text, "--memory=");
    pct_text_add(&text, levels[request->level]);
    if (!named && !(named = pct_map(size)))
        return false;
    pct_text_init(&text, named, size);
    pct_text_add(&text, "--functions=");
    pct_text_add(&text, request->functions);
    char *const arguments[] = { "pct", "sites", "--plan", option, path, *request->functions ? named : NULL, NULL };
    return pct_run_pct_run(arguments, (int)output, (int)file);
}

/* FNV-1a. */
static uint64_t hash_of(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *text; text++)
        hash = (hash ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
    return hash;
}

/* The file in pct_patch_plans that is for this module as it is now: other runs may have made it. */
static void name_plan(char *path, size_t size, const struct request *request, const struct stat *status)
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
                                 request->level,
                                 *request->functions ? hash_of(request->functions) : 0 };
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        pct_text_add_hex(&text, numbers[i], 0);
        pct_text_add_char(&text, '-');
    }
    pct_text_add(&text, "plan");
}

/* Whether a plan is what it should be: it comes from a file. */
static bool is_sound(const struct pct_plan *plan, uint64_t size, unsigned level)
{
    if (size < sizeof *plan || memcmp(plan->magic, PCT_PLAN_MAGIC, sizeof plan->magic) || plan->size != size ||
        plan->level != level || plan->refusal >= PCT_PLAN_REFUSALS_COUNT ||
        plan->sites > size / sizeof(struct pct_plan_site) || plan->pads > size / sizeof(struct pct_pad) ||
        plan->slots > size / sizeof(struct pct_slot) ||
        size != sizeof *plan + plan->sites * sizeof(struct pct_plan_site) + plan->pads * sizeof(struct pct_pad) +
                    plan->slots * sizeof(struct pct_slot))
        return false;
    for (uint64_t i = 0; i < plan->slots; i++) {
        const struct pct_slot *slot = &pct_plan_slots(plan)[i];
        if (slot->function >= PCT_STRINGS_COUNT || slot->address % sizeof(void *) || slot->address < plan->image.from ||
            slot->address + sizeof(void *) > plan->image.to)
            return false;
    }
    uint64_t last = plan->from;
    for (uint64_t i = 0; i < plan->sites; i++) {
        const struct pct_plan_site *site = &pct_plan_sites(plan)[i];
        const unsigned length = site->length + site->more;
        if (site->address < last || site->length < PCT_SITE_SHORTEST || length > PCT_SITE_LONGEST ||
            site->address + length > plan->to || site->displacement_at + 4 > 16 ||
            (site->more && site->flags & PCT_SITE_RELATIVE))
            return false;
        last = site->address + length;
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
static const struct pct_plan *map_plan(long plan, unsigned level)
{
    struct stat status;
    const struct pct_plan *found = NULL;
    if (plan >= 0 && !PCT_SYS2(SYS_fstat, plan, &status) && status.st_size > 0)
        found = pct_apart_map_file(plan, (size_t)status.st_size);
    if (plan >= 0)
        PCT_SYS1(SYS_close, plan);
    if (!found || is_sound(found, (uint64_t)status.st_size, level))
        return found;
    PCT_SYS2(SYS_munmap, found, status.st_size);
    return NULL;
}

/* Let the command make the plan of the module that is open as `file`, and keep it as `path`, if that is not NULL. */
static const struct pct_plan *new_plan(const struct request *request, long file, const char *path)
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
    bool made = plan >= 0 && make_plan(request, file, plan);
    if (kept && made)
        PCT_SYS2(SYS_rename, own, path);
    else if (kept)
        PCT_SYS1(SYS_unlink, own);
    return map_plan(plan, request->level);
}

const struct pct_plan *pct_plan_read(const char *module, unsigned level, const char *functions)
{
    const struct request request = { .level = level, .functions = functions };
    char path[NAME];
    struct stat status;
    const struct pct_plan *plan = NULL;
    long file = PCT_SYS3(SYS_open, module, O_RDONLY | O_CLOEXEC, 0);
    if (file < 0)
        return NULL;
    bool kept = pct_patch_plans && !PCT_SYS2(SYS_fstat, file, &status);
    if (kept) {
        name_plan(path, sizeof path, &request, &status);
        plan = map_plan(PCT_SYS3(SYS_open, path, O_RDONLY | O_CLOEXEC, 0), level);
    }
    if (!plan)
        plan = new_plan(&request, file, kept ? path : NULL);
    PCT_SYS1(SYS_close, file);
    return plan;
}

bool pct_patch_is_gone(const struct pct_patched *patched, uint64_t sites)
{
    uint8_t now[sizeof patched->site.bytes];
    uint64_t i = 0;
    while (patched && i < sites && (!patched[i].trampoline || patched[i].site.kind == PCT_SITE_PLACE))
        i++;
    if (!patched || i == sites)
        return false;
    const struct pct_plan_site *site = &patched[i].site;
    return !pct_user_copy_in(now, (const void *)(uintptr_t)site->address, sizeof now) ||
           !memcmp(now, site->bytes, sizeof now);
}
