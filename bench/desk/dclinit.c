// Handlers translate words by a dictionary, which the first of them loads.
//
// Bug: the flag that says that the dictionary is there is set before it is loaded; who looks at it without the lock
// goes on with a dictionary that is not there yet.
// Shows as: a crash.
// FIXED: the flag is set behind that.
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 3, HANDLERS = 3 };

struct entry {
    const char *word, *meaning;
};

struct dictionary {
    int count;
    struct entry *entries;
};

static struct dictionary *dictionary;
static atomic_bool loaded;
static pthread_mutex_t load_lock = PTHREAD_MUTEX_INITIALIZER;

static pthread_mutex_t memory_lock = PTHREAD_MUTEX_INITIALIZER;
static size_t memory_used;

static void *account(size_t bytes)
{
    void *memory = calloc(1, bytes);
    if (!memory)
        abort();
    pthread_mutex_lock(&memory_lock);
    memory_used += bytes;
    pthread_mutex_unlock(&memory_lock);
    return memory;
}

static struct dictionary *load_dictionary(void)
{
    static const struct entry source[WORDS] = { { "eins", "one" }, { "zwei", "two" }, { "drei", "three" } };
    struct dictionary *d = account(sizeof *d);
    d->entries = account(sizeof source);
    memcpy(d->entries, source, sizeof source);
    d->count = WORDS;
    return d;
}

static struct dictionary *get_dictionary(void)
{
    if (!atomic_load(&loaded)) {        // culprit
        pthread_mutex_lock(&load_lock); // culprit
        if (!atomic_load(&loaded)) {
#ifdef FIXED
            dictionary = load_dictionary();
            atomic_store(&loaded, true);
#else
            atomic_store(&loaded, true);    // culprit
            dictionary = load_dictionary(); // culprit
#endif
        }
        pthread_mutex_unlock(&load_lock);
    }
    return dictionary; // culprit
}

static const char *translate(const char *word)
{
    struct dictionary *d = get_dictionary();
    for (int i = 0; i < d->count; i++) // culprit
        if (!strcmp(d->entries[i].word, word))
            return d->entries[i].meaning;
    return NULL;
}

static void *handle(void *arg)
{
    const char *meaning = translate(arg);
    if (meaning)
        printf("%s: %s\n", (char *)arg, meaning);
    return NULL;
}

int main(void)
{
    static char words[HANDLERS][8] = { "eins", "drei", "vier" };
    pthread_t handlers[HANDLERS];
    for (int i = 0; i < HANDLERS; i++)
        pthread_create(&handlers[i], NULL, handle, words[i]);
    for (int i = 0; i < HANDLERS; i++)
        pthread_join(handlers[i], NULL);
    free(dictionary->entries);
    free(dictionary);
    return 0;
}
