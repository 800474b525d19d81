#!/usr/bin/env python3
"""gains.py [BUILD] [PROGRAM...] - what is gone when the place takes no time: the gain of truth.txt.

Builds each program of bench/calibration/programs twice, as it is and without the work of its place,
and runs both in a turning order.  The programs with threads need two CPUs of their own, so the
machine must be quiet: --others is the most that other processes may take of one CPU while a program
runs; a run beside more is thrown away and done again after a moment.  A program for which that
never comes is given up, with a word.

    --rounds N  7     --others SHARE  (0.2 is strict; any)     --tries N  60, for each run"""
import argparse
import functools
import os
import statistics
import time

from truth import HERE, programs
from loads import busy_seconds
from side import load, once, rounds_of


class NeverQuiet(Exception):
    """Other processes took more than their share in each try."""


def spread(values):
    return f"{statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})"


def once_quiet(others, tries, argv):
    """once(), again until other processes took no more than their share of a CPU."""
    for _ in range(tries):
        before = busy_seconds()
        seconds, usage = once(argv)
        beside = busy_seconds() - before - usage.ru_utime - usage.ru_stime
        if beside <= others * seconds:
            return seconds, usage
        time.sleep(5)
    raise NeverQuiet


def row_of(truth, build, rounds, run):
    """One line of the table; the gain of a round is taken within the round."""
    ways = {"with": [truth.path(build)]}
    if not truth.clean:
        ways["without"] = [truth.path(build, without=True)]
    times = rounds_of(ways, rounds, run)
    wall = {way: [seconds for seconds, _ in times[way]] for way in ways}
    cpu = {way: [usage.ru_utime + usage.ru_stime for _, usage in times[way]] for way in ways}
    cells = [truth.name, truth.part, truth.place or "-", spread(wall["with"]), spread(cpu["with"])]
    if not truth.clean:
        gains = [1 - b / a for a, b in zip(wall["with"], wall["without"])]
        of_cpu = [1 - b / a for a, b in zip(cpu["with"], cpu["without"])]
        cells += [spread(wall["without"]), spread(gains), spread(of_cpu)]
    else:
        cells += ["-"] * 3
    return f"| {' | '.join(cells)} | {load()} |"


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("build", nargs="?", default=os.path.join(HERE, "..", "..", "build"))
    parser.add_argument("programs", nargs="*")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--others", type=float)
    parser.add_argument("--tries", type=int, default=60)
    options = parser.parse_intermixed_args()
    build, run = os.path.abspath(options.build), once
    if options.others is not None:
        run = functools.partial(once_quiet, options.others, options.tries)
    print("| program | part | place | seconds | CPU seconds | seconds without | gain | of the CPU "
          "time | machine |\n|---|---|---|---|---|---|---|---|---|")
    for truth in programs():
        if truth.which != "calibration" or truth.short not in (options.programs or [truth.short]):
            continue
        if not truth.path(build):
            print(f"| {truth.name} | not run: no compiler for it here |" + " |" * 7)
            continue
        try:
            print(row_of(truth, build, options.rounds, run), flush=True)
        except NeverQuiet:
            print(f"| {truth.name} | not measured: the machine was never quiet |" + " |" * 7)


if __name__ == "__main__":
    main()
