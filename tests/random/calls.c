/* Events of calls that wait for nobody, or seldom: clocks, CPUs, random numbers, limits and rights, descriptors,
 * libraries, names of hosts. */
#include "random.h"
#include <arpa/inet.h>
#include <dirent.h>
#include <dlfcn.h>
#include <link.h>
#include <netdb.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/times.h>

/* An old name, which programs linked before glibc 2.34 refer to. */
int old_yield(void);
__asm__(".symver old_yield, pthread_yield@GLIBC_2.2.5");

static void run_clocks(struct event *event, unsigned role, uint64_t *place)
{
    struct timeval day;
    struct timespec utc;
    struct rusage usage;
    unsigned cpu, node;
    (void)role;
    for (unsigned i = 0; i < event->rounds; i++) {
        clock_t used = clock(), ticks = times(NULL);
        CHECK_OK(gettimeofday(&day, NULL));
        CHECK_EQ(timespec_get(&utc, TIME_UTC), TIME_UTC);
        CHECK(utc.tv_sec * INT64_C(1000000) + utc.tv_nsec / 1000 >= day.tv_sec * INT64_C(1000000) + day.tv_usec);
        CHECK(time(NULL) + 1 >= day.tv_sec); /* of a coarser clock */
        if (draw(place, 2))
            CHECK_OK(old_yield());
        CHECK(clock() >= used);
        CHECK(times(NULL) >= ticks);
        CHECK_OK(getrusage(RUSAGE_THREAD, &usage));
        CHECK(sched_getcpu() >= 0);
        CHECK_OK(getcpu(&cpu, &node));
    }
}

/* The CPUs of a thread are taken away and given back. */
static void run_cpus(struct event *event, unsigned role, uint64_t *place)
{
    cpu_set_t all, one, got;
    pthread_attr_t attr;
    void *stack;
    size_t size;
    (void)role;
    CHECK_OK(sched_getaffinity(0, sizeof all, &all));
    CHECK(CPU_COUNT(&all) > 0);
    for (unsigned i = 0; i < event->rounds; i++) {
        int cpu = 0;
        while (!CPU_ISSET(cpu, &all) || draw(place, 2))
            cpu = (cpu + 1) % CPU_SETSIZE;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        CHECK_OK(draw(place, 2) ? sched_setaffinity(0, sizeof one, &one)
                                : pthread_setaffinity_np(pthread_self(), sizeof one, &one));
        CHECK_OK(pthread_getaffinity_np(pthread_self(), sizeof got, &got));
        CHECK(CPU_EQUAL(&one, &got));
        CHECK_EQ(sched_getcpu(), cpu);
        CHECK_OK(pthread_setaffinity_np(pthread_self(), sizeof all, &all));
    }
    CHECK_OK(pthread_getattr_np(pthread_self(), &attr));
    CHECK_OK(pthread_attr_getstack(&attr, &stack, &size));
    CHECK((char *)&attr >= (char *)stack && (char *)&attr < (char *)stack + size);
    CHECK_OK(pthread_attr_destroy(&attr));
}

static void run_numbers(struct event *event, unsigned role, uint64_t *place)
{
    unsigned char bytes[64];
    (void)role;
    for (unsigned i = 0; i < event->rounds; i++)
        switch (draw(place, 4)) {
        case 0:
            CHECK_EQ(getrandom(bytes, sizeof bytes, 0), sizeof bytes);
            break;
        case 1:
            CHECK_OK(getentropy(bytes, sizeof bytes));
            break;
        case 2:
            arc4random_buf(bytes, sizeof bytes);
            break;
        case 3:
            CHECK(arc4random_uniform(1 + arc4random() % 10) < 10);
            break;
        }
}

/* Everything stays as it is; but the C library tells all threads of new rights, by a signal that interrupts them. */
static void run_limits(struct event *event, unsigned role, uint64_t *place)
{
    struct rlimit limit;
    struct rlimit64 limit64;
    char name[16];
    (void)role;
    for (unsigned i = 0; i < event->rounds; i++)
        switch (draw(place, 9)) {
        case 0:
            CHECK_OK(getrlimit(RLIMIT_CORE, &limit));
            CHECK_OK(setrlimit(RLIMIT_CORE, &limit));
            break;
        case 1:
            CHECK_OK(getrlimit64(RLIMIT_CORE, &limit64));
            CHECK_OK(setrlimit64(RLIMIT_CORE, &limit64));
            break;
        case 2:
            CHECK_OK(prlimit(0, RLIMIT_AS, NULL, &limit));
            CHECK_OK(prlimit(0, RLIMIT_AS, &limit, NULL));
            break;
        case 3:
            CHECK_OK(prlimit64(0, RLIMIT_AS, NULL, &limit64));
            CHECK_OK(prlimit64(0, RLIMIT_AS, &limit64, NULL));
            break;
        case 4:
            CHECK_OK(setuid(getuid()));
            break;
        case 5:
            CHECK_OK(seteuid(geteuid()));
            break;
        case 6:
            CHECK_OK(draw(place, 2) ? setreuid((uid_t)-1, (uid_t)-1) : setresuid((uid_t)-1, (uid_t)-1, (uid_t)-1));
            break;
        case 7:
            CHECK_OK(pthread_setname_np(pthread_self(), "named"));
            CHECK_OK(prctl(PR_GET_NAME, name));
            CHECK_OK(strcmp(name, "named"));
            CHECK_OK(prctl(PR_SET_NAME, "again"));
            break;
        case 8: /* a user may have too few rights for it */
            CHECK(!mlockall(MCL_CURRENT | MCL_ONFAULT) || errno == ENOMEM || errno == EPERM || errno == EAGAIN);
            CHECK_OK(munlockall());
            break;
        }
}

