/* The table of objects (sched/object.c) against a naive model: numbering by first use, look-up, initialising anew,
 * destruction, reuse, growth, and doing without memory. Driven directly. */
/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include <pct/strategy.h>
#include <sched/object.h>
#include <stdlib.h>
#include <string.h>

static size_t map_left; /* bytes that the table may still have */
static void *mapped[256];
static size_t mappings;

static void *test_map(size_t size)
{
    if (size > map_left || mappings == 256)
        return NULL;
    map_left -= size;
    return mapped[mappings++] = calloc(1, size);
}

static void begin(struct pct_objects *o, size_t memory)
{
    while (mappings)
        free(mapped[--mappings]);
    map_left = memory;
    memset(o, 0, sizeof *o);
    assert_int_equal(pct_objects_start(o, test_map), 0);
}

static uint64_t random_state;
static uint32_t draw(uint32_t bound)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((random_state >> 33) % bound);
}

/* --- The naive model: an array by place, where a place is one address and class ----------------------------------- */

enum { PLACES = 3000, CLASSES = 3, OPERATIONS = 1000000 };

struct model {
    bool known;
    uint32_t number, mark, waiters;
};

static struct model model[PLACES];

/* Addresses as programs have them: in rows 40 bytes apart, in pages, and three classes at each. */
static const void *address_of(uint32_t place, uint32_t spread)
{
    uint32_t i = place / CLASSES;
    uintptr_t base = UINT64_C(0x7f3200000000);
    return (const void *)(spread == 0   ? base + i * 40
                          : spread == 1 ? base + (uintptr_t)i * 4096
                                        : base + ((uintptr_t)i << 32));
}

static enum pct_class class_of(uint32_t place)
{
    return (enum pct_class)(PCT_CLASS_MUTEX + place % CLASSES);
}

static void check_all(struct pct_objects *o, uint32_t places, uint32_t spread)
{
    uint32_t known = 0;
    for (uint32_t p = 0; p < places; p++) {
        const struct pct_object *object = pct_object_known(o, address_of(p, spread), class_of(p));
        assert_int_equal(object != NULL, model[p].known);
        known += model[p].known;
        if (!object)
            continue;
        assert_int_equal(object->number, model[p].number);
        assert_int_equal(object->model[0], model[p].mark);
        assert_int_equal(object->address, (uintptr_t)address_of(p, spread));
        assert_int_equal(object->class_, class_of(p));
    }
    assert_int_equal(o->count, known);
}

static void run_model(uint32_t places, uint32_t spread, uint32_t destroys, uint64_t seed)
{
    struct pct_objects o;
    begin(&o, SIZE_MAX);
    memset(model, 0, sizeof model);
    random_state = seed;
    uint32_t numbers = 0;
    for (uint32_t i = 0; i < OPERATIONS / 4; i++) {
        uint32_t p = draw(places);
        struct model *m = &model[p];
        const void *at = address_of(p, spread);
        uint32_t action = draw(100);
        struct pct_object *object;
        if (action < destroys) { /* without effect while somebody waits */
            object = pct_object_known(&o, at, class_of(p));
            if (!object)
                continue;
            pct_object_destroy(&o, object);
            if (!m->waiters)
                *m = (struct model){ .known = false };
        } else if (action < destroys + 5) { /* initialised anew: another number, nothing remembered */
            object = pct_object_init(&o, at, class_of(p));
            if (!m->known || !m->waiters)
                *m = (struct model){ .known = true, .number = ++numbers };
        } else {
            object = pct_object_at(&o, at, class_of(p));
            if (!m->known)
                *m = (struct model){ .known = true, .number = ++numbers };
            if (action > 95) {
                m->mark = i + 1;
                m->waiters = draw(3) == 0;
                object->model[0] = m->mark;
                object->waiters = m->waiters;
            }
        }
        object = pct_object_known(&o, at, class_of(p));
        assert_int_equal(object != NULL, m->known);
        if (object) {
            assert_int_equal(object->number, m->number);
            assert_int_equal(object->waiters, m->waiters);
        }
        if (i % (OPERATIONS / 40) == 0)
            check_all(&o, places, spread);
    }
    check_all(&o, places, spread);
    assert_int_equal(o.numbered, numbers);
}

