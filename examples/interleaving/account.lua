-- One withdrawal stands behind its look at the balance; the other one is made; then the first goes on.
local a, b = thread "withdraw", thread "withdraw"
run(a, point "checked")
finish(b)
finish(a)
