/* The file of a trace: see trace_file.h. */
#include "trace_file.h"
#include "sys.h"
#include <string.h>
#include <sys/resource.h>

/* Address space for a trace, of which only what is used is ever touched. */
#define TRACE_BYTES ((size_t)1 << 30)

bool pct_trace_file_in_use(const struct pct_trace_header *header)
{
    int self = (int)PCT_SYS0(SYS_getpid);
    return header->pid && header->pid != self &&
           (header->launcher ||
            (header->verdict == PCT_VERDICT_RUNNING && PCT_SYS2(SYS_kill, header->pid, 0) != -ESRCH));
}

const char *pct_trace_file_absolute(const char *path)
{
    char *whole = pct_host_futex.map(PCT_TRACE_PATH);
    struct pct_text text;
    if (!whole)
        return NULL;
    if (*path != '/' && PCT_SYS2(SYS_getcwd, whole, PCT_TRACE_PATH) < 0)
        return path;
    size_t length = *path == '/' ? 0 : strlen(whole);
    pct_text_init(&text, whole + length, PCT_TRACE_PATH - length);
    if (length)
        pct_text_add(&text, "/");
    pct_text_add(&text, path);
    return whole;
}

size_t pct_trace_file_size(void)
{
    size_t size = TRACE_BYTES;
    struct rlimit limit;
    /* Beyond the limit, ftruncate would be a SIGXFSZ. */
    if (!PCT_SYS4(SYS_prlimit64, 0, RLIMIT_FSIZE, NULL, &limit) && limit.rlim_cur < size)
        size = limit.rlim_cur & ~(size_t)4095;
    /* The address space is the program's. */
    if (!PCT_SYS4(SYS_prlimit64, 0, RLIMIT_AS, NULL, &limit) && limit.rlim_cur / 8 < size)
        size = (limit.rlim_cur / 8) & ~(size_t)4095;
    return size;
}
