/* The least that compiled code could call for its memory accesses, to see what libpct-tsan.so adds: built with -DEMPTY
 * nothing, otherwise a counter in thread-local memory that is asked whether it has come to its end, and knows nothing
 * of places. bench/access and bench/matrix are linked with this. */

#ifdef EMPTY
#define EVENT (void)address
#else
static __thread long budget __attribute__((tls_model("initial-exec"))) = 1L << 62;
static __attribute__((noinline, cold)) void slow(void *address)
{
    __asm__ volatile("" : : "r"(address));
}
#define EVENT                                                                                                          \
    if (__builtin_expect(--budget < 0, 0))                                                                             \
    slow(address)
#endif

#define HANDLER(name)                                                                                                  \
    void name(void *address);                                                                                          \
    void name(void *address)                                                                                           \
    {                                                                                                                  \
        EVENT;                                                                                                         \
    }
HANDLER(__tsan_read1)
HANDLER(__tsan_read2)
HANDLER(__tsan_read4)
HANDLER(__tsan_read8)
HANDLER(__tsan_write1)
HANDLER(__tsan_write2)
HANDLER(__tsan_write4)
HANDLER(__tsan_write8)
HANDLER(__tsan_read16)
HANDLER(__tsan_write16)
HANDLER(__tsan_func_entry)

void __tsan_func_exit(void);
void __tsan_func_exit(void)
{
}

void __tsan_init(void);
void __tsan_init(void)
{
}
