/* The campaign file (cli/campaign/store.c) and a power failure: whatever of the writes that were not synced has come to
 * the disk, in whatever order, and sectors of half-written pages among it, the file opens, holds the first runs of its
 * campaign without a gap, all those that were there after an earlier failure, and takes the next ones.
 *
 * SQLite writes through a layer (a VFS) that notes what it is asked to write, to sync and to delete. Afterwards the
 * disk as it may have been left at many moments is made from these notes: what was synced, and sectors of the rest by a
 * fixed generator. */
/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include <cli/campaign/store.h>
#include <fcntl.h>
#include <pct/random.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    RUNS = 600,
    BATCH = 20,
    OUTPUT = 160000,
    FILES = 8,
    MOMENTS = 60,
    SECTOR = 512,
    MOST_COMMITS = RUNS / BATCH + 1
};

/* --- The notes ---------------------------------------------------------------------------------------------------- */

enum kind { MADE, WRITE, TRUNCATE, SYNC, DELETE, DELETE_SYNCED };

struct note {
    enum kind kind;
    int file;
    int64_t offset; /* TRUNCATE: the size */
    int size;
    char *data;
};

static struct note *notes;
static size_t count, room;
static char names[FILES][256];
static int named;

static int file_of(const char *path)
{
    for (int i = 0; i < named; i++)
        if (!strcmp(names[i], path))
            return i;
    assert_true(named < FILES);
    snprintf(names[named], sizeof names[named], "%s", path);
    return named++;
}

static void note(enum kind kind, int file, int64_t offset, const void *data, int size)
{
    if (count == room) {
        room = room ? 2 * room : 1024;
        struct note *more = realloc(notes, room * sizeof *notes);
        assert_non_null(more);
        notes = more;
    }
    struct note *new = &notes[count++];
    *new = (struct note){ .kind = kind, .file = file, .offset = offset, .size = size };
    if (size) {
        new->data = malloc((size_t)size);
        assert_non_null(new->data);
        memcpy(new->data, data, (size_t)size);
    }
}

/* --- The layer ---------------------------------------------------------------------------------------------------- */

static sqlite3_vfs *below;
static sqlite3_vfs layer;

struct file {
    sqlite3_file base;
    int number;          /* -1: of no interest */
    sqlite3_file real[]; /* as large as the layer below says */
};

static sqlite3_file *real_of(sqlite3_file *file)
{
    return ((struct file *)file)->real;
}

static int layer_close(sqlite3_file *f)
{
    return real_of(f)->pMethods->xClose(real_of(f));
}

static int layer_read(sqlite3_file *f, void *to, int size, sqlite3_int64 at)
{
    return real_of(f)->pMethods->xRead(real_of(f), to, size, at);
}

static int layer_write(sqlite3_file *f, const void *from, int size, sqlite3_int64 at)
{
    note(WRITE, ((struct file *)f)->number, at, from, size);
    return real_of(f)->pMethods->xWrite(real_of(f), from, size, at);
}

static int layer_truncate(sqlite3_file *f, sqlite3_int64 size)
{
    note(TRUNCATE, ((struct file *)f)->number, size, NULL, 0);
    return real_of(f)->pMethods->xTruncate(real_of(f), size);
}

static int layer_sync(sqlite3_file *f, int flags)
{
    (void)flags; /* noted, and not done: the disk of this machine has nothing to do with it */
    note(SYNC, ((struct file *)f)->number, 0, NULL, 0);
    return SQLITE_OK;
}

static int layer_size(sqlite3_file *f, sqlite3_int64 *size)
{
    return real_of(f)->pMethods->xFileSize(real_of(f), size);
}

static int layer_lock(sqlite3_file *f, int how)
{
    return real_of(f)->pMethods->xLock(real_of(f), how);
}

static int layer_unlock(sqlite3_file *f, int how)
{
    return real_of(f)->pMethods->xUnlock(real_of(f), how);
}

static int layer_reserved(sqlite3_file *f, int *answer)
{
    return real_of(f)->pMethods->xCheckReservedLock(real_of(f), answer);
}

static int layer_control(sqlite3_file *f, int what, void *argument)
{
    return real_of(f)->pMethods->xFileControl(real_of(f), what, argument);
}

static int layer_sector(sqlite3_file *f)
{
    (void)f;
    return SECTOR;
}

/* Nothing that a disk could promise. */
static int layer_device(sqlite3_file *f)
{
    (void)f;
    return 0;
}

