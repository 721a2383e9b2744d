/* The channel of an explored run: see channel.h. */
#include "channel.h"
#include "shim.h"
#include "start_files.h"
#include "sys.h"
#include <common/exploration.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

void pct_channel_open(const char *path)
{
    struct pct_channel head = { .magic = "" };
    if (!path)
        return;
    long fd = PCT_SYS3(SYS_open, path, O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0);
    if (fd < 0 || PCT_SYS3(SYS_read, fd, &head, sizeof head) != sizeof head ||
        memcmp(head.magic, PCT_CHANNEL_MAGIC, 8) != 0 || head.version != PCT_CHANNEL_VERSION)
        return; /* the command finds no log */
    long at = PCT_SYS6(SYS_mmap, NULL, pct_channel_size(head.plan_max, head.log_max), PROT_READ | PROT_WRITE,
                       MAP_SHARED, fd, 0);
    PCT_SYS1(SYS_close, fd);
    if (at < 0 && at > -4096)
        pct_start_fail_for_memory();
    struct pct_channel *channel = (void *)at;
    if (channel->began++)
        return;
    pct_S.log = pct_S.objects.log = channel;
    pct_S.run.plan = channel->plan;
    pct_S.run.plan_count = channel->plan_count < channel->plan_max ? channel->plan_count : channel->plan_max;
}
