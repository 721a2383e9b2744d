-- Every order of the accesses and calls in the function.
interleave(threads(2, from "pqueue_get"), (accesses + locks + waits + point) * from "pqueue_get" + ends)
