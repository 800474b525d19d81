"""cost.py - what a command takes, and what a file of some size allows: memory at most 64 MiB and 20
times its bytes, time at most 2 s and 1 s for each MB."""
import os
import re
import resource
import subprocess
import time

from tap import ASSAY, Crash

MEMORY_MOST = 8 << 30  # so that the machine survives a reader that fails
TIME_MOST_S = 20
# What was freed is not the memory of an import: AddressSanitizer keeps up to 256 MB of it, and took
# 372 MiB for a file that takes 40 without it (174 with this).
os.environ["ASAN_OPTIONS"] = ":".join(filter(None, (
    "quarantine_size_mb=64", os.environ.get("ASAN_OPTIONS"))))


def sanitized():
    """True for a build with a sanitizer, which keeps what was freed and is slower."""
    with open(ASSAY, "rb") as file:
        return b"__asan_report_load8" in file.read()


SLOWER = 4 if sanitized() else 1


class Cost:
    """What a command took: its status, bytes of memory, seconds of CPU, and its words."""

    def __init__(self, status, memory, seconds):
        self.status, self.memory, self.seconds = os.waitstatus_to_exitcode(status), memory, seconds
        self.out, self.err = (text_of(name) for name in ("out", "err"))

    def __repr__(self):
        return (f"exit status {self.status}, {self.seconds:.2f} s, {self.memory / 2**20:.0f} MiB\n"
                f"{self.out[-2000:]}\n{self.err[-2000:]}")


def text_of(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def cost_of(*words, env=None):
    """Run assay; its output is in the files `out` and `err` of the working folder."""
    limit = None if SLOWER > 1 else (lambda: resource.setrlimit(
        resource.RLIMIT_AS, (MEMORY_MOST, MEMORY_MOST)))
    with open("out", "wb") as out, open("err", "wb") as err:
        with subprocess.Popen([ASSAY, *map(str, words)], stdin=subprocess.DEVNULL, stdout=out,
                              stderr=err, preexec_fn=limit,
                              env={**os.environ, **(env or {})}) as child:
            until, pid = time.monotonic() + TIME_MOST_S * SLOWER, 0
            while not pid:
                pid, status, used = os.wait4(child.pid, os.WNOHANG)
                if not pid and time.monotonic() > until:
                    child.kill()
                    pid, status, used = os.wait4(child.pid, 0)
                time.sleep(0 if pid else 0.005)
            child.returncode = os.waitstatus_to_exitcode(status)
    return Cost(status, used.ru_maxrss << 10, used.ru_utime + used.ru_stime)


class Batch:
    """Imports by one program that forks (import_many.c), where it was built; else None."""

    def __init__(self):
        path = os.path.join(os.path.dirname(ASSAY), "tests", "attack", "import-many")
        self.child = subprocess.Popen(  # pylint: disable=consider-using-with
            [path, str(TIME_MOST_S * SLOWER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True) if os.path.exists(path) else None

    def cost(self, path):
        """What the import of a file into x.assay took, in the working folder."""
        self.child.stdin.write(f"{os.getcwd()}\t{path}\n")
        self.child.stdin.flush()
        status, kib, microseconds = map(int, self.child.stdout.readline().split())
        return Cost(status, kib << 10, microseconds / 1e6)


def allowed(paths):
    """Bytes and seconds for files of this size."""
    size = sum(os.path.getsize(path) for path in paths)
    return SLOWER * ((64 << 20) + 20 * size), SLOWER * (2 + size / 1e6)


def check(paths, cost):
    """The limits hold, and nothing crashed."""
    memory, seconds = allowed(paths)
    if cost.status < 0 or re.search(r"Sanitizer: |: runtime error: ", cost.err):
        raise Crash(str(cost))
    size = sum(os.path.getsize(path) for path in paths)
    assert cost.memory <= memory and cost.seconds <= seconds, (size, memory >> 20, seconds, cost)
