/* The same without the table of functions that unwinding uses.
 */
/* build: -Wl,--no-eh-frame-hdr */
#include "patched-data.c"
