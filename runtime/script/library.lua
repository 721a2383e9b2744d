-- The library of `pct script`: what scripts are written with, on top of three primitives (core.select, core.release,
-- core.choose; core.c). It is run before each script, which sees its globals. pct-script(1) is the reference.
local core = ...
local G, setmetatable, getmetatable = _G, setmetatable, getmetatable
local ipairs, tostring, type, tointeger = ipairs, tostring, type, math.tointeger

-- Of nothing, Lua's goes round n times all the same, and nobody counts its instructions.
local rep = string.rep
function string.rep(s, n, separator)
    return s == "" and (separator or "") == "" and "" or rep(s, n, separator)
end

-- What else Lua has, and scripts do not.
local absent = {}
for _, name in ipairs { "io", "os", "debug", "coroutine", "package", "require", "utf8", "print", "warn", "dofile",
    "load", "loadfile", "pairs", "next", "xpcall", "rawset", "getmetatable", "setmetatable", "collectgarbage" } do
    absent[name] = true
end
setmetatable(G, { __metatable = false, __index = function(_, name)
    if absent[name] then
        core.fail("wrong", "scripts have no '" .. name .. "': pct-script(1) says what they have")
    end
    core.fail("wrong", "nothing has the name '" .. tostring(name) .. "' here")
end })

-- What scripts give. who: the function of the script that it is for.

local function kind_of(value)
    local kind = type(value)
    return kind == "nil" and "nil" or "a " .. (kind == "userdata" and "predicate" or kind)
end

local function wanted(who, what, got)
    core.fail("wrong", who .. ": " .. what .. " is wanted, not " .. got)
end

local function list_of(value, who)
    return type(value) == "table" and value or wanted(who, "a list", kind_of(value))
end

local function text(value, who)
    return type(value) == "string" and value or wanted(who, "a text", kind_of(value))
end

local function whole(value, who, negative)
    local n = type(value) == "number" and tointeger(value)
    if n and (n >= 0 or negative) then return n end
    return wanted(who, "a whole number" .. (negative and "" or " from 0 on"),
        type(value) == "number" and tostring(value) or kind_of(value))
end

-- Threads

local Thread = {}
Thread.__index = Thread
Thread.__metatable = false
function Thread.__tostring(t) return "thread " .. t.id end

local known = {}
local function wrap(id)
    known[id] = known[id] or setmetatable({ id = id }, Thread)
    return known[id]
end

local function check(t, who)
    if type(t) ~= "table" or known[t.id] ~= t then
        core.fail("wrong", who .. ": a thread is wanted, as thread() returns one, not " .. kind_of(t))
    end
    return t
end


-- Predicates: each is there as it is (locks), and narrowed by a name (locks "m").

local function operation(label, ...)
    local names = { ... }
    local function narrow(variable)
        return core.operation(label, variable and text(variable, label), table.unpack(names))
    end
    return core.callable(narrow(nil), narrow)
end

G.locks = operation("locks", "lock", "trylock", "read lock", "write lock", "try read lock", "try write lock",
    "spin lock", "spin trylock")
G.unlocks = operation("unlocks", "unlock", "rwlock unlock", "spin unlock")
G.waits = operation("waits for", "cond wait", "sem wait", "barrier arrive", "futex wait")
G.signals = operation("signals", "signal", "broadcast")
G.posts = operation("posts", "sem post")
G.creates = operation("creates a thread", "create")
G.joins = operation("joins a thread", "join", "tryjoin")
G.ends = operation("ends", "finish")
G.reads = operation("reads", "load", "atomic load", "atomic update", "atomic exchange")
G.writes = operation("writes", "store", "atomic store", "atomic update", "atomic exchange")
G.accesses = operation("accesses", "load", "atomic load", "store", "atomic store", "atomic update", "atomic exchange")
G.done = core.any("has made that step")
G.once = core.once("once")

local begins = core.operation("starts", nil, "start")
G.starts = core.callable(begins, function(name)
    return name and core.started(text(name, "starts")) or begins
end)

local points = core.operation("is at a point", nil, "point")
G.point = core.callable(points, function(name) return name and core.point(text(name, "point")) or points end)
local function of_functions(operation, label)
    local any = core.operation(label .. " a function", nil, operation)
    return core.callable(any, function(name)
        return name and core.in_function(any, label, text(name, label)) or any
    end)
end
G.enters = of_functions("enter", "enters")
G.calls = of_functions("enter", "calls")
G.returns = of_functions("return", "returns from")

function G.does(name) return core.operation("does: " .. text(name, "does"), nil, name) end
function G.from(name) return core.from(text(name, "from")) end
function G.at(name) return core.at(text(name, "at")) end
function G.named(name) return core.named(text(name, "named")) end
function G.inside(name) return core.inside(text(name, "inside")) end
function G.blocked_by(t) return core.is_thread(check(t, "blocked_by").id, true) end

-- In messages.
local function says(p)
    return type(p) == "function" and "does what a function of the script says" or tostring(p)
end

