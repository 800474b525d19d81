"""truth.py - what the shapes of tests/workloads/causal really gain, and what the engine says."""
import collections
import os
import subprocess

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests",
                        "workloads", "causal")
SHAPES = os.path.join(PROGRAMS, "shapes.c")

# shape -> gain at speed-up s of A and of B, from the way its threads wait (facts of the shape)
FORMULA = {
    "split": lambda s: (.7 * s, .3 * s),
    "barrier": lambda s: (min(s, 1 / 3), 0),
    "pipe": lambda s: (0, min(s, .5)),
    "fpipe": lambda s: (0, min(s, .5)),
    "iopipe": lambda s: (0, min(s, .5)),
    "convoy": lambda s: (1 - max(3 * (1 - s), (3 * (1 - s) + 1) / 2) / 3, 0),
    "ping": lambda s: (s / 3, 2 * s / 3),
    "fping": lambda s: (s / 3, 2 * s / 3),
    "shared": lambda s: (s / 2, s / 2),
    "rust": lambda s: (s / 3, 2 * s / 3),
    "library": lambda s: (.7 * s, .3 * s),
}


def segments(path):
    """(virtual address, file offset, size) of what is loaded from an ELF file."""
    out = subprocess.run(["readelf", "-lW", path], capture_output=True, text=True,
                         check=True).stdout
    rows = [line.split() for line in out.splitlines() if line.strip().startswith("LOAD")]
    return [(int(row[2], 16), int(row[1], 16), int(row[4], 16)) for row in rows]


def place_of(path, function):
    """NAME:FILE:OFFSET:LEN of a function, as the engine wants it."""
    out = subprocess.run(["nm", "-S", path], capture_output=True, text=True, check=True).stdout
    for line in out.splitlines():
        words = line.split()
        if len(words) == 4 and words[3] == function:
            addr, size = int(words[0], 16), int(words[1], 16)
            for start, offset, length in segments(path):
                if start <= addr < start + length:
                    return f"{function}:{path}:{addr - start + offset:#x}:{size:#x}"
    raise AssertionError(f"{path} has no function {function}")


def disturbed(pair, limit=.1):
    """Whether other programs kept a thread of the target from a CPU in one half of a pair."""
    return any(pair[half]["queued"] > limit * pair[half]["wall"] for half in ("base", "faster"))


def calm_pairs(pairs, limit, least):
    """The undisturbed pairs; all of them where a target at a level has fewer than `least`."""
    calm = [pair for pair in pairs if not disturbed(pair, limit)]
    count = collections.Counter((pair["target"], pair["speedup"]) for pair in calm)
    enough = all(count[pair["target"], pair["speedup"]] >= least for pair in pairs)
    return calm if enough else pairs


def gains(pairs, point):
    """(target, speed-up) -> gain in percent: ratio of sums over the pairs."""
    sums = collections.defaultdict(lambda: [0, 0, 0, 0])
    for pair in pairs:
        cell = sums[pair["target"], pair["speedup"]]
        for index, half in ((0, "base"), (2, "faster")):
            cell[index] += pair[half]["virtual"]
            cell[index + 1] += pair[half]["points"].get(point, [0])[0]
    return {cell: 100 * (1 - (n[2] / n[3]) / (n[0] / n[1]))
            for cell, n in sums.items() if n[0] and n[1] and n[3]}


def line_of(text, path=SHAPES):
    """The first line of a source that holds the text."""
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if text in line:
                return number
    raise AssertionError(f"{path} has no line {text}")
