-- A consumer waits; every order of the calls of put() and get() as a whole.
local waiter, t = thread "consumer", threads(3, starts)
run(waiter, waits "not_empty") step(waiter)
interleave({ waiter, t[1], t[2], t[3] }, ends)
