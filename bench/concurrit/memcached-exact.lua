-- a has read, b increments, a stores.
local a, b = thread "process_arithmetic_command", thread "complete_incr_bin"
run(a, point "write")
run(b, ends)
run(a, ends)
