/* getrandom: as many bytes as asked for, with each flag; they differ from call to call; an unknown flag. */
#define _GNU_SOURCE
#include "check.h"
#include <sys/random.h>

static const unsigned flags[] = { 0, GRND_NONBLOCK, GRND_RANDOM, GRND_RANDOM | GRND_NONBLOCK };

static void *from_thread(void *into)
{
    CHECK_RESULT(getrandom(into, 16, 0), 16);
    return NULL;
}

int main(void)
{
    unsigned char a[256], b[256];
    for (int i = 0; i < 4; i++) {
        for (size_t size = 0; size <= 64; size += 13) {
            memset(a, 0x5a, sizeof(a));
            CHECK_RESULT(getrandom(a, size, flags[i]), size);
            for (size_t j = size; j < sizeof(a); j++)
                CHECK_EQ(a[j], 0x5a); /* nothing beyond */
        }
        CHECK_RESULT(getrandom(a, sizeof(a), flags[i]), sizeof(a));
        CHECK_RESULT(getrandom(b, sizeof(b), flags[i]), sizeof(b));
        CHECK(memcmp(a, b, sizeof(a)) != 0);
        /* Some 160 different values are to be expected. */
        int different = 0;
        for (int value = 0; value < 256; value++)
            different += memchr(a, value, sizeof(a)) != NULL;
        CHECK(different > 64);
    }
    pthread_t threads[2] = { check_spawn(from_thread, a), check_spawn(from_thread, b) };
    check_join(threads[0]);
    check_join(threads[1]);
    CHECK(memcmp(a, b, 16) != 0);

    static char large[1 << 16];
    CHECK(getrandom(large, sizeof(large), 0) > 0);
    CHECK_FAILS(getrandom(a, 16, 0x8000), EINVAL);
    return 0;
}
