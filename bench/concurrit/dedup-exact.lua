-- a has seen a chunk; b takes all.
local a, b = thread "compress_chunks", thread "compress_chunks"
run(a, point "seen")
run(b, ends)
run(a, ends)
