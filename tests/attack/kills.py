"""assay is killed with SIGKILL at a random moment: no target is harmed, no file is unreadable, and
nothing is left that would be in the way of the next.

ASSAY_KILLS=1000 makes that many kills, the default is for CI.  The seed is ASSAY_TEST_SEED.  Killed
is assay itself, or in every second trial all its processes, in any order, as `killall -9 assay` and
the out-of-memory killer of a cgroup do.  The targets say themselves what was changed in them
(tests/workloads/causal/kept.c)."""
import contextlib
import ctypes
import os
import shutil
import signal
import sqlite3
import subprocess
import time

import outside
from busy import PR_SET_CHILD_SUBREAPER, processes
from fake_machine import tree, values
from tap import (ASSAY, BUILD, assay, case, chance, main, need, no_kernel_engine, run, skip,
                 wait_for)

KILLS = int(os.environ.get("ASSAY_KILLS", "30"))
KEPT = os.path.join(BUILD, "tests/workloads/kept")
LOG, END = "log", "end"


# ---- targets ----

def log_lines(word):
    """{pid: the rest of the line} of the lines of the targets' log that begin so."""
    with contextlib.suppress(FileNotFoundError), open(LOG, encoding="ascii") as file:
        return {int(line.split()[1]): " ".join(line.split()[2:]) for line in file
                if line.startswith(word + " ")}
    return {}


def lives(pid):
    return processes().get(pid) is not None and state_letter(pid) not in "ZX"


def state_letter(pid):
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", encoding="utf-8",
                                            errors="replace") as file:
        return file.read().rpartition(") ")[2][0]
    return "X"


class Orphans:
    """What a killed tool leaves becomes ours: how it ended is known."""

    def __init__(self):
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        self.statuses = {}

    def reap(self):
        """True when nobody is left."""
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if not pid:
                    return False
                self.statuses[pid] = os.waitstatus_to_exitcode(status)
        return True


def targets_check(orphans, alive, what):
    """Those that lived when assay was killed come to their own end, unchanged."""
    wait_for(lambda: orphans.reap() or all(pid in log_lines("end") or not lives(pid)
                                           for pid in alive), 60)
    for pid in alive:
        told = log_lines("end").get(pid)
        assert told, (what, f"target {pid} died", orphans.statuses.get(pid))
        assert told.startswith("ok "), (what, f"target {pid} found itself changed", told)
        wait_for(lambda: orphans.reap() or not lives(pid), 60)
        orphans.reap()  # it may have ended behind the last look
        assert orphans.statuses.get(pid, 0) == 0, (what, pid, orphans.statuses[pid])


