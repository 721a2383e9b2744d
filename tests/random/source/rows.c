/* The rows of C, and the locks; see emit.h. */
#include "emit.h"
#include <stddef.h>

const char *const prelude =
    "#ifndef _GNU_SOURCE\n#define _GNU_SOURCE\n#endif\n"
    "#include <errno.h>\n#include <pthread.h>\n#include <sched.h>\n#include <semaphore.h>\n"
    "#include <signal.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
    "#include <sys/eventfd.h>\n#include <sys/socket.h>\n#include <threads.h>\n#include <time.h>\n"
    "#include <unistd.h>\n";

const char *const prelude_c = "#include <stdatomic.h>\n"
                              "#define CHECK(condition) ((condition) ? (void)0 : failed(__LINE__))\n"
                              "static void failed(int line)\n{\n"
                              "    fprintf(stderr, \"line %d: wrong, errno %d\\n\", line, errno);\n    abort();\n}\n"
                              "static __thread volatile sig_atomic_t handled;\n"
                              "static void handle(int number)\n{\n    handled += number == SIGUSR1;\n}\n";

const char *const prelude_cxx =
    "#include <atomic>\n#include <barrier>\n#include <condition_variable>\n#include <future>\n#include <latch>\n"
    "#include <memory>\n#include <mutex>\n#include <numeric>\n#include <semaphore>\n#include <shared_mutex>\n#include "
    "<stop_token>\n"
    "#include <thread>\n#include <vector>\n"
    "using std::atomic_flag, std::atomic_int, std::atomic_uint, std::memory_order_acquire, std::memory_order_relaxed,\n"
    "    std::memory_order_release;\n"
    "#define CHECK(condition) ((condition) ? (void)0 : failed(__LINE__))\n"
    "[[noreturn]] static void failed(int line)\n{\n"
    "    fprintf(stderr, \"line %d: wrong, errno %d\\n\", line, errno);\n    abort();\n}\n"
    "static thread_local volatile sig_atomic_t handled;\n"
    "static void handle(int number)\n{\n    handled = handled + (number == SIGUSR1);\n}\n";

