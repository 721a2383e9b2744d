/* The files that the environment names: see start_files.h. */
#include "start_files.h"
#include <common/list.h>
#include <common/text.h>
#include <preload/core/kernel.h>
#include <preload/core/shim.h>
#include <preload/core/sys.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

/* Address space for a trace, of which only what is used is ever touched. */
#define TRACE_BYTES ((size_t)1 << 30)

bool pct_trace_file_in_use(const struct pct_trace_header *header)
{
    int self = (int)PCT_SYS0(SYS_getpid);
    return header->pid && header->pid != self &&
           (header->launcher ||
            (header->verdict == PCT_VERDICT_RUNNING && PCT_SYS2(SYS_kill, header->pid, 0) != -ESRCH));
}

/* The name of a file, wherever the program goes from here. NULL: there is no memory. */
static const char *absolute(const char *path)
{
    char *whole = pct_map(PCT_TRACE_PATH);
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
    if (pct_address_space() / 8 < size)
        size = (pct_address_space() / 8) & ~(size_t)4095;
    return size;
}

/* Whether the program of this header, which this process was before, had several threads, did what pct does not
 * control, or has not told. */
static bool was_open(const struct pct_trace_header *header)
{
    bool open = header->images_open || header->threads != 1;
    for (int i = 0; i < PCT_UNCONTROLLED_COUNT; i++)
        open |= header->uncontrolled[i] != 0;
    return open;
}

/* The name of the program's file. */
static void name_image(struct pct_trace_header *header)
{
    long length = PCT_SYS3(SYS_readlink, "/proc/self/exe", header->image, sizeof header->image);
    if (length < 0 || length >= (long)sizeof header->image)
        header->image[0] = 0;
}

void pct_trace_file_keep(const char *path)
{
    const char *whole = absolute(path);
    if (!whole)
        pct_fail_for_memory();
    pct_shim.trace_path = whole;
}

struct pct_trace_header *pct_trace_file_take(struct pct_trace_header *header, size_t size,
                                             const struct pct_trace_header *old, uint32_t images)
{
    memset(header, 0, sizeof *header);
    header->images = images;
    if (images) {
        header->images_open = was_open(old);
        name_image(header);
    }
    /* For a program that this one may become. */
    header->launcher = old->launcher;
    header->supervisor = old->launcher ? old->supervisor : 0;
    header->file_most = old->launcher ? old->file_most : 0;
    pct_shim.mapped = size;
    pct_shim.space += size;
    return header;
}

const char *pct_start_read(const char *path)
{
    struct stat status;
    long fd = PCT_SYS3(SYS_open, path, O_RDONLY | O_CLOEXEC, 0);
    char *text = fd < 0 || PCT_SYS2(SYS_fstat, fd, &status) ? NULL : pct_map((size_t)status.st_size + 1);
    if (!text)
        return NULL;
    long size = 0;
    for (long got = 1; got > 0; size += got)
        got = PCT_SYS3(SYS_read, fd, text + size, status.st_size - size);
    PCT_SYS1(SYS_close, fd);
    /* The line end is the editor's. */
    while (size > 0 && text[size - 1] == '\n')
        text[--size] = 0;
    return text;
}

const char *pct_start_unpack(const char *packed)
{
    struct pct_list_model *model = pct_map(sizeof *model);
    size_t length = model ? pct_list_unpack(model, packed, NULL, PCT_LIST_TEXT_MAX) : 0;
    char *text = length ? pct_map(length + 1) : NULL;
    if (text)
        pct_list_unpack(model, packed, text, length + 1);
    return text;
}
