/* getentropy: up to 256 bytes, and no more. */
#define _GNU_SOURCE
#include "check.h"

int main(void)
{
    unsigned char a[256], b[257];
    for (size_t size = 0; size <= 256; size += 32) {
        memset(b, 0x5a, sizeof(b));
        CHECK_OK(getentropy(b, size));
        for (size_t i = size; i < sizeof(b); i++)
            CHECK_EQ(b[i], 0x5a); /* nothing beyond */
    }
    CHECK_OK(getentropy(a, 256));
    CHECK_OK(getentropy(b, 256));
    CHECK(memcmp(a, b, 256) != 0);
    int zeros = 0;
    for (int i = 0; i < 256; i++)
        zeros += a[i] == 0;
    CHECK(zeros < 64);
    CHECK_FAILS(getentropy(b, 257), EIO);
    return 0;
}
