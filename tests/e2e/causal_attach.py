"""`assay causal -p PID` and static programs: the gains, and a process that does not notice.

The bounds of gains are loose: a wrong sign fails them."""
import contextlib
import functools
import json
import os
import shutil
import signal
import subprocess
import time

import outside
from golang import go_build
from tap import (ASSAY, BUILD, SOURCE, assay, case, chance, main, measured, need,
                 no_kernel_engine, run, skip)

SHAPES = os.path.join(BUILD, "tests/workloads/shapes")
ATTACHED = os.path.join(BUILD, "tests/workloads/attached")
WORKLOADS = os.path.join(SOURCE, "tests/workloads/causal")
GONE = ("--speedup", "100")  # the only level that check_gains() looks at
BOTH = ("-f", "work_a", "-f", "work_b", *GONE)


@functools.cache
def reason():
    """Why nothing can be attached to on this machine; None: it can."""
    with Process(ATTACHED, "sleep", "30") as p:
        r = assay("causal", "-p", p.pid, "--progress", "progress", "--budget", "0.2s")
    return r.err.splitlines()[0] if r.status == 6 else None


def able():
    """Skip where the engine cannot work at all, or does not attach."""
    if reason():
        skip(reason())


class Process:
    """A program that runs already; its output is in `out` afterwards."""

    def __init__(self, *argv, **how):
        self.child = subprocess.Popen(  # pylint: disable=consider-using-with
            [str(word) for word in argv], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            text=True, **how)
        self.pid = self.child.pid
        self.out = ""

    def __enter__(self):
        time.sleep(0.3)
        return self

    def __exit__(self, *_):
        if self.child.poll() is None:
            self.child.send_signal(signal.SIGCONT)
            self.child.kill()
        self.child.communicate()

    def wait(self, limit_s=60):
        """Its exit status."""
        self.out = self.child.communicate(timeout=limit_s)[0]
        return self.child.returncode

    def state(self):
        return outside.state(self.pid)


def attach(pid, *words, progress="progress", budget="1s", **how):
    """Attach with assay; the document and the result."""
    r = assay("causal", "-p", pid, "--progress", progress, "--budget", budget, "--json", *words,
              limit_s=120, **how)
    return (json.loads(r.out) if r.out else None), r


def check_gains(document, r, a="work_a", b="work_b"):
    """Without the code of either the program is faster, without that of B more."""
    data = document["data"]
    found = {target["location"]: point["gain"] for target in data["targets"] + data["flat"]
             for point in target["points"] if point["speedup"] == 1}
    bad = [guard["name"] for guard in data["guards"] if guard["bad"]]
    known = found.get(a) is not None and found.get(b) is not None
    assert known and 0.02 < found[a] < 0.6 and found[a] + 0.05 < found[b] < 0.95, (found, bad, r)


@measured("a running process: both sides of a hand-off gain, the longer more; it is left as it was",
          alone=True)
def _():
    able()
    with Process(SHAPES, "fping", "40") as p:
        before = p.state()
        document, r = attach(p.pid, *BOTH, budget="7s")
        assert r.status == 0, r
        check_gains(document, r)
        assert p.state() == before, (before, p.state())
        assert p.child.poll() is None


@measured("the hot lines of a running process are found without being named")
def _():
    able()
    with Process(SHAPES, "split", "30") as p:
        document, r = attach(p.pid, budget="5s")
        assert r.status == 0, r
        rows = document["data"]["targets"] + document["data"]["flat"]
        assert any(row["file"] and row["file"].endswith("shapes.c") for row in rows), r


@case("attached to ten times in a row, a process is as before each time")
def _():
    able()
    with Process(SHAPES, "fping", "60") as p:
        before = p.state()
        for trial in range(10):
            _, r = attach(p.pid, "-f", "work_a", budget="0.2s")
            assert r.status in (0, 3) and "left-behind" not in r.out, (trial, r)
            assert p.state() == before, (trial, before, p.state())
        p.child.send_signal(signal.SIGTERM)
        assert p.wait() == -signal.SIGTERM


