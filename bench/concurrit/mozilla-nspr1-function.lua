-- Every order of the accesses in the function.
local t = threads(2, from "mt_safe_localtime" + accesses "initialized")
interleave(t, accesses * (from "mt_safe_localtime" + from "late") + locks + ends)
