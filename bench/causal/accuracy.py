#!/usr/bin/env python3
"""accuracy.py [BUILD] [SHAPE...] - how exact the causal engine is on programs whose truth is known.

Each shape of tests/workloads/causal runs for SECONDS under the engine, two functions at four
speed-ups, in random order.  Printed: predicted against the formula of the shape, per cell and as a
mean error.  --real measures the truth as well: the work really shrunk, best of three.

As root the shapes run at a real-time priority below the engine's, so that a busy machine disturbs
little; pairs in which a thread still waited long for a CPU are left out and counted.

    -s SECONDS  20      --period US  1000      --engine auto|bpf|preload
    --real              --normal: at the ordinary priority
    --foreign N         beside N other programs that spin; --normal, and all pairs count"""
import argparse
import contextlib
import json
import os
import re
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
from side import load  # noqa: E402  pylint: disable=wrong-import-position
from truth import FORMULA, disturbed, gains, place_of  # noqa: E402

FUNCTIONS = ("work_a", "work_b")
LEVELS = (250, 500, 750, 1000)


def priority(level, options):
    return [] if options.normal or os.geteuid() != 0 else ["/usr/bin/chrt", "-f", str(level)]


def pairs_of(shape, options):
    shapes = os.path.join(options.build, "tests/workloads/shapes")
    argv = priority(20, options) + [os.path.join(options.build, "tests/causal/causal-engine"),
                                    "--period", str(options.period), "--engine", options.engine]
    for function in FUNCTIONS:
        argv += ["--target", place_of(shapes, function)]
    argv += ["--"] + priority(10, options) + [shapes, shape, str(options.seconds)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(argv)}: exit status {done.returncode}\n{done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines()][:-1]


def rate(shape, percents, options):
    """Rounds per second, best of three: what disturbs makes it slower, never faster."""
    argv = priority(10, options) + [os.path.join(options.build, "tests/workloads/shapes"), shape,
                                    ".7"] + [str(max(p, 1)) for p in percents]
    texts = [subprocess.run(argv, capture_output=True, text=True, check=True).stdout
             for _ in range(3)]
    return max(int(re.match(r"\d+", text)[0]) for text in texts)


def truth_of(shape, options):
    """(function, level) -> gain in percent, by the formula or as really measured."""
    cells = {}
    base = rate(shape, (100, 100), options) if options.real else 0
    for level in LEVELS:
        for index, function in enumerate(FUNCTIONS):
            less = [100, 100]
            less[index] -= level // 10
            cells[function, level] = 100 * FORMULA[shape](level / 1000)[index]
            if options.real:
                cells[function, level] = 100 * (1 - base / rate(shape, less, options))
    return cells


@contextlib.contextmanager
def spinners(count):
    tasks = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(count)]
    try:
        yield
    finally:
        for task in tasks:
            task.kill()
            task.wait()


def show(shape, options):
    with spinners(options.foreign):
        pairs = pairs_of(shape, options)
    quiet = [pair for pair in pairs if options.foreign or not disturbed(pair)]
    said, truth = gains(quiet, "round"), truth_of(shape, options)
    errors = [abs(said[cell] - truth[cell]) for cell in truth if cell in said]
    if not errors:
        print(f"{shape:8} no quiet pair of {len(pairs)}: the machine is too busy")
        return None
    mean = statistics.mean(errors)
    print(f"{shape:8} mean error {mean:4.1f}  largest {max(errors):5.1f}  "
          f"pairs {len(quiet)} of {len(pairs)}  {load()}", flush=True)
    for function in FUNCTIONS:
        cells = [f"{said[function, level]:6.1f} ({truth[function, level]:5.1f})"
                 for level in LEVELS if (function, level) in said]
        print(f"    {function[-1].upper()} " + "  ".join(cells), flush=True)
    return mean


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("build", nargs="?", default="build")
    parser.add_argument("shapes", nargs="*")
    parser.add_argument("-s", "--seconds", type=float, default=20)
    parser.add_argument("--period", type=int, default=1000)
    parser.add_argument("--engine", default="auto", choices=["auto", "bpf", "preload"])
    parser.add_argument("--real", action="store_true")
    parser.add_argument("--normal", action="store_true")
    parser.add_argument("--foreign", type=int, default=0)
    options = parser.parse_intermixed_args()
    options.normal |= options.foreign > 0
    options.build = os.path.abspath(options.build)
    print(f"said (truth) in percent at speed-up {', '.join(str(n // 10) for n in LEVELS)} %")
    built = [shape for shape in FORMULA if shape != "rust"]
    means = [show(shape, options) for shape in options.shapes or built]
    means = [mean for mean in means if mean is not None]
    print(f"mean over {len(means)} shapes: {statistics.mean(means):.1f}")


main()
