#!/usr/bin/env python3
"""coz.py [SHAPE...] - coz on the programs of accuracy.py, by the same truth.

Debian's coz 0.2.2 reads DWARF 4 only and counts by its own macros, so the shapes are built anew for
it.  Its 21 levels are pooled around 25, 50, 75 and 95 to 100 %; the gain is the one of its viewer,
sums of duration / sums of visits against speed-up 0 of the same line.

    -s SECONDS  15      --normal: at the ordinary priority"""
import argparse
import collections
import os
import re
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
from side import load  # noqa: E402  pylint: disable=wrong-import-position
from truth import FORMULA  # noqa: E402

SOURCE = os.path.join(os.path.dirname(os.path.dirname(HERE)), "tests/workloads/causal/shapes.c")
LEVELS = {250: (.2, .3), 500: (.45, .55), 750: (.7, .8), 1000: (.95, 1)}


def build(folder):
    with open(os.path.join(folder, "assay.h"), "w", encoding="ascii") as file:
        file.write("#include <coz.h>\n"
                   "#define ASSAY_PROGRESS_NAMED(name) COZ_PROGRESS_NAMED(name)\n")
    program = os.path.join(folder, "shapes")
    subprocess.run(["gcc", "-O1", "-g", "-gdwarf-4", "-gno-variable-location-views",
                    "-fno-omit-frame-pointer", "-I", folder, SOURCE, "-o", program, "-pthread",
                    "-ldl"], check=True)
    return program


def lines():
    """The line of each function: WORK(a), WORK(b)."""
    with open(SOURCE, encoding="utf-8") as file:
        found = [(re.match(r"WORK\((.)\)", text), number) for number, text in enumerate(file, 1)]
    return {number: match[1] for match, number in found if match}


def sums_of(path):
    """(function, speed-up) -> [duration, visits] of a profile.coz."""
    sums, functions, cell = collections.defaultdict(lambda: [0, 0]), lines(), None
    with open(path, encoding="utf-8") as file:
        for text in file:
            kind, *words = text.rstrip("\n").split("\t")
            fields = dict(word.split("=", 1) for word in words)
            if kind == "experiment":
                function = functions.get(int(fields["selected"].rsplit(":", 1)[1]))
                cell = sums[function, float(fields["speedup"])]
                cell[0] += float(fields["duration"])
            elif kind in ("throughput-point", "progress-point") and cell is not None:
                cell[1] += int(fields["delta"])
    return sums


def gain(sums, function, low, high):
    base = sums.get((function, 0.0), [0, 0])
    some = [n for (where, level), n in sums.items() if where == function and low <= level <= high]
    time, visits = sum(n[0] for n in some), sum(n[1] for n in some)
    return 100 * (1 - (time / visits) / (base[0] / base[1])) if visits and base[1] else None


def show(shape, program, folder, options):
    first = [] if options.normal or os.geteuid() else ["chrt", "-f", "10"]
    profile = os.path.join(folder, shape + ".coz")
    done = subprocess.run(first + ["coz", "run", "-o", profile, "---", program, shape,
                                   str(options.seconds)], capture_output=True, text=True,
                          check=False)
    if not os.path.exists(profile):
        print(f"{shape:8} no profile: {done.stderr.strip()[-200:]}")
        return None
    sums, errors, text = sums_of(profile), [], ""
    for index, function in enumerate("ab"):
        text += f"    {function.upper()} "
        for level, (low, high) in LEVELS.items():
            said, truth = gain(sums, function, low, high), 100 * FORMULA[shape](level / 1000)[index]
            text += " empty  " if said is None else f"{said:6.1f} ({truth:5.1f})  "
            if said is not None:
                errors.append(abs(said - truth))
        text += "\n"
    mean = statistics.mean(errors) if errors else None
    print(f"{shape:8} mean error {mean if mean is None else round(mean, 1)}  "
          f"empty {8 - len(errors)}  {load()}\n{text}", end="", flush=True)
    return mean


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("shapes", nargs="*", default=["split", "pipe", "barrier", "ping", "fping"])
    parser.add_argument("-s", "--seconds", type=float, default=15)
    parser.add_argument("--normal", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program = build(folder)
        means = [show(shape, program, folder, options) for shape in options.shapes]
    means = [mean for mean in means if mean is not None]
    if means:
        print(f"mean over {len(means)} shapes: {statistics.mean(means):.1f}")


main()
