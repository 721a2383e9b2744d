/* exec and its relatives: the process becomes another program, and finds its family again (family.h). They may be
 * called in a child of vfork, and in a signal handler. */
#include <preload/core/real.h>
#include <preload/core/shim.h>
#include <preload/signals/doorbell.h>
#include <preload/thread/foreign_threads.h>
#include <preload/time/family.h>
#include <preload/time/vtimer.h>
#include <sched/record.h>

static void set_execs(bool execs)
{
    if (pct_self)
        __atomic_store_n(&pct_self->execs, execs, __ATOMIC_SEQ_CST);
}

static void leave(void)
{
    pct_family_leaves();
    if (!pct_family_is_itself())
        return;
    set_execs(true);
    pct_bell_settle();
    pct_timerfd_leave();
    pct_foreign_threads_count();
    pct_record_leave(&pct_S);
}

static void stay(void)
{
    if (pct_family_is_itself()) {
        set_execs(false);
        pct_timerfd_stay();
    }
    pct_family_stays();
}

static int become(const char *path, char *const arguments[], char *const environment[])
{
    char **with = PCT_FAMILY_ENVIRONMENT(environment, pct_family_slot());
    leave();
    int failed = REAL(execve)(path, arguments, with);
    stay();
    return failed;
}

/* The same by a name that is looked for in PATH. */
static int become_found(const char *file, char *const arguments[], char *const environment[])
{
    char **with = PCT_FAMILY_ENVIRONMENT(environment, pct_family_slot());
    leave();
    int failed = REAL(execvpe)(file, arguments, with);
    stay();
    return failed;
}

PCT_EXPORT int execve(const char *path, char *const arguments[], char *const environment[])
{
    return become(path, arguments, environment);
}

PCT_EXPORT int execv(const char *path, char *const arguments[])
{
    return become(path, arguments, environ);
}

PCT_EXPORT int execvp(const char *file, char *const arguments[])
{
    return become_found(file, arguments, environ);
}

PCT_EXPORT int execvpe(const char *file, char *const arguments[], char *const environment[])
{
    return become_found(file, arguments, environment);
}

PCT_EXPORT int fexecve(int fd, char *const arguments[], char *const environment[])
{
    char **with = PCT_FAMILY_ENVIRONMENT(environment, pct_family_slot());
    leave();
    int failed = REAL(fexecve)(fd, arguments, with);
    stay();
    return failed;
}

PCT_EXPORT int execveat(int folder, const char *path, char *const arguments[], char *const environment[], int flags)
{
    char **with = PCT_FAMILY_ENVIRONMENT(environment, pct_family_slot());
    leave();
    int failed = REAL(execveat)(folder, path, arguments, with, flags);
    stay();
    return failed;
}

/* Those with a list in the place of a vector: `list` stands behind the first argument. */
#define VECTOR(vector, first, list)                                                                                    \
    va_list count_;                                                                                                    \
    size_t length_ = 1;                                                                                                \
    va_copy(count_, list);                                                                                             \
    while (va_arg(count_, char *))                                                                                     \
        length_++;                                                                                                     \
    va_end(count_);                                                                                                    \
    char *vector[length_ + 1];                                                                                         \
    vector[0] = (char *)(first);                                                                                       \
    for (size_t i_ = 1; i_ <= length_; i_++)                                                                           \
    vector[i_] = va_arg(list, char *)

PCT_EXPORT int execl(const char *path, const char *argument, ...)
{
    va_list list;
    va_start(list, argument);
    VECTOR(vector, argument, list);
    va_end(list);
    return become(path, vector, environ);
}

PCT_EXPORT int execlp(const char *file, const char *argument, ...)
{
    va_list list;
    va_start(list, argument);
    VECTOR(vector, argument, list);
    va_end(list);
    return become_found(file, vector, environ);
}

PCT_EXPORT int execle(const char *path, const char *argument, ...)
{
    va_list list;
    va_start(list, argument);
    VECTOR(vector, argument, list);
    char *const *environment = va_arg(list, char *const *);
    va_end(list);
    return become(path, vector, environment);
}
