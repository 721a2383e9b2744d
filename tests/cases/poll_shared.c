/* A process waits until another one, of which pct knows nothing, writes to memory of a file that both have mapped: it
 * yields a million times and more. That was a livelock; the report still says what it did, should nobody come.
 *
 * RUN: %p end %t/shared & pct run -q -s 1 -t %t/trace -- %p wait %t/shared && wait $! && pct report %t/trace |
 *     grep 'note: .* another process .*shared'
 * RUN 121: pct run -q -s 1 -- %p alone %t/alone
 */
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct shared {
    atomic_int rounds, over;
};

static struct shared *map(const char *path)
{
    int file = open(path, O_RDWR | O_CREAT, 0600);
    if (file < 0 || ftruncate(file, sizeof(struct shared)))
        _exit(2);
    return mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    struct shared *shared = map(argv[2]);
    if (strcmp(argv[1], "end") == 0) {
        while (shared->rounds < 1200000)
            sched_yield();
        shared->over = 1;
        return 0;
    }
    if (strcmp(argv[1], "alone") == 0)
        munmap(shared, sizeof *shared);
    atomic_int never = 0, *over = argv[1][0] == 'a' ? &never : &shared->over;
    while (!*over) {
        if (argv[1][0] == 'w')
            shared->rounds++;
        sched_yield();
    }
    return 0;
}
