/* Which registers may hold the address of one of a module's variables, from instruction to instruction of a function.
 * Position-independent code takes the address of an array, and of what it comes to several times, before it accesses
 * it: `lea flag(%rip), %rax; mov (%rax,%rdx,4), %ecx`. Found in one pass, by where the code stands and its branches
 * forward: a register that holds another pointer may be taken for one. */
#ifndef PCT_CLI_HELD_ADDRESSES_H
#define PCT_CLI_HELD_ADDRESSES_H

#include <Zydis/Zydis.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pct_held_addresses {
    bool fixed; /* the module is not moved when it is loaded: absolute addresses name its data */
    bool (*is_variable)(const void *module, uint64_t address);
    const void *module;
    /* Bits by the number of a general register. */
    uint16_t held;     /* before the instruction that comes next */
    uint16_t *brought; /* for each byte of the function, what branches from before it bring there; NULL: nothing yet */
    size_t size;
};

/* A function begins. The fields above `held` are the caller's. */
void pct_held_addresses_begin(struct pct_held_addresses *held, size_t size);
void pct_held_addresses_end(struct pct_held_addresses *held);

/* Before the instruction at this offset of the function. */
void pct_held_addresses_come(struct pct_held_addresses *held, size_t at);

/* Whether a base or an index may be such an address. */
bool pct_held_addresses_in(const struct pct_held_addresses *held, const ZydisDecodedOperandMem *memory);

/* Behind the instruction. False: no memory. */
bool pct_held_addresses_pass(struct pct_held_addresses *held, const ZydisDecoder *decoder,
                             const ZydisDecoderContext *context, const ZydisDecodedInstruction *instruction, size_t at,
                             uint64_t address);

#endif
