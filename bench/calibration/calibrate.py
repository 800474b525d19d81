#!/usr/bin/env python3
"""calibrate.py [BUILD] --keep DIR - is an answer right as often as its confidence says?

Runs `assay run` on the programs of truth.txt, on the idle machine and beside loads, and stores
each answer in DIR as soon as it is there.  All of it takes hours: started again with the same DIR
it continues where it stopped.  A run without an answer is stored with its reason and tried again;
to have another one made again, delete its file.  tables.py DIR prints what the answers are worth.

    --only PROGRAM...   these programs            --part PART     train or check
    --load LIST         idle,runs,runs2           --rounds N      3: rounds 1 to 3
    --round LIST        only these rounds: 2,3    --budget TIME   60s, for each run
    --minutes N         begin no run that would end later than in N minutes
    --evidence DIR      keep the evidence directory of each run there
    --list              print the runs that are left, and do none

Loads: idle; runs: one more run of the benchmark for each CPU, runs2: two more, all made at once,
each beside the others; spin: a counting process for each CPU, spin2: two for each; build: a compile
job for each CPU.  They have the priority of assay itself.  Exit status: 0 all runs have an answer,
3 some are left, 130 interrupted."""
import argparse
import datetime
import hashlib
import itertools
import multiprocessing
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import keep
from truth import PARTS, judge, programs, said_of
from loads import LOADS, RUNS, USUAL, Others, beside, cpus
from truth_table import run


def commit_of(build):
    """The commit of the sources around the build, `+` when they have changes; None: not known."""
    done = subprocess.run(["git", "-C", build, "describe", "--always", "--abbrev=12", "--dirty=+",
                           "--exclude=*"], capture_output=True, text=True, check=False)
    return done.stdout.strip() or None