/* A million operations in all. */
static void test_model(void **unused)
{
    (void)unused;
    run_model(PLACES, 0, 20, 1);
    run_model(PLACES, 1, 45, 2);
    run_model(PLACES, 2, 45, 3);
    run_model(30, 0, 40, 4);
}

/* Keys that all have their home in the last places of the table, so that chains run round its end: entries are removed
 * in every order, and what is left is still found. */
static void test_backward_shift(void **unused)
{
    (void)unused;
    enum { KEYS = 7 };
    struct pct_objects o;
    begin(&o, SIZE_MAX);
    uint32_t slots = UINT32_C(1) << (64 - o.shift);
    uintptr_t key[KEYS];
    uint32_t found = 0;
    for (uintptr_t address = 16; found < KEYS; address += 16) {
        uint32_t home =
            (uint32_t)((PCT_OBJECT_KEY(address, PCT_CLASS_MUTEX) * UINT64_C(0x9e3779b97f4a7c15)) >> o.shift);
        if (home >= slots - 3)
            key[found++] = address;
    }
    uint32_t order[KEYS], orders = 0;
    for (uint32_t code = 0; code < 5040; code++) { /* all orders of seven */
        uint32_t rest = code, left[KEYS];
        for (uint32_t i = 0; i < KEYS; i++)
            left[i] = i;
        for (uint32_t i = 0; i < KEYS; i++) {
            uint32_t j = rest % (KEYS - i);
            rest /= KEYS - i;
            order[i] = left[j];
            memmove(left + j, left + j + 1, (KEYS - i - 1 - j) * sizeof *left);
        }
        struct pct_object *object[KEYS];
        for (uint32_t i = 0; i < KEYS; i++)
            object[i] = pct_object_at(&o, (void *)key[i], PCT_CLASS_MUTEX);
        for (uint32_t i = 0; i < KEYS; i++) {
            pct_object_destroy(&o, object[order[i]]);
            for (uint32_t j = 0; j < KEYS; j++)
                assert_ptr_equal(pct_object_known(&o, (void *)key[order[j]], PCT_CLASS_MUTEX),
                                 j > i ? object[order[j]] : NULL);
        }
        assert_int_equal(o.count, 0);
        orders++;
    }
    assert_int_equal(orders, 5040);
    for (uint32_t i = 0; i < slots; i++)
        assert_int_equal(o.slots[i].key, 0);
}

/* Memory of destroyed objects is used again: programs create and destroy mutexes without end. */
static void test_reuse(void **unused)
{
    (void)unused;
    struct pct_objects o;
    begin(&o, SIZE_MAX);
    size_t before = 0;
    for (uintptr_t i = 0; i < 100000; i++) {
        struct pct_object *object = pct_object_at(&o, (void *)(0x1000 + i * 64), PCT_CLASS_SEM);
        assert_int_equal(object->number, i + 1);
        assert_int_equal(object->holder, PCT_NO_THREAD);
        object->model[1] = 77; /* must not be seen by the next */
        assert_int_equal(object->model[0] + object->model[2], 0);
        pct_object_destroy(&o, object);
        if (i == 0)
            before = mappings;
    }
    assert_int_equal(mappings, before);
}

/* The table grows; 100,000 objects keep their identity. */
static void test_growth(void **unused)
{
    (void)unused;
    enum { MANY = 100000 };
    struct pct_objects o;
    begin(&o, SIZE_MAX);
    /* As many mappings as begin() can give back: pct_objects takes 64 objects each time. */
    static struct pct_object *objects[MANY];
    uint32_t made = 0;
    for (; made < MANY && mappings < 256; made++) {
        objects[made] = pct_object_at(&o, (void *)(uintptr_t)(0x5000 + made * 24), PCT_CLASS_RWLOCK);
        assert_int_equal(objects[made]->number, made + 1);
        assert_true(2 * o.count <= (UINT64_C(1) << (64 - o.shift)));
    }
    assert_true(made > 10000);
    for (uint32_t i = 0; i < made; i++)
        assert_ptr_equal(pct_object_at(&o, (void *)(uintptr_t)(0x5000 + i * 24), PCT_CLASS_RWLOCK), objects[i]);
}

