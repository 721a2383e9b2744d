-- The interrupt comes between the look and the note.
local a, b = thread "waiter", thread "interrupter"
run(a, point "before the note")
run(b, ends)
run(a, waits "variable")