static int layer_map(sqlite3_file *f, int region, int size, int extend, void volatile **at)
{
    return real_of(f)->pMethods->xShmMap(real_of(f), region, size, extend, at);
}

static int layer_shm_lock(sqlite3_file *f, int offset, int n, int flags)
{
    return real_of(f)->pMethods->xShmLock(real_of(f), offset, n, flags);
}

static void layer_barrier(sqlite3_file *f)
{
    real_of(f)->pMethods->xShmBarrier(real_of(f));
}

static int layer_unmap(sqlite3_file *f, int remove)
{
    return real_of(f)->pMethods->xShmUnmap(real_of(f), remove);
}

static int layer_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *f, int flags, int *out)
{
    static const sqlite3_io_methods methods = { .iVersion = 2,
                                                .xClose = layer_close,
                                                .xRead = layer_read,
                                                .xWrite = layer_write,
                                                .xTruncate = layer_truncate,
                                                .xSync = layer_sync,
                                                .xFileSize = layer_size,
                                                .xLock = layer_lock,
                                                .xUnlock = layer_unlock,
                                                .xCheckReservedLock = layer_reserved,
                                                .xFileControl = layer_control,
                                                .xSectorSize = layer_sector,
                                                .xDeviceCharacteristics = layer_device,
                                                .xShmMap = layer_map,
                                                .xShmLock = layer_shm_lock,
                                                .xShmBarrier = layer_barrier,
                                                .xShmUnmap = layer_unmap };
    (void)vfs;
    struct file *file = (struct file *)f;
    bool new = path &&access(path, F_OK);
    int code = below->xOpen(below, path, file->real, flags, out);
    file->base.pMethods = code ? NULL : &methods;
    if (!code) {
        assert_non_null(path); /* temporary files are kept in memory */
        file->number = file_of(path);
    }
    if (!code && new)
        note(MADE, file->number, 0, NULL, 0);
    return code;
}

static int layer_delete(sqlite3_vfs *vfs, const char *path, int sync)
{
    (void)vfs;
    int code = below->xDelete(below, path, 0);
    if (!code)
        note(sync ? DELETE_SYNCED : DELETE, file_of(path), 0, NULL, 0);
    return code;
}

static void install(void)
{
    below = sqlite3_vfs_find(NULL);
    assert_non_null(below);
    layer = *below; /* what is not about files is the same; SQLite's own functions do not look at the object */
    layer.zName = "power";
    layer.szOsFile = (int)sizeof(struct file) + below->szOsFile;
    layer.xOpen = layer_open;
    layer.xDelete = layer_delete;
    layer.pNext = NULL;
    assert_int_equal(sqlite3_vfs_register(&layer, 1), SQLITE_OK);
}

/* --- The disk after a failure ------------------------------------------------------------------------------------- */

struct content {
    char *data;
    int64_t size, room;
    bool exists;
};

static void put(struct content *c, int64_t at, const char *data, int64_t size)
{
    if (!c->data || at + size > c->room) {
        c->room = 2 * (at + size) + 1;
        char *more = calloc(1, (size_t)c->room);
        if (!more)
            abort();
        if (c->data)
            memcpy(more, c->data, (size_t)c->size);
        free(c->data);
        c->data = more;
    }
    if (at > c->size)
        memset(c->data + c->size, 0, (size_t)(at - c->size));
    if (data)
        memcpy(c->data + at, data, (size_t)size);
    if (at + size > c->size)
        c->size = at + size;
}

static uint64_t state;

/* Whether a sector, or a change of the directory, has come to the disk. */
static bool comes(bool any)
{
    return any && pct_random(1, 0, state++) & 1;
}

/* A change that was not synced. any: by chance; otherwise nothing of it. */
static void apply_some(struct content *c, const struct note *n, bool any)
{
    switch (n->kind) {
    case MADE:
        c->exists |= comes(any);
        break;
    case WRITE:
        for (int64_t at = 0; at < n->size;) {
            int64_t size = SECTOR - (n->offset + at) % SECTOR;
            if (size > n->size - at)
                size = n->size - at;
            if (c->exists && comes(any))
                put(c, n->offset + at, n->data + at, size);
            at += size;
        }
        break;
    case TRUNCATE:
        if (comes(any) && n->offset < c->size)
            c->size = n->offset;
        break;
    case DELETE:
        if (comes(any))
            *c = (struct content){ .data = c->data, .room = c->room };
        break;
    case SYNC:
    case DELETE_SYNCED:
        break;
    }
}

