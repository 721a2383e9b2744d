/* Accesses of a trace: see accesses.h. */
#include "accesses.h"
#include <cli/base/grow.h>
#include <cli/base/cli.h>
#include "code_places.h"
#include <errno.h>
#include <search.h>
#include "step_places.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CACHE_LOG = 10 };

/* Reading one trace. */
struct reader {
    struct pct_access_places *places;
    const struct pct_snapshot *snapshot;
    struct pct_step_places *steps; /* NULL: not opened yet */
    struct pct_code_places code;   /* by instruction: */
    struct known {
        uint64_t call;
        uint32_t op, number; /* 0: the slot is free */
    } cache[1 << CACHE_LOG]; /* of places that were looked up last */
    uint32_t *known;         /* by place in this trace and operation: its number; 0: not looked up yet */
    size_t rooms;            /* places in this trace that it has room for */
};

static int compare(const void *a, const void *b)
{
    const struct pct_access_place *x = a, *y = b;
    if (x->op != y->op)
        return x->op < y->op ? -1 : 1;
    if (x->code != y->code)
        return x->code < y->code ? -1 : 1;
    if (x->code)
        return 0;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    int order = strcmp(x->file, y->file);
    return order ? order : strcmp(x->function, y->function);
}

static void free_place(struct pct_access_place *place)
{
    free(place->function);
    free(place->file);
    free(place->module);
    free(place);
}

static struct pct_access_place *insert(struct pct_access_places *places, const struct pct_access_place *wanted)
{
    if (!PCT_GROW(places->item, places->count, places->room))
        return NULL;
    struct pct_access_place *place = malloc(sizeof *place);
    if (!place)
        return NULL;
    *place = *wanted;
    place->number = (uint32_t)places->count + 1;
    place->function = strdup(wanted->function);
    place->file = strdup(wanted->file);
    place->module = wanted->module ? strdup(wanted->module) : NULL;
    if (!place->function || !place->file || (wanted->module && !place->module) ||
        !tsearch(place, &places->tree, compare)) {
        free_place(place);
        return NULL;
    }
    places->item[places->count++] = place;
    return place;
}

uint32_t pct_access_places_number(struct pct_access_places *places, const struct pct_access_place *wanted)
{
    struct pct_access_place **found = tfind(wanted, &places->tree, compare);
    struct pct_access_place *place = found ? *found : insert(places, wanted);
    return place ? place->number : 0;
}

/* The number of the place that has this frame (NULL: it is not known); 0: out of memory. */
static uint32_t number_of(struct pct_access_places *places, const struct pct_frame *frame,
                          struct pct_access_place wanted)
{
    char file[300] = "";
    wanted.file = file;
    wanted.function = "";
    if (frame) {
        wanted.function = (char *)(uintptr_t)frame->function;
        wanted.line = frame->file[0] ? frame->line : 0;
        wanted.begins = frame->file[0] ? frame->begins : 0;
        if (frame->file[0])
            snprintf(file, sizeof file, "%s", frame->file);
        else
            snprintf(file, sizeof file, "%s+0x%llx", frame->module, (unsigned long long)frame->offset);
    }
    return pct_access_places_number(places, &wanted);
}

static uint32_t place_of(struct reader *r, uint64_t index, uint64_t record)
{
    uint32_t here = pct_step_places_of(r->steps, index, record), op = PCT_RECORD_OP(record);
    if (here >= r->rooms) {
        size_t rooms = 2 * (size_t)here + 64;
        uint32_t *more = realloc(r->known, rooms * PCT_OP_COUNT * sizeof *more);
        if (!more)
            return 0;
        memset(more + r->rooms * PCT_OP_COUNT, 0, (rooms - r->rooms) * PCT_OP_COUNT * sizeof *more);
        r->known = more;
        r->rooms = rooms;
    }
    uint32_t *known = &r->known[(size_t)here * PCT_OP_COUNT + op];
    if (!*known)
        *known = number_of(r->places, here ? pct_step_places_get(r->steps, here) : NULL,
                           (struct pct_access_place){ .op = op });
    return *known;
}

/* The same by instruction: names are looked up for places that no run before had. */
static uint32_t place_of_instruction(struct reader *r, uint64_t index, uint64_t record)
{
    const struct pct_site *site = pct_snapshot_site(r->snapshot, index);
    const uint64_t call = site ? site->call : 0;
    const uint32_t op = PCT_RECORD_OP(record);
    struct known *known = &r->cache[((call ^ op) * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - CACHE_LOG)];
    if (known->number && known->call == call && known->op == op)
        return known->number;
    const struct pct_code_file *in = pct_code_places_file(&r->code, call);
    const struct pct_access_place wanted = { .op = op,
                                             .code = pct_code_places_of(&r->code, call),
                                             .module = in ? (char *)(uintptr_t)in->path : NULL,
                                             .offset = in ? call + in->offset : 0 };
    struct pct_access_place **found = wanted.code ? tfind(&wanted, &r->places->tree, compare) : NULL;
    if (!found && !r->steps && !(r->steps = pct_step_places_open(r->snapshot)))
        return 0;
    uint32_t here = found ? 0 : pct_step_places_of(r->steps, index, record);
    *known = (struct known){ .call = call, .op = op };
    known->number =
        found ? (*found)->number : number_of(r->places, here ? pct_step_places_get(r->steps, here) : NULL, wanted);
    return known->number;
}

