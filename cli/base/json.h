/* A few words for building JSON with json-c. */
#ifndef PCT_CLI_JSON_H
#define PCT_CLI_JSON_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Add a member to an object and return it, so that more can be put into it. Strings may be any: json-c does not look,
 * so they are made well-formed here. */
struct json_object *pct_json_add_object(struct json_object *to, const char *key);
struct json_object *pct_json_add_array(struct json_object *to, const char *key);
void pct_json_add_string(struct json_object *to, const char *key, const char *value);
void pct_json_add_number(struct json_object *to, const char *key, uint64_t value);
/* A number that may have 64 bits, more than some readers keep: also as text, in the member KEY_text. */
void pct_json_add_seed(struct json_object *to, const char *key, uint64_t value);
void pct_json_add_double(struct json_object *to, const char *key, double value);
void pct_json_add_bool(struct json_object *to, const char *key, bool value);

/* For a page of ours, or another reader that is written in JavaScript, whose numbers have 53 bits: whole numbers among
 * its members that take more become text. */
void pct_json_exact(struct json_object *object);

/* Text that comes from outside as a JSON string: at most `max` bytes up to a NUL; what is not UTF-8 becomes `?`. */
struct json_object *pct_json_text(const char *text, size_t max);

/* Append an object to an array and return it. */
struct json_object *pct_json_append_object(struct json_object *to);

/* Write the object in one line, so that it may stand inside an HTML page too, and free it. */
void pct_json_print_line(FILE *out, struct json_object *object);

/* Print it, with line ends, and give it back. Returns 0 or -ENOMEM. */
int pct_json_print(FILE *out, struct json_object *root);

#endif
