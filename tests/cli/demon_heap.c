/* What the test uses is its own (-DOWN; -DKNOWN: others can find it; -DHIDDEN=PLACE: where no contract speaks of), or
 * comes from the heap. */
#include <assert.h>
#include <stdlib.h>

struct item {
    int weight;
};
struct box {
    struct item *item;
    int count;
};

static void use(const struct box *box, const struct item *item)
{
    assert(item->weight > 0 && box->count >= 0);
}

/* Others. */
__attribute__((used)) static void lighten(struct item *item)
{
    item->weight = 0;
}

static struct item *table[4], **kept;

static void fill(struct box *box)
{
    (void)table;
#ifdef OWN
    struct item own = { .weight = 1 }, *item = &own;
#else
    struct item *item = malloc(sizeof *item);
    item->weight = 1;
#endif
#ifdef KNOWN
    box->item = item;
#endif
#ifdef HIDDEN
    HIDDEN = item;
#endif
    use(box, item);
}

int main(void)
{
    static struct box box;
    kept = malloc(sizeof *kept);
    fill(&box);
    free(kept);
    return 0;
}
