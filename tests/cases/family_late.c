// While a relative can run, time passes for those that sleep as it uses CPU time, whatever else the machine does. The
// looks of a sleeper at its relatives come late where it does not get a CPU, and so does what these do: if one was
// found asleep at that moment, in a call that pct does not know, all real time since the look before counted as its
// sleep, and the sleeper went on first.
//
// A sleeper gets no CPU for a second, because it is stopped. What wakes it has hardly run then.
//
// RUN: LD_PRELOAD=$LIBPCT PCT_SEED=1 %p
// RUN: LD_PRELOAD=$LIBPCT PCT_SEED=2 PCT_STRATEGY=round-robin %p
#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long call(long number, long a, long b)
{
    __asm__ volatile("syscall" : "+a"(number) : "D"(a), "S"(b) : "rcx", "r11", "memory");
    return number;
}

static void rest(long milliseconds)
{
    struct timespec t = { milliseconds / 1000, milliseconds % 1000 * 1000000 };
    assert(!call(SYS_nanosleep, (long)&t, 0));
}

int main(void)
{
    const struct timespec half = { .tv_nsec = 500000000 };
    int ends[2];
    char letters[2];
    assert(!pipe(ends));
    pid_t pid = fork();
    if (pid == 0) {
        assert(write(ends[1], "s", 1) == 1); /* begins */
        assert(!nanosleep(&half, NULL));
        assert(write(ends[1], "s", 1) == 1);
        _exit(0);
    }
    assert(read(ends[0], letters, 1) == 1);
    rest(20);
    assert(!call(SYS_kill, pid, SIGSTOP));
    rest(1000);
    assert(!call(SYS_kill, pid, SIGCONT));
    rest(50);
    assert(write(ends[1], "w", 1) == 1);
    assert(read(ends[0], letters, 1) == 1 && read(ends[0], letters + 1, 1) == 1);
    assert(waitpid(pid, NULL, 0) == pid);
    printf("%c%c\n", letters[0], letters[1]);
    return letters[0] != 'w';
}
