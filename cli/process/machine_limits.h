/* The part of machine.h about containers and limits, and what both parts share. */
#ifndef PCT_CLI_MACHINE_LIMITS_H
#define PCT_CLI_MACHINE_LIMITS_H

#include "machine.h"

/* One more fact; what and way live as long as the process. */
void pct_machine_add(struct pct_machine *m, enum pct_machine_kind kind, const char *what, const char *way,
                     const char *format, ...) __attribute__((format(printf, 5, 6)));

/* The first line of a file of the kernel. False: it cannot be read, and text is "". */
bool pct_machine_read(const char *path, char *text, size_t size);

void pct_machine_look_at_container(struct pct_machine *m);
/* CPUs, memory, processes, places for scratch files, core dumps. */
void pct_machine_look_at_limits(struct pct_machine *m);

#endif
