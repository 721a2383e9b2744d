/* Packed traces: what sched/record.c writes, cli/trace/trace_read.c reads, whatever the records are, however the run
 * ends, and wherever it is killed. */
/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include <cli/trace/trace_read.h>
#include <common/pack.h>
#include <pct/random.h>
#include <sched/record.h>
#include <signal.h>
#include <stdlib.h>
#include <strategies/strategies.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STEPS = 100000, AREA = PCT_PACK_AREA * 8, SPACE = PCT_TRACE_HEADER_SIZE + AREA + STEPS * 10 };

/* --- A recorder without a run ------------------------------------------------------------------------------------- */

static unsigned char *file; /* what the shim maps: header, records, packed blocks */
static struct pct_sched s;
static size_t space; /* bytes behind the header that can have memory */

static _Alignas(64) unsigned char arena[1 << 17];
static size_t arena_used;

static void *map(size_t size)
{
    unsigned char *at = arena + arena_used;
    size = (size + 63) & ~(size_t)63;
    assert_true(size <= sizeof arena - arena_used);
    arena_used += size;
    return at;
}

static bool populate(void *at, size_t size)
{
    return (size_t)((unsigned char *)at - file) + size <= PCT_TRACE_HEADER_SIZE + space;
}

static const struct pct_host host = { .map = map, .populate = populate };

static void begin(size_t bytes)
{
    struct pct_trace_header *header = (void *)file;
    uint64_t *records = (void *)(file + PCT_TRACE_HEADER_SIZE);
    memset(file, 0, SPACE);
    memset(arena, 0, sizeof arena);
    arena_used = 0;
    memcpy(header->magic, PCT_TRACE_MAGIC, sizeof header->magic);
    header->version = PCT_TRACE_FLAT;
    header->header_size = PCT_TRACE_HEADER_SIZE;
    header->pid = 1;
    header->records_size = AREA;
    space = bytes;
    s = (struct pct_sched){ .host = &host, .strategy = &pct_strategy_round_robin, .step_ns = PCT_STEP_NS };
    assert_int_equal(pct_record_start(&s, header, records, PCT_PACK_AREA), 0);
    pct_record_pack(&s, records + PCT_PACK_AREA, SPACE - PCT_TRACE_HEADER_SIZE - AREA);
}

static void step(uint64_t record)
{
    *s.record++ = record;
    if (s.record == s.block + PCT_TRACE_BLOCK)
        pct_record_turn(&s);
}

static void end(void)
{
    struct pct_trace_header *header = (void *)file;
    pct_record_finish(&s);
    header->verdict = PCT_VERDICT_EXIT;
    header->file_size = header->recorded * 8 + PCT_TRACE_HEADER_SIZE;
    if (pct_record_packed_end(&s))
        header->file_size = (uint64_t)(pct_record_packed_end(&s) - (char *)file);
}

static enum pct_trace_state parse(struct pct_trace *trace)
{
    char error[256];
    return pct_trace_parse(trace, file, SPACE, error, sizeof error);
}

/* The trace has the first `count` of these records. */
static void assert_trace(const uint64_t *records, uint64_t count)
{
    struct pct_trace trace;
    assert_int_equal(parse(&trace), PCT_TRACE_GOOD);
    assert_int_equal(trace.count, count);
    if (count)
        assert_memory_equal(trace.records, records, count * sizeof *records);
    pct_trace_close(&trace);
}

/* --- What programs do --------------------------------------------------------------------------------------------- */

enum kind { ONE_LOOP, LONG_LOOP, TWO_THREADS, THREADS, ANYTHING, OFTEN_NEW, KINDS };

