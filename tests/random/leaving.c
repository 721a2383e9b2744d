/* Events of what ends: objects that are destroyed as soon as that is allowed, cancellation that meets something else,
 * destructors that wait, handlers of the end and of forks, handlers of signals that do not return. */
#include "random.h"
#include <poll.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/wait.h>

/* --- Objects that live for a moment, each in the memory of the one before ---------------------------------------- */

union cell {
    sem_t sem;
    pthread_barrier_t barrier;
    pthread_rwlock_t rwlock;
    pthread_spinlock_t spin;
    struct {
        pthread_mutex_t mutex;
        pthread_cond_t cond;
        bool told;
    };
};

struct moment {
    sem_t held;
    union cell *cell;
};

static void prepare_moment(struct event *event)
{
    struct moment *moment = event->more = malloc(sizeof *moment);
    CHECK(moment);
    moment->cell = malloc(sizeof *moment->cell);
    CHECK(moment->cell);
    CHECK_OK(sem_init(&event->sem, 0, 0));
    CHECK_OK(sem_init(&moment->held, 0, 0));
}

/* The other's lock is given up, and this is its last use: who gets it then may destroy it. */
static void lock_cell(union cell *cell, unsigned what, bool lock)
{
    if (what == 0)
        CHECK_OK(lock ? pthread_mutex_lock(&cell->mutex) : pthread_mutex_unlock(&cell->mutex));
    else if (what == 1)
        CHECK_OK(lock ? pthread_rwlock_wrlock(&cell->rwlock) : pthread_rwlock_unlock(&cell->rwlock));
    else
        CHECK_OK(lock ? pthread_spin_lock(&cell->spin) : pthread_spin_unlock(&cell->spin));
}

static void make_cell_lock(union cell *cell, unsigned what)
{
    if (what == 0)
        CHECK_OK(pthread_mutex_init(&cell->mutex, NULL));
    else if (what == 1)
        CHECK_OK(pthread_rwlock_init(&cell->rwlock, NULL));
    else
        CHECK_OK(pthread_spin_init(&cell->spin, PTHREAD_PROCESS_PRIVATE));
}

static void drop_cell_lock(union cell *cell, unsigned what)
{
    if (what == 0)
        CHECK_OK(pthread_mutex_destroy(&cell->mutex));
    else if (what == 1)
        CHECK_OK(pthread_rwlock_destroy(&cell->rwlock));
    else
        CHECK_OK(pthread_spin_destroy(&cell->spin));
}

static void tell(struct event *event)
{
    CHECK_OK(sem_post(&event->sem));
}

/* Party 0 makes it, waits by it, and destroys it. */
static void own_cell(struct event *event, unsigned kind, union cell *cell)
{
    switch (kind) {
    case 0:
        CHECK_OK(sem_init(&cell->sem, 0, 0));
        tell(event);
        CHECK_OK(RESTARTED(sem_wait(&cell->sem)));
        CHECK_OK(sem_destroy(&cell->sem));
        break;
    case 1:
        CHECK_OK(pthread_barrier_init(&cell->barrier, NULL, 2));
        tell(event);
        pthread_barrier_wait(&cell->barrier);
        CHECK_OK(pthread_barrier_destroy(&cell->barrier));
        break;
    case 2:
        CHECK_OK(pthread_mutex_init(&cell->mutex, NULL));
        CHECK_OK(pthread_cond_init(&cell->cond, NULL));
        CHECK_OK(pthread_mutex_lock(&cell->mutex));
        tell(event);
        while (!cell->told)
            CHECK_OK(pthread_cond_wait(&cell->cond, &cell->mutex));
        CHECK_OK(pthread_mutex_unlock(&cell->mutex));
        CHECK_OK(pthread_cond_destroy(&cell->cond));
        CHECK_OK(pthread_mutex_destroy(&cell->mutex));
        break;
    default:
        make_cell_lock(cell, kind - 3);
        tell(event);
        CHECK_OK(RESTARTED(sem_wait(&((struct moment *)event->more)->held)));
        lock_cell(cell, kind - 3, true);
        lock_cell(cell, kind - 3, false);
        drop_cell_lock(cell, kind - 3);
    }
}

static void use_cell(struct event *event, unsigned kind, union cell *cell, uint64_t *place)
{
    switch (kind) {
    case 0:
        CHECK_OK(sem_post(&cell->sem));
        break;
    case 1:
        pthread_barrier_wait(&cell->barrier);
        break;
    case 2:
        CHECK_OK(pthread_mutex_lock(&cell->mutex));
        cell->told = true;
        CHECK_OK(draw(place, 2) ? pthread_cond_signal(&cell->cond) : pthread_cond_broadcast(&cell->cond));
        CHECK_OK(pthread_mutex_unlock(&cell->mutex));
        break;
    default:
        lock_cell(cell, kind - 3, true);
        CHECK_OK(sem_post(&((struct moment *)event->more)->held));
        doze(place);
        lock_cell(cell, kind - 3, false);
    }
}

