"""busy.py - did other programs use this machine meanwhile?  The one place where that is judged.

    watch = Watch()
    ...
    if watch.busy(): print(watch.reason())

Others are all programs but this one and those that it started and waited for, on all CPUs, and what
the host of a virtual machine gave to other machines (steal).  A case that measures in real time and
is wrong is unstable where they used more than LIMIT, and failed on a quiet machine."""
import resource

# Of all CPUs: a fifth of one on a machine with two.
LIMIT = 0.1


def now():
    """Ticks of all CPUs, those in which they worked, and CPU seconds of ours."""
    with open("/proc/stat", encoding="ascii") as file:
        user, nice, system, idle, wait, irq, softirq, steal = map(int, file.readline().split()[1:9])
    busy = user + nice + system + irq + softirq + steal
    ours = sum(usage.ru_utime + usage.ru_stime for usage in (
        resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)))
    return busy + idle + wait, busy, ours


class Watch:
    """Watches from when it is made until busy() is asked."""

    def __init__(self):
        self.begin, self.share = now(), None

    def busy(self):
        """Whether others used more than LIMIT since."""
        total, busy, ours = (after - before for after, before in zip(now(), self.begin))
        self.share = (busy - 100 * ours) / total if total else 0  # /proc has 100 ticks per second
        return self.share > LIMIT

    def reason(self):
        """What busy() saw."""
        return f"other programs used {100 * self.share:.0f} % of the CPUs"
