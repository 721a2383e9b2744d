/* From gcc 16 on, std::latch and std::atomic::wait() wait inside libstdc++, and so does the load happen that orders
 * what comes after it: that was called a race. The same with a library of our own, which has the function by the name
 * of theirs.
 * BUILD: g++ -std=c++20 -O1 -fPIC -shared -DLIBRARY -o %p.so %s && pct-c++ -std=c++20 -O1 -g -pthread -o %p %s %p.so
 * RUN: pct run -q -s 1 -n 60 --races=fail -- %p
 * RUN 118: pct run -q -s 1 -n 60 --races=fail -- %p relaxed
 * RUN 118: pct run -q -s 1 -n 60 --races=fail -- %p proxy
 */
#include <atomic>
#include <cstdint>
#include <cstring>
#include <thread>

struct wait_result {
    uint64_t value;
    unsigned char has_value : 1, timeout : 1, unused : 6;
};
struct wait_arguments {
    uint32_t flags;
    int order;
    uint64_t old;
    void *state;
    const void *object;
    unsigned char size;
};
/* std::__detail::__wait_impl(const void *, std::__detail::__wait_args_base &): a header of gcc 16 declares it, too. */
wait_result wait_for(const void *address,
                     wait_arguments &arguments) __asm__("_ZNSt8__detail11__wait_implEPKvRNS_16__wait_args_baseE");

#ifdef LIBRARY
wait_result wait_for(const void *address, wait_arguments &arguments)
{
    const int *word = (const int *)address;
    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) == (int)arguments.old)
        std::this_thread::yield();
    return { (uint64_t)__atomic_load_n(word, __ATOMIC_ACQUIRE), 1, 0, 0 };
}
#else
static std::atomic_int word, other;
static long value;

int main(int argc, char **argv)
{
    const bool relaxed = argc > 1 && !strcmp(argv[1], "relaxed"), proxy = argc > 1 && !strcmp(argv[1], "proxy");
    std::thread thread([] { value = 1, word.store(1, std::memory_order_release); });
    wait_arguments arguments = {
        0, relaxed ? __ATOMIC_RELAXED : __ATOMIC_ACQUIRE, 0, nullptr, proxy ? &other : &word, 4
    };
    wait_for(&word, arguments);
    const long seen = value;
    thread.join();
    return seen != 1;
}
#endif
