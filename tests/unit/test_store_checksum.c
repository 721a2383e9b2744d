/* Unit tests of the checksum of a campaign file: cli/campaign/store_checksum.c. */
/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include <cli/campaign/code_files.h>
#include "store_file.h"
#include <sqlite3.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

/* What --memo takes from a file: all in one number. */
static int sum_place(void *data, const struct pct_store_place *place)
{
    const uint64_t numbers[] = { *(uint64_t *)data, place->number, place->op, place->code, (uint64_t)place->line };
    *(uint64_t *)data = XXH3_64bits(numbers, sizeof numbers) + XXH3_64bits(place->function, strlen(place->function)) +
                        XXH3_64bits(place->file, strlen(place->file));
    return 0;
}

static int sum_iroot(void *data, const struct pct_store_iroot *root)
{
    const uint64_t numbers[] = { *(uint64_t *)data, root->idiom,     root->place[0],
                                 root->place[1],    root->predicted, root->exposed };
    *(uint64_t *)data = XXH3_64bits(numbers, sizeof numbers);
    return 0;
}

static int sum_code(void *data, uint32_t code, const struct pct_code_position *position)
{
    const uint64_t numbers[] = { *(uint64_t *)data, code, position->hash, position->at };
    *(uint64_t *)data =
        XXH3_64bits(numbers, sizeof numbers) + XXH3_64bits(position->function, strlen(position->function));
    return 0;
}

static int sum_memo(void *data, const char *iroot)
{
    *(uint64_t *)data = XXH3_64bits_withSeed(iroot, strlen(iroot), *(uint64_t *)data);
    return 0;
}

static uint64_t sum_known(struct pct_store *store)
{
    struct pct_store_totals totals;
    uint64_t sum = 0;
    assert_int_equal(pct_store_totals(store, &totals), 0);
    assert_int_equal(pct_store_each_place(store, sum_place, &sum), 0);
    assert_int_equal(pct_store_each_iroot(store, sum_iroot, &sum), 0);
    assert_int_equal(pct_store_each_code(store, sum_code, &sum), 0);
    assert_int_equal(pct_store_each_memo(store, sum_memo, &sum), 0);
    return sum + totals.runs + XXH3_64bits(pct_store_fact(store, "spec"), 3);
}

/* The file of a campaign of maple, with a few places of code, iRoots, and what was known before. */
static void make_iroots(void)
{
    char error[512], text[64];
    assert_int_equal(pct_store_create(path, facts, error, sizeof error), 0);
    struct pct_store *store = pct_store_open(path, true, error, sizeof error);
    assert_non_null(store);
    assert_int_equal(pct_store_begin_session(store, 1000, 1), 0);
    assert_int_equal(pct_store_begin_iroots(store), 0);
    for (uint32_t i = 1; i <= 30; i++) {
        const struct pct_store_run run = { .seed = 6 + i, .hash = i * 0x9e3779b97f4a7c15u };
        const struct pct_store_place place = { i, 1, 100 + i, (int)i, 1, "put", "queue.c" };
        const struct pct_code_position position = { .module = "", .function = "put", .hash = i * 7919, .at = i };
        const struct pct_store_iroot root = { .idiom = 1, .place = { i, 31 - i }, .number = i, .predicted = i };
        snprintf(text, sizeof text, "1-1.%08x-1.%08x", 100 + i, 131 - i);
        assert_int_equal(pct_store_add_run(store, &run), 0);
        assert_int_equal(pct_store_add_place(store, &place), 0);
        assert_int_equal(pct_store_add_code(store, 100 + i, &position), 0);
        assert_int_equal(pct_store_add_iroot(store, &root), 0);
        assert_int_equal(pct_store_add_memo(store, text), 0);
    }
    assert_int_equal(pct_store_commit(store, 1), 0);
    pct_store_close(store);
}

/* One bit of the file is another: either it is refused, or what it says is the same. */
static void test_flips(void **unused)
{
    (void)unused;
    enum { STEP = 97, MOST = 1 << 18 };
    static char whole[MOST];
    char error[512];
    make_iroots();
    struct pct_store *store = pct_store_open(path, false, error, sizeof error);
    assert_non_null(store);
    assert_int_equal(strlen(pct_store_fact(store, "checksum")), 18);
    const uint64_t known = sum_known(store);
    pct_store_close(store);
    FILE *file = fopen(path, "rb");
    size_t size = fread(whole, 1, sizeof whole, file);
    fclose(file);
    unsigned refused = 0, rows = 0;
    for (size_t at = 0; at < size; at += STEP) {
        whole[at] ^= (char)(1 << at % 8);
        file = fopen(path, "wb");
        assert_int_equal(fwrite(whole, 1, size, file), size);
        fclose(file);
        whole[at] ^= (char)(1 << at % 8);
        store = pct_store_open(path, false, error, sizeof error);
        refused += !store;
        rows += !store && strstr(error, "its checksum is of other contents") && strstr(error, "move it away");
        if (!store)
            continue;
        assert_true(sum_known(store) == known);
        pct_store_close(store);
    }
    assert_true(rows > 10 && refused > rows);
}

/* Without a checksum, as earlier versions and campaigns that were killed leave it, and with more sessions than the
 * checksum is of, as an earlier version leaves it that has gone on: it is read, and has one when it is written
 * again. */
static void test_unchecked(void **unused)
{
    (void)unused;
    char error[512];
    make_iroots();
    for (unsigned i = 0; i < 2; i++) {
        sqlite3 *db;
        assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
        assert_int_equal(sqlite3_exec(db,
                                      i ? "INSERT INTO sessions SELECT id + 1, 2000, 1, 1, 1 FROM sessions"
                                        : "DELETE FROM facts WHERE key = 'checksum'; UPDATE iroots SET predicted = 1",
                                      NULL, NULL, NULL),
                         SQLITE_OK);
        sqlite3_close(db);
        struct pct_store *store = pct_store_open(path, false, error, sizeof error);
        assert_non_null(store);
        pct_store_close(store);
        store = pct_store_open(path, true, error, sizeof error);
        assert_non_null(store);
        assert_int_equal(pct_store_commit(store, 1), 0);
        /* Whoever kills it now leaves none. */
        struct pct_store *reader = pct_store_open(path, false, error, sizeof error);
        assert_non_null(reader);
        assert_string_equal(pct_store_fact(reader, "checksum"), "");
        pct_store_close(reader);
        pct_store_close(store);
        store = pct_store_open(path, false, error, sizeof error);
        assert_non_null(store);
        assert_int_equal(pct_store_fact(store, "checksum")[17], '1' + (int)i);
        pct_store_close(store);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_flips, make, unmake),
        cmocka_unit_test_setup_teardown(test_unchecked, make, unmake),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
