/* The lines under a guarantee that say which bugs it does not speak of: those that need a switch where no point is,
 * what the seed drew beside the schedule, an order of deadlines that no run had. */
#ifndef PCT_CLI_GUARANTEE_LEFT_OUT_H
#define PCT_CLI_GUARANTEE_LEFT_OUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct pct_campaign;

/* 1207 as "1,207". Returns buffer. */
const char *pct_guarantee_left_out_count(char *buffer, size_t size, uint64_t value);

/* Deadlines that slack does not move. */
void pct_guarantee_left_out_print_deadlines(FILE *out, const struct pct_campaign *c);

/* What the seed drew beside the schedule: whether there was any, and that. */
bool pct_guarantee_left_out_draws(const struct pct_campaign *c);
void pct_guarantee_left_out_print_draws(FILE *out, const struct pct_campaign *c);

/* All but deadlines. */
void pct_guarantee_left_out_print(FILE *out, const struct pct_campaign *c);

#endif
