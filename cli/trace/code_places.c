/* Places in the code: see code_places.h. */
#include "code_places.h"
#include <common/place.h>
#include <common/text.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A line of /proc/self/maps. False: no file is mapped there. */
static bool parse_line(const char *line, struct pct_code_file *file)
{
    char *at;
    file->from = strtoull(line, &at, 16);
    if (*at != '-')
        return false;
    file->to = strtoull(at + 1, &at, 16);
    const char *path = strchr(line, '/');
    if (strlen(at) < 7 || !path)
        return false;
    file->offset = strtoull(at + 6, NULL, 16) - file->from;
    file->file = pct_place_file(pct_text_base_name(path));
    file->path = path;
    return true;
}

int pct_code_places_open(struct pct_code_places *places, const struct pct_snapshot *snapshot)
{
    size_t lines = 0;
    *places = (struct pct_code_places){ .count = 0 };
    char *text = snapshot->maps ? strndup(snapshot->maps, snapshot->maps_size) : NULL;
    if (!text)
        return snapshot->maps ? -ENOMEM : 0;
    for (const char *c = text; *c; c++)
        lines += *c == '\n';
    places->item = calloc(lines + 1, sizeof *places->item);
    char *rest = text;
    for (const char *line; places->item && (line = strsep(&rest, "\n"));)
        places->count += parse_line(line, &places->item[places->count]);
    places->text = text;
    return places->item ? 0 : -ENOMEM;
}

void pct_code_places_close(struct pct_code_places *places)
{
    free(places->item);
    free(places->text);
    *places = (struct pct_code_places){ .count = 0 };
}

const struct pct_code_file *pct_code_places_file(const struct pct_code_places *places, uint64_t address)
{
    for (size_t i = 0; i < places->count; i++)
        if (address >= places->item[i].from && address < places->item[i].to)
            return &places->item[i];
    return NULL;
}

uint32_t pct_code_places_of(const struct pct_code_places *places, uint64_t address)
{
    const struct pct_code_file *file = pct_code_places_file(places, address);
    return file ? pct_place_short(pct_place_at(file->file, address + file->offset)) : 0;
}
