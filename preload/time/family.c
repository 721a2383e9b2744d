/* One virtual time for a family of processes: see family.h.
 *
 * The family's time is the most that any member has come to. A member is `offset` behind it where others went on while
 * it ran, so a sleep takes its length of the family's time, whatever the sleeper's own clock shows. */
#include "family.h"
#include "family_memory.h"
#include "family_name.h"
#include "passed.h"
#include "relative.h"
#include <preload/core/kernel.h>
#include <preload/core/seccomp.h>
#include <preload/core/shim.h>
#include <preload/core/sys.h>
#include <preload/io/io.h>
#include <preload/signals/signals.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { UNKNOWN_ID = -1 };

/* How often to look at relatives that can run, real ns: ever more seldom. */
enum { SHORTEST = 50000, LONGEST = 10000000 };

/* How long one that runs waits, at most, for one whose deadline it has come to; real ns at a time, and how often. And
 * what is less than this, ns, a relative's steps take, and its start. */
enum { MOMENT = 10000000, MOMENTS = 100, BEHIND = 5000000 };

static int id;        /* of the shared memory; UNKNOWN_ID: programs that are started cannot find it */
static uint32_t mine; /* the ticket of the own slot, which stays this process's; 0: none */
static uint32_t self; /* that slot */
static bool lost;     /* there may be relatives, but who they are is not known */

uint64_t *pct_family_clock;
/* Of this process, as long as it is idle. */
static struct {
    uint64_t offset;    /* family time less own time */
    uint64_t counted;   /* up to here the time of relatives that keep none has passed here, too; real ns */
    uint64_t last;      /* own time at the last end of idleness */
    uint64_t real;      /* when it began, real ns */
    uint64_t looked_at; /* real ns */
    uint64_t elapsed;   /* time that passed for relatives that could run */
    uint64_t slice;
    uint32_t seen;   /* the own word, before it was asked whether something has come */
    uint32_t period; /* counts the times of idleness */
    bool waits;      /* it is idle */
} idle;

static uint64_t started;  /* own time at the start of this run */
static uint64_t expected; /* and when a child was about to be made */
static uint64_t epoch;    /* what the process that this one was says of it; 0: nothing */

static uint64_t later(uint64_t a, uint64_t b)
{
    return a < PCT_NEVER - b ? a + b : PCT_NEVER;
}

/* The clock has come to the deadline of this idle member. wait: until that has seen it, before this process goes on.
 * One that gets no CPU has seen nothing yet. */
static void meet(uint32_t i, union pct_who who, uint32_t turn, bool wait)
{
    struct timespec moment = { .tv_nsec = MOMENT };
    struct pct_slot *slot = pct_slot_at(i);
    uint64_t cpu = 0, before;
    pct_slot_wake(slot);
    for (int left = MOMENTS; wait && !slot->world && left;) {
        PCT_SYS4(SYS_futex, &slot->turn, PCT_FUTEX_WAIT_SHARED, turn, &moment);
        if (__atomic_load_n(&slot->turn, __ATOMIC_SEQ_CST) != turn)
            return;
        enum pct_relative state = pct_slot_look(i, who);
        if (state <= PCT_RELATIVE_STOPPED)
            return;
        before = cpu;
        cpu = pct_relative_cpu((int)who.pid);
        left -= state != PCT_RELATIVE_RUNS || cpu != before;
    }
}

static void meet_all(uint64_t clock, bool wait)
{
    uint64_t before = __atomic_load_n(&pct_family_memory->next, __ATOMIC_SEQ_CST), next;
    do {
        next = PCT_NEVER;
        for (uint32_t i = 1; i <= pct_family_memory->top; i++) {
            struct pct_slot *slot = pct_slot_at(i);
            union pct_who who = pct_slot_who(i);
            uint32_t turn = __atomic_load_n(&slot->turn, __ATOMIC_SEQ_CST);
            if (!who.member || !(turn & 1))
                continue;
            if (slot->deadline > clock)
                next = slot->deadline < next ? slot->deadline : next;
            else if (i != self)
                meet(i, who, turn, wait);
        }
    } while (!pct_family_exchange(&pct_family_memory->next, &before, pct_family_count_next(before, next)));
}

