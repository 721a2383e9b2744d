/* What the run wants to have patched, and may: see patch_choice.h. */
#include "patch_choice.h"
#include <common/text.h>
#include <patch/plan.h>
#include <preload/core/host.h>
#include <preload/core/host_threads.h>
#include <preload/core/kernel.h>
#include <preload/core/shim.h>
#include <preload/core/sys.h>
#include <preload/memory/scope.h>
#include "patch_plan.h"
#include <sched.h>
#include <string.h>
#include <sys/stat.h>

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

unsigned pct_patch_level(const struct link_map *module, bool executable)
{
    return executable || is_wanted(pct_text_base_name(module->l_name)) ? pct_shim.config.memory : PCT_PATCH_OFF;
}

const char *pct_patch_functions(const struct link_map *module)
{
    static char *functions; /* not among our variables, of which each forked run has a copy */
    struct pct_text text;
    if (!pct_shim.config.functions[0])
        return "";
    if (!functions && !(functions = pct_map(PCT_PLAN_FUNCTIONS)))
        pct_fail_for_memory();
    pct_text_init(&text, functions, PCT_PLAN_FUNCTIONS);
    pct_scope_functions(module->l_addr, &text);
    if (text.length > PCT_PLAN_FUNCTIONS - 64)
        pct_scope_refuse("--functions: these are more functions than one module can be patched for");
    return functions;
}

bool pct_patch_is_wanted(void)
{
    return pct_shim.config.memory != PCT_PATCH_OFF || pct_shim.config.functions[0];
}

bool pct_patch_others_run(void)
{
    struct stat tasks;
    if (pct_sched_has_met(&pct_S, PCT_FOREIGN_THREADS))
        return true;
    if (pct_host_is_sealed())
        return false;
    /* One that was made by hand shows as soon as it is there, while ours do not come and go yet: nobody who shares the
     * memory can give up sharing it. A sandbox may forbid to try. Then, a folder has a link from each of its folders,
     * and two of its own. */
    if (pct_sched_threads(&pct_S) == 1)
        return pct_host_sys4(SYS_unshare, CLONE_VM, 0, 0, 0) &&
               (PCT_SYS2(SYS_stat, "/proc/self/task", &tasks) || tasks.st_nlink > 3 + pct_host_threads_parked());
    for (uint32_t id = 0; id < pct_sched_threads(&pct_S); id++)
        if (__atomic_load_n(&pct_shim.slots[id].revoked, __ATOMIC_SEQ_CST))
            return true;
    return false;
}
