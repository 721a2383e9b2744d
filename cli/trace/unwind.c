/* Stacks, unwound after the fact: see unwind.h.
 *
 * libdw asks for registers and memory through callbacks, so the process need not exist any more. Files are opened by
 * the names in the memory map; a file that was changed since gives wrong or no names, never a wrong schedule. */
#include "unwind.h"
#include "frames.h"
#include <cli/base/cli.h>
#include <cli/base/demangle.h>
#include <cli/base/table.h>
#include <cli/binary/debug_info.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

struct pct_unwinder {
    Dwfl *dwfl;
    uint64_t code; /* which files are mapped where: code_of() */
    const struct pct_snapshot *snapshot;
    struct pct_stack *out;
    const struct pct_snap_memory *stack; /* the only one to look at, or NULL */
    struct pct_main_frame main;          /* .cfa is 0: there is none, or nobody has looked */
    bool looked;                         /* for it */
    struct pct_table named;              /* of struct named *: by what recall() asks */
    char directory[4096];                /* ours, with a slash: file names below it are printed without it */
};

/* What stands at an address. To look for that takes longer than all else where many runs fail alike. */
struct named {
    size_t count;
    struct pct_frame frames[];
};

/* A module's name is the path in the memory map. Only regular files: what the map names is not to be trusted. */
static int find_elf(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base, char **file_name,
                    Elf **elf)
{
    (void)module, (void)userdata, (void)base, (void)elf;
    if (name[0] != '/')
        return -1;
    int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat status;
    if (fd >= 0 && (fstat(fd, &status) || !S_ISREG(status.st_mode))) {
        close(fd);
        fd = -1;
    }
    if (fd >= 0)
        *file_name = strdup(name);
    return fd;
}

static const Dwfl_Callbacks modules = {
    .find_elf = find_elf,
    .find_debuginfo = pct_debug_info_find,
};

/* Thread ids for libdw are indices + 1: of threads, and then of stops. A thread is its registers. */
static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread_arg)
{
    (void)dwfl, (void)arg, (void)thread_arg;
    return 0; /* dwfl_getthread_frames() asks get_thread() instead */
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread_arg)
{
    (void)dwfl;
    struct pct_unwinder *unwinder = arg;
    size_t index = (size_t)tid - 1, threads = unwinder->snapshot->thread_count;
    if (tid < 1 || index >= threads + unwinder->snapshot->stop_count)
        return false;
    *thread_arg =
        index < threads ? unwinder->snapshot->threads[index].regs : unwinder->snapshot->stops[index - threads].regs;
    return true;
}

static bool read_from_file(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *result)
{
    Dwfl_Module *module = dwfl_addrmodule(dwfl, address);
    GElf_Addr bias;
    Elf *elf = module ? dwfl_module_getelf(module, &bias) : NULL;
    size_t count;
    if (!elf || elf_getphdrnum(elf, &count))
        return false;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr segment;
        if (!gelf_getphdr(elf, (int)i, &segment) || segment.p_type != PT_LOAD || segment.p_flags & PF_W)
            continue;
        Dwarf_Addr at = address - bias - segment.p_vaddr;
        if (address - bias < segment.p_vaddr || segment.p_filesz < sizeof *result ||
            at > segment.p_filesz - sizeof *result)
            continue;
        Elf_Data *data = elf_getdata_rawchunk(elf, (int64_t)(segment.p_offset + at), sizeof *result, ELF_T_BYTE);
        if (!data || !data->d_buf || data->d_size < sizeof *result)
            return false;
        memcpy(result, data->d_buf, sizeof *result);
        return true;
    }
    return false;
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *result, void *arg)
{
    const struct pct_unwinder *unwinder = arg;
    const struct pct_snapshot *snapshot = unwinder->snapshot;
    for (size_t i = 0; i < (unwinder->stack ? 1 : snapshot->memory_count); i++) {
        const struct pct_snap_memory *memory = unwinder->stack ? unwinder->stack : &snapshot->memory[i];
        if (address < memory->address || memory->size < sizeof *result ||
            address - memory->address > memory->size - sizeof *result)
            continue;
        memcpy(result, memory->bytes + (address - memory->address), sizeof *result);
        return true;
    }
    return read_from_file(dwfl, address, result);
}

