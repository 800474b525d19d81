"""`assay cache`: sampled accesses of a recording counted against perf, the levels of a simulated
run, and what is said where there is no PMU."""
import collections
import json
import os
import re

import perf_file
from tap import SOURCE, assay, case, main, need, run, skip

SHARED = os.path.join(os.environ.get("ASSAY_SHARED", os.path.join(SOURCE, "..", "shared")),
                      "perfdata")
# meson sets it: malloc() would write all memory, and that would be the line that misses most.
os.environ.pop("MALLOC_PERTURB_", None)
LEVELS = ["L1D", "L1I", "L2", "LLC", "dTLB", "iTLB"]
PROGRAM = r"""
#include <stdlib.h>
enum { LINES = 1 << 16 };
static struct line { struct line *next; char rest[56]; } *lines;
static volatile unsigned long sum;
__attribute__((noinline)) static void chase(unsigned n)
{
	struct line *at = lines;
	for (unsigned i = 0; i < n; i++)
		at = at->next; /* CHASE */
	sum += (unsigned long)at;
}
__attribute__((noinline)) static void near(unsigned n)
{
	static int small[64];
	for (unsigned i = 0; i < n; i++)
		sum += (unsigned long)small[i % 64]; /* NEAR */
}
int main(void)
{
	lines = aligned_alloc(64, LINES * sizeof(*lines));
	for (unsigned i = 0; i < LINES; i++) /* a walk over all lines, far apart */
		lines[i * 40503u % LINES].next = &lines[(i + 1) * 40503u % LINES];
	chase(200000);
	near(200000);
	return 0;
}
"""


def source(level, tlb):
    """Where a load was answered, in the words of perf_event.h (PERF_MEM_*), without and with the
    number that newer kernels add."""
    bits, number = {"L1": (0x8, 1), "LFB": (0x10, 0xc), "L2": (0x20, 2), "L3": (0x40, 3),
                    "RAM": (0x80, 0xd)}[level]
    old = 2 | (bits | 2) << 5 | 1 << 20 | 1 << 24 | (tlb | 8) << 26
    return old, old | number << 33


def recordings():
    """Sampled loads with a weight: made, and shared where it is there."""
    loads = [(level, weight, 4 if walks else 2) for level, weight, walks in (
        ("L1", 5, 0), ("L1", 7, 0), ("LFB", 60, 0), ("L2", 15, 1), ("L3", 51, 1), ("RAM", 310, 1),
        ("RAM", 290, 0), ("L1", 5, 0))]
    made = [perf_file.write(f"made{new}.data", perf_file.WEIGHT | perf_file.DATA_SRC, [
        perf_file.access(weight, source(level, tlb)[new]) for level, weight, tlb in loads])
        for new in (0, 1)]
    path = os.path.join(SHARED, "q_perf.data.weight_struct")
    return made + [path] * os.path.exists(path)


def cache(*words):
    r = assay("cache", "--json", *words)
    assert r.status == 0, r
    return json.loads(r.out)["data"]


def has_pmu():
    return assay("stat", "-e", "cycles", "--strict", "--", "true").status == 0


def built():
    with open("prog.c", "w", encoding="utf-8") as file:
        file.write(PROGRAM)
    r = run(need("gcc"), "-O1", "-g", "prog.c", "-o", "prog")
    assert r.status == 0, r
    return "./prog"


def line_of(mark):
    return next(i for i, line in enumerate(PROGRAM.splitlines(), 1) if mark in line)


