/* What is said of hosts: see hosts_print.h. */
#include "hosts_print.h"
#include "hosts.h"
#include "launch.h"
#include <sys/syscall.h>

/* Those that one is most likely to meet. */
static const char *name_of_call(int call)
{
#define CALL(name)                                                                                                     \
    case SYS_##name:                                                                                                   \
        return #name;
    switch (call) {
        CALL(open)
        CALL(openat)
        CALL(close)
        CALL(read)
        CALL(write)
        CALL(lseek)
        CALL(dup2)
        CALL(fcntl)
        CALL(pipe)
        CALL(pipe2)
        CALL(eventfd2)
        CALL(epoll_create1)
        CALL(timerfd_create)
        CALL(memfd_create)
        CALL(socket)
        CALL(socketpair)
        CALL(clone)
        CALL(fork)
        CALL(vfork)
        CALL(execve)
        CALL(kill)
        CALL(tgkill)
        CALL(stat)
        CALL(rt_sigaction)
        CALL(setitimer)
        CALL(timer_create)
        CALL(prctl)
        CALL(chdir)
        CALL(mkdir)
        CALL(unlink)
        CALL(mmap)
        CALL(munmap)
        CALL(mprotect)
        CALL(madvise)
        CALL(shmget)
        CALL(sched_getscheduler)
        CALL(sched_setaffinity)
    default:
        return NULL;
    }
#undef CALL
}

const char *pct_hosts_text(uint32_t reason)
{
    static const char *const texts[] = {
#define TEXT(id, counts, text) text,
        PCT_HOST_REASONS(TEXT)
#undef TEXT
    };
    return texts[reason < PCT_HOST_REASON_COUNT ? reason : PCT_HOST_NONE];
}

void pct_hosts_describe(char *text, size_t size, const struct pct_host_reply *reply)
{
    const char *name = name_of_call(reply->call);
    if (reply->reason == PCT_HOST_CALL && name)
        snprintf(text, size, "%s (%s)", pct_hosts_text(reply->reason), name);
    else if (reply->reason == PCT_HOST_CALL && reply->call >= 0)
        snprintf(text, size, "%s (number %d)", pct_hosts_text(reply->reason), reply->call);
    else
        snprintf(text, size, "%s", pct_hosts_text(reply->reason));
}

/* Why no run was restored. */
static const char *why_none(const struct pct_launch *launch)
{
    const struct pct_hosts *all = &launch->restore;
    if (all->why[0] || all->ended)
        return all->why[0] ? all->why : all->ended_why;
    if (all->others || launch->forks.state == PCT_FORKING_NO)
        return pct_hosts_text(all->others ? all->others_why : PCT_HOST_FORKING);
    return pct_hosts_text(all->failed ? PCT_HOST_FAILED : PCT_HOST_FEW);
}

static const char *plural(uint64_t count)
{
    return count == 1 ? " was" : "s were";
}

void pct_hosts_print(FILE *out, const struct pct_launch *launch)
{
    const struct pct_hosts *all = &launch->restore;
    const unsigned long long restored = all->restored, compared = all->compared, ended = all->ended,
                             others = all->others;
    if (!all->wanted)
        return;
    if (!restored) {
        fprintf(out, "pct: no run was restored: %s\n", why_none(launch));
        return;
    }
    fprintf(out, "pct: %llu run%s restored", restored, plural(restored));
    if (compared)
        fprintf(out, "; %llu of them %s made again, and %s the same", compared, compared == 1 ? "was" : "were",
                compared == 1 ? "was" : "were");
    if (all->branched)
        fprintf(out, "; %llu went on from the middle of an earlier one", (unsigned long long)all->branched);
    fputc('\n', out);
    if (all->why[0])
        fprintf(out, "pct: from then on, runs were forked: %s\n", all->why);
    else if (ended)
        fprintf(out, "pct: after %llu run%s the memory was not put back: %s\n", ended, ended == 1 ? "" : "s",
                all->ended_why);
    if (others)
        fprintf(out, "pct: %llu run%s not restored: %s\n", others, plural(others), pct_hosts_text(all->others_why));
}
