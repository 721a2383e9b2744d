"""The commands of `pct replay --gdb`: `help pct` lists them.

pct starts gdb with this file, after it has set pct_facts to the name of a JSON file (cli/debug.c). The process under libpct.so
says where its scheduler's state is: preload/debugger.h describes the two symbols that are used here. Nothing here changes
what the schedule is. A step is one operation that the scheduler saw complete; they count from 1. "Before step 7" is the place
at which a thread is about to make it: every stop by a command of this file is at such a place.
"""
import json
import struct

import gdb

facts = json.load(open(pct_facts))  # noqa: F821 (set by pct)
OPS, CLASSES, WORDS, VERDICTS = facts["ops"], facts["classes"], facts["words"], facts["verdicts"]
LIBRARY = facts["library"].split(":")[-1]
MUTEX = CLASSES.index("mutex")
VERSION, NOBODY = 1, 0xFFFFFFFF
STEP, END = 1, 2  # reasons
STATES = ("could run", "blocked", "outside", "finished")
# The offsets in struct pct_debugger, in its order.
OFFSETS = ("current record stop slots shift block_step block host threads break_step break_other "
           "id state queued op object next tid address number first holder class_").split()


class Process:
    """The scheduler's state in the stopped process."""

    def __init__(self):
        self.at = int(gdb.parse_and_eval("(long)&pct_debugger"))
        self.version, self.reason, self.thread, self.verdict = struct.unpack("<4I", self.read(self.at, 16))
        if self.version != VERSION:
            raise gdb.GdbError("pct: libpct.so is of another version than this gdb.py (%d, not %d)" % (self.version, VERSION))
        self.stop_at, self.sched, self.slots, self.slot_size = struct.unpack("<4Q", self.read(self.at + 16, 32))
        self.o = dict(zip(OFFSETS, struct.unpack("<%dI" % len(OFFSETS), self.read(self.at + 48, 4 * len(OFFSETS)))))

    @staticmethod
    def read(at, size):
        return bytes(gdb.selected_inferior().read_memory(at, size))

    def u64(self, at):
        return struct.unpack("<Q", self.read(at, 8))[0]

    def u32(self, at):
        return struct.unpack("<I", self.read(at, 4))[0]

    def u8(self, at):
        return self.read(at, 1)[0]

    def s64(self, name):
        return self.u64(self.sched + self.o[name])

    def begun(self):
        return bool(self.sched and self.s64("host"))

    def steps(self):
        """Steps made so far."""
        return self.s64("block_step") + (self.s64("record") - self.s64("block")) // 8

    def threads(self):
        for id in range(self.u32(self.sched + self.o["threads"])):
            slot = self.slots + id * self.slot_size
            yield {"id": id, "at": slot, "tid": self.u32(slot + self.o["tid"]), "state": self.u32(slot + self.o["state"]),
                   "op": self.u32(slot + self.o["op"]), "object": self.object(self.u64(slot + self.o["object"])),
                   "queued": self.u8(slot + self.o["queued"])}

    def object(self, at):
        if not at:
            return None
        one = {"at": at, "address": self.u64(at + self.o["address"]), "number": self.u32(at + self.o["number"]),
               "first": self.u64(at + self.o["first"]), "holder": self.u32(at + self.o["holder"]), "class": self.u8(at + self.o["class_"])}
        return one

    def objects(self):
        slots, shift = self.s64("slots"), self.u32(self.sched + self.o["shift"])
        count = 1 << (64 - shift)
        table = struct.unpack("<%dQ" % (2 * count), self.read(slots, 16 * count))
        found = [self.object(table[i + 1]) for i in range(0, 2 * count, 2) if table[i]]
        return sorted(found, key=lambda o: (o["class"], o["number"]))

    def holder(self, one, ids):
        """Of a mutex the real one knows it best (GLIBC: __owner is its third word): a lock that nobody waits for tells nobody."""
        if one["class"] != MUTEX:
            return one["holder"]
        try:
            return ids.get(self.u32(one["address"] + 8), NOBODY)
        except gdb.MemoryError:
            return NOBODY

    def waiters(self, one):
        at = one["first"]
        while at:
            yield self.u32(at + self.o["id"])
            at = self.u64(at + self.o["next"])

    def current(self):
        """The slot of the thread that has the baton."""
        if self.reason and self.thread != NOBODY:
            return self.thread
        at = self.s64("current")
        return self.u32(at + self.o["id"]) if at else None

    def arm(self, step, other=0):
        """Stop before this step, or the first behind it."""
        inferior = gdb.selected_inferior()
        inferior.write_memory(self.sched + self.o["break_step"], struct.pack("<Q", step))
        inferior.write_memory(self.sched + self.o["break_other"], struct.pack("<I", other))
        inferior.write_memory(self.sched + self.o["stop"], bytes(8))


