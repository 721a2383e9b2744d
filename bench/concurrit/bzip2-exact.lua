-- Both have looked; b takes all, and waits; a finds nothing.
local a, b = thread "compressor", thread "compressor"
run(a, point "looked")
run(b, point "looked")
run(b, waits "in_available") step(b)
run(a, ends)
