-- Every order in the four functions of the report.
local here = from "new_context" + from "destroy_context" + from "js_gc" + from "init_atoms"
interleave(threads(3, starts), (accesses + locks + waits) * here + ends)
