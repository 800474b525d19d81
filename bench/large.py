"""A profile with very many stacks: import, report and flame of folded text, beside `go tool pprof
-top` of the same profile.

    large.py BUILD [ROUNDS [OTHER]]    rewrites LARGE.md; OTHER: another assay, in the same rounds
    large.py --write FILE [STACKS]     only the input

The input is made from a seed: a million distinct stacks of 3 to 41 frames (22 on average) of 5,000
functions, which share next to nothing: 21 million places in the call tree.  With OTHER the usual
case is measured too: a recording, a report of it, imports of a few megabytes."""
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile

import side

STACKS, FUNCTIONS, DEPTHS, SEED = 1000000, 5000, range(3, 42), 20240701
HEAD = """\
Written by `bench/large.py`: medians [p10 .. p90] of interleaved rounds. What was asked and how
to read it: [README.md](README.md)."""


def write(path, stacks=STACKS):
    chance = random.Random(SEED)
    names = [f"fn_{i:04d}" for i in range(FUNCTIONS)]
    seen = set()
    with open(path, "w", encoding="ascii") as f:
        while len(seen) < stacks:
            stack = ";".join(chance.choices(names, k=chance.choice(DEPTHS)))
            if stack not in seen:
                seen.add(stack)
                f.write(f"{stack} {chance.randint(1, 99)}\n")


def write_usual(path, stacks=8000):
    """As recorders see a program: a tree whose branches are shared, 20 to 40 frames deep."""
    chance = random.Random(SEED)
    with open(path, "w", encoding="ascii") as f:
        for _ in range(stacks):
            depth, at = chance.randint(20, 40), 1
            frames = ["main"]
            for _ in range(depth):
                at = at * 31 % 4093 + (chance.random() < 0.1) * chance.randint(1, 3)
                frames.append(f"module::type_{at % 61}::function_{at}")
            f.write(f"{';'.join(frames)} {chance.randint(1, 9)}\n")


def once(argv):
    """Wall and CPU time in s, peak RSS in MB."""
    wall_s, usage = side.once(argv)
    return wall_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def recorder_cpu(argv):
    """CPU time in s of the recorder itself, as it tells."""
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(argv)}: exit status {done.returncode}\n{done.stderr}")
    return (0, json.loads(done.stdout)["data"]["overhead"]["recorder_cpu_ns"] / 1e9, 0)


def row(name, seen):
    wall, cpu, rss = ([one[i] for one in seen] for i in range(3))
    return (f"{name:<26}{side.spread(wall, 1):>28}{side.spread(cpu, 1):>26}"
            f"{statistics.median(rss):>10.0f}")


def large(folder, assay, other, rounds):
    text, pprof = os.path.join(folder, "large.folded"), os.path.join(folder, "large.pb.gz")
    runs = {which: os.path.join(folder, f"{which}.assay") for which in ("assay", "other")}
    write(text)
    for which, program in (("assay", assay), ("other", other)):
        if program:
            once([program, "import", text, "-o", runs[which]])
    once([assay, "export", runs["assay"], "-f", "pprof", "-o", pprof])
    ways, peer = {}, shutil.which("go")
    for which, program in (("assay", assay), ("other", other)):
        if program:
            stored = os.path.join(folder, f"again-{which}.assay")
            ways[f"{which} import"] = (once, [program, "import", text, "-o", stored])
            ways[f"{which} report"] = (once, [program, "report", runs[which]])
            ways[f"{which} flame"] = (once, [program, "flame", runs[which], "-o",
                                             os.path.join(folder, "large.svg")])
    seen = side.rounds_of(ways, rounds, lambda way: way[0](way[1]))
    if peer:  # a minute each: once in a while
        seen["go tool pprof -top"] = [once([peer, "tool", "pprof", "-top", pprof])
                                      for _ in range(max(1, rounds // 3))]
    lines = [f"large: {STACKS} distinct stacks (seed {SEED}), {rounds} rounds, {side.load()}",
             f"{'':<26}{'wall s':>28}{'CPU s':>26}{'RSS MB':>10}"]
    lines += [row(name, values) for name, values in seen.items()]
    sizes = {"folded text": text, "run file": runs["assay"], "pprof": pprof}
    if other:
        sizes["other's run file"] = runs["other"]
    return [*lines, ", ".join(f"{name} {os.path.getsize(path) / 1e6:.1f} MB"
                              for name, path in sizes.items())]


def usual(folder, build, assay, other, rounds):
    folded, script = os.path.join(folder, "usual.folded"), os.path.join(folder, "usual.txt")
    spin = os.path.join(build, "tests/workloads/spin")
    write_usual(folded)
    once([assay, "import", folded, "-o", os.path.join(folder, "u.assay")])
    once([assay, "export", os.path.join(folder, "u.assay"), "-f", "perfscript", "-o", script])
    with open(script, "r+b") as f:
        f.truncate(8 << 20)
    ways = {}
    for which, program in (("assay", assay), ("other", other)):
        run, stored = (os.path.join(folder, f"{name}-{which}.assay") for name in ("run", "again"))
        once([program, "record", "-q", "-F", "4999", "-o", run, "--", spin, "1500"])
        ways[f"{which} import folded"] = (once, [program, "import", folded, "-o", stored])
        ways[f"{which} import script"] = (once, [program, "import", script, "-o", stored])
        ways[f"{which} report"] = (once, [program, "report", run])
        ways[f"{which} recorder"] = (recorder_cpu, [program, "record", "--json", "-F", "4999",
                                                    "-o", stored, "--", spin, "400"])
    seen = side.rounds_of(ways, rounds, lambda way: way[0](way[1]))
    lines = ["", f"usual: folded text of {os.path.getsize(folded) / 1e6:.1f} MB, perf script's of "
             f"8.4, a small recording, {rounds} rounds"]
    for name in ways:
        if name.startswith("assay "):
            ours, theirs = seen[name], seen[name.replace("assay", "other", 1)]
            ratio = [a[1] / b[1] for a, b in zip(ours, theirs) if b[1]]
            lines.append(
                f"{name:<26}CPU{side.spread([one[1] for one in ours], 1e-3)} ms, of the other's "
                f"{statistics.median(ratio):.2f} [{side.quantile(ratio, .1):.2f} .. "
                f"{side.quantile(ratio, .9):.2f}]")
    return lines


def main():
    build = os.path.abspath(sys.argv[1])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    other = os.path.abspath(sys.argv[3]) if len(sys.argv) > 3 else None
    assay = os.path.join(build, "assay")
    with tempfile.TemporaryDirectory(prefix="assay-bench.") as folder:
        lines = large(folder, assay, other, rounds)
        if other:
            lines += usual(folder, build, assay, other, 3 * rounds)
    tables = "".join(line + "\n" for line in lines)
    print(tables, end="")
    side.write_results(build, os.path.join(os.path.dirname(__file__), "LARGE.md"), HEAD, tables)


if sys.argv[1] == "--write":
    write(sys.argv[2], *map(int, sys.argv[3:]))
else:
    main()
