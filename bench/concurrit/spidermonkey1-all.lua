-- Every order of accesses and calls.
interleave(threads(2, starts), accesses + locks + ends)
