/* How sure a rate is that was counted. */
#ifndef PCT_CLI_WILSON_H
#define PCT_CLI_WILSON_H

#include <stddef.h>
#include <stdint.h>

struct pct_wilson {
    double low, high; /* the rate is between these with 95 % confidence */
};

/* E. B. Wilson, "Probable inference, the law of succession, and statistical inference", 1927: the rates from which
 * `hits` of `runs` are no more than 1.96 standard deviations away. Unlike the textbook's interval it is right for few
 * hits, and never leaves 0 to 1. Without runs: 0 to 1. */
struct pct_wilson pct_wilson_wilson(uint64_t hits, uint64_t runs);

/* "12 %", "0.31 %": two digits are what an interval is good for. Returns buffer. */
const char *pct_wilson_percent(char *buffer, size_t size, double rate);

#endif
