/* The interval of Wilson: see wilson.h. */
#include "wilson.h"
#include <math.h>
#include <stdio.h>

struct pct_wilson pct_wilson_wilson(uint64_t hits, uint64_t runs)
{
    const double z = 1.959964;
    if (!runs)
        return (struct pct_wilson){ .low = 0, .high = 1 };
    double n = (double)runs, p = (double)hits / n;
    double centre = p + z * z / (2 * n), half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n));
    double scale = 1 + z * z / n;
    /* At the ends the bound is exact, and rounding must not move it. */
    return (struct pct_wilson){ .low = hits ? fmax(0, (centre - half) / scale) : 0,
                                .high = hits < runs ? fmin(1, (centre + half) / scale) : 1 };
}

const char *pct_wilson_percent(char *buffer, size_t size, double rate)
{
    double value = 100 * rate;
    snprintf(buffer, size, "%.*f %%", value >= 10 || value == 0 ? 0 : value >= 1 ? 1 : value >= 0.1 ? 2 : 3, value);
    return buffer;
}
