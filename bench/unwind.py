"""Our unwinder and perf's on the same samples: who reaches the root, what a sample costs, and
whether the two agree frame by frame.

    unwind.py BUILD [HZ]

Each program is recorded by `perf record -e cpu-clock --call-graph dwarf,32768`; `perf script` and
bench/unwind_perf then unwind the same bytes.  perf's cost is the user time of `perf script`, less
that of the same command on as many samples without stacks.  "once" is what compiling the
rules took in all: the most that a cache of them on disk could save."""
import collections
import os
import resource
import shutil
import subprocess
import sys
import tempfile

import side

KERNEL = 1 << 63
REGEX = r"""#include <regex>
#include <string>
#include <cstdio>
int main() { std::string s; for (int i = 0; i < 3000; i++) s += "key" + std::to_string(i) + "=v;";
 std::regex r("([a-z]+)([0-9]+)=(v);"); int n = 0; for (int k = 0; k < 900; k++)
 for (std::sregex_iterator i(s.begin(), s.end(), r), e; i != e; ++i) n += (*i)[2].length();
 std::printf("%d\n", n); }
"""
PYTHON = """
import json, re
def f(n): return n if n < 2 else f(n - 1) + f(n - 2)
f(27)
for k in range(60): json.loads(json.dumps([{"a": i, "b": [str(i)] * 3} for i in range(3000)]))
re.findall("(x+x+)+y", "x" * 18 + "z")
"""
SQL = ("WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c WHERE x<300000) "
       "SELECT count(*), sum(length(hex(x*x))) FROM (SELECT x FROM c ORDER BY x%1000, x DESC);")


def programs(folder):
    """name -> argv, of those that are installed."""
    source, binary = os.path.join(folder, "regex.cc"), os.path.join(folder, "regex")
    with open(source, "w", encoding="utf-8") as file:
        file.write(REGEX)
    big = os.path.join(folder, "big")
    with open(big, "wb") as file:
        file.write(b"".join(str(i * i).encode() for i in range(900000)))
    wanted = {"python3": ["/usr/bin/python3", "-c", PYTHON], "gzip": ["gzip", "-kf9", big],
              "sqlite3": ["sqlite3", ":memory:", SQL],
              "clang": ["clang-14", "-x", "c++", "-O1", "-c", source, "-o", "/dev/null"]}
    if shutil.which("g++"):
        subprocess.run(["g++", "-O2", source, "-o", binary], check=True)
        wanted["regex (C++)"] = [binary]
    for name in [n for n, argv in wanted.items() if not shutil.which(argv[0])]:
        print(f"{name}: not measured (not installed)")
        del wanted[name]
    return wanted


def record(argv, hertz, data, graph):
    """perf 6.1 aborts now and then on a loaded machine: it is asked three times."""
    command = ["perf", "record", "-q", "-e", "cpu-clock", "-F", hertz, *graph, "-o", data, "--"]
    for _ in range(3):
        if subprocess.run(command + argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          check=False).returncode == 0:
            return
    sys.exit(f"unwind: not measured (perf record of {argv[0]} failed three times)")


def user_seconds(argv):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def output_of(*argv):
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout


def stacks_of_perf(data):
    """(tid, time) -> user addresses as perf unwinds them."""
    text = output_of("perf", "script", "-i", data, "--ns", "--no-inline", "-F", "tid,time,ip")
    stacks, frames = {}, None
    for line in text.splitlines():
        words = line.split()
        if len(words) >= 2 and words[1].endswith(":"):
            frames = stacks[int(words[0]), int(words[1][:-1].replace(".", ""))] = []
        elif words and int(words[0], 16) < KERNEL:
            frames.append(int(words[0], 16))
    return stacks


def stacks_of_ours(tool, data):
    text = output_of(tool, "--frames", data)
    stacks, frames = {}, None
    for line in text.splitlines():
        if line[0] == " ":
            frames.append(int(line, 16))
        else:
            tid, time, end = line.split()
            frames = []
            stacks[int(tid), int(time)] = end, frames
    return stacks


def agreement(perf, ours):
    """How our stacks stand to perf's."""
    kinds = collections.Counter()
    for key, (_, mine) in ours.items():
        theirs = perf.get(key)
        if theirs is None:
            kinds["not in perf's"] += 1
        elif mine == theirs:
            kinds["same"] += 1
        elif mine[:len(theirs)] == theirs:
            kinds["longer"] += 1
        elif theirs[:len(mine)] == mine:
            kinds["shorter"] += 1
        else:
            kinds["other"] += 1
    return kinds


def measure(name, argv, tools, hertz, folder):
    data, plain = os.path.join(folder, "dwarf.data"), os.path.join(folder, "plain.data")
    record(argv, hertz, data, ["--call-graph", "dwarf,32768"])
    record(argv, hertz, plain, [])
    facts = dict(word.split("=") for word in output_of(tools, data).split())
    n = {key: int(value) for key, value in facts.items()}
    script = ["perf", "script", "--no-inline", "-F", "ip", "-i"]
    cost = min(user_seconds(script + [data]) for _ in range(3)) - \
        min(user_seconds(script + [plain]) for _ in range(3))
    kinds = agreement(stacks_of_perf(data), stacks_of_ours(tools, data))
    samples = n["samples"]
    print(f"{name:<12}{samples:>8}{n['frames'] / samples:>8.1f}{n['root'] / samples:>9.2%}"
          f"{n['truncated'] / samples:>9.2%}{n['broken'] / samples:>8.2%}"
          f"{n['warm_ns'] / samples / 1e3:>8.2f}{n['cold_ns'] / samples / 1e3:>8.2f}"
          f"{cost / samples * 1e6:>8.1f}{n['compile_ns'] / 1e6:>8.2f}"
          f"{n['eh_frame'] / 1024:>9.0f}{n['tables'] / 1024:>8.0f}   "
          + ", ".join(f"{kind} {count / samples:.2%}" for kind, count in kinds.most_common()),
          flush=True)


def main():
    build = os.path.abspath(sys.argv[1])
    hertz = sys.argv[2] if len(sys.argv) > 2 else "4999"
    if not shutil.which("perf"):
        sys.exit("unwind: not measured (perf is not installed)")
    print(f"unwind: the same samples, ours and perf's, {hertz} Hz, dwarf,32768, {side.load()}")
    print(f"{'':<12}{'samples':>8}{'frames':>8}{'at root':>9}{'cut':>9}{'broken':>8}{'warm us':>8}"
          f"{'cold us':>8}{'perf us':>8}{'once ms':>8}{'.eh KiB':>9}{'our KiB':>8}   against perf")
    with tempfile.TemporaryDirectory() as folder:
        for name, argv in programs(folder).items():
            measure(name, argv, os.path.join(build, "bench/unwind_perf"), hertz, folder)


main()
