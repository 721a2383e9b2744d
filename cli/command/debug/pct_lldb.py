"""`pct replay --lldb`: what pct_commands.py needs of lldb. pct starts lldb with this file, after it has set pct_facts,
in the names of its `script` command, to the name of the JSON file."""
import os
import sys
import time

import lldb

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import pct_commands  # noqa: E402 (it is beside this file)

del sys.path[0]

# What the shim sends itself (33, 64) and what libc does (32).
OWN_SIGNALS = (32, 33, 64)


class Debugger:
    """lldb, as pct_commands.py describes it."""

    def __init__(self, debugger):
        self.debugger = debugger
        self.target = debugger.GetSelectedTarget()
        self.start_at = 0  # where the next run is to stop, 0: nowhere
        self.hooks = set()  # numbers of our breakpoints

    @property
    def process(self):
        return self.target.GetProcess()

    def alive(self):
        """lldb lets the next command begin before it has heard that the process has ended; the memory of that is gone
        by then."""
        until = time.monotonic() + 5
        while self.process.IsValid() and self.process.is_alive:
            if self.has_memory() or time.monotonic() > until:
                return True
            time.sleep(0.01)
        return False

    def has_memory(self):
        try:
            with open("/proc/%d/maps" % self.process.GetProcessID(), encoding="ascii", errors="replace") as maps:
                return maps.read(1) != ""
        except OSError:
            return False

    def number_of(self, tid):
        thread = self.process.GetThreadByID(tid)
        return thread.GetIndexID() if thread.IsValid() else None

    def address_of(self, name):
        library = self.target.FindModule(lldb.SBFileSpec(commands.library))
        return library.FindSymbol(name).GetStartAddress().GetLoadAddress(self.target)

    def symbol(self, address):
        where = self.target.ResolveLoadAddress(address)
        symbol = where.GetSymbol()
        if not symbol.IsValid():
            return ""
        behind = address - symbol.GetStartAddress().GetLoadAddress(self.target)
        return symbol.GetName() + (" + %d" % behind if behind else "")

    def read(self, at, size):
        error = lldb.SBError()
        data = self.process.ReadMemory(at, size, error)
        if error.Fail():
            raise pct_commands.Unreadable()
        return data

    def write(self, at, data):
        error = lldb.SBError()
        self.process.WriteMemory(at, data, error)
        if error.Fail():
            raise pct_commands.Error(error.GetCString())

    def own_frame(self):
        thread = self.process.GetSelectedThread()
        for frame in thread:
            if frame.GetModule().GetFileSpec().fullpath != commands.library:
                thread.SetSelectedFrame(frame.idx)
                return frame
        return thread.GetSelectedFrame()

    def frame(self, own):
        frame = self.own_frame() if own else self.process.GetSelectedThread().GetSelectedFrame()
        if not frame.IsValid():
            return None
        line = frame.GetLineEntry()
        if not line.IsValid():
            return pct_commands.Frame(frame.GetFunctionName() or "?", None, None, None)
        path = line.GetFileSpec().fullpath
        return pct_commands.Frame(frame.GetFunctionName(), path, line.GetLine(), path)

    def evaluate(self, text):
        return int(text, 0)

    def resume(self):
        self.process.Continue()
        self.tell()

    def tell(self):
        """What lldb says of a stop, which it does only for commands of its own; of ours the stop hook has told."""
        thread = self.process.GetSelectedThread()
        if self.process.GetState() == lldb.eStateStopped and not self.is_own(thread):
            self.execute("process status")

    def is_own(self, thread):
        """Whether it has stopped at a breakpoint of ours."""
        return thread.GetStopReason() == lldb.eStopReasonBreakpoint and thread.GetStopReasonDataAtIndex(0) in self.hooks

    def execute(self, line):
        done = lldb.SBCommandReturnObject()
        self.debugger.GetCommandInterpreter().HandleCommand(line, lldb.SBExecutionContext(self.process), done)
        print((done.GetOutput() or "") + (done.GetError() or ""), end="")

    def resume_to_frame(self):
        thread = self.process.GetSelectedThread()
        back = self.own(self.target.BreakpointCreateByAddress(self.own_frame().GetPC()))
        back.SetOneShot(True)
        back.SetThreadID(thread.GetThreadID())
        self.resume()

    def rerun(self, step):
        """What the user's breakpoints would say on the way is known already."""
        off = [b for b in self.target.breakpoint_iter() if b.IsEnabled() and b.GetID() not in self.hooks]
        for b in off:
            b.SetEnabled(False)
        self.start_at = step
        try:
            self.launch()
        finally:
            self.start_at = 0
            for b in off:
                b.SetEnabled(True)

    def launch(self):
        """From the start."""
        if self.alive():
            self.process.Kill()
        # Not by the target's settings, which lose variables that are empty or hold more than a line; nor by a shell.
        info, error = self.target.GetLaunchInfo(), lldb.SBError()
        info.SetEnvironment(self.environment(), False)
        flags = info.GetLaunchFlags() & ~(lldb.eLaunchFlagShellExpandArguments | lldb.eLaunchFlagDisableASLR)
        info.SetLaunchFlags(flags | (0 if commands.facts["aslr"] else lldb.eLaunchFlagDisableASLR))
        self.target.Launch(info, error)
        if error.Fail():
            raise pct_commands.Error("the program could not be started: %s" % error.GetCString())
        self.tell()

    def own(self, breakpoint):
        """Ours: its stops are shown by show()."""
        self.hooks.add(breakpoint.GetID())
        breakpoint.AddName("pct")
        return breakpoint

    def prepare(self):
        """Everything before the first run."""
        # Its symbols have addresses from now on, so that breakpoints can stand at the first instruction.
        library = self.target.AddModule(commands.library, None, None)
        stop, begin = (self.target.BreakpointCreateBySBAddress(library.FindSymbol(name).GetStartAddress())
                       for name in ("pct_debugger_stop", "pct_debugger_begin"))
        self.own(stop)
        self.own(begin).SetScriptCallbackFunction("pct_lldb.on_begin")
    @staticmethod
    def environment():
        """That of a replay, whole: what pct has set for lldb is not the program's."""
        mine = dict(os.environ)
        path = commands.facts["python_path"]
        mine.pop("PYTHONPATH", None)
        if path is not None:
            mine["PYTHONPATH"] = path
        mine.update(commands.facts["environment"])
        environment = lldb.SBEnvironment()
        for name, value in mine.items():
            environment.Set(name, value, True)
        return environment


