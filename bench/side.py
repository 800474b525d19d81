"""side.py - what every benchmark here shares: paired rounds in a turning order, medians and spread.

A machine drifts, so one round runs each way once and differences are taken within a round.

    side.py BUILD FILE HEAD <TABLES    writes the tables to FILE, below HEAD and the fingerprint"""
import os
import statistics
import subprocess
import sys
import time


def wall_ns(argv, env=None):
    """Wall time of one invocation, its output thrown away; a failure ends the benchmark."""
    begin = time.monotonic_ns()
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, check=False, env=env)
    taken = time.monotonic_ns() - begin
    if done.returncode:
        sys.exit(f"{' '.join(argv)}: exit status {done.returncode}\n{done.stderr}")
    return taken


def once(argv):
    """Wall time in s and resource usage of one invocation, its output thrown away."""
    begin = time.monotonic()
    child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{' '.join(argv)}: exit status {child.returncode}")
    return time.monotonic() - begin, usage


def rounds_of(ways, rounds, run=wall_ns):
    """way -> list of what `run` says of it, one per round; `ways` maps a name to its argv."""
    times = {way: [] for way in ways}
    names = list(ways)
    for number in range(rounds):
        turn = number % len(names)
        for way in names[turn:] + names[:turn]:
            times[way].append(run(ways[way]))
    return times


def quantile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def spread(values, unit=1e3):
    """median [p10 .. p90] as text."""
    return (f"{statistics.median(values) / unit:9.1f} [{quantile(values, .1) / unit:.1f} .. "
            f"{quantile(values, .9) / unit:.1f}]")


def load():
    return f"load {os.getloadavg()[0]:.1f}"


def write_results(build, path, head, tables):
    """A file of results, with the machine's fingerprint."""
    machine = subprocess.run([os.path.join(build, "assay"), "env", "--agent"], text=True,
                             stdout=subprocess.PIPE, check=True).stdout
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"# Results\n\n{head}\n\n```text\n{machine}```\n\n```text\n{tables}```\n")


if __name__ == "__main__":
    write_results(*sys.argv[1:4], sys.stdin.read())
