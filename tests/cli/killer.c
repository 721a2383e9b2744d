/* A target that harms the process that started it, by a system call of its own, past every library:
 *     killer WHOM SIGNAL [ONE_OF [FILE]]
 * WHOM: parent, its process group, or supervisor, the parent of the parent. With ONE_OF, only one of this many runs
 * does, drawn from what the seed decides; SIGNAL 0: it exits with status 3 instead. FILE: only the first two of all do,
 * which are counted there: as if somebody else had done it. Nobody is hit who is not called pct. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static long raw(long number, long first, long second)
{
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(first), "S"(second) : "rcx", "r11", "memory");
    return result;
}

/* The parent of a process that is called pct; 0: it is not. */
static int parent_of(int pid)
{
    char path[64], text[512], *name;
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *in = fopen(path, "r");
    size_t got = in ? fread(text, 1, sizeof text - 1, in) : 0;
    if (in)
        fclose(in);
    text[got] = 0;
    name = strstr(text, "(pct) ");
    return name && sscanf(name + 6, "%*c %d", &parent) == 1 ? parent : 0;
}

/* Whether this is the first or second time. */
static int is_early(const char *counter)
{
    FILE *file = fopen(counter, "a");
    long before = -1;
    if (file && !fseek(file, 0, SEEK_END) && (before = ftell(file)) < 2)
        fputc('x', file);
    if (file)
        fclose(file);
    return before >= 0 && before < 2;
}

static void *nothing(void *unused)
{
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    unsigned drawn;
    int own = getppid(), parent = parent_of(own), number = atoi(argv[2]);
    if (!parent)
        return 9;
    if (pthread_create(&thread, NULL, nothing, NULL) || pthread_join(thread, NULL) || getentropy(&drawn, sizeof drawn))
        return 8;
    if ((argc > 3 && drawn % (unsigned)atoi(argv[3])) || (argc > 4 && !is_early(argv[4])))
        return 0;
    if (!number)
        return 3;
    if (!strcmp(argv[1], "parent"))
        raw(SYS_kill, own, number);
    else if (!strcmp(argv[1], "group"))
        raw(SYS_kill, -getpgid(own), number);
    else if (parent_of(parent))
        raw(SYS_kill, parent, number);
    /* It may take a moment; until then this run is under way. */
    if (number == SIGSTOP)
        return 0;
    return pause();
}