@case("no call that a process waits in notices that it was attached to")
def _():
    able()
    ways = ("read", "recv", "epoll", "poll", "sleep", "futex", "wait")
    with contextlib.ExitStack() as stack:
        # Nobody attaches to this one, which has to be the first to end.
        left_alone = stack.enter_context(Process(ATTACHED, "sleep", "19"))
        waiting = [(how, stack.enter_context(Process(ATTACHED, how, "20"))) for how in ways]
        for how, p in waiting:
            before = p.state()
            _, r = attach(p.pid, budget="0.1s")
            assert r.status == 3, (how, r)
            assert p.state() == before, (how, before, p.state())
        assert left_alone.child.poll() is None, "attaching took until after the waits"
        assert left_alone.wait() == 0
        for how, p in waiting:
            assert p.child.poll() is None, f"{how}: the wait was shorter than it should be"
        for how, p in waiting:
            assert p.wait() == 0 and p.out == f"{how} 1 0\n", (how, p.out)


@case("a stopped process stays stopped, and goes on when it is told to")
def _():
    able()
    with Process(ATTACHED, "stopped", "1") as p:
        _, r = attach(p.pid, budget="0.2s")
        assert r.status == 3, r
        with open(f"/proc/{p.pid}/stat", encoding="utf-8") as file:
            assert file.read().split(") ")[1][0] == "T"
        p.child.send_signal(signal.SIGCONT)
        assert p.wait() == 0 and p.out == "stopped 1 0\n", p.out


@case("a signal of the program's own still interrupts its call")
def _():
    able()
    script = f"trap 'echo caught' USR1; {ATTACHED} sleep 3 & wait; echo after"
    with Process("sh", "-c", script) as p:
        _, r = attach(p.pid, progress="syscall:wait4", budget="0.2s")
        assert r.status == 3, r
        p.child.send_signal(signal.SIGUSR1)
        assert p.wait() == 0 and p.out.startswith("caught\nafter"), p.out


@measured("a thousand threads: the process is attached to, measured and left as it was")
def _():
    able()
    with Process(ATTACHED, "crowd", "9") as p:
        time.sleep(1)
        before = p.state()
        document, r = attach(p.pid, "-f", "work", budget="4s")
        assert r.status == 0 and document["data"]["pairs"] > 0, r
        assert p.state() == before
        assert p.wait() == 0 and int(p.out.split()[1]) > 100, p.out


def speed(*processes):
    """The CPU time of each in a second, in ticks: none of them waits in a pause or for a tracer."""
    def ticks(p):
        with open(f"/proc/{p.pid}/stat", encoding="utf-8") as file:
            return sum(map(int, file.read().rsplit(")", 1)[1].split()[11:13]))
    first = [ticks(p) for p in processes]
    time.sleep(1)
    return [ticks(p) - before for p, before in zip(processes, first)]


@measured("assay is killed at any moment: the process runs on, and can be attached to again",
          alone=True)
def _():
    able()
    with Process(SHAPES, "fping", "60") as p, Process(SHAPES, "fping", "60") as twin:
        for trial in range(4):
            with subprocess.Popen([ASSAY, "causal", "-p", str(p.pid), "--progress", "progress",
                                   "-f", "work_a", "--budget", "20s"], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL) as tool:
                # Most of the trials hit the start, where the handler is put in.
                time.sleep(chance.uniform(0.1, 0.5 if trial < 3 else 3))
                tool.kill()
                tool.wait()
            time.sleep(0.2)
            assert p.child.poll() is None, trial
            assert "TracerPid:\t0\n" in p.state()[1], trial
            speeds = [speed(p, twin) for _ in range(2)]
            assert max(own / max(other, 1) for own, other in speeds) > 0.4, (trial, speeds)
        _, r = attach(p.pid, "-f", "work_a", budget="2s")
        assert r.status in (0, 3), r
        assert p.child.poll() is None


