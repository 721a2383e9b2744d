/* What orders threads inside libstdc++, which is not compiled for us, where its headers, which are, go on from there: a
 * std::promise or std::packaged_task whose result is ready when its thread has ended. By the library's own names, and
 * as <future>, <condition_variable> and <bits/shared_ptr_base.h> lay its objects out. */
#include "events.h"
#include "next.h"

/* What counts the references to a shared state. */
struct count {
    void (**functions)(struct count *);
    int32_t users, watchers; /* the users together are one watcher */
};
enum { DISPOSE = 2, DESTROY = 3 };

/* std::__future_base::_State_baseV2 */
struct state {
    void **functions;
    void *result;
    uint32_t status;
};

/* std::__future_base::_State_baseV2::_Make_ready, in the list of what a thread does at its end. */
struct make_ready {
    struct make_ready *next;
    void (*run)(void *self);
    struct state *state;
    struct count *count;
};

static void (*run_of_library)(void *self);

static bool add_user(struct count *count)
{
    int32_t users = __atomic_load_n(&count->users, __ATOMIC_RELAXED);
    while (users &&
           !__atomic_compare_exchange_n(&count->users, &users, users + 1, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        ;
    return users;
}

/* Whether this was the last one. With no scheduling point in between. */
static bool leave(int32_t *references)
{
    if (PCT_CALLS_WATCHED)
        pct_memory_order(references, PCT_MEMORY_ACQUIRE | PCT_MEMORY_RELEASE);
    return __atomic_sub_fetch(references, 1, __ATOMIC_ACQ_REL) == 0;
}

/* The thread ends. In the library there is a scheduling point before it gives its reference up: we keep one until it
 * has, so that the last one never goes there. Where all users have gone, it gives up its watcher alone. */
static void run(void *argument)
{
    struct make_ready *const self = argument;
    struct count *const count = self->count;
    const bool uses = count && add_user(count);
    if (PCT_CALLS_WATCHED && uses)
        pct_memory_order(&self->state->status, PCT_MEMORY_RELEASE);
    if (PCT_CALLS_WATCHED && count)
        pct_memory_order(&count->watchers, PCT_MEMORY_ACQUIRE | PCT_MEMORY_RELEASE);
    __atomic_load_n(&run_of_library, __ATOMIC_RELAXED)(self);
    if (!uses || !leave(&count->users))
        return;
    count->functions[DISPOSE](count);
    if (leave(&count->watchers))
        count->functions[DESTROY](count);
}

/* _Make_ready::_M_set() */
PCT_RUNTIME void _ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv(struct make_ready *self);
PCT_RUNTIME void _ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv(struct make_ready *self)
{
    void (*known)(void *) = NULL;
    PCT_NEXT(_ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv, "libstdc++.so.6")(self);
    /* Of a second libstdc++ in the process we know nothing. */
    if (__atomic_compare_exchange_n(&run_of_library, &known, self->run, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
        known == self->run)
        self->run = run;
}
