-- Two turns in the two functions.
interleave_bounded(threads(2, starts), (accesses + locks + waits) * (from "wait_cond_var" + from "interrupt") + ends, 2)
