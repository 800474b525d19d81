#!/usr/bin/env python3
"""accuracy.py [BUILD] [SHAPE...] - how exact the causal engine is on programs whose truth is known.

Each shape of tests/workloads/causal runs for SECONDS under the engine, two functions at four
speed-ups, in random order.  Printed: predicted against the formula of the shape, per cell and as a
mean error; then how many of the bounds hold the truth that `assay causal` would print for the same
pairs (it needs three pairs of a cell for that, and leaves some out).  Without names all shapes but
`rust` and `library`.  --real measures the truth as well: the work really shrunk, best of three.

As root the shapes run at a real-time priority below the engine's, so that a busy machine disturbs
little; pairs in which a thread still waited long for a CPU are left out and counted.

    -s SECONDS  20      --period US  1000      --engine auto|bpf|preload
    --real              --normal: at the ordinary priority
    --levels 50,100     only these speed-ups, in percent      -r ROUNDS  1
    --beside LOADS      one after the other beside each of these, 0,1,2,4,build: so many programs
                        that spin, or a load of bench/calibration; --normal, and all pairs count
    --against BUILD     that one's engine too, in turns, on the same programs
    --keep FOLDER       the run files, for `assay causal --show`"""
import argparse
import collections
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
from side import load  # noqa: E402  pylint: disable=wrong-import-position
from truth import FORMULA, disturbed, gains, place_of  # noqa: E402
sys.path.append(os.path.join(os.path.dirname(HERE), "calibration"))  # it has another truth.py
from loads import LOADS, beside_named  # noqa: E402  pylint: disable=wrong-import-position

FUNCTIONS = ("work_a", "work_b")


class Tally:
    """What the rounds beside one load said: errors in points, and the bounds."""

    def __init__(self):
        self.means = collections.defaultdict(list)  # of a shape, one each round
        self.held, self.halves, self.without, self.missed = 0, [], 0, []

    def take(self, shape, said, bounds, truth):
        errors = [abs(said[cell] - truth[cell]) for cell in truth if cell in said]
        if errors:
            self.means[shape].append(statistics.mean(errors))
        for cell, true in truth.items():
            if cell not in bounds:
                self.without += 1
                continue
            low, high = bounds[cell]
            self.halves.append((high - low) / 2)
            self.held += low <= true <= high
            if not low <= true <= high:
                self.missed.append(f"{shape} {cell[0]} at {cell[1] // 10} %: {low:.1f} to "
                                   f"{high:.1f}, truth {true:.1f}")

    def row(self, shapes):
        means = [statistics.mean(self.means[shape]) for shape in shapes if self.means[shape]]
        cells = [f"{statistics.mean(self.means[shape]):.1f}" if self.means[shape] else "-"
                 for shape in shapes]
        cells.append(f"{statistics.mean(means):.1f}" if means else "-")
        cells.append(f"{self.held} of {len(self.halves)}")
        cells.append(f"{statistics.median(self.halves):.1f}" if self.halves else "-")
        return cells + [str(self.without)]


def priority(level, options):
    return [] if options.normal or os.geteuid() != 0 else ["/usr/bin/chrt", "-f", str(level)]


def pairs_of(build, shape, kept, options):
    shapes = os.path.join(options.build, "tests/workloads/shapes")
    argv = priority(20, options) + [os.path.join(build, "tests/causal/causal-engine"),
                                    "--period", str(options.period), "--engine", options.engine,
                                    "--save", kept, "--levels",
                                    ",".join(map(str, options.levels))]
    for function in FUNCTIONS:
        argv += ["--target", place_of(shapes, function)]
    argv += ["--"] + priority(10, options) + [shapes, shape, str(options.seconds)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(argv)}: exit status {done.returncode}\n{done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines()][:-1]


def bounds_of(build, kept):
    """(function, level) -> the bounds that `assay causal` prints, in percent."""
    done = subprocess.run([os.path.join(build, "assay"), "causal", "--show", kept, "--json"],
                          capture_output=True, text=True, check=False)
    if not done.stdout:
        sys.exit(f"assay causal --show {kept}: exit status {done.returncode}\n{done.stderr}")
    return {(target["function"], round(1000 * point["speedup"])):
            (100 * point["lo"], 100 * point["hi"])
            for target in json.loads(done.stdout)["data"]["targets"] for point in target["points"]
            if point["lo"] is not None}


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
    for level in options.levels:
        for index, function in enumerate(FUNCTIONS):
            less = [100, 100]
            less[index] -= level // 10
            cells[function, level] = 100 * FORMULA[shape](level / 1000)[index]
            if options.real:
                cells[function, level] = 100 * (1 - base / rate(shape, less, options))
    return cells


