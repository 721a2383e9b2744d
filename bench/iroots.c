/* What the strategy maple does with the log of a run: iroots TRACE. Prints the milliseconds of processor time that it
 * takes, for a million accesses, to read them and to find what they expose and predict,
 * and to guess what is combined or swapped. */
#include <cli/campaign/directed.h>
#include <cli/trace/guess.h>
#include <cli/trace/predict.h>
#include <cli/trace/accesses.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
    struct pct_access_places places = { .by_instruction = true };
    struct pct_iroots exposed = { .count = 0 }, predicted = { .count = 0 };
    struct pct_iroots combined = { .most = 1 << 14 }, guessed = { .most = 1 << 14 };
    struct pct_access *accesses = NULL;
    struct pct_orderings orderings = { .threads = 0 };
    struct pct_trace trace;
    char error[512];
    size_t count = 0;
    if (argc != 2)
        return 2;
    if (pct_trace_open(&trace, argv[1], error, sizeof error) != PCT_TRACE_GOOD) {
        fprintf(stderr, "%s: %s\n", argv[1], error);
        return 1;
    }
    double begin = now();
    int failed = pct_accesses_read(&places, &trace, &accesses, &count);
    if (!failed)
        failed = pct_iroots_add(&exposed, &combined, accesses, count, PCT_DIRECTED_WINDOW, 1);
    if (!failed)
        failed = pct_orderings_read(&orderings, &trace, accesses, count);
    if (!failed)
        failed = pct_predict_ordered(&predicted, &orderings, &trace, accesses, count, PCT_DIRECTED_WINDOW, 1);
    if (!failed)
        failed = pct_guess_combined(&guessed, &exposed, &orderings, &places, accesses, count, PCT_DIRECTED_WINDOW, 1);
    if (!failed)
        failed = pct_guess_swapped(&guessed, &exposed, &predicted, &places, 1);
    double ms = now() - begin;
    if (failed || !count) {
        fprintf(stderr, "%s: no accesses are recorded, or memory is short\n", argv[1]);
        return 1;
    }
    printf("%.1f\n", ms * 1e6 / (double)count);
    free(accesses);
    pct_orderings_free(&orderings);
    pct_iroots_free(&exposed);
    pct_iroots_free(&predicted);
    pct_iroots_free(&combined);
    pct_iroots_free(&guessed);
    pct_access_places_free(&places);
    pct_trace_close(&trace);
    return 0;
}
