/* The end of the process. exit, also by return from main, first passes the point of the final wait (PCT, section 4.2):
 * the others run until they block, so that what they still do with the things that exit takes away shows. Behind the
 * handlers of exit and all destructors there is another point: what they have torn down, others may still use until the
 * process is gone. Which of the two is the final wait is drawn (common/end.h). */
#include "exit.h"
#include "forkserver.h"
#include <common/text.h>
#include <preload/core/host.h>
#include <preload/core/pass.h>
#include <preload/core/real.h>
#include <preload/core/sys.h>
#include <preload/run/end.h>
#include <preload/run/start.h>
#include <preload/signals/signals.h>
#include <stdlib.h>

PCT_OF_START static int (*target_main)(int, char **, char **);

/* A child between vfork and exec runs in our memory, and must not end our run; nor may one made by a raw clone. Where
 * the run has been left, nobody may be asked anything. */
PCT_STARTS static bool is_over(void)
{
    return pct_shim.left || pct_vforking || !pct_is_process(pct_shim.pid);
}

/* As whoever waits for the process sees it. */
PCT_STARTS static void keep_status(int status)
{
    pct_shim.header->exit_status = status & 0xff;
}

void pct_exit_point(struct pct_shim_thread *self, int status)
{
    keep_status(status);
    self->ends_with = (status & 0xff) + 1;
    pct_sched_exit(&pct_S, &self->core);
    pct_done(self, PCT_OP_EXIT, 0, NULL);
}

/* The lists of handlers that libc has. */
enum list { LIST_EXIT, LIST_QUICK };

static void end_behind_list(enum list list);

/* status: what libc's exit was called with, also by libc itself (error(), err()); NULL: it does not say. */
PCT_STARTS static void end_behind(enum list list, const int *status)
{
    static PCT_OF_RUN bool over;
    if (!pct_shim.header || is_over() || over)
        return;
    struct pct_shim_thread *self = pct_shim.config.end && !pct_sched_alone(&pct_S) ? pct_enter() : NULL;
    if (self) {
        /* GLIBC: until 2.40, threads that call exit() at the same time share out what is in its list, and whoever finds
         * it empty ends the process: it must never be. */
        end_behind_list(list);
        pct_sched_end(&pct_S, &self->core);
        pct_done(self, PCT_OP_EXIT_NOW, 0, NULL);
    }
    if (status)
        keep_status(*status);
    else if (pct_self && pct_self->ends_with) /* another one may have called exit() since */
        keep_status(pct_self->ends_with - 1);
    over = true;
    pct_end_normal();
    pct_host_over(true);
}

PCT_STARTS static void end_behind_exit(int status, void *unused)
{
    (void)unused;
    end_behind(LIST_EXIT, &status);
}

PCT_STARTS static void end_behind_quick(void *unused)
{
    (void)unused;
    end_behind(LIST_QUICK, NULL);
}

/* Behind all of the list that are registered later. */
PCT_STARTS static void end_behind_list(enum list list)
{
    if (list == LIST_EXIT)
        on_exit(end_behind_exit, NULL);
    else
        __cxa_at_quick_exit(end_behind_quick, NULL);
}

/* What exit, or quick_exit, does before it is the real one. */
PCT_STARTS static void pass_exit(int status)
{
    if (is_over())
        return;
    if (pct_shim.pending) {
        /* Nobody to wait for. Should a handler of atexit call what begins the run, it begins with this. */
        pct_shim.exited = true;
        pct_shim.exit_status = status;
        return;
    }
    struct pct_shim_thread *self = pct_enter();
    if (self) {
        pct_exit_point(self, status);
    } else if (pct_shim.header) {
        keep_status(status);
        pct_passed(PCT_OP_EXIT, PCT_CLASS_NONE, NULL);
    }
}

PCT_STARTS static int run_main(int argc, char **argv, char **envp)
{
    if (pct_shim.pending && pct_forkserver_is_on())
        pct_enter_first();
    int status = target_main(argc, argv, envp);
    pass_exit(status);
    return status; /* to libc, which calls its exit */
}

PCT_STARTS PCT_EXPORT int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv,
                                            void (*init)(void), void (*fini)(void), void (*rtld_fini)(void),
                                            void *stack_end)
{
    target_main = main;
    const __typeof__(&__libc_start_main) real = pct_real_start_main();
    return real(run_main, argc, argv, init, fini, rtld_fini, stack_end);
}

