/* What the campaign file costs: store FILE RUNS RATE. Writes RUNS runs into a new file as a campaign does that makes
 * RATE of them a second: commits four times a second, so after each RATE / 4 runs; each hundredth run brings a new pair
 * of operations. Prints the microseconds of a run. */
#include <cli/campaign/store.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void check(int failed, const struct pct_store *store)
{
    if (!failed)
        return;
    fprintf(stderr, "%s\n", pct_store_error(store));
    exit(1);
}

int main(int argc, char **argv)
{
    static const struct pct_store_fact facts[] = { { "seed", "0" }, { "runs", "0" },   { "shard", "1" },
                                                   { "of", "1" },   { "spec", "pct" }, { "command", "none" },
                                                   { NULL, NULL } };
    char error[512];
    if (argc != 4)
        return 2;
    uint64_t runs = strtoull(argv[2], NULL, 10), batch = strtoull(argv[3], NULL, 10) / 4;
    unlink(argv[1]);
    struct pct_store *store = NULL;
    if (!pct_store_create(argv[1], facts, error, sizeof error))
        store = pct_store_open(argv[1], true, error, sizeof error);
    if (!store) {
        fprintf(stderr, "%s: %s\n", argv[1], error);
        return 1;
    }
    check(pct_store_begin_session(store, 0, 1), store);
    double begin = now();
    for (uint64_t i = 0; i < runs; i++) {
        const struct pct_store_run run = { .seed = i,
                                           .k = 500,
                                           .depth = 3,
                                           .steps = 500,
                                           .points = 500,
                                           .switches = 9,
                                           .threads = 4,
                                           .complete = true,
                                           .hash = i * UINT64_C(0x9e3779b97f4a7c15) };
        check(pct_store_add_run(store, &run), store);
        if (i % 100 == 0)
            check(pct_store_add_pair(store, run.hash, i), store);
        if (i % batch == batch - 1)
            check(pct_store_commit(store, 1), store);
    }
    check(pct_store_commit(store, 1), store);
    double end = now();
    pct_store_close(store);
    unlink(argv[1]);
    printf("%.2f\n", (end - begin) / (double)runs);
    return 0;
}
