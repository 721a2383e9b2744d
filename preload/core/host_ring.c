/* The ring in which the command asks a host for runs, and hears how they have ended: common/host.h. */
#include "host.h"
#include "apart.h"
#include "host_ring.h"
#include "request.h"
#include "sys.h"
#include <errno.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>

struct pct_host_ring *pct_host_ring_map(int file)
{
    const size_t size = sizeof(struct pct_host_ring);
    void *place = pct_apart_map(size);
    const long at =
        place ? PCT_SYS6(SYS_mmap, place, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) : -ENOMEM;
    if (at != (long)place)
        return NULL;
    PCT_SYS3(SYS_madvise, place, size, MADV_DONTDUMP);
    return place;
}

static uint64_t now(void)
{
    struct timespec t = { 0 };
    pct_host_sys4(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&t, 0, 0);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

void pct_host_ring_over(struct pct_host_ring *ring, int socket, struct pct_host_reply *reply)
{
    const uint32_t run = ring->over;
    reply->time = now();
    ring->entry[run % PCT_HOST_QUEUE].reply = *reply;
    __atomic_store_n(&ring->over, run + 1, __ATOMIC_SEQ_CST);
    /* A failure may be the last run that is wanted. */
    if (__atomic_load_n(&ring->awaits, __ATOMIC_SEQ_CST) == run + 1 || reply->status)
        pct_host_sys(SYS_sendto, socket, (long)reply, 1, MSG_NOSIGNAL, 0, 0);
}

/* A message, whose descriptors are kept. False: nobody wants another run. */
static bool receive(int socket, int *files, int *count)
{
    struct pct_host_request request;
    int some[PCT_REQUEST_FILES];
    const int got = pct_request_receive(socket, &request, sizeof request, sizeof request.version, some);
    if (got < 0 || request.version != PCT_HOST_VERSION)
        return false;
    for (int i = 0; i < got; i++)
        files[i] = some[i];
    *count = got ? got : *count;
    return true;
}

int pct_host_ring_take(struct pct_host_ring *ring, int socket, struct pct_host_request *request, int *files)
{
    const uint32_t run = ring->over;
    int count = 0;
    while (__atomic_load_n(&ring->asked, __ATOMIC_SEQ_CST) == run) {
        __atomic_store_n(&ring->sleeps, 1, __ATOMIC_SEQ_CST);
        if (__atomic_load_n(&ring->asked, __ATOMIC_SEQ_CST) == run && !receive(socket, files, &count))
            return -EPIPE;
        __atomic_store_n(&ring->sleeps, 0, __ATOMIC_RELAXED);
    }
    *request = ring->entry[run % PCT_HOST_QUEUE].request;
    while (request->files && !count)
        if (!receive(socket, files, &count))
            return -EPIPE;
    return request->version == PCT_HOST_VERSION ? count : -EPROTO;
}
