/* iRoots for people and programs: see iroot_print.h. */
#include "iroot_print.h"
#include <cli/base/cli.h>
#include <string.h>

static void print_place(FILE *out, const struct pct_access_place *place)
{
    fputs(pct_name_op(place->op), out);
    if (place->function[0]) {
        fputs(" in ", out);
        pct_cli_print_clean(out, place->function, strlen(place->function));
    }
    if (!place->file[0])
        return;
    fputs(" at ", out);
    pct_cli_print_clean(out, place->file, strlen(place->file));
    if (place->line)
        fprintf(out, ":%d", place->line);
}

void pct_iroot_print(FILE *out, const struct pct_access_places *places, const struct pct_iroot *root)
{
    static const char *const between[PCT_COMBINED + 1][PCT_IROOT_PLACES] = {
        [1] = { "", " => " },
        [2] = { "", " => ", " => " },
        [3] = { "", " => ", ", then ", " => " },
        [4] = { "", " => ", ", then ", " => " },
        [5] = { "", " => ", "; across ", " => " },
        [6] = { "", " => ", ", and ", " => " },
        [7] = { "", " => ", ", then by the first thread ", " => by a third one " },
        [8] = { "", " => ", ", then by a third thread ", " => by the first one " },
        [9] = { "", " => ", ", then by the second thread ", " => by a third one " },
        [10] = { "", " => ", ", then by a third thread ", " => by the second one " },
    };
    fprintf(out, "%u  ", root->idiom);
    for (unsigned i = 0; i < pct_idiom_accesses(root->idiom); i++) {
        fputs(between[root->idiom][i], out);
        print_place(out, places->item[root->place[i] - 1]);
    }
}

void pct_reads_from_print(FILE *out, const struct pct_access_places *places, const struct pct_iroot *pair)
{
    fputs("rf  ", out);
    if (pair->place[0])
        print_place(out, places->item[pair->place[0] - 1]);
    else
        fputs("what was there before", out);
    fputs(" => ", out);
    print_place(out, places->item[pair->place[1] - 1]);
}

static void add_place(struct json_object *object, const struct pct_access_place *place)
{
    pct_json_add_string(object, "operation", pct_name_op(place->op));
    pct_json_add_string(object, "function", place->function);
    pct_json_add_string(object, "file", place->file);
    pct_json_add_number(object, "line", (uint64_t)place->line);
    if (place->begins)
        pct_json_add_number(object, "function_line", (uint64_t)place->begins);
}

const char *pct_iroots_format_newest(char *text, size_t size, uint64_t newest)
{
    *text = 0;
    if (newest)
        snprintf(text, size, "; the last new one in run %llu", (unsigned long long)newest);
    return text;
}

void pct_iroot_add_json(struct json_object *to, const struct pct_access_places *places, const struct pct_iroot *root)
{
    pct_json_add_number(to, "idiom", root->idiom);
    struct json_object *array = pct_json_add_array(to, "places");
    for (unsigned k = 0; k < pct_idiom_accesses(root->idiom); k++)
        add_place(pct_json_append_object(array), places->item[root->place[k] - 1]);
}

void pct_reads_from_add_json(struct json_object *to, const struct pct_access_places *places,
                             const struct pct_iroot *pair)
{
    if (pair->place[0])
        add_place(pct_json_add_object(to, "write"), places->item[pair->place[0] - 1]);
    else
        json_object_object_add(to, "write", NULL);
    add_place(pct_json_add_object(to, "read"), places->item[pair->place[1] - 1]);
}
