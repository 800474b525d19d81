"""How often a comparison is wrong: `assay ab` beside hyperfine's rule and the rank sum test, while
both cores are busy.

    ab.py BUILD [SECONDS [FOLDER]]

A loop of 13 to 20 ms against itself, against one with 5 % more turns and one with 2 % more.  assay
runs them in turns, and build/bench/judge gives its verdict, by the same code, on each window of so
many pairs of the long run (windows do not overlap).  The peers get what they measure: one block
of A, then one of B.  For A against A these are neighbouring runs of the same long run; for the
others blocks of 40 are run apart.  SECONDS is the time to measure; runs that are already in FOLDER
are only judged again.
Cells: per cent of the comparisons that were called a change, and how many comparisons."""
import math
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

import side

SECONDS = 1500
BLOCK = 40
SERIES = {"null": (60, 60, .28), "five": (60, 63, .22), "two": (50, 51, .22)}  # turns, in millions


class Busy:
    """As many endless loops as there are cores."""

    def __enter__(self):
        loop = [sys.executable, "-c", "while True: pass"]
        self.loops = [subprocess.Popen(loop) for _ in range(os.cpu_count())]

    def __exit__(self, *_):
        for one in self.loops:
            one.kill()
            one.wait()


def measure(argv):
    done = subprocess.run(argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          check=False)
    if done.returncode not in (0, 1, 3):  # a verdict is no failure here
        sys.exit(f"{' '.join(argv)}: exit status {done.returncode}\n{done.stderr}")


def collect(assay, spin, folder, seconds):
    for name, (a, b, share) in SERIES.items():
        path = os.path.join(folder, name + ".assay")
        if not os.path.exists(path):
            measure([assay, "ab", "--json", "-n", "100000", "--budget", f"{seconds * share:.0f}s",
                     "-o", path, spin, str(a), "--", spin, str(b)])
        if name == "null":
            continue
        end = time.monotonic() + seconds * .14
        number = 0
        while time.monotonic() < end and not os.path.exists(f"{folder}/{name}.whole"):
            for way, turns in (("a", a), ("b", b)):
                measure([assay, "bench", "--json", "-n", str(BLOCK), "-o",
                         f"{folder}/{name}-{number}-{way}.assay", f"{spin} {turns}"])
            number += 1
        with open(f"{folder}/{name}.whole", "a", encoding="ascii"):
            pass


def times_of(path):
    """(wall, cpu) of each run, in the order of measurement."""
    with sqlite3.connect(path) as db:
        return db.execute("SELECT wall_ns, user_ns + system_ns FROM executions "
                          "ORDER BY rowid").fetchall()


def medians_of(folder, name):
    wall, cpu = zip(*times_of(f"{folder}/{name}.assay")[::2])
    return f"{statistics.median(wall) / 1e6:.1f} ({statistics.median(cpu) / 1e6:.1f})"


def blocks_of(folder, name, size):
    """Pairs of blocks: runs of A, then runs of B."""
    if name == "null":
        runs = times_of(f"{folder}/null.assay")
        for at in range(0, len(runs) - 2 * size + 1, 2 * size):
            yield runs[at:at + size], runs[at + size:at + 2 * size]
        return
    number = 0
    while os.path.exists(f"{folder}/{name}-{number}-b.assay"):
        yield tuple(times_of(f"{folder}/{name}-{number}-{way}.assay")[:size] for way in "ab")
        number += 1


def hyperfine_calls(a, b):
    """Its summary "1.05 +- 0.03 times faster": the ratio less its deviation is above 1."""
    fast, slow = sorted((a, b), key=statistics.fmean)
    ratio = statistics.fmean(slow) / statistics.fmean(fast)
    spread = math.hypot(*(statistics.stdev(x) / statistics.fmean(x) for x in (fast, slow)))
    return ratio - ratio * spread > 1


def rank_sum_calls(a, b):
    """Mann and Whitney, p < 0.05, normal tail with tie and continuity correction."""
    both = sorted(a + b)
    ranks = {}
    for at, value in enumerate(both):
        ranks.setdefault(value, []).append(at + 1)
    total = len(both)
    ties = sum(len(r) ** 3 - len(r) for r in ranks.values())
    rank_sum = sum(statistics.fmean(ranks[value]) for value in a)
    u = rank_sum - len(a) * (len(a) + 1) / 2
    spread = math.sqrt(len(a) * len(b) / 12 * (total + 1 - ties / (total * (total - 1))))
    z = (abs(u - len(a) * len(b) / 2) - .5) / spread
    return math.erfc(z / math.sqrt(2)) < .05


def judged(build, folder, name, pairs, looks=1):
    """The verdicts of assay on windows: lists of words, see judge.c."""
    out = subprocess.run([f"{build}/bench/judge", f"{folder}/{name}.assay", str(pairs),
                          str(looks)], capture_output=True, text=True, check=True).stdout
    return [line.split() for line in out.splitlines()]


def cell(calls):
    return f"{100 * sum(calls) / len(calls):.1f} ({len(calls)})" if calls else "not measured"


def moved(word):
    return word in ("regressed", "improved")


def rows_of(build, folder):
    columns = (("null", 20), ("null", 40), ("five", 40), ("two", 40))
    verdicts = [judged(build, folder, *column) for column in columns]
    yield "assay ab: verdict", [[moved(v[0]) for v in column] for column in verdicts]
    yield "assay ab: CPU time", [[moved(v[6]) for v in column] for column in verdicts]
    times = sorted({v[2].replace("_", " ") for column in verdicts for v in column})
    yield (f"assay ab: {' or '.join(times)} time",
           [[moved(v[3]) for v in column] for column in verdicts])
    growing = [judged(build, folder, name, 60, 6) if at else [] for at, (name, _) in
               enumerate(columns)]
    yield "  growing up to 60 pairs", [[moved(v[0]) for v in column] for column in growing]
    for rule, calls in (("hyperfine", hyperfine_calls), ("rank sum p<.05", rank_sum_calls)):
        for clock, index in (("wall", 0), ("CPU", 1)):
            yield f"{rule}, {clock}", [
                [calls([x[index] for x in a], [x[index] for x in b])
                 for a, b in blocks_of(folder, name, size)] for name, size in columns]


def main():
    build = os.path.abspath(sys.argv[1])
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else SECONDS
    with tempfile.TemporaryDirectory() as scratch:
        folder = sys.argv[3] if len(sys.argv) > 3 else scratch
        load = side.load()
        if not os.path.exists(f"{folder}/two.whole"):
            with Busy():
                collect(f"{build}/assay", f"{build}/tests/workloads/spin", folder, seconds)
                load = side.load()
        print(f"ab: a loop, all cores busy, per cent called a change (comparisons), {load}")
        print("A takes, median ms of wall (CPU) time: " + ", ".join(
            f"{name} {medians_of(folder, name)}" for name in SERIES))
        print(f"{'rule':<26}{'A = A, 20':>16}{'A = A, 40':>16}{'+5 %, 40':>16}{'+2 %, 40':>16}")
        for name, columns in rows_of(build, folder):
            print(f"{name:<26}" + "".join(f"{cell(column):>16}" for column in columns))
        growing = judged(build, folder, "five", 60, 6), judged(build, folder, "two", 60, 6)
        print("pairs it took to call it: +5 % {:.0f}, +2 % {:.0f} (mean)".format(
            *(statistics.fmean(int(v[-1]) for v in one) for one in growing)))


main()
