/* The object that pct-cc and its like link into each program and library: the handlers of plain accesses, where a call
 * of compiled code goes straight to them. Through a table of addresses, as into libpct-tsan.so, it takes up to twice
 * the time. An object, no archive: with link-time optimisation the calls come into being after the linker has looked
 * through archives.
 *
 * And stubs of what libc does with memory for its caller (strings.h): code that is compiled for us calls these, and
 * nobody else does. Weak: a program may have such a function of its own.
 *
 * The names are hidden: each module has handlers of its own. The state stays in libpct.so. A section of its own,
 * because patching at load time leaves these functions out (cli/binary/patch_plan.c). */
#include "plain.h"
#include "strings.h"
#include <patch/plan.h>

#define HIDDEN __attribute__((visibility("hidden"), section(PCT_HANDLERS_SECTION)))
PCT_HANDLERS(HIDDEN, pct_tsan_access)
PCT_FUNCTION_HANDLERS(HIDDEN, pct_tsan_function, pct_tsan_function_exit)

#define STUB(name) STUB_TO(name, PCT_STRING_NAME(name))
#define STUB_TO(name, to) STUB_OF(name, to)
#define STUB_OF(name, to)                                                                                              \
    __asm__(".pushsection " PCT_HANDLERS_SECTION ", \"ax\", @progbits\n"                                               \
            ".weak " #name "\n"                                                                                        \
            ".hidden " #name "\n"                                                                                      \
            ".type " #name ", @function\n" #name ":\n"                                                                 \
            ".cfi_startproc\n"                                                                                         \
            "endbr64\n"                                                                                                \
            "jmp *" #to "@GOTPCREL(%rip)\n"                                                                            \
            ".cfi_endproc\n"                                                                                           \
            ".size " #name ", . - " #name "\n"                                                                         \
            ".popsection\n");
PCT_STRINGS(STUB)