def process():
    if not gdb.selected_inferior().pid:
        raise gdb.GdbError("pct: the program does not run; `run` starts it, `pct until 1` goes to its first step")
    try:
        return Process()
    except gdb.MemoryError:
        raise gdb.GdbError("pct: the state of libpct.so cannot be read")


def begun():
    p = process()
    if not p.begun():
        raise gdb.GdbError("pct: the program has made no step yet; `pct next` goes to the first")
    return p


def describe(op, one):
    word = OPS[op]["name"] if op < len(OPS) else "?"
    if not one or op in (1, 2):  # start and finish are a thread's own
        return word
    kind = WORDS[one["class"]] if one["class"] < len(WORDS) else ""
    return "%s%s %d" % (word, "" if kind in word else " " + kind, one["number"])


def symbol(address):
    text = gdb.execute("info symbol %d" % address, to_string=True)
    return "" if text.startswith("No symbol") else text.split(" in section")[0]


def gdb_thread(tid):
    for thread in gdb.selected_inferior().threads():
        if thread.ptid[1] == tid:
            return thread
    return None


def own_frame():
    """Select the innermost frame that is not libpct.so's."""
    frame = gdb.newest_frame()
    while frame and frame.older() and gdb.solib_name(frame.pc()) == LIBRARY:
        frame = frame.older()
    if frame:
        frame.select()
    return frame


def place(frame):
    if not frame:
        return ""
    sal, name = frame.find_sal(), frame.name() or "?"
    return "%s () at %s:%d" % (name, sal.symtab.filename, sal.line) if sal.symtab else "%s ()" % name


def source_line(frame):
    sal = frame.find_sal() if frame else None
    if not sal or not sal.symtab:
        return None
    try:
        with open(sal.symtab.fullname(), errors="replace") as source:
            return next((text.rstrip("\n") for number, text in enumerate(source, 1) if number == sal.line), None)
    except OSError:
        return None


def position(p):
    """The number of the next step."""
    return p.steps() + 1


def show(p):
    """Where the process stands: the step, the thread, what it is about to do, its source line."""
    id = p.current()
    one = next((t for t in p.threads() if t["id"] == id), None)
    if p.reason == END:
        print("pct: the run ends here: %s, after %d steps" % (VERDICTS[p.verdict], p.steps()))
    elif p.reason == STEP and one:
        print("pct: before step %d: thread %d: %s" % (position(p), id, describe(one["op"], one["object"])))
    else:
        print("pct: %d steps made; %s" % (p.steps(), "thread %d runs" % id if id is not None else "the scheduler is at work"))
    frame = own_frame() if p.reason else gdb.selected_frame()
    print("     " + place(frame))
    source = source_line(frame)
    if source is not None:
        print("     %d\t%s" % (frame.find_sal().line, source))


class Hook(gdb.Breakpoint):
    """On pct_debugger_stop(). It never goes away, and gdb does not speak of it: show() does."""

    def __init__(self):
        super().__init__("pct_debugger_stop", internal=True)
        self.silent = True


class Return(gdb.Breakpoint):
    """Where the call that is about to be made returns to."""

    def __init__(self, pc):
        super().__init__("*%d" % pc, internal=True, temporary=True)
        self.silent = True
        self.thread = gdb.selected_thread().num


