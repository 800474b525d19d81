"""tap.py - end-to-end cases in Python, told to meson as TAP.

    from tap import case, skip, assay, main

    @case("an unknown command suggests the nearest one")
    def _():
        r = assay("dcotor")
        assert r.status == 2, r
        assert "assay doctor" in r.err, r

    main()

A case passes when it returns, fails when it raises (the message and what was run are shown), and is
left out with skip("reason").  Every program that a case starts has a time limit and stdin at
/dev/null unless told otherwise.  ASSAY names the program under test; `make test` sets it."""
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback

ASSAY = os.path.abspath(os.environ.get("ASSAY", "build/assay"))
SOURCE = os.path.abspath(os.environ.get("ASSAY_SOURCE", "."))
BUILD = os.path.dirname(ASSAY)
LIMIT_S = 60

_cases = []


class Skip(Exception):
    """Raised by skip()."""


class Result:
    """What a program did: argv, status (negative: the signal), out, err."""

    def __init__(self, argv, status, out, err):
        self.argv, self.status, self.out, self.err = argv, status, out, err

    def __str__(self):
        return (f"$ {shlex.join(self.argv)}\nexit status {self.status}\n"
                f"--- stdout\n{self.out[-3000:]}\n--- stderr\n{self.err[-3000:]}")


def case(sentence):
    """Register a function as a case; cases run in the order of the file."""
    def register(function):
        _cases.append((sentence, function))
        return function
    return register


def skip(reason):
    """Leave the running case out, with a reason that names what is missing."""
    raise Skip(reason)


def need(program):
    """The path of a program, or skip."""
    return shutil.which(program) or skip(f"{program} is not installed")


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
            raise AssertionError(f"not done after {limit_s} s: {shlex.join(argv)}") from None
    return Result(argv, child.returncode, (out or b"").decode(errors="replace"),
                  err.decode(errors="replace"))


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


def attempt(function):
    """None, or why it failed."""
    with tempfile.TemporaryDirectory(prefix="assay-test.") as scratch:
        os.chdir(scratch)
        try:
            function()
            return None
        except Skip:
            raise
        except Exception:  # pylint: disable=broad-except
            return traceback.format_exc()
        finally:
            os.chdir("/")


def no_kernel_engine():
    """Why causal experiments cannot be steered from the kernel here; None when they can."""
    r = assay("causal", "--engine", "bpf", "--budget", "1s", "--", "true")
    return r.err.splitlines()[0] if r.status == 6 and r.err else None


def main(tries=1, unless=None):
    """Run the cases (or those whose sentence holds argv[1]), each in a scratch folder.  Cases that
    measure in real time, on a machine that others use too, may have a second try; it is told.
    `unless` is a reason to skip them all."""
    wanted = [c for c in _cases if len(sys.argv) < 2 or sys.argv[1] in c[0]]
    failed = 0
    # A shell starts what it puts in the background with Ctrl-C ignored, nohup ignores SIGHUP, and
    # children inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    print(f"1..{len(wanted)}", flush=True)
    for number, (sentence, function) in enumerate(wanted, 1):
        sentence = sentence.replace("#", "")
        whys = []
        try:
            if unless:
                raise Skip(unless)
            while len(whys) < tries and (why := attempt(function)):
                whys.append(why)
            failed += len(whys) == tries
            print(f"{'not ok' if len(whys) == tries else 'ok'} {number} - {sentence}", flush=True)
            for why in whys:
                for line in why.splitlines():
                    print(f"#   {line}", flush=True)
        except Skip as reason:
            print(f"ok {number} - {sentence} # SKIP {reason}", flush=True)
    sys.exit(1 if failed else 0)
