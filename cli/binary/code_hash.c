/* What functions consist of: see code_hash.h. */
#include "code_hash.h"
#include "segments.h"
#include <Zydis/Zydis.h>
#include <common/bisect.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

static int by_offset(const void *a, const void *b)
{
    const struct pct_code_function *x = a, *y = b;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return strcmp(x->name, y->name); /* aliases: always the same one of them */
}

/* The last symbol that begins at or before this offset, if the offset is in it. */
static const struct pct_code_function *symbol_at(const struct pct_code *code, uint64_t offset)
{
    const size_t behind = PCT_BISECT(i, 0, code->count, code->item[i].offset <= offset);
    const struct pct_code_function *last = behind ? &code->item[behind - 1] : NULL;
    return last && offset - last->offset < last->size ? last : NULL;
}

/* What an instruction names by its distance: the symbol there, and how far into it. That of a stub, which has none, is
 * left out. */
static uint64_t hash_target(const struct pct_code *code, uint64_t target, uint64_t hash)
{
    const struct pct_code_function *symbol = symbol_at(code, target);
    if (!symbol)
        return hash;
    uint64_t within = target - symbol->offset;
    hash = XXH3_64bits_withSeed(&within, sizeof within, hash);
    return XXH3_64bits_withSeed(symbol->name, strlen(symbol->name), hash);
}

/* Of each instruction the bytes, but for what is relative to its own address, which changes with every other function:
 * of that what it leads to. */
static uint64_t hash_code(const struct pct_code *code, const struct pct_code_function *function,
                          const unsigned char *bytes)
{
    ZydisDecoder decoder;
    uint64_t hash = function->size;
    if (!ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)))
        return 0;
    for (uint64_t at = 0; at < function->size;) {
        ZydisDecodedInstruction instruction;
        unsigned char copy[16] = { 0 }; /* an instruction has at most 15 */
        if (!ZYAN_SUCCESS(
                ZydisDecoderDecodeInstruction(&decoder, NULL, bytes + at, function->size - at, &instruction))) {
            copy[0] = bytes[at++];
            hash = XXH3_64bits_withSeed(copy, sizeof copy, hash);
            continue;
        }
        memcpy(copy, bytes + at, instruction.length);
        at += instruction.length;
        if (instruction.attributes & ZYDIS_ATTRIB_IS_RELATIVE) {
            bool branch = instruction.raw.imm[0].is_relative;
            int64_t distance = branch ? instruction.raw.imm[0].value.s : instruction.raw.disp.value;
            memset(copy + instruction.raw.disp.offset, 0, instruction.raw.disp.size / 8);
            if (branch)
                memset(copy + instruction.raw.imm[0].offset, 0, instruction.raw.imm[0].size / 8);
            hash = hash_target(code, function->offset + at + (uint64_t)distance, hash);
        }
        hash = XXH3_64bits_withSeed(copy, sizeof copy, hash);
    }
    return hash;
}

uint64_t pct_code_in_file(const struct pct_code *code, uint64_t offset)
{
    GElf_Phdr segment;
    bool found = pct_segment_find(code->elf, PCT_SEGMENT_MEMORY, code->base + offset, 1, PF_X, &segment);
    return found ? code->base + offset - segment.p_vaddr + segment.p_offset : UINT64_MAX;
}

uint64_t pct_code_in_memory(const struct pct_code *code, uint64_t offset)
{
    GElf_Phdr segment;
    bool found = pct_segment_find(code->elf, PCT_SEGMENT_FILE, offset, 1, PF_X, &segment);
    return found ? offset - segment.p_offset + segment.p_vaddr - code->base : UINT64_MAX;
}

/* Its code; NULL: the file does not have it. */
static const unsigned char *bytes_of(const struct pct_code *code, const struct pct_code_function *function)
{
    const uint64_t address = function->offset + code->base;
    return function->is_data ? NULL : pct_segment_bytes(code->elf, address, function->size, PF_X);
}

