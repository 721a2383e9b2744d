/* --emit-test: see emit.h. What is written has threads that make the calls at once, when the schedule lets them run;
 * the program's main() is the test, as it is. That takes the same steps as a run under a direct plan (common/demon.h),
 * so such a run gives the token, and ends as the finding did. */
#include "direct.h"
#include "emit.h"
#include "binary.h"
#include <cli/base/cli.h>
#include <cli/base/replacement.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A thread that is written. */
struct part {
    const struct demon_made *made;
    const char *name, *purpose;
};
enum { PARTS = 3 };

struct emitter {
    const struct demon_search *search;
    const struct demon_finding *finding;
    struct part part[PARTS];                              /* in the order in which they are made */
    const struct demon_call *call[PARTS * DEMON_LONGEST]; /* of all of them */
    int calls;
    bool
        tells; /* built by pct-cc, as it must be where the calls come before an access: what is written has none then */
    char token[4096];
    char name[DEMON_OBJECTS][DEMON_NAME]; /* of each object; "": none of the calls passes it, or what it leads to */
};

/* --- Names -------------------------------------------------------------------------------------------------------- */

static bool is_found(const struct demon_object *object)
{
    return object->place.steps || object->place.offset;
}

/* The object that leads to this one; itself, where that needs none. */
static int root_of(const struct demon_model *m, int index)
{
    const struct pct_demon_place *place = &m->object[index].place;
    for (int i = 0; i < m->objects; i++) {
        const struct pct_demon_place *root = &m->object[i].place;
        if (!is_found(&m->object[i]) && root->root == place->root && root->number == place->number &&
            root->address == place->address)
            return i;
    }
    return index;
}

static bool name_object(struct emitter *e, const struct demon_proc *proc, int parameter, int index)
{
    const struct demon_search *s = e->search;
    const struct demon_object *object = &s->model.object[index];
    const struct demon_variable *shared = NULL;
    for (int i = 0; i < s->model.spec->shareds; i++)
        if ((object->place.root == PCT_DEMON_GLOBAL || object->place.root == PCT_DEMON_GLOBAL_POINTER) &&
            object->place.address == s->model.spec->shared[i].address)
            shared = &s->model.spec->shared[i];
    if (shared && !shared->external) {
        demon_say("--emit-test: %s is static, so no other file can name it: make it external for this test",
                  shared->name);
        return false;
    }
    char *name = e->name[index];
    if (shared)
        snprintf(name, DEMON_NAME, "%s", shared->name);
    else if (!demon_shape_name_object(s->program->path,
                                      s->record->point[0].arguments[object->place.number] - s->record->bias, name)) {
        demon_say("--emit-test: what %s is called with as %s is %s of the test, and no global variable that another "
                  "file can name: make it one, not static",
                  proc->name, proc->parameter[parameter].name, object->name.name);
        return false;
    }
    return true;
}

static bool name_all(struct emitter *e)
{
    const struct demon_search *s = e->search;
    for (int c = 0; c < e->calls; c++) {
        const struct demon_proc *proc = &s->model.spec->proc[e->call[c]->proc];
        if (!proc->external) {
            demon_say("--emit-test: %s is static, so no other file can call it: make it external for this test",
                      proc->name);
            return false;
        }
        for (int i = 0; i < proc->parameters; i++)
            if (e->call[c]->object[i] >= 0 && !name_object(e, proc, i, root_of(&s->model, e->call[c]->object[i])))
                return false;
    }
    return true;
}

/* --- The program -------------------------------------------------------------------------------------------------- */

static void put_type(FILE *out, const struct demon_type *type)
{
    if (type->object && type->tagged)
        fprintf(out, "struct %s *", type->name);
    else if (type->object || type->pointer)
        fputs("void *", out);
    else if (!type->size)
        fputs("void ", out);
    else
        fprintf(out, "%sint%u_t ", type->is_signed ? "" : "u", type->size * 8);
}

/* Of these calls the first of its function. */
static bool is_first(const struct emitter *e, int call)
{
    for (int i = 0; i < call; i++)
        if (e->call[i]->proc == e->call[call]->proc)
            return false;
    return true;
}

/* Whether the program's variable that this object is, or that leads to it, is a pointer. */
static bool points(const struct emitter *e, int object)
{
    const struct demon_search *s = e->search;
    for (int i = 0; i < s->model.objects; i++)
        if (s->model.object[i].place.root == PCT_DEMON_GLOBAL_POINTER && !strcmp(e->name[i], e->name[object]))
            return true;
    return false;
}

