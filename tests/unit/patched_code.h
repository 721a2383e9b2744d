/* Code with one site, patched by patch/place.c and then run. What trampolines call is a few instructions here, which
 * count. Behind cmocka.h. */
#ifndef PCT_TEST_PATCHED_CODE_H
#define PCT_TEST_PATCHED_CODE_H

#include <patch/place.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { CODE_SIZE = 4096, NEAR_SIZE = 1 << 16, FAR = 1 << 24, LEAVES = 32 /* bytes of them */ };

static uint64_t events;
static const struct pct_patched *last;

/* Called from trampolines: keeps all registers and the flags. */
void count_event(uint64_t return_address);
void count_event(uint64_t return_address)
{
    events++;
    last = pct_emit_record(return_address);
}
void slow_half(void);
__asm__(".text\n"
        ".type slow_half, @function\n"
        "slow_half:\n"
        "pushfq\n\tpushq %rax\n\tpushq %rcx\n\tpushq %rdx\n\tpushq %rsi\n\tpushq %rdi\n\tpushq %r8\n\tpushq %r9\n\t"
        "pushq %r10\n\tpushq %r11\n\tpushq %rbp\n\t"
        "movq %rsp, %rbp\n\tmovq 88(%rsp), %rdi\n\tandq $-16, %rsp\n\tcld\n\tcall count_event\n\tmovq %rbp, %rsp\n\t"
        "popq %rbp\n\tpopq %r11\n\tpopq %r10\n\tpopq %r9\n\tpopq %r8\n\tpopq %rdi\n\tpopq %rsi\n\tpopq %rdx\n\t"
        "popq %rcx\n\tpopq %rax\n\tpopfq\n\tret\n");

/* The leaves of the test, near the code: the slow one goes to the slow half; the quick one of four bytes returns as
 * often as `budget` says, and keeps no flags. */
static uint64_t budget __attribute__((used));
void quick_leaf(void);
__asm__(".text\n"
        ".type quick_leaf, @function\n"
        "quick_leaf:\n"
        "movq %rdx, accessed(%rip)\n"
        "cmpq $0, budget(%rip)\n\t"
        "je slow_half\n\t"
        "decq budget(%rip)\n\t"
        "ret\n");
static uint64_t accessed __attribute__((used));

/* The marks of the test: the thread's own, as trampolines find it, and the location's, near the code. */
static __thread uint32_t own_mark = 0x40000001, own_unmark = 0 - 0x40000001u;
static uint32_t *location_mark;
static uint64_t marked; /* the address that was asked for */

static uint64_t mark_of(uint64_t address)
{
    marked = address;
    return (uint64_t)location_mark;
}

/* volatile: linkers do not know every instruction that could use its offset */
static int32_t from_thread(const void *volatile place)
{
    return (int32_t)((const char *)place - (char *)__builtin_thread_pointer());
}

static uint64_t leaf_to(struct pct_placing *p, void (*function)(void))
{
    uint8_t *leaf = p->near + p->near_used;
    memcpy(leaf, (const uint8_t[]){ 0xff, 0x25, 0, 0, 0, 0 }, 6); /* jmp *0(%rip) */
    memcpy(leaf + 6, &function, sizeof function);
    p->near_used += 16;
    return (uint64_t)leaf;
}

/* A module in memory. */
struct fixture {
    struct pct_placing place;
    uint8_t *code; /* where it runs */
    struct pct_plan *plan;
};

