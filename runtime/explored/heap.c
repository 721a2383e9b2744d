/* The allocator of explored runs. Each thread has a region of addresses of its own, from which its blocks are cut one
 * behind the other; what does not fit there goes where other threads' would come last. What a thread frees itself it
 * may get again; what another thread frees is gone, so that nobody's addresses depend on when that was. Called by any
 * thread, at any time from the loader's first allocation on; needs no lock, as a region is its thread's. A run in which
 * a finding is repeated has what `pct replay` has in its place. */
#include "explored.h"
#include <preload/core/sys.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
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

/* Where no program of today's is mapped: far below the mappings, far above brk's. First each thread's region, then the
 * distances between the places where what does not fit in these begins. */
#define REGIONS UINT64_C(0x300000000000)
#define REGION (UINT64_C(1) << 33)
#define BEYOND (REGIONS + THREADS * REGION)
#define DISTANCE (UINT64_C(28) << 30)
#define END (BEYOND + THREADS * DISTANCE)
#define PIECE (UINT64_C(1) << 24) /* of a region, mapped at a time */

enum { UNIT = 16, PAGE = 4096, CLASSES = 64, LARGE_CLASSES = 64, LOOKS = 16, GARBAGE = 0xd5, GARBAGE_BYTES = 1 << 16 };
enum { THREADS_LOG = 10, THREADS = 1 << THREADS_LOG };
enum { LARGE = 1 << 20 }; /* blocks that may have been taken for their addresses, and not be written everywhere */

/* Before each block. */
struct head {
    uint64_t size;   /* bytes that the program may use: a multiple of UNIT */
    uint32_t thread; /* whose it is */
    bool gone;       /* it was given up */
};

/* Addresses that are one thread's. */
struct stretch {
    uint64_t next, mapped, end; /* end 0: there is none yet */
};