PCT_EXPORT void exit(int status)
{
    pass_exit(status);
    REAL(exit)(status); /* ends in end() (start.c), after all destructors */
    __builtin_unreachable();
}

/* The common part of those that end it at once. */
static void end_now(int status)
{
    struct pct_shim_thread *self = pct_shim.left ? NULL : pct_enter();
    if (!pct_sched_is_on(&pct_S) || is_over())
        return;
    if (self) {
        pct_here(self, PCT_OP_EXIT_NOW);
        pct_done(self, PCT_OP_EXIT_NOW, 0, NULL);
    } else {
        pct_passed(PCT_OP_EXIT_NOW, PCT_CLASS_NONE, NULL);
    }
    keep_status(status);
}

PCT_EXPORT void _exit(int status)
{
    end_now(status);
    if (!is_over()) {
        pct_end_normal();
        pct_host_over(false);
    }
    REAL(_exit)(status);
    __builtin_unreachable();
}

PCT_EXPORT void _Exit(int status)
{
    _exit(status);
}

PCT_EXPORT void quick_exit(int status)
{
    if (pct_shim.config.end == PCT_END_FREE && pct_running() && !is_over())
        pass_exit(status); /* so that other threads come in between its handlers, and behind them */
    else
        end_now(status);
    REAL(quick_exit)(status); /* ends in pct_end_normal(), registered first and so run last (start.c) */
    __builtin_unreachable();
}

/* GLIBC: since 2.41, abort() does not unblock SIGABRT first: where it is blocked, it arrives when its action is the
 * default again, and no handler is called, neither the target's nor ours, which makes the report. Nor is ours where the
 * target's has returned, or SIGABRT is ignored. of_libc: libc says something first, and calls the target's handler
 * behind that, if at all. */
static void let_abort_in(bool of_libc)
{
    const uint64_t bit = pct_signal_bit(SIGABRT);
    struct sigaction now;
    if (!pct_running() || is_over())
        return;
    const bool skips = pct_libc_minor() >= 41 && pct_signal_mask(SIG_BLOCK, 0) & bit;
    const bool handles = pct_action_handles(SIGABRT), controlled = pct_shim.mode == PCT_MODE_CONTROLLED;
    if (handles && !skips && of_libc)
        return;
    if (handles && !skips) {
        pct_signal_mask(SIG_UNBLOCK, bit);
        REAL(raise)(SIGABRT);
    }
    const bool ignored = controlled && !REAL(sigaction)(SIGABRT, NULL, &now) && now.sa_handler == SIG_IGN;
    if (handles || ignored || skips)
        pct_action_reset(SIGABRT);
    if (skips)
        pct_signal_mask(SIG_UNBLOCK, bit);
}

PCT_EXPORT void abort(void)
{
    end_now(0);
    let_abort_in(false);
    REAL(abort)(); /* ends in our handler of SIGABRT, or in the target's */
    __builtin_unreachable();
}

/* A sanitizer ends the process by a system call of its own. It holds locks: no point. */
static void die(void)
{
    if (pct_running() && !is_over())
        pct_end_died();
}

/* In the sanitizers' runtime, where there is one. A target that sets a function itself takes the place of ours. */
void __sanitizer_set_death_callback(void (*function)(void)) __attribute__((weak));

void pct_exit_watch(void)
{
    end_behind_list(LIST_EXIT);
    end_behind_list(LIST_QUICK);
    if (__sanitizer_set_death_callback)
        __sanitizer_set_death_callback(die);
}

/* Remember what the assertion said. */
PCT_EXPORT void __assert_fail(const char *assertion, const char *file, unsigned line, const char *function)
{
    if (pct_running() && !is_over()) {
        struct pct_text text;
        pct_text_init(&text, pct_shim.header->message, sizeof pct_shim.header->message);
        pct_text_add(&text, file);
        pct_text_add(&text, ":");
        pct_text_add_u64(&text, line);
        pct_text_add(&text, ": ");
        pct_text_add(&text, function ? function : "?");
        pct_text_add(&text, ": Assertion `");
        pct_text_add(&text, assertion);
        pct_text_add(&text, "' failed.");
        pct_shim.assertion = true;
    }
    let_abort_in(true);
    REAL(__assert_fail)(assertion, file, line, function);
    __builtin_unreachable();
}