def checksum_of(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()[:12]


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = re.search(r"^model name\s*: (.*)$", file.read(), re.MULTILINE)
    return f"{cpus()} CPUs, {model[1].strip() if model else os.uname().machine}, " \
           f"Linux {os.uname().release}"


def seconds_of(text):
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(s|m|h)", text)
    if not found:
        raise argparse.ArgumentTypeError(f"'{text}' is not a time such as 60s or 2m")
    return float(found[1]) * {"s": 1, "m": 60, "h": 3600}[found[2]]


def budget_of(text):
    seconds_of(text)
    return text


def loads_of(text):
    words = text.split(",")
    if unknown := set(words) - set(LOADS):
        raise argparse.ArgumentTypeError(f"unknown load '{sorted(unknown)[0]}'")
    return words


def rounds_of(text):
    if not re.fullmatch(r"[1-9]\d*(,[1-9]\d*)*", text):
        raise argparse.ArgumentTypeError(f"'{text}' is not a list of rounds such as 1,2")
    return sorted({int(word) for word in text.split(",")})


def chosen(options):
    """The programs that were asked for."""
    known = list(programs())
    if unknown := set(options.only or ()) - {truth.short for truth in known}:
        sys.exit(f"calibrate.py: unknown program '{sorted(unknown)[0]}'")
    return [truth for truth in known if truth.short in (options.only or {truth.short})
            and options.part in (None, truth.part)]


def runs_left(truths, loads, rounds, rows):
    """(truth, load, round) of the runs that have no answer yet, in the order in which to do them:
    each round has every load, so that a part of the rounds is a whole result."""
    return [(truth, load, number) for number in rounds for load in loads for truth in truths
            if not keep.is_answered(rows, (truth.name, load, number))]


def paths_of(truths, build):
    """program -> its path; all are built before anything is measured."""
    paths = {}
    for truth in truths:
        path = truth.path(build)
        if not path:
            print(f"{truth.name}: skipped, no compiler for it here", file=sys.stderr)
        elif not os.path.exists(path):
            sys.exit(f"calibrate.py: {path} is missing; build it with ninja -C {build}")
        else:
            paths[truth.name] = path
    return paths


class Bench:
    """The tool, and how each run is made."""

    def __init__(self, options):
        build = os.path.abspath(options.build)
        self.tool, self.budget = os.path.join(build, "assay"), options.budget
        self.commit, self.checksum = commit_of(build), checksum_of(self.tool)
        self.evidence, self.machine = options.evidence, machine()

    def answer(self, program, key):
        """The row of one run."""
        folder = tempfile.mkdtemp()
        began, others = datetime.datetime.now(datetime.timezone.utc), Others()
        row = {**dict(zip(("program", "load", "round"), key)), "commit": self.commit,
               "tool": self.checksum, "machine": self.machine, "budget": self.budget,
               "began": began.isoformat(timespec="seconds"), "error": None}
        try:
            # Far more than the budget: a tool that hangs is a result, too.
            data, seconds = run(self.tool, program, self.budget, folder,
                                limit=5 * seconds_of(self.budget) + 120)
            row.update(seconds=round(seconds, 1), **keep.summary(data))
        except ValueError as error:
            row.update(seconds=None, error=str(error))
        finally:
            row["others_share"] = round(others.share(), 3)
            self.store_evidence(folder, key)
            shutil.rmtree(folder, ignore_errors=True)
        return row

    def store_evidence(self, folder, key):
        made = os.path.join(folder, "assay-out")
        if self.evidence and os.path.isdir(made):
            kept = os.path.join(self.evidence, keep.name_of(key))
            shutil.rmtree(kept, ignore_errors=True)
            shutil.copytree(made, kept, symlinks=True)


def words_of(truth, row):
    """What is printed of one run."""
    if row["error"]:
        return f"no answer: {row['error']}"
    answer = row["answer"]
    try:
        outcome = judge(truth, answer)
    except ValueError as error:  # it is stored, and the judge can learn it later
        outcome = str(error)
    return f"{said_of(answer)}, {answer['confidence']}: {outcome}, {row['seconds']:.0f} s"


def tell_others(rows, bench):
    """Answers of two builds in one directory make a table of neither."""
    builds = {(row["commit"], row["tool"]) for row in rows.values()}
    for commit, tool in sorted(builds - {(bench.commit, bench.checksum)}, key=str):
        print(f"warning: there are answers of another build, commit {commit}, program {tool}; "
              f"this is {bench.commit}, {bench.checksum}", file=sys.stderr)


def do_runs(options, bench, runs, paths, until):
    """Does the runs one after the other, until there is no time for another one."""
    for truth, load, number in runs:
        if time.monotonic() > until:
            return
        row = bench.answer(paths[truth.name], (truth.name, load, number))
        yield row
        keep.write(options.keep, row)
        print(f"{load} {number} {truth.name}: {words_of(truth, row)}", flush=True)


def lane(next_one, busy, doing, runs):
    """One of the runs that are made at once, in a process of its own, because what others take is
    all that its own children do not.  One that has nothing left to do counts, as long as another
    one is not at its end: that is beside as much as the others were."""

    # Ctrl-C ends the parent, and that ends this: what was begun is ended.
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def taken():
        while True:
            with next_one.get_lock():
                at, next_one.value = next_one.value, next_one.value + 1
            if at >= len(runs):
                return
            yield runs[at]

    for _ in doing(taken()):
        pass
    with busy.get_lock():
        busy.value -= 1
    while busy.value:
        for _ in range(1000000):
            pass


def do_at_once(lanes, doing, runs):
    next_one, busy = multiprocessing.Value("i", 0), multiprocessing.Value("i", lanes)
    workers = [multiprocessing.Process(target=lane, args=(next_one, busy, doing, runs))
               for _ in range(lanes)]
    for worker in workers:
        worker.start()
    try:
        for worker in workers:
            worker.join()
    finally:
        for worker in workers:
            worker.terminate()
            worker.join()
    if any(worker.exitcode for worker in workers):
        sys.exit("calibrate.py: one of the runs that are made at once has failed")


def measure(options, bench, left, paths):
    """Does the runs that are left, until there is no time for another one."""
    until = time.monotonic() + 60 * options.minutes - seconds_of(options.budget)

    def doing(runs):
        return do_runs(options, bench, runs, paths, until)

    # Those that are made at once may be of several rounds.
    for (load, _), batch in itertools.groupby(
            left, key=lambda one: (one[1], one[1] in RUNS or one[2])):
        if time.monotonic() > until:
            return
        if load in RUNS:
            do_at_once(1 + LOADS[load] * cpus(), doing, list(batch))
            continue
        with beside(load) as check:
            for _ in doing(batch):
                check()


def options_of():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("build", nargs="?", default="build")
    parser.add_argument("--keep", required=True)
    parser.add_argument("--only", nargs="+")
    parser.add_argument("--part", choices=PARTS)
    parser.add_argument("--load", type=loads_of, default=list(USUAL))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--round", type=rounds_of)
    parser.add_argument("--budget", type=budget_of, default="60s")
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--evidence")
    parser.add_argument("--list", action="store_true")
    return parser.parse_intermixed_args()


def main():
    options = options_of()
    truths, rounds = chosen(options), options.round or range(1, options.rounds + 1)
    os.makedirs(options.keep, exist_ok=True)
    asked = len(truths) * len(options.load) * len(rounds)
    rows = keep.read(options.keep)
    left = runs_left(truths, options.load, rounds, rows)
    print(f"{asked} runs, {asked - len(left)} with an answer, {len(left)} left", flush=True)
    if options.list:
        print("\n".join(f"{load} {number} {truth.name}" for truth, load, number in left))
        return
    # As Ctrl-C does: what was begun is ended.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    paths = paths_of(truths, os.path.abspath(options.build))
    bench = Bench(options)
    tell_others(rows, bench)
    try:
        measure(options, bench, [one for one in left if one[0].name in paths], paths)
    except KeyboardInterrupt:
        sys.exit(130)
    left = runs_left(truths, options.load, rounds, keep.read(options.keep))
    print(f"{len(left)} of {asked} runs are left")
    sys.exit(3 if left else 0)


if __name__ == "__main__":
    main()