static bool set_registers(Dwfl_Thread *thread, void *thread_arg)
{
    const uint64_t *from = thread_arg;
    Dwarf_Word registers[17];
    for (int i = 0; i < 17; i++)
        registers[i] = from[i];
    return dwfl_thread_state_registers(thread, 0, 17, registers);
}

static const Dwfl_Thread_Callbacks threads = {
    .next_thread = next_thread,
    .get_thread = get_thread,
    .memory_read = read_memory,
    .set_initial_registers = set_registers,
};

static void name_function(struct pct_frame *frame, const char *symbol)
{
    char *plain = pct_demangle(symbol);
    if (plain)
        pct_demangle_shorten(plain);
    snprintf(frame->function, sizeof frame->function, "%s", plain ? plain : symbol);
    free(plain);
}

uint64_t pct_unwind_code(const struct pct_unwinder *unwinder)
{
    return unwinder->code;
}

struct Dwfl *pct_unwind_modules(const struct pct_unwinder *unwinder)
{
    return unwinder->dwfl;
}

const char *pct_unwind_shorten(const struct pct_unwinder *unwinder, const char *file)
{
    size_t length = strlen(unwinder->directory);
    return length > 1 && !strncmp(file, unwinder->directory, length) ? file + length : file;
}

static void name_source(const struct pct_unwinder *unwinder, struct pct_frame *frame, Dwarf_Die *unit, const char *file,
                        int line)
{
    char path[PATH_MAX];
    file = pct_unwind_shorten(unwinder, pct_debug_info_path(unit, file, path));
    size_t whole = strlen(file);
    /* Of a name that is too long the end says more. */
    if (whole >= sizeof frame->file)
        file += whole - sizeof frame->file + 1;
    snprintf(frame->file, sizeof frame->file, "%s", file);
    frame->line = line;
}

/* The module and the function. */
static void name_code(const struct pct_unwinder *unwinder, struct pct_frame *frame, Dwarf_Addr pc)
{
    Dwfl_Module *module = dwfl_addrmodule(unwinder->dwfl, pc);
    if (!module)
        return;
    Dwarf_Addr start;
    const char *path = dwfl_module_info(module, NULL, &start, NULL, NULL, NULL, NULL, NULL);
    const char *slash = path ? strrchr(path, '/') : NULL;
    snprintf(frame->module, sizeof frame->module, "%s", slash ? slash + 1 : path ? path : "?");
    frame->offset = frame->pc - start;
    GElf_Off offset;
    GElf_Sym symbol;
    const char *name = dwfl_module_addrinfo(module, pc, &offset, &symbol, NULL, NULL, NULL);
    if (name)
        name_function(frame, name);
}

/* The line of the first instruction of the function that has this one, if it is in this source file, too; 0: it is not,
 * or not known. */
static int find_beginning(Dwfl_Module *module, Dwarf_Addr pc, const char *file)
{
    GElf_Off offset;
    GElf_Sym symbol;
    int line;
    Dwarf_Die *unit;
    const char *first = dwfl_module_addrinfo(module, pc, &offset, &symbol, NULL, NULL, NULL)
                            ? pct_debug_info_source(module, pc - offset, &line, &unit)
                            : NULL;
    return first && !strcmp(first, file) ? line : 0;
}

/* The source line. That of a library costs as much as all else: its debug information is unpacked first. So libc's
 * frames have none where nobody looks at them. */