static void put_declarations(FILE *out, const struct emitter *e)
{
    const struct demon_search *s = e->search;
    for (int i = 0; i < s->model.objects; i++) {
        const struct demon_type *type = s->model.object[i].type;
        bool known = !e->name[i][0];
        for (int k = 0; k < i; k++)
            known |= !strcmp(e->name[k], e->name[i]);
        if (known)
            continue;
        if (type->tagged)
            fprintf(out, "extern struct %s %s%s;\n", type->name, points(e, i) ? "*" : "", e->name[i]);
        else
            fprintf(out, "extern %s%s%s;\n", points(e, i) ? "void *" : "char ", e->name[i], points(e, i) ? "" : "[]");
    }
    for (int c = 0; c < e->calls; c++) {
        const struct demon_proc *proc = &s->model.spec->proc[e->call[c]->proc];
        if (!is_first(e, c))
            continue;
        for (int i = 0; i < proc->parameters; i++)
            if (proc->parameter[i].type.tagged && is_found(&s->model.object[e->call[c]->object[i]]))
                fprintf(out, "struct %s;\n", proc->parameter[i].type.name);
        put_type(out, &proc->returns);
        fprintf(out, "%s(", proc->name);
        for (int i = 0; i < proc->parameters; i++) {
            fputs(i ? ", " : "", out);
            put_type(out, &proc->parameter[i].type);
            fputs(proc->parameter[i].name, out);
        }
        fputs(proc->parameters ? ");\n" : "void);\n", out);
    }
}

static void put_argument(FILE *out, const struct emitter *e, const struct demon_call *call, int i)
{
    const struct demon_model *m = &e->search->model;
    const struct demon_type *type = &m->spec->proc[call->proc].parameter[i].type;
    if (call->object[i] >= 0) {
        const struct pct_demon_place *place = &m->object[call->object[i]].place;
        const int root = root_of(m, call->object[i]);
        const bool address =
            place->root != PCT_DEMON_GLOBAL_POINTER && (m->object[root].type->tagged || points(e, root));
        fputs(place->offset ? "behind(" : "", out);
        for (uint32_t k = 0; k < place->steps; k++)
            fputs("follow(", out);
        fprintf(out, "%s%s", address ? "&" : "", e->name[root]);
        for (uint32_t k = 0; k < place->steps; k++)
            fprintf(out, ", %d)", place->step[k]);
        if (place->offset)
            fprintf(out, ", %d)", place->offset);
    } else if (type->pointer || type->object) {
        fputs("NULL", out);
    } else if (type->is_signed) {
        const unsigned unused = 64 - type->size * 8;
        const int64_t value = (int64_t)(call->value[i] << unused) >> unused;
        if (value == INT64_MIN)
            fputs("INT64_MIN", out);
        else
            fprintf(out, "%" PRId64 "%s", value, type->size == 8 ? "L" : "");
    } else {
        fprintf(out, "%" PRIu64 "%s", call->value[i], type->size == 8 ? "UL" : "U");
    }
}

/* What comes before a function that is written. */
static const char *prefix(const struct emitter *e)
{
    return e->tells ? "__attribute__((no_sanitize(\"thread\"))) static" : "static";
}

/* What leads from objects with names to those without. */
static void put_ways(FILE *out, const struct emitter *e)
{
    const struct demon_model *m = &e->search->model;
    bool follows = false, moves = false;
    for (int c = 0; c < e->calls; c++)
        for (int i = 0; i < m->spec->proc[e->call[c]->proc].parameters; i++) {
            const int object = e->call[c]->object[i];
            follows |= object >= 0 && m->object[object].place.steps;
            moves |= object >= 0 && m->object[object].place.offset;
        }
    if (follows)
        fprintf(out,
                "\n%s void *follow(void *object, long offset)\n{\n"
                "    return *(void **)((char *)object + offset);\n}\n",
                prefix(e));
    if (moves)
        fprintf(out, "\n%s void *behind(void *object, long offset)\n{\n    return (char *)object + offset;\n}\n",
                prefix(e));
}

static void put_replay(FILE *out, const char *pct, const struct emitter *e)
{
    fprintf(out, "%s replay ", pct);
    pct_cli_print_quoted(out, e->token);
    fputs(" -- ./demon-test", out);
    for (char **at = e->search->program->command + 1; *at; at++) {
        fputc(' ', out);
        pct_cli_print_quoted(out, *at);
    }
    fputc('\n', out);
}

