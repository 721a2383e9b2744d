/* The time that runs take of a budget, whatever else the machine does: a clock that goes slower as far as they have to
 * wait for a CPU. What is said of a failure is then told by as many runs on a busy machine as on an idle one. */
#ifndef PCT_CLI_BUSY_CLOCK_H
#define PCT_CLI_BUSY_CLOCK_H

/* Seconds since some moment. */
struct pct_busy_span {
    double passed; /* of real time */
    double ran;    /* for which this command had a CPU, */
    double waited; /* and for which it waited for one */
    double used;   /* processor time of its runs that have ended, and its own */
};

struct pct_busy_clock {
    struct pct_busy_span begin;
    double patience; /* it goes at most this many times slower than real time; less than 1: not at all */
    unsigned jobs;   /* runs at a time */
};

/* It is 0 now. */
void pct_busy_clock_start(struct pct_busy_clock *clock, double patience, unsigned jobs);

double pct_busy_clock_now(const struct pct_busy_clock *clock);

/* How much of what has passed counts: real time, but what the runs wait for a CPU, which is told by how long this
 * command has waited for one itself; and never less than what they have used. */
double pct_busy_clock_counts(const struct pct_busy_span *since, double patience, unsigned jobs);

/* How many times slower everything has been than on an idle machine, since this command began; at most `most`. */
double pct_busy_clock_slower(double most);

#endif
