/* What an ELF file loads, and where. */
#ifndef PCT_CLI_SEGMENTS_H
#define PCT_CLI_SEGMENTS_H

#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>

/* Where `at` of pct_segment_find() is. */
enum pct_segment_space { PCT_SEGMENT_MEMORY, PCT_SEGMENT_FILE };

/* The loaded segment, with these flags (PF_*), that has this many bytes at this address or at this offset of the file,
 * and is whole in the file. False: there is none. */
bool pct_segment_find(Elf *elf, enum pct_segment_space space, uint64_t at, uint64_t size, unsigned flags,
                      GElf_Phdr *segment);

/* This many bytes of the file that are loaded at this address; NULL: they are not there. */
const uint8_t *pct_segment_bytes(Elf *elf, uint64_t address, uint64_t size, unsigned flags);

#endif
