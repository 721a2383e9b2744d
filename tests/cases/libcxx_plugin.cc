/* A program of pct-cc that loads a plugin whose C++ library is libc++, which the program itself has not: what stands in
 * for libc++'s functions did not find these, and called address 0. Nor where the plugin has the library inside.
 *
 * BUILD: pct-c++ -O1 -g -o %p %s
 * RUN: g++ -O1 -fPIC -shared -DLIBRARY -Wl,-soname,libc++.so.1 -o %t/libc++.so.1 %s &&
 *     g++ -O1 -fPIC -shared -DPLUGIN -Wl,-rpath,%t -o %t/plugin.so %s %t/libc++.so.1 && %p %t/plugin.so &&
 *     pct run -q -s 1 -n 3 --state none -- %p %t/plugin.so
 * RUN: g++ -O1 -fPIC -shared -DLIBRARY -DPLUGIN -o %t/plugin.so %s && %p %t/plugin.so &&
 *     pct run -q -s 1 -n 3 --state none -- %p %t/plugin.so
 */
#include <dlfcn.h>

struct counted {
    int users;
};

/* std::__1::__shared_weak_count::__release_weak() */
void release_weak(counted *count) __asm__("_ZNSt3__119__shared_weak_count14__release_weakEv");

#ifdef LIBRARY
void release_weak(counted *count)
{
    count->users--;
}
#endif

#ifdef PLUGIN
extern "C" int use()
{
    counted count = { 1 };
    release_weak(&count);
    return count.users;
}
#endif

#if !defined LIBRARY && !defined PLUGIN
int main(int, char **argv)
{
    void *plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    int (*use)() = plugin ? (int (*)())dlsym(plugin, "use") : nullptr;
    return use ? use() : 1;
}
#endif