static void name_line(const struct pct_unwinder *unwinder, struct pct_frame *frame, Dwarf_Addr pc)
{
    if (!pct_frames_all && pct_frame_is_system(frame->module))
        return;
    Dwfl_Module *module = dwfl_addrmodule(unwinder->dwfl, pc);
    int number;
    Dwarf_Die *unit;
    const char *file = module ? pct_debug_info_source(module, pc, &number, &unit) : NULL;
    if (!file)
        return;
    name_source(unwinder, frame, unit, file, number);
    const int begins = find_beginning(module, pc, file);
    frame->begins = begins <= number ? begins : 0; /* what was inlined may be from above */
}

/* What the compiler inlined at this place: for each inlined function a frame of its own, innermost first, and in the
 * end the frame of the function that has the code, with the line of the outermost call. */
static void split_inlined(const struct pct_unwinder *unwinder, struct pct_stack *stack, Dwarf_Addr pc)
{
    Dwfl_Module *module = dwfl_addrmodule(unwinder->dwfl, pc);
    Dwarf_Addr bias;
    Dwarf_Die *unit = module ? pct_debug_info_unit(module, pc, &bias) : NULL;
    Dwarf_Die *at = NULL, *chain = NULL;
    Dwarf_Files *files;
    size_t file_count;
    if (!unit || dwarf_getsrcfiles(unit, &files, &file_count))
        return;
    /* The scopes at the address lead from an inlined function to where it is defined; its parents lead to its caller.
     * libdw does not look into namespaces, where Rust has its functions. */
    int count = dwarf_getscopes(unit, pc - bias, &at) > 0 ? dwarf_getscopes_die(at, &chain)
                                                          : pct_debug_info_scopes(unit, pc - bias, &chain);
    for (int i = 0; i < count && stack->count + 1 < PCT_STACK_MAX; i++) {
        if (dwarf_tag(&chain[i]) == DW_TAG_subprogram)
            break;
        if (dwarf_tag(&chain[i]) != DW_TAG_inlined_subroutine)
            continue;
        Dwarf_Attribute attribute;
        Dwarf_Word file = 0, line = 0;
        const char *name = NULL;
        if (dwarf_attr_integrate(&chain[i], DW_AT_linkage_name, &attribute))
            name = dwarf_formstring(&attribute);
        if (!name)
            name = dwarf_diename(&chain[i]);
        if (!name || !dwarf_attr(&chain[i], DW_AT_call_line, &attribute) || dwarf_formudata(&attribute, &line) ||
            !dwarf_attr(&chain[i], DW_AT_call_file, &attribute) || dwarf_formudata(&attribute, &file))
            continue;
        const char *path = dwarf_filesrc(files, file, NULL, NULL);
        struct pct_frame *inner = &stack->frames[stack->count++], *outer = inner + 1;
        *outer = *inner;
        inner->begins = 0;
        name_function(inner, name);
        if (path)
            name_source(unwinder, outer, unit, path, (int)line);
    }
    free(at);
    free(chain);
}

static bool is_shim(const struct pct_frame *frame)
{
    return !strcmp(frame->module, "libpct.so") || !strcmp(frame->module, "libpct-tsan.so");
}

/* What every thread begins with says nothing. A function of the program's own may have such a name. */
static bool is_start(const struct pct_frame *frame)
{
    if (!pct_frame_is_system(frame->module))
        return !strcmp(frame->function, "_start");
    static const char *const names[] = { "start_thread", "clone3", "__clone3", "clone", "__libc_start_call_main" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(frame->function, names[i]))
            return true;
    return !strncmp(frame->function, "__libc_start_main", sizeof "__libc_start_main" - 1);
}

