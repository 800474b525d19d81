"""Ctrl-C and SIGTERM while a file is read, shown or written: the command ends soon, with status
130, and leaves the result whole or nothing at all."""
import os
import random
import signal
import sqlite3
import subprocess
import time

import hostile
from cost import SLOWER
from tap import ASSAY, Crash, case, main, measured, skip

SOON_S = 0.2 * SLOWER
MOMENTS = (0.02, 0.15, 0.3, 0.5, 0.7, 0.85, 0.95)  # of the time that the command takes alone


def folded():
    """Stacks that share next to nothing."""
    chance = random.Random(3)
    names = [f"function_{i}" for i in range(5000)]
    with open("big.folded", "w", encoding="ascii") as file:
        for _ in range(200000):
            file.write(";".join(chance.choices(names, k=15)) + " 3\n")
    return "big.folded"


def recording():
    """Samples at many addresses, in rounds as perf writes them."""
    chance = random.Random(4)
    data = [hostile.mapped("/nowhere")]
    for number in range(600000):
        data.append(hostile.sample(hostile.BASE + chance.randrange(1 << 23),
                                   1000 + number * 10 + chance.randrange(5000)))
        if number % 1000 == 0:
            data.append(hostile.record(68, b"", 0))
    return hostile.recording("big.data", b"".join(data))


def profile():
    """A large pprof."""
    return hostile.pprof_stacks(depth=300, samples=60000, packed=False)[0]


def ended(words, after=None, number=signal.SIGINT):
    """Start it, send a signal after so many seconds; status, seconds from the signal to the end."""
    with subprocess.Popen([ASSAY, *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE) as child:
        begun = time.monotonic()
        if after is not None:
            time.sleep(after)
            begun = time.monotonic()
            child.send_signal(number)
        err = child.communicate(timeout=120)[1].decode(errors="replace")
        took = time.monotonic() - begun
    if child.returncode < 0 or "Sanitizer" in err:
        raise Crash(f"{words}: {child.returncode}\n{err}")
    return child.returncode, took, err


def stopped(words, output):
    """Every moment once, the two signals in turn; nothing is left but a whole result."""
    status, whole, err = ended(words)
    assert status == 0, err
    before = set(os.listdir("."))
    seen = []
    for i, moment in enumerate(MOMENTS):
        if output and os.path.exists(output):
            os.unlink(output)
        status, took, err = ended(words, moment * whole, (signal.SIGINT, signal.SIGTERM)[i % 2])
        assert status in (0, 130), (status, err)
        assert status == 0 or "interrupted" in err, err
        assert took < SOON_S, (words, moment, whole, took, err)
        assert not set(os.listdir(".")) - before, (os.listdir("."), before)
        if output and os.path.exists(output) and output.endswith(".assay"):
            with sqlite3.connect(output) as db:
                assert db.execute("SELECT value FROM meta WHERE key='partial'").fetchone() == (0,)
        seen.append(status)
    assert 130 in seen, (whole, seen)


for NAME, MAKE in (("folded text", folded), ("perf.data", recording), ("a pprof", profile)):
    @measured(f"interrupts: an import of {NAME} ends at any moment")
    def _(make=MAKE):
        stopped(["import", make(), "-o", "x.assay"], "x.assay")


@measured("interrupts: report, flame, diff and export of a large run end at any moment")
def _():
    status, _, err = ended(["import", folded(), "-o", "big.assay"])
    assert status == 0, err
    for words, output in ((["report", "big.assay"], None),
                          (["flame", "big.assay", "-o", "x.svg"], "x.svg"),
                          (["diff", "big.assay", "big.assay"], None),
                          (["export", "big.assay", "--format", "folded", "-o", "x.txt"], "x.txt"),
                          (["export", "big.assay", "--format", "pprof", "-o", "x.pb"], "x.pb")):
        stopped(words, output)


@case("interrupts: what ends a recording does not end the naming of its samples")
def _():
    words = [ASSAY, "record", "-o", "r.assay", "--", "sh", "-c", "while :; do :; done"]
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE) as child:
        time.sleep(2 * SLOWER)
        child.send_signal(signal.SIGINT)
        err = child.communicate(timeout=60)[1].decode()
    if child.returncode == 6:
        skip(f"nothing can be sampled here: {err.splitlines()[0]}")
    assert child.returncode == 130, (child.returncode, err)
    with sqlite3.connect("r.assay") as db:
        named, = db.execute("SELECT count(*) FROM location WHERE frame IS NOT NULL").fetchone()
    assert named, err


@case("interrupts: a reader of a pipe that waits for more ends too")
def _():
    with subprocess.Popen([ASSAY, "import", "-", "-o", "x.assay"], stdin=subprocess.PIPE,
                          stderr=subprocess.PIPE) as child:
        child.stdin.write(b"a;b 1\n")
        child.stdin.flush()
        time.sleep(0.5)
        child.send_signal(signal.SIGTERM)
        assert child.wait(timeout=20) == 130
        assert b"interrupted" in child.stderr.read()
    assert not os.path.exists("x.assay")


if __name__ == "__main__":
    main()