struct region {
    struct stretch rest;
    uint64_t beyond;                      /* where the next stretch begins, if it does not fit; 0: nothing did so far */
    void *freed[CLASSES + LARGE_CLASSES]; /* blocks of the same size; then, of larger ones, of some sizes */
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

/* The allocator that would be there without this one: libc's, or what the runtime of pct-cc makes of that. */
static struct {
    __typeof__(malloc) *malloc;
    __typeof__(calloc) *calloc;
    __typeof__(memalign) *memalign;
    __typeof__(realloc) *realloc;
    __typeof__(free) *free;
    __typeof__(malloc_usable_size) *malloc_usable_size;
} behind;

static void look_behind(void)
{
    behind.calloc = (__typeof__(behind.calloc))dlsym(RTLD_NEXT, "calloc");
    behind.memalign = (__typeof__(behind.memalign))dlsym(RTLD_NEXT, "memalign");
    behind.realloc = (__typeof__(behind.realloc))dlsym(RTLD_NEXT, "realloc");
    behind.free = (__typeof__(behind.free))dlsym(RTLD_NEXT, "free");
    behind.malloc_usable_size = (__typeof__(behind.malloc_usable_size))dlsym(RTLD_NEXT, "malloc_usable_size");
    behind.malloc = (__typeof__(behind.malloc))dlsym(RTLD_NEXT, "malloc");
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
    return (uint64_t)(uintptr_t)block - REGIONS < END - REGIONS;
}

static void die(const char *message)
{
    if (write(STDERR_FILENO, message, strlen(message)) >= 0)
        abort();
    abort();
}

/* Whether blocks are those of the allocator behind this one. Constructors of libraries ask before ours has run; what is
 * allocated to look for that one is ours. */
static bool is_off(void)
{
    static bool looking;
    if (!pct_explored_not || !pct_explored_not() || looking)
        return false;
    if (!behind.malloc) {
        looking = true;
        look_behind();
        looking = false;
    }
    return true;
}

/* What this thread gets depends on what others have. */
static void doubt(void)
{
    if (pct_explored_doubt)
        pct_explored_doubt(PCT_DOUBT_ROOM);
}

static uint32_t this_thread(void)
{
    uint32_t thread = pct_explored_thread ? pct_explored_thread() : 0;
    if (thread < THREADS)
        return thread;
    doubt();
    return THREADS - 1;
}

/* Returns 0, or a negative error: -EEXIST if something else stands there. */
static long map(uint64_t at, uint64_t size, int flags)
{
    long got = PCT_SYS6(SYS_mmap, at, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | flags, -1, 0);
    if (got == (long)at)
        return 0;
    if (got < 0 && got > -PAGE)
        return got;
    PCT_SYS2(SYS_munmap, got, size); /* an older kernel */
    return -EEXIST;
}

static bool would_map(uint64_t size, int flags)
{
    long at = PCT_SYS6(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    if (at > -PAGE && at < 0)
        return false;
    PCT_SYS2(SYS_munmap, at, size);
    return true;
}

/* So much cannot be had here. The kernel may refuse it by its size alone, as more than there is, whatever threads have
 * by then. */
static void refuse(uint64_t size)
{
    if (would_map(size, 0) || !would_map(size, MAP_NORESERVE))
        doubt();
}

/* Have the stretch mapped up to there. Returns 0, or a negative error. */
static long reach(struct stretch *s, uint64_t to)
{
    if (s->mapped >= to)
        return 0;
    const uint64_t least = (to - s->mapped + PAGE - 1) & ~(uint64_t)(PAGE - 1);
    uint64_t more = (least + PIECE - 1) / PIECE * PIECE;
    if (more > s->end - s->mapped)
        more = s->end - s->mapped;
    long failed = map(s->mapped, more, 0);
    if (failed && more > least) /* perhaps this much is left */
        failed = map(s->mapped, more = least, 0);
    if (failed && failed != -EEXIST)
        refuse(least);
    s->mapped += failed ? 0 : more;
    return failed;
}

/* Threads begin as far from each other as those with lower ids allow. */
static uint64_t begin_beyond(uint32_t thread)
{
    uint32_t place = 0;
    for (unsigned i = 0; i < THREADS_LOG; i++)
        place |= (thread >> i & 1) << (THREADS_LOG - 1 - i);
    return BEYOND + place * DISTANCE;
}

/* Go on at other addresses, with room for this much. */
static bool go_beyond(struct region *r, uint32_t thread, struct stretch *s, uint64_t size)
{
    if (!r->beyond)
        r->beyond = begin_beyond(thread);
    size = (size + PAGE - 1) & ~(uint64_t)(PAGE - 1);
    if (size > END - r->beyond) {
        refuse(size);
        return false;
    }
    *s = (struct stretch){ .next = r->beyond, .mapped = r->beyond, .end = r->beyond + size };
    r->beyond += size;
    return true;
}

static struct head *head_of(const void *block)
{
    return (struct head *)block - 1;
}

/* Those of this size, in units, and perhaps others. */
static void **freed_of(struct region *r, uint64_t units)
{
    return &r->freed[units < CLASSES ? units : CLASSES + units % LARGE_CLASSES];
}

/* One of this size that the thread has freed, or NULL. */
static void *use_again(struct region *r, size_t size)
{
    void **link = freed_of(r, size / UNIT);
    for (unsigned i = 0; i < LOOKS && *link; i++, link = *link) {
        void *block = *link;
        if (head_of(block)->size != size)
            continue;
        *link = *(void **)block;
        head_of(block)->gone = false;
        return block;
    }
    return NULL;
}

/* A block of at least this many bytes, a power of two's alignment. Where it is not fresh, and so zeroed, it was used
 * before: *used; NULL: that is not wanted. */
static void *cut(size_t size, size_t alignment, bool *used)
{
    const size_t whole = size < UNIT ? UNIT : (size + UNIT - 1) & ~(size_t)(UNIT - 1);
    if (whole < size || whole > END - BEYOND || alignment > END - BEYOND) { /* no machine has so much */
        errno = ENOMEM;
        return NULL;
    }
    const uint32_t thread = this_thread();
    struct region *r = &regions[thread];
    void *again = used && alignment <= UNIT ? use_again(r, whole) : NULL;
    if (used)
        *used = again;
    if (again)
        return again;
    if (!r->rest.end) {
        const uint64_t from = REGIONS + thread * REGION;
        r->rest = (struct stretch){ .next = from, .mapped = from, .end = from + REGION };
    }
    struct stretch own = { 0 }, *s = &r->rest;
    const uint64_t most = whole + alignment + PAGE;
    for (;;) {
        const uint64_t block = (s->next + sizeof(struct head) + alignment - 1) & ~(uint64_t)(alignment - 1);
        const bool fits = block + whole <= s->end;
        const long failed = fits ? reach(s, block + whole) : -EEXIST;
        if (!failed) {
            *head_of((void *)block) = (struct head){ .size = whole, .thread = thread };
            s->next = block + whole;
            return (void *)block;
        }
        if (failed != -EEXIST) {
            r->beyond = s == &own ? own.next : r->beyond; /* as if it had not been asked for */
            break;
        }
        if (fits)
            doubt();
        s = most > REGION / 8 ? &own : &r->rest;
        if (!go_beyond(r, thread, s, s == &own ? most : REGION))
            break;
    }
    errno = ENOMEM;
    return NULL;
}

static void *allocate(size_t size, size_t alignment)
{
    bool used;
    if (is_off())
        return alignment > UNIT ? behind.memalign(alignment, size) : behind.malloc(size);
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
        is_off() ? behind.free(block) : __libc_free(block);
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
    if (head->thread == thread) {
        void **freed = freed_of(&regions[thread], head->size / UNIT);
        *(void **)block = *freed;
        *freed = block;
    }
    errno = error;
}

PCT_EXPLORED void *calloc(size_t count, size_t size)
{
    size_t bytes;
    if (is_off())
        return behind.calloc(count, size);
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    bool used = false;
    void *block = cut(bytes, UNIT, bytes < LARGE ? &used : NULL);
    if (!block)
        return NULL;
    if (used)
        memset(block, 0, bytes);
    if (pct_explored_fresh)
        pct_explored_fresh(block, bytes);
    return block;
}

/* Whether these pages were ever written, as far as the kernel says that: its entries of them. */
static void look_at_pages(long pagemap, uintptr_t first, uint64_t *entries, unsigned count)
{
    const size_t size = count * sizeof *entries;
    if (pagemap < 0 || PCT_SYS4(SYS_pread64, pagemap, entries, size, first / PAGE * sizeof *entries) != (long)size)
        memset(entries, -1, size);
}

/* To a fresh block: what nobody has written needs no memory there either. */
static void copy_written(char *to, const char *from, size_t size)
{
    enum { AT_ONCE = 512 };
    const uint64_t there = UINT64_C(3) << 62; /* in memory, or swapped out */
    const uintptr_t begin = (uintptr_t)from, end = begin + size;
    uint64_t entries[AT_ONCE];
    unsigned left = 0;
    long pagemap = PCT_SYS3(SYS_open, "/proc/self/pagemap", O_RDONLY | O_CLOEXEC, 0);
    for (uintptr_t at = begin, next; at < end; at = next) {
        next = (at & ~(uintptr_t)(PAGE - 1)) + PAGE;
        next = next < end ? next : end;
        if (!left)
            look_at_pages(pagemap, at & ~(uintptr_t)(PAGE - 1), entries, left = AT_ONCE);
        if (entries[AT_ONCE - left--] & there)
            memcpy(to + (at - begin), from + (at - begin), next - at);
    }
    if (pagemap >= 0)
        PCT_SYS1(SYS_close, pagemap);
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
        return is_off() ? behind.realloc(old, size) : __libc_realloc(old, size);
    if (head_of(old)->gone)
        die("realloc(): of a block that was freed\n");
    size_t before = head_of(old)->size;
    if (size <= before)
        return old;
    bool used = false, off = is_off();
    void *block = off ? behind.malloc(size) : cut(size, UNIT, before < LARGE ? &used : NULL);
    if (!block)
        return NULL;
    if (pct_explored_fresh)
        pct_explored_fresh(block, size);
    if (before < LARGE || off)
        memcpy(block, old, before);
    else
        copy_written(block, old, before);
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
    return allocate(size, PAGE);
}

PCT_EXPLORED void *pvalloc(size_t size)
{
    return allocate(size > SIZE_MAX - PAGE ? size : (size + PAGE - 1) & ~(size_t)(PAGE - 1), PAGE);
}

PCT_EXPLORED size_t malloc_usable_size(void *block)
{
    if (!block || is_ours(block))
        return block ? head_of(block)->size : 0;
    if (!behind.malloc_usable_size)
        look_behind();
    return behind.malloc_usable_size(block);
}
