/* A thread that computes in calls is led out of them instruction by instruction: each makes a SIGTRAP, whose handler
 * runs on the alternate stack. While it ran, the watchdog asked again, and led the thread on within that handler, with
 * traps in traps until a stack of 8 KiB, the size that Rust gives each thread, was full: 2 of 100 runs crashed on a
 * busy machine, and 3 of 195 of a real program. So the watchdog's signal is blocked in handlers of SIGTRAP, but not in
 * the program's own, which sees nothing of that.
 *     RUN: pct run -q -n 20 -S pct -- %p
 *     RUN: for seed in 1 2 3 4 5 6 7 8 9 10; do PCT_STRATEGY=pct PCT_SEED=$seed LD_PRELOAD=$LIBPCT %p || exit 1; done
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ASKS = 33 };

static uint64_t inside = 1;

/* The kernel's mask of the action; libc has names for neither. */
static uint64_t kernels_mask(void)
{
    struct {
        void *handler, *flags, *restorer;
        uint64_t mask;
    } action = { .mask = 0 };
    syscall(SYS_rt_sigaction, SIGTRAP, NULL, &action, sizeof action.mask);
    return action.mask >> (ASKS - 1) & 1;
}

static void handle(int signal)
{
    (void)signal;
    uint64_t mask = 0;
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &mask, sizeof mask);
    inside = mask >> (ASKS - 1) & 1;
}

static void look(void)
{
    const struct sigaction ours = { .sa_handler = handle }, standard = { .sa_handler = SIG_DFL };
    struct sigaction seen;
    if (!kernels_mask())
        abort();
    sigaction(SIGTRAP, &ours, NULL);
    sigaction(SIGTRAP, NULL, &seen);
    raise(SIGTRAP);
    if (!kernels_mask() || inside || *(uint64_t *)&seen.sa_mask)
        abort();
    sigaction(SIGTRAP, &standard, NULL);
    if (!kernels_mask())
        abort();
}

static void *work(void *unused)
{
    stack_t stack = { .ss_sp = malloc(8192), .ss_size = 8192 };
    char text[64];
    sigaltstack(&stack, NULL);
    for (int i = 0; i < 4000; i++) {
        int file = open("/dev/null", O_RDONLY);
        if (read(file, text, sizeof text))
            abort();
        close(file);
    }
    return unused;
}

int main(void)
{
    pthread_t thread[3];
    look();
    for (int i = 0; i < 3; i++)
        pthread_create(&thread[i], NULL, work, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    return 0;
}
