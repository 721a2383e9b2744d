/* MySQL 4.1.1-alpha, bug 644 (sql_select.cc: join_init_cache): the fields that a query uses are counted, room is made
 * for as many, and they are gone through again. Meanwhile another thread may have changed whose they are. */
#include <assert.h>
#include <pthread.h>

struct field {
    int query_id;
};

enum { QUERY = 7 };

static int count_fields(const struct field *field)
{
    return field->query_id == QUERY;
}

static void fill_cache(const struct field *field, int room)
{
    int used = 0;
    if (field->query_id == QUERY)
        used++;
    assert(used <= room);
}

static void init_cache(struct field *field)
{
#ifdef FIXED
    struct field own = *field, *from = &own;
#else
    const struct field *from = field;
#endif
    fill_cache(from, count_fields(from));
}

/* Others. */
__attribute__((used)) static void fix_fields(struct field *field, int id)
{
    field->query_id = id;
}

#ifdef THREADS
static void *others(void *field)
{
    fix_fields(field, QUERY);
    return NULL;
}
#endif

int main(void)
{
    static struct field field = { .query_id = 3 };
#ifdef THREADS
    pthread_t thread;
    pthread_create(&thread, NULL, others, &field);
#endif
    init_cache(&field);
#ifdef THREADS
    pthread_join(thread, NULL);
#endif
    return 0;
}
