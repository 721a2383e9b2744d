/* Fuzzing what is done with the text of a script before a run: the names are found in it, and Lua compiles it, in the
 * memory that it has in a target. An entry for libFuzzer, as fuzz_trace.c; begin with some scripts in CORPUS. */
#include <cli/script/script.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int pct_script_check(const char *text, size_t size, const char *name, char *error, size_t error_size);

static void find(const char *text)
{
    struct pct_script_words words = { .count = 0 };
    bool returns;
    if (!pct_script_words_find(&words, text))
        abort();
    free(pct_script_words_functions(&words, "main", &returns));
    unsigned lines = 1, last = 1;
    for (const char *at = text; (at = strchr(at, '\n')); at++)
        lines++;
    for (size_t i = 0; i < words.count; i++) {
        if (words.item[i].line < last || words.item[i].line > lines)
            abort(); /* a message would name a line that has no such name */
        last = words.item[i].line;
    }
    pct_script_words_free(&words);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char error[512] = "", *text = malloc(size + 1);
    if (!text)
        return 0;
    if (size)
        memcpy(text, data, size);
    text[size] = 0;
    find(text);
    if (pct_script_check(text, strlen(text), "fuzz.lua", error, sizeof error) && !error[0])
        abort(); /* refused without a word */
    free(text);
    return 0;
}