@case("levels, weights and TLB misses of sampled accesses are those of perf script")
def _():
    for path in recordings():
        r = run(need("perf"), "script", "-i", path, "-F", "data_src,weight")
        assert r.status == 0, r
        names = collections.Counter()
        weights, walks = [], 0
        for line in r.out.splitlines():
            level = re.search(r"\|LVL ([^|]*?)(?: or [^|]*)? (?:hit|miss)", line)[1]
            names[{"LFB/MAB": "LFB", "Local RAM": "RAM"}.get(level, level)] += 1
            walks += "miss" in re.search(r"\|TLB ([^|]*)", line)[1]
            weights.append(int(re.search(r"(\d+)\s*$", line)[1]))
        r = assay("import", path, "-o", "run.assay", "--quiet")
        assert r.status == 0, r
        data = cache("run.assay")
        assert data["witness"] == "accesses", data["witness"]
        assert data["all"]["answered_by"] == dict(names), (path, names, data["all"])
        assert data["all"]["samples"] == len(weights) >= 8, data["all"]
        assert abs(data["all"]["latency_cycles"] - sum(weights) / len(weights)) < 1e-9, data["all"]
        assert data["all"]["tlb_misses"] == walks, (path, walks, data["all"])
        assert sum(s["samples"] for s in data["sites"]) == len(weights), data["sites"]
        assert abs(sum(s["share"] for s in data["sites"]) - 1) < 1e-9, data["sites"]


@case("a level that is judged by its rate has the thresholds in percent, as the rate")
def _():
    with open("stat.csv", "w", encoding="ascii") as file:
        file.write("400000,,L1-dcache-loads,1000000,100.00,,\n"
                   "60000,,L1-dcache-load-misses,1000000,100.00,,\n")
    r = assay("import", "stat.csv", "-o", "run.assay", "--quiet")
    assert r.status == 0, r
    text = " ".join(assay("cache", "run.assay").out.split())
    assert "15.00 %" in text and "healthy < 3 %," in text and "< 0.03" not in text, text
    assert "healthy < 0.03," in cache("run.assay")["levels"][0]["threshold"]


@case("a level that was not counted is null with a reason, never 0")
def _():
    r = assay("stat", "-e", "task-clock,L1-dcache-loads,L1-dcache-load-misses", "-o", "c.assay",
              "--", "true")
    assert r.status == 0, r
    data = cache("c.assay")
    assert [level["name"] for level in data["levels"]] == LEVELS, data
    for level in data["levels"]:
        for key in ("accesses", "misses", "miss_rate", "mpki"):
            if level[key] is None:
                assert level[key + "_reason"], level
            else:
                assert level["name"] == "L1D", level
    assert data["sites"] is None and data["sites_reason"], data


PERF_STAT = """\
300000000 inst_retired.any
40000000 l2_rqsts.references
24000000 l2_rqsts.miss
18000000 mem_load_retired.l2_miss
900000 dtlb_load_misses.walk_completed
60000 dtlb_store_misses.walk_completed
600 itlb_misses.walk_completed
3000000000 cpu_clk_unhalted.thread
150000000 offcore_requests_outstanding.data_rd.cmask4
2550000000 offcore_requests_outstanding.cycles_with_data_rd
"""


@case("a run from elsewhere is judged by the table that its events are of, in any case of letters")
def _():
    with open("stat.json", "w", encoding="ascii") as file:
        for line in PERF_STAT.splitlines():
            value, name = line.split()
            file.write(json.dumps({"counter-value": value + ".000000", "unit": "", "event": name,
                                   "event-runtime": 1000000000, "pcnt-running": 100.0}) + "\n")
    r = assay("import", "stat.json", "-o", "s.assay", "--quiet")
    assert r.status == 0, r
    data = cache("s.assay")
    levels = {level["name"]: level for level in data["levels"]}
    l2 = levels["L2"]
    assert (l2["miss_rate"], l2["mpki"], l2["load_mpki"]) == (0.6, 80, 60), l2
    assert l2["assessment"] == "investigate" and "20" in l2["threshold"], l2
    assert abs(levels["dTLB"]["mpki"] - 3.2) < 1e-9, levels["dTLB"]
    assert levels["dTLB"]["accesses"] is None and levels["dTLB"]["accesses_reason"], levels["dTLB"]
    assert levels["L1D"]["load_mpki"] is None and levels["L1D"]["load_mpki_reason"], levels["L1D"]
    assert data["verdict"]["category"] == "memory_latency", data["verdict"]
    assert "80 %" in data["verdict"]["why"], data["verdict"]


