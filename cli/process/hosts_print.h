/* What is said of hosts, by their reasons (common/host.h). */
#ifndef PCT_CLI_HOSTS_PRINT_H
#define PCT_CLI_HOSTS_PRINT_H

#include <common/host.h>
#include <stddef.h>

const char *pct_hosts_text(uint32_t reason);

/* Why a host ended, with the name of the system call if it was one. */
void pct_hosts_describe(char *text, size_t size, const struct pct_host_reply *reply);

#endif