/* pc: what to name. at: where the frame is. */
static void name_address(struct pct_unwinder *unwinder, struct pct_stack *stack, Dwarf_Addr pc, Dwarf_Addr at)
{
    struct pct_frame *frame = &stack->frames[stack->count];
    memset(frame, 0, sizeof *frame);
    frame->pc = at;
    name_code(unwinder, frame, pc);
    /* Topmost, what a signal handler returns to belongs to a handler of ours. */
    if (is_shim(frame) || (!stack->count && !strcmp(frame->function, "__restore_rt")))
        return;
    /* The line of what is dropped in the end is not looked for. */
    if (!stack->count || !is_start(frame))
        name_line(unwinder, frame, pc);
    if (frame->file[0])
        split_inlined(unwinder, stack, pc);
    stack->count++;
}

/* Where the names of this address are kept: those of the topmost frame are others. NULL: nowhere. */
static struct named **recall(struct pct_unwinder *unwinder, const struct pct_stack *stack, Dwarf_Addr pc, Dwarf_Addr at)
{
    enum { MOST = 1024, NEAR_THE_END = PCT_STACK_MAX / 2 };
    const uint64_t key = pc << 2 | (uint64_t)(at != pc) << 1 | !stack->count;
    if (pc >> 62 || stack->count >= NEAR_THE_END)
        return NULL;
    return unwinder->named.count < MOST ? pct_table_add(&unwinder->named, key) : pct_table_find(&unwinder->named, key);
}

/* As name_address(). False: there is no room. */
static bool add_address(struct pct_unwinder *unwinder, struct pct_stack *stack, Dwarf_Addr pc, Dwarf_Addr at)
{
    if (stack->count == PCT_STACK_MAX) {
        stack->cut = true;
        return false;
    }
    const size_t from = stack->count;
    struct named **kept = recall(unwinder, stack, pc, at), *names = kept ? *kept : NULL;
    if (names && from + names->count < PCT_STACK_MAX) {
        memcpy(&stack->frames[from], names->frames, names->count * sizeof *names->frames);
        stack->count += names->count;
        return true;
    }
    name_address(unwinder, stack, pc, at);
    const size_t count = stack->count - from;
    if (kept && !names && stack->count < PCT_STACK_MAX &&
        (names = malloc(sizeof *names + count * sizeof *names->frames))) {
        names->count = count;
        memcpy(names->frames, &stack->frames[from], count * sizeof *names->frames);
        *kept = names;
    }
    return true;
}

static int add_frame(Dwfl_Frame *state, void *arg)
{
    struct pct_unwinder *unwinder = arg;
    Dwarf_Addr pc;
    bool activation;
    if (!dwfl_frame_pc(state, &pc, &activation))
        return DWARF_CB_ABORT;
    /* A return address can be behind the call's function: the call itself is what to name. */
    return add_address(unwinder, unwinder->out, activation ? pc : pc - 1, pc) ? DWARF_CB_OK : DWARF_CB_ABORT;
}

static void drop_start(const struct pct_unwinder *unwinder, struct pct_stack *stack)
{
    while (!stack->cut && stack->count && is_start(&stack->frames[stack->count - 1]))
        stack->count--;
    for (size_t i = 1; i < stack->count; i++)
        if (is_start(&stack->frames[i]) && !stack->frames[i].file[0])
            name_line(unwinder, &stack->frames[i], stack->frames[i].pc - 1);
}

void pct_unwind_thread(struct pct_unwinder *unwinder, size_t index, struct pct_stack *stack)
{
    stack->count = 0;
    stack->cut = false;
    unwinder->out = stack;
    dwfl_getthread_frames(unwinder->dwfl, (pid_t)index + 1, add_frame, unwinder);
    drop_start(unwinder, stack);
}

enum { RBP = 6, RSP = 7 }; /* by DWARF number */

