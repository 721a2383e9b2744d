/* A campaign file in a directory of its own, for tests of the store: their setup and teardown. Included
 * by test programs, each of which has one file at a time. */
#ifndef PCT_TEST_STORE_FILE_H
#define PCT_TEST_STORE_FILE_H

#include <cli/campaign/store.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char directory[] = "/tmp/pct-test-store-XXXXXX";
static char path[sizeof directory + 16];

static const struct pct_store_fact facts[] = { { "seed", "7" }, { "runs", "10" },  { "shard", "1" },
                                               { "of", "1" },   { "spec", "pct" }, { "command", "./app" },
                                               { NULL, NULL } };

static int make(void **unused)
{
    (void)unused;
    strcpy(directory + sizeof directory - 7, "XXXXXX");
    if (!mkdtemp(directory))
        return -1;
    snprintf(path, sizeof path, "%s/a.db", directory);
    return 0;
}

static int unmake(void **unused)
{
    (void)unused;
    unlink(path);
    return rmdir(directory); /* so nothing else is left */
}

#endif
