#!/usr/bin/env python3
"""beside_coz.py [BUILD] [SHAPE...] - assay causal beside coz, on programs whose gain is known.

The shapes of tests/workloads/causal, a program whose work a library does and a Rust program with
std's channels, built once with coz's progress points and run as they are by both tools, in turns,
for the same wall time.  Both find the lines themselves.  Errors are in percentage points against
the formula, over two lines and four levels (coz's levels are pooled: 20-30, 45-55, 70-80, 90-100
%); a level that a tool has nothing for is counted as empty.  `5 points after`: how long until the
mean error of the line with the largest gain stays within 5 points.

    -s SECONDS  20      -r ROUNDS  5      --period US  (assay's default)      --json FILE
    --beside LOADS      one table beside each of these: 0,1,2,4,build, as accuracy.py has them"""
import argparse
import collections
import json
import os
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
# pylint: disable-next=wrong-import-position
from truth import FORMULA, PROGRAMS, SHAPES, line_of  # noqa: E402
sys.path.append(os.path.join(os.path.dirname(HERE), "calibration"))  # it has another truth.py
# pylint: disable-next=wrong-import-position
from loads import beside_named  # noqa: E402

LEVELS = (.25, .5, .75, 1.)
UNUSABLE = 1 | 64  # WIRE_EXPERIMENT_CUT, _ROBBED
POOLS = ((.2, .3), (.45, .55), (.7, .8), (.9, 1.))


class Program:
    """A built program of one source file: its first words, and where A and B do their work."""

    def __init__(self, source, words, marks):
        path = os.path.join(PROGRAMS, source)
        self.source, self.words = source, words
        self.lines = [line_of(mark, path) for mark in marks]


def build_shapes(folder):
    path = os.path.join(folder, "shapes")
    subprocess.run(["gcc", "-O1", "-g", "-gdwarf-4", "-gno-variable-location-views",
                    "-fno-omit-frame-pointer", "-DWITH_COZ", SHAPES, "-o", path, "-lpthread",
                    "-ldl"], check=True)
    return lambda shape: Program("shapes.c", [path, shape], ("WORK(a)", "WORK(b)"))


def build_rust(folder):
    """None where no rustc is installed."""
    rustc = shutil.which("rustc") or shutil.which(os.path.expanduser("~/.cargo/bin/rustc"))
    if not rustc:
        return None
    path = os.path.join(folder, "handoff")
    subprocess.run([rustc, "-g", "-O", "-C", "force-frame-pointers=yes", "-C", "dwarf-version=4",
                    os.path.join(PROGRAMS, "handoff.rs"), "-o", path], check=True)
    return Program("handoff.rs", [path], ("// work a", "// work b"))


def build_library(folder):
    """Work in a library without debug information and frame pointers, as Debian's are."""
    library, path = (os.path.join(folder, name) for name in ("libborrowed.so", "library"))
    subprocess.run(["gcc", "-O2", "-g0", "-fomit-frame-pointer", "-shared", "-fPIC",
                    os.path.join(PROGRAMS, "borrowed.c"), "-o", library], check=True)
    subprocess.run(["gcc", "-O1", "-g", "-gdwarf-4", "-gno-variable-location-views",
                    "-fno-omit-frame-pointer", "-DWITH_COZ", os.path.join(PROGRAMS, "library.c"),
                    "-o", path, library, "-Wl,-rpath," + folder, "-ldl"], check=True)
    return Program("library.c", [path], ("/* work a */", "/* work b */"))


def gain(cells, line, low, high):
    """Ratio of sums, as coz's viewer does it."""
    base, sped = [0, 0], [0, 0]
    for (name, level), (ns, visits) in cells.items():
        if name == line and level == 0:
            base = [base[0] + ns, base[1] + visits]
        elif name == line and low - .001 <= level <= high + .001:
            sped = [sped[0] + ns, sped[1] + visits]
    if not base[1] or not sped[1] or base[0] <= 0:
        return None
    return 100 * (1 - (sped[0] / sped[1]) / (base[0] / base[1]))


def settle(steps, line, truth):
    """Seconds until the mean error of this line stays within 5 points; None: never."""
    cells, since = collections.defaultdict(lambda: [0, 0]), None
    for seconds, name, level, ns, visits in steps:
        cells[name, level] = [cells[name, level][0] + ns, cells[name, level][1] + visits]
        said = [gain(cells, line, *pool) for pool in POOLS]
        errors = [abs(s - t) for s, t in zip(said, truth) if s is not None]
        near = len(errors) >= 2 and statistics.mean(errors) <= 5
        since = (since if since is not None else seconds) if near else None
    return since


def coz_run(program, seconds, folder):
    profile = os.path.join(folder, "profile.coz")
    if os.path.exists(profile):
        os.unlink(profile)
    subprocess.run(["coz", "run", "-o", profile, "--source-scope", "%" + program.source, "---",
                    *program.words, str(seconds)], stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, timeout=seconds * 3 + 30, check=False)
    steps, at, seen = [], 0., None
    if os.path.exists(profile):
        with open(profile, encoding="utf-8") as file:
            for row in file:
                fields = dict(word.split("=", 1) for word in row.rstrip("\n").split("\t")[1:])
                if row.startswith("experiment"):
                    seen = fields
                elif row.startswith("throughput-point") and seen:
                    at += int(seen["duration"]) / 1e9 + .01
                    steps.append((at, int(seen["selected"].rsplit(":", 1)[1]),
                                  float(seen["speedup"]), int(seen["duration"]),
                                  int(fields["delta"])))
                    seen = None
    return steps, None