@case("the simulator finds the line that misses, with two data levels and said so")
def _():
    need("valgrind")
    data = cache("--engine", "sim", "-o", "sim.assay", "--", built())
    assert data["engine"] == "sim" and data["simulated"], data
    levels = {level["name"]: level for level in data["levels"]}
    for name in ("L2", "dTLB", "iTLB"):
        assert levels[name]["misses"] is None and levels[name]["misses_reason"], levels[name]
    first = data["sites"][0]["place"]
    by_line = {(s["place"]["function"], s["place"]["line"]): s for s in data["sites"]}
    chase = by_line[("chase", line_of("CHASE"))]
    # Each of the 200,000 steps of the walk over 4 MiB misses L1.
    assert chase["l1_misses"] > 190000, chase
    assert first["function"] in ("chase", "main"), first
    assert by_line.get(("near", line_of("NEAR")), {"l1_misses": 0})["l1_misses"] < 100, by_line
    assert levels["L1D"]["misses"] >= chase["l1_misses"], levels["L1D"]
    assert 0 < levels["L1D"]["miss_rate"] < 1 and levels["L1D"]["size_bytes"], levels["L1D"]
    functions = cache("sim.assay", "--by", "function")
    assert any(s["place"]["function"] == "chase" and s["l1_misses"] >= chase["l1_misses"]
               for s in functions["sites"]), functions["sites"][:3]
    text = assay("cache", "sim.assay")
    assert text.status == 0 and "simulated" in text.out and "chase" in text.out, text


@case("--level 1 has the levels of the whole program, and says why there are no places")
def _():
    need("valgrind")
    whole = cache("--engine", "sim", "--level", "1", "-o", "whole.assay", "--", built())
    assert whole["sites"] is None and "--level 1" in whole["sites_reason"], whole
    deep = cache("whole.assay", "--level", "2")
    assert deep["sites"] and deep["levels"] == whole["levels"], deep
    assert deep["verdict"]["category"] == whole["verdict"]["category"], (deep, whole)
    r = assay("cache", "whole.assay", "--level", "3")
    assert r.status == 2 and "1|2" in r.err, r


@case("agent text is short and plain, and the report has the levels")
def _():
    need("valgrind")
    r = assay("cache", "--engine", "sim", "--agent", "--report", "c.md", "--", built())
    assert r.status == 0, r
    out = r.out or r.err
    lines = [line for line in out.splitlines() if not line.startswith("assay:")]
    assert len(lines) <= 40 and out.isascii(), r
    with open("c.md", encoding="utf-8") as file:
        report = file.read()
    assert report.startswith("# Caches and TLBs"), report
    for name in LEVELS:
        assert f"| {name} |" in report, report
    assert "simulated" in report and "chase" in report, report


@case("without a PMU --engine pmu is refused with the way out, and auto simulates")
def _():
    if has_pmu():
        skip("this machine has a PMU")
    r = assay("cache", "--engine", "pmu", "--", "true")
    assert r.status == 6 and "sim" in r.err, r
    r = assay("cache", "--", "/bin/true", env={"PATH": "/nowhere"})
    assert r.status == 6 and "valgrind" in r.err, r
    need("valgrind")
    r = assay("cache", "--json", "--", "true")
    assert r.status == 0, r
    document = json.loads(r.out)
    assert document["data"]["engine"] == "sim", document
    assert "no-pmu" in [w["code"] for w in document["warnings"]], document["warnings"]


@case("a run that cannot be kept is shown all the same, with exit 7")
def _():
    need("valgrind")
    if os.geteuid() != 0:
        skip("only root can mount a small file system")
    os.mkdir("small")
    if run("mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", "small").status:
        skip("this container may not mount a tmpfs")
    try:
        for words in (("cache",), ("topdown",)):
            r = assay(*words, "--engine", "sim", "-o", "small/run.assay", "--", "true")
            assert r.status == 7 and "no space left" in r.err, r
            assert "not simulated" in r.err or "counts of valgrind's CPU model" in r.err, r
    finally:
        run("umount", "small")


@case("a run or a program is needed, not both")
def _():
    for words in ((), ("a.assay", "--", "true")):
        r = assay("cache", *words)
        assert r.status == 2 and "assay cache" in r.err, r


main()
