/* A thread that polls, by sleeps of a few microseconds, while all others sleep: the kernel was asked at each for
 * threads that pct does not know, which took three times what else a poll does. A tracer counts the questions.
 *
 * RUN: %p $LIBPCT
 */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { POLL_NS = 10000, POLLS = 1000 };

static atomic_int over;

static void *poll_and_sleep(void *unused)
{
    const struct timespec moment = { .tv_nsec = POLL_NS };
    while (!atomic_load(&over))
        nanosleep(&moment, NULL);
    return unused;
}

static void poll_for_long(void)
{
    const struct timespec time = { .tv_nsec = POLLS * POLL_NS };
    pthread_t thread;
    assert(!pthread_create(&thread, NULL, poll_and_sleep, NULL));
    assert(!nanosleep(&time, NULL));
    atomic_store(&over, 1);
    assert(!pthread_join(thread, NULL));
}

/* How often this process and its threads ask for a file's status until they have ended. */
static unsigned count_questions(pid_t process)
{
    const long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL;
    unsigned questions = 0;
    int status;
    pid_t tid;
    assert(waitpid(process, &status, 0) == process && WIFSTOPPED(status));
    assert(!ptrace(PTRACE_SETOPTIONS, process, NULL, (void *)options));
    assert(!ptrace(PTRACE_SYSCALL, process, NULL, NULL));
    while ((tid = waitpid(-1, &status, __WALL)) > 0) {
        if (tid == process && (WIFEXITED(status) || WIFSIGNALED(status)))
            assert(WIFEXITED(status) && !WEXITSTATUS(status));
        if (!WIFSTOPPED(status))
            continue;
        struct __ptrace_syscall_info call;
        long signal = WSTOPSIG(status);
        if (signal == (SIGTRAP | 0x80)) {
            assert(ptrace(PTRACE_GET_SYSCALL_INFO, tid, sizeof call, &call) > 0);
            questions += call.op == PTRACE_SYSCALL_INFO_ENTRY && call.entry.nr == SYS_stat;
        }
        if (signal == (SIGTRAP | 0x80) || signal == SIGTRAP || signal == SIGSTOP)
            signal = 0;
        ptrace(PTRACE_SYSCALL, tid, NULL, (void *)signal); /* it may have been killed meanwhile */
    }
    return questions;
}

int main(int argc, char **argv)
{
    if (argc == 1) {
        poll_for_long();
        return 0;
    }
    pid_t process = fork();
    assert(process >= 0);
    if (!process) {
        setenv("LD_PRELOAD", argv[1], 1);
        setenv("PCT_SEED", "1", 1);
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        execl(argv[0], argv[0], NULL);
        _exit(1);
    }
    assert(count_questions(process) < POLLS / 2);
    return 0;
}
