/* Reading the schedule that PCT_REPLAY names: replay_file.h. */
#include "replay_file.h"
#include <common/pack.h>
#include <preload/core/apart.h>
#include <preload/core/kernel.h>
#include <preload/core/shim.h>
#include <preload/core/sys.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* All records of a packed trace, and how many may be there; NULL: it is damaged. */
static const uint64_t *unpack(const struct pct_trace_header *header, uint64_t *room, const char **wrong)
{
    struct pct_packed packed;
    if (!pct_pack_find(&packed, header, *room * 8))
        return NULL;
    uint64_t *records = pct_map(packed.room * 8);
    if (!records)
        *wrong = "out of memory";
    *room = packed.room;
    return records && pct_pack_open(&packed, records) ? records : NULL;
}

const char *pct_recorded_open(struct pct_recorded *recorded, const char *path)
{
    struct stat status;
    const char *wrong = "the trace that PCT_REPLAY names is damaged";
    long fd = PCT_SYS3(SYS_open, path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0 || PCT_SYS2(SYS_fstat, fd, &status))
        return "cannot open the trace that PCT_REPLAY names";
    if (status.st_size < PCT_TRACE_HEADER_SIZE)
        return "the file that PCT_REPLAY names is not a pct trace, or was cut short";
    const struct pct_trace_header *header = pct_apart_map_file(fd, (size_t)status.st_size);
    PCT_SYS1(SYS_close, fd);
    if (!header)
        return "cannot map the trace that PCT_REPLAY names";
    if (memcmp(header->magic, PCT_TRACE_MAGIC, 8))
        return "the file that PCT_REPLAY names is not a pct trace";
    if (!header->version || header->version > PCT_TRACE_VERSION)
        return "the file that PCT_REPLAY names is a trace of another version of pct";
    uint64_t room = ((uint64_t)status.st_size - PCT_TRACE_HEADER_SIZE) / 8, count = header->recorded;
    const uint64_t *records = (const void *)((const char *)header + PCT_TRACE_HEADER_SIZE);
    if (header->version == PCT_TRACE_PACKED)
        records = unpack(header, &room, &wrong);
    if (records && header->verdict == PCT_VERDICT_RUNNING) /* killed: the records end at the first zero */
        for (count = 0; count < room && records[count];)
            count++;
    if (!records || count > room || header->first ||
        header->token[sizeof header->token - 1]) /* always room for the end */
        return wrong;
    *recorded =
        (struct pct_recorded){ .records = records, .count = count, .images = header->images, .token = header->token };
    return NULL;
}