const struct lock_row lock_rows[] = {
    { .name = "pthread_mutex_t",
      .declare = "static pthread_mutex_t $lock = PTHREAD_MUTEX_INITIALIZER;",
      .take = "CHECK(!pthread_mutex_lock(&$lock));",
      .give = "CHECK(!pthread_mutex_unlock(&$lock));",
      .end = "CHECK(!pthread_mutex_destroy(&$lock));" },
    { .name = "recursive mutex",
      .declare = "static pthread_mutex_t $lock;",
      .start = "pthread_mutexattr_t attr; pthread_mutexattr_init(&attr);"
               "pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE); pthread_mutex_init(&$lock, &attr);",
      .take = "CHECK(!pthread_mutex_lock(&$lock)); CHECK(!pthread_mutex_trylock(&$lock));",
      .give = "CHECK(!pthread_mutex_unlock(&$lock)); CHECK(!pthread_mutex_unlock(&$lock));" },
    { .name = "mutex by trylock",
      .declare = "static pthread_mutex_t $lock = PTHREAD_MUTEX_INITIALIZER;",
      .take = "while (pthread_mutex_trylock(&$lock)) sched_yield();",
      .give = "CHECK(!pthread_mutex_unlock(&$lock));" },
    { .name = "robust mutex with priority inheritance",
      .declare = "static pthread_mutex_t $lock;",
      .start = "pthread_mutexattr_t attr; pthread_mutexattr_init(&attr);"
               "pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);"
               "pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST); CHECK(!pthread_mutex_init(&$lock, &attr));",
      .take = "CHECK(!pthread_mutex_lock(&$lock));",
      .give = "CHECK(!pthread_mutex_unlock(&$lock));" },
    { .name = "pthread_rwlock_t",
      .flags = SHARES,
      .declare = "static pthread_rwlock_t $lock = PTHREAD_RWLOCK_INITIALIZER;",
      .take = "CHECK(!pthread_rwlock_wrlock(&$lock));",
      .give = "CHECK(!pthread_rwlock_unlock(&$lock));",
      .shared = "CHECK(!pthread_rwlock_rdlock(&$lock));",
      .unshared = "CHECK(!pthread_rwlock_unlock(&$lock));",
      .end = "CHECK(!pthread_rwlock_destroy(&$lock));" },
    { .name = "pthread_spinlock_t",
      .declare = "static pthread_spinlock_t $lock;",
      .start = "pthread_spin_init(&$lock, 0);",
      .take = "CHECK(!pthread_spin_lock(&$lock));",
      .give = "CHECK(!pthread_spin_unlock(&$lock));" },
    { .name = "semaphore",
      .declare = "static sem_t $lock;",
      .start = "sem_init(&$lock, 0, 1);",
      .take = "while (sem_wait(&$lock)) CHECK(errno == EINTR);",
      .give = "CHECK(!sem_post(&$lock));" },
    { .name = "mtx_t",
      .declare = "static mtx_t $lock;",
      .start = "mtx_init(&$lock, mtx_timed);",
      .take = "CHECK(mtx_lock(&$lock) == thrd_success);",
      .give = "CHECK(mtx_unlock(&$lock) == thrd_success);" },
    { .name = "atomic flag",
      .declare = "static atomic_int $lock;",
      .take = "while (atomic_exchange_explicit(&$lock, 1, memory_order_acquire)) sched_yield();",
      .give = "atomic_store_explicit(&$lock, 0, memory_order_release);" },
    { .name = "ticket lock",
      .declare = "static atomic_uint $lock, $serves;",
      .take = "for (unsigned mine = atomic_fetch_add_explicit(&$lock, 1, memory_order_relaxed);"
              " atomic_load_explicit(&$serves, memory_order_acquire) != mine;) sched_yield();",
      .give = "atomic_store_explicit(&$serves, atomic_load_explicit(&$serves, memory_order_relaxed) + 1, "
              "memory_order_release);" },
    { .name = "byte in a pipe",
      .declare = "static int $lock[2];",
      .start = "CHECK(!pipe($lock)); CHECK(write($lock[1], \"\", 1) == 1);",
      .take = "char token; while (read($lock[0], &token, 1) != 1) CHECK(errno == EINTR);",
      .give = "CHECK(write($lock[1], \"\", 1) == 1);" },
    { .name = "std::mutex",
      .flags = CXX,
      .declare = "static std::mutex $lock;",
      .take = "std::lock_guard<std::mutex> guard($lock);",
      .give = "" },
    { .name = "std::recursive_mutex",
      .flags = CXX,
      .declare = "static std::recursive_mutex $lock;",
      .take = "std::lock_guard outer($lock); std::lock_guard guard($lock);",
      .give = "" },
    { .name = "std::timed_mutex",
      .flags = CXX,
      .declare = "static std::timed_mutex $lock;",
      .take = "std::unique_lock<std::timed_mutex> guard; do guard = std::unique_lock($lock, "
              "std::chrono::microseconds(50)); "
              "while (!guard.owns_lock());",
      .give = "" },
    { .name = "std::shared_mutex",
      .flags = CXX | SHARES,
      .declare = "static std::shared_mutex $lock;",
      .take = "std::unique_lock guard($lock);",
      .give = "",
      .shared = "std::shared_lock guard($lock);",
      .unshared = "" },
    { .name = "std::atomic_flag with wait",
      .flags = CXX,
      .declare = "static std::atomic_flag $lock;",
      .take = "while ($lock.test_and_set(std::memory_order_acquire)) $lock.wait(true, std::memory_order_relaxed);",
      .give = "$lock.clear(std::memory_order_release); $lock.notify_one();" },
    { .name = NULL },
};

