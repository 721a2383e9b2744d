/* System call instructions in a program's own code, and others that nothing controls: searched for as bytes, and where
 * these are, decoded, since 0f 05 stands in many immediates and displacements. See elf_facts.h. */
#include "elf_facts.h"
#include <Zydis/Zydis.h>
#include <string.h>
#include <sys/syscall.h>

/* Bytes before such a place at which decoding begins, perhaps inside an instruction: after a few it is at the same ones
 * as if it had begun with the first of all. */
enum { BEFORE = 512 };

/* clang-format off */
/* Those that can make a thread wait, or start one. */
#define WAITS(X)                                                                                                       \
    X(futex) X(futex_waitv) X(clone) X(clone3) X(fork) X(vfork) X(wait4) X(waitid) X(nanosleep) X(clock_nanosleep)     \
    X(pause) X(rt_sigsuspend) X(rt_sigtimedwait) X(poll) X(ppoll) X(select) X(pselect6) X(epoll_wait) X(epoll_pwait)   \
    X(epoll_pwait2) X(io_uring_enter) X(read) X(readv) X(recvfrom) X(recvmsg) X(recvmmsg) X(sendto) X(sendmsg)         \
    X(accept) X(accept4) X(connect) X(semop) X(semtimedop) X(msgrcv) X(msgsnd) X(mq_timedreceive) X(mq_timedsend)      \
    X(flock) X(fcntl)
#define OTHERS(X)                                                                                                      \
    X(execve) X(exit) X(exit_group) X(sched_yield) X(clock_gettime) X(gettid) X(tgkill) X(kill) X(rt_sigaction)        \
    X(rt_sigprocmask) X(rt_sigreturn) X(write) X(io_uring_setup) X(io_uring_register) X(seccomp) X(prctl)              \
    X(membarrier) X(getrandom) X(mmap) X(munmap) X(mprotect) X(madvise) X(sched_getaffinity) X(sched_setaffinity)      \
    X(rseq) X(arch_prctl)
/* clang-format on */

bool pct_raw_calls_wait(unsigned number)
{
    switch (number) {
#define CASE(name) case SYS_##name:
        WAITS(CASE)
#undef CASE
        return true;
    default:
        return false;
    }
}

const char *pct_raw_calls_name(unsigned number)
{
    switch (number) {
#define CASE(name)                                                                                                     \
    case SYS_##name:                                                                                                   \
        return #name;
        WAITS(CASE)
        OTHERS(CASE)
#undef CASE
    }
    return NULL;
}

/* `mov eax, imm`, `mov rax, imm`, `xor eax, eax`: sets *number. Anything else that writes eax forgets it: found by
 * asking for the operands. */
static void track_rax(const ZydisDecoder *decoder, const ZydisDecoderContext *context,
                      const ZydisDecodedInstruction *instruction, int64_t *number)
{
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeOperands(decoder, context, instruction, operands, instruction->operand_count)))
        return;
    for (unsigned i = 0; i < instruction->operand_count; i++) {
        const ZydisDecodedOperand *operand = &operands[i];
        if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER || !(operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) ||
            ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, operand->reg.value) != ZYDIS_REGISTER_RAX)
            continue;
        bool whole = operand->reg.value == ZYDIS_REGISTER_EAX || operand->reg.value == ZYDIS_REGISTER_RAX;
        if (whole && instruction->mnemonic == ZYDIS_MNEMONIC_MOV && operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
            *number = operands[1].imm.value.s;
        else if (whole && instruction->mnemonic == ZYDIS_MNEMONIC_XOR &&
                 operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER && operands[1].reg.value == operand->reg.value)
            *number = 0;
        else
            *number = -1;
        return;
    }
}

static bool ends_block(const ZydisDecodedInstruction *instruction)
{
    switch (instruction->meta.category) {
    case ZYDIS_CATEGORY_CALL:
    case ZYDIS_CATEGORY_RET:
    case ZYDIS_CATEGORY_UNCOND_BR:
    case ZYDIS_CATEGORY_COND_BR:
    case ZYDIS_CATEGORY_SYSCALL: /* its result is in eax */
        return true;
    default:
        return false;
    }
}

static void count_call(struct pct_raw_calls *raw, int64_t number)
{
    raw->total++;
    if (number >= 0 && number < PCT_RAW_NUMBER_MAX)
        raw->by_number[number]++;
    else
        raw->unknown++;
}

/* The next place from there on with bytes that an instruction of ours has, which stand in many others, too. */
static size_t find_mark(const unsigned char *code, size_t at, size_t size)
{
    for (const unsigned char *found; at + 1 < size && (found = memchr(code + at, 0x0f, size - 1 - at)); at++) {
        at = (size_t)(found - code);
        switch (found[1]) {
        case 0x05: /* syscall */
        case 0x34: /* sysenter */
        case 0x31: /* rdtsc */
        case 0xc7: /* rdrand, rdseed */
            return at;
        case 0x01: /* rdtscp */
            if (at + 2 < size && found[2] == 0xf9)
                return at;
        }
    }
    return size;
}

static size_t find_legacy(const unsigned char *code, size_t at, size_t size)
{
    const unsigned char *found = at < size ? memmem(code + at, size - at, "\xcd\x80", 2) : NULL; /* int 0x80 */
    return found ? (size_t)(found - code) : size;
}

static void count_instruction(struct pct_raw_calls *raw, const ZydisDecodedInstruction *instruction,
                              const unsigned char *end, int64_t number)
{
    switch (instruction->mnemonic) {
    case ZYDIS_MNEMONIC_SYSCALL:
        count_call(raw, number);
        break;
    case ZYDIS_MNEMONIC_RDTSC:
    case ZYDIS_MNEMONIC_RDTSCP:
        raw->clock++;
        break;
    case ZYDIS_MNEMONIC_RDRAND:
    case ZYDIS_MNEMONIC_RDSEED:
        raw->random++;
        break;
    case ZYDIS_MNEMONIC_SYSENTER:
        raw->legacy++;
        break;
    case ZYDIS_MNEMONIC_INT:
        raw->legacy += instruction->length == 2 && end[-1] == 0x80;
        break;
    default:
        break;
    }
}

/* Count the instruction that has this byte. Returns where the next one begins. */
static size_t count_at(struct pct_raw_calls *raw, const ZydisDecoder *decoder, const unsigned char *code, size_t size,
                       size_t mark)
{
    int64_t number = -1; /* in eax, as far as this basic block tells */
    size_t at = mark > BEFORE ? mark - BEFORE : 0;
    while (at <= mark) {
        ZydisDecoderContext context;
        ZydisDecodedInstruction instruction;
        if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(decoder, &context, code + at, size - at, &instruction))) {
            at++;
            number = -1;
            continue;
        }
        at += instruction.length;
        if (at > mark)
            count_instruction(raw, &instruction, code + at, number);
        else if (ends_block(&instruction))
            number = -1;
        else
            track_rax(decoder, &context, &instruction, &number);
    }
    return at;
}

void pct_raw_calls_count(struct pct_raw_calls *raw, const unsigned char *code, size_t size)
{
    ZydisDecoder decoder;
    if (!ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)))
        return;
    size_t mark = find_mark(code, 0, size), legacy = find_legacy(code, 0, size);
    while (mark < size || legacy < size) {
        const size_t next = count_at(raw, &decoder, code, size, mark < legacy ? mark : legacy);
        mark = mark < next ? find_mark(code, next, size) : mark;
        legacy = legacy < next ? find_legacy(code, next, size) : legacy;
    }
}
