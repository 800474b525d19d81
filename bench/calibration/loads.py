"""loads.py - what the machine does beside the benchmark, and how much of it that took.

The processes of a load have the priority of the benchmark itself and are of its session.  They end
with the `with` that began them, and by themselves when the benchmark is gone."""
import contextlib
import os
import resource
import subprocess
import sys
import tempfile
import time

BENCH = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(BENCH, "mainjob")]
from truth_table import end, start  # noqa: E402  pylint: disable=wrong-import-position

# Processes for each CPU.  spin, spin2: they count; build: they compile, with files and children;
# runs, runs2: they are other runs of the benchmark itself, so several are made at once.
LOADS = {"idle": 0, "spin": 1, "spin2": 2, "build": 1, "runs": 1, "runs2": 2}
RUNS = ("runs", "runs2")
USUAL = ("idle", *RUNS)
# A worker asks now and then whether its parent is still there.
SPIN = """
import os, sys
while os.getppid() == int(sys.argv[1]):
    for _ in range(1000000):
        pass
"""
BUILD = """
import os, subprocess, sys
while os.getppid() == int(sys.argv[1]):
    subprocess.run(sys.argv[2:], check=True)
"""
SOURCE_TO_BUILD = os.path.join(BENCH, "programs", "words.cc")


def cpus():
    return len(os.sched_getaffinity(0))


def command_of(load, folder, number):
    """The command of one process of a load."""
    if load != "build":
        return [sys.executable, "-c", SPIN, str(os.getpid())]
    made = os.path.join(folder, f"{number}.o")
    return [sys.executable, "-c", BUILD, str(os.getpid()), "gcc", "-O2", "-c", "-o", made,
            SOURCE_TO_BUILD]


@contextlib.contextmanager
def beside(load, processes=None):
    """Runs the load, with so many processes in place of its own number; what it gives is to be
    called after each measurement, and ends the benchmark when a process of the load is gone: the
    measurement was not beside it."""
    if load in RUNS:
        sys.exit(f"load {load}: only calibrate.py makes runs beside each other")
    workers = []
    processes = LOADS[load] * cpus() if processes is None else processes

    def check():
        gone = [worker for worker in workers if worker.poll() is not None]
        if gone:
            sys.exit(f"load {load}: a process has ended with status {gone[0].returncode}")

    with tempfile.TemporaryDirectory() as folder:
        try:
            for number in range(processes):
                workers.append(start(command_of(load, folder, number), stdout=subprocess.DEVNULL,
                                     env={**os.environ, "TMPDIR": folder}))
            time.sleep(2 if workers else 0)
            check()
            yield check
        finally:
            for worker in workers:
                end(worker)


@contextlib.contextmanager
def beside_named(name):
    """As beside(): of a load, of so many processes that count ("2"), or of nothing ("")."""
    if not name:
        yield lambda: None
        return
    with beside("spin" if name.isdigit() else name, int(name) if name.isdigit() else None) as check:
        yield check


def busy_seconds():
    """CPU time that all processes have taken since the machine began, the stolen time with it."""
    with open("/proc/stat", encoding="ascii") as file:
        user, nice, system, _, _, irq, softirq, steal = map(int, file.readline().split()[1:9])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


class Others:
    """What share of all CPUs other programs have had since it was made, the load among them: all
    CPU time but that of children of ours that have ended."""

    def __init__(self):
        self.began, self.before = time.monotonic(), self.now()

    @staticmethod
    def now():
        own = resource.getrusage(resource.RUSAGE_CHILDREN)
        return busy_seconds() - own.ru_utime - own.ru_stime

    def share(self):
        passed = time.monotonic() - self.began
        return max(0.0, (self.now() - self.before) / (passed * os.cpu_count()))
