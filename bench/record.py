"""`assay record` and `perf record --call-graph dwarf,32768` side by side at 4999 Hz.

    record.py BUILD [ROUNDS]

On SQLite in memory (C, a library without debug information), C++ with templates and inlines, and
clang compiling a file (75 modules, stripped): bytes stored, samples lost, peak memory of the
recorder, slow-down of the target, time from the target's end to the tool's, complete stacks."""
import collections
import os
import re
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

import side

RATE = "4999"
SOURCE = ('#include <regex>\n#include <string>\n'
          'bool f(const std::string &s) { return std::regex_match(s, std::regex("a+b*")); }\n')


class Watched:
    """A tool that ran, with its peak RSS (VmHWM, so that the target's is not in it)."""

    def __init__(self, argv):
        self.peak_kib = 0
        child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.PIPE, text=True)
        while child.poll() is None:
            self.peak_kib = max(self.peak_kib, high_water_kib(child.pid))
            time.sleep(0.01)
        self.err = child.stderr.read()
        if child.returncode:
            sys.exit(f"{' '.join(argv)}: exit status {child.returncode}\n{self.err}")


def high_water_kib(pid):
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as f:
            return int(re.search(r"VmHWM:\s+(\d+)", f.read())[1])
    except (OSError, TypeError):
        return 0


def timed(build, folder, program):
    """The program in a wrapper that writes its CPU time, wall time and end to a file."""
    return [os.path.join(build, "bench/timed"), os.path.join(folder, "timed"), *program]


def target_times(folder):
    with open(os.path.join(folder, "timed"), encoding="ascii") as f:
        cpu_ns, wall_ns, end_ns = (int(word) for word in f.read().split())
    return cpu_ns, wall_ns, end_ns


def rooted_share(roots):
    """Share of samples that end in the outermost frame that most of them share."""
    return roots.most_common(1)[0][1] / sum(roots.values()) if roots else 0.0


def perf_round(build, folder, program):
    data = os.path.join(folder, "perf.data")
    tool = Watched(["perf", "record", "-q", "-e", "cpu-clock", "-F", RATE, "--call-graph",
                    "dwarf,32768", "-o", data, *timed(build, folder, program)])
    done = time.monotonic_ns()
    cpu_ns, _, end_ns = target_times(folder)
    stats = subprocess.run(["perf", "report", "--stats", "-i", data], capture_output=True,
                           text=True, check=True).stdout
    samples = int(re.search(r"SAMPLE events:\s+(\d+)", stats)[1])
    text = subprocess.run(["perf", "script", "-G", "-F", "comm", "--show-lost-events", "-i", data],
                          capture_output=True, text=True, errors="replace", check=False).stdout
    lost = sum(int(n) for n in re.findall(r"PERF_RECORD_LOST\S* lost (\d+)", text))
    return {"bytes": os.path.getsize(data), "samples": samples, "lost": lost,
            "peak": tool.peak_kib, "cpu": cpu_ns, "late": done - end_ns,
            "rooted": perf_rooted(data)}


def perf_rooted(data):
    text = subprocess.run(["perf", "script", "--no-inline", "-F", "ip,dso", "-i", data],
                          capture_output=True, text=True, errors="replace", check=True).stdout
    roots = collections.Counter()
    for sample in text.split("\n\n"):
        frames = sample.strip().splitlines()
        if frames and "[kernel" not in frames[-1]:
            roots[frames[-1].split()[0]] += 1
    return rooted_share(roots)


