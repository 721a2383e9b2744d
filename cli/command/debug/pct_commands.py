"""The commands of `pct replay --gdb` and `--lldb`, for any debugger: pct_gdb.py and pct_lldb.py are what differs.

pct has put into a JSON file what is needed here (cli/command/debug.c). The process under libpct.so says where its
scheduler's state is: preload/core/debugger.h describes the two symbols that are used. Nothing here changes what the
schedule is. A step is one operation that the scheduler saw complete; they count from 1. "Before step 7" is the place at
which a thread is about to make it: every stop by a command of this file is at such a place.

What a debugger has to offer (the argument `debugger` of Commands):
    number_of(tid)          its own number of the thread that the kernel calls so; None: it has none
    alive()                 whether there is a process
    address_of(name)        of a symbol
    symbol(address)         "name" or "name + 4"; "" if there is none
    read(at, size)          bytes; raises Unreadable
    write(at, data)
    frame(own)              the Frame that is selected; own: first selects the innermost one that is not libpct.so's
    resume()                goes on until the next stop
    rerun(step)             from the start, to this step; breakpoints on the way are skipped
    resume_to_frame()       the same, until the frame that frame(True) found is the innermost again
    evaluate(text)          a whole number; raises ValueError
"""
import collections
import json
import os
import shlex
import struct
import subprocess

VERSION, NOBODY = 3, 0xFFFFFFFF
STEP, END = 1, 2  # reasons
STATES = ("could run", "blocked", "outside", "finished")
# The offsets in struct pct_debugger, in its order.
OFFSETS = ("current record stop slots shift block_step block host threads break_step break_other "
           "id state queued op object next tid address number first holder class_").split()
STOP_AT, COPY, INDEX = 16, 48, 72  # offsets of stop_at, copy and offsets there
INPUT = INDEX + 4 * len(OFFSETS)

# Where a thread stands; path and line are None without debug information.
Frame = collections.namedtuple("Frame", "name file line path")


class Error(Exception):
    """What the user is told in place of what the command would have done."""


class Unreadable(Exception):
    """There is no memory at this address."""


class Process:
    """The scheduler's state in the stopped process."""

    def __init__(self, debugger):
        self.debugger = debugger
        self.at = debugger.address_of("pct_debugger")
        self.version, self.reason, self.thread, self.verdict = struct.unpack("<4I", self.read(self.at, 16))
        if self.version != VERSION:
            raise Error("libpct.so is of another version than these commands (%d, not %d)" % (self.version, VERSION))
        _, self.sched, self.slots, self.slot_size = struct.unpack("<4Q", self.read(self.at + STOP_AT, 32))
        self.o = dict(zip(OFFSETS, struct.unpack("<%dI" % len(OFFSETS), self.read(self.at + INDEX, 4 * len(OFFSETS)))))

    def read(self, at, size):
        return self.debugger.read(at, size)

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

    def next_step(self):
        return self.steps() + 1

    def threads(self):
        for id in range(self.u32(self.sched + self.o["threads"])):
            slot = self.slots + id * self.slot_size
            yield {"id": id, "at": slot, "tid": self.u32(slot + self.o["tid"]),
                   "state": self.u32(slot + self.o["state"]),
                   "op": self.u32(slot + self.o["op"]), "object": self.object(self.u64(slot + self.o["object"])),
                   "queued": self.u8(slot + self.o["queued"])}

    def object(self, at):
        if not at:
            return None
        return {"at": at, "address": self.u64(at + self.o["address"]), "number": self.u32(at + self.o["number"]),
                "first": self.u64(at + self.o["first"]), "holder": self.u32(at + self.o["holder"]),
                "class": self.u8(at + self.o["class_"])}

    def objects(self):
        slots, shift = self.s64("slots"), self.u32(self.sched + self.o["shift"])
        count = 1 << (64 - shift)
        table = struct.unpack("<%dQ" % (2 * count), self.read(slots, 16 * count))
        found = [self.object(table[i + 1]) for i in range(0, 2 * count, 2) if table[i]]
        return sorted(found, key=lambda o: (o["class"], o["number"]))

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
        self.debugger.write(self.sched + self.o["break_step"], struct.pack("<Q", step))
        self.debugger.write(self.sched + self.o["break_other"], struct.pack("<I", other))
        self.debugger.write(self.sched + self.o["stop"], bytes(8))


def source_line(frame):
    if not frame or not frame.path:
        return None
    try:
        with open(frame.path, errors="replace") as source:
            return next((text.rstrip("\n") for number, text in enumerate(source, 1) if number == frame.line), None)
    except OSError:
        return None


