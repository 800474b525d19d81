"""What a small hostile file may cost: memory at most 64 MiB and 20 times its bytes, time at most
2 s and 1 s for each MB.  The files are made by hostile.py; what is read before a limit is kept,
and the limit is told in one sentence."""
import json
import os
import re
import resource
import subprocess
import time

import hostile
from tap import ASSAY, Crash, case, main

# Those that fit, or are damaged besides.
FIT = ("entries with attributes of zero width", "perf mappings that hide each other",
       "perf programs that start programs", "folded stacks with short names")
NOTHING_LEFT = ("pprof that unpacks to strings",)
STOPPED = set(hostile.CASES) - set(FIT) - set(NOTHING_LEFT)
MEMORY_MOST = 8 << 30  # so that the machine survives a reader that fails
TIME_MOST_S = 20


def sanitized():
    """True for a build with a sanitizer, which keeps what was freed and is slower."""
    with open(ASSAY, "rb") as file:
        return b"__asan_report_load8" in file.read()


SLOWER = 4 if sanitized() else 1


class Cost:
    """What a command took: seconds of CPU, bytes of memory, its status and words."""

    def __init__(self, *words, env=None):
        limit = None if SLOWER > 1 else (lambda: resource.setrlimit(
            resource.RLIMIT_AS, (MEMORY_MOST, MEMORY_MOST)))
        with open("out", "w+b") as out, open("err", "w+b") as err:
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
            out.seek(0), err.seek(0)
            self.out, self.err = (f.read().decode(errors="replace") for f in (out, err))
        self.status, self.memory = child.returncode, used.ru_maxrss << 10
        self.seconds = used.ru_utime + used.ru_stime

    def __repr__(self):
        return (f"exit status {self.status}, {self.seconds:.2f} s, {self.memory / 2**20:.0f} MiB\n"
                f"{self.out[-2000:]}\n{self.err[-2000:]}")


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


def add(name, make):
    """One case for a generator."""
    @case(f"limits: {name} cost what their size allows")
    def _():
        paths = make()
        cost = Cost("import", paths[0], "-o", "x.assay")
        check(paths, cost)
        print(f"# {name}: {sum(map(os.path.getsize, paths))} bytes, {cost.seconds:.2f} s, "
              f"{cost.memory >> 20} MiB", flush=True)
        assert cost.status == (2 if name in NOTHING_LEFT else 0), cost
        told = re.search(r": stopped after \d+ (million steps|MiB of memory), too much for \d+ "
                         "KiB; what was read before is kept", cost.out + cost.err)
        assert bool(told) == (name in STOPPED), cost


for NAME, MAKE in hostile.CASES.items():
    add(NAME, MAKE)


@case("limits: what was read before a limit is there, and the limit can be raised")
def _():
    path, = hostile.pprof_lines(lines=60, samples=100000)
    small = Cost("import", "--json", path)
    large = Cost("import", "--json", path, env={"ASSAY_LIMITS": "100"})
    assert "stopped after" in small.out and "stopped after" not in large.out, (small, large)
    kept = json.loads(small.out)["data"]["samples"]
    assert 0 < kept < 100000 == json.loads(large.out)["data"]["samples"], (kept, large)

if __name__ == "__main__":
    main()