uint64_t pct_code_hash(const struct pct_code *code, const struct pct_code_function *function)
{
    const unsigned char *bytes = bytes_of(code, function);
    return bytes ? hash_code(code, function, bytes) : 0;
}

bool pct_code_calls(const struct pct_code *code, const struct pct_code_function *function,
                    const struct pct_code_function *other)
{
    const unsigned char *bytes = bytes_of(code, function);
    ZydisDecoder decoder;
    if (!bytes || !ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)))
        return false;
    for (uint64_t at = 0; at < function->size;) {
        ZydisDecodedInstruction instruction;
        if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, bytes + at, function->size - at, &instruction)))
            return false;
        at += instruction.length;
        if (instruction.attributes & ZYDIS_ATTRIB_IS_RELATIVE && instruction.raw.imm[0].is_relative &&
            function->offset + at + (uint64_t)instruction.raw.imm[0].value.s == other->offset)
            return true;
    }
    return false;
}

static uint64_t first_address(Elf *elf)
{
    size_t count;
    uint64_t first = UINT64_MAX;
    GElf_Phdr segment;
    for (size_t i = 0; !elf_getphdrnum(elf, &count) && i < count; i++)
        if (gelf_getphdr(elf, (int)i, &segment) && segment.p_type == PT_LOAD && segment.p_vaddr < first)
            first = segment.p_vaddr & ~UINT64_C(4095);
    return first;
}

static int read_symbols(struct pct_code *code, Elf *elf, Elf_Scn *section, const GElf_Shdr *head)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t count = data && head->sh_entsize ? head->sh_size / head->sh_entsize : 0;
    code->item = calloc(count + 1, sizeof *code->item);
    if (!code->item)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        GElf_Sym symbol;
        unsigned type = gelf_getsym(data, (int)i, &symbol) ? GELF_ST_TYPE(symbol.st_info) : STT_NOTYPE;
        if ((type != STT_FUNC && type != STT_OBJECT) || !symbol.st_size)
            continue;
        const char *name = elf_strptr(elf, head->sh_link, symbol.st_name);
        char *copy = name ? strdup(name) : NULL;
        if (copy)
            code->item[code->count++] = (struct pct_code_function){ .name = copy,
                                                                    .offset = symbol.st_value - code->base,
                                                                    .size = symbol.st_size,
                                                                    .is_data = type == STT_OBJECT };
    }
    qsort(code->item, code->count, sizeof *code->item, by_offset);
    return 0;
}

int pct_code_read(struct pct_code *code, const char *path)
{
    *code = (struct pct_code){ 0 };
    elf_version(EV_CURRENT);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    if (elf && elf_cntl(elf, ELF_C_FDREAD)) {
        elf_end(elf);
        elf = NULL;
    }
    int failed = 0;
    code->elf = elf;
    code->base = elf ? first_address(elf) : 0;
    Elf_Scn *section = NULL;
    while (elf && (section = elf_nextscn(elf, section)) && !code->item) {
        GElf_Shdr head;
        if (gelf_getshdr(section, &head) && head.sh_type == SHT_SYMTAB)
            failed = read_symbols(code, elf, section, &head);
    }
    close(fd);
    if (failed)
        pct_code_free(code);
    return failed;
}

void pct_code_free(struct pct_code *code)
{
    for (size_t i = 0; i < code->count; i++)
        free(code->item[i].name);
    free(code->item);
    elf_end(code->elf);
    *code = (struct pct_code){ 0 };
}

const struct pct_code_function *pct_code_find(const struct pct_code *code, const char *name)
{
    for (size_t i = 0; i < code->count; i++)
        if (!code->item[i].is_data && !strcmp(code->item[i].name, name))
            return &code->item[i];
    return NULL;
}

const struct pct_code_function *pct_code_at(const struct pct_code *code, uint64_t offset)
{
    const struct pct_code_function *symbol = symbol_at(code, offset);
    return symbol && !symbol->is_data ? symbol : NULL;
}
