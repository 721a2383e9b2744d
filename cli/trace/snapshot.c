/* The state of all threads at the end of a run: see snapshot.h. */
#include "snapshot.h"
#include <pct/strategy.h>
#include <cli/base/cli.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int allocate(struct pct_snapshot *snapshot, const struct pct_trace *trace)
{
    struct pct_snap_section section;
    const unsigned char *data;
    size_t threads = 0, memory = 0, objects = 0, stops = 0, races = 0, points = 0;
    for (size_t at = 0; pct_trace_next_section(trace, &at, &section, &data);) {
        threads += section.type == PCT_SNAP_THREAD;
        memory += section.type == PCT_SNAP_STACK;
        objects += section.type == PCT_SNAP_OBJECT;
        stops += section.type == PCT_SNAP_STEP;
        races += section.type == PCT_SNAP_RACE;
        points += section.type == PCT_SNAP_POINT;
    }
    snapshot->threads = calloc(threads + 1, sizeof *snapshot->threads);
    snapshot->memory = calloc(memory + 1, sizeof *snapshot->memory);
    snapshot->objects = calloc(objects + 1, sizeof *snapshot->objects);
    snapshot->races = calloc(races + 1, sizeof *snapshot->races);
    snapshot->stops = calloc(stops + 1, sizeof *snapshot->stops);
    snapshot->points = calloc(points + 1, sizeof *snapshot->points);
    bool fine = snapshot->threads && snapshot->memory && snapshot->objects && snapshot->stops && snapshot->races &&
                snapshot->points;
    return fine ? 0 : -ENOMEM;
}

static void read_point(struct pct_snapshot *snapshot, const unsigned char *data)
{
    struct pct_snap_point *point = &snapshot->points[snapshot->point_count++];
    memcpy(point, data, sizeof *point);
    point->name[sizeof point->name - 1] = 0;
    for (char *at = point->name; *at; at++)
        if (*at < ' ' || *at == 127)
            *at = '?';
}

static void read_script(struct pct_snapshot *snapshot, const struct pct_snap_section *section,
                        const unsigned char *data)
{
    struct pct_snap_script script;
    memcpy(&script, data, sizeof script);
    uint64_t notes_size = script.notes * (uint64_t)sizeof *snapshot->script_notes;
    if (!script.name_size || !script.text_size ||
        section->size - sizeof script < notes_size + script.name_size + script.text_size)
        return;
    const char *name = (const char *)data + sizeof script + notes_size, *text = name + script.name_size;
    if (name[script.name_size - 1] || text[script.text_size - 1])
        return;
    snapshot->script_notes = (const void *)(data + sizeof script); /* sections are aligned */
    snapshot->script_note_count = script.notes;
    snapshot->script_parts = script.parts;
    snapshot->script_name = name;
    snapshot->script_text = text;
    const char *orders = text + script.text_size, *end = (const char *)data + section->size;
    bool whole = script.parts && orders < end && !end[-1] && !orders[strspn(orders, PCT_LIST_CHARACTERS)];
    snapshot->script_orders = whole ? orders : NULL;
}

static void read_section(struct pct_snapshot *snapshot, const struct pct_snap_section *section,
                         const unsigned char *data)
{
    if (section->type == PCT_SNAP_MAPS && !snapshot->maps && section->size) {
        snapshot->maps = (const char *)data;
        snapshot->maps_size = section->size;
    } else if (section->type == PCT_SNAP_THREAD && section->size >= sizeof(struct pct_snap_thread)) {
        struct pct_snap_thread *thread = &snapshot->threads[snapshot->thread_count];
        memcpy(thread, data, sizeof *thread);
        thread->name[sizeof thread->name - 1] = 0;
        /* In the order of ids there can be no second one of the same id; only a damaged file needs the search. */
        bool ordered = !snapshot->thread_count || thread->id > thread[-1].id;
        if (thread->id < PCT_MAX_THREADS && (ordered || !pct_snapshot_thread(snapshot, thread->id)))
            snapshot->thread_count++;
    } else if (section->type == PCT_SNAP_STACK && section->size > sizeof(uint64_t)) {
        struct pct_snap_memory *memory = &snapshot->memory[snapshot->memory_count++];
        memcpy(&memory->address, data, sizeof memory->address);
        memory->bytes = data + sizeof memory->address;
        memory->size = section->size - sizeof memory->address;
    } else if (section->type == PCT_SNAP_OBJECT && section->size >= sizeof(struct pct_snap_object))
        memcpy(&snapshot->objects[snapshot->object_count++], data, sizeof *snapshot->objects);
    else if (section->type == PCT_SNAP_POINT && section->size >= sizeof(struct pct_snap_point))
        read_point(snapshot, data);
    else if (section->type == PCT_SNAP_RACE && section->size >= sizeof(struct pct_snap_race))
        memcpy(&snapshot->races[snapshot->race_count++], data, sizeof *snapshot->races);
    else if (section->type == PCT_SNAP_SCRIPT && section->size >= sizeof(struct pct_snap_script))
        read_script(snapshot, section, data);
    else if (section->type == PCT_SNAP_SITES && !snapshot->sites) {
        snapshot->sites = (const void *)data; /* sections are aligned */
        snapshot->site_count = section->size / sizeof *snapshot->sites;
    } else if (section->type == PCT_SNAP_STEP && section->size > sizeof(struct pct_snap_step)) {
        struct pct_snap_step step;
        memcpy(&step, data, sizeof step);
        struct pct_snap_stop *stop = &snapshot->stops[snapshot->stop_count++];
        *stop = (struct pct_snap_stop){
            .step = step.step,
            .thread = section->thread,
            .memory = { .address = step.address, .size = section->size - sizeof step, .bytes = data + sizeof step }
        };
        memcpy(stop->regs, step.regs, sizeof stop->regs);
    }
}

