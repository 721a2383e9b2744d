/* The ring between the command and a host: see host_ring.h. What the other side has written there is not trusted: a run
 * may have written anywhere. */
#include "host_ring.h"
#include "launch.h"
#include "request.h"
#include <cli/binary/locate.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

struct pct_host_ring *pct_host_ring_make(int *file)
{
    const size_t size = sizeof(struct pct_host_ring);
    *file = pct_locate_nameless();
    if (*file < 0)
        return NULL;
    struct pct_host_ring *ring =
        ftruncate(*file, (off_t)size) ? MAP_FAILED : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, *file, 0);
    if (ring == MAP_FAILED) {
        close(*file);
        return NULL;
    }
    ring->asked = 1;
    return ring;
}

void pct_host_ring_close(struct pct_host_ring *ring)
{
    if (ring)
        munmap(ring, sizeof *ring);
}

bool pct_host_ring_ask(struct pct_host_ring *ring, int socket, const struct pct_process *process, unsigned slot,
                       bool files)
{
    struct pct_host_request *request = &ring->entry[process->host_turn % PCT_HOST_QUEUE].request;
    struct {
        uint32_t version;
        char more; /* a request is longer than its version */
    } wake = { .version = PCT_HOST_VERSION };
    const int both[2] = { process->trace, process->output };
    *request = (struct pct_host_request){
        .version = PCT_HOST_VERSION, .slot = (uint16_t)slot, .sites = pct_request_sites(process), .files = files
    };
    if (!pct_request_write(request->text, sizeof request->text, process))
        return false;
    __atomic_store_n(&ring->asked, (uint32_t)process->host_turn + 1, __ATOMIC_SEQ_CST);
    if (!__atomic_exchange_n(&ring->sleeps, 0, __ATOMIC_SEQ_CST) && !files)
        return true;
    return pct_request_send(socket, &wake, offsetof(struct pct_host_request, slot) + 1, both, files ? 2 : 0);
}

int pct_host_ring_over(const struct pct_host_ring *ring, uint64_t run, struct pct_host_reply *reply)
{
    const uint32_t past = __atomic_load_n(&ring->over, __ATOMIC_SEQ_CST) - (uint32_t)run;
    if (!past)
        return 0;
    *reply = ring->entry[run % PCT_HOST_QUEUE].reply;
    return past <= PCT_HOST_QUEUE && reply->version == PCT_HOST_VERSION && !reply->reason ? 1 : -1;
}

bool pct_host_ring_await(struct pct_host_ring *ring, uint64_t runs)
{
    __atomic_store_n(&ring->awaits, (uint32_t)runs, __ATOMIC_SEQ_CST);
    const uint32_t past = __atomic_load_n(&ring->over, __ATOMIC_SEQ_CST) - (uint32_t)runs;
    return (int32_t)past < 0;
}
