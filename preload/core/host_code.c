/* Libc's code in a host: see host_code.h. */
#include "host_code.h"
#include "host.h"
#include "real.h"
#include "sys.h"
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

static uint64_t code_from, code_to;

bool pct_host_code_find(void)
{
    const struct link_map *libc;
    unsigned found = 0, count;
    if (!pct_real_symbol("clone", &libc))
        return false;
    const Elf64_Phdr *part = pct_real_parts(libc, &count);
    for (; count; count--, part++)
        if (part->p_type == PT_LOAD && part->p_flags & PF_X) {
            code_from = libc->l_addr + (part->p_vaddr & ~(uint64_t)(PAGE - 1));
            code_to = (libc->l_addr + part->p_vaddr + part->p_memsz + PAGE - 1) & ~(uint64_t)(PAGE - 1);
            found++;
        }
    return found == 1;
}

bool pct_host_code_reaches(const uint8_t *site, const void *to)
{
    const int64_t distance = (int64_t)to - (int64_t)(site + 5);
    return distance == (int32_t)distance;
}

bool pct_host_code_lead(uint8_t *site, const void *to)
{
    const int32_t distance = (int32_t)((int64_t)to - (int64_t)(site + 5));
    if (!pct_host_code_reaches(site, to))
        return false;
    *site = 0xe9; /* jmp */
    memcpy(site + 1, &distance, sizeof distance);
    return true;
}

/* All of libc's code, so that it stays one mapping: the fewer there are, the faster the kernel looks at all. */
static bool set_rights(int rights)
{
    return !pct_host_sys4(SYS_mprotect, (long)code_from, (long)(code_to - code_from), rights, 0);
}

bool pct_host_code_open(void)
{
    return set_rights(PROT_READ | PROT_WRITE);
}

bool pct_host_code_close(void)
{
    return set_rights(PROT_READ | PROT_EXEC);
}
