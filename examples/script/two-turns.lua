-- Two turns: a thread goes on from lock to lock, for as long as it likes, and then again one of them.
interleave_bounded(threads(2, starts), locks + ends, 2)