static uint64_t *records_of(enum kind kind)
{
    uint64_t *records = malloc(STEPS * sizeof *records);
    for (uint64_t i = 0; i < STEPS; i++) {
        uint64_t random = pct_random(kind, 0, i);
        uint32_t thread = 0, object = 1;
        switch (kind) {
        case LONG_LOOP:
            object = (uint32_t)(i % 701);
            break;
        case TWO_THREADS:
            thread = random % 2;
            break;
        case THREADS:
            thread = random % 100;
            object = random >> 32 & 1023;
            break;
        case ANYTHING:
            thread = random & 0x7fff;
            object = random >> 32 & 0x1ffffff;
            break;
        case OFTEN_NEW:
            object = i % 5 ? 7 : (uint32_t)i;
            break;
        default:
            break;
        }
        records[i] = PCT_RECORD(thread, i % 2 ? PCT_OP_MUTEX_UNLOCK : PCT_OP_MUTEX_LOCK, 0, object);
    }
    return records;
}

/* --- Tests -------------------------------------------------------------------------------------------------------- */

/* Whatever the records are, they come back; at the ends of blocks, before there is anything to pack, and long after. */
static void test_round_trip(void **unused)
{
    (void)unused;
    static const uint64_t lengths[] = { 1,     511,   512,   28672, 28673, 32767, 32768, 32769,
                                        33279, 33280, 33281, 36864, 37001, 65536, STEPS };
    for (enum kind kind = 0; kind < KINDS; kind++) {
        uint64_t *records = records_of(kind), made = 0;
        begin(SPACE);
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
            while (made < lengths[i])
                step(records[made++]);
            const struct pct_trace_header *header = (void *)file;
            assert_int_equal(header->version, made < PCT_PACK_AREA ? PCT_TRACE_FLAT : PCT_TRACE_PACKED);
            assert_trace(records, made); /* of a run that was killed now */
            uint64_t last[600];
            uint32_t count = pct_record_last(&s, last, 600);
            assert_int_equal(count, made < 600 ? made : 600);
            assert_memory_equal(last, records + made - count, count * sizeof *last);
        }
        end();
        assert_trace(records, STEPS);
        free(records);
    }
}

