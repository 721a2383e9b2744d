/* What an ELF file says about itself: see elf_facts.h. */
#include "elf_facts.h"
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { READ = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY };

bool pct_elf_read_script(const char *path, struct pct_interpreter_line *script)
{
    char line[PCT_INTERPRETER_LINE] = "";
    const int fd = open(path, READ);
    const ssize_t got = fd < 0 ? -1 : read(fd, line, sizeof line - 1);
    if (fd >= 0)
        close(fd);
    line[strcspn(line, "\n")] = 0;
    script->argument[0] = 0;
    return got >= 2 && line[0] == '#' && line[1] == '!' &&
           sscanf(line + 2, " %511s %511s", script->interpreter, script->argument) >= 1;
}

const char *pct_elf_program(const char *path, char *buffer)
{
    struct pct_interpreter_line script;
    for (unsigned depth = 0; depth < PCT_INTERPRETER_DEPTH && pct_elf_read_script(path, &script); depth++)
        path = strcpy(buffer, script.interpreter);
    return path;
}

/* Negative: as open(). */
static int open_program(const char *path)
{
    char buffer[PATH_MAX];
    return open(pct_elf_program(path, buffer), READ);
}

static void read_interpreter(struct pct_elf_facts *facts, Elf *elf, const GElf_Phdr *segment)
{
    size_t size = segment->p_filesz < sizeof facts->interpreter - 1 ? segment->p_filesz : sizeof facts->interpreter - 1;
    Elf_Data *data = elf_getdata_rawchunk(elf, (int64_t)segment->p_offset, size, ELF_T_BYTE);
    if (data && data->d_buf && size)
        snprintf(facts->interpreter, sizeof facts->interpreter, "%.*s", (int)data->d_size, (const char *)data->d_buf);
}

static void read_segments(struct pct_elf_facts *facts, Elf *elf)
{
    size_t count = 0;
    elf_getphdrnum(elf, &count);
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr segment;
        if (!gelf_getphdr(elf, (int)i, &segment))
            continue;
        if (segment.p_type == PT_INTERP)
            read_interpreter(facts, elf, &segment);
        facts->has_dynamic |= segment.p_type == PT_DYNAMIC;
    }
}

static bool begins(const char *name, const char *with)
{
    return !strncmp(name, with, strlen(with));
}

static bool begins_as_one(const char *name, const char *const *with, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (begins(name, with[i]))
            return true;
    return false;
}

/* std::thread's, the beginning: the mangled name tells its parameters, too. */
#define CXX_THREADS "_ZNSt6thread15_M_start_thread"

/* Functions by which a program makes threads: of libc, and of libraries that make them for others, the beginnings. */
static bool makes_threads(const char *name)
{
    static const char *const libraries[] = { CXX_THREADS,         "_ZN5boost6thread21start_thread_noexcept",
                                             "_ZN7QThread5start", "GOMP_parallel",
                                             "__kmpc_fork_call",  "g_thread_new",
                                             "g_thread_try_new",  "g_thread_pool_new",
                                             "uv_thread_create",  "uv_queue_work" };
    return !strcmp(name, "pthread_create") || !strcmp(name, "thrd_create") ||
           begins_as_one(name, libraries, sizeof libraries / sizeof *libraries);
}

static void read_imports(struct pct_elf_facts *facts, Elf *elf, Elf_Scn *section, const GElf_Shdr *head)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t count = data && head->sh_entsize ? data->d_size / head->sh_entsize : 0;
    for (size_t i = 0; i < count; i++) {
        GElf_Sym symbol;
        if (!gelf_getsym(data, (int)i, &symbol) || symbol.st_shndx != SHN_UNDEF)
            continue;
        const char *name = elf_strptr(elf, head->sh_link, symbol.st_name);
        if (!name)
            continue;
        facts->imports_syscall |= !strcmp(name, "syscall");
        facts->imports_io_uring |= begins(name, "io_uring_");
        facts->imports_seccomp |= begins(name, "seccomp_");
        facts->imports_clone |= !strcmp(name, "clone");
        facts->imports_priorities |= !strcmp(name, "sched_setscheduler") || !strcmp(name, "sched_setparam") ||
                                     !strcmp(name, "pthread_setschedparam") || !strcmp(name, "pthread_setschedprio") ||
                                     !strcmp(name, "pthread_attr_setschedpolicy");
        facts->imports_threads |= makes_threads(name);
    }
}