static void put_thread(FILE *out, const struct emitter *e, const struct part *part)
{
    if (!part->made->count)
        return;
    fprintf(out, "\n// %s\n%s void *%s(void *unused)\n{\n", part->purpose, prefix(e), part->name);
    for (int c = 0; c < part->made->count; c++) {
        const struct demon_call *call = &part->made->call[c];
        const struct demon_proc *proc = &e->search->model.spec->proc[call->proc];
        fprintf(out, "    %s(", proc->name);
        for (int i = 0; i < proc->parameters; i++) {
            fputs(i ? ", " : "", out);
            put_argument(out, e, call, i);
        }
        fputs(");\n", out);
    }
    fputs("    return unused;\n}\n", out);
}

static void put_program(FILE *out, const struct emitter *e)
{
    const struct demon_search *s = e->search;
    const struct demon_proc *test = &s->model.spec->proc[0];
    fprintf(out,
            "// Written by `pct demon`: interference with %s (%s:%d). Link it%s with the program's own objects, to\n"
            "// ./demon-test; this fails then:\n//\n//     ",
            test->name, test->file, test->file_line, e->tells ? " by pct-cc" : "");
    put_replay(out, "pct", e);
    fputs("#include <pthread.h>\n#include <stdint.h>\n#include <stdlib.h>\n\n", out);
    put_declarations(out, e);
    put_ways(out, e);
    for (int i = 0; i < PARTS; i++)
        put_thread(out, e, &e->part[i]);
    fprintf(out,
            "\n// The first thread: main() of the program, as it is.\n"
            "__attribute__((constructor)) %s void begin(void)\n{\n"
            "    pthread_t thread;\n",
            prefix(e));
    for (int i = 0; i < PARTS; i++)
        if (e->part[i].made->count)
            fprintf(out,
                    "    if (pthread_create(&thread, NULL, %s, NULL))\n        abort();\n"
                    "    pthread_detach(thread);\n",
                    e->part[i].name);
    fputs("}\n", out);
}

static bool write_program(const struct emitter *e, const char *path)
{
    struct pct_replacement file;
    int failed = pct_replacement_open(&file, path);
    if (!failed) {
        put_program(file.out, e);
        failed = pct_replacement_close(&file);
    }
    if (failed)
        demon_say("%s: %s", path, strerror(-failed));
    return !failed;
}

bool demon_emit(const struct demon_search *s, const char *path)
{
    static struct emitter e; /* large */
    e = (struct emitter){ .search = s, .finding = &s->finding[s->findings - 1] };
    e.part[0] =
        (struct part){ &s->helped_by, "help", "What lets the test go on where it waits: runs when no other can." };
    e.part[1] = (struct part){ &s->earlier, "interfere_first", "Another thread, which comes in first." };
    e.part[2] = (struct part){ &s->later, "interfere", "The other thread: what the contracts let it call." };
    for (int i = 0; i < PARTS; i++)
        for (int c = 0; c < e.part[i].made->count; c++)
            e.call[e.calls++] = &e.part[i].made->call[c];
    char sources[DEMON_SOURCE_NAMES];
    const bool accesses = demon_direct_has_accesses(s);
    if (accesses && !s->program->tells && !demon_binary_list_sources(s->program->path, sources)) {
        demon_say(
            "--emit-test: %s is not written: others come in before an access to memory, and the token has no room "
            "for the names of all source files whose accesses count: build the program by pct-cc; the plan and "
            "its token stay",
            path);
        return false;
    }
    e.tells = accesses && s->program->tells;
    bool named = name_all(&e);
    if (named && !demon_direct_find_token(s, e.finding, e.token)) {
        demon_say("--emit-test: %s is not written: a program in which other threads make these calls does not fail by "
                  "one token; the plan and its token stay",
                  path);
        named = false;
    }
    if (!named || !write_program(&e, path))
        return false;
    fprintf(s->out, "%s is a test of it: link it%s with the program's own objects, to ./demon-test; this fails then:\n",
            path, e.tells ? " by pct-cc" : "");
    if (accesses && !e.tells)
        fputs("(if it takes other steps: some accesses are patched in one build and not in another; build by pct-cc)\n",
              s->out);
    put_replay(s->out, s->program->pct, &e);
    return true;
}
