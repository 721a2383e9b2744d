-- a has read the count in hash_read_exit(); b comes in; a writes what it has read.
local a, b = thread "trace", thread "trace"
run(a, point "counted")
run(b, point "exit")
run(a, ends)