static bool is_shared(unsigned class_)
{
    return class_ != PCT_CLASS_NONE && class_ != PCT_CLASS_THREAD && class_ != PCT_CLASS_FD &&
           class_ != PCT_CLASS_LOADER && class_ != PCT_CLASS_POINT;
}

static bool only_reads(uint64_t record)
{
    switch (PCT_RECORD_OP(record)) {
    case PCT_OP_LOAD:
    case PCT_OP_ATOMIC_LOAD:
    case PCT_OP_RWLOCK_RDLOCK:
    case PCT_OP_RWLOCK_TRYRDLOCK:
        return true;
    case PCT_OP_MUTEX_TRYLOCK:
    case PCT_OP_RWLOCK_TRYWRLOCK:
    case PCT_OP_SPIN_TRYLOCK:
    case PCT_OP_SEM_TRYWAIT:
        return PCT_RECORD_ARG(record) == PCT_ARG_BUSY;
    default:
        return false;
    }
}

/* Memory has one number for eight bytes: its address tells neighbours apart. */
static uint64_t object_of(const struct reader *r, uint64_t index, uint64_t record, unsigned class_)
{
    const struct pct_site *site = class_ == PCT_CLASS_MEMORY ? pct_snapshot_site(r->snapshot, index) : NULL;
    return site && site->object ? site->object : (uint64_t)class_ << 32 | PCT_RECORD_OBJECT(record) | UINT64_C(1) << 63;
}

static uint32_t threads_of(const struct pct_trace *trace)
{
    uint32_t last = 0;
    for (uint64_t i = 0; i < trace->count; i++)
        last = PCT_RECORD_THREAD(trace->records[i]) > last ? PCT_RECORD_THREAD(trace->records[i]) : last;
    return last + 1;
}

static int read_all(struct reader *r, const struct pct_trace *trace, struct pct_access *accesses, size_t *count)
{
    uint32_t *made = calloc(threads_of(trace), sizeof *made); /* by thread */
    int failed = made ? 0 : -ENOMEM;
    for (uint64_t i = 0; i < trace->count && !failed; i++) {
        uint64_t record = trace->records[i];
        unsigned op = PCT_RECORD_OP(record), class_ = op < PCT_OP_COUNT ? pct_name_op_class(op) : PCT_CLASS_NONE;
        uint32_t thread = PCT_RECORD_THREAD(record), number = ++made[thread];
        if (!PCT_RECORD_OBJECT(record) || !is_shared(class_))
            continue;
        uint32_t place = !r->places                  ? 0
                         : r->places->by_instruction ? place_of_instruction(r, i, record)
                                                     : place_of(r, i, record);
        accesses[(*count)++] = (struct pct_access){ .object = object_of(r, i, record, class_),
                                                    .thread = thread,
                                                    .number = number,
                                                    .place = place,
                                                    .index = (uint32_t)i,
                                                    .op = (uint8_t)op,
                                                    .writes = !only_reads(record) };
        failed = place || !r->places ? 0 : -ENOMEM;
    }
    free(made);
    return failed;
}

int pct_accesses_read(struct pct_access_places *places, const struct pct_trace *trace, struct pct_access **accesses,
                      size_t *count)
{
    struct pct_snapshot snapshot;
    *count = 0;
    *accesses = NULL;
    if (pct_snapshot_read(&snapshot, trace))
        return -ENOMEM;
    int failed = !places || snapshot.site_count ? 0 : -ENODATA;
    if (!failed) {
        struct reader r = { .places = places, .snapshot = &snapshot };
        bool by_instruction = places && places->by_instruction;
        r.steps = places && !by_instruction ? pct_step_places_open(&snapshot) : NULL;
        *accesses = calloc(trace->count + 1, sizeof **accesses);
        bool fine = *accesses && (by_instruction ? !pct_code_places_open(&r.code, &snapshot) : r.steps || !places);
        failed = fine ? read_all(&r, trace, *accesses, count) : -ENOMEM;
        pct_code_places_close(&r.code);
        pct_step_places_close(r.steps);
        free(r.known);
    }
    pct_snapshot_free(&snapshot);
    return failed;
}

int pct_access_places_add(struct pct_access_places *places, const struct pct_access_place *place)
{
    if (place->number != places->count + 1 || tfind(place, &places->tree, compare))
        return -EINVAL;
    return insert(places, place) ? 0 : -ENOMEM;
}

static void forget(void *place)
{
    (void)place; /* it is the item's */
}

void pct_access_places_free(struct pct_access_places *places)
{
    tdestroy(places->tree, forget);
    for (size_t i = 0; i < places->count; i++)
        free_place(places->item[i]);
    free(places->item);
    *places = (struct pct_access_places){ .tree = NULL };
}
