"""What corrected wall time is worth beside other programs: how often its interval holds the truth,
how often a program is called changed that is not, and how soon a change is found.

    corrected.py BUILD [SECONDS [FOLDER]]

A counting loop against itself and against one with a fifth more turns, which is the truth, beside
0, 1, 2 and 4 endless loops and beside compile jobs, one for each CPU. `assay ab` runs them in
turns, and build/bench/judge gives its verdict, by the same code, on each window of so many pairs
(windows do not overlap). "wall" is the same runs without their time in the run queue, as an assay
judges them that does not know it. SECONDS is the time to measure in all; runs that are already in
FOLDER are only judged again."""
import contextlib
import math
import os
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile

import side

SECONDS = 450
TURNS = 20  # millions
WINDOW, GROWING = 5, 30
SERIES = {"same": (TURNS, TURNS), "more": (TURNS, TURNS * 6 // 5)}
LOADS = {"nothing": 0, "1 loop": 1, "2 loops": 2, "4 loops": 4, "compiling": None}
LOOP = [sys.executable, "-c", "while True: pass"]
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs", "words.cc")
COMPILE = ["sh", "-c", 'while :; do g++ -O2 -c -o /dev/null "$0"; done', SOURCE]


@contextlib.contextmanager
def beside(load):
    """The load, in process groups of its own but of our session."""
    count = LOADS[load]
    argv = LOOP if count is not None else COMPILE
    others = [subprocess.Popen(argv, process_group=0, stderr=subprocess.DEVNULL)
              for _ in range(os.cpu_count() if count is None else count)]
    try:
        yield
        gone = [one for one in others if one.poll() is not None]
        if gone:
            sys.exit(f"{load}: a process has ended with status {gone[0].returncode}")
    finally:
        for one in others:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(one.pid, signal.SIGKILL)
            one.wait()


def path_of(folder, load, name):
    return os.path.join(folder, f"{load.replace(' ', '-')}-{name}.assay")


def collect(build, folder, seconds):
    """One long comparison for each load and series."""
    for load in LOADS:
        for name, turns in SERIES.items():
            path = path_of(folder, load, name)
            if os.path.exists(path):
                continue
            words = [f"{build}/tests/workloads/spin {t}" for t in turns]
            with beside(load):
                done = subprocess.run(
                    [f"{build}/assay", "ab", "--json", "-n", "100000", "--budget",
                     f"{seconds / len(LOADS) / len(SERIES):.0f}s", "-o", path, words[0], "--",
                     words[1]], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                    check=False)
            if done.returncode not in (0, 1, 3):  # a verdict is no failure here
                sys.exit(f"{load}: exit status {done.returncode}\n{done.stderr}")


def changed(path, ending, statement):
    """A copy of the run file, changed."""
    other = path + ending
    shutil.copy(path, other)
    with sqlite3.connect(other) as db:
        db.execute(statement)
    return other


def without_queue(path):
    """The same runs as if nobody had looked at the run queue."""
    return changed(path, ".plain", "UPDATE execution SET flags = flags & ~32768, queue_ns = 0")


def turned(path):
    """The same runs with A for B: a sixth less work."""
    return changed(path, ".less", "UPDATE execution SET command = 3 - command")


def judged(build, path, pairs, looks=1):
    out = subprocess.run([f"{build}/bench/judge", path, str(pairs), str(looks)],
                         capture_output=True, text=True, check=True).stdout
    return [line.split() for line in out.splitlines()]


def share(calls):
    return f"{100 * sum(calls) / len(calls):.0f}" if calls else "-"


def intervals_of(build, paths):
    """Of both series: does the interval of wall time hold the truth, how wide is it, how far off is
    its middle (points)."""
    held, halves, errors = [], [], []
    for name, path in paths.items():
        truth = SERIES[name][1] / SERIES[name][0] - 1
        for words in judged(build, path, WINDOW):
            lo, hi = float(words[-3]), float(words[-2])
            held.append(lo <= truth <= hi)
            halves.append(100 * (hi - lo) / 2)
            errors.append(100 * abs(float(words[4]) - truth))
    return held, halves, errors


def verdicts_of(build, path, outcome):
    """How many windows that grow have this outcome, of how many, after how many pairs."""
    windows = judged(build, path, GROWING, 6)
    called = sum(words[0] == outcome for words in windows)
    pairs = statistics.fmean(int(words[-1]) for words in windows) if windows else math.nan
    return f"{called} of {len(windows)}, {pairs:.1f}"


def alarms_of(build, path):
    windows = judged(build, path, GROWING, 6)
    return f"{sum(words[0] in ('regressed', 'improved') for words in windows)} of {len(windows)}"


def row(build, load, way, paths):
    held, halves, errors = intervals_of(build, paths)
    less = turned(paths["more"])
    print(f"{load:<11}{way:<11}{share(held):>5} ({len(held)})"
          f"{statistics.median(halves):>7.1f}{statistics.fmean(errors):>7.1f}"
          f"{alarms_of(build, paths['same']):>9}"
          f"{verdicts_of(build, paths['same'], 'equivalent'):>16}"
          f"{verdicts_of(build, paths['more'], 'regressed'):>16}"
          f"{verdicts_of(build, less, 'improved'):>16}")


def queue_share(path):
    with sqlite3.connect(path) as db:
        return db.execute("SELECT total(queue_ns) / total(wall_ns) FROM executions").fetchone()[0]


def main():
    build = os.path.abspath(sys.argv[1])
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else SECONDS
    with tempfile.TemporaryDirectory() as scratch:
        folder = sys.argv[3] if len(sys.argv) > 3 else scratch
        load = side.load()
        collect(build, folder, seconds)
        print(f"corrected: a loop of {TURNS} million turns against itself and a fifth more, {load}")
        print(f"intervals of 95 % of {WINDOW} pairs, in points; verdicts on windows that grow "
              f"from 10 to {GROWING} pairs")
        print(f"{'beside':<11}{'judged by':<11}{'holds %':>11}{'+-':>5}{'error':>7}{'alarms':>9}"
              f"{'same, pairs':>16}{'+20 %, pairs':>16}{'-17 %, pairs':>16}")
        for each in LOADS:
            paths = {name: path_of(folder, each, name) for name in SERIES}
            plain = {name: without_queue(path) for name, path in paths.items()}
            row(build, each, "wall", plain)
            row(build, each, "corrected", paths)
            print(f"{'':<11}waited for a CPU: "
                  f"{100 * statistics.fmean(queue_share(p) for p in paths.values()):.1f} %")


main()
