/* The allocator of explored runs. Each thread has a region of addresses of its own, from which its blocks are cut one
 * behind the other. What a thread frees itself it may get again; what another thread frees is gone, so that nobody's
 * addresses depend on when that was. Called by any thread, at any time from the loader's first allocation on; needs no
 * lock, as a region is its thread's. */
#include "explored.h"
#include <preload/core/sys.h>
#include <errno.h>
#include <link.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* GLIBC: its own, for what is not from here. */
void __libc_free(void *block);
void *__libc_realloc(void *block, size_t size);

/* C23; in <stdlib.h> since glibc 2.43. */
void free_sized(void *block, size_t size);
void free_aligned_sized(void *block, size_t alignment, size_t size);

/* Where no program of today's is mapped: far below the mappings, far above brk's. */
#define REGIONS UINT64_C(0x300000000000)
#define REGION_LOG 33
#define PIECE (UINT64_C(1) << 24) /* of the region, mapped at a time */

enum { UNIT = 16, CLASSES = 64, THREADS = 1024, GARBAGE = 0xd5, GARBAGE_BYTES = 1 << 16 };

/* Before each block. */
struct head {
    uint64_t size;   /* bytes that the program may use: a multiple of UNIT */
    uint32_t thread; /* whose region it is cut from */
    bool gone;       /* it was given up */
};

struct region {
    uint64_t next, mapped;    /* addresses */
    void *freed[CLASSES + 1]; /* blocks of the same size; the last: larger ones, none of which is used again */
};

static struct region regions[THREADS];

/* Of the runtime of pct-cc, which programs have that tell of their accesses to memory. (dlsym(), where there is none,
 * would leave its message in the program's heap until some later call of the loader gives it back.) */
extern void __tsan_init(void) __attribute__((weak));

/* Where libc and the loader are: what they free, the program never had. */
static struct {
    uintptr_t from, to;
} libc[2];

static bool has(const char *path, const char *name)
{
    size_t length = strlen(name);
    for (; *path; path++)
        if (!memcmp(path, name, length < strlen(path) ? length : strlen(path) + 1))
            return true;
    return false;
}

static int note_module(struct dl_phdr_info *module, size_t size, void *count)
{
    (void)size;
    unsigned *found = count;
    if (*found == 2 || (!has(module->dlpi_name, "/libc.so") && !has(module->dlpi_name, "/ld-linux")))
        return 0;
    for (unsigned i = 0; i < module->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &module->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && part->p_flags & PF_X) {
            libc[*found].from = module->dlpi_addr + part->p_vaddr;
            libc[*found].to = libc[*found].from + part->p_memsz;
        }
    }
    ++*found;
    return 0;
}

__attribute__((constructor)) static void look_around(void)
{
    unsigned found = 0;
    dl_iterate_phdr(note_module, &found);
}

static bool is_libcs(const void *pc)
{
    const uintptr_t at = (uintptr_t)pc;
    return at - libc[0].from < libc[0].to - libc[0].from || at - libc[1].from < libc[1].to - libc[1].from;
}

static void give_up(void *block, const void *pc);

static bool is_ours(const void *block)
{
    return ((uint64_t)(uintptr_t)block - REGIONS) >> REGION_LOG < THREADS;
}

static void die(const char *message)
{
    if (write(STDERR_FILENO, message, strlen(message)) >= 0)
        abort();
    abort();
}

static uint32_t this_thread(void)
{
    uint32_t thread = pct_explored_thread ? pct_explored_thread() : 0;
    return thread < THREADS ? thread : THREADS - 1;
}

