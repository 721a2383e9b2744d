/* Pearson's chi-square test for the unit tests of what is random: the statistic, and the limit that it stays below.
 *
 * The seeds of the tests are fixed, so each test passes always or never: PCT_CHI_Z gives the probability with which a
 * correct implementation would have failed when its seeds were first chosen: about one in a million for each comparison
 * (less at one degree of freedom, where the approximation errs on the large side). */
#ifndef PCT_TESTS_CHI_SQUARE_H
#define PCT_TESTS_CHI_SQUARE_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#define PCT_CHI_Z 4.7534 /* the normal distribution leaves 1e-6 above this */

/* Of `cells` counts that should all be equal. */
static inline double chi_square(const uint64_t *count, size_t cells)
{
    double total = 0, sum = 0;
    for (size_t i = 0; i < cells; i++)
        total += (double)count[i];
    double expected = total / (double)cells;
    for (size_t i = 0; i < cells; i++)
        sum += ((double)count[i] - expected) * ((double)count[i] - expected) / expected;
    return sum;
}

/* What the statistic exceeds with probability 1e-6 (Wilson and Hilferty's approximation). */
static inline double chi_square_limit(size_t cells)
{
    double df = (double)cells - 1;
    double root = 1 - 2 / (9 * df) + PCT_CHI_Z * sqrt(2 / (9 * df));
    return df * root * root * root;
}

#endif
