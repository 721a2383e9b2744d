/* One virtual time for a family of processes: see family.h.
 *
 * The family's time is the most that any member has come to. A member is `offset` behind it where others went on while it ran, so
 * a sleep takes its length of the family's time, whatever the sleeper's own clock shows. */
#include "family.h"
#include "family_memory.h"
#include "family_name.h"
#include <preload/io/io.h>
#include "relative.h"
#include <preload/signals/signals.h>
#include <preload/core/sys.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { UNKNOWN_ID = -1 };

/* How often to look at relatives that can run, real ns: ever more seldom. */
enum { SHORTEST = 50000, LONGEST = 10000000 };

/* How long one that runs waits, at most, for one whose deadline it has come to; real ns at a time, and how often. */
enum { MOMENT = 10000000, MOMENTS = 100 };

static struct family *family;
static int id;        /* of the shared memory; UNKNOWN_ID: programs that are started cannot find it */
static uint32_t self; /* the own slot; 0: none */
static bool off;      /* each process has its own time: a server with clients */
static bool lost;     /* there may be relatives, but who they are is not known */

uint64_t *pct_family_clock;
/* Of this process, as long as it is idle. */
static struct {
    uint64_t offset;    /* family time less own time */
    uint64_t last;      /* own time at the last end of idleness */
    uint64_t real;      /* when it began, real ns */
    uint64_t looked_at; /* real ns */
    uint64_t elapsed;   /* time that passed for relatives that could run */
    uint64_t slice;
    uint32_t seen;   /* the own word, before it was asked whether something has come */
    uint32_t period; /* counts the times of idleness */
    bool waits;      /* it is idle */
} idle;

/* What is known of each relative since this process is idle. */
static struct known {
    uint32_t period;
    uint32_t pid, turn;  /* at the last look */
    uint32_t asked_turn; /* it was told to ask in this turn of its own; 0: it was not */
    uint32_t asked;      /* the word that it was told by */
    uint64_t told;       /* as it had told */
    uint64_t cpu;        /* CPU time that it had used; 0: not known */
} * known;

static uint64_t started; /* own time at the start of this run */

static struct slot *slot_at(uint32_t i)
{
    return &family->slots[i - 1];
}

/* Returns the new word. */
static uint32_t wake(struct slot *slot)
{
    uint32_t word = __atomic_add_fetch(&slot->word, 1, __ATOMIC_SEQ_CST);
    PCT_SYS3(SYS_futex, &slot->word, 1 /* FUTEX_WAKE */, INT32_MAX);
    return word;
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a < PCT_NEVER - b ? a + b : PCT_NEVER;
}

static bool is_idle(const struct slot *slot)
{
    return __atomic_load_n(&slot->turn, __ATOMIC_SEQ_CST) & 1;
}

