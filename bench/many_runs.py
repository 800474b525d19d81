"""What 100,000 runs cost: memory of the tool, its time between runs early and late, the summary.

    many_runs.py BUILD [RUNS]

The time between runs is from the end of one to the start of the next, as stored in the run file."""
import json
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile

import side


def gap_us(runs, begin, end):
    """Median time between neighbours, in us."""
    return statistics.median(b[0] - a[0] - a[1] for a, b in zip(
        runs[begin:end], runs[begin + 1:end])) / 1e3


def run(assay, *words):
    """Peak RSS in MB, and when it ended.  Measured by assay itself: what wait4() tells of a child
    of ours is never less than our own."""
    argv = [assay, "bench", "--json", "-n", "1", "--", assay, "bench", *words]
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          check=False)
    if done.returncode:
        sys.exit(f"{' '.join(argv)}: exit status {done.returncode}\n{done.stderr}")
    one, = json.loads(done.stdout)["data"]["commands"][0]["runs"]
    return one["max_rss_bytes"] / 1e6, one["start_ns"] + one["wall_ns"]


def main():
    build = os.path.abspath(sys.argv[1])
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 100000
    assay, nop = os.path.join(build, "assay"), os.path.join(build, "tests/workloads/nop")
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, "many.assay")
        base_mb, _ = run(assay, "-n", "10", nop)
        plain_mb, _ = run(assay, "-n", str(runs), nop)
        stored_mb, ended = run(assay, "-n", str(runs), "-o", path, nop)
        rows = sqlite3.connect(path).execute(
            "SELECT start_ns, wall_ns FROM execution ORDER BY id").fetchall()
        size = os.path.getsize(path)
    early, late = gap_us(rows, 500, 1500), gap_us(rows, runs - 1000, runs)
    print(f"many runs: {runs} of an empty program, {side.load()}")
    print(f"peak RSS: {plain_mb:.1f} MB, with -o {stored_mb:.1f} MB (10 runs: {base_mb:.1f} MB)")
    print(f"between runs: {early:.1f} us near run 1000, {late:.1f} us near the last, "
          f"ratio {late / early:.2f}")
    print(f"from the last run to the end, summary and file included: "
          f"{(ended - rows[-1][0] - rows[-1][1]) / 1e9:.2f} s")
    print(f"file: {size / runs:.0f} bytes a run")


main()
