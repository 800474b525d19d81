"""tap.py - end-to-end cases in Python, told to meson as TAP.

    from tap import case, skip, assay, main

    @case("an unknown command suggests the nearest one")
    def _():
        r = assay("dcotor")
        assert r.status == 2, r
        assert "assay doctor" in r.err, r

    main()

A case passes when it returns, fails when it raises (the message and what was run are shown), and is
left out with skip("reason").  @measured is for a case whose result is a measurement in real time:
wrong, it has a second try, while all other tests of the build folder wait; wrong again, it fails on
a quiet machine and is unstable on a busy one (busy.py).  tools/test-summary counts both, and there
is no other way to try again.  Wrong is what an assert says; a crash of a program of ours, a hang
and every other error fails at once.  @measured(..., alone=True) is for one that takes all CPUs: the
others wait for its first try too.  Chance comes from `chance`, which has a seed.  Every program
that a case starts has a time limit and stdin at /dev/null unless told otherwise.  ASSAY names the
program under test; `make test` sets it."""
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

from busy import Watch, family, keep
from place import place_for

ASSAY = os.path.abspath(os.environ.get("ASSAY", "build/assay"))
SOURCE = os.path.abspath(os.environ.get("ASSAY_SOURCE", "."))
BUILD = os.path.dirname(ASSAY)
LIMIT_S = 60
CRASHES = (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL)
SEED = os.environ.get("ASSAY_TEST_SEED", "1")

chance = random.Random()  # each try of a case begins with SEED and its sentence
_cases = []


class Skip(Exception):
    """Raised by skip()."""


class Crash(Exception):
    """A program of the build folder crashed, or a sanitizer found something in it."""


class Hang(Exception):
    """A program did not end, or what was waited for did not happen."""


class Result:
    """What a program did: argv, status (negative: the signal), out, err."""

    def __init__(self, argv, status, out, err):
        self.argv, self.status, self.out, self.err = argv, status, out, err

    def __repr__(self):  # of str() too
        return (f"$ {shlex.join(self.argv)}\nexit status {self.status}\n"
                f"--- stdout\n{self.out[-3000:]}\n--- stderr\n{self.err[-3000:]}")


def case(sentence, in_real_time=False, alone=False):
    """Register a function as a case; they run in the order of the file, but see main()."""
    def register(function):
        _cases.append((sentence, function, in_real_time, alone))
        return function
    return register


def measured(sentence, alone=False):
    """A case whose result is a measurement in real time."""
    return case(sentence, True, alone)


def skip(reason):
    """Leave the running case out, with a reason that names what is missing."""
    raise Skip(reason)


def need(program):
    """The path of a program, or skip."""
    return shutil.which(program) or skip(f"{program} is not installed")


def own_mounts():
    """The first words of a command with mounts of its own, or skip."""
    words = [need("unshare"), "-m"]
    if os.geteuid() != 0:
        skip("mounts of its own are only root's")
    r = run(*words, "true")
    return words if r.status == 0 else skip(f"no mounts of its own: {r.err.strip()}")


def is_ours(program):
    """Whether it is one of the build folder, or a copy of assay."""
    return os.path.basename(program) == "assay" or \
        os.path.realpath(program).startswith(os.path.realpath(BUILD) + os.sep)


def run(*argv, stdin="", stdout=subprocess.PIPE, env=None, cwd=None, limit_s=LIMIT_S):
    """Run a program to its end; `env` is added to ours (None as a value takes one away)."""
    full = dict(os.environ)
    for name, value in (env or {}).items():
        full.pop(name, None)
        if value is not None:
            full[name] = value
    argv = [str(word) for word in argv]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=stdout, stderr=subprocess.PIPE,
                          env=full, cwd=cwd, start_new_session=True) as child:
        try:
            out, err = child.communicate(stdin.encode(), timeout=limit_s)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.communicate()
            raise Hang(f"not done after {limit_s} s: {shlex.join(argv)}") from None
    r = Result(argv, child.returncode, (out or b"").decode(errors="replace"),
               err.decode(errors="replace"))
    if is_ours(argv[0]) and (-r.status in CRASHES
                             or re.search(r"Sanitizer: |: runtime error: ", r.err)):
        raise Crash(str(r))
    return r


def assay(*words, **how):
    """Run the program under test."""
    return run(ASSAY, *words, **how)