@measured("Ctrl-C shows what was measured and leaves the process as it was")
def _():
    able()
    with Process(SHAPES, "fping", "60") as p:
        before = p.state()
        with subprocess.Popen([ASSAY, "causal", "-p", str(p.pid), "--progress", "progress", "-f",
                               "work_b", "--budget", "50s"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as tool:
            time.sleep(4)
            tool.send_signal(signal.SIGINT)
            out, err = tool.communicate(timeout=30)
        assert tool.returncode == 130 and "work_b" in out + err, (tool.returncode, out, err)
        assert p.state() == before


@measured("a static program is started and measured, judged by a function")
def _():
    able()
    if run("cc", "-static", "-O1", "-g", "-I", os.path.join(SOURCE, "include"),
           os.path.join(WORKLOADS, "shapes.c"), "-o", "shapes-static", "-lpthread").status:
        skip("no static C library")
    r = assay("causal", "--json", "--progress", "progress", *BOTH, "--budget", "7s", "--",
              "./shapes-static", "fping", "40", limit_s=90)
    assert r.status == 0, r
    check_gains(json.loads(r.out), r)
    r = assay("causal", "--", "./shapes-static", "fping", "4")
    assert r.status == 2 and "static" in r.err and "--progress" in r.err, r


@measured("a static program that ends early is started again, and its own status is given")
def _():
    able()
    if run("cc", "-static", "-O1", "-g", "-I", os.path.join(SOURCE, "include"),
           os.path.join(WORKLOADS, "shapes.c"), "-o", "shapes-static", "-lpthread").status:
        skip("no static C library")
    r = assay("causal", "--json", "--progress", "progress", "-f", "work_a", "--budget", "6s",
              "--", "./shapes-static", "split", "2", limit_s=90)
    assert r.status == 0 and r.err.count(" rounds ") >= 2, r


@measured("a Go program: its handlers are as before, and the gain of a goroutine's work is found",
          alone=True)
def _():
    able()
    with open(os.path.join(WORKLOADS, "handoff.go"), encoding="ascii") as file:
        program = go_build(file.read())
    # One P: goroutines that change threads hand over nothing that the kernel could see.
    with Process(program, "10", env={**os.environ, "GOMAXPROCS": "1"}) as p:
        before = p.state()[1]
        document, r = attach(p.pid, "-f", "main.workA", "-f", "main.workB", *GONE,
                             progress="main.progress", budget="7s")
        assert r.status == 0, r
        check_gains(document, r, "main.workA", "main.workB")
        assert p.state()[1] == before
        assert p.wait() == 0 and int(p.out.split()[0]) > 100, p.out


@measured("a Rust program: std's channels hand delays over")
def _():
    able()
    rustc = shutil.which("rustc") or shutil.which(os.path.expanduser("~/.cargo/bin/rustc"))
    if not rustc:
        skip("rustc is not installed")
    r = run(rustc, "-g", "-O", os.path.join(WORKLOADS, "handoff.rs"), "-o", "handoff")
    assert r.status == 0, r
    with Process("./handoff", "40") as p:
        before = p.state()
        document, r = attach(p.pid, *BOTH, budget="7s")
        assert r.status == 0, r
        check_gains(document, r)
        assert p.state() == before


@case("wrong words are told: no progress, a program beside -p, no process, a thread")
def _():
    able()
    with Process(ATTACHED, "crowd", "20") as p:
        time.sleep(0.5)
        r = assay("causal", "-p", p.pid, "--budget", "1s")
        assert r.status == 2 and "--progress" in r.err, r
        r = assay("causal", "-p", p.pid, "--progress", "no such counter", "--budget", "1s")
        assert r.status == 2 and "--progress" in r.err, r
        r = assay("causal", "-p", p.pid, "--", "true")
        assert r.status == 2 and "exclude" in r.err, r
        thread = max(map(int, os.listdir(f"/proc/{p.pid}/task")))
        _, r = attach(thread)
        assert r.status == 2 and f"-p {p.pid}" in r.err, r
    _, r = attach(p.pid)
    assert r.status == 5 and "no process" in r.err, r
    assert assay("causal", "-p", "x", "--progress", "f").status == 2


@case("a process that must not be touched is refused with the reason, and lives on")
def _():
    able()
    with Process(ATTACHED, "filtered", "3") as p:
        _, r = attach(p.pid)
        assert r.status == 6 and "seccomp" in r.err, r
        assert p.wait() == 0 and p.out == "filtered 1 0\n", p.out
    with Process(ATTACHED, "traced", "4") as p:
        child = p.child.stdout.readline().strip()
        _, r = attach(child)
        assert r.status == 6 and "attached" in r.err and str(p.pid) in r.err, r
    with open("/proc/2/comm", encoding="utf-8") as file:
        if file.read() == "kthreadd\n":
            _, r = attach(2)
            assert r.status == 5 and "kernel" in r.err, r
    if shutil.which("unshare") and not run("unshare", "--fork", "--pid", "true").status:
        with Process("unshare", "--fork", "--pid", "--kill-child", "sleep", "20") as p:
            with open(f"/proc/{p.pid}/task/{p.pid}/children", encoding="ascii") as file:
                child = file.read().split()[0]
            _, r = attach(child, progress="syscall:read")
            assert r.status == 6 and "namespace" in r.err, r


@case("a 32-bit process is refused")
def _():
    able()
    with open("s.c", "w", encoding="ascii") as file:
        file.write("void _start(void) { for (;;) { int out; __asm__ volatile(\"int $0x80\" : "
                   "\"=a\"(out) : \"0\"(29)); } }\n")  # pause(2)
    # No 32-bit C library is needed for a program that calls the kernel itself.
    r = run("cc", "-m32", "-nostdlib", "-static", "-O1", "-o", "s", "s.c")
    if r.status:
        skip("no 32-bit programs can be built here")
    with Process("./s") as p:
        _, r = attach(p.pid)
        assert r.status == 6 and "32-bit" in r.err, r


@case("another user's process is refused with the way out")
def _():
    if os.geteuid() != 0:
        skip("not root: there is no other user to be")
    for path in (ASSAY, os.path.join(BUILD, "libassay-rt.so")):
        shutil.copy(path, ".")
    os.chmod(".", 0o755)
    with Process(ATTACHED, "sleep", "20") as p:
        with subprocess.Popen(["./assay", "causal", "-p", str(p.pid), "--progress", "progress"],
                              user=65534, group=65534, extra_groups=[], stderr=subprocess.PIPE,
                              stdout=subprocess.DEVNULL, text=True) as child:
            err = child.communicate(timeout=30)[1]
    assert child.returncode == 6 and "user 0" in err and "root" in err, (child.returncode, err)


@case("a process that has dropped its rights is attached to like any other")
def _():
    able()
    if os.geteuid() != 0:
        skip("not root: there are no rights to drop")
    with Process(SHAPES, "split", "20", user=65534, group=65534, extra_groups=[]) as p:
        before = p.state()
        document, r = attach(p.pid, "-f", "work_a", budget="3s")
        assert r.status == 0 and document["data"]["pairs"] > 0, r
        assert p.state() == before


@case("a program whose file was replaced is read through /proc")
def _():
    able()
    shutil.copy(ATTACHED, "gone")
    with Process("./gone", "deleted", "5") as p:
        _, r = attach(p.pid, "-f", "work", budget="0.5s")
        assert r.status == 3, r
        assert p.wait() == 0 and p.out == "deleted 1 0\n", p.out


main(unless=no_kernel_engine())
