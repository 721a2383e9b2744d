/* What the names in a specification are, by the program's debug information (libdw): functions, parameters, members,
 * global variables. See spec.h. */
#include "shape.h"
#include "source.h"
#include <cli/binary/debug_info.h>
#include <cli/binary/scope.h>
#include <common/text.h>
#include <dwarf.h>
#include <gelf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool demon_shape_fail(struct demon_shape *s, unsigned line, const char *format, ...)
{
    int length = snprintf(s->error, s->size, "%s:%u: ", s->from, line);
    va_list list;
    va_start(list, format);
    if (length > 0 && (size_t)length < s->size)
        vsnprintf(s->error + length, s->size - (size_t)length, format, list);
    va_end(list);
    return false;
}

/* --- Types -------------------------------------------------------------------------------------------------------- */

bool demon_shape_type(Dwarf_Die *die, Dwarf_Die *type)
{
    Dwarf_Attribute attribute;
    if (!dwarf_attr_integrate(die, DW_AT_type, &attribute) || !dwarf_formref_die(&attribute, type))
        return false;
    return !dwarf_peel_type(type, type);
}

bool demon_shape_is_structure(Dwarf_Die *type)
{
    int tag = dwarf_tag(type);
    return tag == DW_TAG_structure_type || tag == DW_TAG_class_type;
}

bool demon_shape_scalar(Dwarf_Die *type, uint32_t *size, bool *is_signed, bool *pointer)
{
    Dwarf_Attribute attribute;
    Dwarf_Word encoding = DW_ATE_unsigned, bytes = 0;
    int tag = dwarf_tag(type);
    Dwarf_Die of;
    *pointer = tag == DW_TAG_pointer_type;
    if (dwarf_aggregate_size(type, &bytes) || (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8))
        return false;
    if (tag == DW_TAG_enumeration_type && demon_shape_type(type, &of))
        type = &of;
    else if (tag != DW_TAG_base_type && tag != DW_TAG_enumeration_type && !*pointer)
        return false;
    if (dwarf_attr_integrate(type, DW_AT_encoding, &attribute))
        dwarf_formudata(&attribute, &encoding);
    *size = (uint32_t)bytes;
    *is_signed = encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
    return encoding != DW_ATE_float && encoding != DW_ATE_complex_float;
}

/* Of C's bool: 0 or 1. */
static bool is_truth(Dwarf_Die *type)
{
    Dwarf_Attribute attribute;
    Dwarf_Word encoding = 0;
    return dwarf_tag(type) == DW_TAG_base_type && dwarf_attr_integrate(type, DW_AT_encoding, &attribute) &&
           !dwarf_formudata(&attribute, &encoding) && encoding == DW_ATE_boolean;
}

static uint32_t extent_of(const Dwarf_Die *type)
{
    Dwarf_Die die = *type;
    Dwarf_Word size;
    return !dwarf_aggregate_size(&die, &size) && size < UINT32_MAX ? (uint32_t)size : 0;
}

/* An array, or what contracts speak of the elements of: a pointer to numbers. */
static bool describe_elements(Dwarf_Die *type, struct demon_variable *v)
{
    Dwarf_Die element;
    Dwarf_Word size;
    const bool array = dwarf_tag(type) == DW_TAG_array_type;
    if ((!array && (dwarf_tag(type) != DW_TAG_pointer_type || !v->indexed)) || !demon_shape_type(type, &element) ||
        dwarf_aggregate_size(&element, &size))
        return false;
    const Dwarf_Die *of = array ? type : &element;
    v->type.object = v->type.plain = true;
    v->type.die = dwarf_dieoffset((Dwarf_Die *)(uintptr_t)of);
    v->type.extent = extent_of(of);
    snprintf(v->type.name, sizeof v->type.name, "(%s, %llx)", array ? "array" : "number",
             (unsigned long long)v->type.die);
    return true;
}

