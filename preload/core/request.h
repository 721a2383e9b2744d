/* What the command asks of a fork server or a host: a message with descriptors (common/forkserver.h, common/host.h). */
#ifndef PCT_PRELOAD_REQUEST_H
#define PCT_PRELOAD_REQUEST_H

#include <common/forkserver.h>
#include <stddef.h>

/* Wait for the next one on this socket. request: gets it, size bytes at most, of which the last is made 0, as a text
 * ends it; head: bytes before that text. Returns how many descriptors came along, in `files`, or a negative errno. Also
 * in a host, whose system calls are filtered. */
int pct_request_receive(int socket, void *request, size_t size, size_t head, int files[PCT_REQUEST_FILES]);

#endif
