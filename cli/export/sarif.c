/* SARIF: see sarif.h. */
#include "sarif.h"
#include <cli/base/cli.h>
#include <stdlib.h>
#include <string.h>

#define SCHEMA "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
#define ROOT "SRCROOT"

void pct_sarif_add_text(struct json_object *to, const char *key, const char *text)
{
    pct_json_add_string(pct_json_add_object(to, key), "text", text);
}

/* RFC 3986: all but letters, digits, "-._~" and "/" as %XX. */
static void print_uri(FILE *out, const char *path)
{
    for (; *path; path++) {
        bool plain = (*path >= 'a' && *path <= 'z') || (*path >= 'A' && *path <= 'Z') || (*path >= '0' && *path <= '9');
        if (plain || strchr("-._~/", *path))
            fputc(*path, out);
        else
            fprintf(out, "%%%02X", (unsigned char)*path);
    }
}

/* 3.4 artifactLocation. path may be absolute. */
static void add_artifact(struct json_object *to, const char *path)
{
    struct json_object *artifact = pct_json_add_object(to, "artifactLocation");
    char *uri = NULL;
    size_t size;
    FILE *out = open_memstream(&uri, &size);
    if (!out)
        return;
    if (*path == '/')
        fputs("file://", out);
    print_uri(out, path);
    fclose(out);
    pct_json_add_string(artifact, "uri", uri ? uri : "");
    if (*path != '/')
        pct_json_add_string(artifact, "uriBaseId", ROOT);
    free(uri);
}

void pct_sarif_fill_location(struct json_object *location, const char *path, int line, const char *function)
{
    if (path) {
        struct json_object *physical = pct_json_add_object(location, "physicalLocation");
        add_artifact(physical, path);
        if (line > 0)
            pct_json_add_number(pct_json_add_object(physical, "region"), "startLine", (uint64_t)line);
    }
    if (function && *function) {
        struct json_object *logical = pct_json_append_object(pct_json_add_array(location, "logicalLocations"));
        pct_json_add_string(logical, "fullyQualifiedName", function);
        pct_json_add_string(logical, "kind", "function");
    }
}

struct json_object *pct_sarif_begin(struct json_object *log)
{
    pct_json_add_string(log, "$schema", SCHEMA);
    pct_json_add_string(log, "version", "2.1.0");
    return pct_json_append_object(pct_json_add_array(log, "runs"));
}

struct json_object *pct_sarif_add_tool(struct json_object *run)
{
    struct json_object *driver = pct_json_add_object(pct_json_add_object(run, "tool"), "driver");
    pct_json_add_string(driver, "name", "pct");
    pct_json_add_string(driver, "semanticVersion", PCT_CLI_VERSION);
    return pct_json_add_array(driver, "rules");
}

void pct_sarif_add_rule(struct json_object *rules, const char *id, const char *text, const char *level)
{
    struct json_object *rule = pct_json_append_object(rules);
    pct_json_add_string(rule, "id", id);
    pct_sarif_add_text(rule, "shortDescription", text);
    pct_json_add_string(pct_json_add_object(rule, "defaultConfiguration"), "level", level);
}

void pct_sarif_add_invocation(struct json_object *run, const char *root, const char *command)
{
    char *uri = NULL;
    size_t size;
    FILE *text = open_memstream(&uri, &size);
    if (text) {
        fputs("file://", text);
        print_uri(text, root);
        fputc('/', text);
        fclose(text);
    }
    pct_json_add_string(pct_json_add_object(pct_json_add_object(run, "originalUriBaseIds"), ROOT), "uri",
                        uri ? uri : "file:///");
    free(uri);
    struct json_object *invocation = pct_json_append_object(pct_json_add_array(run, "invocations"));
    pct_json_add_string(invocation, "commandLine", command);
    pct_json_add_bool(invocation, "executionSuccessful", true);
    pct_json_add_string(run, "columnKind", "unicodeCodePoints");
}
