// An interpreter with one big lock; its modules keep tables that are made when they are first asked for.
//
// Bug: the table of a module is a static local: who makes it has the compiler's guard, and takes the big lock, to
// intern names. Another thread asks for the table with the big lock held: it waits for the guard.
// Shows as: a deadlock.
// FIXED: the table is asked for before the big lock is taken.
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace
{

std::recursive_mutex big_lock;
std::map<std::string, int> interned;
int executed;

// With the big lock held.
int intern_locked(const std::string &name)
{
    auto [at, fresh] = interned.emplace(name, (int)interned.size());
    (void)fresh;
    return at->second;
}

int intern(const std::string &name)
{
    std::lock_guard<std::recursive_mutex> guard(big_lock); // culprit
    return intern_locked(name);
}

struct Table {
    std::vector<int> numbers;
    Table()
    {
        for (const char *name : { "open", "close", "read", "write" })
            numbers.push_back(intern(name));
    }
    bool knows(int number) const
    {
        for (int n : numbers)
            if (n == number)
                return true;
        return false;
    }
};

const Table &io_table()
{
    static const Table table; // culprit
    return table;
}

// A script, run by the interpreter.
void run_script(const char *call)
{
#ifdef FIXED
    io_table();
#endif
    std::lock_guard<std::recursive_mutex> guard(big_lock); // culprit
    int number = intern_locked(call);
    if (io_table().knows(number)) // culprit
        executed++;
}

// A callback from a library, which has no lock.
void on_event(const char *call)
{
    const Table &table = io_table();
    int number = intern(call);
    if (table.knows(number)) {
        std::lock_guard<std::recursive_mutex> guard(big_lock);
        executed++;
    }
}

} // namespace

int main()
{
    std::thread library([] { on_event("read"); });
    std::thread script([] {
        run_script("write");
        run_script("seek");
    });
    library.join();
    script.join();
    std::printf("%d calls of %zu names\n", executed, interned.size());
    return executed == 2 ? 0 : 1;
}
