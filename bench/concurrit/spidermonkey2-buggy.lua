-- a takes its context out, which is not the last, and comes to the collector's lock; b takes the last one down; then
-- every order of a's collection and c's first context.
local a, b, c = thread "testfunc", thread "testfunc", thread "testfunc"
run(a, locks * from "destroy_context")
run(b, locks * from "destroy_context")
run(a, locks * from "js_gc")
run(b, ends)
interleave({ a, c }, accesses "atoms" + locks + ends, function() return not ended(a) end)
