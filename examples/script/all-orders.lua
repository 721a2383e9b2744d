-- The threads one after the other, in each order: does the bug need an interleaving at all?
local t = threads(3, starts)
while not all_ended(t) do
    finish(choose_thread(t))
end
