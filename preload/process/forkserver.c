/* The fork server: the target, loaded, linked and initialised once, makes a copy of itself for each run (`pct run -n`).
 *
 * It stops where a run that was started by exec would do the first thing that the scheduler sees or that differs
 * between runs: at the first call of an intercepted function in a constructor (a lock, a clock, a random number, a
 * descriptor, a file made or removed, a thread, a child), or else before main. What came before depends neither on the
 * seed nor on the time, so a copy does what a process of its own would do: the same schedule, at the same addresses.
 *
 * What would be shared between copies, or is missing in them, is looked at before the first one is made: descriptors
 * that came into being since the start, shared memory, and threads. Then the server says so and ends, and runs are
 * started by exec.
 *
 * The copy is made by a system call, not by libc's fork, whose handlers (pthread_atfork) would run, and which would
 * leave the copy a child of this process. It is one of the `pct` command's, like any other run: so its end, its signals
 * and its process group are awaited in one way only.
 *
 * The run's token and the path of its trace go to the places in the environment where exec would have put them. */
#include "forkserver.h"
#include <common/forkserver.h>
#include <pct/random.h>
#include <preload/core/host.h>
#include <preload/core/kernel.h>
#include <preload/core/known_maps.h>
#include <preload/core/loader.h>
#include <preload/core/maps.h>
#include <preload/core/real.h>
#include <preload/core/request.h>
#include <preload/core/shim.h>
#include <preload/core/sites.h>
#include <preload/core/sys.h>
#include <preload/memory/memory.h>
#include <preload/memory/scope.h>
#include <preload/patch/patch.h>
#include <preload/thread/affinity.h>
#include <preload/thread/keys.h>
#include <preload/watchdog/patience.h>
#include <preload/watchdog/preempt.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

enum { TOKEN, TRACE, KNOWN };
static const char *const names[KNOWN] = { "PCT_TOKEN=", "PCT_TRACE=" };
static const char pad_name[] = PCT_PAD_NAME;

PCT_OF_START static struct {
    int fd;         /* 0: this is no server */
    uint64_t files; /* as by list_files(), at the start */
    char *kept;
    size_t kept_size;
} server;