/* The frame behind that of main() has the stack pointer that is main()'s CFA. */
static int look_for_main(Dwfl_Frame *state, void *arg)
{
    struct pct_unwinder *unwinder = arg;
    struct pct_main_frame *frame = &unwinder->main;
    Dwarf_Addr pc;
    bool activation;
    if (frame->call) {
        if (dwfl_frame_reg(state, RSP, &frame->cfa))
            frame->cfa = 0;
        return DWARF_CB_ABORT;
    }
    if (!dwfl_frame_pc(state, &pc, &activation))
        return DWARF_CB_ABORT;
    pc -= !activation;
    Dwfl_Module *module = dwfl_addrmodule(unwinder->dwfl, pc);
    const char *name = module ? dwfl_module_addrname(module, pc) : NULL;
    if (name && !strcmp(name, "main") && !dwfl_frame_reg(state, RBP, &frame->rbp) &&
        !dwfl_frame_reg(state, RSP, &frame->rsp))
        frame->call = pc;
    return DWARF_CB_OK;
}

bool pct_unwind_main(struct pct_unwinder *unwinder, struct pct_main_frame *frame)
{
    const struct pct_snapshot *snapshot = unwinder->snapshot;
    for (size_t i = 0; i < snapshot->thread_count && !unwinder->looked; i++) {
        if (snapshot->threads[i].id || snapshot->threads[i].state == PCT_SNAP_FINISHED)
            continue;
        unwinder->looked = true;
        dwfl_getthread_frames(unwinder->dwfl, (pid_t)i + 1, look_for_main, unwinder);
    }
    *frame = unwinder->main;
    return frame->cfa;
}

void pct_unwind_addresses(struct pct_unwinder *unwinder, const uint64_t *addresses, size_t count,
                          struct pct_stack *stack)
{
    stack->count = 0;
    stack->cut = false;
    for (size_t i = 0; i < count && addresses[i]; i++)
        add_address(unwinder, stack, addresses[i] - 1, addresses[i]);
    drop_start(unwinder, stack);
}

void pct_unwind_stop(struct pct_unwinder *unwinder, size_t index, struct pct_stack *stack)
{
    unwinder->stack = &unwinder->snapshot->stops[index].memory;
    pct_unwind_thread(unwinder, unwinder->snapshot->thread_count + index, stack);
    unwinder->stack = NULL;
}

void pct_unwind_name(const struct pct_unwinder *unwinder, uint64_t address, bool call, struct pct_frame *frame)
{
    memset(frame, 0, sizeof *frame);
    frame->pc = address;
    if (address) {
        name_code(unwinder, frame, address - call);
        name_line(unwinder, frame, address - call);
    }
}

void pct_unwind_place(const struct pct_unwinder *unwinder, uint64_t address, bool call, struct pct_stack *stack)
{
    stack->count = 0;
    stack->cut = false;
    pct_unwind_name(unwinder, address, call, &stack->frames[0]);
    if (stack->frames[0].file[0])
        split_inlined(unwinder, stack, address - call);
    stack->count++;
}

bool pct_unwind_object(const struct pct_unwinder *unwinder, uint64_t address, char *name, size_t size)
{
    Dwfl_Module *module = address ? dwfl_addrmodule(unwinder->dwfl, address) : NULL;
    GElf_Off offset;
    GElf_Sym symbol;
    const char *found = module ? dwfl_module_addrinfo(module, address, &offset, &symbol, NULL, NULL, NULL) : NULL;
    /* libdw takes the nearest one before the address: what is behind its end is something else. */
    if (!found || GELF_ST_TYPE(symbol.st_info) != STT_OBJECT || offset >= symbol.st_size)
        return false;
    struct pct_frame frame = { .function = "" };
    name_function(&frame, found);
    if (offset)
        snprintf(name, size, "%s+%llu", frame.function, (unsigned long long)offset);
    else
        snprintf(name, size, "%s", frame.function);
    return true;
}

static bool report_modules(struct pct_unwinder *unwinder)
{
    const struct pct_snapshot *snapshot = unwinder->snapshot;
    FILE *maps = fmemopen((void *)(uintptr_t)snapshot->maps, snapshot->maps_size, "r");
    if (!maps)
        return false;
    dwfl_report_begin(unwinder->dwfl);
    int failed = dwfl_linux_proc_maps_report(unwinder->dwfl, maps);
    fclose(maps);
    return !dwfl_report_end(unwinder->dwfl, NULL, NULL) && !failed;
}

