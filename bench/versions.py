"""Two builds of assay side by side: what a change costs where it must cost nothing.

    versions.py BEFORE AFTER [ROUNDS]    two build folders; a quiet machine

CPU time of the recorder beside a program, the program's own CPU time under it, rounds that a
program makes under experiments at speed-up 0, CPU time of imports.  Each round runs both builds
in a turning order; the ratios are of a round.  Imports also in instructions, which no neighbour
changes: once each, in the simulator."""
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

import side

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "causal"))
from truth import place_of  # noqa: E402  pylint: disable=wrong-import-position

BUILDS = {"before": os.path.abspath(sys.argv[1]), "after": os.path.abspath(sys.argv[2])}
ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 else 15
SHAPES = os.path.join(BUILDS["before"], "tests/workloads/shapes")  # one program for both
STACKS = 200000


def cpu_s(argv):
    """CPU time of a command and its children."""
    _, usage = side.once(argv)
    return usage.ru_utime + usage.ru_stime


def instructions(argv):
    """Of a command, simulated."""
    done = subprocess.run([os.path.join(BUILDS["after"], "assay"), "stat", "--engine", "sim", "-e",
                           "instructions", "--json", "--", *argv],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    return json.loads(done.stdout)["data"]["events"][0]["value"]


def made(argv):
    """Rounds that a shape says it made, as time each."""
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    return 1 / int(re.search(r"(\d+) rounds", done.stdout + done.stderr)[1])


def show(what, ways, run):
    """One line: the ratio after / before, by round."""
    values = side.rounds_of(ways, ROUNDS, run)
    ratios = [after / before for before, after in zip(values["before"], values["after"])]
    middle = statistics.median(ratios)
    # A median's distance from the truth, from the spread of the rounds.
    error = 1.253 * statistics.stdev(ratios) / len(ratios) ** .5
    print(f"{what:44} {middle:6.3f} ±{error:.3f} [{side.quantile(ratios, .1):.3f} .. "
          f"{side.quantile(ratios, .9):.3f}]", flush=True)


def folded(path):
    """Stacks that differ, of 12 frames."""
    with open(path, "w", encoding="ascii") as file:
        for i in range(STACKS):
            frames = [f"function_{(i >> shift) % 97}_{shift}" for shift in range(12)]
            file.write(";".join(frames) + f" {1 + i % 7}\n")


def assays(*words):
    """way -> the same command of both builds."""
    return {way: [os.path.join(build, "assay"), *words] for way, build in BUILDS.items()}


def engines(shape, engine):
    """way -> experiments at speed-up 0 on a shape."""
    return {way: [os.path.join(build, "tests/causal/causal-engine"), "--engine", engine, "--levels",
                  "0", "--target", place_of(SHAPES, "work_a"), "--", SHAPES, shape, "2"]
            for way, build in BUILDS.items()}


def main():
    print(f"versions: after / before, {ROUNDS} interleaved rounds, median ± its error "
          f"[p10 .. p90], {side.load()}")
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, "stacks.folded")
        perf_data = os.path.join(scratch, "perf.data")
        script = os.path.join(scratch, "perf.script")
        out = os.path.join(scratch, "out.assay")
        program = [sys.executable, "-c", "sum(i * i for i in range(9000000))"]
        folded(path)
        subprocess.run(["perf", "record", "-q", "-F", "4999", "--call-graph", "dwarf,8192", "-o",
                        perf_data, "--", *program], check=True, stderr=subprocess.DEVNULL)
        with open(script, "w", encoding="utf-8") as file:
            subprocess.run(["perf", "script", "-i", perf_data], check=True, stdout=file,
                           stderr=subprocess.DEVNULL)
        show("record python3, CPU time of both", assays(
            "record", "-F", "4999", "-o", out, "--", *program), cpu_s)
        for engine in ("bpf", "preload"):
            for shape in ("split", "fping"):
                show(f"causal at speed-up 0, {engine}, {shape}: time of a round",
                     engines(shape, engine), made)
        for what, file in (("folded stacks", path), ("perf.data", perf_data),
                           ("perf script", script)):
            both = assays("import", file, "-o", out)
            show(f"import {what} of {os.path.getsize(file) / 1e6:.0f} MB, CPU time", both, cpu_s)
            print(f"{'    instructions':44} "
                  f"{instructions(both['after']) / instructions(both['before']):6.3f}", flush=True)


main()
