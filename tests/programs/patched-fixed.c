/* tests/programs/patched.c at a fixed address, where instructions name their data by absolute addresses. */
/* build: -no-pie -fno-pie */
#include "patched.c"
