"""`pct replay --gdb`: what pct_commands.py needs of gdb. pct starts gdb with this file, after it has set pct_facts to
the name of the JSON file."""
import os
import sys

import gdb

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import pct_commands  # noqa: E402 (it is beside this file)

del sys.path[0]


class Hook(gdb.Breakpoint):
    """On pct_debugger_stop(). It never goes away, and gdb does not speak of it: show() does."""

    def __init__(self):
        super().__init__("pct_debugger_stop", internal=True)
        self.silent = True


class Copy(gdb.Breakpoint):
    """On pct_debugger_copy(), where nothing stops."""

    def __init__(self):
        super().__init__("pct_debugger_copy", internal=True)

    def stop(self):
        commands.copy()
        return False


class Return(gdb.Breakpoint):
    """Where the call that is about to be made returns to."""

    def __init__(self, pc):
        super().__init__("*%d" % pc, internal=True, temporary=True)
        self.silent = True
        self.thread = gdb.selected_thread().num


class Debugger:
    """gdb, as pct_commands.py describes it."""

    def __init__(self):
        self.hook = None
        self.start_at = 0  # where the next run is to stop, 0: nowhere
        self.trapped = False  # stopped at an int3 of patched code
        self.own = False  # by a command of pct's, which goes on
        self.continues = False  # the user's `continue` goes on, too,
        self.passes = False  # before gdb asks for the next command

    def alive(self):
        return bool(gdb.selected_inferior().pid)

    def number_of(self, tid):
        return next((t.num for t in gdb.selected_inferior().threads() if t.ptid[1] == tid), None)

    def address_of(self, name):
        return int(gdb.parse_and_eval("(long)&" + name))

    def symbol(self, address):
        text = gdb.execute("info symbol %d" % address, to_string=True)
        return "" if text.startswith("No symbol") else text.split(" in section")[0]

    def read(self, at, size):
        try:
            return bytes(gdb.selected_inferior().read_memory(at, size))
        except gdb.MemoryError:
            raise pct_commands.Unreadable() from None

    def write(self, at, data):
        gdb.selected_inferior().write_memory(at, data)

    def own_frame(self):
        frame = gdb.newest_frame()
        while frame and frame.older() and gdb.solib_name(frame.pc()) == commands.library:
            frame = frame.older()
        if frame:
            frame.select()
        return frame

    def frame(self, own):
        frame = self.own_frame() if own else gdb.selected_frame()
        if not frame:
            return None
        sal, name = frame.find_sal(), frame.name() or "?"
        if not sal.symtab:
            return pct_commands.Frame(name, None, None, None)
        return pct_commands.Frame(name, sal.symtab.filename, sal.line, sal.symtab.fullname())

    def resume(self, command="continue"):
        """gdb could pass SIGTRAP by itself, but then it does so behind breakpoints, too."""
        self.trapped, self.own = False, commands.traps()
        try:
            text = gdb.execute(command, to_string=self.own)
            while self.trapped:
                self.trapped = False  # unless it stops again
                text = gdb.execute("signal SIGTRAP", to_string=True)
        finally:
            self.own = False
        sys.stdout.write(text or "")

    def at_int3(self):
        """Behind one that is the program's: of gdb's own it shows what stands there without them."""
        try:
            sent = int(gdb.parse_and_eval("$_siginfo.si_code")) == 0x80
            return sent and self.read(gdb.newest_frame().pc() - 1, 1) == b"\xcc"
        except (gdb.error, pct_commands.Unreadable):
            return False

    def resume_to_frame(self):
        Return(self.own_frame().pc())
        self.resume()

    def rerun(self, step):
        """What the user's breakpoints would say on the way is known already."""
        off = [b for b in gdb.breakpoints() or [] if b.enabled and b is not self.hook]
        for b in off:
            b.enabled = False
        self.start_at = step
        try:
            if self.alive():
                gdb.execute("kill", to_string=True)
            self.resume("run")
        finally:
            self.start_at = 0
            for b in off:
                if b.is_valid():
                    b.enabled = True

    def evaluate(self, text):
        try:
            return int(gdb.parse_and_eval(text))
        except gdb.error:
            raise ValueError(text) from None

    def on_library(self, event):
        if event.new_objfile.filename != commands.library:
            return
        if self.hook is None:
            self.hook = Hook()
            Copy()
        commands.announce(self.start_at)

    def on_stop(self, event):
        known = isinstance(event, (gdb.BreakpointEvent, gdb.SignalEvent))
        self.trapped = commands.traps() and not known and self.at_int3()
        self.passes = self.trapped and not self.own and self.continues
        self.continues = False
        if self.trapped and not self.own and not self.passes:
            print("pct: at a scheduling point by an int3: `signal SIGTRAP` goes on, as pct's commands do by themselves")
        if isinstance(event, gdb.BreakpointEvent) and any(isinstance(b, (Hook, Return)) for b in event.breakpoints):
            commands.show()


    def on_prompt(self):
        if self.passes:
            self.passes = False
            self.resume("signal SIGTRAP")


class Filter:
    """Backtraces without the frames of libpct.so; `bt -no-filters` has them."""

    name, priority, enabled = "pct", 100, True

    def filter(self, frames):
        return (f for f in frames if gdb.solib_name(f.inferior_frame().pc()) != commands.library)


class Pct(gdb.Command):
    """Go through a replayed schedule step by step, in both directions, and look at what its threads wait for and
    hold."""

    def __init__(self):
        super().__init__("pct", gdb.COMMAND_RUNNING, prefix=True)

    def invoke(self, argument, from_tty):
        if argument:
            raise gdb.GdbError("pct: there is no command '%s'; `help pct` lists them" % argument)
        gdb.execute("help pct")


class Command(gdb.Command):
    """One of pct_commands.py."""

    def __init__(self, name):
        self.action = getattr(commands, name)
        self.__doc__ = self.action.__doc__
        super().__init__("pct " + name, gdb.COMMAND_RUNNING if name in commands.RUNNING else gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        try:
            self.action(argument)
        except pct_commands.Error as error:
            raise gdb.GdbError("pct: %s" % error) from None


def setup():
    Pct()
    for name in commands.NAMES:
        Command(name)
    for line in ("set pagination off", "set confirm off", "set startup-with-shell off",
                 "set disable-randomization " + ("off" if commands.facts["aslr"] else "on"),
                 # What the shim sends itself (33, 64) and what libc does (32).
                 "handle SIG32 SIG33 SIG64 nostop noprint pass",
                 # gdb sets them for every program; the stack of a replay would not be where it was.
                 "unset environment LINES", "unset environment COLUMNS"):
        gdb.execute(line, to_string=True)
    for name, value in commands.facts["environment"].items():
        gdb.execute("set environment %s %s" % (name, value), to_string=True)
    gdb.frame_filters["pct"] = Filter()
    gdb.events.new_objfile.connect(debugger.on_library)
    gdb.events.stop.connect(debugger.on_stop)
    gdb.events.before_prompt.connect(debugger.on_prompt)
    gdb.execute("define hook-continue\npython debugger.continues = True\nend")
    commands.greet()
    try:
        if gdb.lookup_global_symbol("main"):
            gdb.execute("tbreak main", to_string=True)
            debugger.resume("run")
        else:
            debugger.rerun(1)
    except gdb.error as error:
        print("pct: the program could not be started: %s" % error)


debugger = Debugger()
commands = pct_commands.Commands(debugger, "gdb", pct_facts)  # noqa: F821 (set by pct)
setup()