/* What a parameter or shared variable is. */
static bool describe(struct demon_shape *s, Dwarf_Die *die, struct demon_variable *v)
{
    Dwarf_Die type;
    struct demon_structure of;
    if (!demon_shape_type(die, &type))
        return demon_shape_fail(s, v->line, "%s: its type is not in the debug information", v->name);
    v->type.variable = dwarf_dieoffset(die);
    v->type.embedded = demon_shape_is_structure(&type) || dwarf_tag(&type) == DW_TAG_array_type;
    if (demon_pointers_structure(s->dwarf, die, &of) && !of.array) {
        v->type.object = true;
        v->type.plain = of.plain;
        const char *tag = of.plain ? NULL : dwarf_diename(&of.die);
        v->type.tagged = tag && !strcmp(tag, of.name);
        v->type.die = dwarf_dieoffset(&of.die);
        v->type.extent = extent_of(&of.die);
        memcpy(v->type.name, of.name, sizeof v->type.name);
        return true;
    }
    if (describe_elements(&type, v))
        return true;
    v->type.lock = demon_shape_lock(die);
    if (v->type.lock == 1)
        return true;
    if (!demon_shape_scalar(&type, &v->type.size, &v->type.is_signed, &v->type.pointer))
        return demon_shape_fail(s, v->line, "%s is neither a whole number of 1, 2, 4 or 8 bytes nor a pointer",
                                v->name);
    v->type.truth = is_truth(&type);
    return true;
}

static bool resolve_expr(struct demon_shape *s, const struct demon_proc *proc, struct demon_expr *e)
{
    if (!e)
        return true;
    if (e->op == DEMON_LEAF || e->op == DEMON_HOLDS || e->op == DEMON_UNCHANGED)
        return demon_shape_leaf(s, proc, &e->leaf, e->line);
    if (e->op == DEMON_ADDRESS)
        return demon_shape_address(s, proc, &e->leaf, e->line);
    return resolve_expr(s, proc, e->a) && resolve_expr(s, proc, e->b);
}

/* --- Functions and variables -------------------------------------------------------------------------------------- */

/* Whether the function, which begins at this address, finds its parameter where callers by the ABI put it: compilers
 * leave out what a static function does not need, and shift the rest. */
static bool is_passed(Dwarf_Die *parameter, int number, Dwarf_Addr low, bool external)
{
    static const unsigned registers[PCT_DEMON_ARGUMENTS] = { 5, 4, 1, 2, 8, 9 }; /* rdi, rsi, rdx, rcx, r8, r9 */
    Dwarf_Attribute attribute;
    Dwarf_Op *operations;
    size_t count;
    if (!dwarf_attr(parameter, DW_AT_location, &attribute) ||
        dwarf_getlocation_addr(&attribute, low, &operations, &count, 1) != 1 || !count)
        return external;
    const unsigned in = operations[0].atom;
    if (in == DW_OP_fbreg || (in >= DW_OP_breg0 && in <= DW_OP_breg31))
        return true; /* it will put it there itself, as code that is not optimised does */
    return count == 1 && in == DW_OP_reg0 + registers[number];
}

static bool fail_without_types(struct demon_shape *s, int line)
{
    return demon_shape_fail(
        s, line, "the debug information of %s says nothing of parameters and types, as that of -g1: build with -g",
        s->program);
}

/* Whether the function's file has types, as debug information of -g1 has not. */
static bool has_types(Dwarf_Die *function)
{
    Dwarf_Die unit, child;
    bool any = false;
    if (dwarf_diecu(function, &unit, NULL, NULL))
        for (int more = dwarf_child(&unit, &child); !more && !any; more = dwarf_siblingof(&child, &child))
            any = dwarf_tag(&child) == DW_TAG_base_type || dwarf_tag(&child) == DW_TAG_pointer_type;
    return any;
}