class Filter:
    """Backtraces without the frames of libpct.so; `bt -no-filters` has them."""

    name, priority, enabled = "pct", 100, True

    def filter(self, frames):
        return (f for f in frames if gdb.solib_name(f.inferior_frame().pc()) != LIBRARY)


hook = None
start_at = 0  # where the next run is to stop, 0: nowhere


def on_library(event):
    """libpct.so has been mapped, and none of its code has run: say where to stop first."""
    global hook
    if event.new_objfile.filename != LIBRARY:
        return
    if hook is None:
        hook = Hook()
    at = int(gdb.parse_and_eval("(long)&pct_debugger"))
    gdb.selected_inferior().write_memory(at + 16, struct.pack("<Q", start_at))


def on_stop(event):
    if isinstance(event, gdb.BreakpointEvent) and any(isinstance(b, (Hook, Return)) for b in event.breakpoints):
        show(Process())


def resume():
    gdb.execute("continue", to_string=False)


def rerun(step):
    """From the start, to this step. What the user's breakpoints would say on the way is known already."""
    global start_at
    off = [b for b in gdb.breakpoints() or [] if b.enabled and b is not hook]
    for b in off:
        b.enabled = False
    start_at = step
    try:
        if gdb.selected_inferior().pid:
            gdb.execute("kill", to_string=True)
        gdb.execute("run")
    finally:
        start_at = 0
        for b in off:
            if b.is_valid():
                b.enabled = True


def number(argument, name, preset):
    if not argument:
        return preset
    try:
        value = int(gdb.parse_and_eval(argument))
    except (gdb.error, ValueError):
        value = 0
    if value < 1:
        raise gdb.GdbError("pct: %s: '%s' is not a number above 0" % (name, argument))
    return value


class Pct(gdb.Command):
    """Go through a replayed schedule step by step, in both directions, and look at what its threads wait for and hold."""

    def __init__(self):
        super().__init__("pct", gdb.COMMAND_RUNNING, prefix=True)

    def invoke(self, argument, from_tty):
        if argument:
            raise gdb.GdbError("pct: there is no command '%s'; `help pct` lists them" % argument)
        gdb.execute("help pct")


