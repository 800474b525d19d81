"""What counting costs: a program alone, under `assay stat`, and under `perf stat`.

    stat.py BUILD [ROUNDS]

Interleaved (one round runs each of them once, in an order that turns), because a machine drifts;
the cost is the median of the paired differences to the bare run of the same round."""
import os
import shutil
import statistics
import subprocess
import sys
import time


def once_ns(argv):
    """Wall time of one run; its own output is thrown away."""
    begin = time.monotonic_ns()
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(argv)}: exit status {done.returncode}\n{done.stderr}")
    return time.monotonic_ns() - begin


def measure(program, ways, rounds):
    """way -> wall times in ns, one per round."""
    times = {way: [] for way in ways}
    names = list(ways)
    for number in range(rounds):
        turn = number % len(names)
        for way in names[turn:] + names[:turn]:
            times[way].append(once_ns([*ways[way], *program]))
    return times


def main():
    build = os.path.abspath(sys.argv[1])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 40
    ways = {"alone": [], "assay stat": [os.path.join(build, "assay"), "stat", "--quiet", "--"]}
    if shutil.which("perf"):
        ways["perf stat"] = ["perf", "stat", "--"]
    else:
        print("perf stat: not measured (perf is not installed)")
    programs = {"true": ["true"], "wordcount": [os.path.join(build, "examples", "wordcount")]}
    print(f"cost of counting, {rounds} interleaved rounds, load {os.getloadavg()[0]:.1f}")
    print(f"{'program':<12}{'way':<12}{'median ms':>10}{'added ms':>10}")
    for name, program in programs.items():
        times = measure(program, ways, rounds)
        for way, values in times.items():
            added = statistics.median(a - b for a, b in zip(values, times["alone"]))
            print(f"{name:<12}{way:<12}{statistics.median(values) / 1e6:>10.2f}"
                  + (f"{added / 1e6:>+10.2f}" if way != "alone" else ""))


main()
