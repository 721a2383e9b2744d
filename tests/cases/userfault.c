// Memory that another thread provides (userfaultfd): who touches it sleeps, in no system call, until that has come. It
// kept the baton then, for ever: a timeout of a correct program.
//
// NEED: python3 -c "import ctypes, sys; sys.exit(ctypes.CDLL(None).syscall(323, 0) < 0)"
// RUN: pct run -q -s 1 -n 20 --timeout 60 --state none -- %p
// RUN: pct run -s 1 -n 3 --timeout 60 --state none -- %p 2>&1 | grep -q 'no guarantee.*call'
// RUN: { pct run -q -s 1 -n 1 --timeout 60 --state none -- %p fails || :; } 2>&1 | grep userfaultfd
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGES = 8, PAGE = 4096 };

static int fd;
static char *area;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *provide(void *argument)
{
    char *page = aligned_alloc(PAGE, PAGE);
    for (int i = 0; i < PAGES; i++) {
        struct pollfd events = { .fd = fd, .events = POLLIN };
        struct uffd_msg message;
        assert(poll(&events, 1, -1) == 1);
        assert(read(fd, &message, sizeof message) == sizeof message && message.event == UFFD_EVENT_PAGEFAULT);
        memset(page, 'a' + i, PAGE);
        struct uffdio_copy copy = { .dst = message.arg.pagefault.address & ~(unsigned long long)(PAGE - 1),
                                    .src = (unsigned long)page,
                                    .len = PAGE };
        assert(!ioctl(fd, UFFDIO_COPY, &copy));
    }
    free(page);
    return argument;
}

static void *use(void *first)
{
    for (char *at = first; at < (char *)first + PAGES / 2 * PAGE; at += PAGE) {
        pthread_mutex_lock(&mutex);
        assert(*(volatile char *)at >= 'a');
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t provider, users[2];
    struct uffdio_api api = { .api = UFFD_API };
    fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
    if (argc > 1 && !strcmp(argv[1], "asks"))
        return fd < 0;
    assert(fd >= 0 && !ioctl(fd, UFFDIO_API, &api));
    area = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct uffdio_register wanted = { .range = { (unsigned long)area, PAGES * PAGE },
                                      .mode = UFFDIO_REGISTER_MODE_MISSING };
    assert(!ioctl(fd, UFFDIO_REGISTER, &wanted));
    assert(!pthread_create(&provider, NULL, provide, NULL));
    for (int i = 0; i < 2; i++)
        assert(!pthread_create(&users[i], NULL, use, area + i * PAGES / 2 * PAGE));
    for (int i = 0; i < 2; i++)
        pthread_join(users[i], NULL);
    pthread_join(provider, NULL);
    return argc > 1;
}