static void read_code(struct pct_elf_facts *facts, Elf_Scn *section)
{
    Elf_Data *data = elf_rawdata(section, NULL);
    if (data && data->d_buf)
        pct_raw_calls_count(&facts->raw, data->d_buf, data->d_size);
}

/* Whether the code at this address is of the runtime of sanitizers, which clang links into the program. */
static bool is_of_sanitizers(Elf *elf, uint64_t address)
{
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(elf, section))) {
        GElf_Shdr head;
        GElf_Sym symbol;
        Elf_Data *data = gelf_getshdr(section, &head) && head.sh_type == SHT_SYMTAB ? elf_getdata(section, NULL) : NULL;
        for (int i = 0; data && gelf_getsym(data, i, &symbol); i++) {
            if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC || address - symbol.st_value >= symbol.st_size)
                continue;
            const char *name = elf_strptr(elf, head.sh_link, symbol.st_name);
            return name && begins(name, "_ZN11__sanitizer");
        }
    }
    return false;
}

/* The next instruction that moves SYS_futex to the register of this operation code. */
static const unsigned char *find_mark(const unsigned char *at, const unsigned char *end, unsigned char mark)
{
    const unsigned char bytes[] = { mark, SYS_futex, 0, 0, 0 };
    return memmem(at, (size_t)(end - at), bytes, sizeof bytes);
}

/* `mov edi, SYS_futex` for syscall(), or `mov eax, SYS_futex` with the instruction `syscall` close behind. */
static bool calls_futex(const struct pct_elf_facts *facts, Elf *elf, const Elf_Data *code, uint64_t address)
{
    enum { FIRST = 0xbf, NUMBER = 0xb8, LENGTH = 5, NEAR = 24 };
    const unsigned char *begin = code->d_buf, *end = begin + code->d_size, *at = begin;
    while (facts->imports_syscall && (at = find_mark(at, end, FIRST))) {
        if (!is_of_sanitizers(elf, address + (uint64_t)(at - begin)))
            return true;
        at += LENGTH;
    }
    for (at = begin; (at = find_mark(at, end, NUMBER));) {
        const uint64_t place = address + (uint64_t)(at - begin);
        at += LENGTH;
        if (memmem(at, (size_t)(end - at) < NEAR ? (size_t)(end - at) : NEAR, "\x0f\x05", 2) &&
            !is_of_sanitizers(elf, place))
            return true;
    }
    return false;
}

static void read_futexes(struct pct_elf_facts *facts, Elf *elf, Elf_Scn *section, uint64_t address)
{
    Elf_Data *data = elf_rawdata(section, NULL);
    if (data && data->d_buf)
        facts->has_futexes |= calls_futex(facts, elf, data, address);
}

static void read_sections(struct pct_elf_facts *facts, Elf *elf, bool code)
{
    size_t names = 0;
    Elf_Scn *section = NULL;
    elf_getshdrstrndx(elf, &names);
    while ((section = elf_nextscn(elf, section))) {
        GElf_Shdr head;
        if (!gelf_getshdr(section, &head))
            continue;
        const char *name = elf_strptr(elf, names, head.sh_name);
        facts->is_go |= name && (!strcmp(name, ".go.buildinfo") || !strcmp(name, ".note.go.buildid"));
        if (head.sh_type == SHT_DYNSYM)
            read_imports(facts, elf, section, &head);
        if (code && head.sh_type == SHT_PROGBITS && head.sh_flags & SHF_EXECINSTR)
            read_code(facts, section);
        if (head.sh_type == SHT_PROGBITS && head.sh_flags & SHF_EXECINSTR && (code || facts->imports_threads))
            read_futexes(facts, elf, section, head.sh_addr);
    }
}

