/* What a child process leaves for the command: see child_file.h. */
#include "child_file.h"
#include "shim.h"
#include "sys.h"
#include <common/text.h>
#include <pct/trace.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>

bool pct_is_child(void)
{
    return !pct_shim.mapped && pct_shim.trace_path;
}

/* One that has no descriptor left needs none of them any more. */
long pct_child_file_open(size_t size)
{
    const int flags = O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW;
    char path[PCT_TRACE_PATH + 24];
    struct pct_text text;
    struct rlimit limit;
    /* Beyond the limit, a write would be a SIGXFSZ. */
    if (!PCT_SYS4(SYS_prlimit64, 0, RLIMIT_FSIZE, NULL, &limit) && limit.rlim_cur < size)
        return -EFBIG;
    pct_text_init(&text, path, sizeof path);
    pct_text_add(&text, pct_shim.trace_path);
    pct_text_add(&text, ".");
    pct_text_add_u64(&text, (uint64_t)PCT_SYS0(SYS_getpid));
    long fd = PCT_SYS3(SYS_open, path, flags, 0600);
    if (fd == -EMFILE && !PCT_SYS1(SYS_close, 0))
        fd = PCT_SYS3(SYS_open, path, flags, 0600);
    return fd;
}

void pct_child_file_leave(void)
{
    struct pct_trace_header *header = pct_shim.header;
    long fd = pct_child_file_open(PCT_TRACE_HEADER_SIZE);
    if (fd < 0)
        return;
    __builtin_memcpy(header->magic, PCT_TRACE_MAGIC, sizeof header->magic);
    header->version = PCT_TRACE_FLAT;
    header->header_size = PCT_TRACE_HEADER_SIZE;
    header->pid = (int)PCT_SYS0(SYS_getpid);
    header->first = header->steps;
    header->recorded = header->records_size = header->snapshot = header->snapshot_size = 0;
    header->file_size = PCT_TRACE_HEADER_SIZE;
    PCT_SYS3(SYS_write, fd, header, sizeof *header);
    PCT_SYS2(SYS_ftruncate, fd, PCT_TRACE_HEADER_SIZE);
    PCT_SYS1(SYS_close, fd);
}
