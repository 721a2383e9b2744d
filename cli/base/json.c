/* Building JSON: see json.h. */
#include "json.h"
#include "markup.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

struct json_object *pct_json_text(const char *text, size_t max)
{
    size_t length = strnlen(text, max), size;
    char *copy = malloc(length + 1);
    if (!copy)
        return NULL;
    memcpy(copy, text, length);
    for (size_t i = 0; i < length; i += size) {
        uint32_t code;
        size = pct_markup_character(copy + i, length - i, &code);
        if (!size) {
            copy[i] = '?';
            size = 1;
        }
    }
    struct json_object *string = json_object_new_string_len(copy, (int)length);
    free(copy);
    return string;
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

void pct_json_add_seed(struct json_object *to, const char *key, uint64_t value)
{
    char name[32], text[24];
    snprintf(name, sizeof name, "%s_text", key);
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    pct_json_add_number(to, key, value);
    pct_json_add_string(to, name, text);
}

void pct_json_exact(struct json_object *object)
{
    enum { BITS = 53 };
    char text[24];
    json_object_object_foreach(object, key, value)
    {
        uint64_t number = json_object_is_type(value, json_type_int) ? json_object_get_uint64(value) : 0;
        snprintf(text, sizeof text, "%llu", (unsigned long long)number);
        if (number >> BITS)
            json_object_object_add(object, key, json_object_new_string(text));
    }
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

/* JSON as it is written: what a terminal would obey is escaped, and what the log of a CI would (`##vso[`); and `<`
 * inside of a page, where it must not open a comment, or end the script. */
static void print_text(FILE *out, const char *text, bool page)
{
    size_t length;
    bool hash = false; /* the character before is a `#` */
    for (size_t left = strlen(text); left; text += length, left -= length) {
        uint32_t code;
        length = pct_markup_character(text, left, &code);
        length += !length;
        const bool second = hash && code == '#';
        hash = code == '#';
        if ((page && code == '<') || second || (!pct_markup_is_harmless(code) && code <= UINT16_MAX))
            fprintf(out, "\\u%04x", (unsigned)code);
        else
            fwrite(text, 1, length, out);
    }
}

int pct_json_print(FILE *out, struct json_object *root)
{
    const char *text = root ? json_object_to_json_string_ext(root, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
                                                                       JSON_C_TO_STRING_NOSLASHESCAPE)
                            : NULL;
    if (text) {
        print_text(out, text, false);
        fputc('\n', out);
    }
    json_object_put(root);
    return text ? 0 : -ENOMEM;
}

void pct_json_print_line(FILE *out, struct json_object *object)
{
    const char *text =
        object ? json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE)
               : "null";
    print_text(out, text, true);
    json_object_put(object);
}