static bool resolve_parameters(struct demon_shape *s, Dwarf_Die *function, struct demon_proc *proc)
{
    int count = 0;
    Dwarf_Die child;
    for (int more = dwarf_child(function, &child); !more; more = dwarf_siblingof(&child, &child)) {
        if (dwarf_tag(&child) != DW_TAG_formal_parameter)
            continue;
        Dwarf_Attribute attribute;
        const char *name = dwarf_attr_integrate(&child, DW_AT_name, &attribute) ? dwarf_formstring(&attribute) : NULL;
        if (count < proc->parameters && (!name || strcmp(name, proc->parameter[count].name) != 0))
            return demon_shape_fail(s, proc->parameter[count].line,
                                    "parameter %d of %s is called %s in the program, not %s", count + 1, proc->name,
                                    name ? name : "nothing", proc->parameter[count].name);
        if (count < proc->parameters && !describe(s, &child, &proc->parameter[count]))
            return false;
        if (count < proc->parameters && proc->parameter[count].type.embedded)
            return demon_shape_fail(s, proc->parameter[count].line, "%s of %s is a structure that is passed by value",
                                    proc->parameter[count].name, proc->name);
        if (count < proc->parameters && !is_passed(&child, count, proc->address, proc->external))
            return demon_shape_fail(s, proc->parameter[count].line,
                                    "the compiler has changed how %s gets %s: build with -O0, or make %s external",
                                    proc->name, proc->parameter[count].name, proc->name);
        count++;
    }
    if (!count && proc->parameters && !has_types(function))
        return fail_without_types(s, proc->line);
    if (count != proc->parameters)
        return demon_shape_fail(s, proc->line, "%s has %d parameters in the program, not %d", proc->name, count,
                                proc->parameters);
    return true;
}

bool demon_shape_name_object(const char *program, uint64_t address, char name[DEMON_NAME])
{
    struct demon_binary binary = demon_binary_open(program);
    const char *found = demon_binary_symbol(&binary, STT_OBJECT, NULL, address);
    bool fits = found && strlen(found) < DEMON_NAME;
    if (fits)
        snprintf(name, DEMON_NAME, "%s", found);
    demon_binary_close(&binary);
    return fits;
}

/* What a call of it needs to know, besides its parameters. */
static bool resolve_linkage(struct demon_shape *s, Dwarf_Die *die, struct demon_proc *proc)
{
    Dwarf_Attribute attribute;
    Dwarf_Die type;
    Dwarf_Word size;
    proc->external = dwarf_hasattr_integrate(die, DW_AT_external);
    if (!dwarf_attr_integrate(die, DW_AT_type, &attribute) || !demon_shape_type(die, &type))
        return true;
    if (demon_shape_scalar(&type, &proc->returns.size, &proc->returns.is_signed, &proc->returns.pointer))
        return true;
    proc->returns.size = 0;
    if ((demon_shape_is_structure(&type) || dwarf_tag(&type) == DW_TAG_union_type) &&
        (dwarf_aggregate_size(&type, &size) || size > 16))
        return demon_shape_fail(
            s, proc->line,
            "%s returns a structure in memory, so its parameters are not where others pass them: write a "
            "function around it",
            proc->name);
    return true;
}

/* Where the code of a function begins, also where compilers put parts of it elsewhere. False: it has none of its own.
 */
static bool begins_at(Dwarf_Die *die, Dwarf_Addr *low)
{
    Dwarf_Addr base, end;
    return !dwarf_lowpc(die, low) || dwarf_ranges(die, 0, &base, low, &end) > 0;
}

static bool resolve_function(struct demon_shape *s, Dwarf_Die *die, struct demon_proc *proc)
{
    Dwarf_Addr low;
    int line = 0;
    const bool has_code = begins_at(die, &low);
    if (has_code) {
        proc->is_mangled |= dwarf_hasattr_integrate(die, DW_AT_linkage_name);
        proc->is_copied = true; /* unless a symbol has the name, as it is, too */
    }
    const bool is_it = has_code && demon_binary_symbol(s->binary, STT_FUNC, proc->name, low);
    if (has_code && !is_it && demon_binary_is_copy(s->binary, proc->name, low)) { /* who enters that is not seen */
        s->from = proc->from;
        return demon_shape_fail(s, proc->line,
                                "the compiler has made a copy of %s for special arguments: build with -O0, or make it "
                                "external, with __attribute__((noclone))",
                                proc->name);
    }
    if (!is_it || proc->address == low)
        return true;
    s->from = proc->from;
    if (proc->address)
        return demon_shape_fail(s, proc->line,
                                "there are several functions %s in %s, one of them at %s:%d: rename the others",
                                proc->name, s->program, proc->file, proc->file_line);
    dwarf_decl_line(die, &line);
    proc->address = low;
    proc->file_line = line;
    demon_source_path(die, proc->path, sizeof proc->path);
    const char *slash = strrchr(proc->path, '/');
    proc->file = slash ? slash + 1 : proc->path;
    Dwarf_Die unit;
    Dwarf_Line *code = dwarf_diecu(die, &unit, NULL, NULL) ? dwarf_getsrc_die(&unit, low) : NULL;
    if (code && !dwarf_lineno(code, &line) && line && strlen(proc->file) < DEMON_NAME)
        snprintf(proc->entry, sizeof proc->entry, "%s:%d", proc->file, line);
    return resolve_linkage(s, die, proc) && resolve_parameters(s, die, proc);
}

