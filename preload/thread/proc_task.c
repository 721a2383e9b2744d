/* Reading /proc/self/task/TID: see proc_task.h. */
#include "proc_task.h"
#include <preload/core/sys.h>
#include <common/text.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/sched.h>

/* Read TID/name into text, which gets an end. False: not there. */
static bool read_file(int folder, int32_t tid, const char *name, char *text, size_t size)
{
    char path[64];
    struct pct_text builder;
    pct_text_init(&builder, path, sizeof path);
    pct_text_add_u64(&builder, (uint64_t)tid);
    pct_text_add(&builder, name);
    long fd = PCT_SYS3(SYS_openat, folder, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    long got = PCT_SYS3(SYS_read, fd, text, size - 1);
    PCT_SYS1(SYS_close, fd);
    text[got > 0 ? got : 0] = 0;
    return got > 0;
}

static uint64_t digit(char c)
{
    return c >= '0' && c <= '9' ? (uint64_t)(c - '0') : c >= 'a' && c <= 'f' ? (uint64_t)(c - 'a' + 10) : 16;
}

static uint64_t number(const char **at, uint64_t base)
{
    uint64_t value = 0;
    for (; digit(**at) < base; ++*at)
        value = value * base + digit(**at);
    return value;
}

/* The value behind `label` at the start of a line, NULL if there is no such line. */
static const char *field(const char *text, const char *label)
{
    for (const char *line = text; *line;) {
        size_t i = 0;
        while (label[i] && line[i] == label[i])
            i++;
        if (!label[i]) {
            for (line += i; *line == ' ' || *line == '\t';)
                line++;
            return line;
        }
        while (*line && *line++ != '\n')
            ;
    }
    return NULL;
}

bool pct_task_read(int folder, int32_t tid, struct pct_task *task, char text[PCT_TASK_TEXT])
{
    if (!read_file(folder, tid, "/status", text, PCT_TASK_TEXT))
        return false;
    const char *state = field(text, "State:"), *blocked = field(text, "SigBlk:"),
               *sleeps = field(text, "voluntary_ctxt_switches:");
    if (!state || !blocked || !sleeps)
        return false;
    task->state = *state;
    task->blocked = number(&blocked, 16);
    task->sleeps = number(&sleeps, 10);
    return true;
}

bool pct_task_read_call(int folder, int32_t tid, struct pct_task_call *call)
{
    char text[256];
    /* "running", "-1 SP PC" outside of a system call, or NUMBER six arguments SP PC. */
    if (!read_file(folder, tid, "/syscall", text, sizeof text) || (digit(*text) > 9 && *text != '-'))
        return false;
    bool outside = *text == '-';
    const char *at = text + outside;
    call->number = (long)number(&at, 10);
    uintptr_t value[8] = { 0 };
    if (outside)
        call->number = PCT_TASK_NO_CALL;
    for (int i = outside ? 6 : 0; i < 8 && at[0] == ' ' && at[1] == '0' && at[2] == 'x'; i++) {
        at += 3;
        value[i] = number(&at, 16);
    }
    __builtin_memcpy(call->arguments, value, sizeof call->arguments);
    call->sp = value[6];
    call->pc = value[7];
    return call->pc;
}

bool pct_task_call_is_kin(const struct pct_task_call *call)
{
    int op = (int)call->arguments[1], command = op & FUTEX_CMD_MASK;
    bool waits = command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET || command == FUTEX_LOCK_PI;
    return call->number == SYS_wait4 || call->number == SYS_waitid ||
           (call->number == SYS_futex && waits && op & FUTEX_PRIVATE_FLAG && !call->arguments[3]);
}

static bool is_real_time(long policy)
{
    policy &= ~SCHED_RESET_ON_FORK;
    return policy == SCHED_FIFO || policy == SCHED_RR || policy == SCHED_DEADLINE;
}

bool pct_task_asked_is_real_time(int32_t tid)
{
    long policy = PCT_SYS1(SYS_sched_getscheduler, tid);
    return policy >= 0 && is_real_time(policy);
}

/* A field of proc_pid_stat(5), from STATE on: the name in front of that may have anything in it. */
enum { STATE = 3, FLAGS = 9, POLICY = 41, EXIT_CODE = 52, STAT_SIZE = 1024 };
static const char *stat_field(const char *text, int field)
{
    const char *at = text, *name_end = text;
    for (; *at; at++)
        if (*at == ')')
            name_end = at;
    int fields = STATE - 1;
    for (at = name_end; *at && fields < field; at++)
        fields += *at == ' ';
    return at;
}

bool pct_task_read_flags(int folder, int32_t tid, char *state, uint64_t *flags)
{
    char text[STAT_SIZE];
    if (!read_file(folder, tid, "/stat", text, sizeof text))
        return false;
    const char *at = stat_field(text, FLAGS);
    *state = *stat_field(text, STATE);
    *flags = number(&at, 10);
    return true;
}

int pct_task_status(int folder, int32_t tid)
{
    char text[STAT_SIZE];
    if (!read_file(folder, tid, "/stat", text, sizeof text))
        return 0;
    const char *at = stat_field(text, EXIT_CODE);
    return (int)number(&at, 10) >> 8;
}

bool pct_task_is_real_time(int folder, int32_t tid)
{
    char text[STAT_SIZE];
    if (!read_file(folder, tid, "/stat", text, sizeof text))
        return false;
    const char *at = stat_field(text, POLICY);
    return is_real_time((long)number(&at, 10));
}

size_t pct_task_children(int32_t tid, int32_t *children, size_t most)
{
    char text[512];
    size_t count = 0;
    const long folder = PCT_SYS3(SYS_open, "/proc/self/task", O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
    const bool there = folder >= 0 && read_file((int)folder, tid, "/children", text, sizeof text);
    PCT_SYS1(SYS_close, folder);
    for (const char *at = text; there && digit(*at) < 10 && count < most; at += *at == ' ')
        children[count++] = (int32_t)number(&at, 10);
    return count;
}

uint64_t pct_task_cpu(int32_t tid)
{
    struct timespec time;
    /* The CPU clock of a thread: linux/posix-timers.h. */
    if (PCT_SYS2(SYS_clock_gettime, (long)(~(uint32_t)tid << 3 | 6), &time))
        return 0;
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}