class Commands:
    """The commands: a method each, with its help, in this order."""

    NAMES = ("where", "next", "until", "switch", "finish", "back", "threads", "objects", "schedule")
    # Those that let the process run.
    RUNNING = ("next", "until", "switch", "finish", "back")

    def __init__(self, debugger, name, path):
        """name: the debugger's; path: of the file that pct has written."""
        with open(path) as file:
            self.facts = json.load(file)
        self.debugger, self.name = debugger, name
        self.library = self.facts["library"].split(":")[-1]
        self.mutex = self.facts["classes"].index("mutex")

    def greet(self):
        print("pct: the schedule of %s" % self.facts["token"])
        print("pct: `pct next`, `pct switch`, `pct until STEP`, `pct back` go through it; `help pct` has the rest")

    def traps(self):
        """Whether an int3 stands where the program accesses memory: its SIGTRAP is the shim's."""
        return ",memory=stacks," in self.facts["token"]

    def announce(self, step):
        """libpct.so has been mapped, and none of its code has run: say where to stop first (0: nowhere)."""
        at = self.debugger.address_of("pct_debugger")
        self.debugger.write(at + STOP_AT, struct.pack("<Q", step))
        if self.facts["input"]:
            self.debugger.write(at + INPUT, os.fsencode(self.facts["input"]) + b"\0")

    def copy(self):
        """libpct.so is in pct_debugger_copy(): the debugger sees code without its breakpoints, and leaves them where it
        writes."""
        at = self.debugger.address_of("pct_debugger") + COPY
        source, to, size = struct.unpack("<3Q", self.debugger.read(at, 24))
        self.debugger.write(to, self.debugger.read(source, size))
        self.debugger.write(at + 16, bytes(8))

    def process(self):
        try:
            if self.debugger.alive():
                return Process(self.debugger)
        except Unreadable:
            if self.debugger.alive():
                raise Error("the state of libpct.so cannot be read") from None
        raise Error("the program does not run; `run` starts it, `pct until 1` goes to its first step")

    def begun(self):
        p = self.process()
        if not p.begun():
            raise Error("the program has made no step yet; `pct next` goes to the first")
        return p

    def describe(self, op, one):
        ops, words = self.facts["ops"], self.facts["words"]
        word = ops[op]["name"] if op < len(ops) else "?"
        if not one or not one["class"] or op in (1, 2):  # start and finish are a thread's own
            return word
        kind = words[one["class"]] if one["class"] < len(words) else ""
        return "%s%s %d" % (word, "" if kind in word else " " + kind, one["number"])

    def object_name(self, one):
        return "%s %d" % (self.facts["classes"][one["class"]], one["number"])

    def holder(self, p, one, ids):
        """Of a mutex the real one knows it best (GLIBC: __owner is its third word): a lock that nobody waits for tells
        nobody."""
        if one["class"] != self.mutex:
            return one["holder"] if one["class"] else NOBODY
        try:
            return ids.get(p.u32(one["address"] + 8), NOBODY)
        except Unreadable:
            return NOBODY

    def show(self):
        """Where the process stands: the step, the thread, what it is about to do, its source line."""
        p = self.process()
        id = p.current()
        one = next((t for t in p.threads() if t["id"] == id), None)
        if p.reason == END:
            print("pct: the run ends here: %s, after %d steps" % (self.facts["verdicts"][p.verdict], p.steps()))
        elif p.reason == STEP and one:
            print("pct: before step %d: thread %d: %s" % (p.next_step(), id, self.describe(one["op"], one["object"])))
        else:
            doing = "thread %d runs" % id if id is not None else "the scheduler is at work"
            print("pct: %d steps made; %s" % (p.steps(), doing))
        frame = self.debugger.frame(bool(p.reason))
        if not frame:
            return
        print("     %s ()%s" % (frame.name, " at %s:%d" % (frame.file, frame.line) if frame.path else ""))
        source = source_line(frame)
        if source is not None:
            print("     %d\t%s" % (frame.line, source))

    def number(self, argument, name, fallback):
        if not argument:
            return fallback
        try:
            value = self.debugger.evaluate(argument)
        except ValueError:
            value = 0
        if value < 1:
            raise Error("%s: '%s' is not a number above 0" % (name, argument))
        return value

    def where(self, argument):
        """Say at which step the run stands, and what is about to happen there."""
        self.begun()
        self.show()

    def next(self, argument):
        """Go to the next scheduling point: to just before the next step, of whichever thread.
        pct next N: N steps on."""
        by = self.number(argument, "next", 1)
        p = self.process()
        if not p.begun():
            return self.debugger.rerun(by)
        if p.reason == END:
            raise Error("the run ends here; `pct back` goes to an earlier step")
        p.arm(p.next_step() + by - (p.reason != STEP))
        self.debugger.resume()

    def until(self, argument):
        """Go to just before step N: forwards, or, by replaying from the start, backwards."""
        if not argument:
            raise Error("until: which step?")
        step = self.number(argument, "until", 1)
        if not self.debugger.alive() or not self.process().begun():
            return self.debugger.rerun(step)
        p = self.process()
        if step == p.next_step() and p.reason == STEP:
            self.show()
        elif step < p.next_step() or p.reason == END:
            self.debugger.rerun(step)
        else:
            p.arm(step)
            self.debugger.resume()

    def switch(self, argument):
        """Go to the next context switch: to just before the first step of another thread."""
        p = self.begun()
        if p.reason == END:
            raise Error("the run ends here; `pct back` goes to an earlier step")
        id = p.current()
        p.arm(1, 0 if id is None else id + 1)
        self.debugger.resume()

    def finish(self, argument):
        """Make the step that is about to be made, and stop behind its call, in the program:
        from there `next` and `step` go on."""
        if self.begun().reason != STEP:
            raise Error("finish: the program does not stand before a step")
        self.debugger.resume_to_frame()

    def back(self, argument):
        """Go to the step before this one, by replaying from the start.
        pct back N: N steps. Breakpoints on the way are skipped."""
        by = self.number(argument, "back", 1)
        self.debugger.rerun(max(1, self.begun().next_step() - by))

    def threads(self, argument):
        """The threads of the program: the debugger's number, state, next operation, what each waits for and holds."""
        p = self.begun()
        threads = list(p.threads())
        ids = {t["tid"]: t["id"] for t in threads if t["tid"]}
        held = {}
        for one in p.objects():
            held.setdefault(self.holder(p, one, ids), []).append(self.object_name(one))
        current = p.current()
        for t in threads:
            known = self.debugger.number_of(t["tid"]) if t["tid"] and t["state"] != 3 else None
            what = STATES[t["state"]]
            if t["id"] == current:
                what = "running, next: " + self.describe(t["op"], t["object"]) if p.reason == STEP else "running"
            elif t["state"] == 1:
                what = "waits: " + self.describe(t["op"], t["object"])
                holder = self.holder(p, t["object"], ids) if t["object"] else NOBODY
                if holder != NOBODY and t["object"]["class"] != 1:
                    what += ", held by thread %d" % holder
            elif t["state"] == 0 and t["op"]:
                what = "could run, next: " + self.describe(t["op"], t["object"])
            if t["id"] in held:
                what += "; holds " + ", ".join(held[t["id"]])
            number = " (%s %d)" % (self.name, known) if known else ""
            print("%s thread %d%s: %s" % ("*" if t["id"] == current else " ", t["id"], number, what))

    def objects(self, argument):
        """What threads synchronise on: number, variable or address, who holds it, who waits for it."""
        p = self.begun()
        ids = {t["tid"]: t["id"] for t in p.threads() if t["tid"]}
        for one in p.objects():
            if self.facts["classes"][one["class"]] in ("", "thread"):
                continue
            text = "%s: %s" % (self.object_name(one), self.debugger.symbol(one["address"]) or hex(one["address"]))
            holder, waiters = self.holder(p, one, ids), list(p.waiters(one))
            if holder != NOBODY:
                text += ", held by thread %d" % holder
            if waiters:
                text += ", awaited by thread%s %s" % ("s" if len(waiters) > 1 else "", ", ".join(map(str, waiters)))
            print(text)

    def schedule(self, argument):
        """Prefer another thread here: pct schedule THREAD [FILE].
        Prints the token of the schedule that is this one up to here and then goes on with that thread (a switch to a
        thread that cannot run is not made), or writes it to a file that `pct replay` follows."""
        try:
            words = shlex.split(argument)
        except ValueError:
            words = []
        if not 1 <= len(words) <= 2 or not words[0].isdigit():
            raise Error("schedule: which thread (by pct's number), and which file, if any?")
        steps = self.begun().steps()
        if not steps:
            raise Error("schedule: no step has been made yet")
        command = [self.facts["pct"], "trace", "-f", "schedule", "--to", str(steps), "--then", words[0],
                   self.facts["trace"]]
        if len(words) == 2:
            command += ["-o", words[1]]
        # That the run still goes on is no news.
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise Error("schedule: " + done.stderr.strip().split("\n")[-1])
        if len(words) == 2:
            print("pct: written to %s; `pct replay %s -- COMMAND` follows it" % (words[1], words[1]))
        for line in done.stdout.splitlines():
            if line.startswith("token "):
                print("pct: " + line)
