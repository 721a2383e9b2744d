/* Stacks of processes that run: see live_stack.h. */
#include "live_stack.h"
#include <cli/base/demangle.h>
#include <cli/binary/debug_info.h>
#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 12 };

struct line {
    Dwfl *process;
    char *text;
    size_t size, length;
    int frames;
};

Dwfl *pct_live_open(pid_t pid)
{
    static char *no_path;
    static const Dwfl_Callbacks modules = {
        .find_elf = dwfl_linux_proc_find_elf,
        .find_debuginfo = pct_debug_info_find,
        .debuginfo_path = &no_path,
    };
    Dwfl *process = dwfl_begin(&modules);
    if (!process)
        return NULL;
    dwfl_report_begin(process);
    int failed = dwfl_linux_proc_report(process, pid);
    if (!dwfl_report_end(process, NULL, NULL) && !failed && !dwfl_linux_proc_attach(process, pid, false))
        return process;
    dwfl_end(process);
    return NULL;
}

void pct_live_close(Dwfl *process)
{
    if (process)
        dwfl_end(process);
}

static int add_frame(Dwfl_Frame *frame, void *argument)
{
    struct line *line = argument;
    Dwarf_Addr pc;
    bool exact;
    if (!dwfl_frame_pc(frame, &pc, &exact) || line->frames++ == FRAMES)
        return DWARF_CB_ABORT;
    pc -= !exact;
    Dwfl_Module *module = dwfl_addrmodule(line->process, pc);
    const char *symbol = module ? dwfl_module_addrname(module, pc) : NULL;
    int number = 0;
    Dwarf_Die *unit;
    const char *file = module ? pct_debug_info_source(module, pc, &number, &unit) : NULL;
    const char *slash = file ? strrchr(file, '/') : NULL;
    char place[200] = "";
    if (file)
        snprintf(place, sizeof place, " %s:%d", slash ? slash + 1 : file, number);
    char *plain = symbol ? pct_demangle(symbol) : NULL;
    if (plain)
        pct_demangle_shorten(plain);
    int more = snprintf(line->text + line->length, line->size - line->length, "%s%s%s", line->length ? " < " : "",
                        plain    ? plain
                        : symbol ? symbol
                                 : "?",
                        place);
    free(plain);
    if (more < 0 || (size_t)more >= line->size - line->length) {
        line->text[line->length] = 0;
        return DWARF_CB_ABORT;
    }
    line->length += (size_t)more;
    return DWARF_CB_OK;
}

void pct_live_stack(Dwfl *process, pid_t thread, char *text, size_t size)
{
    struct line line = { .process = process, .text = text, .size = size };
    text[0] = 0;
    if (process)
        dwfl_getthread_frames(process, thread, add_frame, &line);
}