/* The family's clock is at least there. */
static uint64_t advance(uint64_t to, bool wait)
{
    uint64_t now = __atomic_load_n(&pct_family_memory->clock, __ATOMIC_SEQ_CST);
    while (now < to && !pct_family_exchange(&pct_family_memory->clock, &now, to))
        ;
    now = now < to ? to : now;
    if (now >= (__atomic_load_n(&pct_family_memory->next, __ATOMIC_SEQ_CST) & ~(uint64_t)PCT_NEXT_COUNT))
        meet_all(now, wait);
    return now;
}

/* --- Its memory --------------------------------------------------------------------------------------------------- */

static void use_memory(long at)
{
    pct_family_memory = (void *)at;
    pct_family_clock = &pct_family_memory->clock;
    if (!pct_known)
        pct_known = pct_map((PCT_SLOTS + 1) * sizeof *pct_known);
    lost = !pct_known;
}

/* This process, which has just come to be, or to this program, keeps the family's time from now on: in this slot, or,
 * where that is another's by now (who made it was killed before it could tell), in one of its own. */
static void enter(uint32_t ticket)
{
    long pid = PCT_SYS0(SYS_getpid);
    mine = self = 0;
    lost = true;
    idle.waits = false;
    if (!ticket || !pct_family_memory || !pct_known)
        return;
    /* Ids of another namespace name others. */
    if (pct_refused(pid) ||
        (pct_family_memory->pids && pct_relative_namespace(PCT_PROCESS_IDS) != pct_family_memory->pids))
        return;
    if (!pct_slot_enter(ticket, (uint32_t)pid)) {
        ticket = pct_slot_reserve((uint32_t)pid, __atomic_load_n(&pct_family_memory->clock, __ATOMIC_SEQ_CST));
        if (!ticket || !pct_slot_enter(ticket, (uint32_t)pid))
            return;
    }
    mine = ticket;
    self = pct_slot_of(ticket);
    started = pct_slot_at(self)->began;
    lost = false;
}

