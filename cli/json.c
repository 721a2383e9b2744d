/* Building JSON: see json.h. */
#include "json.h"
#include "markup.h"
#include <errno.h>
#include <stdlib.h>

struct json_object *pct_json_add_object(struct json_object *to, const char *key)
{
    struct json_object *object = json_object_new_object();
    json_object_object_add(to, key, object);
    return object;
}

struct json_object *pct_json_add_array(struct json_object *to, const char *key)
{
    struct json_object *array = json_object_new_array();
    json_object_object_add(to, key, array);
    return array;
}

void pct_json_add_string(struct json_object *to, const char *key, const char *value)
{
    char *clean = pct_markup_clean(value);
    json_object_object_add(to, key, json_object_new_string(clean ? clean : ""));
    free(clean);
}

void pct_json_add_number(struct json_object *to, const char *key, uint64_t value)
{
    json_object_object_add(to, key, json_object_new_uint64(value));
}

/* Six digits are more than any of these was measured with. */
void pct_json_add_double(struct json_object *to, const char *key, double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.6g", value);
    json_object_object_add(to, key, json_object_new_double_s(value, text));
}

void pct_json_add_bool(struct json_object *to, const char *key, bool value)
{
    json_object_object_add(to, key, json_object_new_boolean(value));
}

struct json_object *pct_json_append_object(struct json_object *to)
{
    struct json_object *object = json_object_new_object();
    json_object_array_add(to, object);
    return object;
}

int pct_json_print(FILE *out, struct json_object *root)
{
    const char *text = root ? json_object_to_json_string_ext(root, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
                                                                       JSON_C_TO_STRING_NOSLASHESCAPE)
                            : NULL;
    if (text)
        fprintf(out, "%s\n", text);
    json_object_put(root);
    return text ? 0 : -ENOMEM;
}