static void apply(struct content *c, const struct note *n)
{
    if (n->kind == MADE)
        c->exists = true;
    else if (n->kind == WRITE)
        put(c, n->offset, n->data, n->size);
    else if (n->kind == TRUNCATE && n->offset < c->size)
        c->size = n->offset;
    else if (n->kind == DELETE || n->kind == DELETE_SYNCED)
        *c = (struct content){ .data = c->data, .room = c->room };
}

/* What is safe of each file, and from which note on its changes are not. */
static struct content safe[FILES];
static size_t unsafe[FILES];

/* The directory is synced: files that were made are there, files that were deleted are not. */
static void advance_directory(size_t at)
{
    for (size_t i = 0; i <= at; i++) {
        const struct note *n = &notes[i];
        if (i < unsafe[n->file])
            continue;
        if (n->kind == MADE)
            safe[n->file].exists = true;
        if (n->kind == DELETE || n->kind == DELETE_SYNCED) {
            apply(&safe[n->file], n);
            unsafe[n->file] = i + 1;
        }
    }
}

/* A sync makes all earlier changes of its file safe; the first one of a new journal or log, as SQLite does it, the
 * directory, too. */
static void advance(size_t at)
{
    const struct note *n = &notes[at];
    bool new = false;
    if (n->kind == DELETE_SYNCED)
        advance_directory(at);
    if (n->kind != SYNC)
        return;
    for (size_t i = unsafe[n->file]; i <= at; i++)
        if (notes[i].file == n->file) {
            apply(&safe[n->file], &notes[i]);
            new |= notes[i].kind == MADE &&strchr(strrchr(names[n->file], '/'), '-');
        }
    unsafe[n->file] = at + 1;
    if (new)
        advance_directory(at);
}

/* Write the disk as it may be at the note `end` into this directory. */
static void make_disk(const char *directory, size_t end, bool any)
{
    char index[512];
    snprintf(index, sizeof index, "%s/c.db-shm", directory);
    unlink(index); /* memory, not disk */
    for (int i = 0; i < named; i++) {
        char path[512];
        struct content c = { .exists = safe[i].exists };
        put(&c, 0, safe[i].data ? safe[i].data : "", safe[i].size);
        for (size_t k = unsafe[i]; k < end; k++)
            if (notes[k].file == i)
                apply_some(&c, &notes[k], any);
        snprintf(path, sizeof path, "%s/%s", directory, strrchr(names[i], '/') + 1);
        unlink(path);
        if (c.exists) {
            FILE *out = fopen(path, "w");
            assert_non_null(out);
            assert_int_equal(fwrite(c.data, 1, (size_t)c.size, out), c.size);
            assert_int_equal(fclose(out), 0);
        }
        free(c.data);
    }
}

/* --- The campaign ------------------------------------------------------------------------------------------------- */

static struct {
    size_t notes; /* when the commit returned */
    uint64_t runs;
} commits[MOST_COMMITS];

static void add_run(struct pct_store *store, uint64_t seed)
{
    static char output[OUTPUT];
    struct pct_store_run run = { .seed = seed, .k = 9, .depth = 2, .steps = 9, .threads = 2, .hash = seed };
    /* A finding with output now and then, so that the log is long enough to be moved into the file, and more than
     * once. */
    if (seed % BATCH == 7) {
        memset(output, 'a' + (int)(seed / BATCH % 26), sizeof output);
        struct pct_store_finding finding = {
            .signature = seed, .verdict = "crash", .output = output, .output_size = sizeof output, .seed = seed
        };
        assert_int_equal(pct_store_add_finding(store, &finding), 0);
        run.finding = finding.id;
    }
    assert_int_equal(pct_store_add_run(store, &run), 0);
    assert_int_equal(pct_store_add_pair(store, seed, seed), 0);
}

static const struct pct_store_fact facts[] = { { "seed", "0" }, { "runs", "600" }, { "shard", "1" }, { "of", "1" },
                                               { "spec", "x" }, { "command", "" }, { NULL, NULL } };

static void campaign(const char *path)
{
    char error[512];
    assert_int_equal(pct_store_create(path, facts, error, sizeof error), 0);
    /* It was made under another name: what is under this one now must be safe. */
    assert_int_equal(named, 2); /* with its journal */
    for (size_t i = 0; i < count; i++)
        advance(i);
    int made = file_of(path);
    char *first = malloc((size_t)safe[0].size + 1);
    if (!first)
        abort();
    memcpy(first, safe[0].data ? safe[0].data : "", (size_t)safe[0].size);
    put(&safe[made], 0, first, safe[0].size);
    free(first);
    safe[made].exists = safe[0].exists;
    unsafe[made] = count;
    struct pct_store *store = pct_store_open(path, true, error, sizeof error);
    assert_non_null(store);
    assert_int_equal(pct_store_begin_session(store, 0, 1), 0);
    size_t commit = 0;
    for (uint64_t seed = 0; seed < RUNS; seed++) {
        add_run(store, seed);
        if (seed % BATCH != BATCH - 1)
            continue;
        assert_int_equal(pct_store_commit(store, 1), 0);
        commits[commit].notes = count;
        commits[commit++].runs = seed + 1;
    }
    pct_store_close(store);
}

