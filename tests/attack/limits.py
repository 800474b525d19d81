"""What a small hostile file may cost: memory at most 64 MiB and 20 times its bytes, time at most
2 s and 1 s for each MB.  The files are made by hostile.py; what is read before a limit is kept,
and the limit is told in one sentence."""
import json
import os
import re

import hostile
from cost import check, cost_of
from tap import case, main

# Those that fit, or are damaged besides.
FIT = ("entries with attributes of zero width", "perf mappings that hide each other",
       "perf programs that start programs", "folded stacks with short names",
       "a path that goes up a million times")
NOTHING_LEFT = ("pprof that unpacks to strings", "digits without an end")
STOPPED = set(hostile.CASES) - set(FIT) - set(NOTHING_LEFT)


def add(name, make):
    """One case for a generator."""
    @case(f"limits: {name} cost what their size allows")
    def _():
        paths = make()
        cost = cost_of("import", paths[0], "-o", "x.assay")
        check(paths, cost)
        print(f"# {name}: {sum(map(os.path.getsize, paths))} bytes, {cost.seconds:.2f} s, "
              f"{cost.memory >> 20} MiB", flush=True)
        assert cost.status == (2 if name in NOTHING_LEFT else 0), cost
        told = re.search(r": stopped after \d+ (million steps|MiB of memory), too much for \d+ "
                         "KiB; what was read before is kept", cost.out + cost.err)
        assert bool(told) == (name in STOPPED), cost


for NAME, MAKE in hostile.CASES.items():
    add(NAME, MAKE)


@case("limits: what was read before a limit is there, and the limit can be raised")
def _():
    path, = hostile.pprof_lines(lines=60, samples=100000)
    small = cost_of("import", "--json", path)
    large = cost_of("import", "--json", path, env={"ASSAY_LIMITS": "100"})
    assert "stopped after" in small.out and "stopped after" not in large.out, (small, large)
    kept = json.loads(small.out)["data"]["samples"]
    assert 0 < kept < 100000 == json.loads(large.out)["data"]["samples"], (kept, large)


@case("limits: an export that is a thousand times its run is refused, unless it is allowed")
def _():
    path = hostile.deep_profile(depth=1500, name=600)
    assert cost_of("import", path, "-o", "deep.assay").status == 0
    before = os.listdir(".")
    r = cost_of("export", "deep.assay", "--format", "folded", "-o", "deep.txt", "--max-size",
                "100M")
    assert r.status == 7 and "the folded export is larger than 100" in r.err, r
    assert "--max-size" in r.err and os.listdir(".") == before, (r, os.listdir("."))
    r = cost_of("export", "deep.assay", "--format", "folded", "-o", "deep.txt", "--max-size",
                "2G")
    assert r.status == 0 and os.path.getsize("deep.txt") > 500e6, r
    assert os.path.getsize("deep.assay") < 3e6


@case("limits: a size has a number and a unit")
def _():
    for size in ("", "x", "0", "12Q", "1GG", "99999999999T", "-1"):
        r = cost_of("export", "none.assay", "--format", "folded", "--max-size", size)
        assert r.status == 2, (size, r)


if __name__ == "__main__":
    main()
