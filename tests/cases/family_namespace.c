// As family_refused.c: the children are in a namespace of process ids of their own, where ids name others; or there is
// no /proc.
//
// NEED: unshare -p -f true
// RUN: LD_PRELOAD=$LIBPCT PCT_SEED=1 %p namespace now
// RUN: mkdir %t/root && LD_PRELOAD=$LIBPCT PCT_SEED=1 %p chroot %t/root
#include "family_refused.c"
