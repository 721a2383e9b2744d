-- All have passed the last barrier; main goes on while the last thread is about to clean up.
local last = thread(3)
run(last, point "clean up")
local main = thread(0)
run(main, reads "k_final") step(main)
