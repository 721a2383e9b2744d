/* Asynchronous requests (aio_*, lio_listio, getaddrinfo_a): what libc performs on threads of its own is performed on
 * service threads, of which each kind of request has a pool, as in libc: at most 20 if the program says nothing else,
 * which end when there was nothing to do for a second. All of it with the baton. */
#ifndef PCT_PRELOAD_REQUEST_H
#define PCT_PRELOAD_REQUEST_H

#include <preload/thread/service.h>

/* Several requests that notify together. */
struct pct_batch {
    unsigned left; /* requests that are not done yet */
    struct sigevent event;
    struct pct_batch *next; /* in the list of spare ones */
};

struct pct_request {
    struct pct_request *next; /* in the pool: in the order in which they are taken */
    void *what;               /* the target's */
    int key;      /* of those with the same one, one is performed at a time; negative: as many as there are threads */
    int priority; /* higher ones go first, where the key is the same */
    bool running;
    struct sigevent event;
    struct pct_batch *batch; /* or NULL */
};

struct pct_pool {
    /* Perform it, on a service thread without the scheduler's knowledge: by wrappers. Returns what done() is to be
     * told. */
    long (*perform)(void *what);
    /* It is done, at a step: say so to the target. */
    void (*done)(void *what, long result);
    int code; /* of the signals that tell: SI_ASYNCIO, SI_ASYNCNL */
    struct pct_request *first;
    unsigned most; /* threads; 0: 20 */
    bool begun;    /* there was a request */
    unsigned threads, idle;
    struct pct_object work;    /* service threads with nothing to do */
    struct pct_object waiters; /* threads of the target that wait for requests */
};

/* A new request, at the end of those of its priority. False: out of memory, or no thread can be made. May pass points;
 * whoever else looks meanwhile finds it there. */
bool pct_request_add(struct pct_shim_thread *self, struct pct_pool *pool, const struct pct_request *request);

/* The request for this, NULL: there is none (any more). */
struct pct_request *pct_request_find(const struct pct_pool *pool, const void *what);

/* Take out one that is not running: its notification, if it is to notify, is the caller's. */
struct pct_request pct_request_remove(struct pct_pool *pool, struct pct_request *request);

/* Notify that this request is done, or not to be done any more; and its batch, if it is the last of it. */
void pct_request_notify(const struct pct_pool *pool, const struct pct_request *request);

/* A batch of this many requests. NULL: out of memory. */
struct pct_batch *pct_batch_new(unsigned count, const struct sigevent *event);

/* The step of a thread that waited for some, and how that ended. */
void pct_request_waited(struct pct_shim_thread *self, enum pct_result result);

/* The step of a thread that looks at a request. busy: nothing had come, it looks again and again, perhaps. */
void pct_request_looked(struct pct_shim_thread *self, bool busy);

/* A fork child has none of the threads. */
void pct_pool_forget(struct pct_pool *pool);
void pct_aio_forget(void);
void pct_gai_forget(void);
void pct_mq_notify_forget(void);

#endif
