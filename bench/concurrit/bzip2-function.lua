-- Every order of what threads do in two functions, once all three are in them, and as long as one is.
local t = threads(3, enters "take_block" + enters "put_block")
local within = inside "take_block" + inside "put_block"
interleave(t, (accesses + locks + waits) * within + ends, function()
    return stands(t[1], within) or stands(t[2], within) or stands(t[3], within)
end)
