/* How many runs a statistical test takes. Under a sanitizer, which looks at the code that is run and not at how often
 * each thing happens, SAMPLE=N takes one of N of them; what is compared allows for the smaller number. */
#ifndef PCT_TESTS_SAMPLE_H
#define PCT_TESTS_SAMPLE_H

#include <stdint.h>
#include <stdlib.h>

/* Which part of all runs: 1, but for SAMPLE. */
static inline uint64_t sample(void)
{
    const char *text = getenv("SAMPLE");
    uint64_t part = text ? strtoull(text, NULL, 10) : 1;
    return part ? part : 1;
}

/* `full` runs, or that part of them. */
static inline uint64_t sampled(uint64_t full)
{
    return (full + sample() - 1) / sample();
}

#endif
