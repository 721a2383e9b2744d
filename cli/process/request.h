/* A request for a run, to a fork server or a host: a message with the values of PCT_TOKEN and PCT_TRACE, and
 * descriptors (common/forkserver.h, common/host.h). */
#ifndef PCT_CLI_REQUEST_H
#define PCT_CLI_REQUEST_H

#include <common/forkserver.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pct_process;

/* Put the two values of this run, each with its end, there. Returns how many bytes they take, or 0: there is no room.
 */
size_t pct_request_write(char *text, size_t room, const struct pct_process *process);

/* What this run records of where its steps are made, as requests say it: PCT_FORKSERVER_SITES and the like. Not for
 * those that only the environment can ask for. */
uint16_t pct_request_sites(const struct pct_process *process);

/* Send these bytes, with count descriptors (0 to PCT_REQUEST_FILES). False: the other side has gone, and errno is set.
 */
bool pct_request_send(int socket, void *request, size_t size, const int *files, int count);

#endif