def on_begin(frame, location, names):
    """The callback of the breakpoint on pct_debugger_begin(); the process goes on."""
    signals = frame.GetThread().GetProcess().GetUnixSignals()
    for number in OWN_SIGNALS:
        signals.SetShouldStop(number, False)
        signals.SetShouldNotify(number, False)
        signals.SetShouldSuppress(number, False)
    commands.announce(debugger.start_at)
    return False


class Stop:
    """The stop hook: says where the process stands if one of our breakpoints has stopped it."""

    def __init__(self, target, arguments, names):
        pass

    def handle_stop(self, context, stream):
        thread = context.GetThread()
        if debugger.is_own(thread):
            thread.GetProcess().SetSelectedThread(thread)
            commands.show()
        return True


def pct(shell, argument, context, result, names):
    """The command `pct`; its help is made below."""
    name, _, rest = argument.partition(" ")
    if name not in commands.NAMES:
        result.SetError("pct: there is no command '%s'; `help pct` lists them" % name)
        return
    if debugger.process.GetState() == lldb.eStateRunning:
        result.SetError("pct: the program runs; `process interrupt` stops it")
        return
    act(shell, result, lambda: getattr(commands, name)(rest.strip()))


def run(shell, argument, context, result, names):
    """Start the program in the replayed schedule, again if it runs; its arguments stay those that pct was given."""
    act(shell, result, debugger.launch)


def act(shell, result, action):
    """Do this with lldb waiting for each stop."""
    was = shell.GetAsync()
    shell.SetAsync(False)
    try:
        action()
    except pct_commands.Error as error:
        result.SetError("pct: %s" % error)
    finally:
        shell.SetAsync(was)


def __lldb_init_module(shell, names):
    global debugger, commands
    debugger = Debugger(shell)
    commands = pct_commands.Commands(debugger, "lldb", names["pct_facts"])
    pct.__doc__ = "\n".join(["Go through a replayed schedule step by step, in both directions.", ""] +
                            ["pct %s: %s" % (name, " ".join(getattr(commands, name).__doc__.split()))
                             for name in commands.NAMES])
    debugger.prepare()
    for line in ("command script add -f pct_lldb.pct pct", "target stop-hook add -P pct_lldb.Stop",
                 "settings set auto-confirm true", "command unalias run", "command unalias r",
                 "command script add -f pct_lldb.run run", "command alias r run",
                 # Our breakpoints are not among the user's.
                 "breakpoint name configure -A false -D false -L false pct"):
        shell.GetCommandInterpreter().HandleCommand(line, lldb.SBCommandReturnObject())
    commands.greet()
    main = debugger.target.BreakpointCreateByName("main", debugger.target.GetExecutable().GetFilename())
    result = lldb.SBCommandReturnObject()
    if main.GetNumLocations():
        main.SetOneShot(True)
        act(shell, result, debugger.launch)
    else:
        debugger.target.BreakpointDelete(main.GetID())
        act(shell, result, lambda: debugger.rerun(1))
    print(result.GetError() or "", end="")
