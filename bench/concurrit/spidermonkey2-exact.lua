-- a takes its context out, which is not the last, and comes to the collector's lock; b takes the last one down; a
-- begins to collect; c makes the first one anew, and its atoms are under way.
local a, b, c = thread "testfunc", thread "testfunc", thread "testfunc"
run(a, locks * from "destroy_context")
run(b, locks * from "destroy_context")
run(a, locks * from "js_gc")
run(b, ends)
run(a, reads "atoms")
run(c, writes "atoms" * from "init_atoms") step(c)
run(a, done)
