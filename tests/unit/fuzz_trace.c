/* Fuzzing the reader of traces: whatever the bytes are, it must say what is wrong, and what it accepts must be safe to
 * print. An entry for libFuzzer:
 *
 *     make CC=clang BUILD=build/fuzz SANITIZE=address,undefined,fuzzer-no-link fuzzers
 *     build/fuzz/fuzz_trace -max_len=100000 CORPUS     with some traces of `pct run -t FILE` in CORPUS
 *
 * Unwinding is left out: it opens the files that the memory map names. */
#include <cli/trace/report.h>
#include <cli/trace/schedule.h>
#include <cli/trace/snapshot.h>
#include <cli/trace/trace_export.h>
#include <cli/trace/trace_read.h>
#include <common/list.h>
#include <common/pack.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static FILE *sink;
static struct pct_list_model model;
static char text[1 << 16];

static void use(const struct pct_trace *trace)
{
    static struct pct_trace other; /* large */
    struct pct_snapshot snapshot;
    uint32_t number;
    for (size_t at = 0; pct_trace_next_process(trace, &at, &number, &other);) {
        pct_report_print_verdict(sink, &other);
        if (!pct_snapshot_read(&snapshot, &other)) {
            pct_schedule_print_last(sink, &other, &snapshot, 20);
            pct_snapshot_free(&snapshot);
        }
        pct_trace_close(&other);
    }
    if (pct_snapshot_read(&snapshot, trace))
        return;
    uint32_t ids[8];
    pct_report_print_verdict(sink, trace);
    pct_report_print_ops(sink, trace);
    pct_report_print_uncontrolled(sink, trace->header.uncontrolled);
    pct_schedule_fill_holders(&snapshot, trace);
    pct_snapshot_cycle(&snapshot, ids, sizeof ids / sizeof *ids);
    pct_schedule_print_last(sink, trace, &snapshot, 20);
    pct_schedule_print_last(sink, trace, &snapshot, 0);
    snapshot.site_count = 0;
    struct pct_trace_export x = { .out = sink, .trace = trace, .snapshot = &snapshot, .to = trace->count };
    pct_trace_export_chrome(&x);
    pct_trace_export_dot(&x);
    for (size_t i = 0; i < snapshot.memory_count; i++)
        if (snapshot.memory[i].size && snapshot.memory[i].bytes[snapshot.memory[i].size - 1] == 'x')
            fputc('x', sink);
    pct_snapshot_free(&snapshot);
}

static void parse(const void *data, size_t size)
{
    static struct pct_trace trace;
    char error[512];
    if (pct_trace_parse(&trace, data, size, error, sizeof error) == PCT_TRACE_GOOD)
        use(&trace);
    pct_trace_close(&trace);
}

/* Noise seldom has the right hash: give it one, so that what stands behind that check is reached too. */
static void mend(unsigned char *bytes, size_t size)
{
    struct pct_trace_header *header = (void *)bytes;
    if (size < PCT_TRACE_HEADER_SIZE)
        return;
    uint64_t room = (size - PCT_TRACE_HEADER_SIZE) / sizeof(uint64_t);
    uint64_t count = header->recorded < room ? header->recorded : room;
    memcpy(header->magic, PCT_TRACE_MAGIC, sizeof header->magic);
    header->version = PCT_TRACE_FLAT + size % 2;
    header->header_size = PCT_TRACE_HEADER_SIZE;
    header->pid |= !header->pid;
    header->file_size = header->file_size < size ? header->file_size : 0;
    header->recorded = header->steps = count;
    header->first = 0;
    if (header->version == PCT_TRACE_PACKED) {
        header->records_size = PCT_PACK_AREA * sizeof(uint64_t);
        header->steps++; /* not all are there: then there is no hash to check */
        return;
    }
    header->hash = pct_trace_hash((const uint64_t *)(const void *)(bytes + PCT_TRACE_HEADER_SIZE), count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!sink)
        sink = fopen("/dev/null", "w");
    unsigned char *bytes = malloc(size + 1);
    if (!sink || !bytes)
        return 0;
    memcpy(bytes, data, size);
    parse(bytes, size);
    mend(bytes, size);
    parse(bytes, size);
    /* The same bytes as a packed list. */
    if (size > 1 && (*bytes = PCT_LIST_PACKED) && !bytes[size - 1])
        pct_list_unpack(&model, (const char *)bytes, text, sizeof text);
    free(bytes);
    return 0;
}