/* Which descriptors are open now, as a number that differs if they do. 0: /proc does not tell. */
static uint64_t list_files(void)
{
    struct entry {
        uint64_t inode, offset;
        uint16_t size;
        uint8_t type;
        char name[];
    };
    char buffer[2048] __attribute__((aligned(8)));
    uint64_t all = 0;
    long got, folder = PCT_SYS3(SYS_open, "/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (folder < 0)
        return 0;
    while ((got = PCT_SYS3(SYS_getdents64, folder, buffer, sizeof buffer)) > 0)
        for (long at = 0; at < got;) {
            const struct entry *entry = (const void *)(buffer + at);
            long number = 0;
            for (const char *c = entry->name; *c >= '0' && *c <= '9'; c++)
                number = 10 * number + *c - '0';
            if (entry->name[0] != '.' && number != folder)
                all += pct_random((uint64_t)number, 0, 0);
            at += entry->size;
        }
    PCT_SYS1(SYS_close, folder);
    return got ? 0 : all;
}

void pct_forkserver_start(int fd, char **environment)
{
    static const char bind[] = PCT_PAD_BIND;
    for (char **at = environment; *at; at++)
        if (!at[1] && !strncmp(*at, bind, sizeof bind - 1)) {
            memset(*at, '.', sizeof bind - 1);
            memcpy(*at, pad_name, sizeof pad_name - 1);
        }
    server.fd = fd;
    pct_shim.server = true;
    server.files = list_files();
}

PCT_STARTS bool pct_forkserver_is_on(void)
{
    return server.fd;
}

void pct_forkserver_reserve(size_t size)
{
    long at = PCT_SYS6(SYS_mmap, 0, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    server.kept = at < 0 && at > -4096 ? NULL : (char *)at;
    server.kept_size = size;
}

void *pct_forkserver_reserved(size_t size)
{
    if (size != server.kept_size)
        pct_forkserver_reserve(size);
    server.kept_size = 0;
    return server.kept;
}

/* --- The environment ---------------------------------------------------------------------------------------------- */

/* Our variables stand together, in the order in which the command made them: from PCT_TOKEN to the padding, which fills
 * up what the others leave. */
struct region {
    char **first; /* the pointer to PCT_TOKEN; PCT_TRACE is the next */
    char *pad;    /* the string of padding */
    size_t left;  /* dots in it */
};

static bool find_region(struct region *region, char **environment)
{
    char **at = environment;
    while (*at && strncmp(*at, names[TOKEN], strlen(names[TOKEN])))
        at++;
    region->first = at;
    if (!*at || !at[1] || strncmp(at[1], names[TRACE], strlen(names[TRACE])))
        return false;
    for (; at[1]; at++)
        if (at[1] != *at + strlen(*at) + 1)
            return false;
    region->pad = *at;
    region->left = strlen(*at);
    if (strncmp(*at, pad_name, sizeof pad_name - 1))
        return false;
    region->left -= sizeof pad_name - 1;
    return true;
}

/* How much longer the region gets; the padding shrinks by it. */
static long growth(const struct region *region, const char *const *values)
{
    long more = 0;
    for (int i = 0; i < KNOWN; i++)
        more += (long)(strlen(names[i]) + strlen(values[i])) - (long)strlen(region->first[i]);
    return more;
}

/* Wherever a list of the environment points into the region, it shall point to the same string as before. */
static void move_pointers(char **list, const char *from, const char *middle, const char *end, long more, char *trace)
{
    for (; list && *list; list++)
        if (*list > from && *list < middle)
            *list = trace;
        else if (*list >= middle && *list < end)
            *list += more;
}

/* As exec would have laid it out. */
static void write_environment(const struct region *region, char **environment, const char *const *values)
{
    char *from = region->first[TOKEN], *middle = region->first[TRACE] + strlen(region->first[TRACE]) + 1;
    char *end = region->pad + sizeof pad_name + region->left;
    long more = growth(region, values);
    memmove(middle + more, middle, (size_t)(region->pad - middle) + sizeof pad_name - 1);
    char *at = from, *trace = from;
    for (int i = 0; i < KNOWN; i++) {
        trace = at;
        memcpy(at, names[i], strlen(names[i]));
        at += strlen(names[i]);
        memcpy(at, values[i], strlen(values[i]) + 1);
        at += strlen(values[i]) + 1;
    }
    for (char *dot = region->pad + more + sizeof pad_name - 1; dot < region->pad + sizeof pad_name - 1; dot++)
        *dot = '.';
    if (environ != environment)
        move_pointers(environ, from, middle, end, more, trace);
    move_pointers(environment, from, middle, end, more, trace);
}

/* --- Serving ------------------------------------------------------------------------------------------------------ */

/* False: nobody listens any more. */
static bool reply(enum pct_forkserver_state state, int pid)
{
    struct pct_forkserver_reply r = { .version = PCT_FORKSERVER_VERSION, .state = state, .pid = pid };
    return PCT_SYS6(SYS_sendto, server.fd, &r, sizeof r, MSG_NOSIGNAL, NULL, 0) == sizeof r;
}

/* Whether others see what is written somewhere in memory: then each copy would find what those before it have left. Of
 * pct's own, nothing is there yet. */
static bool shares_memory(void)
{
    struct pct_maps maps;
    struct pct_mapping mapping;
    bool found = false;
    if (!pct_maps_open(&maps))
        return true;
    while (!found && pct_maps_next(&maps, &mapping, NULL, 0))
        found = mapping.shared && mapping.writable;
    pct_maps_close(&maps);
    return found;
}

/* Whether copies of this process would do what it would do. */
static enum pct_forkserver_state examine(const struct region *region)
{
    struct stat tasks;
    if (!region->first)
        return PCT_FORKSERVER_ENVIRONMENT;
    if (!pct_shim.libc_tid || !pct_shim.clear_tid)
        return PCT_FORKSERVER_LIBC;
    /* Each directory in it is a link. */
    if (PCT_SYS2(SYS_stat, "/proc/self/task", &tasks) || tasks.st_nlink != 3)
        return PCT_FORKSERVER_THREADS;
    if (!server.files || list_files() != server.files)
        return PCT_FORKSERVER_DESCRIPTORS;
    if (shares_memory())
        return PCT_FORKSERVER_SHARED;
    return PCT_FORKSERVER_READY;
}

/* Wait for the next request. Returns the number of descriptors that came along, or a negative errno. */
static int receive(struct pct_forkserver_request *request, int *files)
{
    const size_t head = offsetof(struct pct_forkserver_request, text);
    int count = pct_request_receive(server.fd, request, sizeof *request, head, files);
    return count >= 0 && request->version != PCT_FORKSERVER_VERSION ? -EPROTO : count;
}

static void end_server(void) __attribute__((noreturn));
static void end_server(void)
{
    PCT_SYS1(SYS_exit_group, 0);
    __builtin_unreachable();
}

/* The next request may be there already. It is for when this run, of which there is a descriptor, is over: the CPU goes
 * from one to the other without the command, which may be far away. */
static void await_run(int run)
{
    struct pollfd files[] = { { .fd = run, .events = POLLIN }, { .fd = server.fd } };
    while (!files[0].revents) {
        long got = PCT_SYS6(SYS_ppoll, files, 2, NULL, NULL, 0, 0);
        if ((got < 0 && got != -EINTR) || files[1].revents)
            end_server();
    }
    PCT_SYS1(SYS_close, run);
}

/* The library's own data, which each run writes: all at once, which takes less time than a page fault for each page. */
static void copy_data(void)
{
    extern char from[] __asm__("__start_pct_start"), to[] __asm__("pct_written") __attribute__((visibility("hidden")));
    uintptr_t begin = (uintptr_t)from & -UINT64_C(4096);
    pct_populate((void *)begin, (uintptr_t)to - begin);
}

/* In the copy: what the launcher does between fork and exec (cli/process/launch.c). */
static void become_run(const struct pct_forkserver_request *request, const int *files, long parent)
{
    copy_data();
    pct_shim.pid = (int)PCT_SYS0(SYS_getpid);
    PCT_SYS2(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
    PCT_SYS2(SYS_setpgid, 0, 0);
    /* It may have ended before it could take this process with it, or have given up waiting. */
    if (PCT_SYS0(SYS_getppid) != parent || (!request->host && !reply(PCT_FORKSERVER_READY, pct_shim.pid)))
        end_server();
    PCT_SYS1(SYS_close, server.fd);
    pct_affinity_go_free();
    pct_sites_want(request->sites);
    if (request->input) {
        PCT_SYS2(SYS_dup2, *files, 0);
        PCT_SYS1(SYS_close, *files++);
    }
    if (request->output) {
        PCT_SYS2(SYS_dup2, *files, 1);
        PCT_SYS2(SYS_dup2, *files, 2);
        PCT_SYS1(SYS_close, *files);
    }
}

/* Whether the environment has room for these values, and not too much. */
static bool fits(const struct region *region, const char *const *values)
{
    long left = (long)region->left - growth(region, values);
    return left >= 0 && left < PCT_PAD_UNIT;
}

static void find_values(const char **values, const char *text)
{
    values[TOKEN] = text;
    values[TRACE] = text + strlen(text) + 1;
}

void pct_forkserver_serve(char **environment)
{
    struct region region = { .first = NULL };
    void *robust = NULL;
    size_t robust_size = 0;
    /* Not on the stack, which the runs have, too: each page that both sides write is copied. */
    struct pct_forkserver_request *request = pct_map(sizeof *request);
    if (!find_region(&region, environment))
        region.first = NULL;
    enum pct_forkserver_state state = examine(&region);
    /* What every run with a second thread would do. */
    pct_real_resolve_all();
    pct_keys_find();
    pct_loader_find();
    pct_preempt_locate();
    pct_libc_minor();
    if (state == PCT_FORKSERVER_READY)
        pct_patch_prepare();
    pct_memory_find_main();
    pct_scope_find_program();
    pct_affinity_wait_there();
    pct_patience_share();
    pct_known_maps_take();
    if (!reply(state, 0) || state != PCT_FORKSERVER_READY || !region.first)
        end_server();
    long parent = PCT_SYS0(SYS_getppid);
    PCT_SYS3(SYS_get_robust_list, 0, &robust, &robust_size);
    for (;;) {
        int run = -1, files[PCT_REQUEST_FILES], count = receive(request, files);
        if (count < 0)
            end_server();
        const char *values[KNOWN];
        int plain = request->input + request->output;
        find_values(values, request->text);
        if (!fits(&region, values) || count != plain + 3 * request->host) {
            reply(PCT_FORKSERVER_FULL, 0);
        } else {
            /* GLIBC: as fork does it, so that libc knows the new thread id. The list of robust mutexes is not
             * inherited. */
            long flags = CLONE_PARENT | CLONE_CHILD_SETTID | SIGCHLD;
            long pid = PCT_SYS6(SYS_clone, flags | (request->followed ? CLONE_PIDFD : 0), 0, &run,
                                (char *)pthread_self() + pct_shim.libc_tid, 0, 0);
            if (!pid) {
                PCT_SYS1(SYS_set_tid_address, (char *)pthread_self() + pct_shim.clear_tid);
                PCT_SYS2(SYS_set_robust_list, robust, robust_size);
                become_run(request, files, parent);
                const struct pct_host_request *later =
                    request->host ? pct_host_begin(files + plain, request->contexts) : NULL;
                if (later) {
                    pct_sites_want(later->sites);
                    find_values(values, later->text);
                    if (!fits(&region, values))
                        pct_host_leave(PCT_HOST_ENVIRONMENT, 0);
                }
                write_environment(&region, environment, values);
                return;
            }
            if (pid < 0)
                reply(PCT_FORKSERVER_FORK, 0);
            else if (request->host) /* nobody awaits its end: what the next copy says must not come before this */
                reply(PCT_FORKSERVER_READY, (int)pid);
        }
        for (int i = 0; i < count; i++)
            PCT_SYS1(SYS_close, files[i]);
        if (run >= 0)
            await_run(run);
    }
}
