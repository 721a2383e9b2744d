/* Variables by address: see variable.h. Symbols say what is there and how large, debug information where it was
 * declared and which part of it is meant. */
#include "variable.h"
#include <cli/base/cli.h>
#include <cli/binary/debug_info.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <inttypes.h>
#include <string.h>

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Whether this entry is the variable at an address of its file. */
static bool is_at(Dwarf_Die *die, Dwarf_Addr address)
{
    Dwarf_Addr at;
    return dwarf_tag(die) == DW_TAG_variable && pct_debug_info_address(die, &at) && at == address;
}

/* Also static ones of functions, and those of namespaces and classes. */
static bool find_below(Dwarf_Die *parent, Dwarf_Addr address, Dwarf_Die *found)
{
    if (dwarf_child(parent, found))
        return false;
    do {
        if (is_at(found, address))
            return true;
        int tag = dwarf_tag(found);
        Dwarf_Die die = *found;
        if ((tag == DW_TAG_namespace || tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block) &&
            find_below(&die, address, found))
            return true;
        *found = die;
    } while (!dwarf_siblingof(found, found));
    return false;
}

static bool find_entry(Dwfl_Module *module, Dwarf_Addr address, Dwarf_Die *found)
{
    Dwarf_Die *unit = NULL;
    for (Dwarf_Addr bias = 0; (unit = pct_debug_info_next(module, unit, &bias));)
        if (find_below(unit, address - bias, found))
            return true;
    return false;
}

static bool type_of(Dwarf_Die *die, Dwarf_Die *type)
{
    Dwarf_Attribute attribute;
    return dwarf_attr_integrate(die, DW_AT_type, &attribute) && dwarf_formref_die(&attribute, type) &&
           !dwarf_peel_type(type, type);
}

/* The member of a structure that the byte at *offset belongs to; *offset is then in it. */
static bool find_member(Dwarf_Die *type, uint64_t *offset, Dwarf_Die *member)
{
    if (dwarf_child(type, member))
        return false;
    do {
        Dwarf_Attribute attribute;
        Dwarf_Word from = 0, size;
        Dwarf_Die of;
        int tag = dwarf_tag(member);
        if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || !type_of(member, &of) ||
            dwarf_aggregate_size(&of, &size))
            continue;
        if (dwarf_attr(member, DW_AT_data_member_location, &attribute) && dwarf_formudata(&attribute, &from))
            continue;
        if (*offset >= from && *offset - from < size) {
            *offset -= from;
            return true;
        }
    } while (!dwarf_siblingof(member, member));
    return false;
}

/* "[3].head": the part of a variable of this type that the byte at offset belongs to. */
static void name_part(Dwarf_Die type, uint64_t offset, char *part, size_t size)
{
    size_t length = 0;
    part[0] = 0;
    for (Dwarf_Die next; length < size; type = next) {
        int tag = dwarf_tag(&type);
        Dwarf_Word each;
        if (tag == DW_TAG_array_type) {
            if (!type_of(&type, &next) || dwarf_aggregate_size(&next, &each) || !each)
                return;
            length += (size_t)snprintf(part + length, size - length, "[%" PRIu64 "]", offset / each);
            offset %= each;
        } else if (tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type) {
            Dwarf_Die member;
            if (!find_member(&type, &offset, &member) || !type_of(&member, &next))
                return;
            const char *name = dwarf_tag(&member) == DW_TAG_member ? dwarf_diename(&member) : NULL;
            length += (size_t)snprintf(part + length, size - length, "%s%s", name ? "." : "", name ? name : "");
        } else {
            return;
        }
    }
}

/* What a type has inside is the library's own matter. */
static void hide_inside(char *part)
{
    char *inside = strstr(part, "._");
    if (inside)
        *inside = 0;
}

/* --- On the stack ------------------------------------------------------------------------------------------------- */

/* Where the function of this entry has its variables; 0: not known. */
static uint64_t frame_base(Dwarf_Die *function, const struct pct_main_frame *frame)
{
    Dwarf_Attribute attribute;
    Dwarf_Op *op;
    size_t count;
    if (!dwarf_attr(function, DW_AT_frame_base, &attribute) || dwarf_getlocation(&attribute, &op, &count) || count != 1)
        return 0;
    switch (op->atom) {
    case DW_OP_call_frame_cfa:
        return frame->cfa;
    case DW_OP_reg6:
        return frame->rbp;
    case DW_OP_reg7:
        return frame->rsp;
    default:
        return 0;
    }
}

/* Whether this entry is a variable that lies around the address, in a frame with this base; *offset: how far in it. */
static bool lies_around(Dwarf_Die *die, uint64_t base, uint64_t address, uint64_t *offset)
{
    Dwarf_Attribute attribute;
    Dwarf_Op *op;
    Dwarf_Word size;
    Dwarf_Die type;
    size_t count;
    int tag = dwarf_tag(die);
    if ((tag != DW_TAG_variable && tag != DW_TAG_formal_parameter) || !dwarf_attr(die, DW_AT_location, &attribute) ||
        dwarf_getlocation(&attribute, &op, &count) || count != 1 || op->atom != DW_OP_fbreg || !type_of(die, &type) ||
        dwarf_aggregate_size(&type, &size))
        return false;
    *offset = address - (base + op->number);
    return *offset < size;
}

