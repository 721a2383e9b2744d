/* arc4random, arc4random_buf, arc4random_uniform: all bits change; as many bytes as asked for; below the bound. */
/* tests: arc4random arc4random_buf arc4random_uniform */
#define _GNU_SOURCE
#include "check.h"
#include <stdlib.h>

static void *draw(void *into)
{
    uint32_t *numbers = into;
    for (int i = 0; i < 4; i++)
        numbers[i] = arc4random();
    return NULL;
}

int main(void)
{
    uint32_t ones = 0, zeros = 0;
    errno = CHECK_ERRNO;
    for (int i = 0; i < 100; i++) {
        uint32_t number = arc4random();
        ones |= number;
        zeros |= ~number;
    }
    CHECK_EQ(ones, UINT32_MAX);
    CHECK_EQ(zeros, UINT32_MAX);

    unsigned char a[1000], b[1000];
    for (size_t size = 0; size <= 64; size += 13) {
        memset(a, 0x5a, sizeof(a));
        arc4random_buf(a, size);
        for (size_t i = size; i < sizeof(a); i++)
            CHECK_EQ(a[i], 0x5a);
    }
    arc4random_buf(a, sizeof(a));
    arc4random_buf(b, sizeof(b));
    CHECK(memcmp(a, b, sizeof(a)) != 0);

    static const uint32_t bounds[] = { 2, 3, 6, 10, 1000, 0x80000001, UINT32_MAX };
    for (int i = 0; i < 7; i++)
        for (int j = 0; j < 100; j++)
            CHECK(arc4random_uniform(bounds[i]) < bounds[i]);
    CHECK_EQ(arc4random_uniform(0), 0);
    CHECK_EQ(arc4random_uniform(1), 0);
    int seen[6] = { 0 };
    for (int i = 0; i < 1000; i++)
        seen[arc4random_uniform(6)]++;
    for (int i = 0; i < 6; i++)
        CHECK(seen[i] > 50); /* 167 are expected; so few come less than once in 10^20 */
    CHECK_EQ(errno, CHECK_ERRNO);

    uint32_t numbers[2][4];
    pthread_t threads[2] = { check_spawn(draw, numbers[0]), check_spawn(draw, numbers[1]) };
    check_join(threads[0]);
    check_join(threads[1]);
    CHECK(memcmp(numbers[0], numbers[1], sizeof(numbers[0])) != 0);
    return 0;
}
