/* Keys of data of threads whose destructors libc runs behind that of the key that ends a thread's control. */
#ifndef PCT_PRELOAD_KEYS_H
#define PCT_PRELOAD_KEYS_H

/* Find libc's table of keys. When the second thread is about to be made, or the only one ends, or before the runs of a
 * fork server; of several calls, the first counts. */
void pct_keys_find(void);

/* In the last round of a thread's destructors, from that of the last key that has its place in the thread: run those of
 * all later keys, in libc's order, so that libc finds none. Without the table, nothing: libc runs them, and pct does
 * not control them. On the thread's own turn, or without control; destructors may do whatever threads do, and come back
 * with the baton if they had it. */
void pct_keys_end(void);

#endif
