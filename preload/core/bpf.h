/* What a filter of system calls (seccomp) answers, read from its program before it is in force. */
#ifndef PCT_PRELOAD_BPF_H
#define PCT_PRELOAD_BPF_H

#include <linux/filter.h>
#include <stdint.h>

/* A set: an answer may depend on arguments, on the place of the call, or on who supervises the process. */
enum { PCT_BPF_PASSES = 1, PCT_BPF_REFUSES = 2 };

unsigned pct_bpf_answers(const struct sock_filter *code, unsigned length, uint32_t number);

#endif