static void run_moment(struct event *event, unsigned role, uint64_t *place)
{
    struct moment *moment = event->more;
    uint64_t kinds = event->seed;
    for (unsigned i = 0; i < 2 * event->rounds; i++) {
        unsigned kind = draw(&kinds, 6);
        if (role) {
            CHECK_OK(RESTARTED(sem_wait(&event->sem)));
            doze(place);
            use_cell(event, kind, moment->cell, place);
            continue;
        }
        union cell *cell = moment->cell;
        memset(cell, 0, sizeof *cell);
        own_cell(event, kind, cell);
        memset(cell, 0xa5, sizeof *cell);
        if (draw(place, 2)) {
            free(cell);
            moment->cell = malloc(sizeof *cell);
            CHECK(moment->cell);
        }
    }
}

static void finish_moment(struct event *event)
{
    struct moment *moment = event->more;
    CHECK_OK(sem_destroy(&event->sem));
    CHECK_OK(sem_destroy(&moment->held));
    free(moment->cell);
    free(moment);
}

/* --- Cancellation ------------------------------------------------------------------------------------------------ */

struct helper {
    struct event *event;
    uint64_t place;
    atomic_int cleaned;
};

static void *wait_once(void *argument)
{
    struct helper *helper = argument;
    CHECK(wait_thing(helper->event->thing[0], FOREVER, &helper->place));
    return helper;
}

/* Who is cancelled has not taken what woke it; who has taken it has not been cancelled. */
static void run_cancelled_or_woken(struct event *event, unsigned role, uint64_t *place)
{
    (void)role;
    for (unsigned i = 0; i < event->rounds; i++) {
        struct helper helper = { .event = event, .place = *place };
        pthread_t thread = start_thread(wait_once, &helper);
        bool first = draw(place, 2);
        void *value;
        doze(place);
        if (first)
            CHECK_OK(pthread_cancel(thread));
        wake_thing(event->thing[0], place);
        if (!first) {
            doze(place);
            CHECK_OK(pthread_cancel(thread));
        }
        CHECK_OK(pthread_join(thread, &value));
        CHECK(value == PTHREAD_CANCELED || value == &helper);
        if (value == PTHREAD_CANCELED)
            CHECK(wait_thing(event->thing[0], FOREVER, place));
    }
}

/* What cleans up waits, and takes a lock. */
static void clean_slowly(void *argument)
{
    struct helper *helper = argument;
    struct event *event = helper->event;
    CHECK(wait_thing(event->thing[0], FOREVER, &helper->place));
    CHECK_OK(pthread_mutex_lock(&event->mutex));
    pthread_testcancel();
    doze(&helper->place);
    atomic_fetch_add(&helper->cleaned, 1);
    CHECK_OK(pthread_mutex_unlock(&event->mutex));
}

static void *wait_with_clean_up(void *argument)
{
    struct helper *helper = argument;
    struct pollfd none = { .fd = -1 };
    pthread_cleanup_push(clean_slowly, helper);
    pthread_cleanup_push(clean_slowly, helper);
    while (poll(&none, 1, -1))
        CHECK(again(false));
    pthread_cleanup_pop(0);
    pthread_cleanup_pop(0);
    return NULL;
}

static void run_slow_clean_up(struct event *event, unsigned role, uint64_t *place)
{
    (void)role;
    CHECK_OK(pthread_mutex_init(&event->mutex, NULL));
    for (unsigned i = 0; i < event->rounds; i++) {
        struct helper helper = { .event = event, .place = *place };
        pthread_t thread = start_thread(wait_with_clean_up, &helper);
        void *value;
        CHECK_OK(pthread_cancel(thread));
        for (unsigned j = 0; j < 2; j++) {
            doze(place);
            wake_thing(event->thing[0], place);
        }
        CHECK_OK(pthread_join(thread, &value));
        CHECK(value == PTHREAD_CANCELED);
        CHECK_EQ(atomic_load(&helper.cleaned), 2);
    }
    CHECK_OK(pthread_mutex_destroy(&event->mutex));
}

/* A routine that is cancelled has not been done. */
static struct event *undone;
static __thread bool victim;
static void be_cancelled_once(void)
{
    if (victim) {
        CHECK_OK(sem_post(&undone->sem));
        for (;;)
            pause();
    }
    undone->data[0]++;
    usleep(10);
    undone->data[0]++;
}

