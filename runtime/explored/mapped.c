/* Memory that the program maps. What threads use is told by its address, so bytes that stand at two of them are seen as
 * two: who maps them a second time is asked whether it does. Called by any thread. */
#include "explored.h"
#include <dlfcn.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/types.h>

/* The process has mapped memory that may have another address, too. */
static bool shares;

#define CALLER __builtin_return_address(0)
#define REAL(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

static void begin(void)
{
    if (pct_explored_hidden)
        pct_explored_hidden(PCT_KEY_KERNEL, false);
}

static void *mapped(void *at, bool again, const void *pc)
{
    if (again && at != MAP_FAILED && pct_explored_mapped)
        pct_explored_mapped(at, (uintptr_t)pc);
    return at;
}

static bool look(int flags)
{
    const bool file = !(flags & MAP_ANONYMOUS), again = file && shares;
    if ((flags & MAP_TYPE) != MAP_PRIVATE)
        shares = true;
    return again;
}

PCT_EXPLORED void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    begin();
    const bool again = look(flags);
    return mapped(REAL(mmap)(at, size, protection, flags, fd, offset), again, CALLER);
}

PCT_EXPLORED void *mmap64(void *at, size_t size, int protection, int flags, int fd, off64_t offset)
{
    begin();
    const bool again = look(flags);
    return mapped(REAL(mmap64)(at, size, protection, flags, fd, offset), again, CALLER);
}

/* It has a fifth argument with some flags; to read it without is harmless on this ABI. */
PCT_EXPLORED void *mremap(void *at, size_t size, size_t larger, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    void *to = va_arg(arguments, void *);
    va_end(arguments);
    begin();
    return mapped(REAL(mremap)(at, size, larger, flags, to), shares, CALLER);
}

PCT_EXPLORED int remap_file_pages(void *at, size_t size, int protection, size_t page, int flags)
{
    begin();
    const int failed = REAL(remap_file_pages)(at, size, protection, page, flags);
    mapped(at, !failed && shares, CALLER);
    return failed;
}

/* What could only be read before may change now. */
PCT_EXPLORED int mprotect(void *at, size_t size, int protection)
{
    begin();
    const int failed = REAL(mprotect)(at, size, protection);
    mapped(at, !failed && shares && protection & PROT_WRITE, CALLER);
    return failed;
}

PCT_EXPLORED int pkey_mprotect(void *at, size_t size, int protection, int key)
{
    begin();
    const int failed = REAL(pkey_mprotect)(at, size, protection, key);
    mapped(at, !failed && shares && protection & PROT_WRITE, CALLER);
    return failed;
}

PCT_EXPLORED void *shmat(int id, const void *at, int flags)
{
    begin();
    const bool again = shares;
    shares = true;
    return mapped(REAL(shmat)(id, at, flags), again, CALLER);
}