def assay_round(build, folder, program):
    run = os.path.join(folder, "run.assay")
    if os.path.exists(run):
        os.unlink(run)
    tool = Watched([os.path.join(build, "assay"), "record", "-q", "-F", RATE, "-e", "cpu-clock",
                    "-o", run, "--", *timed(build, folder, program)])
    done = time.monotonic_ns()
    cpu_ns, _, end_ns = target_times(folder)
    db = sqlite3.connect(run)
    quality = dict(db.execute("select name, value from quality_of_run"))
    roots = collections.Counter(dict(db.execute(
        "with recursive up(stack, at, n) as (select stack, stack, count(*) from sample "
        "where stack is not null group by stack union all select u.stack, s.parent, u.n "
        "from up u join stack s on s.id = u.at where s.parent is not null) "
        "select s.location, sum(u.n) from up u join stack s on s.id = u.at "
        "join location l on l.id = s.location where s.parent is null and not l.flags & 2 "
        "group by s.location")))
    db.close()
    return {"bytes": os.path.getsize(run), "samples": quality["samples"],
            "lost": quality["lost_samples"] + quality["lost_records"], "peak": tool.peak_kib,
            "cpu": cpu_ns, "late": done - end_ns, "rooted": rooted_share(roots)}


def bare_round(build, folder, program):
    subprocess.run(timed(build, folder, program), stdout=subprocess.DEVNULL, check=True)
    return {"cpu": target_times(folder)[0]}


def middle(rounds, key):
    values = [r[key] for r in rounds]
    return statistics.median(values), min(values), max(values)


def show(name, results):
    base = [r["cpu"] for r in results["bare"]]
    print(f"\n{name}: {statistics.median(base) / 1e9:.2f} s of CPU time "
          f"[{min(base) / 1e9:.2f} .. {max(base) / 1e9:.2f}]")
    print(f"{'':<10}{'bytes/sample':>14}{'samples':>9}{'lost':>7}{'peak MiB':>10}"
          f"{'cpu ratio':>22}{'ends after, ms':>16}{'rooted':>9}")
    for way in ("assay", "perf"):
        rounds = results[way]
        if not rounds:
            continue
        per = statistics.median(r["bytes"] / max(1, r["samples"]) for r in rounds)
        ratio = [r["cpu"] / b for r, b in zip(rounds, base)]
        print(f"{way:<10}{per:>14.0f}{middle(rounds, 'samples')[0]:>9.0f}"
              f"{middle(rounds, 'lost')[0]:>7.0f}{middle(rounds, 'peak')[0] / 1024:>10.1f}"
              f"{statistics.median(ratio):>8.3f} [{min(ratio):.2f} .. {max(ratio):.2f}]"
              f"{middle(rounds, 'late')[0] / 1e6:>16.0f}{middle(rounds, 'rooted')[0]:>9.1%}")
    if results["perf"]:
        a, p = results["assay"], results["perf"]
        size = statistics.median(x["bytes"] / x["samples"] for x in a)
        theirs = statistics.median(x["bytes"] / x["samples"] for x in p)
        peak = middle(a, "peak")[0] / middle(p, "peak")[0]
        print(f"of perf: bytes 1/{theirs / size:.0f}, peak memory {peak:.2f}")


def main():
    build = os.path.abspath(sys.argv[1])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    has_perf = shutil.which("perf")
    bench = os.path.join(build, "bench")
    print(f"record: {RATE} Hz, cpu-clock, {rounds} interleaved rounds, {side.load()}")
    if not has_perf:
        print("perf record: not measured (perf is not installed)")
    with tempfile.TemporaryDirectory(prefix="assay-bench.") as folder:
        source = os.path.join(folder, "re.cc")
        with open(source, "w", encoding="ascii") as f:
            f.write(SOURCE)
        programs = {"sql (SQLite)": [os.path.join(bench, "sql"), "600"],
                    "words (C++)": [os.path.join(bench, "words"), "1000"],
                    "words under fork+exec": [os.path.join(bench, "wrap"),
                                              os.path.join(bench, "words"), "400"]}
        compiler = shutil.which("clang++-14") or shutil.which("clang++")
        if compiler:
            programs["clang (stripped)"] = [compiler, "-O1", "-c", source, "-o",
                                            os.path.join(folder, "re.o")]
        for name, program in programs.items():
            results = {"bare": [], "assay": [], "perf": []}
            for number in range(rounds):
                ways = [("bare", bare_round), ("assay", assay_round)]
                ways += [("perf", perf_round)] if has_perf else []
                turn = number % len(ways)
                for way, function in ways[turn:] + ways[:turn]:
                    results[way].append(function(build, folder, program))
            show(name, results)


main()