static bool reach(struct region *r, uint64_t to)
{
    while (r->mapped < to) {
        uint64_t more = (to - r->mapped + PIECE - 1) / PIECE * PIECE;
        void *got = (void *)PCT_SYS6(SYS_mmap, r->mapped, more, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
        if (got != (void *)r->mapped)
            return false;
        r->mapped += more;
    }
    return true;
}

static struct head *head_of(const void *block)
{
    return (struct head *)block - 1;
}

/* A block of at least this many bytes, a power of two's alignment; zeroed unless it was used before (*used). */
static void *cut(size_t size, size_t alignment, bool *used)
{
    uint32_t thread = this_thread();
    struct region *r = &regions[thread];
    size_t whole = size < UNIT ? UNIT : (size + UNIT - 1) & ~(size_t)(UNIT - 1);
    *used = false;
    if (whole < size || whole >> REGION_LOG) {
        errno = ENOMEM;
        return NULL;
    }
    if (whole / UNIT < CLASSES && alignment <= UNIT && r->freed[whole / UNIT]) {
        void *block = r->freed[whole / UNIT];
        r->freed[whole / UNIT] = *(void **)block;
        head_of(block)->gone = false;
        *used = true;
        return block;
    }
    if (!r->next)
        r->next = r->mapped = REGIONS + ((uint64_t)thread << REGION_LOG);
    uint64_t block = (r->next + sizeof(struct head) + alignment - 1) & ~(uint64_t)(alignment - 1);
    if (block + whole >= REGIONS + ((uint64_t)(thread + 1) << REGION_LOG) || !reach(r, block + whole)) {
        errno = ENOMEM;
        return NULL;
    }
    *head_of((void *)block) = (struct head){ .size = whole, .thread = thread };
    r->next = block + whole;
    return (void *)block;
}

static void *allocate(size_t size, size_t alignment)
{
    bool used;
    void *block = cut(size, alignment < UNIT ? UNIT : alignment, &used);
    if (block && pct_explored_fresh)
        pct_explored_fresh(block, size);
    return block;
}

PCT_EXPLORED void *malloc(size_t size)
{
    return allocate(size, UNIT);
}

PCT_EXPLORED void free(void *block)
{
    give_up(block, __builtin_return_address(0));
}

PCT_EXPLORED void free_sized(void *block, size_t size)
{
    (void)size;
    give_up(block, __builtin_return_address(0));
}

PCT_EXPLORED void free_aligned_sized(void *block, size_t alignment, size_t size)
{
    (void)alignment;
    (void)size;
    give_up(block, __builtin_return_address(0));
}

static void give_up(void *block, const void *pc)
{
    int error = errno;
    if (!is_ours(block)) {
        __libc_free(block);
        return;
    }
    struct head *head = head_of(block);
    if (head->gone)
        die("free(): double free detected\n");
    if (pct_explored_gone && !is_libcs(pc))
        pct_explored_gone(block, head->size, __tsan_init);
    head->gone = true;
    memset(block, GARBAGE, head->size < GARBAGE_BYTES ? head->size : GARBAGE_BYTES); /* for those who still use it */
    uint32_t thread = this_thread();
    if (head->thread == thread && head->size / UNIT < CLASSES) {
        *(void **)block = regions[thread].freed[head->size / UNIT];
        regions[thread].freed[head->size / UNIT] = block;
    }
    errno = error;
}

PCT_EXPLORED void *calloc(size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    bool used;
    void *block = cut(bytes, UNIT, &used);
    if (!block)
        return NULL;
    if (used)
        memset(block, 0, bytes);
    if (pct_explored_fresh)
        pct_explored_fresh(block, bytes);
    return block;
}

PCT_EXPLORED void *realloc(void *old, size_t size)
{
    if (!old)
        return malloc(size);
    if (!size) {
        give_up(old, __builtin_return_address(0));
        return NULL;
    }
    if (!is_ours(old))
        return __libc_realloc(old, size);
    if (head_of(old)->gone)
        die("realloc(): of a block that was freed\n");
    size_t before = head_of(old)->size;
    if (size <= before)
        return old;
    void *block = malloc(size);
    if (!block)
        return NULL;
    memcpy(block, old, before);
    give_up(old, __builtin_return_address(0));
    return block;
}

static bool is_power(size_t alignment)
{
    return alignment && !(alignment & (alignment - 1));
}

PCT_EXPLORED void *memalign(size_t alignment, size_t size)
{
    size_t power = UNIT;
    while (power < alignment && power << 1)
        power <<= 1;
    return allocate(size, power);
}

PCT_EXPLORED void *aligned_alloc(size_t alignment, size_t size)
{
    return memalign(alignment, size);
}

PCT_EXPLORED int posix_memalign(void **result, size_t alignment, size_t size)
{
    if (!is_power(alignment) || alignment % sizeof(void *))
        return EINVAL;
    int error = errno;
    void *block = allocate(size, alignment);
    errno = error;
    if (!block)
        return ENOMEM;
    *result = block;
    return 0;
}

PCT_EXPLORED void *valloc(size_t size)
{
    return allocate(size, 4096);
}

PCT_EXPLORED void *pvalloc(size_t size)
{
    return allocate((size + 4095) & ~(size_t)4095, 4096);
}

PCT_EXPLORED size_t malloc_usable_size(void *block)
{
    return block ? head_of(block)->size : 0;
}
