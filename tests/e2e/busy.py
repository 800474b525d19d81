"""busy.py - did other programs use this machine meanwhile?  The one place where that is judged.

    keep()
    watch = Watch()
    ...
    if watch.busy(): print(watch.reason())

Others are all programs but this one and those below it, on all CPUs, and what the host of a virtual
machine gave to other machines: CPUs (steal), and halves of cores, which no counter of the kernel
shows.  Those show in a loop that does the same each time (pace()): on the host of 2026-11 one pass
in ten took 1.7 times as long, on a machine without any other program.  A case that measures in real
time and is wrong is unstable where they used more than LIMIT or took more than SLOWED_LIMIT of the
speed, and failed on a quiet machine."""
import contextlib
import ctypes
import os
import signal
import sys
import time

# Of all CPUs: a fifth of one on a machine with two.
LIMIT = 0.1
# Of their speed: 7 to 15 % are usual there, and most measurements bear them.
SLOWED_LIMIT = 0.2
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
TOP = os.getpid()  # the keeper, where there is one


def keep():
    """Go on in a child.  This process stays as the child's keeper and ends as it does: orphans, as
    the target of a tool that was killed, become children of the keeper, so that they are gone when
    they end, as under init, and what they used is ours."""
    libc = ctypes.CDLL(None)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    child = os.fork()
    if child == 0:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal: the child gets it too
    pid = None
    while pid != child:
        pid, status = os.wait()
    status = os.waitstatus_to_exitcode(status)
    sys.exit(status if status >= 0 else 128 - status)


def processes():
    """{pid: (parent, name, CPU seconds, those of children that it has waited for)}"""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", encoding="utf-8",
                                                errors="replace") as file:
            name, _, rest = file.read().partition("(")[2].rpartition(") ")
            parent, *ticks = (int(rest.split()[i]) for i in (1, 11, 12, 13, 14))
            found[int(pid)] = (parent, name, sum(ticks[:2]) / TICKS_PER_S,
                               sum(ticks[2:]) / TICKS_PER_S)
    return found


def family(top):
    """The rows of a process and of all that it started, itself or through another."""
    rows = processes()
    found = [top]
    for parent in found:  # which grows meanwhile
        found += [pid for pid, row in rows.items() if row[0] == parent]
    return [rows[pid] for pid in found if pid in rows]


def now():
    """Ticks of all CPUs, those in which they worked, and CPU seconds of ours."""
    with open("/proc/stat", encoding="ascii") as file:
        user, nice, system, idle, wait, irq, softirq, steal = map(int, file.readline().split()[1:9])
    busy = user + nice + system + irq + softirq + steal
    ours = sum(own + waited for *_, own, waited in family(TOP))
    return busy + idle + wait, busy, ours


def loop_ns():
    """CPU time of a loop that always does the same, about 2 ms."""
    begin = time.thread_time_ns()
    for _ in range(60000):
        pass
    return time.thread_time_ns() - begin


def pace(loops=500):
    """CPU times of the loop, about a second of them."""
    return [loop_ns() for _ in range(loops)]


def slowed(times):
    """The share of the time that a loop would not have used, had it always been as fast as in the
    fastest tenth of its passes."""
    fast = sorted(times)[len(times) // 10]
    return sum(max(0, each - fast) for each in times) / sum(times)


class Watch:
    """Watches from when it is made until busy() is asked."""

    def __init__(self):
        self.begin, self.share, self.slower = now(), None, None

    def busy(self):
        """Whether others used more than LIMIT since, or slow the CPU by SLOWED_LIMIT now."""
        total, busy, ours = (after - before for after, before in zip(now(), self.begin))
        self.share = (busy - TICKS_PER_S * ours) / total if total else 0
        self.slower = slowed(pace())
        return self.share > LIMIT or self.slower > SLOWED_LIMIT

    def reason(self):
        """What busy() saw."""
        return (f"other programs used {100 * self.share:.0f} % of the CPUs, and the host slowed "
                f"them by {100 * self.slower:.0f} %")