def holders():
    """Our children that hold something of the kernel's BPF.  The process that attaches does so for
    some milliseconds more, when assay alone was killed: it sees that and takes all back."""
    found = []
    for pid, row in processes().items():
        if row[0] != os.getpid():
            continue
        with contextlib.suppress(OSError):
            links = [os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")]
            found += [(pid, row[1], link) for link in links if "bpf" in link]
    return found


# ---- the tool ----

def is_assay(pid):
    with contextlib.suppress(OSError):
        return os.readlink(f"/proc/{pid}/exe") == os.path.realpath(ASSAY)
    return False


def family_of(top):
    rows, found = processes(), [top]
    for parent in found:  # which grows meanwhile
        found += [pid for pid, row in rows.items() if row[0] == parent]
    return found


def kill_one(pid):
    """Stopped first: between a fork and an exec a process is assay and then the target."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGSTOP)
        wait_for(lambda: state_letter(pid) in "TtZXD", 10)
        os.kill(pid, signal.SIGKILL if is_assay(pid) else signal.SIGCONT)


def kill_tool(tool):
    family = [pid for pid in family_of(tool.pid) if is_assay(pid)]
    if chance.random() < 0.5:
        family = [tool.pid]
    chance.shuffle(family)
    for pid in family:
        if pid == tool.pid:
            tool.kill()
        else:
            kill_one(pid)
    tool.kill()
    tool.wait()


def start(words, env=None):
    return subprocess.Popen(  # pylint: disable=consider-using-with
        [ASSAY, *map(str, words)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, start_new_session=True,
        env={**os.environ, "TMPDIR": os.path.abspath("tmp"), **(env or {})})


def kill_during(orphans, words, most_s, env=None):
    """Start assay, kill it at a random moment within `most_s`, see how the targets get on."""
    for name in (END, LOG):
        with contextlib.suppress(FileNotFoundError):
            os.remove(name)
    os.makedirs("tmp", exist_ok=True)
    tool = start(words, env)
    after_s = chance.uniform(0, most_s)
    time.sleep(after_s)
    kill_tool(tool)
    what = f"assay {words[0]} killed after {after_s:.3f} s"
    wait_for(lambda: not holders(), 20)
    alive = [pid for pid in log_lines("begin") if pid not in log_lines("end") and lives(pid)]
    with open(END, "w", encoding="ascii"):
        pass
    targets_check(orphans, alive, what)
    wait_for(orphans.reap, 60)
    left = [name for name in os.listdir("tmp") if not name.startswith("assay-simulate-")]
    assert not left, (what, left)
    return what


def file_check(path, what):
    """A run file is whole as far as it goes; an empty one is told to be that."""
    if not os.path.exists(path):
        return
    r = assay("report", path)
    assert r.status in (0, 2, 3) and "damaged" not in r.err, (what, r)
    if not os.path.getsize(path):
        assert "is empty" in r.err, (what, r)
        return
    with contextlib.closing(sqlite3.connect(path)) as file:
        assert file.execute("PRAGMA integrity_check").fetchone() == ("ok",), what


def trials(part):
    """How many kills a case makes: its part of all, at least two."""
    return range(max(2, round(KILLS * part)))


# ---- commands that start the target ----

def started(words, most_s, part):
    orphans = Orphans()
    for _ in trials(part):
        with contextlib.suppress(FileNotFoundError):
            os.remove("x.assay")
        what = kill_during(orphans, [*words, "-o", "x.assay", "--", KEPT, LOG, "100000000", END],
                           most_s)
        file_check("x.assay", what)


@case("record")
def _():
    started(["record", "-F", "1997"], 1.2, 0.2)


@case("causal, engine bpf")
def _():
    if reason := no_kernel_engine():
        skip(reason)
    started(["causal", "--engine", "bpf", "--budget", "60s"], 3, 0.15)


@case("causal, engine preload")
def _():
    started(["causal", "--engine", "preload", "--budget", "60s"], 3, 0.15)


@case("bench")
def _():
    orphans = Orphans()
    for _ in trials(0.1):
        with contextlib.suppress(FileNotFoundError):
            os.remove("x.assay")
        # Several runs, each of its own length.
        what = kill_during(orphans, ["bench", "-o", "x.assay", f"{KEPT} {LOG} 300"], 1.5)
        file_check("x.assay", what)


@case("run: the directory says that it is partial")
def _():
    orphans = Orphans()
    for trial in trials(0.07):
        folder = f"evidence-{trial}"
        what = kill_during(orphans, ["run", "-o", folder, "--skip", "counters", "--budget", "20s",
                                     "--", KEPT, LOG, "600"], 8)
        if not os.path.exists(os.path.join(folder, "MANIFEST.json")):
            continue
        r = assay("run", "--check", folder)
        assert r.status in (0, 3), (what, r)
        for name in os.listdir(folder):
            if name.endswith(".assay"):
                file_check(os.path.join(folder, name), what)
        shutil.rmtree(folder)


@case("a simulated program keeps its exit status when the tool dies one process after the other")
def _():
    need("valgrind")
    orphans = Orphans()
    os.mkdir("tmp")
    words = ["stat", "--engine", "sim", "-e", "calls", "--"]
    tool = start([*words, KEPT, LOG, "600"])
    wait_for(lambda: log_lines("begin"), 60)
    for pid in family_of(tool.pid)[1:]:
        if is_assay(pid):
            kill_one(pid)
    tool.wait()  # it saw that, and took away what was its own
    alive = [pid for pid in log_lines("begin") if lives(pid)]
    assert alive, "the program was over too early"
    where = {"TMPDIR": os.path.abspath("tmp")}
    assert assay(*words, "true", env=where).status == 0  # which takes away what is left
    targets_check(orphans, alive, "the starter of a simulation killed")
    wait_for(orphans.reap, 60)
    assert [orphans.statuses[pid] for pid in alive] == [0], (alive, orphans.statuses)
    assert assay(*words, "true", env=where).status == 0
    assert not os.listdir("tmp"), os.listdir("tmp")


# ---- a process that runs ----

@contextlib.contextmanager
def running_target():
    with subprocess.Popen([KEPT, LOG, "100000000", END]) as target:
        try:
            yield target
        finally:
            target.kill()


def attach_words(pid, budget):
    return ["causal", "-p", str(pid), "--progress", "progress", "-f", "work_a", "--budget", budget]


@case("causal -p: the process is as before after the next that ends by itself")
def _():
    if reason := no_kernel_engine():
        skip(reason)
    orphans = Orphans()
    with running_target() as target:
        wait_for(lambda: log_lines("begin"))
        time.sleep(0.3)
        before = outside.state(target.pid)
        for trial in trials(0.25):
            tool = start(attach_words(target.pid, "20s"))
            # Most of them in the first half second, where the handler is put in.
            time.sleep(chance.uniform(0, 0.5 if trial % 4 else 2))
            kill_tool(tool)
            wait_for(lambda: not holders(), 20)
            assert target.poll() is None, (trial, target.returncode)
        for _ in range(3):  # on a crowded machine a thread may not stop in time, which is said
            r = assay(*attach_words(target.pid, "0.3s"), "--json")
            assert r.status in (0, 3), r
            if "left-behind" not in r.out:
                break
        assert "left-behind" not in r.out, r
        assert outside.state(target.pid) == before, (before, outside.state(target.pid))
        with open(END, "w", encoding="ascii"):
            pass
        assert target.wait(60) == 0, target.returncode
        assert log_lines("end")[target.pid].startswith("ok "), log_lines("end")
    wait_for(orphans.reap, 60)


# ---- settings ----

@case("tune run on a fake machine: every value comes back")
def _():
    orphans = Orphans()
    root, env = tree()
    before = values(root)
    for _ in trials(0.08):
        what = kill_during(orphans, ["tune", "run", "--yes", "--", KEPT, LOG, "100000000", END],
                           0.6, env)
        r = run(ASSAY, "tune", "revert", env=env)
        assert r.status == 0 and values(root) == before, (what, r)


main()