local function predicate(p)
    if type(p) == "string" then
        return G.starts(p)
    elseif type(p) == "number" then
        return core.is_thread(whole(p, "thread"))
    end
    return p
end

-- Naming threads: from then on they stand until a line lets them go on.

-- The threads that no line has named: while other lines wait they go on, or stand.
local held = false

function G.others(how)
    if how ~= "free" and how ~= "held" then
        core.fail("wrong", "others: \"free\" or \"held\" is wanted")
    end
    held = how == "held"
    core.others(held)
end

function G.thread(p)
    p = predicate(p)
    core.others(false)
    local id = core.select(nil, p, nil, "a thread that " .. says(p))
    core.others(held)
    return wrap(id)
end

function G.threads(n, p)
    local list = {}
    for i = 1, whole(n, "threads") do
        list[i] = G.thread(p)
    end
    return list
end

-- Looking at them

function G.ended(t) return core.look(check(t, "ended").id).ended end

function G.all_ended(list)
    for _, t in ipairs(list_of(list, "all_ended")) do
        if not G.ended(t) then return false end
    end
    return true
end

function G.event(t) return core.look(check(t, "event").id) end
function G.stands(t, p) return core.holds(check(t, "stands").id, core.wide(p)) end
function G.value(name) return core.value(text(name, "value")) end

-- Letting them go on

local function until_it(t, p) return tostring(t) .. " to go on until it " .. says(p) end

-- Until it stands before what p says, or ends. Whether it stands there.
local function go(t, p)
    if G.ended(t) then
        core.fail("fit", "it has ended", until_it(t, p))
    end
    core.release(t.id)
    return core.select({ t.id }, p, t.id, until_it(t, p)) and true
end

function G.run(t, p)
    check(t, "run")
    if not go(t, p) and p ~= G.done then
        core.fail("fit", "it has ended", until_it(t, p))
    end
    if core.is_once(p) and not G.ended(t) then go(t, G.done) end
    return not G.ended(t) and G.event(t) or nil
end

function G.step(t, n)
    check(t, "step")
    for _ = 1, n == nil and 1 or whole(n, "step") do
        go(t, G.done)
    end
end

function G.finish(...)
    local list = table.pack(...)
    for i = 1, list.n do
        core.release(check(list[i], "finish").id)
    end
    for _, t in ipairs(list) do
        if not G.ended(t) then
            core.await_end(t.id, tostring(t) .. " to go on until it has ended")
        end
    end
end

function G.run_all(list, p)
    local left = {}
    for i, t in ipairs(list_of(list, "run_all")) do
        left[i] = check(t, "run_all").id
        core.release(t.id)
    end
    while #left > 0 do
        local awaited = "each of " .. #left .. " threads to go on until it " .. says(p)
        local id = core.select(left, p, nil, awaited)
        if not id then
            core.fail("fit", "they have ended", awaited)
        end
        for i = #left, 1, -1 do
            if left[i] == id then table.remove(left, i) end
        end
    end
end

-- Orderings: each entry is { thread, predicate, n }. A thread goes on until it is about to do that for the n-th time
-- since its last entry, and stands there until the entries before are over. With `once` an entry is over when that has
-- been done, otherwise when the thread stands there.