static void *begin_once(void *argument)
{
    struct event *event = argument;
    victim = true;
    pthread_once(&event->once, be_cancelled_once);
    return NULL;
}

static void prepare_undone(struct event *event)
{
    undone = event;
    event->once = PTHREAD_ONCE_INIT;
    CHECK_OK(sem_init(&event->sem, 0, 0));
    event->thread[0] = start_thread(begin_once, event);
    CHECK_OK(RESTARTED(sem_wait(&event->sem)));
}

static void run_undone(struct event *event, unsigned role, uint64_t *place)
{
    void *value;
    doze(place);
    if (!role) {
        CHECK_OK(pthread_cancel(event->thread[0]));
        CHECK_OK(pthread_join(event->thread[0], &value));
        CHECK(value == PTHREAD_CANCELED);
    }
    CHECK_OK(pthread_once(&event->once, be_cancelled_once));
    CHECK_EQ(event->data[0], 2);
}

/* --- Destructors that wait, and are called again ----------------------------------------------------------------- */

static void destruct_again(void *argument)
{
    struct helper *helper = argument;
    CHECK(wait_thing(helper->event->thing[0], FOREVER, &helper->place));
    if (atomic_fetch_add(&helper->cleaned, 1) < 2)
        CHECK_OK(pthread_setspecific(helper->event->key, helper));
}

static void *end_slowly(void *argument)
{
    struct helper *helper = argument;
    CHECK_OK(pthread_setspecific(helper->event->key, helper));
    if (helper->place & 1)
        return helper;
    for (;;)
        sleep(1000); /* until it is cancelled */
}

static void run_slow_destructor(struct event *event, unsigned role, uint64_t *place)
{
    (void)role;
    CHECK_OK(pthread_key_create(&event->key, destruct_again));
    for (unsigned i = 0; i < event->rounds; i++) {
        struct helper helper = { .event = event, .place = *place };
        bool cancelled = !(helper.place & 1);
        pthread_t thread = start_thread(end_slowly, &helper);
        if (cancelled)
            CHECK_OK(pthread_cancel(thread)); /* maybe before it has begun */
        for (unsigned j = 0; j < 3; j++) {
            doze(place);
            wake_thing(event->thing[0], place);
        }
        CHECK_OK(pthread_join(thread, NULL));
        CHECK_EQ(atomic_load(&helper.cleaned), 3);
    }
    CHECK_OK(pthread_key_delete(event->key));
}

/* --- The end of the process -------------------------------------------------------------------------------------- */

static struct event *at_end;
static void *end_at_last(void *argument)
{
    struct event *event = argument;
    RESTARTED(sem_wait(&event->sem));
    usleep(30);
    event->data[1] = 1;
    return event;
}

/* Everything else is over: its locks and things are gone. */
static void meet_at_end(void)
{
    CHECK_OK(sem_post(&at_end->sem));
    CHECK_OK(pthread_join(at_end->thread[0], NULL));
    CHECK_EQ(at_end->data[1], 1);
}

static void prepare_end(struct event *event)
{
    at_end = event;
    CHECK_OK(sem_init(&event->sem, 0, 0));
    CHECK_OK(atexit(meet_at_end));
    CHECK_OK(at_quick_exit(meet_at_end));
    event->thread[0] = start_thread(end_at_last, event);
}

static void run_nothing(struct event *event, unsigned role, uint64_t *place)
{
    (void)event, (void)role;
    doze(place);
}

/* --- Handlers of forks ------------------------------------------------------------------------------------------- */

static struct event *forks;
static void before_fork(void)
{
    CHECK_OK(pthread_mutex_lock(&forks->mutex));
    CHECK_EQ(forks->data[0], forks->data[1]);
}

static void behind_fork(void)
{
    CHECK_EQ(forks->data[0], forks->data[1]);
    CHECK_OK(pthread_mutex_unlock(&forks->mutex));
}

static void prepare_forks(struct event *event)
{
    forks = event;
    CHECK_OK(pthread_mutex_init(&event->mutex, NULL));
    CHECK_OK(pthread_atfork(before_fork, behind_fork, behind_fork));
}

