"""`assay branches`: recordings counted against perf, text against the recording it was made from, a
simulated run, and what is said where there is no PMU.

Where the machine records no branches and the shared recordings are not there, the recordings are
those of perf_file.py."""
import collections
import json
import os
import re
import sqlite3

import perf_file
from perf_file import BASE, KERNEL, MISPREDICTED, PREDICTED, flags
from tap import SOURCE, assay, case, main, need, run, skip

SHARED = os.path.join(os.environ.get("ASSAY_SHARED", os.path.join(SOURCE, "..", "shared")),
                      "perfdata")
INTEL, AMD = "q_perf.data.branch-4.14", "q_perf.data.branch_stack_spec"
TEXTS = {INTEL: "brstack.intel-skl.from-q_branch-4.14.txt",
         AMD: "brstack.amd-zen4.from-q_branch_stack_spec.txt"}
SPE = """\
77  0x4010a0/0x401200/M/-/-/14/RET/-
77  0x4010b4/0x4010b8/PN/-/-/7/COND/-
77  0x4010b4/0x4010b8/PN/-/-/9/COND/-
77  0x4010b4/0x401f00/M/-/-/21/COND/-
77  0x401300/0x401340/P/-/-/5//-
77  0x4010a0/0x401208/P/-/-/4/RET/-
"""
ENTRY = re.compile(r"0x([0-9a-f]+)(?:\([^)]*\))?/0x([0-9a-f]+)(?:\([^)]*\))?/([MP-])")
PROGRAM = r"""
#include <stdlib.h>
static volatile unsigned long sum;
__attribute__((noinline)) static void hard(unsigned n)
{
	unsigned long state = 88172645463325252ul;
	for (unsigned i = 0; i < n; i++) {
		state ^= state << 13; state ^= state >> 7; state ^= state << 17;
		if (state & 1) /* HARD */
			sum += i;
		else
			sum ^= state;
	}
}
__attribute__((noinline)) static void easy(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (i % 64 != 65) /* EASY */
			sum += i;
}
int main(int count, char **words)
{
	unsigned n = count > 1 ? (unsigned)atoi(words[1]) : 100000;
	hard(n);
	easy(n);
	return 0;
}
"""


def shared(*names):
    """The shared recordings that are there."""
    paths = [os.path.join(SHARED, name) for name in names]
    return [path for path in paths if os.path.exists(path)]