class Where(gdb.Command):
    """Say at which step the run stands, and what is about to happen there."""

    def __init__(self):
        super().__init__("pct where", gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        show(begun())


class Next(gdb.Command):
    """Go to the next scheduling point: to just before the next step, of whichever thread. pct next N: N steps on."""

    def __init__(self):
        super().__init__("pct next", gdb.COMMAND_RUNNING)

    def invoke(self, argument, from_tty):
        by = number(argument, "next", 1)
        p = process()
        if not p.begun():
            return rerun(by)
        if p.reason == END:
            raise gdb.GdbError("pct: the run ends here; `pct back` goes to an earlier step")
        p.arm(position(p) + by - (p.reason != STEP))
        resume()


class Until(gdb.Command):
    """Go to just before step N: forwards, or, by replaying from the start, backwards."""

    def __init__(self):
        super().__init__("pct until", gdb.COMMAND_RUNNING)

    def invoke(self, argument, from_tty):
        if not argument:
            raise gdb.GdbError("pct: until: which step?")
        step = number(argument, "until", 1)
        if not gdb.selected_inferior().pid or not process().begun():
            return rerun(step)
        p = process()
        if step == position(p) and p.reason == STEP:
            show(p)
        elif step < position(p) or p.reason == END:
            rerun(step)
        else:
            p.arm(step)
            resume()


class Switch(gdb.Command):
    """Go to the next context switch: to just before the first step of another thread."""

    def __init__(self):
        super().__init__("pct switch", gdb.COMMAND_RUNNING)

    def invoke(self, argument, from_tty):
        p = begun()
        if p.reason == END:
            raise gdb.GdbError("pct: the run ends here; `pct back` goes to an earlier step")
        id = p.current()
        p.arm(1, 0 if id is None else id + 1)
        resume()


class Finish(gdb.Command):
    """Make the step that is about to be made, and stop behind its call, in the program: from there `next` and `step` go on."""

    def __init__(self):
        super().__init__("pct finish", gdb.COMMAND_RUNNING)

    def invoke(self, argument, from_tty):
        if begun().reason != STEP:
            raise gdb.GdbError("pct: finish: the program does not stand before a step")
        Return(own_frame().pc())
        resume()


class Back(gdb.Command):
    """Go to the step before this one, by replaying from the start. pct back N: N steps. Breakpoints are passed by on the way."""

    def __init__(self):
        super().__init__("pct back", gdb.COMMAND_RUNNING)

    def invoke(self, argument, from_tty):
        by = number(argument, "back", 1)
        rerun(max(1, position(begun()) - by))


class Threads(gdb.Command):
    """The threads of the program: gdb's number, state, next operation, what each waits for and holds."""

    def __init__(self):
        super().__init__("pct threads", gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        p = begun()
        threads = list(p.threads())
        ids = {t["tid"]: t["id"] for t in threads if t["tid"]}
        held = {}
        for one in p.objects():
            held.setdefault(p.holder(one, ids), []).append("%s %d" % (CLASSES[one["class"]], one["number"]))
        current = p.current()
        for t in threads:
            known = gdb_thread(t["tid"]) if t["tid"] and t["state"] != 3 else None
            what = "%s" % STATES[t["state"]]
            if t["id"] == current:
                what = "running, next: " + describe(t["op"], t["object"]) if p.reason == STEP else "running"
            elif t["state"] == 1:
                what = "waits: " + describe(t["op"], t["object"])
                holder = p.holder(t["object"], ids) if t["object"] else NOBODY
                if holder != NOBODY and t["object"]["class"] != 1:
                    what += ", held by thread %d" % holder
            elif t["state"] == 0 and t["op"]:
                what = "could run, next: " + describe(t["op"], t["object"])
            if t["id"] in held:
                what += "; holds " + ", ".join(held[t["id"]])
            print("%s thread %d%s: %s" % ("*" if t["id"] == current else " ", t["id"], " (gdb %d)" % known.num if known else "", what))


class Objects(gdb.Command):
    """What threads synchronise on: number, variable or address, who holds it, who waits for it."""

    def __init__(self):
        super().__init__("pct objects", gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        p = begun()
        ids = {t["tid"]: t["id"] for t in p.threads() if t["tid"]}
        for one in p.objects():
            if CLASSES[one["class"]] in ("", "thread"):
                continue
            text = "%s %d: %s" % (CLASSES[one["class"]], one["number"], symbol(one["address"]) or hex(one["address"]))
            holder, waiters = p.holder(one, ids), list(p.waiters(one))
            if holder != NOBODY:
                text += ", held by thread %d" % holder
            if waiters:
                text += ", awaited by thread%s %s" % ("s" if len(waiters) > 1 else "", ", ".join(map(str, waiters)))
            print(text)


def setup():
    for command in (Pct, Where, Next, Until, Switch, Finish, Back, Threads, Objects):
        command()
    for line in ("set pagination off", "set confirm off", "set startup-with-shell off",
                 "set disable-randomization " + ("off" if facts["aslr"] else "on"),
                 # What the shim sends itself (33, 64) and what libc does (32).
                 "handle SIG32 SIG33 SIG64 nostop noprint pass",
                 # gdb sets them for every program; the stack of a replay would not be where it was.
                 "unset environment LINES", "unset environment COLUMNS"):
        gdb.execute(line, to_string=True)
    for name, value in facts["environment"].items():
        gdb.execute("set environment %s %s" % (name, value), to_string=True)
    gdb.frame_filters["pct"] = Filter()
    gdb.events.new_objfile.connect(on_library)
    gdb.events.stop.connect(on_stop)
    print("pct: the schedule of %s" % facts["token"])
    print("pct: `pct next`, `pct switch`, `pct until STEP`, `pct back` go through it; `help pct` has the rest")
    try:
        if gdb.lookup_global_symbol("main"):
            gdb.execute("tbreak main", to_string=True)
            gdb.execute("run")
        else:
            rerun(1)
    except gdb.error as error:
        print("pct: the program could not be started: %s" % error)


setup()
