-- A consumer is about to look again while main deletes the queue.
local late, main = thread "consumer", thread(0)
run(late, point "next")
run(main, point "delete")
step(main, 2)