/* The memory, and the own slot in it. */
static void found(void)
{
    id = UNKNOWN_ID;
    long at = -1;
    if (pct_seccomp_may_share())
        id = (int)PCT_SYS3(SYS_shmget, IPC_PRIVATE, sizeof *pct_family_memory, 0600);
    if (id >= 0)
        at = PCT_SYS3(SYS_shmat, id, NULL, 0);
    /* It is there as long as somebody uses it, and may be found as long as that. */
    if (id >= 0)
        PCT_SYS3(SYS_shmctl, id, IPC_RMID, NULL);
    if (at < 0 && at > -4096) {
        id = UNKNOWN_ID;
        at =
            PCT_SYS6(SYS_mmap, 0, sizeof *pct_family_memory, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        pct_say("no System V shared memory: programs that this one starts have real time");
    }
    if (at < 0 && at > -4096) {
        lost = true;
        return;
    }
    use_memory(at);
    pct_family_memory->mark = pct_relative_now();
    pct_family_memory->next = PCT_NEVER;
    pct_family_memory->epoch = pct_shim.config.epoch;
    pct_family_memory->pids = pct_shim.confined ? 0 : pct_relative_namespace(PCT_PROCESS_IDS);
    pct_family_memory->place = pct_shim.confined ? 0 : pct_relative_namespace(PCT_SHARED_IDS);
    pct_family_memory->clock = pct_sched_now(&pct_S);
    enter(pct_slot_reserve((uint32_t)pct_tid(), started)); /* it began before its family */
    if (self)
        pct_family_name_first(pct_slot_at(self));
}

uint32_t pct_family_expect(void)
{
    if (!pct_sched_is_virtual(&pct_S))
        return 0;
    expected = pct_sched_now(&pct_S);
    if (!pct_family_memory && !lost)
        found();
    if (lost)
        return 0;
    pct_family_tell();
    return pct_family_name_child(self, pct_slot_reserve((uint32_t)pct_tid(), pct_sched_now(&pct_S)));
}

void pct_family_born(uint32_t slot, long pid)
{
    if (!slot || !pct_family_memory)
        return;
    if (pid < 0)
        pct_slot_release(slot);
    else if (pid > 0)
        pct_slot_tell(slot, (uint32_t)pid);
}

void pct_family_forked(uint32_t slot)
{
    started = expected; /* also of one that is not to enter its slot */
    if (pct_family_memory || lost)
        enter(slot);
}

void pct_family_gone(long pid)
{
    if (pct_family_memory && pid > 0)
        pct_slot_forget((uint32_t)pid);
}

/* --- Other programs ----------------------------------------------------------------------------------------------- */

__thread uint32_t pct_family_vforked;

void pct_family_take_turns(void)
{
    if (pct_family_memory && mine && !lost)
        pct_turns_begin(mine);
}

bool pct_family_await_turn(void)
{
    return pct_family_memory && mine && !lost && pct_turns_await(mine);
}

bool pct_family_is_itself(void)
{
    return pct_sched_is_on(&pct_S) && !pct_vforking && pct_is_process(pct_shim.pid);
}

uint32_t pct_family_slot(void)
{
    return pct_vforking ? pct_family_vforked : mine;
}

size_t pct_family_room(char *const *environment)
{
    if ((!pct_family_memory && !lost) || !environment || (!pct_vforking && !pct_family_is_itself()))
        return 0;
    return pct_family_name_room(environment);
}

char **pct_family_environment(void *room, char *const *environment, uint32_t slot)
{
    struct pct_family_name name = { .now = pct_vforking ? expected : pct_sched_now(&pct_S),
                                    .epoch = pct_shim.config.epoch };
    if (pct_family_memory && slot && id >= 0) {
        name.memory = (uint32_t)id;
        name.slot = slot;
        name.mark = pct_family_memory->mark;
        name.place = pct_family_memory->place;
    }
    return pct_family_name_add(room, environment, &name);
}

void pct_family_join(const char *text)
{
    if (!text || pct_shim.config.real_time)
        return;
    struct pct_family_name name = pct_family_name_read(text);
    started = name.now;
    epoch = name.epoch;
    lost = true;
    if (!pct_slot_of(name.slot))
        return;
    long at = pct_seccomp_may_share() ? PCT_SYS3(SYS_shmat, name.memory, NULL, 0) : -EPERM;
    bool there = at >= 0 || at <= -4096, its = there && ((const struct pct_family *)at)->mark == name.mark;
    if (!its && (there || at == -EINVAL || at == -EIDRM)) {
        /* All who knew of it are gone; or the id is not of this namespace. */
        lost = name.place && pct_relative_namespace(PCT_SHARED_IDS) != name.place;
        if (there)
            PCT_SYS1(SYS_shmdt, at);
        if (!lost)
            return;
    }
    if (!its) {
        pct_say("the processes that this one descends from cannot be found: its sleeps and timeouts take real time");
        return;
    }
    use_memory(at);
    id = (int)name.memory;
    enter(name.slot);
}

void pct_family_leaves(void)
{
    if (!pct_family_memory || !self || !pct_family_is_itself())
        return;
    pct_slot_at(self)->began = pct_sched_now(&pct_S);
    pct_slot_at(self)->real = pct_relative_now();
    pct_slot_set_member(mine, false);
}

void pct_family_stays(void)
{
    if (pct_family_memory && self && pct_family_is_itself())
        pct_slot_set_member(mine, true);
}

uint64_t pct_family_began(void)
{
    return started;
}

uint64_t pct_family_epoch(void)
{
    return pct_family_memory ? pct_family_memory->epoch : epoch;
}

/* --- The clock ---------------------------------------------------------------------------------------------------- */

void pct_family_tell_slow(void)
{
    uint64_t now = later(pct_sched_now(&pct_S), idle.offset);
    if (self)
        __atomic_store_n(&pct_slot_at(self)->told, now, __ATOMIC_RELAXED);
    advance(now, true);
}

bool pct_family_relatives(void)
{
    if (lost)
        return true;
    if (!pct_family_memory)
        return false;
    for (uint32_t i = 1; i <= pct_family_memory->top; i++)
        if (i != self && !pct_slot_is_free(pct_slot_who(i)))
            return true;
    return pct_family_memory->crowded;
}

bool pct_family_is_last(void)
{
    bool last = !lost && (!pct_family_memory || !pct_family_memory->crowded);
    for (uint32_t i = 1; last && pct_family_memory && i <= pct_family_memory->top; i++) {
        union pct_who who = pct_slot_who(i);
        last = i == self || pct_slot_is_free(who) || pct_slot_look(i, who) == PCT_RELATIVE_GONE;
    }
    return last;
}

static void begin(uint64_t now, uint64_t deadline, bool world)
{
    struct pct_slot *me = pct_slot_at(self);
    idle.elapsed = 0;
    idle.slice = SHORTEST;
    idle.period++;
    if (now != idle.last) {
        idle.offset = advance(later(now, idle.offset), true) - now;
        idle.last = now;
    }
    me->deadline = later(deadline, idle.offset);
    me->from = later(now, idle.offset);
    me->real = pct_relative_now();
    me->world = world;
    me->asks = pct_sched_can_both(&pct_S) || pct_io_must_ask(pct_sched_kernel_waits(&pct_S));
    idle.seen = __atomic_load_n(&me->word, __ATOMIC_SEQ_CST);
    me->looked = idle.seen - 1;
    __atomic_fetch_add(&me->turn, 1, __ATOMIC_SEQ_CST);
    pct_turns_give(mine);
    uint64_t next = __atomic_load_n(&pct_family_memory->next, __ATOMIC_SEQ_CST);
    while (!pct_family_exchange(&pct_family_memory->next, &next,
                                pct_family_count_next(next, me->deadline < next ? me->deadline : next)))
        ;
    pct_slot_wake_next(self);
}

/* Whether this relative keeps the clock from going to our deadline. *passed: how much time went by for it since the
 * last look, at most what it is. */
static bool hinders(uint32_t i, uint64_t *passed)
{
    struct pct_slot *slot = pct_slot_at(i);
    struct pct_known *k = &pct_known[i];
    uint64_t ours = pct_slot_at(self)->deadline, told = __atomic_load_n(&slot->told, __ATOMIC_RELAXED);
    bool idles = k->who.member && k->turn & 1;
    if (i == self || pct_slot_is_free(k->who))
        return false;
    /* Of one that has made steps since the last look the kernel, which is asked thread by thread, can only say that. */
    bool stepped = k->told && told != k->told && !idles;
    enum pct_relative state = stepped ? PCT_RELATIVE_RUNS : pct_slot_look(i, k->who);
    if (state == PCT_RELATIVE_STOPPED)
        return false;
    /* Its end may have made others run. */
    if (state == PCT_RELATIVE_GONE)
        return true;
    /* In a call that pct does not see, for relatives alone. */
    if (state == PCT_RELATIVE_SLEEPS && !idles && k->who.member &&
        pct_relative_awaits_child((int)k->who.pid, pct_slot_has))
        return false;
    bool first = slot->deadline < ours || (slot->deadline == ours && i < self);
    if (idles && slot->world) {
        /* It waits for the world, whose time passes: for all. */
        advance(pct_slot_world_time(slot, k->turn), false);
    } else if (idles && state == PCT_RELATIVE_SLEEPS && !first) {
        return false;
    }
    if (told != k->told || (pct_family_memory->turns == PCT_TURNS_ON && k->who.member && !(idles && slot->world))) {
        /* It makes steps, or waits for its turn: its own time says how far it has come, however long that takes. */
        *passed = 0;
        k->passed.slept = false;
    } else if (state == PCT_RELATIVE_RUNS || (idles && !slot->world && state == PCT_RELATIVE_SLEEPS)) {
        /* One that is idle, and not for the world, goes to its deadline once it has a CPU to look. */
        pct_passed_running(&k->passed, (int)k->who.pid, passed);
    } else if (!idles || !slot->world) {
        pct_passed_sleeping(&k->passed, (int)k->who.pid, idle.slice, passed);
    }
    k->told = told;
    return true;
}

/* Whether this relative, which is idle, certainly sleeps; or has long seemed to, if the kernel does not tell. */
static bool sleeps(uint32_t i, uint64_t *passed)
{
    struct pct_known *k = &pct_known[i];
    if (i == self || pct_slot_is_free(k->who) || pct_relative_sleeps((int)k->who.pid))
        return true;
    if (pct_passed_running(&k->passed, (int)k->who.pid, passed) || !k->awake)
        k->awake = idle.looked_at;
    return idle.looked_at - k->awake >= (uint64_t)MOMENT * MOMENTS;
}

/* Whether no relative can run, and none has an earlier deadline. *passed: else, how much time went by for all that
 * hinder. */
static bool all_idle(uint64_t *passed)
{
    uint32_t top = pct_known_read(idle.period);
    uint64_t real = pct_real_now();
    bool idles = !pct_family_memory->crowded;
    *passed = real - idle.looked_at;
    idle.looked_at = real;
    for (uint32_t i = 1; i <= top; i++)
        idles &= !hinders(i, passed);
    /* A look that was held up (no CPU, a stop) shows what was so at its end: what it took is nobody's sleep. */
    uint64_t after = pct_real_now();
    if (after - real > idle.slice)
        idle.looked_at = after;
    for (uint32_t i = 1; idles && i <= top; i++)
        idles = sleeps(i, passed);
    /* A thread of our own that has a signal to handle, or comes back from outside, has not told yet. */
    if (idles && (pct_sched_threads(&pct_S) > 1 || !pct_self) && (pct_sched_outside(&pct_S) || pct_action_any()))
        idles = pct_relative_others_sleep(pct_shim.pid, pct_any_tid());
    for (uint32_t i = 1; idles && i <= top; i++)
        if (i != self && pct_known[i].turn & 1 && !pct_slot_is_free(pct_known[i].who))
            idles = pct_known_has_asked(i);
    return idles && pct_known_is_still(top);
}

bool pct_family_still(void)
{
    if (!pct_family_memory || lost || pct_family_memory->crowded)
        return false;
    uint32_t top = pct_known_read(idle.period);
    for (uint32_t i = 1; i <= top; i++) {
        union pct_who who = pct_known[i].who;
        bool timed = who.member && pct_known[i].turn & 1 && pct_slot_at(i)->deadline != PCT_NEVER;
        if (i != self && !pct_slot_is_free(who) && (timed || pct_slot_look(i, who) > PCT_RELATIVE_SLEEPS))
            return false;
    }
    return pct_known_is_still(top);
}

bool pct_family_stuck(bool strangers)
{
    if (!pct_family_memory || !self || lost)
        return true;
    if (pct_family_memory->crowded && !strangers)
        return false;
    uint32_t top = pct_known_read(idle.period);
    for (uint32_t i = 1; i <= top; i++) {
        const struct pct_known *k = &pct_known[i];
        if (i == self || pct_slot_is_free(k->who))
            continue;
        enum pct_relative state = pct_slot_look(i, k->who);
        bool idles = k->who.member && k->turn & 1 && pct_slot_at(i)->deadline == PCT_NEVER;
        if (state == PCT_RELATIVE_STOPPED || (strangers && !k->who.member && state == PCT_RELATIVE_SLEEPS))
            continue;
        /* The end of one may have made others run. */
        if (!idles || state != PCT_RELATIVE_SLEEPS || !pct_relative_sleeps((int)k->who.pid) || !pct_known_has_asked(i))
            return false;
    }
    return pct_known_is_still(top);
}

void pct_family_ask_anew(void)
{
    idle.period++;
}

/* Whether the family's clock may go to our deadline. */
static bool is_due(void)
{
    const struct pct_slot *me = pct_slot_at(self);
    uint64_t passed, world = later(me->from, pct_relative_now() - me->real);
    if (me->world)
        return advance(world < me->deadline ? world : me->deadline, false) >= me->deadline;
    if (__atomic_load_n(&pct_family_memory->clock, __ATOMIC_SEQ_CST) >= me->deadline || all_idle(&passed))
        return true;
    uint64_t clock = __atomic_load_n(&pct_family_memory->clock, __ATOMIC_SEQ_CST);
    idle.elapsed += passed;
    idle.elapsed = me->from + idle.elapsed < clock ? clock - me->from : idle.elapsed;
    uint64_t next = __atomic_load_n(&pct_family_memory->next, __ATOMIC_SEQ_CST) & ~(uint64_t)PCT_NEXT_COUNT;
    if (idle.elapsed < me->deadline - me->from)
        return __atomic_load_n(&pct_family_memory->clock, __ATOMIC_SEQ_CST) >= me->deadline;
    if (next >= (me->deadline & ~(uint64_t)PCT_NEXT_COUNT))
        return true;
    /* So much has passed also for those with earlier deadlines, who go first. */
    advance(later(next, PCT_NEXT_COUNT), true);
    idle.slice = SHORTEST;
    return false;
}

bool pct_family_idle(uint64_t now, uint64_t deadline, bool world, uint64_t *again)
{
    *again = PCT_NEVER;
    if (!idle.waits) {
        idle.waits = true;
        idle.real = idle.looked_at = pct_real_now();
        if (self)
            begin(now, deadline, world);
    } else if (self && pct_slot_at(self)->looked != idle.seen) {
        __atomic_store_n(&pct_slot_at(self)->looked, idle.seen, __ATOMIC_SEQ_CST);
        pct_slot_wake_next(self);
    }
    if (deadline == PCT_NEVER)
        return false;
    if (lost || pct_shim.confined) {
        /* Nobody tells what relatives do: as in the real world. */
        *again = later(idle.real, deadline - now);
        return pct_real_now() >= *again;
    }
    bool due = is_due();
    uint64_t left = deadline - now;
    *again = pct_real_now() + (left < idle.slice ? left : idle.slice);
    idle.slice += idle.slice < LONGEST ? idle.slice / 4 : 0;
    return due;
}

/* Those that do not keep the family's time took theirs: since this was last asked, also while this process could run,
 * but had no CPU. Only what passed while it was idle comes to a deadline of its own. */
static uint64_t strangers_took(uint64_t now, bool idled)
{
    uint64_t real = pct_relative_now(), took = 0, least = idled ? real - pct_slot_at(self)->real : 0;
    uint64_t deadline = pct_sched_timers(&pct_S) ? later(pct_sched_timer(&pct_S, 0)->deadline, idle.offset) : PCT_NEVER;
    for (uint32_t i = 1; i <= pct_family_memory->top; i++)
        took = i == self ? took : pct_slot_took(i, real, idle.counted, took);
    idle.counted = real;
    pct_slot_note_strangers();
    uint64_t most = deadline > now ? deadline - now - 1 : 0;
    most = most > least ? most : least;
    took = took < most ? took : most;
    return took ? pct_slot_before_deadlines(self, now, took) : 0;
}

/* Those that take turns are not: nobody else goes on while one computes. */
bool pct_family_behind(void)
{
    if (!pct_family_memory || lost || pct_family_memory->turns == PCT_TURNS_ON)
        return false;
    uint64_t clock = __atomic_load_n(&pct_family_memory->clock, __ATOMIC_SEQ_CST);
    return clock > later(later(pct_sched_now(&pct_S), idle.offset), BEHIND) ||
           pct_slot_owes(self, idle.counted, BEHIND);
}

uint64_t pct_family_busy(uint64_t now)
{
    bool waited = idle.waits;
    if (!pct_family_memory || lost) {
        idle.waits = false;
        return waited ? pct_real_now() - idle.real : 0;
    }
    if (waited) {
        idle.last = now;
        advance(later(now, idle.offset), false);
        idle.waits = false;
        __atomic_fetch_add(&pct_slot_at(self)->turn, 1, __ATOMIC_SEQ_CST);
        PCT_SYS3(SYS_futex, &pct_slot_at(self)->turn, 1 /* FUTEX_WAKE */, INT32_MAX);
    }
    /* Its own time comes up to the family's. But those that wait for a time of their own shall not find that nearer: in
     * their eyes it is `offset` behind, and stays so. */
    uint64_t clock = __atomic_load_n(&pct_family_memory->clock, __ATOMIC_SEQ_CST);
    uint64_t ours = later(now, pct_sched_timers(&pct_S) ? idle.offset : 0), lag = clock > ours ? clock - ours : 0;
    uint64_t took = waited || pct_family_memory->turns != PCT_TURNS_ON ? strangers_took(ours, waited) : 0;
    return took > lag ? took : lag;
}

void pct_family_caught_up(uint64_t by)
{
    if (!pct_sched_timers(&pct_S))
        idle.offset -= by < idle.offset ? by : idle.offset;
}

bool pct_family_sleep(const uint32_t *word, uint32_t value, const struct timespec *left)
{
    if (!idle.waits || !self)
        return false;
    if (__atomic_load_n(word, __ATOMIC_SEQ_CST) == value)
        PCT_SYS4(SYS_futex, &pct_slot_at(self)->word, PCT_FUTEX_WAIT_SHARED, idle.seen, left);
    pct_family_woken();
    return true;
}

void pct_family_woken(void)
{
    if (idle.waits && self)
        idle.seen = __atomic_load_n(&pct_slot_at(self)->word, __ATOMIC_SEQ_CST);
}

void pct_family_nudge(void)
{
    if (idle.waits && self)
        pct_slot_wake(pct_slot_at(self));
}