/* Copies of a pipe's ends. */
static void run_copies(struct event *event, unsigned role, uint64_t *place)
{
    int fd[2], copy;
    char byte = 0;
    (void)role;
    for (unsigned i = 0; i < event->rounds; i++) {
        CHECK_OK(pipe2(fd, O_CLOEXEC));
        copy = dup(fd[0]);
        CHECK(copy >= 0);
        if (draw(place, 2))
            CHECK_EQ(dup2(fd[1], copy), copy);
        else
            CHECK_EQ(dup3(fd[1], copy, O_CLOEXEC), copy);
        CHECK_EQ(RESTARTED(write(copy, "d", 1)), 1);
        CHECK_EQ(RESTARTED(read(fd[0], &byte, 1)), 1);
        CHECK_EQ(byte, 'd');
        CHECK_OK(close(copy));
        copy = draw(place, 2) ? fcntl64(fd[0], F_DUPFD_CLOEXEC, 10) : epoll_create(1);
        CHECK(copy >= 0);
        CHECK_OK(close(copy));
        CHECK_OK(close(fd[1]));
        CHECK_EQ(RESTARTED(read(fd[0], &byte, 1)), 0);
        CHECK_OK(close(fd[0]));
    }
}

static void run_files(struct event *event, unsigned role, uint64_t *place)
{
    (void)role;
    for (unsigned i = 0; i < event->rounds; i++) {
        DIR *directory = opendir("/");
        FILE *stream = draw(place, 2) ? fopen("/dev/null", "r") : fopen64("/dev/null", "r");
        CHECK(directory && stream);
        CHECK(readdir(directory));
        CHECK_OK(closedir(directory));
        CHECK_EQ(fgetc(stream), EOF);
        stream = draw(place, 2) ? freopen("/dev/zero", "r", stream) : freopen64("/dev/zero", "r", stream);
        CHECK(stream);
        CHECK_EQ(fgetc(stream), 0);
        CHECK_OK(fclose(stream));
    }
}

static int count_object(struct dl_phdr_info *info, size_t size, void *count)
{
    (void)info, (void)size;
    ++*(int *)count;
    return 0;
}

static void run_library(struct event *event, unsigned role, uint64_t *place)
{
    Dl_info info;
    (void)role;
    for (unsigned i = 0; i < event->rounds; i++) {
        int objects = 0;
        void *library = draw(place, 2) ? dlopen("libm.so.6", RTLD_NOW) : dlmopen(LM_ID_BASE, "libm.so.6", RTLD_LAZY);
        CHECK(library);
        double (*function)(double) =
            (double (*)(double))(draw(place, 2) ? dlsym(library, "fabs") : dlvsym(library, "fabs", "GLIBC_2.2.5"));
        CHECK(function && function(-2.5) == 2.5);
        CHECK(dladdr((void *)function, &info) && strstr(info.dli_fname, "libm"));
        CHECK_OK(dl_iterate_phdr(count_object, &objects));
        CHECK(objects > 2);
        CHECK_OK(dlclose(library));
    }
}

/* Of hosts that are named by digits: nobody has to be asked. */
static void run_hosts(struct event *event, unsigned role, uint64_t *place)
{
    const struct addrinfo digits = { .ai_flags = AI_NUMERICHOST, .ai_family = AF_INET, .ai_socktype = SOCK_STREAM };
    (void)role;
    for (unsigned i = 0; i < event->rounds; i++) {
        struct addrinfo *found;
        char host[32], port[8];
        CHECK_OK(getaddrinfo("127.0.0.1", "80", &digits, &found));
        CHECK_OK(getnameinfo(found->ai_addr, found->ai_addrlen, host, sizeof host, port, sizeof port,
                             NI_NUMERICHOST | NI_NUMERICSERV));
        CHECK(!strcmp(host, "127.0.0.1") && !strcmp(port, "80"));
        freeaddrinfo(found);
        if (draw(place, 2))
            CHECK(gethostbyname("127.0.0.1"));
    }
}

static void run_values(struct event *event, unsigned role, uint64_t *place)
{
    int value;
    unsigned count = draw(place, 5);
    (void)role;
    CHECK_OK(sem_init(&event->sem, 0, count));
    for (unsigned i = 0; i < event->rounds; i++)
        CHECK_OK(sem_post(&event->sem));
    CHECK_OK(sem_getvalue(&event->sem, &value));
    CHECK_EQ(value, count + event->rounds);
    CHECK_OK(sem_destroy(&event->sem));
}

const struct pattern call_patterns[] = {
    { "clocks", 1, 1, 0, 0, 0, 0, 0, 0, NULL, run_clocks, NULL },
    { "CPUs", 1, 1, 0, 0, 0, 0, 0, 0, NULL, run_cpus, NULL },
    { "random numbers", 1, 1, 0, 0, 0, 0, 0, 0, NULL, run_numbers, NULL },
    { "limits and rights", 1, 1, 0, 0, 0, 0, 0, NEEDS_HANDLER, NULL, run_limits, NULL },
    { "copies of descriptors", 1, 1, 0, 0, 0, 0, 0, 0, NULL, run_copies, NULL },
    { "files", 1, 1, 0, 0, 0, 0, 0, 0, NULL, run_files, NULL },
    { "library", 1, 1, 0, 0, 0, 0, 0, 0, NULL, run_library, NULL },
    { "names of hosts", 1, 1, 0, 0, 0, 0, 0, 0, NULL, run_hosts, NULL },
    { "value of a semaphore", 1, 1, 0, 0, 0, 0, 0, 0, NULL, run_values, NULL },
    { NULL, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL },
};
