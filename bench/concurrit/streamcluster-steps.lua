-- Large steps of the three threads and of main, from point to point and from barrier to barrier.
local t = threads(3, starts)
table.insert(t, thread(0))
interleave(t, point + waits + ends)