static bool is_of_each_thread(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    Dwarf_Op *operations;
    size_t count;
    return dwarf_attr_integrate(die, DW_AT_location, &attribute) &&
           !dwarf_getlocation(&attribute, &operations, &count) && count == 2 &&
           (operations[1].atom == DW_OP_GNU_push_tls_address || operations[1].atom == DW_OP_form_tls_address);
}

static bool resolve_shared(struct demon_shape *s, Dwarf_Die *die, struct demon_variable *v)
{
    Dwarf_Addr address;
    bool own = is_of_each_thread(die);
    if (!own && !pct_debug_info_address(die, &address))
        return true;
    s->from = v->from;
    if (own)
        return demon_shape_fail(s, v->line, "each thread has a variable %s of its own, which others do not share",
                                v->name);
    if (v->address == address)
        return true;
    if (v->address)
        return demon_shape_fail(s, v->line, "there are several global variables %s in %s: rename the others", v->name,
                                s->program);
    v->address = address;
    v->external = dwarf_hasattr_integrate(die, DW_AT_external);
    return describe(s, die, v);
}

/* Copies of a function inside others: what enters one is not seen. */
static struct demon_proc *find_inlined(struct demon_shape *s, Dwarf_Die *die)
{
    Dwarf_Die child;
    for (int more = dwarf_child(die, &child); !more; more = dwarf_siblingof(&child, &child)) {
        Dwarf_Attribute attribute;
        if (dwarf_tag(&child) == DW_TAG_inlined_subroutine && dwarf_attr_integrate(&child, DW_AT_name, &attribute)) {
            const char *name = dwarf_formstring(&attribute);
            for (int i = 0; i < s->spec->procs; i++)
                if (name && !strcmp(name, s->spec->proc[i].name))
                    return &s->spec->proc[i];
        }
        struct demon_proc *inner = find_inlined(s, &child);
        if (inner)
            return inner;
    }
    return NULL;
}

/* --- Lines -------------------------------------------------------------------------------------------------------- */

/* Where code of it begins; the scope has what there is. */
static bool take_line(struct demon_shape *s, struct pct_scope *scope, struct demon_proc *line)
{
    const char *tag = line->clause[0].tag, *closest;
    if (pct_patterns_add_functions(&scope->patterns, line->name))
        return demon_shape_fail(s, line->line, "out of memory");
    const struct pct_pattern *pattern = &scope->patterns.item[0];
    pct_scope_find(scope);
    if (!scope->count && pattern->near_line)
        return demon_shape_fail(s, line->line,
                                "assert %s: line %u of %s has no code in %s; the nearest that has is line %u", tag,
                                pattern->at_line, pattern->text, s->program, pattern->near_line);
    closest = scope->count ? NULL : pct_scope_closest(scope, pattern->text);
    if (!scope->count)
        return demon_shape_fail(s, line->line, "assert %s: %s has no source file %s%s%s%s", tag, s->program,
                                pattern->text, closest ? "; did you mean " : "", closest ? closest : "",
                                closest ? "?" : "");
    size_t functions = 1;
    for (size_t i = 1; i < scope->count; i++) {
        bool known = false;
        for (size_t j = 0; j < i; j++)
            known |= scope->item[j].to == scope->item[i].to;
        functions += !known;
    }
    if (functions > 1)
        return demon_shape_fail(
            s, line->line,
            "assert %s: code of %s is in %zu functions: name the line of one, or build with -O0 or -fno-inline", tag,
            line->name, functions);
    line->address = scope->item[0].from;
    line->file_line = (int)pattern->at_line;
    snprintf(line->path, sizeof line->path, "%s", pattern->text);
    return true;
}

