/* The channel of a script: see script.h. */
#include "script.h"
#include <cli/binary/locate.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Texts, one behind the other. */
struct texts {
    char *at;
    uint32_t size, room;
};

/* Its place. */
static uint32_t put(struct texts *texts, const char *text)
{
    uint32_t place = texts->size, length = (uint32_t)strlen(text) + 1;
    if (texts->at)
        memcpy(texts->at + place, text, length);
    texts->size += length;
    return place;
}

enum { LOG_MAX = 1 << 20 }; /* entries */

_Static_assert(PCT_MEMBER_POINTERS == (int)PCT_SCRIPT_POINTERS, "a member has room in the channel");

/* Write all, or (texts->at is NULL) only count the bytes. */
static void fill(struct pct_script_channel *c, struct texts *texts, const char *name, const char *text,
                 const struct pct_script_words *words, const struct pct_script_places *places)
{
    static struct pct_script_channel none;
    struct pct_script_channel *head = c ? c : &none;
    put(texts, ""); /* the program is the module at place 0 */
    head->name = put(texts, name);
    head->script_size = (uint32_t)strlen(text);
    head->script = put(texts, text);
    size_t at = 0;
    for (size_t w = 0; w < words->count; w++) {
        uint32_t place = put(texts, words->item[w].text), first = (uint32_t)at;
        const char *why = words->item[w].refusal;
        uint32_t refusal = why ? put(texts, why) : 0;
        for (; at < places->count && places->item[at].word == w; at++) {
            const struct pct_script_place *p = &places->item[at];
            const char *module = places->modules[p->module];
            uint32_t module_place = *module ? put(texts, module) : 0;
            if (c)
                pct_script_ranges(c)[at] =
                    (struct pct_script_range){ .from = p->from, .to = p->to, .module = module_place };
        }
        if (!c)
            continue;
        const struct pct_member *member = &words->item[w].member;
        struct pct_script_name *named = &pct_script_names(c)[w];
        *named = (struct pct_script_name){ .text = place,
                                           .kind = words->item[w].kind,
                                           .first = first,
                                           .count = (uint32_t)at - first,
                                           .pointers = (uint32_t)member->pointers,
                                           .refusal = refusal,
                                           .size = member->size };
        for (unsigned i = 0; i < member->pointers; i++)
            named->offset[i] = member->offset[i + 1];
    }
}

int pct_script_file_open(struct pct_script_file *file, const char *name, const char *text,
                         const struct pct_script_words *words, const struct pct_script_places *places, bool logs)
{
    struct texts texts = { .at = NULL };
    fill(NULL, &texts, name, text, words, places);
    file->size = pct_script_size((uint32_t)words->count, (uint32_t)places->count, texts.size);
    uint64_t log = logs ? (file->size + 15) / 16 * 16 : 0;
    if (logs)
        file->size = log + pct_channel_size(0, LOG_MAX);
    file->file = pct_locate_scratch(file->path, sizeof file->path, false);
    if (file->file < 0)
        return file->file;
    if (ftruncate(file->file, (off_t)file->size))
        return -errno;
    void *at = mmap(NULL, file->size, PROT_READ | PROT_WRITE, MAP_SHARED, file->file, 0);
    if (at == MAP_FAILED)
        return -errno;
    struct pct_script_channel *c = file->channel = at;
    memcpy(c->magic, PCT_SCRIPT_MAGIC, sizeof c->magic);
    c->version = PCT_SCRIPT_VERSION;
    c->names = (uint32_t)words->count;
    c->ranges = (uint32_t)places->count;
    texts = (struct texts){ .at = pct_script_texts(c) };
    fill(c, &texts, name, text, words, places);
    c->texts_size = texts.size;
    c->log = log;
    if (logs)
        pct_script_log(c)->log_max = LOG_MAX;
    return 0;
}

void pct_script_file_close(struct pct_script_file *file)
{
    if (file->channel)
        munmap(file->channel, file->size);
    if (file->file >= 0) {
        close(file->file);
        unlink(file->path);
    }
}

