/* How much a frame says: see frames.h. */
#include "frames.h"
#include <string.h>

/* Below this, and a version, Debian's compiler of Rust says that its libraries are. */
#define DEBIANS_RUST "/usr/src/rustc-"

bool pct_frames_all;

static bool begins(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

bool pct_frame_is_system(const char *module)
{
    static const char *const modules[] = { "libc.so.", "libstdc++.so.", "libgcc_s.so.", "libc++.so.",
                                           "ld-linux-x86-64.so." };
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
        if (begins(module, modules[i]))
            return true;
    return false;
}

/* Whether it came with the system. Where images of containers have their programs' sources, below /usr/src,
 * distributions have those of libraries. */
static bool is_installed(const char *file, const char *module)
{
    return begins(file, "/usr/") && (!begins(file, "/usr/src/") || strstr(module, ".so") || begins(file, DEBIANS_RUST));
}

static enum pct_frame_rank rank_of(const char *file, const char *module)
{
    /* The libraries of Rust stand below /rustc or library, packages below the user's .cargo. */
    bool library = pct_frame_is_system(module) || is_installed(file, module) || begins(file, "/rustc/") ||
                   strstr(file, "/.cargo/registry/") || begins(file, "library/std/") || begins(file, "library/core/") ||
                   begins(file, "library/alloc/");
    size_t length = strlen(file);
    if (!*file)
        return PCT_FRAME_NO_LINE;
    return library                                          ? PCT_FRAME_LIBRARY
           : length > 2 && !strcmp(file + length - 2, ".h") ? PCT_FRAME_HEADER
                                                            : PCT_FRAME_OWN;
}

enum pct_frame_rank pct_frame_rank(const struct pct_frame *frame)
{
    return rank_of(frame->file, frame->module);
}

const struct pct_frame *pct_frame_best(const struct pct_stack *stack)
{
    const struct pct_frame *best = NULL;
    for (size_t i = 0; i < stack->count; i++)
        if (!best || pct_frame_rank(&stack->frames[i]) > pct_frame_rank(best))
            best = &stack->frames[i];
    return best;
}

/* What the compilers put between a thread's start and the programmer's function, and around a callable. */
static bool is_machinery(const char *function)
{
    static const char *const names[] = { "std::",
                                         "__gnu_cxx::",
                                         "void std::",
                                         "core::",
                                         "alloc::",
                                         "<core::",
                                         "<alloc::",
                                         "<std::",
                                         "__rust_",
                                         "rust_",
                                         "execute_native_thread_routine" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (begins(function, names[i]))
            return true;
    return false;
}

bool pct_frame_is_library(const char *function, const char *file, const char *module)
{
    enum pct_frame_rank rank = rank_of(file, module);
    if (rank != PCT_FRAME_NO_LINE)
        return rank == PCT_FRAME_LIBRARY;
    return pct_frame_is_system(module) || is_machinery(function);
}