/* Code of a file, as it is mapped. */
struct code {
    unsigned long long from, to, offset;
    const char *file; /* its numbers and its name, up to the end of the line */
    size_t length;
};

static bool read_code(struct code *code, const char *line, size_t length)
{
    char text[128], rights[5] = "";
    int numbers = 0;
    snprintf(text, sizeof text, "%.*s", (int)(length < sizeof text ? length : sizeof text - 1), line);
    if (sscanf(text, "%llx-%llx %4s %llx %n", &code->from, &code->to, rights, &code->offset, &numbers) < 4 ||
        strcmp(rights, "r-xp") != 0 || !numbers || !memchr(line, '/', length))
        return false;
    code->file = line + numbers;
    code->length = length - (size_t)numbers;
    return true;
}

static uint64_t add_code(uint64_t hash, const struct code *code)
{
    const uint64_t place[] = { code->from, code->to, code->offset };
    return code->to ? XXH3_64bits_withSeed(code->file, code->length, XXH3_64bits_withSeed(place, sizeof place, hash))
                    : hash;
}

/* A hash of what the memory map says of code of files. Everything else differs from run to run; and where some of it is
 * patched, a file is in pieces. */
static uint64_t code_of(const struct pct_snapshot *snapshot)
{
    uint64_t hash = 0;
    const char *line = snapshot->maps, *end = line + snapshot->maps_size;
    struct code all = { .to = 0 }, next;
    for (size_t length; line < end; line += length + 1) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        length = (size_t)((stop ? stop : end) - line);
        if (!read_code(&next, line, length))
            continue;
        if (next.from == all.to && next.offset == all.offset + (all.to - all.from) && next.length == all.length &&
            !memcmp(next.file, all.file, all.length)) {
            all.to = next.to;
        } else {
            hash = add_code(hash, &all);
            all = next;
        }
    }
    return add_code(hash, &all);
}

/* The last one that was closed. A campaign unwinds many runs of the same program, and reading its debug information
 * takes a hundred times longer than unwinding. */
static struct pct_unwinder *kept;

static void free_unwinder(struct pct_unwinder *unwinder)
{
    struct named **names;
    if (!unwinder)
        return;
    if (unwinder->dwfl)
        dwfl_end(unwinder->dwfl);
    for (size_t at = 0; (names = pct_table_next(&unwinder->named, &at, NULL));)
        free(*names);
    pct_table_free(&unwinder->named);
    free(unwinder);
}

struct pct_unwinder *pct_unwind_open(const struct pct_snapshot *snapshot)
{
    if (!snapshot->maps)
        return NULL;
    uint64_t code = code_of(snapshot);
    if (kept && kept->code == code) {
        struct pct_unwinder *again = kept;
        kept = NULL;
        again->snapshot = snapshot;
        again->main = (struct pct_main_frame){ 0 };
        again->looked = false;
        return again;
    }
    struct pct_unwinder *unwinder = calloc(1, sizeof *unwinder);
    if (!unwinder)
        return NULL;
    unwinder->code = code;
    unwinder->named = PCT_TABLE(struct named *);
    unwinder->snapshot = snapshot;
    if (getcwd(unwinder->directory, sizeof unwinder->directory - 1))
        strcat(unwinder->directory, "/");
    unwinder->dwfl = dwfl_begin(&modules);
    if (unwinder->dwfl && report_modules(unwinder) && dwfl_attach_state(unwinder->dwfl, NULL, 1, &threads, unwinder))
        return unwinder;
    free_unwinder(unwinder);
    return NULL;
}

void pct_unwind_close(struct pct_unwinder *unwinder)
{
    if (!unwinder)
        return;
    free_unwinder(kept);
    kept = unwinder;
}