static uint8_t *map_page(void *context, uint64_t address)
{
    (void)context;
    void *at = mmap((void *)address, PCT_PLACE_PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

static void *map_code(void *hint, size_t size)
{
    void *at = mmap(hint, size, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(at, MAP_FAILED);
    return at;
}

static bool marks; /* the places of marks are known */

/* Place one site in this code, and a pad, if its size is not 0. */
static struct fixture place(const uint8_t *code, size_t size, struct pct_plan_site site, struct pct_pad pad)
{
    struct fixture f = { .plan = calloc(1, sizeof *f.plan + sizeof site + sizeof pad) };
    struct pct_placing *p = &f.place;
    p->code = calloc(1, CODE_SIZE);
    p->locked = calloc(CODE_SIZE / 8 + 1, 1);
    p->patched = calloc(1, sizeof *p->patched);
    p->pages = calloc(PCT_PLACE_MAX_PAGES, sizeof *p->pages);
    p->slots = calloc(PCT_PLACE_SLOTS, sizeof *p->slots);
    p->map = map_page;
    p->plan = f.plan;
    *f.plan = (struct pct_plan){ .sites = 1, .pads = pad.size != 0, .from = 0, .to = CODE_SIZE };
    memcpy(f.plan + 1, &site, sizeof site);
    memcpy((struct pct_plan_site *)(f.plan + 1) + 1, &pad, sizeof pad);
    /* After all that allocates: room on both sides, in which the jumps may end. */
    char *all = mmap(NULL, 3 * (size_t)FAR, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_ptr_not_equal(all, MAP_FAILED);
    munmap(all, 3 * (size_t)FAR);
    f.code = map_code(all + FAR, CODE_SIZE);
    memcpy(f.code, code, size);
    memcpy(p->code, f.code, CODE_SIZE);
    p->bias = (uint64_t)f.code;
    p->near = map_code(all + FAR + CODE_SIZE, NEAR_SIZE);
    p->near_address = (uint64_t)p->near;
    p->near_size = NEAR_SIZE;
    p->leaves.slow = leaf_to(p, slow_half);
    p->leaves.own = from_thread(&own_mark);
    p->leaves.unmark = from_thread(&own_unmark);
    p->leaves.mark = marks ? mark_of : NULL;
    location_mark = (uint32_t *)(p->near + NEAR_SIZE - sizeof *location_mark);
    p->leaves.quick[PCT_LEAF_READ][2][0] = p->leaves.quick[PCT_LEAF_BOTH][2][0] = leaf_to(p, quick_leaf);
    pct_place_module(p);
    memcpy(f.code, p->code, CODE_SIZE);
    return f;
}

static void drop(struct fixture *f)
{
    munmap(f->code, CODE_SIZE);
    munmap(f->place.near, NEAR_SIZE);
    for (unsigned i = 0; i < f->place.page_count; i++)
        if (f->place.pages[i].memory)
            munmap(f->place.pages[i].memory, PCT_PLACE_PAGE);
    free(f->place.code);
    free(f->place.locked);
    free(f->place.patched);
    free(f->place.pages);
    free(f->place.slots);
    free(f->plan);
}

static struct pct_plan_site site_at(uint64_t address, unsigned length, enum pct_site_kind kind)
{
    return (struct pct_plan_site){ .address = address,
                                   .length = (uint8_t)length,
                                   .kind = (uint8_t)kind,
                                   .size = 4,
                                   .flags = PCT_SITE_FLAGS_DEAD,
                                   .base = 7,
                                   .index = PCT_SITE_NO_REGISTER };
}

/* A site whose address is relative, whose displacement stands behind two bytes. */
static struct pct_plan_site relative_at(uint64_t address, unsigned length, enum pct_site_kind kind,
                                        int32_t displacement)
{
    struct pct_plan_site site = site_at(address, length, kind);
    site.base = PCT_SITE_NO_REGISTER;
    site.flags |= PCT_SITE_RELATIVE;
    site.displacement = displacement;
    site.displacement_at = 2;
    return site;
}

/* Place it where the places of marks are known. */
static struct fixture place_with_marks(const uint8_t *code, size_t size, struct pct_plan_site site)
{
    marks = true;
    struct fixture f = place(code, size, site, (struct pct_pad){ 0 });
    marks = false;
    return f;
}

/* Run the code as a function: each event calls the slow half, then none does, then each second one. */
static void run(struct fixture *f, uint32_t *argument, uint32_t step)
{
    uint32_t (*function)(uint32_t *) = (uint32_t(*)(uint32_t *))(void *)f->code;
    uint32_t value = *argument;
    events = budget = 0;
    accessed = 0;
    assert_int_equal(function(argument), value += step);
    assert_int_equal(events, 1);
    assert_ptr_equal(last, f->place.patched);
    assert_ptr_equal(accessed, argument);
    budget = 2;
    assert_int_equal(function(argument), value += step);
    assert_int_equal(function(argument), value += step);
    assert_int_equal(events, 1);
    assert_int_equal(budget, 0);
    assert_int_equal(function(argument), value += step);
    assert_int_equal(events, 2);
}

#endif
