-- The same with two turns.
local t = threads(2, starts)
interleave_bounded(t, accesses * (from "mt_safe_localtime" + from "late") + locks + ends, 2)
