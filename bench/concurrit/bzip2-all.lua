-- Every order of accesses and calls.
interleave(threads(3, starts), accesses + locks + waits + ends)