void pct_script_channel_reset(struct pct_script_channel *c)
{
    memset(pct_script_choices(c), 0, c->choices * sizeof *pct_script_choices(c));
    memset(pct_script_switches(c), 0,
           (c->switches < PCT_SCRIPT_SWITCHES ? c->switches : PCT_SCRIPT_SWITCHES) * sizeof *pct_script_switches(c));
    c->began = c->speaker = c->choices = c->own_choices = c->notes = 0;
    memset(pct_script_other_notes(c), 0,
           (c->other_notes < PCT_SCRIPT_NOTES ? c->other_notes : PCT_SCRIPT_NOTES) * sizeof *pct_script_other_notes(c));
    c->other_notes = c->switches = 0;
    c->parts = c->processes = c->posts = c->posted = c->deadlocked = 0;
    c->wholes = 0;
    struct pct_channel *log = pct_script_log(c);
    if (log)
        log->log_count = log->doubts = log->assumes = log->awaited = log->began = 0;
    memset(&c->said, 0, sizeof c->said);
    memset(c->process, 0, sizeof c->process);
    memset(c->post, 0, sizeof c->post);
}

/* What is worse counts; of processes that did not fit, that which the others wait for in vain. */
static unsigned rank(const struct pct_script_said *said)
{
    return said->outcome == PCT_SCRIPT_WRONG         ? 5
           : said->outcome == PCT_SCRIPT_ASSERTION   ? 4
           : said->outcome == PCT_SCRIPT_DID_NOT_FIT ? 3 - (said->vain != 0)
           : said->outcome == PCT_SCRIPT_UNDER_WAY   ? 1
                                                     : 0;
}

/* It has not come to where it posts, and another process waits for that in vain. */
static void accuse(struct pct_script_channel *c, const struct pct_script_said *said, uint32_t speaker)
{
    c->said = *said;
    c->said.outcome = PCT_SCRIPT_DID_NOT_FIT;
    snprintf(c->said.message, sizeof c->said.message, "that did not come, and another process waits for it");
    c->speaker = speaker;
}

/* A process waits in vain, as one has not come to where it posts: that is said. first: what the first one said. */
static void blame(struct pct_script_channel *c, const struct pct_script_said *first)
{
    if (!c->said.vain)
        return;
    if (first->outcome == PCT_SCRIPT_UNDER_WAY) {
        accuse(c, first, 0);
        return;
    }
    for (uint32_t i = 0; i < c->processes && i < PCT_SCRIPT_PROCESSES; i++)
        if (c->process[i].said.outcome == PCT_SCRIPT_UNDER_WAY) {
            accuse(c, &c->process[i].said, i + 1);
            return;
        }
}

/* There was none for this line, or not for long enough to begin it: that is said. */
static void blame_none(struct pct_script_channel *c, const struct pct_script_part *part)
{
    c->speaker = 0;
    c->said = (struct pct_script_said){ .outcome = PCT_SCRIPT_DID_NOT_FIT, .line = part->line };
    if (part->number)
        snprintf(c->said.awaited, sizeof c->said.awaited, "a process %u", part->number);
    else
        snprintf(c->said.awaited, sizeof c->said.awaited, "a process to run %s", part->program);
    if (part->taken)
        snprintf(c->said.message, sizeof c->said.message, "line %u was for that one, and a process has one line",
                 part->taken);
    else
        snprintf(c->said.message, sizeof c->said.message, "%s",
                 part->number && part->number <= c->processes ? "that one came to no scheduling point"
                                                              : "there was none");
}

/* It has given a choice that the program has not asked for: so it has not come to its end. */
static void await_choice(struct pct_script_said *said)
{
    if (said->outcome != PCT_SCRIPT_ENDED || !said->given)
        return;
    said->outcome = PCT_SCRIPT_UNDER_WAY;
    said->line = said->given;
    snprintf(said->awaited, sizeof said->awaited, "%s", said->wanted);
}

void pct_script_settle(struct pct_script_channel *c)
{
    await_choice(&c->said);
    for (uint32_t i = 0; i < c->processes && i < PCT_SCRIPT_PROCESSES; i++)
        await_choice(&c->process[i].said);
    const struct pct_script_said first = c->said;
    for (uint32_t i = 0; i < c->processes && i < PCT_SCRIPT_PROCESSES; i++)
        if (rank(&c->process[i].said) > rank(&c->said)) {
            c->said = c->process[i].said;
            c->speaker = i + 1;
        }
    for (uint32_t i = 0; i < c->parts && (c->said.outcome == PCT_SCRIPT_ENDED || c->said.vain); i++)
        if (!c->part[i].begun)
            blame_none(c, &c->part[i]);
    blame(c, &first);
}
