-- Every order of the calls that put() and get() make.
local t = threads(4, from "put" + from "get")
interleave(t, (locks + waits) * (from "put" + from "get") + ends)