/* How many variables of this function, of all its blocks, lie around the address; *found is the last. Two may have the
 * same place, one after the other. */
static unsigned find_local(Dwarf_Die *parent, uint64_t base, uint64_t address, Dwarf_Die *found, uint64_t *offset)
{
    Dwarf_Die die;
    unsigned count = 0;
    if (dwarf_child(parent, &die))
        return 0;
    do {
        uint64_t in;
        int tag = dwarf_tag(&die);
        if (lies_around(&die, base, address, &in)) {
            *found = die;
            *offset = in;
            count++;
        } else if (tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine) {
            count += find_local(&die, base, address, found, offset);
        }
    } while (!dwarf_siblingof(&die, &die));
    return count;
}

/* "queue.lock in main()": what main() has at this address, whose frame is there for as long as other threads are. */
static bool name_in_main(const struct pct_unwinder *unwinder, const struct pct_main_frame *frame, uint64_t address,
                         char *name, size_t size)
{
    Dwfl_Module *module = dwfl_addrmodule(pct_unwind_modules(unwinder), frame->call);
    Dwarf_Addr bias;
    Dwarf_Die *unit = module ? pct_debug_info_unit(module, frame->call, &bias) : NULL;
    Dwarf_Die function, found, type;
    uint64_t offset = 0;
    if (!unit || dwarf_child(unit, &function))
        return false;
    while (dwarf_tag(&function) != DW_TAG_subprogram || dwarf_haspc(&function, frame->call - bias) <= 0)
        if (dwarf_siblingof(&function, &function))
            return false;
    uint64_t base = frame_base(&function, frame);
    if (!base || find_local(&function, base, address, &found, &offset) != 1 || !type_of(&found, &type))
        return false;
    char part[200];
    const char *variable = dwarf_diename(&found);
    name_part(type, offset, part, sizeof part);
    hide_inside(part);
    snprintf(name, size, "%s%s in main()", variable ? variable : "", part);
    return variable;
}

bool pct_variable_find(const struct pct_unwinder *unwinder, uint64_t address, struct pct_variable *variable)
{
    Dwfl_Module *module = address ? dwfl_addrmodule(pct_unwind_modules(unwinder), address) : NULL;
    GElf_Off offset;
    GElf_Sym symbol;
    Dwarf_Addr start;
    const char *file;
    *variable = (struct pct_variable){ .line = 0 };
    if (!module || !pct_unwind_object(unwinder, address, variable->name, sizeof variable->name) ||
        !dwfl_module_addrinfo(module, address, &offset, &symbol, NULL, NULL, NULL))
        return false;
    const char *name = dwfl_module_info(module, NULL, &start, NULL, NULL, NULL, &file, NULL);
    variable->name[strcspn(variable->name, "+")] = 0;
    variable->size = symbol.st_size;
    variable->offset = address - offset - start;
    variable->into = offset;
    snprintf(variable->module, sizeof variable->module, "%s", base_name(file ? file : name));
    Dwarf_Die entry, type;
    if (!find_entry(module, address - offset, &entry))
        return true;
    /* A member that is defined outside its class was declared in it. */
    const char *declared = pct_debug_info_file(&entry);
    char path[PATH_MAX];
    Dwarf_Die unit;
    if (declared && dwarf_diecu(&entry, &unit, NULL, NULL))
        declared = pct_unwind_shorten(unwinder, pct_debug_info_path(&unit, declared, path));
    snprintf(variable->file, sizeof variable->file, "%s", declared ? declared : "");
    if (dwarf_decl_line(&entry, &variable->line))
        variable->line = 0;
    if (type_of(&entry, &type))
        name_part(type, offset, variable->part, sizeof variable->part);
    return true;
}

/* The names of the last objects: of each, reports speak many times, and debug information is read from its start. */
static struct known {
    uint64_t code, address, frame; /* frame: that of main(), if the address is in no file */
    char name[400];                /* "": it has none */
} known[32];

bool pct_variable_name(struct pct_unwinder *unwinder, uint64_t address, char *name, size_t size)
{
    static unsigned next;
    struct pct_variable variable;
    struct known *one = NULL;
    if (!unwinder || !address)
        return false;
    uint64_t code = pct_unwind_code(unwinder);
    struct pct_main_frame frame = { 0 };
    bool local = !dwfl_addrmodule(pct_unwind_modules(unwinder), address) && pct_unwind_main(unwinder, &frame);
    for (size_t i = 0; i < sizeof known / sizeof *known && !one; i++)
        one = known[i].address == address && known[i].code == code && known[i].frame == frame.cfa ? &known[i] : NULL;
    if (!one) {
        one = &known[next++ % (sizeof known / sizeof *known)];
        *one = (struct known){ .code = code, .address = address, .frame = frame.cfa };
        bool found = pct_variable_find(unwinder, address, &variable);
        hide_inside(variable.part);
        if (found && variable.file[0])
            snprintf(one->name, sizeof one->name, "%s%s", variable.name, variable.part);
        else if (!(local && name_in_main(unwinder, &frame, address, one->name, sizeof one->name)) &&
                 !pct_unwind_object(unwinder, address, one->name, sizeof one->name))
            one->name[0] = 0;
    }
    snprintf(name, size, "%s", one->name);
    return one->name[0];
}
