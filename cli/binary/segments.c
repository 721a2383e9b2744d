/* What an ELF file loads: see segments.h. */
#include "segments.h"
#include <stddef.h>

bool pct_segment_find(Elf *elf, enum pct_segment_space space, uint64_t at, uint64_t size, unsigned flags,
                      GElf_Phdr *segment)
{
    size_t count, whole;
    if (!elf_rawfile(elf, &whole) || elf_getphdrnum(elf, &count))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!gelf_getphdr(elf, (int)i, segment) || segment->p_type != PT_LOAD || (segment->p_flags & flags) != flags)
            continue;
        uint64_t from = space == PCT_SEGMENT_FILE ? segment->p_offset : segment->p_vaddr;
        if (at >= from && size <= segment->p_filesz && at - from <= segment->p_filesz - size &&
            segment->p_offset <= whole && segment->p_filesz <= whole - segment->p_offset)
            return true;
    }
    return false;
}

const uint8_t *pct_segment_bytes(Elf *elf, uint64_t address, uint64_t size, unsigned flags)
{
    GElf_Phdr segment;
    if (!pct_segment_find(elf, PCT_SEGMENT_MEMORY, address, size, flags, &segment))
        return NULL;
    return (const uint8_t *)elf_rawfile(elf, NULL) + segment.p_offset + (address - segment.p_vaddr);
}