static int is_next(void *data, const struct pct_store_run *run)
{
    uint64_t *next = data;
    return run->seed == (*next)++ ? 0 : -1;
}

/* The runs of the file, which are the first ones. */
static uint64_t read_runs(const char *path)
{
    char error[512] = "";
    struct pct_store *store = pct_store_open(path, false, error, sizeof error);
    if (!store)
        fail_msg("%s", error);
    uint64_t runs = 0;
    struct pct_store_totals totals;
    assert_int_equal(pct_store_each_run(store, is_next, &runs), 0);
    assert_int_equal(pct_store_totals(store, &totals), 0);
    assert_int_equal(totals.runs, runs);
    assert_int_equal(totals.findings, (runs + BATCH - 8) / BATCH);
    pct_store_close(store);
    return runs;
}

/* The campaign goes on: with the next run, which is then there. */
static void go_on(const char *path, uint64_t runs)
{
    char error[512];
    struct pct_store *store = pct_store_open(path, true, error, sizeof error);
    assert_non_null(store);
    assert_int_equal(pct_store_begin_session(store, 0, 1), 0);
    add_run(store, runs);
    assert_int_equal(pct_store_commit(store, 1), 0);
    pct_store_close(store);
    assert_int_equal(read_runs(path), runs + 1);
}

/* The runs of the last commit that may have begun by then. */
static uint64_t most_at(size_t moment)
{
    size_t i = 0;
    while (i < RUNS / BATCH && commits[i].notes <= moment)
        i++;
    return i < RUNS / BATCH ? commits[i].runs : RUNS;
}

static void fail_at(const char *directory, size_t moment, uint64_t *least)
{
    char path[512];
    snprintf(path, sizeof path, "%s/c.db", directory);
    make_disk(directory, moment, false);
    uint64_t runs = read_runs(path);
    assert_true(runs >= *least); /* what has been safe once stays so */
    *least = runs;
    make_disk(directory, moment, true);
    runs = read_runs(path);
    assert_int_equal(runs % BATCH, 0); /* a commit is there or not */
    assert_true(runs >= *least && runs <= most_at(moment));
    go_on(path, runs);
}

static void remove_all(const char *directory)
{
    static const char *const ends[] = { "", "-wal", "-shm", "-journal" };
    char path[512];
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        snprintf(path, sizeof path, "%s/c.db%s", directory, ends[i]);
        unlink(path);
    }
    for (int i = 0; i < named; i++) {
        snprintf(path, sizeof path, "%s/%s", directory, strrchr(names[i], '/') + 1);
        unlink(path);
    }
    rmdir(directory);
}

static void test_power_failures(void **unused)
{
    (void)unused;
    char campaigns[] = "/tmp/pct-power-XXXXXX", disk[] = "/tmp/pct-power-XXXXXX", path[512];
    assert_non_null(mkdtemp(campaigns));
    assert_non_null(mkdtemp(disk));
    snprintf(path, sizeof path, "%s/c.db", campaigns);
    install();
    campaign(path);
    assert_int_equal(sqlite3_vfs_register(below, 1), SQLITE_OK);
    assert_int_equal(read_runs(path), RUNS);
    unsigned syncs = 0, moments = 0;
    uint64_t least = 0, step = count / MOMENTS;
    size_t begun = unsafe[file_of(path)];
    for (size_t i = begun; i < count; i++) {
        bool sync = notes[i].kind == SYNC;
        /* Now and then, and around each sync. */
        if (sync || i % step == 0 || notes[i - 1].kind == SYNC) {
            fail_at(disk, i, &least);
            moments++;
        }
        advance(i);
        syncs += sync;
    }
    make_disk(disk, count, false);
    snprintf(path, sizeof path, "%s/c.db", disk);
    assert_int_equal(read_runs(path), RUNS); /* what an orderly end has reported */
    assert_true(syncs > 4 && moments >= MOMENTS);
    remove_all(campaigns);
    remove_all(disk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_power_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