int pct_snapshot_read(struct pct_snapshot *snapshot, const struct pct_trace *trace)
{
    memset(snapshot, 0, sizeof *snapshot);
    int failed = allocate(snapshot, trace);
    if (failed) {
        pct_snapshot_free(snapshot);
        return failed;
    }
    struct pct_snap_section section;
    const unsigned char *data;
    for (size_t at = 0; pct_trace_next_section(trace, &at, &section, &data);)
        read_section(snapshot, &section, data);
    return 0;
}

void pct_snapshot_free(struct pct_snapshot *snapshot)
{
    free(snapshot->threads);
    free(snapshot->memory);
    free(snapshot->objects);
    free(snapshot->stops);
    free(snapshot->races);
    free(snapshot->points);
    memset(snapshot, 0, sizeof *snapshot);
}

const struct pct_snap_thread *pct_snapshot_thread(const struct pct_snapshot *snapshot, uint32_t id)
{
    /* The shim writes them in the order of their ids, without gaps in most runs. */
    if (id < snapshot->thread_count && snapshot->threads[id].id == id)
        return &snapshot->threads[id];
    for (size_t i = 0; i < snapshot->thread_count; i++)
        if (snapshot->threads[i].id == id)
            return &snapshot->threads[i];
    return NULL;
}

const struct pct_snap_object *pct_snapshot_object(const struct pct_snapshot *snapshot, uint32_t number)
{
    for (size_t i = 0; i < snapshot->object_count; i++)
        if (snapshot->objects[i].number == number)
            return &snapshot->objects[i];
    return NULL;
}

const char *pct_snapshot_point(const struct pct_snapshot *snapshot, uint32_t number)
{
    for (size_t i = 0; i < snapshot->point_count; i++)
        if (snapshot->points[i].number == number && snapshot->points[i].name[0])
            return snapshot->points[i].name;
    return NULL;
}

const struct pct_site *pct_snapshot_site(const struct pct_snapshot *snapshot, uint64_t index)
{
    return index < snapshot->site_count ? &snapshot->sites[index] : NULL;
}

unsigned pct_snapshot_wait_class(const struct pct_snapshot *snapshot, const struct pct_snap_thread *thread)
{
    /* A thread that was signalled and now waits for the mutex still has the operation of the condition variable. */
    unsigned class_ = pct_name_op_class(thread->op);
    /* Threads and descriptors have numbers of their own. */
    const struct pct_snap_object *object = class_ != PCT_CLASS_THREAD && class_ != PCT_CLASS_FD && thread->object
                                               ? pct_snapshot_object(snapshot, thread->object)
                                               : NULL;
    return object && object->class_ < PCT_CLASS_COUNT ? object->class_ : class_;
}

uint32_t pct_snapshot_waits_for(const struct pct_snapshot *snapshot, const struct pct_snap_thread *thread)
{
    if (thread->state != PCT_SNAP_BLOCKED)
        return PCT_NO_THREAD;
    if (pct_name_op_class(thread->op) == PCT_CLASS_THREAD)
        return thread->object;
    /* A wait for a signal, for time: nobody holds what it waits for. */
    if (pct_snapshot_wait_class(snapshot, thread) == PCT_CLASS_NONE)
        return PCT_NO_THREAD;
    if (thread->holder != PCT_NO_THREAD || pct_name_op_class(thread->op) == PCT_CLASS_FD)
        return thread->holder;
    const struct pct_snap_object *object = thread->object ? pct_snapshot_object(snapshot, thread->object) : NULL;
    return object ? object->holder : PCT_NO_THREAD;
}

size_t pct_snapshot_cycle(const struct pct_snapshot *snapshot, uint32_t *ids, size_t max)
{
    /* Each thread waits for at most one other: follow that arrow from each thread, marking each visit with the start it
     * came from. To meet one's own mark again is a cycle; to meet an older mark is a path that was looked at before. */
    size_t *mark = calloc(snapshot->thread_count + 1, sizeof *mark);
    size_t found = 0;
    for (size_t start = 0; mark && !found && start < snapshot->thread_count; start++) {
        const struct pct_snap_thread *at = &snapshot->threads[start];
        while (at && !mark[at - snapshot->threads]) {
            mark[at - snapshot->threads] = start + 1;
            at = pct_snapshot_thread(snapshot, pct_snapshot_waits_for(snapshot, at));
        }
        if (!at || mark[at - snapshot->threads] != start + 1)
            continue;
        const struct pct_snap_thread *first = at, *smallest = at;
        do {
            if (at->id < smallest->id)
                smallest = at;
            at = pct_snapshot_thread(snapshot, pct_snapshot_waits_for(snapshot, at));
        } while (at != first);
        at = smallest;
        do {
            if (found < max)
                ids[found] = at->id;
            found++;
            at = pct_snapshot_thread(snapshot, pct_snapshot_waits_for(snapshot, at));
        } while (at != smallest);
    }
    free(mark);
    return found;
}