static bool resolve_line(struct demon_shape *s, struct demon_proc *line)
{
    char *program = (char *)(uintptr_t)s->program;
    struct pct_scope scope = { .modules = &program, .module_count = 1 };
    s->from = line->from;
    bool fine = take_line(s, &scope, line);
    scope.modules = NULL; /* it is ours */
    scope.module_count = 0;
    pct_scope_free(&scope);
    for (int i = 0; fine && i < line->parameters; i++)
        line->parameter[i].type = s->spec->proc[0].parameter[i].type;
    for (int i = 0; fine && i < s->spec->procs; i++)
        if (!s->spec->proc[i].is_line && s->spec->proc[i].address == line->address)
            fine = demon_shape_fail(s, line->line,
                                    "assert %s: code of %s begins where %s is entered: that is its `require`",
                                    line->clause[0].tag, line->name, s->spec->proc[i].name);
    return fine;
}

/* The path of the source that has it, as the debug information of a function around it has that. */
static void find_path(struct demon_shape *s, struct demon_proc *line)
{
    Dwarf_Addr bias = 0, unused;
    Dwarf_Die child;
    char path[sizeof line->path];
    dwfl_module_getdwarf(s->binary->module, &bias);
    Dwarf_Die *unit = pct_debug_info_unit(s->binary->module, line->address + bias, &unused);
    for (int more = unit ? dwarf_child(unit, &child) : 1; !more; more = dwarf_siblingof(&child, &child)) {
        if (dwarf_tag(&child) != DW_TAG_subprogram || dwarf_haspc(&child, line->address) <= 0)
            continue;
        demon_source_path(&child, path, sizeof path);
        size_t length = strlen(path), own = strlen(line->path);
        if (length >= own && !strcmp(path + length - own, line->path))
            memcpy(line->path, path, length + 1);
    }
    const char *slash = strrchr(line->path, '/');
    line->file = slash ? slash + 1 : line->path;
}

static bool resolve_lines(struct demon_shape *s)
{
    for (int i = 1; i < s->spec->procs; i++) {
        if (!s->spec->proc[i].is_line)
            continue;
        if (!resolve_line(s, &s->spec->proc[i]))
            return false;
        find_path(s, &s->spec->proc[i]);
    }
    return true;
}

/* --- All ---------------------------------------------------------------------------------------------------------- */

static bool look_at(struct demon_shape *s, Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    int tag = dwarf_tag(die);
    const char *name = dwarf_attr_integrate(die, DW_AT_name, &attribute) ? dwarf_formstring(&attribute) : NULL;
    for (int i = 0; name && tag == DW_TAG_subprogram && i < s->spec->procs; i++)
        if (!strcmp(name, s->spec->proc[i].name) && !resolve_function(s, die, &s->spec->proc[i]))
            return false;
    for (int i = 0; name && tag == DW_TAG_variable && i < s->spec->shareds; i++)
        if (!s->spec->shared[i].ghost && !strcmp(name, s->spec->shared[i].name) &&
            !resolve_shared(s, die, &s->spec->shared[i]))
            return false;
    struct demon_proc *inlined = tag == DW_TAG_subprogram ? find_inlined(s, die) : NULL;
    s->from = inlined ? inlined->from : s->from;
    if (inlined)
        return demon_shape_fail(
            s, inlined->line,
            "the compiler has inlined %s, so nobody sees it entered: build with -O0, -fno-inline or "
            "__attribute__((noinline))",
            inlined->name);
    return true;
}

