/* What the command does with the ring that it shares with a host (common/host.h). */
#ifndef PCT_CLI_HOST_RING_H
#define PCT_CLI_HOST_RING_H

#include <common/host.h>
#include <stdbool.h>

struct pct_process;

/* A new ring, for a host that is asked for its first run. *file: what it is to get. NULL: there is none. */
struct pct_host_ring *pct_host_ring_make(int *file);
void pct_host_ring_close(struct pct_host_ring *ring);

/* Ask for this run; with its files, if the slot has not got them. False: it cannot be, or the host has gone. */
bool pct_host_ring_ask(struct pct_host_ring *ring, int socket, const struct pct_process *process, unsigned slot,
                       bool files);

/* Whether the run of this number is over: then how. Negative: what stands there makes no sense. */
int pct_host_ring_over(const struct pct_host_ring *ring, uint64_t run, struct pct_host_reply *reply);

/* A message shall come when this number of runs is over. False: they are already. */
bool pct_host_ring_await(struct pct_host_ring *ring, uint64_t runs);

#endif