def commands():
    """The names of all commands, from the table as `assay help --man` prints it."""
    head, tail = "\\fBassay\\-", "\\fR(1)"
    names = [line[len(head):-len(tail)] for line in assay("help", "--man").out.splitlines()
             if line.startswith(head) and line.endswith(tail)]
    assert names, "assay help --man lists no command"
    return names


def script(name, *lines, head="#!/bin/sh"):
    """A shell script in the scratch folder; head "": without its first line."""
    with open(name, "w", encoding="ascii") as file:
        file.write("\n".join((head,) * bool(head) + lines) + "\n")
    os.chmod(name, 0o755)
    return os.path.abspath(name)


def wait_for(found, limit_s=120):
    """Wait until found() is true and give what it said; the limit is for what never happens."""
    until = time.monotonic() + limit_s
    while time.monotonic() < until:
        if value := found():
            return value
        time.sleep(0.02)
    raise Hang(f"it did not happen in {limit_s} s")


def lines_in(path):
    """How many lines a file has that a program writes; 0 without the file."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return sum(1 for _ in file)
    except FileNotFoundError:
        return 0


def below(pid):
    """(name, CPU seconds) of each process that a process started, itself or through another."""
    return [(name, seconds) for _, name, seconds, _ in family(pid)[1:]]


def cpu_s_below(pid):
    return sum(seconds for _, seconds in below(pid))


class Wrong:
    """A try that failed: why in one line and whole, and what others did meanwhile."""

    def __init__(self, error, watch):
        at = traceback.extract_tb(error.__traceback__)[-1]
        what = "".join(traceback.format_exception_only(error)).split("\n", 1)[0]
        self.line = f"{os.path.basename(at.filename)}:{at.lineno}: {what[:160]}"
        self.text = "".join(traceback.format_exception(error)).splitlines()
        self.asserted = isinstance(error, AssertionError)
        self.busy, self.others = watch.busy(), watch.reason()


def attempt(sentence, function, alone):
    """None, or what is wrong."""
    chance.seed(f"{SEED} {sentence}")
    with place_for(BUILD, alone), tempfile.TemporaryDirectory(prefix="assay-test.") as scratch:
        os.chdir(scratch)
        watch = Watch()
        try:
            function()
            return None
        except Skip:
            raise
        except Exception as error:  # pylint: disable=broad-except
            return Wrong(error, watch)
        finally:
            os.chdir("/")


def no_kernel_engine():
    """Why causal experiments cannot be steered from the kernel here; None when they can."""
    r = assay("causal", "--engine", "bpf", "--budget", "1s", "--", "true")
    return r.err.splitlines()[0] if r.status == 6 and r.err else None


def tried(sentence, function, in_real_time, alone):
    """How a case ended ("ok", "not ok"), its directive, and the lines to show below it."""
    if in_real_time and os.environ.get("ASSAY_TEST_MEASURED") == "no":
        skip("nothing is measured under the sanitizers")
    first = attempt(sentence, function, alone)
    if not first:
        return "ok", "", []
    if not in_real_time or not first.asserted:
        return "not ok", "", first.text
    second = attempt(sentence, function, alone=True)
    if not second:
        return "ok", "", [f"second try: {first.line}", *first.text]
    lines = [*first.text, *second.text, second.others]
    # The word of TAP for a failure that does not count.
    unstable = " # TO" f"DO unstable: {second.others}: {second.line}"
    return "not ok", unstable if second.busy and second.asserted else "", lines


def main(unless=None):
    """Run the cases (or those whose sentence holds argv[1]), each in a scratch folder.  `unless` is
    a reason to skip them all."""
    keep()
    wanted = [c for c in _cases if len(sys.argv) < 2 or sys.argv[1] in c[0]]
    # Those that want all CPUs come first: later each would wait for a case of another program.
    wanted.sort(key=lambda c: not c[3])
    failed = 0
    # A shell starts what it puts in the background with Ctrl-C ignored, nohup ignores SIGHUP, and
    # children inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    print(f"1..{len(wanted)}\n# seed: {SEED} (ASSAY_TEST_SEED)", flush=True)
    for number, how in enumerate(wanted, 1):
        name = how[0].replace("#", "")
        try:
            if unless:
                raise Skip(unless)
            state, directive, lines = tried(*how)
            failed += state == "not ok" and not directive
            print(f"{state} {number} - {name}{directive}", flush=True)
            for line in lines:
                print(f"# {line}" if line.startswith("second try: ") else f"#   {line}", flush=True)
        except Skip as reason:
            print(f"ok {number} - {name} # SKIP {reason}", flush=True)
    sys.exit(1 if failed else 0)