int pct_elf_facts_read(struct pct_elf_facts *facts, const char *path, bool code)
{
    memset(facts, 0, sizeof *facts);
    elf_version(EV_CURRENT);
    int fd = open_program(path);
    struct stat status;
    if (fd < 0)
        return -errno;
    if (fstat(fd, &status) || !S_ISREG(status.st_mode)) {
        close(fd);
        return -EINVAL;
    }
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    GElf_Ehdr head;
    if (elf && elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &head)) {
        facts->is_elf = true;
        facts->is_64 = head.e_ident[EI_CLASS] == ELFCLASS64;
        facts->machine = head.e_machine;
        facts->type = head.e_type;
        read_segments(facts, elf);
        read_sections(facts, elf, code && facts->is_64 && head.e_machine == EM_X86_64);
    }
    if (elf)
        elf_end(elf);
    close(fd);
    return 0;
}

uint64_t pct_elf_reads_hardware(const char *path)
{
    struct pct_elf_facts facts;
    return pct_elf_facts_read(&facts, path, true) ? 0 : facts.raw.clock + facts.raw.random;
}

/* What is looked for in the sections of a file. */
struct search {
    const char *wanted;
    char *name; /* gets the whole name */
    size_t size;
};

/* Whether it is in this section. */
typedef bool find_in(Elf *elf, const GElf_Shdr *header, Elf_Data *data, const struct search *search);

static bool find_needed(Elf *elf, const GElf_Shdr *header, Elf_Data *data, const struct search *search)
{
    GElf_Dyn entry;
    for (int i = 0; header->sh_type == SHT_DYNAMIC && gelf_getdyn(data, i, &entry); i++) {
        const char *needed =
            entry.d_tag == DT_NEEDED ? elf_strptr(elf, header->sh_link, (size_t)entry.d_un.d_val) : NULL;
        if (needed && !strncmp(needed, search->wanted, strlen(search->wanted)) && strlen(needed) < search->size) {
            strcpy(search->name, needed);
            return true;
        }
    }
    return false;
}

static bool find_defined(Elf *elf, const GElf_Shdr *header, Elf_Data *data, const struct search *search)
{
    GElf_Sym symbol;
    bool symbols = header->sh_type == SHT_DYNSYM || header->sh_type == SHT_SYMTAB;
    for (int i = 0; symbols && gelf_getsym(data, i, &symbol); i++) {
        const char *defined = symbol.st_shndx == SHN_UNDEF ? NULL : elf_strptr(elf, header->sh_link, symbol.st_name);
        if (defined && !strcmp(defined, search->wanted))
            return true;
    }
    return false;
}

static bool find_name(Elf *elf, const GElf_Shdr *header, Elf_Data *data, bool (*is)(const char *name))
{
    GElf_Sym symbol;
    bool symbols = header->sh_type == SHT_DYNSYM || header->sh_type == SHT_SYMTAB;
    for (int i = 0; symbols && gelf_getsym(data, i, &symbol); i++) {
        const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);
        if (name && is(name))
            return true;
    }
    return false;
}

static bool starts_library_threads(const char *name)
{
    return begins(name, CXX_THREADS) || strstr(name, "__rust_begin_short_backtrace");
}

static bool find_library_threads(Elf *elf, const GElf_Shdr *header, Elf_Data *data, const struct search *search)
{
    (void)search;
    return find_name(elf, header, data, starts_library_threads);
}