-- The threads of the list, each once, and how often each entry is still to come.
local function read_entries(list)
    local threads, left, before, seen = {}, {}, {}, {}
    for i, e in ipairs(list) do
        if type(e) ~= "table" then
            wanted("in_order", "{ thread, predicate }", kind_of(e))
        end
        check(e[1], "in_order")
        left[i] = e[3] == nil and 1 or whole(e[3], "in_order")
        before[i] = core.before(predicate(e[2]))
        if not seen[e[1].id] then
            seen[e[1].id] = true
            threads[#threads + 1] = e[1]
        end
    end
    return threads, left, before
end

function G.in_order(...)
    local list, at = { ... }, 1
    local threads, left, before = read_entries(list)
    local stands_at, fresh = {}, {} -- by id; fresh: its pending operation has not been looked at
    for _, t in ipairs(threads) do fresh[t.id] = true end

    local function next_entry(t)
        for i = at, #list do
            if list[i][1] == t then return i end
        end
    end
    local function arrive(t, i)
        left[i] = left[i] - 1
        if left[i] <= 0 then stands_at[t.id] = i end
    end
    -- What to wait for from this thread, which goes on until then; nil: it stands for its turn, has no more entries, or
    -- has ended.
    local function awaited(t, making)
        local i = not G.ended(t) and next_entry(t)
        if t == making then return G.done end
        if i and not stands_at[t.id] and fresh[t.id] then
            fresh[t.id] = nil
            if core.holds(t.id, before[i]) then arrive(t, i) end
        end
        if not stands_at[t.id] then
            core.release(t.id)
            return i and before[i]
        end
    end
    while at <= #list do
        local t = list[at][1]
        local making = stands_at[t.id] == at and core.is_once(list[at][2]) and t
        if stands_at[t.id] == at and not making then
            stands_at[t.id], at = nil, at + 1
        else
            local ids, p = {}, nil
            if making then core.release(t.id) end
            for _, u in ipairs(threads) do
                local q = awaited(u, making)
                if q then
                    ids[#ids + 1] = u.id
                    q = core.is_thread(u.id) * q
                    p = p and p + q or q
                end
            end
            if making or stands_at[t.id] ~= at then
                local id = p and core.select(ids, p, making and t.id or nil, until_it(list[at][1], list[at][2]))
                if not id then
                    core.fail("fit", "these threads have ended", until_it(list[at][1], list[at][2]))
                end
                if making and id == t.id then
                    stands_at[id], fresh[id], at = nil, true, at + 1
                else
                    arrive(wrap(id), next_entry(wrap(id)))
                end
            end
        end
    end
end

-- Choices, each of which `pct script --all` makes in every way

function G.choose(list)
    return list[core.choose(#list_of(list, "choose"))]
end

-- What keeps --all=dpor from leaving out choices of threads (common/script.h).
local why = { ENDS = 0, MOVING = 1, OWN = 3 }

-- One of the threads `left`, which are those of the list that can go on. keeps: of `why`, or nil.
local function one_of(left, list, keeps)
    local able, ids = {}, {}
    for i, t in ipairs(left) do able[i] = t.id end
    for i, t in ipairs(list) do ids[i] = t.id end
    return left[core.choose_thread(able, ids, keeps)]
end

function G.choose_thread(list)
    local left = {}
    for _, t in ipairs(list_of(list, "choose_thread")) do
        if not G.ended(check(t, "choose_thread")) then left[#left + 1] = t end
    end
    if #left == 0 then
        core.fail("fit", "all have ended", "one of " .. #list .. " threads to be chosen")
    end
    return one_of(left, list, why.OWN)
end

-- One of these until it is about to do that: false where it is blocked instead, or has ended.
local function try(list, p, first)
    local ids = {}
    for _, t in ipairs(list) do
        if core.able(t.id) ~= nil then
            ids[#ids + 1] = t.id
            core.release(t.id)
        end
    end
    return #ids > 0 and core.select(ids, p, first, "one of " .. #ids .. " threads to go on until it " .. says(p), true)
end

-- The same for one. Where it is about to end, it ends: nobody of the list has anything to do with when.
local function advance(t, p)
    if try({ t }, p, t.id) and core.holds(t.id, G.ends) then
        try({ t }, G.ends, t.id)
    end
end

-- Those that neither have ended nor are blocked
local function able(list)
    local left = {}
    for _, t in ipairs(list) do
        if core.able(check(t, "interleave").id) then left[#left + 1] = t end
    end
    return left
end

local function some_left(list)
    for _, t in ipairs(list) do
        if core.able(check(t, "interleave").id) ~= nil then return true end
    end
    return false
end

-- One of those that are able to, chosen; where none is, whoever others, or the time, let go on first. Returns it; nil:
-- there is none.
local function turn(list, p, keeps)
    local left = able(list)
    if #left == 0 then
        if not keeps then core.turns_end() end
        local id = try(list, p, nil)
        return id and wrap(id) or nil
    end
    local t = one_of(left, list, keeps)
    advance(t, p)
    return t
end

function G.interleave(list, p, goes_on)
    list_of(list, "interleave")
    local keeps = goes_on and why.ENDS or core.moves(p) and why.MOVING or nil
    while some_left(list) and (not goes_on or goes_on()) do
        if not turn(list, p, keeps) then return end
    end
    if not keeps then core.turns_end() end
end

function G.interleave_bounded(list, p, turns)
    list_of(list, "interleave_bounded")
    for _ = 1, whole(turns, "interleave_bounded") do
        local t = turn(list, p, why.OWN)
        while t and #able { t } > 0 and not G.choose { false, true } do
            advance(t, p)
        end
    end
end

-- Several processes: the script is begun in each, and is for those that a line names.

function G.process(which, script)
    if type(script) ~= "function" then
        wanted("process", "a function", kind_of(script))
    end
    if core.process(which) then
        script()
        core.fail("ended", "")
    end
end

G.board = {}
function G.board.post(name, value)
    core.post(text(name, "board.post"), value and whole(value, "board.post", true))
end
function G.board.wait(name)
    return core.await_post(text(name, "board.wait"), "'" .. name .. "' to stand on the board")
end

-- Assertions

function G.assert(value, message)
    if not value then
        local said = type(message) == "string" or type(message) == "number"
        core.fail("assertion", said and tostring(message) or "an assertion of the script failed")
    end
    return value
end

function G.expect(t, p)
    if not core.holds(check(t, "expect").id, core.wide(p)) then
        core.fail("assertion", tostring(t) .. " was expected before an operation that " .. says(p) ..
            (G.ended(t) and ", and has ended" or ", and stands before: " .. core.look(t.id).operation))
    end
end

-- What the program's own choices are

function G.chooses(t, ...)
    core.chooses(type(t) == "number" and whole(t, "chooses") or check(t, "chooses").id, ...)
end

G.select = nil