static bool exchange(uint64_t *word, uint64_t *was, uint64_t is)
{
    return __atomic_compare_exchange_n(word, was, is, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

/* The clock has come to the deadline of this idle member. wait: until that has seen it, before this process goes on. */
static void meet(struct slot *slot, uint32_t turn, bool wait)
{
    struct timespec moment = { .tv_nsec = MOMENT };
    wake(slot);
    for (int i = 0; wait && !slot->world && i < MOMENTS && __atomic_load_n(&slot->turn, __ATOMIC_SEQ_CST) == turn; i++)
        PCT_SYS4(SYS_futex, &slot->turn, PCT_FUTEX_WAIT_SHARED, turn, &moment);
}

static void meet_all(uint64_t clock, bool wait)
{
    uint64_t before = __atomic_load_n(&family->next, __ATOMIC_SEQ_CST), next;
    do {
        next = PCT_NEVER;
        for (uint32_t i = 1; i <= family->top; i++) {
            struct slot *slot = slot_at(i);
            uint32_t turn = __atomic_load_n(&slot->turn, __ATOMIC_SEQ_CST);
            if (i == self || slot->pid == FREE || !(turn & 1))
                continue;
            if (slot->deadline <= clock)
                meet(slot, turn, wait);
            else if (slot->deadline < next)
                next = slot->deadline;
        }
    } while (!exchange(&family->next, &before, next));
}

/* The family's clock is at least there. */
static uint64_t advance(uint64_t to, bool wait)
{
    uint64_t now = __atomic_load_n(&family->clock, __ATOMIC_SEQ_CST);
    while (now < to && !exchange(&family->clock, &now, to))
        ;
    now = now < to ? to : now;
    if (now >= __atomic_load_n(&family->next, __ATOMIC_SEQ_CST))
        meet_all(now, wait);
    return now;
}

/* --- Slots -------------------------------------------------------------------------------------------------------------- */

static void release(uint32_t i)
{
    __atomic_store_n(&slot_at(i)->pid, FREE, __ATOMIC_SEQ_CST);
}

static bool claim(uint32_t i, uint32_t was, uint32_t pid)
{
    return __atomic_compare_exchange_n(&slot_at(i)->pid, &was, pid, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

static void use(uint32_t i)
{
    uint32_t top = __atomic_load_n(&family->top, __ATOMIC_SEQ_CST);
    while (top < i && !__atomic_compare_exchange_n(&family->top, &top, i, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        ;
}

static bool has_slot(uint32_t pid)
{
    for (uint32_t i = 1; i <= family->top; i++)
        if (slot_at(i)->pid == pid)
            return true;
    return false;
}

static enum pct_relative look_at(uint32_t i, uint32_t pid)
{
    struct slot *slot = slot_at(i);
    uint64_t any = 0;
    if (pid != COMING)
        return pct_relative_look((int)pid, &slot->start);
    /* What system() makes tells its id when its run begins. The kernel knows it before. */
    int children[16], count = pct_relative_children((int)slot->maker, (int)slot->maker_thread, children, 16);
    for (int k = 0; k < count; k++) {
        any = 0;
        enum pct_relative state =
            has_slot((uint32_t)children[k]) ? PCT_RELATIVE_GONE : pct_relative_look(children[k], &any);
        if (state != PCT_RELATIVE_GONE && claim(i, COMING, (uint32_t)children[k]))
            return state;
    }
    any = 0;
    /* Nobody will tell it any more. */
    bool orphan = pct_relative_look((int)slot->maker, &any) == PCT_RELATIVE_GONE;
    return orphan ? PCT_RELATIVE_GONE : PCT_RELATIVE_BUSY;
}

/* A slot for a child of this process; 0: there is none. */
static uint32_t reserve(void)
{
    for (int again = 0; again < 2; again++) {
        for (uint32_t i = 1; i <= SLOTS; i++) {
            struct slot *slot = slot_at(i);
            if (slot->pid != FREE || !claim(i, FREE, COMING))
                continue;
            slot->member = false;
            slot->maker = (uint32_t)pct_shim.pid;
            slot->maker_thread = (uint32_t)pct_engine_tid();
            slot->start = 0;
            slot->began = pct_sched_now(&pct_S);
            slot->turn += slot->turn & 1;
            use(i);
            return i;
        }
        for (uint32_t i = 1; i <= SLOTS; i++) {
            struct slot *slot = slot_at(i);
            uint32_t pid = slot->pid;
            if (look_at(i, pid) == PCT_RELATIVE_GONE)
                claim(i, pid, FREE);
        }
    }
    family->crowded = 1;
    return 0;
}

static void use_memory(long at)
{
    family = (void *)at;
    pct_family_clock = &family->clock;
    if (!known)
        known = pct_host_futex.map((SLOTS + 1) * sizeof *known);
    lost = !known;
}

/* The memory, and the own slot in it. */
static void found(void)
{
    id = UNKNOWN_ID;
    long at = -1;
    if (!pct_shim.confined)
        id = (int)PCT_SYS3(SYS_shmget, IPC_PRIVATE, sizeof *family, 0600);
    if (id >= 0)
        at = PCT_SYS3(SYS_shmat, id, NULL, 0);
    /* It is there as long as somebody uses it, and may be found as long as that. */
    if (id >= 0)
        PCT_SYS3(SYS_shmctl, id, IPC_RMID, NULL);
    if (at < 0 && at > -4096) {
        id = UNKNOWN_ID;
        at = PCT_SYS6(SYS_mmap, 0, sizeof *family, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        pct_say("no shared memory of System V: for programs that this one starts, time passes as in the real world");
    }
    if (at < 0 && at > -4096) {
        lost = true;
        return;
    }
    use_memory(at);
    family->mark = pct_relative_now();
    family->next = PCT_NEVER;
    family->epoch = pct_shim.config.epoch;
    family->pids = pct_shim.confined ? 0 : pct_relative_namespace();
    family->clock = pct_sched_now(&pct_S);
    self = reserve();
    slot_at(self)->member = true;
    slot_at(self)->pid = (uint32_t)pct_shim.pid;
}

uint32_t pct_family_expect(void)
{
    if (!pct_S.step_ns || off)
        return 0;
    if (!family && !lost)
        found();
    if (lost)
        return 0;
    pct_family_tell();
    return reserve();
}

void pct_family_born(uint32_t slot, long pid)
{
    if (!slot || !family)
        return;
    if (pid < 0)
        release(slot);
    else if (pid > 0 && !slot_at(slot)->member)
        __atomic_store_n(&slot_at(slot)->pid, (uint32_t)pid, __ATOMIC_SEQ_CST);
}

/* This process, which has just come to be, or to this program, keeps the family's time from now on. */
static void enter(uint32_t slot)
{
    long pid = PCT_SYS0(SYS_getpid);
    self = 0;
    lost = true;
    idle.waits = false;
    if (!slot || !family || !known)
        return;
    /* Ids of another namespace name others. */
    if (pct_refused(pid) || (family->pids && pct_relative_namespace() != family->pids))
        return;
    uint32_t was = slot_at(slot)->pid;
    if (was == FREE || (was != (uint32_t)pid && slot_at(slot)->member))
        return;
    __atomic_store_n(&slot_at(slot)->pid, (uint32_t)pid, __ATOMIC_SEQ_CST);
    self = slot;
    lost = false;
    __atomic_store_n(&slot_at(slot)->member, true, __ATOMIC_SEQ_CST);
}

void pct_family_forked(uint32_t slot)
{
    if (!family && !lost)
        return;
    if (slot)
        started = slot_at(slot)->began;
    enter(slot);
}

void pct_family_gone(long pid)
{
    for (uint32_t i = 1; family && pid > 0 && i <= family->top; i++)
        if (slot_at(i)->pid == (uint32_t)pid)
            release(i);
}

/* --- Other programs ----------------------------------------------------------------------------------------------------- */

__thread uint32_t pct_family_vforked;

/* Not a child of vfork, nor one that pct does not know, in our memory. */
static bool is_itself(void)
{
    return pct_S.host && !pct_vforking && pct_is_process(pct_shim.pid);
}

uint32_t pct_family_slot(void)
{
    return pct_vforking ? pct_family_vforked : self;
}

size_t pct_family_room(char *const *environment)
{
    if ((!family && !lost) || !environment || (!pct_vforking && !is_itself()))
        return 0;
    return pct_family_name_room(environment);
}

char **pct_family_environment(void *room, char *const *environment, uint32_t slot)
{
    struct pct_family_name name = { 0 };
    if (family && slot && id >= 0)
        name = (struct pct_family_name){ .memory = (uint32_t)id, .slot = slot, .mark = family->mark };
    return pct_family_name_add(room, environment, &name);
}

void pct_family_join(const char *text)
{
    if (!text || pct_shim.config.real_time)
        return;
    if ((off = !strcmp(text, "off")))
        return;
    struct pct_family_name name = pct_family_name_read(text);
    lost = true;
    if (!name.slot || name.slot > SLOTS)
        return;
    long at = PCT_SYS3(SYS_shmat, name.memory, NULL, 0);
    if (at == -EINVAL || at == -EIDRM) {
        lost = false; /* all who knew of it are gone */
        return;
    }
    if (at < 0 && at > -4096) {
        pct_say("the processes that this one descends from cannot be found: its sleeps and timeouts take real time");
        return;
    }
    if (((const struct family *)at)->mark != name.mark) {
        PCT_SYS1(SYS_shmdt, at);
        lost = false;
        return;
    }
    use_memory(at);
    id = (int)name.memory;
    started = slot_at(name.slot)->began;
    enter(name.slot);
}

void pct_family_leaves(void)
{
    if (!family || !self || !is_itself())
        return;
    slot_at(self)->began = pct_sched_now(&pct_S);
    __atomic_store_n(&slot_at(self)->member, false, __ATOMIC_SEQ_CST);
}

void pct_family_stays(void)
{
    if (family && self && is_itself())
        __atomic_store_n(&slot_at(self)->member, true, __ATOMIC_SEQ_CST);
}

uint64_t pct_family_began(void)
{
    return started;
}

uint64_t pct_family_epoch(void)
{
    return family ? family->epoch : 0;
}

/* --- The clock ---------------------------------------------------------------------------------------------------------- */

void pct_family_tell_slow(void)
{
    uint64_t now = later(pct_sched_now(&pct_S), idle.offset);
    if (self)
        __atomic_store_n(&slot_at(self)->told, now, __ATOMIC_RELAXED);
    advance(now, true);
}

bool pct_family_relatives(void)
{
    if (lost)
        return true;
    if (!family)
        return false;
    for (uint32_t i = 1; i <= family->top; i++)
        if (i != self && slot_at(i)->pid != FREE)
            return true;
    return family->crowded;
}

/* Of all that are idle, as their slots say, the one whose turn it is shall look whether that is so. */
static void wake_next(void)
{
    uint32_t next = 0;
    for (uint32_t i = 1; i <= family->top; i++) {
        const struct slot *slot = slot_at(i);
        if (slot->pid == FREE)
            continue;
        if (!slot->member || !is_idle(slot))
            return;
        if (!next || slot->deadline < slot_at(next)->deadline)
            next = i;
    }
    if (next && next != self && slot_at(next)->deadline != PCT_NEVER)
        wake(slot_at(next));
}

static void begin(uint64_t now, uint64_t deadline, bool world)
{
    struct slot *me = slot_at(self);
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
    me->asks = pct_S.can_both || pct_io_must_ask(pct_S.polled);
    idle.seen = __atomic_load_n(&me->word, __ATOMIC_SEQ_CST);
    me->looked = idle.seen - 1;
    __atomic_fetch_add(&me->turn, 1, __ATOMIC_SEQ_CST);
    uint64_t next = __atomic_load_n(&family->next, __ATOMIC_SEQ_CST);
    while (me->deadline < next && !exchange(&family->next, &next, me->deadline))
        ;
    wake_next();
}

/* Whether this idle relative has asked whether something has come, since this process is idle. */
static bool has_asked(uint32_t i)
{
    struct slot *slot = slot_at(i);
    if (!slot->asks)
        return true;
    if (known[i].asked_turn != known[i].turn) {
        known[i].asked_turn = known[i].turn;
        known[i].asked = wake(slot);
    }
    return (int32_t)(__atomic_load_n(&slot->looked, __ATOMIC_SEQ_CST) - known[i].asked) >= 0;
}

/* Whether this relative keeps the clock from going to our deadline. *passed: how much time went by for it since the last look, at most
 * what it is. */
static bool hinders(uint32_t i, uint64_t *passed)
{
    struct slot *slot = slot_at(i);
    struct known *k = &known[i];
    uint64_t mine = slot_at(self)->deadline;
    if (k->period != idle.period)
        *k = (struct known){ .period = idle.period };
    k->pid = __atomic_load_n(&slot->pid, __ATOMIC_SEQ_CST);
    k->turn = __atomic_load_n(&slot->turn, __ATOMIC_SEQ_CST);
    if (i == self || k->pid == FREE)
        return false;
    enum pct_relative state = look_at(i, k->pid);
    if (state == PCT_RELATIVE_STOPPED)
        return false;
    /* Its end may have made others run. */
    if (state == PCT_RELATIVE_GONE)
        return claim(i, k->pid, FREE) || true;
    bool first = slot->deadline < mine || (slot->deadline == mine && i < self);
    if (slot->member && k->turn & 1 && slot->world) {
        /* It waits for the world, whose time passes: for all. */
        advance(later(slot->from, pct_relative_now() - slot->real), false);
    } else if (state == PCT_RELATIVE_SLEEPS && slot->member && k->turn & 1 && !first) {
        return false;
    }
    uint64_t told = __atomic_load_n(&slot->told, __ATOMIC_RELAXED);
    if (told != k->told) {
        /* It makes steps: its own time says how far it has come, however long they take. */
        *passed = 0;
    } else if (state == PCT_RELATIVE_RUNS) {
        /* While it does not get a CPU, no time passes for it. */
        uint64_t cpu = pct_relative_cpu((int)k->pid), ran = cpu - k->cpu;
        k->cpu = cpu;
        *passed = ran < *passed ? ran : *passed;
    }
    k->told = told;
    return true;
}

/* Whether no relative can run, and none has an earlier deadline. *passed: else, how much time went by for all that hinder. */
static bool all_idle(uint64_t *passed)
{
    uint32_t top = __atomic_load_n(&family->top, __ATOMIC_SEQ_CST);
    uint64_t real = pct_host_futex.now();
    bool idles = !family->crowded;
    *passed = real - idle.looked_at;
    idle.looked_at = real;
    for (uint32_t i = 1; i <= top; i++)
        idles &= !hinders(i, passed);
    /* A thread of our own that has a signal to handle, or comes back from outside, has not told yet. */
    if (idles && pct_S.threads > 1 && (pct_S.outside || pct_action_any()))
        idles = pct_relative_others_sleep(pct_shim.pid, pct_engine_tid());
    for (uint32_t i = 1; idles && i <= top; i++)
        if (i != self && known[i].turn & 1 && slot_at(i)->pid == known[i].pid)
            idles = has_asked(i);
    /* Nobody has begun to run meanwhile, and made others do so. */
    for (uint32_t i = 1; idles && i <= top; i++)
        idles = __atomic_load_n(&slot_at(i)->turn, __ATOMIC_SEQ_CST) == known[i].turn;
    return idles && __atomic_load_n(&family->top, __ATOMIC_SEQ_CST) == top;
}

bool pct_family_still(void)
{
    if (!family || lost || family->crowded)
        return false;
    for (uint32_t i = 1; i <= family->top; i++) {
        const struct slot *slot = slot_at(i);
        uint32_t pid = __atomic_load_n(&slot->pid, __ATOMIC_SEQ_CST);
        bool timed = slot->member && __atomic_load_n(&slot->turn, __ATOMIC_SEQ_CST) & 1 && slot->deadline != PCT_NEVER;
        if (i != self && pid != FREE && (timed || look_at(i, pid) > PCT_RELATIVE_SLEEPS))
            return false;
    }
    return true;
}

/* Whether the family's clock may go to our deadline. */
static bool is_due(void)
{
    const struct slot *me = slot_at(self);
    uint64_t passed, world = later(me->from, pct_relative_now() - me->real);
    if (me->world)
        return advance(world < me->deadline ? world : me->deadline, false) >= me->deadline;
    if (__atomic_load_n(&family->clock, __ATOMIC_SEQ_CST) >= me->deadline || all_idle(&passed))
        return true;
    idle.elapsed += passed;
    return idle.elapsed >= me->deadline - me->from || __atomic_load_n(&family->clock, __ATOMIC_SEQ_CST) >= me->deadline;
}

bool pct_family_idle(uint64_t now, uint64_t deadline, bool world, uint64_t *again)
{
    *again = PCT_NEVER;
    if (!idle.waits) {
        idle.waits = true;
        idle.real = idle.looked_at = pct_host_futex.now();
        if (self)
            begin(now, deadline, world);
    } else if (self && slot_at(self)->looked != idle.seen) {
        __atomic_store_n(&slot_at(self)->looked, idle.seen, __ATOMIC_SEQ_CST);
        wake_next();
    }
    if (deadline == PCT_NEVER)
        return false;
    if (lost || pct_shim.confined) {
        /* Nobody tells what relatives do: as in the real world. */
        *again = later(idle.real, deadline - now);
        return pct_host_futex.now() >= *again;
    }
    bool due = is_due();
    uint64_t left = deadline - now;
    *again = pct_host_futex.now() + (left < idle.slice ? left : idle.slice);
    idle.slice += idle.slice < LONGEST ? idle.slice / 4 : 0;
    return due;
}

uint64_t pct_family_busy(uint64_t now)
{
    bool waited = idle.waits;
    if (!family || lost) {
        idle.waits = false;
        return waited ? pct_host_futex.now() - idle.real : 0;
    }
    if (waited) {
        idle.last = now;
        advance(later(now, idle.offset), false);
        idle.waits = false;
        __atomic_fetch_add(&slot_at(self)->turn, 1, __ATOMIC_SEQ_CST);
        PCT_SYS3(SYS_futex, &slot_at(self)->turn, 1 /* FUTEX_WAKE */, INT32_MAX);
    }
    uint64_t clock = __atomic_load_n(&family->clock, __ATOMIC_SEQ_CST), lag = clock > now ? clock - now : 0;
    /* Those that do not keep the family's time took theirs. */
    for (uint32_t i = 1; waited && i <= family->top; i++)
        if (i != self && slot_at(i)->pid != FREE && !slot_at(i)->member) {
            uint64_t real = pct_host_futex.now() - idle.real;
            return real > lag ? real : lag;
        }
    return lag;
}

bool pct_family_sleep(const uint32_t *word, uint32_t value, const struct timespec *left)
{
    if (!idle.waits || !self)
        return false;
    if (__atomic_load_n(word, __ATOMIC_SEQ_CST) == value)
        PCT_SYS4(SYS_futex, &slot_at(self)->word, PCT_FUTEX_WAIT_SHARED, idle.seen, left);
    pct_family_woken();
    return true;
}

void pct_family_woken(void)
{
    if (idle.waits && self)
        idle.seen = __atomic_load_n(&slot_at(self)->word, __ATOMIC_SEQ_CST);
}

void pct_family_nudge(void)
{
    if (idle.waits && self)
        wake(slot_at(self));
}
