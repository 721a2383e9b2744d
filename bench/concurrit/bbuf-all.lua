-- Every order of accesses and calls.
interleave(threads(4, starts), accesses + locks + waits + ends)
