-- a has seen a file; b takes all.
local a, b = thread "worker", thread "worker"
run(a, point "seen")
run(b, ends)
run(a, ends)
