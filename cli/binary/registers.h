/* General registers, of whatever width, by the number of the whole one. */
#ifndef PCT_CLI_REGISTERS_H
#define PCT_CLI_REGISTERS_H

#include <Zydis/Zydis.h>
#include <stdint.h>

enum { PCT_REGISTER_RSP = 4, PCT_REGISTER_RBP = 5, PCT_REGISTER_NONE = 0xff };

static inline unsigned pct_register_number(ZydisRegister reg)
{
    ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
    return ZydisRegisterGetClass(whole) == ZYDIS_REGCLASS_GPR64 ? (unsigned)ZydisRegisterGetId(whole)
                                                                : PCT_REGISTER_NONE;
}

static inline uint16_t pct_register_bit(ZydisRegister reg)
{
    unsigned number = pct_register_number(reg);
    return number == PCT_REGISTER_NONE ? 0 : (uint16_t)(1u << number);
}

#endif
