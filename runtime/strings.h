/* What code compiled for us calls in the place of libc's functions for memory (patch/strings.h). */
#ifndef PCT_RUNTIME_STRINGS_H
#define PCT_RUNTIME_STRINGS_H

#include <patch/strings.h>

/* What programs go on to in libpct-tsan.so, as plain.h says of its names. */
#define PCT_STRING_NAME(name) pct_tsan_##name##_1

#endif
