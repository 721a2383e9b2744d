-- Every order of accesses and calls, main's, too.
local t = threads(3, starts)
table.insert(t, thread(0))
interleave(t, accesses + locks + waits + ends)
