/* Places in the code of several builds: see code_files.h. */
#include "code_files.h"
#include <cli/binary/code_hash.h>
#include <common/place.h>
#include <common/text.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "state.h"

struct file {
    struct file *next;
    char *path;
    struct pct_code code;
    bool readable;
    uint64_t hash; /* of all of it; 0: not asked yet, or not readable */
};

struct pct_code_files {
    char *program;
    struct file *first;
};

struct pct_code_files *pct_code_files_new(const char *program)
{
    struct pct_code_files *files = calloc(1, sizeof *files);
    if (!files)
        return NULL;
    files->program = realpath(program, NULL); /* as memory maps have it */
    if (!files->program)
        files->program = strdup(program);
    if (files->program)
        return files;
    free(files);
    return NULL;
}

void pct_code_files_free(struct pct_code_files *files)
{
    if (!files)
        return;
    for (struct file *file = files->first, *next; file; file = next) {
        next = file->next;
        if (file->readable)
            pct_code_free(&file->code);
        free(file->path);
        free(file);
    }
    free(files->program);
    free(files);
}

/* NULL: out of memory. */
static struct file *get(struct pct_code_files *files, const char *path)
{
    for (struct file *file = files->first; file; file = file->next)
        if (!strcmp(file->path, path))
            return file;
    struct file *file = calloc(1, sizeof *file);
    if (!file)
        return NULL;
    file->path = strdup(path);
    if (!file->path) {
        free(file);
        return NULL;
    }
    /* The name may be anybody's: what is no file would keep us waiting. */
    struct stat status;
    file->readable = !stat(path, &status) && S_ISREG(status.st_mode) && !pct_code_read(&file->code, path);
    file->next = files->first;
    files->first = file;
    return file;
}

static uint64_t hash_all(struct file *file)
{
    if (!file->hash)
        file->hash = pct_state_hash_file(file->path);
    return file->hash;
}

/* A function that another has both the name and the code of cannot be told from it. */
static const struct pct_code_function *find(const struct pct_code *code, const char *name, uint64_t hash)
{
    const struct pct_code_function *found = NULL;
    for (size_t i = 0; i < code->count; i++) {
        const struct pct_code_function *function = &code->item[i];
        if (function->is_data || strcmp(function->name, name) != 0 || pct_code_hash(code, function) != hash)
            continue;
        if (found && found->offset != function->offset)
            return NULL;
        found = function;
    }
    return found;
}

int pct_code_files_position(struct pct_code_files *files, const char *path, uint64_t offset,
                            struct pct_code_position *position)
{
    struct file *file = get(files, path);
    if (!file)
        return -ENOMEM;
    if (!file->readable || !hash_all(file))
        return -ENOENT;
    *position = (struct pct_code_position){
        .module = strcmp(path, files->program) ? file->path : "", .function = "", .hash = hash_all(file), .at = offset
    };
    /* Where a call returns to may be behind the function's last instruction. */
    uint64_t at = pct_code_in_memory(&file->code, offset - 1);
    const struct pct_code_function *function = at == UINT64_MAX ? NULL : pct_code_at(&file->code, at);
    uint64_t hash = function ? pct_code_hash(&file->code, function) : 0;
    if (!hash || !find(&file->code, function->name, hash))
        return 0;
    position->function = function->name;
    position->hash = hash;
    position->at = at + 1 - function->offset;
    return 0;
}

uint32_t pct_code_files_find(struct pct_code_files *files, const struct pct_code_position *position)
{
    const char *path = *position->module ? position->module : files->program;
    struct file *file = get(files, path);
    uint64_t offset = position->at;
    if (!file || !file->readable)
        return 0;
    if (*position->function) {
        const struct pct_code_function *function = find(&file->code, position->function, position->hash);
        if (!function || position->at - 1 >= function->size)
            return 0;
        uint64_t before = pct_code_in_file(&file->code, function->offset + position->at - 1);
        if (before == UINT64_MAX)
            return 0;
        offset = before + 1;
    } else if (hash_all(file) != position->hash) {
        return 0;
    }
    return pct_place_short(pct_place_at(pct_place_file(pct_text_base_name(path)), offset));
}
