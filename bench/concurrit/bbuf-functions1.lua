-- Every order of the calls that put() and get() make.
local here = from "put" + from "get"
interleave(threads(4, here), (locks + waits) * here + ends)
