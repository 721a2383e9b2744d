-- Each of two threads takes its first lock; then neither gets its second.
local a, b = thread "thread1", thread "thread2"
run(a, locks)   -- a is about to take its first lock
step(a)         -- and has it
run(b, locks)
step(b)
