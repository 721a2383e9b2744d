/* A watchpoint, as the shim sets it and the command tries it. */
#ifndef PCT_COMMON_WATCHPOINT_H
#define PCT_COMMON_WATCHPOINT_H

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdint.h>

/* For perf_event_open(2): SIGTRAP to the thread behind each access to these bytes, 1, 2, 4 or 8 at a multiple of their number; with
 * `data` in its siginfo. A new thread has the event, too, as have its threads; a new process has not, nor a new program. */
static inline struct perf_event_attr pct_watchpoint(uintptr_t address, uint32_t size, uint64_t data)
{
    return (struct perf_event_attr){
        .type = PERF_TYPE_BREAKPOINT,
        .size = sizeof(struct perf_event_attr),
        .sample_period = 1,
        .bp_type = HW_BREAKPOINT_RW,
        .bp_addr = address,
        .bp_len = size,
        .sigtrap = 1,
        .remove_on_exec = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .inherit = 1,
        .inherit_thread = 1,
        .sig_data = data,
    };
}

#endif
