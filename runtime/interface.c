/* Whether libpct.so is one that this library knows how to talk to. A program is linked with the library of the pct that
 * built it, and may be run by another. Each of the two would then find nothing of the other's, and no access would
 * count, without a word. */
#include "events.h"
#include <preload/core/sys.h>

#pragma weak pct_memory_interface

__attribute__((constructor)) static void compare(void)
{
    static const char text[] =
        "pct: libpct.so and the libpct-tsan.so of this program are of different versions: its memory accesses are "
        "not seen. Build it anew with the pct-cc beside pct\n";
    if (&pct_memory_interface && pct_memory_interface != PCT_MEMORY_INTERFACE)
        PCT_SYS3(SYS_write, 2, text, sizeof text - 1);
}
