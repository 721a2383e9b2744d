/* What a host does with the ring that it shares with the command (common/host.h). */
#ifndef PCT_PRELOAD_HOST_RING_H
#define PCT_PRELOAD_HOST_RING_H

#include <common/host.h>

/* The ring in this file, mapped for good. NULL: it cannot be. */
struct pct_host_ring *pct_host_ring_map(int file);

/* The run is over as this says. */
void pct_host_ring_over(struct pct_host_ring *ring, int socket, struct pct_host_reply *reply);

/* Wait for the next request. Returns how many descriptors came along, or a negative errno: nobody wants another run. */
int pct_host_ring_take(struct pct_host_ring *ring, int socket, struct pct_host_request *request, int *files);

#endif
