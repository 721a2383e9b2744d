-- What b counts between a's read and a's write is lost.
local a, b = thread "count", thread "count"
run(a, writes "counter")   -- a has read, and is about to write
run(b, ends)               -- b counts
run(a, done)               -- and a overwrites it
