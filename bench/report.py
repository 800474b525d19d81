"""`assay report` beside `perf report --stdio`, each on its own recording of the same program.

    report.py BUILD [ROUNDS]

With inlined functions resolved on the C++ program; perf without them on clang, where it would
take minutes."""
import os
import shutil
import statistics
import sys
import tempfile

import side

RATE = "4999"
SOURCE = ('#include <regex>\n#include <string>\n'
          'bool f(const std::string &s) { return std::regex_match(s, std::regex("a+b*")); }\n')


def once(argv):
    """Wall time in ns and peak RSS in KiB of one call."""
    wall_s, usage = side.once(argv)
    return wall_s * 1e9, usage.ru_maxrss


def main():
    build = os.path.abspath(sys.argv[1])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    assay = os.path.join(build, "assay")
    if not shutil.which("perf"):
        print("report: not measured (perf is not installed)")
        return
    print(f"report: {rounds} interleaved rounds, {side.load()}")
    print(f"{'program':<18}{'assay ms':>26}{'perf ms':>30}{'wall':>8}{'RSS MiB':>16}{'of perf':>9}")
    with tempfile.TemporaryDirectory(prefix="assay-bench.") as folder:
        source = os.path.join(folder, "re.cc")
        with open(source, "w", encoding="ascii") as f:
            f.write(SOURCE)
        compiler = shutil.which("clang++-14") or shutil.which("clang++")
        programs = {"words (C++)": [os.path.join(build, "bench/words"), "150"],
                    "clang (stripped)": [compiler, "-O1", "-c", source, "-o",
                                         os.path.join(folder, "re.o")]}
        for name, program in programs.items():
            run, data = os.path.join(folder, "run.assay"), os.path.join(folder, "perf.data")
            once([assay, "record", "-q", "-F", RATE, "-e", "cpu-clock", "-o", run, "--", *program])
            once(["perf", "record", "-q", "-e", "cpu-clock", "-F", RATE, "--call-graph",
                  "dwarf,32768", "-o", data, *program])
            ours, theirs = [], []
            more = ["--no-inline"] if "clang" in name else []  # perf takes minutes otherwise
            for _ in range(rounds):
                ours.append(once([assay, "report", run]))
                theirs.append(once(["perf", "report", "--stdio", *more, "-i", data]))
            wall = statistics.median(a[0] / p[0] for a, p in zip(ours, theirs))
            peak = (statistics.median(x[1] for x in ours) / 1024,
                    statistics.median(x[1] for x in theirs) / 1024)
            print(f"{name:<18}{side.spread([x[0] for x in ours], 1e6):>26}"
                  f"{side.spread([x[0] for x in theirs], 1e6):>30}{wall:>8.3f}"
                  f"{peak[0]:>8.1f}/{peak[1]:.0f}{peak[0] / peak[1]:>9.2f}")
            os.unlink(run)


main()
