-- Every order of what the two functions do once all three threads are in them.
local t = threads(3, locks * (from "take_block" + from "writer"))
interleave(t, (accesses + locks + waits) * (from "take_block" + from "writer") + ends)
