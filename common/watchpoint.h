/* A watchpoint, as the shim sets it and the command tries it. Nothing here depends on the system: who uses it includes
 * <linux/perf_event.h> and <linux/hw_breakpoint.h>. */
#ifndef PCT_COMMON_WATCHPOINT_H
#define PCT_COMMON_WATCHPOINT_H

/* A struct perf_event_attr for perf_event_open(2): SIGTRAP to the thread behind each access to these bytes, 1, 2, 4 or
 * 8 at a multiple of their number; with `mark` in its siginfo. A new thread has the event, too, as have its threads; a
 * new process has not, nor a new program. */
#define PCT_WATCHPOINT(address, bytes, mark)                                                                           \
    ((struct perf_event_attr){ .type = PERF_TYPE_BREAKPOINT,                                                           \
                               .size = sizeof(struct perf_event_attr),                                                 \
                               .sample_period = 1,                                                                     \
                               .bp_type = HW_BREAKPOINT_RW,                                                            \
                               .bp_addr = (address),                                                                   \
                               .bp_len = (bytes),                                                                      \
                               .sigtrap = 1,                                                                           \
                               .remove_on_exec = 1,                                                                    \
                               .exclude_kernel = 1,                                                                    \
                               .exclude_hv = 1,                                                                        \
                               .inherit = 1,                                                                           \
                               .inherit_thread = 1,                                                                    \
                               .sig_data = (mark) })

#endif
