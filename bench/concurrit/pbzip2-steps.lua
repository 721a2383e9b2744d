-- Large steps: from point to point.
local t = threads(3, starts)
table.insert(t, thread(0))
interleave(t, point + waits + ends)