/* std::atomic::wait() and notify_*(), of which libstdc++ 16, and libc++, old and new, make the futex calls. */
static bool waits_for_atomics(const char *name)
{
    static const char *const names[] = { "_ZNSt8__detail11__wait_impl",           "_ZNSt8__detail13__notify_impl",
                                         "_ZNSt3__120__libcpp_atomic_wait",       "_ZNSt3__123__cxx_atomic_notify_",
                                         "_ZNSt3__120__atomic_wait_native",       "_ZNSt3__126__atomic_notify_",
                                         "_ZNSt3__126__atomic_wait_global_table", "_ZNSt3__132__atomic_notify_" };
    return begins_as_one(name, names, sizeof names / sizeof *names);
}

static bool find_atomic_waits(Elf *elf, const GElf_Shdr *header, Elf_Data *data, const struct search *search)
{
    (void)search;
    return find_name(elf, header, data, waits_for_atomics);
}

static bool find_stream_locks(Elf *elf, const GElf_Shdr *header, Elf_Data *data, const struct search *search)
{
    GElf_Sym symbol;
    (void)search;
    for (int i = 0; header->sh_type == SHT_DYNSYM && gelf_getsym(data, i, &symbol); i++) {
        const char *name = symbol.st_shndx == SHN_UNDEF ? elf_strptr(elf, header->sh_link, symbol.st_name) : NULL;
        if (name && (!strcmp(name, "flockfile") || !strcmp(name, "ftrylockfile")))
            return true;
    }
    return false;
}

static bool find(const char *path, find_in *in, const struct search *search)
{
    bool found = false;
    int fd = open_program(path);
    elf_version(EV_CURRENT);
    Elf *elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ_MMAP, NULL);
    for (Elf_Scn *section = elf ? elf_nextscn(elf, NULL) : NULL; section && !found;
         section = elf_nextscn(elf, section)) {
        GElf_Shdr header;
        Elf_Data *data;
        bool wanted = gelf_getshdr(section, &header) &&
                      (header.sh_type == SHT_DYNAMIC || header.sh_type == SHT_DYNSYM || header.sh_type == SHT_SYMTAB);
        found = wanted && (data = elf_getdata(section, NULL)) && in(elf, &header, data, search);
    }
    elf_end(elf);
    if (fd >= 0)
        close(fd);
    return found;
}

bool pct_elf_locks_inline(const char *path)
{
    struct pct_elf_facts facts;
    return !pct_elf_facts_read(&facts, path, false) && (facts.has_futexes || find(path, find_atomic_waits, NULL));
}

bool pct_elf_is_foreign(const char *path, unsigned *bits, unsigned *machine)
{
    Elf64_Ehdr head; /* these fields are where those of 32 bits are */
    int fd = open_program(path);
    if (fd < 0)
        return false;
    ssize_t got = pread(fd, &head, sizeof head, 0);
    close(fd);
    if (got != sizeof head || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
        return false;
    *bits = head.e_ident[EI_CLASS] == ELFCLASS64 ? 64 : 32;
    *machine = head.e_machine;
    return *bits != 64 || *machine != EM_X86_64;
}

bool pct_elf_needs(const char *path, const char *prefix, char *name, size_t size)
{
    return find(path, find_needed, &(struct search){ .wanted = prefix, .name = name, .size = size });
}

bool pct_elf_tells(const char *path)
{
    static const char *const tell[] = { "libpct-tsan.so", "libtsan.so", "libclang_rt.tsan" };
    char name[128];
    for (size_t i = 0; i < sizeof tell / sizeof *tell; i++)
        if (pct_elf_needs(path, tell[i], name, sizeof name))
            return true;
    return false;
}

bool pct_elf_has_library_threads(const char *path)
{
    return find(path, find_library_threads, NULL);
}

bool pct_elf_defines(const char *path, const char *name)
{
    return find(path, find_defined, &(struct search){ .wanted = name });
}

bool pct_elf_locks_streams(const char *path)
{
    return find(path, find_stream_locks, NULL);
}
