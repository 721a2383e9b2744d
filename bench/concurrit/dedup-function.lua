-- Every order of the accesses and calls in the function.
interleave(threads(2, from "dequeue"), (accesses + locks + waits + point) * from "dequeue" + ends)
