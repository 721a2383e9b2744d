/* What orders two threads, and what does not: the matrix of the race detectors (tests/programs/races runs it).
 *
 *     matrix --list     a line for each row: its name, what is true of it (ordered, unordered), what libtsan says (-:
 *                       it cannot run it), and why
 *                      it says something else
 *     matrix NAME       one row
 *
 * In each row, a thread writes x and then does something; another one does something and then reads x. Where the second
 * half was not what the row is about (a lock was free that should have been taken), it does not look at x. The exit
 * status is 0, the detector's, or 77 with a
 * reason where the kernel forbids what the row needs. */
#include "matrix.h"
#include <initializer_list>
#include <semaphore.h>

int x, stage;
pthread_t first_thread, second_thread;

namespace
{

sem_t both;

void *be_first(void *row)
{
    static_cast<const struct row *>(row)->first();
    return nullptr;
}

void *be_second(void *row)
{
    sem_wait(&both);
    static_cast<const struct row *>(row)->second();
    return nullptr;
}

bool joins_first(const row &row)
{
    return strstr(row.name, "join") || !strcmp(row.name, "detach");
}

int run(const row &row)
{
    void *argument = const_cast<struct row *>(&row);
    make_objects();
    make_descriptors();
    if (row.prepare)
        row.prepare();
    pthread_create(&second_thread, nullptr, be_second, argument);
    pthread_create(&first_thread, nullptr, be_first, argument);
    sem_post(&both); /* are known now */
    pthread_join(second_thread, nullptr);
    if (!joins_first(row))
        pthread_join(first_thread, nullptr);
    return 0;
}

} // namespace

int main(int count, char **arguments)
{
    static const char *const words[] = { "ordered", "unordered", "-" };
    const bool lists = count == 2 && !strcmp(arguments[1], "--list");
    for (const table &table :
         { thread_table, other_table, kernel_table, stream_table, file_table, service_table, uring_table })
        for (const row *row = table.rows; row < table.rows + table.count; row++) {
            if (lists)
                printf("%s\t%s\t%s\t%s\n", row->name, words[row->is], words[row->libtsan], row->why);
            else if (count == 2 && !strcmp(arguments[1], row->name))
                return run(*row);
        }
    if (!lists)
        fprintf(stderr, "usage: matrix --list | NAME\n");
    return lists ? 0 : 2;
}
