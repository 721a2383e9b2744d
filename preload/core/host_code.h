/* Libc's code, of which a few places are led elsewhere in a host: see host.h. */
#ifndef PCT_PRELOAD_HOST_CODE_H
#define PCT_PRELOAD_HOST_CODE_H

#include <stdbool.h>
#include <stdint.h>

/* Where it is. False: not in one part. */
bool pct_host_code_find(void);

/* Whether a jump from this place reaches there. */
bool pct_host_code_reaches(const uint8_t *site, const void *to);

/* From here to the next call, it can be changed, and nothing of libc be called. By the only thread, in a host. False:
 * it cannot be. */
bool pct_host_code_open(void);
bool pct_host_code_close(void);

/* In between: what stands at this place goes on there. False: it cannot. */
bool pct_host_code_lead(uint8_t *site, const void *to);

#endif