def made():
    """A stack that is not full yet, cycles, a program and the kernel; then the kernel alone."""
    here = [(BASE + 0x1000 + 16 * (i % 7), (KERNEL if i % 5 == 0 else BASE) + 0x2000 + 64 * i,
             flags(MISPREDICTED if i % 3 == 0 else PREDICTED, cycles=i * i)) for i in range(40)]
    mixed = perf_file.write("mixed.data", perf_file.BRANCH_STACK, [
        perf_file.branches([(0, 0, PREDICTED)] * (3 - i // 10) + here[i:i + 8])
        for i in range(0, 32, 8)])
    there = [(KERNEL + 0x100 * (i % 9), KERNEL + 0x8000 + 8 * (i % 2),
              flags(MISPREDICTED if i % 4 == 0 else PREDICTED)) for i in range(64)]
    kernel = perf_file.write("kernel.data", perf_file.BRANCH_STACK, [
        perf_file.branches(there[i:i + 16]) for i in range(0, 64, 16)], at=KERNEL)
    return mixed, kernel


def own():
    """What this machine records itself, when it does."""
    r = run(need("perf"), "record", "-q", "-b", "-o", "own.data", "--", "ls", "-R", "/usr/lib")
    return ["own.data"] if r.status == 0 else []


def recordings():
    return [*made(), *own(), *shared(INTEL, AMD)]


def stored(path):
    """The recording as a run."""
    r = assay("import", path, "-o", "run.assay", "--quiet")
    assert r.status == 0, r
    return "run.assay"


def branches(*words, status=0):
    r = assay("branches", "--json", *words)
    assert r.status == status, r
    return json.loads(r.out)["data"]


def counted(data):
    """(from, to, M or P) -> how often."""
    table = collections.Counter()
    for site in data["sites"]:
        ends = (site["from"]["addr"], site["to"]["addr"])
        table[ends + ("M",)] += site["mispredicted"]
        table[ends + ("P",)] += site["predicted"]
        assert site["count"] == site["mispredicted"] + site["predicted"], site
    return +table


def entries(text):
    return [(int(m[1], 16), int(m[2], 16), m[3]) for m in ENTRY.finditer(text)]


def perf_entries(path):
    """Every branch that perf script prints: kernel addresses as they are, others in their file."""
    plain = run(need("perf"), "script", "-i", path, "-F", "brstack")
    inside = run("perf", "script", "-i", path, "-F", "brstackoff")
    assert plain.status == 0 and inside.status == 0, plain
    found = collections.Counter()
    for here, there in zip(entries(plain.out), entries(inside.out), strict=True):
        if here[:2] != (0, 0):
            ends = tuple(h if h >> 63 else t for h, t in zip(here[:2], there[:2]))
            found[ends + here[2:]] += 1
    return found


@case("from, to and mispredictions of a recording are those of perf script")
def _():
    for path in recordings():
        want = perf_entries(path)
        data = branches(stored(path))
        got = counted(data)
        assert got == want, (path, got - want, want - got)
        assert data["branches"]["count"] == sum(want.values()) > 0, (path, data["branches"])
        assert data["branches"]["mispredicted"] == sum(
            n for key, n in want.items() if key[2] == "M"), (path, data["branches"])


def perf_report(path, *sort):
    """perf report's rows as tuples, the number of branches first."""
    r = run(need("perf"), "report", "-i", path, "--stdio", "-b", "-n", "--sort", ",".join(sort),
            "-t", "|")
    assert r.status == 0, r
    rows = [[cell.strip() for cell in line.split("|")] for line in r.out.splitlines()
            if line.strip() and not line.startswith("#")]
    return [row[1:2 + len(sort)] for row in rows]


@case("the counts are those of perf report --sort symbol_from,symbol_to,mispredict")
def _():
    for path in (made()[1], *shared(AMD)):  # it crashes on others
        want = collections.Counter()
        for count, here, there, missed in perf_report(path, "symbol_from", "symbol_to",
                                                      "mispredict"):
            ends = tuple(int(cell.split()[-1], 16) for cell in (here, there))
            want[ends + ("M" if missed == "Y" else "P",)] += int(count)
        assert counted(branches(stored(path))) == want, (path, want)


@case("the sums by prediction are those of perf report --sort mispredict")
def _():
    for path in recordings():
        want = collections.Counter()
        for count, missed in perf_report(path, "mispredict"):
            want[missed] += int(count)
        all_ = branches(stored(path))["branches"]
        # perf counts entries of a stack that is not full yet as predicted branches from 0 to 0.
        empty = run("perf", "script", "-i", path, "-F", "brstack").out.count("0x0/0x0/")
        assert want["Y"] == all_["mispredicted"], (path, want, all_)
        assert want["N"] == all_["predicted"] + empty, (path, want, all_)


def rows(data):
    """The sites without their places."""
    return sorted((s["count"], s["mispredicted"], s["cycles"] or 0) for s in data["sites"])


@case("the text of perf script gives the table of the recording it was made from")
def _():
    pairs = [(path, None) for path in recordings()]
    pairs += zip(shared(*TEXTS), shared(*TEXTS.values()))
    for path, text in pairs:
        if not text:
            text = "text"
            with open(text, "w", encoding="utf-8") as file:
                file.write(run("perf", "script", "-i", path, "-F", "pid,ip,brstack").out)
        r = assay("import", text, "-o", "text.assay", "--quiet")
        assert r.status == 0, r
        with open(text, encoding="utf-8") as file:
            want = collections.Counter(e for e in entries(file.read()) if e[:2] != (0, 0))
        got = branches("text.assay")
        assert counted(got) == want, (path, counted(got) - want)
        whole = branches(stored(path))
        for key in ("count", "mispredicted", "predicted", "taken"):
            assert got["branches"][key] == whole["branches"][key], (path, key)
        assert rows(got) == rows(whole), path


@case("branches of Arm SPE tell type, not taken and mispredicted")
def _():
    with open("spe.txt", "w", encoding="ascii") as file:
        file.write(SPE)
    for path in ("spe.txt", *shared("spe-brstack.llvm-pr129231.txt")):
        r = assay("import", path, "-o", "spe.assay", "--quiet")
        assert r.status == 0, r
        data = branches("spe.assay")
        with open(path, encoding="utf-8") as file:
            lines = [line.split()[1].split("/") for line in file if line.strip()]
        types = {t["type"]: t for t in data["types"]}
        for name in ("COND", "RET"):
            of = [line for line in lines if line[6] == name]
            got = types[name.lower()]
            assert got["count"] == len(of), (name, got)
            assert got["not_taken"] == sum("N" in line[2] for line in of), (name, got)
            assert got["mispredicted"] == sum("M" in line[2] for line in of), (name, got)
        only = branches("spe.assay", "--filter", "ret")
        # What does not tell its type is not left out by a filter on types.
        assert only["branches"]["count"] == types["ret"]["count"] + types[None]["count"], only


@case("a filter on a recording without types is refused with the way out")
def _():
    r = assay("branches", stored(made()[0]), "--filter", "cond")
    assert r.status == 2, r
    assert "types" in r.err and "record" in r.err, r
    r = assay("branches", "run.assay", "--filter", "sideways")
    assert r.status == 2 and "sideways" in r.err and "ind_call" in r.err, r


@case("a run without branches says what it lacks, in every form")
def _():
    r = assay("stat", "-e", "task-clock", "-o", "counts.assay", "--", "true")
    assert r.status == 0, r
    data = branches("counts.assay")
    assert data["sites"] is None and data["sites_reason"], data
    assert data["witness"] == "none" and data["engine"] == "none", data
    assert all(m["value"] is None and m["value_reason"] for m in data["metrics"]), data
    assert data["verdict"]["category"] == "unclear", data
    r = assay("branches", "counts.assay")
    assert r.status == 0 and "no branch has a location" in r.out, r


@case("counts of perf stat under Arm's names have both rates, as a table and as JSON")
def _():
    counts = {"br_retired": 400000, "br_mis_pred_retired": 46440, "inst_retired": 2000000}
    forms = {"stat.csv": "{1},,{0}:u,1000000,100.00,,\n",
             "stat.json": '{{"counter-value" : "{1}.000000", "unit" : "", "event" : "{0}:u", '
                          '"event-runtime" : 1000000, "pcnt-running" : 100.00}}\n'}
    for path, line in forms.items():
        with open(path, "w", encoding="ascii") as file:
            file.writelines(line.format(*count) for count in counts.items())
        metrics = {m["name"]: m["value"] for m in branches(stored(path))["metrics"]}
        assert abs(metrics["branch_miss_rate"] - 0.1161) < 1e-12, (path, metrics)
        assert abs(metrics["branch_mpki"] - 23.22) < 1e-9, (path, metrics)
        assert metrics["ipc"] is None, metrics  # no cycles were counted


@case("a rate in percent has its thresholds in percent, and a fraction has fractions")
def _():
    with open("stat.csv", "w", encoding="ascii") as file:
        file.write("400000,,branches,1000000,100.00,,\n46440,,branch-misses,1000000,100.00,,\n")
    name = stored("stat.csv")
    text = assay("branches", name, "--report", "b.md")
    with open("b.md", encoding="utf-8") as file:
        report = " ".join(file.read().replace("|", " ").split())
    for words in (" ".join(text.out.split()), report):
        assert "11.61 % investigate healthy < 1 %, investigate > 5 %" in words, words
    agent = assay("branches", name, "--agent").out
    assert "branch_miss_rate = 0.1161 share: investigate\n" in agent, agent
    rate = branches(name)["metrics"][0]
    assert rate["threshold"] == "healthy < 0.01, investigate > 0.05", rate


@case("text, agent and report show the same sites")
def _():
    name = stored(made()[1])
    text = assay("branches", name, "--limit", "3")
    assert text.status == 0 and "3 of" in text.out, text
    agent = assay("branches", name, "--agent")
    assert agent.status == 0 and len(agent.out.splitlines()) <= 40, agent
    assert agent.out.isascii() and "next:" in agent.out.splitlines()[-1], agent
    r = assay("branches", name, "--report", "b.md", "--quiet")
    assert r.status == 0, r
    with open("b.md", encoding="utf-8") as file:
        report = file.read()
    assert report.startswith("# Branches"), report
    for site in branches(name)["sites"][:3]:
        where = f"0x{site['from']['addr']:x}"
        assert where in text.out and where in agent.out and where in report, (where, text)


@case("neither a run nor a program, and both, are refused")
def _():
    for words in ((), ("a.assay", "--", "true")):
        r = assay("branches", *words)
        assert r.status == 2 and "assay branches" in r.err, r
    r = assay("branches", "/nowhere.assay")
    assert r.status == 2, r


def has_pmu():
    r = assay("stat", "-e", "cycles", "--strict", "--", "true")
    return r.status == 0


@case("without a PMU --engine pmu and record -b are refused with the reason")
def _():
    if has_pmu():
        skip("this machine has a PMU")
    r = assay("branches", "--engine", "pmu", "--", "true")
    assert r.status == 6 and r.err.strip(), r
    for words in (("-b",), ("--branches=cond,ind_call",)):
        r = assay("record", *words, "--", "true")
        assert r.status == 6 and "branches cannot be recorded" in r.err, r
        assert "sim" in r.err, r
    r = assay("record", "-b", "-e", "cpu-clock", "--", "true")
    assert r.status == 6 and "can record branches" in r.err, r
    r = assay("record", "--branches=upwards", "--", "true")
    assert r.status == 2 and "upwards" in r.err, r
    r = assay("record", "-b", "--stack", "lbr", "--", "true")
    assert r.status == 2, r


def built():
    with open("prog.c", "w", encoding="utf-8") as file:
        file.write(PROGRAM)
    r = run(need("gcc"), "-O1", "-g", "-fno-if-conversion", "-fno-if-conversion2", "prog.c", "-o",
            "prog")
    assert r.status == 0, r
    return "./prog"


def line_of(mark):
    return next(i for i, line in enumerate(PROGRAM.splitlines(), 1) if mark in line)


@case("the simulator finds the branch that cannot be predicted, and says that it is simulated")
def _():
    need("valgrind")
    program = built()
    data = branches("--engine", "sim", "-o", "sim.assay", "--", program)
    assert data["engine"] == "sim" and data["simulated"], data
    first = data["sites"][0]
    assert first["from"]["function"] == "hard" and first["from"]["line"] == line_of("HARD"), first
    # 100,000 random bits: between 40 and 60 % wrong in any predictor.
    assert 40000 < first["mispredicted"] < 60000, first
    assert first["type"] == "cond" and first["to"] is None and first["to_reason"], first
    easy = sum(s["mispredicted"] for s in data["sites"] if s["from"]["function"] == "easy")
    assert easy < 2000, easy
    rate = next(m for m in data["metrics"] if m["name"] == "branch_miss_rate")
    assert rate["value"] is not None and rate["simulated"], rate
    assert data["verdict"]["category"] == "bad_speculation", data["verdict"]
    again = branches("sim.assay")
    assert again["sites"] == data["sites"], "a stored run shows the same"
    text = assay("branches", "sim.assay")
    assert "simulated" in text.out, text


@case("--level 1 has the rates of the whole program, and takes no filter")
def _():
    need("valgrind")
    whole = branches("--engine", "sim", "--level", "1", "-o", "whole.assay", "--", built(), "1000")
    assert whole["sites"] is None and "--level 1" in whole["sites_reason"], whole
    deep = branches("whole.assay", "--level", "2")
    assert deep["sites"] and deep["metrics"] == whole["metrics"], deep
    r = assay("branches", "whole.assay", "--level", "1", "--filter", "cond")
    assert r.status == 2 and "exclude each other" in r.err and len(r.err.splitlines()) == 2, r


@case("auto takes the simulator where there is no PMU, and says why")
def _():
    if has_pmu():
        skip("this machine has a PMU")
    need("valgrind")
    r = assay("branches", "--json", "--", built(), "1000")
    assert r.status == 0, r
    document = json.loads(r.out)
    assert document["data"]["engine"] == "sim", document
    assert "no-pmu" in [w["code"] for w in document["warnings"]], document["warnings"]
    r = assay("branches", "--", built(), "1000", env={"PATH": "/nowhere"})
    assert r.status == 6 and "valgrind" in r.err, r


@case("a program that fails is told by the exit status")
def _():
    need("valgrind")
    r = assay("branches", "--engine", "sim", "--quiet", "--", "sh", "-c", "exit 3")
    assert r.status == 5, r
    r = assay("branches", "--engine", "sim", "--quiet", "--target-status", "--", "sh", "-c",
              "exit 3")
    assert r.status == 3, r


@case("a hostile run file with branches is shown or refused, never a crash")
def _():
    name = stored(made()[1])
    with sqlite3.connect(name) as db:
        db.execute("UPDATE branch SET flags = 16383, cycles = 4294967295 WHERE id % 2")
    data = branches(name)
    assert data["branches"]["count"] == 64, data["branches"]
    with sqlite3.connect(name) as db:
        db.execute("UPDATE branch SET flags = -1")
    r = assay("branches", name)
    assert r.status == 2 and "corrupt" in r.err, r


main()