/* Some fork, the others work with what the handlers lock. */
static void run_forks(struct event *event, unsigned role, uint64_t *place)
{
    for (unsigned i = 0; i < event->rounds; i++) {
        int status;
        pid_t child = role < 2 ? fork() : -1;
        if (child) {
            CHECK_OK(pthread_mutex_lock(&event->mutex));
            event->data[0]++;
            doze(place);
            event->data[1]++;
            CHECK_OK(pthread_mutex_unlock(&event->mutex));
        } else {
            CHECK_OK(pthread_mutex_lock(&event->mutex));
            CHECK_EQ(event->data[0], event->data[1]);
            CHECK_OK(pthread_mutex_unlock(&event->mutex));
            _exit(17);
        }
        if (role >= 2)
            continue;
        CHECK(child > 0);
        CHECK_EQ(RESTARTED(waitpid(child, &status, 0)), child);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 17);
    }
}

static void finish_forks(struct event *event)
{
    CHECK_EQ(event->data[0], event->rounds * event->parties); /* others may fork still */
    event->result = event->data[0];
}

/* --- Handlers that do not return --------------------------------------------------------------------------------- */

static __thread sigjmp_buf jump;
static void jump_out(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info, (void)context;
    siglongjmp(jump, 1);
}

static void prepare_jumps(struct event *event)
{
    int fd[2];
    CHECK_OK(pipe(fd));
    event->slots[0] = (unsigned)fd[0];
    event->slots[1] = (unsigned)fd[1];
    CHECK_OK(sem_init(&event->sem, 0, 0));
    CHECK_OK(pthread_barrier_init(&event->barrier, NULL, 2));
    install(event, jump_out);
}

/* By calls that a handler may leave. */
static void wait_for_ever(struct event *event, unsigned way)
{
    int fd = (int)event->slots[0];
    struct timespec far = { .tv_sec = FAR };
    struct pollfd one = { .fd = fd, .events = POLLIN };
    sigset_t mask;
    char byte;
    fd_set set;
    CHECK_OK(pthread_sigmask(SIG_SETMASK, NULL, &mask));
    for (;;)
        switch (way) {
        case 0:
            pause();
            break;
        case 1:
            nanosleep(&far, NULL);
            break;
        case 2:
            CHECK(read(fd, &byte, 1) < 0);
            break;
        case 3:
            poll(&one, 1, -1);
            break;
        case 4:
            FD_ZERO(&set);
            FD_SET(fd, &set);
            select(fd + 1, &set, NULL, NULL, NULL);
            break;
        case 5:
            sigsuspend(&mask);
            break;
        case 6:
            clock_nanosleep(CLOCK_MONOTONIC, 0, &far, NULL);
            break;
        }
}

static void run_jumps(struct event *event, unsigned role, uint64_t *place)
{
    event->thread[role] = pthread_self();
    pthread_barrier_wait(&event->barrier);
    for (volatile unsigned i = 0; i < event->rounds; i++) {
        unsigned way = draw(place, 7);
        if (role) {
            if (!sigsetjmp(jump, 1)) {
                CHECK_OK(sem_post(&event->sem));
                let_in(event, SIG_UNBLOCK);
                wait_for_ever(event, way);
            }
        } else {
            CHECK_OK(RESTARTED(sem_wait(&event->sem)));
            doze(place);
            CHECK_OK(way & 1 ? pthread_kill(event->thread[1], event->signal) : kill(getpid(), event->signal));
        }
    }
}

static void finish_jumps(struct event *event)
{
    CHECK_OK(close((int)event->slots[0]));
    CHECK_OK(close((int)event->slots[1]));
    CHECK_OK(sem_destroy(&event->sem));
    CHECK_OK(pthread_barrier_destroy(&event->barrier));
}

const struct pattern leaving_patterns[] = {
    { "objects of a moment", 2, 2, 0, 0, 0, 0, 0, 0, prepare_moment, run_moment, finish_moment },
    { "cancelled or woken", 1, 1, 1, CANCEL | ORDERS, ONCE, 0, 0, 0, NULL, run_cancelled_or_woken, NULL },
    { "slow clean-up", 1, 1, 1, 0, ONCE, 0, 0, 0, NULL, run_slow_clean_up, NULL },
    { "cancelled once", 1, MOST_THREADS, 0, 0, 0, 0, 0, ALONE, prepare_undone, run_undone, NULL },
    { "slow destructor", 1, 1, 1, 0, ONCE, 0, 0, 0, NULL, run_slow_destructor, NULL },
    { "handlers of the end", 1, 1, 0, 0, 0, 0, 0, ALONE, prepare_end, run_nothing, NULL },
    { "handlers of forks", 2, MOST_THREADS, 0, 0, 0, 0, 0, ALONE | FOREIGN, prepare_forks, run_forks, finish_forks },
    { "handler that jumps", 2, 2, 0, 0, 0, 0, 0, NEEDS_HANDLER | NEEDS_SIGNAL, prepare_jumps, run_jumps, finish_jumps },
    { NULL, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL },
};