/* Without memory: what is known stays known, new ones share an object with number 0, and nothing breaks. */
static void test_no_memory(void **unused)
{
    (void)unused;
    struct pct_objects o;
    begin(&o, 2 << 10 | 64 * sizeof(struct pct_object)); /* the first table, and 64 objects */
    struct pct_object *object[64];
    for (uintptr_t i = 0; i < 64; i++) {
        object[i] = pct_object_at(&o, (void *)(0x1000 + i * 8), PCT_CLASS_MUTEX);
        assert_int_equal(object[i]->number, i + 1);
    }
    struct pct_object *shared = pct_object_at(&o, (void *)0x9000, PCT_CLASS_MUTEX);
    assert_non_null(shared);
    assert_int_equal(shared->number, 0);
    assert_ptr_equal(pct_object_init(&o, (void *)0x9100, PCT_CLASS_COND), shared);
    assert_int_equal(shared->number, 0);
    pct_object_destroy(&o, shared); /* is in no table */
    assert_int_equal(o.count, 64);
    assert_ptr_equal(o.free, NULL);
    assert_null(pct_object_known(&o, (void *)0x9000, PCT_CLASS_MUTEX));
    pct_object_destroy(&o, object[10]);
    assert_int_equal(pct_object_at(&o, (void *)0x9000, PCT_CLASS_MUTEX)->number, 65); /* there is room again */
    for (uintptr_t i = 0; i < 64; i++)
        if (i != 10)
            assert_ptr_equal(pct_object_at(&o, (void *)(0x1000 + i * 8), PCT_CLASS_MUTEX), object[i]);
    /* No memory for a larger table: it fills up to its last slot but one. */
    begin(&o, 2 << 10 | 0);
    map_left = 0;
    static struct pct_object chunk[2000];
    o.chunk = chunk;
    o.chunk_left = 2000;
    for (uintptr_t i = 0; i < 200; i++) {
        uint32_t number = pct_object_at(&o, (void *)(0x1000 + i * 8), PCT_CLASS_MUTEX)->number;
        assert_int_equal(number, i < 127 ? i + 1 : 0);
    }
    assert_int_equal(pct_object_at(&o, (void *)0x1000, PCT_CLASS_MUTEX)->number, 1);
    assert_null(pct_object_known(&o, (void *)0x100000, PCT_CLASS_MUTEX));
}

/* A mutex that another object keeps from its place in the table is found at once all the same, when it was used. */
static void test_mutex_behind_another(void **unused)
{
    (void)unused;
    enum { MUTEXES = 200 };
    const void *memory[MUTEXES];
    struct pct_objects o;
    unsigned behind = 0;
    begin(&o, SIZE_MAX);
    random_state = 1;
    for (uintptr_t i = 0; i < MUTEXES; i++) {
        memory[i] = (const void *)(UINT64_C(0x7f3200000000) + (draw(1 << 16) * MUTEXES + i) * 8);
        pct_objects_find(&o, PCT_OBJECT_KEY(memory[i], PCT_CLASS_MUTEX));
    }
    for (int i = 0; i < MUTEXES; i++) {
        struct pct_object *object = pct_object_at(&o, memory[i], PCT_CLASS_MUTEX);
        behind += !pct_object_quick(&o, memory[i], PCT_CLASS_MUTEX);
        assert_ptr_equal(pct_object_mutex(&o, memory[i]), object);
        assert_int_equal(object->address, (uintptr_t)memory[i]);
    }
    assert_true(behind > 0);
    pct_object_destroy(&o, pct_object_at(&o, memory[0], PCT_CLASS_MUTEX));
    assert_null(pct_object_mutex(&o, memory[0]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_model),  cmocka_unit_test(test_backward_shift),
        cmocka_unit_test(test_reuse),  cmocka_unit_test(test_mutex_behind_another),
        cmocka_unit_test(test_growth), cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
