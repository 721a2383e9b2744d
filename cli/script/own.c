/* The scripts that a program has of its own, by <pct/script.h>: see script.h. Each stands in a section of its file:
 * the mark, the name of a test, a zero, the text, a zero; between them there may be more zeros. */
#include "script.h"
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MARK = 1 };

/* Names of tests as {test} has them (cli/command/each_test.c). */
static bool is_name(const char *name, const char *wanted)
{
    for (; *name && *wanted; name++, wanted++)
        if (*name != *wanted && (*wanted != '-' || (*name != '/' && (unsigned char)*name >= ' ')))
            return false;
    return *name == *wanted;
}

/* The next script in these bytes, from *at on, and the name of its test. NULL: there is no more. */
static const char *next_script(const char *bytes, size_t size, size_t *at, const char **name)
{
    const char *mark = *at < size ? memchr(bytes + *at, MARK, size - *at) : NULL;
    if (!mark)
        return NULL;
    *name = mark + 1;
    const char *zero = memchr(*name, 0, (size_t)(bytes + size - *name));
    const char *text = zero ? zero + 1 : bytes + size;
    const char *end = text < bytes + size ? memchr(text, 0, (size_t)(bytes + size - text)) : NULL;
    if (!end)
        return NULL;
    *at = (size_t)(end + 1 - bytes);
    return text;
}

static char *find(const char *bytes, size_t size, const char *test, unsigned *count)
{
    char *found = NULL;
    const char *name, *text;
    for (size_t at = 0; (text = next_script(bytes, size, &at, &name));) {
        ++*count;
        if (!found && (!test || is_name(name, test)))
            found = strdup(text);
    }
    return found;
}

char *pct_script_own(const char *program, const char *test, unsigned *count)
{
    char *found = NULL;
    *count = 0;
    elf_version(EV_CURRENT);
    int file = open(program, O_RDONLY | O_CLOEXEC);
    Elf *elf = file < 0 ? NULL : elf_begin(file, ELF_C_READ_MMAP, NULL);
    size_t names;
    Elf_Scn *section = NULL;
    while (elf && !elf_getshdrstrndx(elf, &names) && (section = elf_nextscn(elf, section))) {
        GElf_Shdr head;
        const char *name = gelf_getshdr(section, &head) ? elf_strptr(elf, names, head.sh_name) : NULL;
        Elf_Data *data = name && !strcmp(name, "pct_scripts") ? elf_getdata(section, NULL) : NULL;
        char *text = data && data->d_buf ? find(data->d_buf, data->d_size, test, count) : NULL;
        if (found)
            free(text);
        else
            found = text;
    }
    if (elf)
        elf_end(elf);
    if (file >= 0)
        close(file);
    return found;
}