/* What repeats itself takes no room; what does not takes little more than its records. */
static void test_size(void **unused)
{
    (void)unused;
    static const struct {
        enum kind kind;
        double least, most; /* bytes a step */
    } cases[] = { { ONE_LOOP, 0, 0.1 }, { LONG_LOOP, 0, 0.2 }, { TWO_THREADS, 0.1, 3 }, { ANYTHING, 7.9, 8.1 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t *records = records_of(cases[i].kind);
        begin(SPACE);
        for (uint64_t made = 0; made < STEPS; made++)
            step(records[made]);
        double bytes = (double)(pct_record_packed_end(&s) - (char *)(file + PCT_TRACE_HEADER_SIZE + AREA)) /
                       (STEPS - PCT_PACK_FLAT);
        assert_true(bytes >= cases[i].least && bytes <= cases[i].most);
        free(records);
    }
}

/* Space runs out: the first part stays, killed or not, and the hash is that of all steps. */
static void test_out_of_space(void **unused)
{
    (void)unused;
    uint64_t *records = records_of(THREADS), made;
    begin(SPACE);
    for (made = 0; made < STEPS; made++)
        step(records[made]);
    end();
    uint64_t hash = ((struct pct_trace_header *)file)->hash;
    for (size_t bytes = 8 * 512; bytes < AREA + (200 << 10); bytes += bytes < AREA ? 30000 : 5 * 512 * 8) {
        begin(bytes);
        for (made = 0; made < STEPS; made++)
            step(records[made]);
        assert_true(s.ring);
        struct pct_trace trace;
        assert_int_equal(parse(&trace), PCT_TRACE_GOOD); /* killed */
        assert_in_range(trace.count, PCT_TRACE_BLOCK, STEPS / 2);
        assert_int_equal(trace.count % PCT_TRACE_BLOCK, 0);
        assert_memory_equal(trace.records, records, trace.count * sizeof *records);
        uint64_t count = trace.count;
        pct_trace_close(&trace);
        struct pct_trace_header *header = (void *)file;
        pct_record_finish(&s);
        header->verdict = PCT_VERDICT_EXIT;
        assert_int_equal(header->hash, hash);
        assert_int_equal(header->recorded, count);
        assert_non_null(strstr(header->message, "no space for the trace"));
        assert_trace(records, count);
    }
    free(records);
}

/* Whatever stands in a file, reading it ends, and what is accepted has the hash. */
static void test_damage(void **unused)
{
    (void)unused;
    uint64_t *records = records_of(TWO_THREADS);
    begin(SPACE);
    for (uint64_t made = 0; made < 50000; made++)
        step(records[made]);
    end();
    uint64_t size = ((struct pct_trace_header *)file)->file_size;
    unsigned char *good = malloc(size);
    memcpy(good, file, size);
    unsigned refused = 0;
    for (uint64_t i = 0; i < 2000; i++) {
        uint64_t random = pct_random(1, 0, i), at = AREA + PCT_TRACE_HEADER_SIZE;
        at += random % (size - at);
        file[at] ^= (unsigned char)(1 + (random >> 32) % 255);
        struct pct_trace trace;
        if (parse(&trace) == PCT_TRACE_GOOD)
            assert_memory_equal(trace.records, records, 50000 * sizeof *records);
        else
            refused++;
        pct_trace_close(&trace);
        memcpy(file, good, size);
    }
    assert_true(refused > 1900); /* the last word says that there is nothing behind it */
    /* Another size of the area than any recorder has used; a file that ends within a block. */
    struct pct_trace trace;
    ((struct pct_trace_header *)file)->records_size = AREA / 2;
    assert_int_equal(parse(&trace), PCT_TRACE_DAMAGED);
    pct_trace_close(&trace);
    memcpy(file, good, size);
    ((struct pct_trace_header *)file)->file_size = PCT_TRACE_HEADER_SIZE + AREA + 100;
    assert_int_equal(parse(&trace), PCT_TRACE_DAMAGED);
    pct_trace_close(&trace);
    ((struct pct_trace_header *)file)->file_size = PCT_TRACE_HEADER_SIZE + AREA - 8;
    assert_int_equal(parse(&trace), PCT_TRACE_DAMAGED);
    pct_trace_close(&trace);
    free(good);
    free(records);
}

/* Killed at any instruction while blocks are packed, for the first time and later, the trace has all steps made so
 * far. */
static void test_killed_anywhere(void **unused)
{
    (void)unused;
#ifdef __SANITIZE_ADDRESS__
    skip(); /* four times the instructions, and not those of the shim */
#endif
    static uint64_t *made; /* shared with the child */
    uint64_t *records = records_of(ONE_LOOP);
    made = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(made != MAP_FAILED);
    begin(SPACE);
    for (*made = 0; *made < PCT_PACK_AREA - 2;)
        step(records[(*made)++]);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
            _exit(77);
        raise(SIGSTOP);
        while (*made < PCT_PACK_AREA + PCT_TRACE_BLOCK + 2) {
            *s.record++ = records[*made];
            ++*made;
            if (s.record == s.block + PCT_TRACE_BLOCK)
                pct_record_turn(&s);
        }
        _exit(0);
    }
    int status;
    unsigned states = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        skip(); /* no debugging here */
    while (WIFSTOPPED(status)) {
        struct pct_trace trace;
        char error[256] = "";
        enum pct_trace_state state = pct_trace_parse(&trace, file, SPACE, error, sizeof error);
        if (state != PCT_TRACE_GOOD || trace.count < *made || trace.count > *made + 1 ||
            memcmp(trace.records, records, trace.count * sizeof *records)) {
            kill(child, SIGKILL);
            fail_msg("after %u instructions, %u steps: %u in the trace; %s", states, (unsigned)*made,
                     (unsigned)trace.count, error);
        }
        pct_trace_close(&trace);
        states++;
        if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) || waitpid(child, &status, 0) != child)
            break;
    }
    assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
    assert_int_equal(*made, PCT_PACK_AREA + PCT_TRACE_BLOCK + 2);
    assert_true(states > 5000);
    assert_trace(records, *made);
    free(records);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),      cmocka_unit_test(test_size),
        cmocka_unit_test(test_out_of_space),    cmocka_unit_test(test_damage),
        cmocka_unit_test(test_killed_anywhere),
    };
    file = mmap(NULL, SPACE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (file == MAP_FAILED)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
