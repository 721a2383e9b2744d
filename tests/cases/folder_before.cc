// A static object makes a folder, or a semaphore, and removes it: of runs that were forked in between, all but
// the first had none, and were called failures, which no replay showed.
//
// BUILD: g++ -std=c++20 -O1 -g -pthread -o %p %s && g++ -DNAMED -std=c++20 -O1 -g -pthread -o %p.named %s &&
//     g++ -DSEMAPHORE -std=c++20 -O1 -g -pthread -o %p.semaphore %s
// RUN: cd %t && pct run -n 8 -s 1 --explore=0 -- %p
// RUN: cd %t && pct run -n 8 -s 1 -j 1 --explore=0 -- %p.named
// RUN: cd %t && pct run -n 8 -s 1 --explore=0 -- %p.semaphore
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <sys/sem.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

struct Folder {
    std::string path = "folder-XXXXXX";
    Folder()
    {
        assert(mkdtemp(path.data()));
    }
    ~Folder()
    {
        rmdir(path.c_str());
    }
};

struct Named {
    Named()
    {
        assert(mkdir("named", 0700) == 0);
    }
    ~Named()
    {
        rmdir("named");
    }
};

struct Semaphore {
    const int set = semget(IPC_PRIVATE, 1, 0600);
    ~Semaphore()
    {
        assert(semctl(set, 0, IPC_RMID) == 0);
    }
};

#ifdef SEMAPHORE
static Semaphore semaphore;
#endif
#ifdef NAMED
static Named folder;
static const std::string path = "named/data";
#else
static Folder folder;
static const std::string path = folder.path + "/data";
#endif
static std::mutex mutex;
static int sum;

static void work()
{
    for (int i = 0; i < 3; i++) {
        std::lock_guard hold(mutex);
        sum++;
    }
}

int main()
{
    std::thread one(work), other(work);
    one.join();
    other.join();
    FILE *file = fopen(path.c_str(), "w");
    assert(file);
    fclose(file);
    remove(path.c_str());
    assert(sum == 6);
}
