process(1, function()
    local t = thread(0)
    run(t, locks "writing")
    board.post("has read", 7)
    board.wait "has written"
end)
local t = thread(0)
run(t, locks "writing")
assert(board.wait "has read" == 7)
run(t, does "wait for child")
board.post "has written"