const struct pattern_row pattern_rows[] = {
    { "critical sections", LOCKS, 1, 6, "static long $a, $b;", NULL,
      "    for (int i = 0; i < @K; i++) {\n        @L\n        $a += @C + @R;\n        CHECK($b == $a - @C - @R);\n    "
      "    $b += @C + @R;\n        @U\n    }\n"
      "    return 0;\n",
      NULL, "$a + $b" },
    { "readers and a writer", SHARES, 2, 6, "static struct { long a, filler[9], b; } $both;", NULL,
      "    for (int i = 0; i < @K; i++) {\n        @L\n        $both.a++;\n        $both.b++;\n        @U\n    }\n    "
      "return 0;\n",
      "    for (int i = 0; i < @K; i++) {\n        @S\n        CHECK($both.a == $both.b);\n        @V\n    }\n    "
      "return @C;\n",
      "$both.a" },
    { "list", LOCKS, 2, 6,
      "struct $node { struct $node *next; long value; };\nstatic struct $node *$first; static long $total;\n", NULL,
      "    for (int i = 0; i < @K * (@N - 1); i++) {\n"
      "        struct $node *node = (struct $node *)malloc(sizeof *node);\n        node->value = @C + i;\n"
      "        {\n        @L\n        node->next = $first;\n        $first = node;\n        @U\n        }\n    }\n    "
      "return 0;\n",
      "    for (int got = 0; got < @K;) {\n        struct $node *node;\n        {\n        @L\n        node = $first;\n"
      "        if (node) { $first = node->next; $total += node->value; }\n        @U\n        }\n"
      "        if (node) got++; else usleep(20);\n        free(node);\n    }\n    return 0;\n",
      "$total" },
    { "semaphore", 0, 2, 6, "static sem_t $sem; static long $data[4];", "sem_init(&$sem, 0, 0);",
      "    for (int i = 0; i < 4; i++) $data[i] = @C + i;\n    for (int i = 1; i < @N; i++) CHECK(!sem_post(&$sem));\n "
      "   return 0;\n",
      "    while (sem_wait(&$sem)) CHECK(errno == EINTR);\n    return $data[@R % 4];\n", NULL },
    { "condition", 0, 2, 6,
      "static pthread_mutex_t $mutex = PTHREAD_MUTEX_INITIALIZER; static pthread_cond_t $cond = "
      "PTHREAD_COND_INITIALIZER;\n"
      "static int $left; static long $data;",
      NULL,
      "    $data = @C;\n    for (int i = 1; i < @N; i++) {\n        pthread_mutex_lock(&$mutex);\n        $left++;\n"
      "        i % 2 ? pthread_cond_signal(&$cond) : pthread_cond_broadcast(&$cond);\n        "
      "pthread_mutex_unlock(&$mutex);\n    }\n"
      "    return 0;\n",
      "    struct timespec soon;\n    clock_gettime(CLOCK_REALTIME, &soon);\n    soon.tv_sec += @C % 2;\n    "
      "pthread_mutex_lock(&$mutex);\n"
      "    while (!$left) @C % 3 ? pthread_cond_wait(&$cond, &$mutex) : pthread_cond_timedwait(&$cond, &$mutex, "
      "&soon);\n"
      "    $left--;\n    pthread_mutex_unlock(&$mutex);\n    return $data;\n",
      "$left" },
    { "barrier", 0, 1, 6, "static pthread_barrier_t $barrier; static long $slot[@N];",
      "pthread_barrier_init(&$barrier, NULL, @N);",
      "    long sum = 0;\n    for (int i = 0; i < @K; i++) {\n        $slot[@R] = @C + i * @R;\n        "
      "pthread_barrier_wait(&$barrier);\n"
      "        for (int j = 0; j < @N; j++) sum += $slot[j];\n        pthread_barrier_wait(&$barrier);\n    }\n    "
      "return sum;\n",
      NULL, NULL },
    { "published", 0, 2, 6, "static long $data; static atomic_int $ready;", NULL,
      "    $data = @C;\n    atomic_store_explicit(&$ready, 1, memory_order_release);\n    return 0;\n",
      "    while (!atomic_load_explicit(&$ready, memory_order_acquire)) sched_yield();\n    return $data;\n", NULL },
    { "counted", 0, 1, 6, "static atomic_int $count;", NULL,
      "    for (int i = 0; i < @K; i++) atomic_fetch_add_explicit(&$count, @C + @R, memory_order_relaxed);\n    return "
      "0;\n",
      NULL, "atomic_load_explicit(&$count, memory_order_relaxed)" },
    { "once", 0, 1, 6,
      "static pthread_once_t $once = PTHREAD_ONCE_INIT; static long $data;\nstatic void $init(void)\n{\n    $data += "
      "@C;\n}\n",
      NULL, "    pthread_once(&$once, $init);\n    return $data;\n", NULL, NULL },
    { "child thread", 0, 1, 4,
      "struct $job { long in, out, table[8]; };\nstatic void *$work(void *argument)\n{\n    struct $job *job = (struct "
      "$job *)argument;\n"
      "    for (int i = 0; i < 8; i++) job->out += job->table[i] * job->in;\n    return argument;\n}\n",
      NULL,
      "    struct $job job;\n    pthread_t thread;\n    memset(&job, 0, sizeof job);\n    job.in = @R + 2;\n"
      "    for (int i = 0; i < 8; i++) job.table[i] = @C + i;\n    CHECK(!pthread_create(&thread, NULL, $work, "
      "&job));\n"
      "    CHECK(!pthread_join(thread, NULL));\n    return job.out;\n",
      NULL, NULL },
    { "detached thread", 0, 1, 3,
      "struct $job { long in, out; sem_t done; };\nstatic void *$work(void *argument)\n{\n    struct $job *job = "
      "(struct $job *)argument;\n"
      "    job->out = job->in * 3;\n    sem_post(&job->done);\n    return NULL;\n}\n",
      NULL,
      "    struct $job *job = (struct $job *)calloc(1, sizeof *job);\n    pthread_t thread;\n    sem_init(&job->done, "
      "0, 0);\n    job->in = @C;\n"
      "    CHECK(!pthread_create(&thread, NULL, $work, job));\n    pthread_detach(thread);\n"
      "    while (sem_wait(&job->done)) CHECK(errno == EINTR);\n    return job->out; /* not freed: sem_post() may "
      "still be in there */\n",
      NULL, NULL },
    { "pipe", 0, 2, 6, "static int $pipe[2]; static long $data;", "CHECK(!pipe($pipe));",
      "    $data = @C;\n    for (int i = 1; i < @N; i++) CHECK(write($pipe[1], \"\", 1) == 1);\n    return 0;\n",
      "    char byte;\n    while (read($pipe[0], &byte, 1) != 1) CHECK(errno == EINTR);\n    return $data + @R;\n",
      NULL },
    { "sockets", 0, 2, 2, "static int $fd[2]; static long $data[2];",
      "CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, $fd));",
      "    char byte;\n    $data[0] = @C;\n    CHECK(send($fd[0], \"\", 1, 0) == 1);\n    while (recv($fd[0], &byte, "
      "1, 0) != 1) CHECK(errno == EINTR);\n"
      "    return $data[1];\n",
      "    char byte;\n    while (recv($fd[1], &byte, 1, 0) != 1) CHECK(errno == EINTR);\n    $data[1] = $data[0] * "
      "2;\n"
      "    CHECK(send($fd[1], \"\", 1, 0) == 1);\n    return 0;\n",
      NULL },
    { "eventfd", 0, 2, 6, "static int $fd; static long $data;", "$fd = eventfd(0, EFD_SEMAPHORE);",
      "    $data = @C;\n    eventfd_write($fd, @N - 1);\n    return 0;\n",
      "    eventfd_t value;\n    while (eventfd_read($fd, &value)) CHECK(errno == EINTR);\n    return $data;\n", NULL },
    { "data of a thread", 0, 1, 6, "static __thread long $own;", NULL,
      "    for (int i = 0; i < @K; i++) {\n        $own += @C;\n        sched_yield();\n    }\n    return $own;\n",
      NULL, NULL },
    { "signal to itself", 0, 1, 6, "", NULL,
      "    int before = handled;\n    CHECK(!pthread_kill(pthread_self(), SIGUSR1));\n    return handled - before;\n",
      NULL, NULL },
    { "cancelled", 0, 1, 3,
      "static sem_t $never; static atomic_int $ended;\nstatic void $end(void *unused)\n{\n    (void)unused;\n"
      "    atomic_fetch_add_explicit(&$ended, 1, memory_order_relaxed);\n}\n"
      "static void *$sleep(void *unused)\n{\n    pthread_cleanup_push($end, NULL);\n    while (sem_wait(&$never) && "
      "errno == EINTR)\n        ;\n"
      "    pthread_cleanup_pop(0);\n    return unused;\n}\n",
      "sem_init(&$never, 0, 0);",
      "    pthread_t thread;\n    void *result;\n    CHECK(!pthread_create(&thread, NULL, $sleep, NULL));\n    if (@C "
      "% 2) usleep(@C);\n"
      "    CHECK(!pthread_cancel(thread));\n    CHECK(!pthread_join(thread, &result));\n    CHECK(result == "
      "PTHREAD_CANCELED);\n    return 1;\n",
      NULL, NULL },
    { "time-out", 0, 1, 6, "static sem_t $sem;", "sem_init(&$sem, 0, 0);",
      "    struct timespec past;\n    clock_gettime(CLOCK_REALTIME, &past);\n    past.tv_sec -= @C % 2;\n    int "
      "result;\n"
      "    while ((result = sem_timedwait(&$sem, &past)) && errno == EINTR)\n        ;\n    CHECK(result && errno == "
      "ETIMEDOUT);\n    return 1;\n",
      NULL, NULL },
    { "sleep", 0, 1, 6, "", NULL, "    usleep(@C * (@R + 1));\n    return 0;\n", NULL, NULL },
    { "keys", 0, 1, 3,
      "static pthread_key_t $key; static long $left;\n"
      "static void $drop(void *value)\n{\n    *(long *)value *= 3;\n}\n"
      "static void *$work(void *value)\n{\n    CHECK(!pthread_setspecific($key, value));\n    return NULL;\n}\n",
      "CHECK(!pthread_key_create(&$key, $drop)); $left = 0;",
      "    long value = @C;\n    pthread_t thread;\n    CHECK(!pthread_create(&thread, NULL, $work, &value));\n"
      "    CHECK(!pthread_join(thread, NULL));\n    return value;\n",
      NULL, "$left" },
    { .name = NULL },
};