def assay_run(tool, program, options, folder):
    kept = os.path.join(folder, "causal.assay")
    argv = [tool, "causal", "--json", "--budget", f"{options.seconds}s", "-o", kept]
    argv += ["--period", str(options.period)] if options.period else []
    done = subprocess.run(argv + ["--", *program.words, str(10 * options.seconds)],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    document = json.loads(done.stdout)
    steps = []
    file = sqlite3.connect(kept)
    rows = file.execute(
        "SELECT e.start_ns + e.wall_ns, t.line, e.speedup_permille / 1000.0, e.virtual_ns, "
        "v.departures FROM experiment e JOIN causal_target t ON t.id = e.target "
        f"JOIN visit v ON v.experiment = e.id WHERE e.flags & {UNUSABLE} = 0 ORDER BY e.id"
    ).fetchall()
    begin, = file.execute("SELECT min(start_ns) FROM execution").fetchone()
    for end, line, level, ns, visits in rows:
        steps.append(((end - begin) / 1e9, line, level, ns, visits))
    points = {(target["line"], round(point["speedup"], 2)): point
              for target in document["data"]["targets"] for point in target["points"]
              if point["gain"] is not None}
    return steps, points


def score(steps, points, lines, formula):
    """Errors of the cells that are there, how many are empty, how many bounds hold the truth."""
    cells, errors, empty, inside, bounds = collections.defaultdict(lambda: [0, 0]), [], 0, 0, 0
    for _, name, level, ns, visits in steps:
        cells[name, level] = [cells[name, level][0] + ns, cells[name, level][1] + visits]
    for index, line in enumerate(lines):
        for level, pool in zip(LEVELS, POOLS):
            truth = 100 * formula(level)[index]
            if points is None:
                said = gain(cells, line, *pool)
                # The pooled levels have another mean where coz tried few of them: its own truth.
                tried = [lv for (name, lv), n in cells.items()
                         if name == line and pool[0] - .001 <= lv <= pool[1] + .001 for _ in n[:1]]
                if tried:
                    truth = 100 * statistics.mean(formula(lv)[index] for lv in tried)
            else:
                point = points.get((line, level))
                said = 100 * point["gain"] if point else gain(cells, line, *pool)
                if point:
                    bounds += 1
                    inside += 100 * point["lo"] <= truth <= 100 * point["hi"]
            if said is None:
                empty += 1
            else:
                errors.append(abs(said - truth))
    top = max((0, 1), key=lambda i: formula(1.)[i])
    after = settle(steps, lines[top], [100 * formula(level)[top] for level in LEVELS])
    return {"mae": statistics.mean(errors) if errors else None, "empty": empty, "after": after,
            "inside": inside, "bounds": bounds, "largest": max(errors, default=None)}


def text(values, form="{:.1f}"):
    known = [v for v in values if v is not None]
    if not known:
        return "-"
    middle = form.format(statistics.median(known))
    return f"{middle} ({form.format(min(known))}..{form.format(max(known))})"


def table(tool, programs, options, folder):
    """Prints a row for each shape; shape -> tool -> what its rounds are worth."""
    results = {}
    print("| shape | assay: mean error | coz: mean error | assay: 5 points after, s | coz's | "
          "bounds that hold | empty cells, assay / coz |\n|---|---|---|---|---|---|---|")
    for shape, program in programs.items():
        if not program:
            print(f"| {shape} | not run: rustc is not installed | | | | | |", flush=True)
            continue
        rows = {"assay": [], "coz": []}
        for _ in range(options.rounds):
            rows["assay"].append(score(*assay_run(tool, program, options, folder),
                                       program.lines, FORMULA[shape]))
            rows["coz"].append(score(*coz_run(program, options.seconds, folder),
                                     program.lines, FORMULA[shape]))
        held = sum(row["inside"] for row in rows["assay"])
        bounds = sum(row["bounds"] for row in rows["assay"])
        print(f"| {shape} | {text(r['mae'] for r in rows['assay'])} | "
              f"{text(r['mae'] for r in rows['coz'])} | "
              f"{text((r['after'] for r in rows['assay']), '{:.1f}')} | "
              f"{text((r['after'] for r in rows['coz']), '{:.1f}')} | {held} of {bounds} | "
              f"{sum(r['empty'] for r in rows['assay'])} / "
              f"{sum(r['empty'] for r in rows['coz'])} |", flush=True)
        results[shape] = rows
    return results


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("build", nargs="?", default="build")
    parser.add_argument("shapes", nargs="*")
    parser.add_argument("-s", "--seconds", type=int, default=20)
    parser.add_argument("-r", "--rounds", type=int, default=5)
    parser.add_argument("--period", type=int, default=0)
    parser.add_argument("--json", default="")
    parser.add_argument("--beside", default="")
    options = parser.parse_intermixed_args()
    tool, results = os.path.join(os.path.abspath(options.build), "assay"), {}
    with tempfile.TemporaryDirectory() as folder:
        shapes = build_shapes(folder)
        others = {"rust": build_rust(folder), "library": build_library(folder)}
        programs = {shape: others[shape] if shape in others else shapes(shape)
                    for shape in options.shapes or FORMULA}
        for name in options.beside.split(","):
            if name:
                print(f"\nbeside {name}:\n")
            with beside_named(name) as check:
                results[name] = table(tool, programs, options, folder)
                check()
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(results, file)


main()
