/* Lazy binding of our own calls of libc, 37 functions, of which a process that begins no run calls five: at load, the
 * loader would look all of them up, a third of what it has to do for us. When they are called, it would take its locks
 * for that, within a wrapper or a signal handler; so an entry of ours takes the place of its own. psABI: the first call
 * of a function by its stub pushes the number of its relocation, and jumps by the third word of the table of addresses.
 * What is found is always the same, so several threads may look at the same time. */
#include "bind.h"
#include "real.h"
#include "shim.h"
#include <link.h>

extern const Elf64_Dyn dynamic[] __asm__("_DYNAMIC") __attribute__((visibility("hidden")));
extern const char image[] __asm__("__ehdr_start") __attribute__((visibility("hidden")));

/* Our tables, by what our dynamic section says of them: the loader may have made addresses of it, or not. */
struct tables {
    const Elf64_Rela *calls;
    size_t count;
    const Elf64_Sym *symbols;
    const char *strings;
    const Elf64_Versym *versions;
    const char *needed;
    void **slots;
};

static const void *address(const Elf64_Dyn *entry)
{
    const Elf64_Addr at = entry->d_un.d_ptr;
    return at < (uintptr_t)image ? image + at : (const void *)at;
}

PCT_STARTS static struct tables own_tables(void)
{
    struct tables t = { .calls = NULL };
    for (const Elf64_Dyn *entry = dynamic; entry->d_tag != DT_NULL; entry++)
        switch (entry->d_tag) {
        case DT_JMPREL:
            t.calls = address(entry);
            break;
        case DT_PLTRELSZ:
            t.count = entry->d_un.d_val / sizeof *t.calls;
            break;
        case DT_SYMTAB:
            t.symbols = address(entry);
            break;
        case DT_STRTAB:
            t.strings = address(entry);
            break;
        case DT_VERSYM:
            t.versions = address(entry);
            break;
        case DT_VERNEED:
            t.needed = address(entry);
            break;
        case DT_PLTGOT:
            t.slots = (void **)address(entry);
            break;
        default:
            break;
        }
    return t;
}

/* The version of this number that we need of another library; "": none. */
PCT_STARTS static const char *version_name(const struct tables *t, unsigned number)
{
    const char *at = t->needed;
    for (bool more = at; more;) {
        const Elf64_Verneed *need = (const Elf64_Verneed *)(const void *)at;
        const char *part = at + need->vn_aux;
        for (unsigned left = need->vn_cnt; left; left--) {
            const Elf64_Vernaux *version = (const Elf64_Vernaux *)(const void *)part;
            if (version->vna_other == number)
                return t->strings + version->vna_name;
            part += version->vna_next;
        }
        more = need->vn_next;
        at += need->vn_next;
    }
    return "";
}

PCT_STARTS static void *bind_one(const struct tables *t, size_t number)
{
    enum { NUMBER = 0x7fff };
    const Elf64_Rela *call = t->calls + number;
    const size_t symbol = ELF64_R_SYM(call->r_info);
    const char *name = t->strings + t->symbols[symbol].st_name;
    void *function = pct_real_find(name, version_name(t, t->versions[symbol] & NUMBER));
    if (!function) /* the loader has seen to it that the version is there */
        __builtin_trap();
    __atomic_store_n((void **)((uintptr_t)image + call->r_offset), function, __ATOMIC_RELAXED);
    return function;
}

/* For the entry below. */
void *pct_bind_call(size_t number);

__attribute__((used)) PCT_STARTS void *pct_bind_call(size_t number)
{
    const struct tables t = own_tables();
    return bind_one(&t, number);
}

/* No function that is bound has arguments in other registers. */
__asm__(".pushsection .text.unlikely\n"
        ".type pct_bind_entry, @function\n"
        "pct_bind_entry:\n"
        ".cfi_startproc\n"
        ".cfi_def_cfa_offset 24\n"
        "endbr64\n"
        "push %rax\n"
        "push %rcx\n"
        "push %rdx\n"
        "push %rsi\n"
        "push %rdi\n"
        "push %r8\n"
        "push %r9\n"
        ".cfi_def_cfa_offset 80\n"
        "mov 64(%rsp), %rdi\n"
        "call pct_bind_call\n"
        "mov %rax, %r11\n"
        "pop %r9\n"
        "pop %r8\n"
        "pop %rdi\n"
        "pop %rsi\n"
        "pop %rdx\n"
        "pop %rcx\n"
        "pop %rax\n"
        "add $16, %rsp\n"
        ".cfi_def_cfa_offset 8\n"
        "jmp *%r11\n"
        ".cfi_endproc\n"
        ".size pct_bind_entry, .-pct_bind_entry\n"
        ".popsection\n");
extern char entry[] __asm__("pct_bind_entry") __attribute__((visibility("hidden")));

PCT_STARTS void pct_bind_start(void)
{
    enum { ENTRY = 2 };
    const struct tables t = own_tables();
    if (t.slots && t.slots[ENTRY]) /* not, where the loader has bound them all (LD_BIND_NOW) */
        t.slots[ENTRY] = entry;
}

void pct_bind_all(void)
{
    const struct tables t = own_tables();
    for (size_t i = 0; i < t.count; i++)
        bind_one(&t, i);
}
