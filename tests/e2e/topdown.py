"""`assay topdown`: which engine answers, what it says without a PMU, and every bad input."""
import json
import os

from tap import BUILD, assay, case, main, need, skip

WORKLOADS = os.path.join(BUILD, "tests", "workloads")
NOP, SPIN = (os.path.join(WORKLOADS, name) for name in ("nop", "spin"))


def has_pmu():
    return any(name == "cpu" or name.startswith(("cpu_", "arm"))
               for name in os.listdir("/sys/bus/event_source/devices"))


def refused(r, status, *words):
    """One sentence, one way out, the right status, nothing else."""
    assert r.status == status, r
    lines = r.err.splitlines()
    assert len(lines) == 2 and lines[0].startswith("assay: ") and lines[1].startswith("  "), r
    for word in words:
        assert word in r.err, r


@case("without a PMU, --engine pmu exits 6 with the reason and the way out")
def _():
    if has_pmu():
        skip("this machine has a PMU")
    r = assay("topdown", "--engine", "pmu", "--", NOP)
    refused(r, 6, "no PMU")
    assert r.out == "", r


@case("without a PMU and without a simulator, auto exits 6 and says both")
def _():
    if has_pmu():
        skip("this machine has a PMU")
    r = assay("topdown", "--", NOP, env={"PATH": "/nowhere"})
    assert r.status == 6 and "PMU" in r.err, r
    assert len(r.err.splitlines()) == 2, r


@case("without a PMU, --quick exits 6 and names the simulator as the slow way")
def _():
    if has_pmu():
        skip("this machine has a PMU")
    refused(assay("topdown", "--quick", "--", NOP), 6, "no PMU", "--engine sim")


@case("options that exclude each other are refused in one sentence")
def _():
    refused(assay("topdown", "--once", "-r", "3", "--", NOP), 2, "--once and -r")
    refused(assay("topdown", "--once", "--quick", "--", NOP), 2, "--once and --quick")
    refused(assay("topdown", "--quick", "--level", "1", "--", NOP), 2, "--quick and --level")
    refused(assay("topdown", "--quick", "--engine", "sim", "--", NOP), 2, "sim and --quick")


@case("bad words are refused: an unknown engine, a level that is none, no program")
def _():
    assert assay("topdown", "--engine", "gpu", "--", NOP).status == 2
    assert assay("topdown", "--level", "7", "--", NOP).status == 2
    assert assay("topdown").status == 2


@case("where there is a PMU, the first line says which, and the document has tree and verdict")
def _():
    if not has_pmu():
        skip("this machine has no PMU")
    r = assay("topdown", "-r", "1", "--", SPIN, "50")
    assert r.status == 0, r
    assert r.err.splitlines()[0].startswith(("full PMU", "limited")), r
    r = assay("topdown", "--json", "--quick", "--", SPIN, "50")
    assert r.status == 0, r
    data = json.loads(r.out)["data"]
    assert data["engine"] == "pmu" and data["verdict"]["category"], data
    assert any(m["name"] == "ipc" for m in data["metrics"]), data


@case("a program that does not exist is the target's failure")
def _():
    # Without a PMU that is told first.
    engine = "pmu" if has_pmu() else "sim"
    if engine == "sim":
        need("valgrind")
    refused(assay("topdown", "--engine", engine, "--", "./nowhere"), 5, "nowhere")


main()
