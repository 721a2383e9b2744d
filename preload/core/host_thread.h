/* What a host knows of kernel threads that it keeps, and of contexts: host_threads.c, host_contexts.c. */
#ifndef PCT_PRELOAD_HOST_THREAD_H
#define PCT_PRELOAD_HOST_THREAD_H

#include "host_threads.h"
#include <stddef.h>

enum {
    MOST = 256,
    STACK = 8 << 10,
    VECTORS = 2752,       /* what XSAVE writes of these: */
    VECTORS_MASK = 0x2e7, /* x87, SSE, AVX, AVX-512, protection keys */
    MASK = 8
};

/* LEAVES: it is gone for the run, and not parked yet. */
enum state { RUNS, LEAVES, PARKED, ENDED };

struct registers {
    uint64_t rbx, rbp, r12, r13, r14, r15, rsp, rdi, rsi, rdx, r8, r9, r10;
};

/* What the assembly in host_threads.c knows has numbers. */
enum {
    AT_REGISTERS = 8,
    AT_VECTORS = 192,
    AT_STACK = 2944,
    AT_THREADS = 11136,
    AT_TID = 112,
    AT_FS = 128,
    AT_GS = 136,
    AT_WHOLE = 160,
    AT_CONTEXTS = 132,
    AT_CURRENT = 136,
    SIZE = 11392
};

/* A kernel thread that is kept; or a context. */
struct thread {
    uint64_t rip; /* where it goes on */
    struct registers registers;
    int32_t tid; /* 0: there is none, nor, of kernel threads, behind it */
    uint32_t state;
    uint32_t taken; /* a futex: it goes on */
    uint32_t fresh; /* a context that has not run yet */
    uint64_t fs, gs;
    int32_t *cleared;
    uint64_t mask;        /* of signals, while a context waits, */
    uint32_t whole;       /* and whether its vectors are in use; otherwise: */
    uint32_t mxcsr, keys; /* of protection */
    uint32_t padding[5];
    char vectors[VECTORS] __attribute__((aligned(64)));
    char stack[STACK] __attribute__((aligned(64)));
    uint64_t run; /* the last one that had it */
    uint64_t probe[4] __attribute__((aligned(32)));
    long cpus_size;
    unsigned long cpus[1024 / (8 * sizeof(unsigned long))];
} __attribute__((aligned(64)));

/* Shared, so that it is not put back itself. */
struct threads {
    uint32_t busy; /* a creator is here */
    uint32_t usable;
    struct registers registers; /* the creator's */
    uint64_t run;
    uint64_t rseq_offset;
    uint32_t rseq_size;     /* as it was registered; 0: not by libc */
    uint32_t contexts;      /* threads are contexts */
    struct thread *current; /* the context that runs */
    struct thread *ready;   /* the one that goes on when this one waits; NULL: none */
    void **coming;          /* what wants to know the context that is made next; NULL: nobody */
    uint64_t robust;        /* where main's list of robust mutexes is, from its thread pointer */
    char *rseq_at;          /* the area that the kernel knows */
    uint32_t made;          /* contexts in this run */
    uint32_t padding;
    char vectors[VECTORS] __attribute__((aligned(64)));
    char stack[STACK] __attribute__((aligned(64)));
    struct thread thread[MOST];
    struct thread main;
    struct guard {
        uint32_t phase; /* of the run */
        int32_t tid;    /* 0: there is none */
        uint32_t never; /* a futex */
        int state;      /* the file that tells whether main sleeps */
        char stack[STACK] __attribute__((aligned(64)));
    } guard;
};

/* For the assembly, too. All are set before the memory is kept. */
extern struct threads *pct_host_threads __attribute__((visibility("hidden")));
extern uint32_t pct_host_threads_mask __attribute__((visibility("hidden")));
extern bool pct_host_threads_light __attribute__((visibility("hidden")));   /* XGETBV tells what is in use */
extern uint64_t pct_host_clone_after __attribute__((visibility("hidden"))); /* libc's code behind its system call */

/* Save the registers of `from`, and go on as `to`; or only that. */
void pct_host_context_switch(struct thread *from, struct thread *to);
void pct_host_context_go(struct thread *to) __attribute__((noreturn));

/* By the creator, whether what it asks the kernel for is a thread as pthread_create() makes them; and
 * whether it blocks all signals. */
bool pct_host_thread_is_plain(const struct registers *r);
bool pct_host_thread_blocks_all(void);

/* rseq(), with the signature that libc uses. */
long pct_host_thread_rseq(const void *area, uint32_t size, int flags);
enum { PCT_RSEQ_UNREGISTER = 1 };

/* host_contexts.c: by the creator, in place of clone3(). Returns its number, or ends the process. */
int pct_host_context_make(struct threads *all);

/* Whether the threads of this host can be contexts: by the only thread, before the memory is kept. */
bool pct_host_contexts_prepare(struct threads *all);

#endif
