/* What the rows of the matrix share: see main.cc. */
#ifndef PCT_TESTS_MATRIX_H
#define PCT_TESTS_MATRIX_H

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <pthread.h>
#include <unistd.h>

extern int x; // what they race for
extern pthread_t first_thread, second_thread;

inline void look(int value)
{
    asm volatile("" : : "r"(value));
}

#define WRITE (x = 1)
#define READ (look(x))

constexpr int NOT_HERE = 77; /* exit status: the kernel does not let the row be run */

#define MUST(call)                                                                                                     \
    do                                                                                                                 \
        if ((call) < 0) {                                                                                              \
            perror(#call);                                                                                             \
            _exit(3);                                                                                                  \
        }                                                                                                              \
    while (0)

inline timespec in(long nanoseconds)
{
    timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_nsec += nanoseconds;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

constexpr long SOON = 1000000, LATE = 900000000;

inline void pause_a_little()
{
    usleep(1000);
}

/* An order in time that no detector sees. */
extern int stage;

inline void advance(int to)
{
    asm volatile("movl %1, %0" : "=m"(stage) : "r"(to) : "memory");
}

inline void await(int wanted)
{
    for (int now = 0; now < wanted; pause_a_little())
        asm volatile("movl %1, %0" : "=r"(now) : "m"(stage) : "memory");
}

inline sigset_t only(int signal)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    return set;
}

inline void block_signal(int signal)
{
    const sigset_t set = only(signal);
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

/* With the handler that reads x. */
inline void listen_to(int signal)
{
    struct sigaction action = {};
    action.sa_handler = [](int) { READ, advance(1); };
    sigaction(signal, &action, nullptr);
}

/* A pipe, and a pair of sockets. */
extern int ends[2], sockets[2];

inline void write_byte(int fd)
{
    MUST(write(fd, "x", 1));
}

inline void read_byte(int fd)
{
    char byte;
    MUST(read(fd, &byte, 1));
}

enum what { ORDERED, UNORDERED, CANNOT_RUN };

struct row {
    const char *name;
    what is, libtsan;
    const char *why; // libtsan says something else
    void (*first)(), (*second)();
    void (*prepare)() = nullptr;
};

/* What libtsan agrees on. */
constexpr row agreed(const char *name, what is, void (*first)(), void (*second)(), void (*prepare)() = nullptr)
{
    return { name, is, is, "", first, second, prepare };
}

constexpr row ordered(const char *name, void (*first)(), void (*second)(), void (*prepare)() = nullptr)
{
    return agreed(name, ORDERED, first, second, prepare);
}

constexpr row unordered(const char *name, void (*first)(), void (*second)(), void (*prepare)() = nullptr)
{
    return agreed(name, UNORDERED, first, second, prepare);
}

/* libtsan reports a race though there is none. */
constexpr row unknown(const char *name, const char *why, void (*first)(), void (*second)(), void (*prepare)() = nullptr)
{
    return { name, ORDERED, UNORDERED, why, first, second, prepare };
}

/* libtsan cannot run it, or what it says depends on its version. */
constexpr row alone(const char *name, what is, const char *why, void (*first)(), void (*second)(),
                    void (*prepare)() = nullptr)
{
    return { name, is, CANNOT_RUN, why, first, second, prepare };
}

struct table {
    const row *rows;
    size_t count;
};

/* The rows of each file, and what those of threads.cc and of kernel.cc need. */
extern const table thread_table, other_table, kernel_table, stream_table, file_table, service_table, uring_table;
void make_objects();
void make_descriptors();

#endif
