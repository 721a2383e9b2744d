/* std::random_device and /dev/urandom: values that differ, in every way to read them, and nothing written beyond. */
/* tests: _ZNSt13random_device9_M_getvalEv */
#include <fcntl.h>
#include <fstream>
#include <random>
#include <set>
#include <sys/uio.h>

#include "check.h"

enum { COUNT = 64 };

int main()
{
    std::random_device device;
    std::set<unsigned> values;
    for (int i = 0; i < COUNT; i++)
        values.insert(device());
    CHECK(values.size() > COUNT - 4);

    unsigned char bytes[3][32] = {};
    int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    CHECK(fd >= 0);
    CHECK_EQ(read(fd, bytes[0], 16), 16);
    struct iovec parts[] = { { bytes[1], 5 }, { bytes[1] + 5, 11 } };
    CHECK_EQ(readv(fd, parts, 2), 16);
    CHECK(memcmp(bytes[0], bytes[1], 16) != 0);
    CHECK_EQ(bytes[0][16], 0);
    CHECK_EQ(bytes[1][16], 0);
    CHECK_EQ(close(fd), 0);

    /* A stream, with a buffer and without; more than a buffer has. */
    for (int buffered = 0; buffered < 2; buffered++) {
        static unsigned char large[2][10000];
        FILE *file = fopen("/dev/urandom", "r");
        CHECK(file);
        if (!buffered)
            setvbuf(file, nullptr, _IONBF, 0);
        std::set<int> different;
        for (int i = 0; i < 256; i++)
            different.insert(fgetc(file));
        CHECK(different.size() > 64 && !different.count(EOF));
        CHECK_EQ(fread(bytes[2], 1, 7, file), 7);
        CHECK_EQ(bytes[2][7], 0);
        CHECK_EQ(fread(large[0], 1, sizeof large[0], file), sizeof large[0]);
        CHECK_EQ(fread(large[1], 1, sizeof large[1], file), sizeof large[1]);
        CHECK(memcmp(large[0], large[1], sizeof large[0]) != 0);
        CHECK_EQ(fclose(file), 0);
    }
    std::ifstream stream("/dev/random", std::ios::binary);
    unsigned long first = 0, second = 0;
    CHECK(stream.read(reinterpret_cast<char *>(&first), sizeof first));
    CHECK(stream.read(reinterpret_cast<char *>(&second), sizeof second));
    CHECK(first != second);
    return 0;
}