/* split: some of it is in files that are not read. */
/* *units: there is debug information; *any: there is something in it, as clang's of -g1 has not. */
static bool look_at_all(struct demon_shape *s, bool *units, bool *any, bool *split)
{
    Dwarf_Off offset = 0, next;
    size_t header;
    while (!dwarf_nextcu(s->dwarf, offset, &next, &header, NULL, NULL, NULL)) {
        Dwarf_Die unit, child;
        const bool there = dwarf_offdie(s->dwarf, offset + header, &unit);
        *units |= there;
        *split |= there && (dwarf_hasattr(&unit, DW_AT_GNU_dwo_name) || dwarf_hasattr(&unit, DW_AT_dwo_name));
        if (there)
            for (int more = dwarf_child(&unit, &child); !more; more = dwarf_siblingof(&child, &child)) {
                *any = true;
                if (!look_at(s, &child))
                    return false;
            }
        offset = next;
    }
    return true;
}

static bool resolve_clauses(struct demon_shape *s)
{
    for (int i = 0; i < s->spec->procs; i++) {
        struct demon_proc *proc = &s->spec->proc[i];
        s->from = proc->from;
        for (int k = 0; k < proc->clauses; k++)
            if (!resolve_expr(s, proc, proc->clause[k].expr))
                return false;
        for (int k = 0; k < proc->frames; k++)
            if (!demon_shape_leaf(s, proc, &proc->frame[k], proc->line))
                return false;
    }
    return true;
}

static bool resolve(struct demon_shape *s)
{
    bool units = false, any = false, split = false;
    struct demon_spec *spec = s->spec;
    if (!look_at_all(s, &units, &any, &split))
        return false;
    if (split)
        return demon_shape_fail(
            s, 1, "%s has debug information in .dwo files, which are not read: build it without -gsplit-dwarf",
            s->program);
    if (!any && units)
        return fail_without_types(s, 1);
    if (!any)
        return demon_shape_fail(s, 1, "%s has no debug information: build it with -g", s->program);
    for (int i = 0; i < spec->procs; i++)
        if (s->from = spec->proc[i].from, !spec->proc[i].address && spec->proc[i].is_mangled)
            return demon_shape_fail(
                s, spec->proc[i].line,
                "%s is a function of C++, whose symbol has another name: write an extern \"C\" function around it",
                spec->proc[i].name);
        else if (!spec->proc[i].address && spec->proc[i].is_copied)
            return demon_shape_fail(
                s, spec->proc[i].line,
                "the compiler has made a copy of %s for special arguments: build with -O0, or make it external",
                spec->proc[i].name);
        else if (!spec->proc[i].address && !spec->proc[i].is_line)
            return demon_shape_fail(
                s, spec->proc[i].line,
                "%s has no function %s; those of shared libraries are not looked at, and compilers leave out "
                "what nobody calls: __attribute__((used)) keeps it",
                s->program, spec->proc[i].name);
    for (int i = 0; i < spec->shareds; i++)
        if (s->from = spec->shared[i].from, !spec->shared[i].address)
            return demon_shape_fail(s, spec->shared[i].line, "%s has no global variable %s", s->program,
                                    spec->shared[i].name);
    for (int i = 0; i < spec->arrays; i++)
        if (!demon_shape_array(s, &spec->array[i]))
            return false;
    for (int i = 0; i < spec->objects; i++)
        if (!demon_shape_object(s, &spec->object[i]))
            return false;
    return resolve_lines(s) && resolve_clauses(s);
}

bool demon_shape_resolve(struct demon_spec *spec, const char *program, struct pct_demon_plan *plan, char *error,
                         size_t size)
{
    struct demon_binary binary = demon_binary_open(program);
    struct demon_shape s = { .spec = spec,
                             .from = spec->name,
                             .program = program,
                             .binary = &binary,
                             .dwarf = binary.dwarf,
                             .error = error,
                             .size = size };
    bool fine;
    if (!binary.elf)
        fine = demon_shape_fail(&s, 1, "%s is no compiled program: contracts are of one, and it must be the command",
                                program);
    else if (!binary.dwarf)
        fine = demon_shape_fail(&s, 1, "%s has no debug information: build it with -g", program);
    else if ((fine = resolve(&s)) && !demon_binary_identify(&binary, spec->proc[0].address, plan))
        fine = demon_shape_fail(&s, 1, "%s: its file is damaged", program);
    demon_binary_close(&binary);
    return fine;
}