def show(build, shape, kept, tally, options):
    pairs = pairs_of(build, shape, kept, options)
    quiet = [pair for pair in pairs if options.beside or not disturbed(pair)]
    said, bounds, truth = gains(quiet, "round"), bounds_of(build, kept), truth_of(shape, options)
    errors = [abs(said[cell] - truth[cell]) for cell in truth if cell in said]
    tally.take(shape, said, bounds, truth)
    if not errors:
        print(f"{shape:8} no quiet pair of {len(pairs)}: the machine is too busy")
        return
    held = sum(low <= truth[cell] <= high for cell, (low, high) in bounds.items())
    print(f"{shape:8} mean error {statistics.mean(errors):4.1f}  largest {max(errors):5.1f}  "
          f"bounds that hold {held} of {len(bounds)}  pairs {len(quiet)} of {len(pairs)}  {load()}",
          flush=True)
    for function in FUNCTIONS:
        cells = [f"{said[function, level]:6.1f} ({truth[function, level]:5.1f})"
                 for level in options.levels if (function, level) in said]
        print(f"    {function[-1].upper()} " + "  ".join(cells), flush=True)


def measure(builds, folder, options):
    """(load, build) -> Tally."""
    tallies = collections.defaultdict(Tally)
    for number in range(options.rounds):
        for name in options.beside or [""]:
            with beside_named(name) as check:
                for index, shape in enumerate(options.shapes):
                    turn = (number + index) % len(builds)
                    for build in builds[turn:] + builds[:turn]:
                        kept = f"{name or 'alone'}-{shape}-{number}-{builds.index(build)}.assay"
                        if len(builds) > 1 or options.beside:
                            print(f"{name or 'alone'}, {os.path.relpath(build)}:", end=" ")
                        show(build, shape, os.path.join(folder, kept), tallies[name, build],
                             options)
                        check()
    return tallies


def tables(tallies, options):
    print(f"\n| beside | build | {' | '.join(options.shapes)} | mean error | bounds that hold | "
          f"half width | without bounds |\n|{'---|' * (len(options.shapes) + 6)}")
    for (name, build), tally in tallies.items():
        print(f"| {name or '-'} | {os.path.relpath(build)} | "
              f"{' | '.join(tally.row(options.shapes))} |")
    for (name, build), tally in tallies.items():
        for miss in tally.missed:
            print(f"missed beside {name or '-'}, {os.path.relpath(build)}: {miss}")


def options_read():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("build", nargs="?", default="build")
    parser.add_argument("shapes", nargs="*")
    parser.add_argument("-s", "--seconds", type=float, default=20)
    parser.add_argument("-r", "--rounds", type=int, default=1)
    parser.add_argument("--period", type=int, default=1000)
    parser.add_argument("--engine", default="auto", choices=["auto", "bpf", "preload"])
    parser.add_argument("--levels", default="25,50,75,100")
    parser.add_argument("--real", action="store_true")
    parser.add_argument("--normal", action="store_true")
    parser.add_argument("--beside", default="")
    parser.add_argument("--against", default="")
    parser.add_argument("--keep", default="")
    options = parser.parse_intermixed_args()
    options.beside = [name for name in options.beside.split(",") if name]
    for name in options.beside:
        if not name.isdigit() and name not in LOADS:
            parser.error(f"--beside: a number or one of {', '.join(LOADS)}, not {name}")
    options.normal |= bool(options.beside)
    options.build = os.path.abspath(options.build)
    options.levels = [10 * int(level) for level in options.levels.split(",")]
    options.shapes = options.shapes or [shape for shape in FORMULA
                                        if shape not in ("rust", "library")]
    return options


def main():
    options = options_read()
    builds = [options.build] + ([os.path.abspath(options.against)] if options.against else [])
    print(f"said (truth) in percent at speed-up {', '.join(str(n // 10) for n in options.levels)} "
          "%")
    with tempfile.TemporaryDirectory() as folder:
        if options.keep:
            os.makedirs(options.keep, exist_ok=True)
        tables(measure(builds, options.keep or folder, options), options)


main()
