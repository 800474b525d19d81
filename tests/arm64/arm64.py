"""assay on aarch64, with a real PMU driver: counts beside perf's, six counters, counters that lie,
samples, stacks.  One emulated machine (machine.py) runs all steps; each case looks at its own."""
import functools
import json
import os
import re
import shutil
import tempfile

import machine
from tap import ASSAY, BUILD, case, main, skip

ROOT = os.environ["ASSAY_ARM64_ROOT"]
KERNEL = os.path.join(os.path.dirname(ROOT), "vmlinuz")
PROGRAMS = os.path.join(BUILD, "tests", "arm64")
LIMIT_S = 400
COUNTERS = 6  # of QEMU's PMU, beside the one for cycles
INSTRUCTIONS, MANY_INSTRUCTIONS = 4000008, 200000010  # count.c
UNIT = ("disassemble", "event", "kernel_record", "pmu", "probe", "refusal", "ring", "sampler",
        "unwind")
WITNESSES = tuple(f"unwind-{name}-{kind}" for name in ("deep", "frames", "noreturn", "signals",
                                                       "stubs", "threads")
                  for kind in ("framed", "omit", "plain"))
RAW_ZEROS = ("r0003:u", "r0010:u", "r0024:u", "armv8_pmuv3/event=0x16/u")
STACKS = ("auto", "dwarf", "fp")

STEPS = {
    "release": "uname -mr",
    **{f"count-assay-{i}": "assay stat --json -e instructions:u -- count" for i in range(3)},
    **{f"count-perf-{i}": "perf stat -x, -e instructions:u count" for i in range(3)},
    "count-text": "assay stat -e instructions:u,cycles:u,stalled-cycles-backend:u -- count",
    "many": "assay stat --json -e " + ",".join(["instructions:u"] * 16) + " -- count long",
    "group-6": "assay stat --json -e '{" + ",".join(["instructions"] * 6) + "}:u' -- count",
    "group-7": "assay stat --json -e '{" + ",".join(["instructions"] * 7) + "}:u' -- count",
    "group-7-text": "assay stat -e '{" + ",".join(["instructions"] * 7) + "}:u' -- count",
    "group-7-machine": "assay stat --json -a -e '{" + ",".join(["instructions"] * 7)
                       + "}:u' -- count",
    "group-8": "assay stat --json -e '{" + ",".join(["instructions"] * 8) + "}:u' -- count",
    "group-cycles": "assay stat --json -e '{cycles," + ",".join(["instructions"] * 6)
                    + "}:u' -- count",
    "zeros": "assay stat --json -e stalled-cycles-frontend:u,stalled-cycles-backend:u,"
             "branches:u,branch-misses:u,cache-misses:u,L1-dcache-loads:u,"
             + ",".join(RAW_ZEROS) + " -- count",
    "codes": "assay stat --json -e r0008:u,armv8_pmuv3/cpu_cycles/u,cpu_cycles:u -- count",
    "default": "assay stat --json -- count",
    "topdown": "assay topdown --json -- count",
    "cache": "assay cache --json -o cache.assay -- count",
    "cache-again": "assay cache --json cache.assay",
    "doctor": "assay doctor --json",
    "env": "assay env --json",
    **{f"record-{kind}-{stack}": f"assay record --json -e cycles:u -c 100000 --stack {stack} "
                                 f"-o {kind}-{stack}.assay -- calls-{kind} 10"
       for kind in ("framed", "omit") for stack in STACKS},
    **{f"report-{kind}-{stack}": f"assay report --json {kind}-{stack}.assay"
       for kind in ("framed", "omit") for stack in STACKS},
    "annotate": "assay annotate framed-auto.assay hot --json",
    "record-default": "assay record --json -- calls-omit 30",
    "record-zero": "assay record -e stalled-cycles-backend:u -- count",
    "record-raw-zero": "assay record -e r0010:u -- count",
    "record-branches": "assay record --stack lbr -- count",
    **{f"unit-{name}": f"CMOCKA_MESSAGE_OUTPUT=TAP test-{name}" for name in UNIT},
    **{name: f"for i in 1 2 3 4 5 6 7 8 9; do {name} || exit; done" for name in WITNESSES},
}


def files(scratch):
    """Path in the machine -> path here."""
    programs = [os.path.join(PROGRAMS, n) for n in [f"test-{u}" for u in UNIT] + list(WITNESSES)]
    found = machine.assay_files(ASSAY, scratch)
    found.update({f"bin/{os.path.basename(p)}": machine.strip(p, scratch) for p in programs})
    for name in ("count", "calls-framed", "calls-omit", "true"):
        found[f"bin/{name}"] = os.path.join(PROGRAMS, name)
    found["bin/perf"] = os.path.join(ROOT, "usr/bin/perf")
    capstone = os.path.join(ROOT, machine.LIBRARIES, "libcapstone.so.4")  # opened when needed
    found["lib/libcapstone.so.4"] = capstone
    found["lib/libgcc_s.so.1"] = os.path.join(ROOT, machine.LIBRARIES, "libgcc_s.so.1")
    return found


@functools.cache
def machine_run():
    """Boot once; a failure is told by every case."""
    with tempfile.TemporaryDirectory(prefix="assay-arm64.") as scratch:
        log = os.environ.get("ASSAY_ARM64_LOG")
        try:
            return machine.run(ROOT, KERNEL, files(scratch), STEPS, scratch, LIMIT_S)
        finally:
            if log:
                shutil.copy(os.path.join(scratch, "console.log"), log)


def told(name, status=0):
    step = machine_run()[name]
    assert status is None or step.status == status, step
    return step


def document(name, status=0):
    return json.loads(told(name, status).out)


def events(name, status=0):
    return document(name, status)["data"]["events"]


def rows(name):
    return {row["name"]: row for row in document(name)["data"]["rows"]}


@case("the machine boots, assay runs on aarch64 and names the processor")
def _():
    assert "aarch64" in told("release").out, told("release")
    assert "Neoverse" in told("env").out, told("env")


@case("instructions are counted to the one, and perf counts the same")
def _():
    ours = [events(f"count-assay-{i}")[0] for i in range(3)]
    assert [e["value"] for e in ours] == [INSTRUCTIONS] * 3, ours
    assert all(e["status"] == "counted" and not e["scaled"] for e in ours), ours
    theirs = [float(told(f"count-perf-{i}").err.split(",")[0]) for i in range(3)]
    assert theirs == [INSTRUCTIONS] * 3, theirs


@case("sixteen events share six counters, and each is scaled to the truth")
def _():
    found = events("many")
    assert len(found) == 16, found
    for event in found:
        assert event["scaled"] and event["status"] == "counted", event
        assert 0.30 < event["running_share"] < 0.45, event
        assert abs(event["value"] / MANY_INSTRUCTIONS - 1) < 0.02, event
    mean = sum(e["running_share"] for e in found) / 16
    assert abs(mean - COUNTERS / 16) < 0.02, mean


@case("a group of six fits, with cycles on their own counter even seven")
def _():
    for event in events("group-6") + events("group-cycles"):
        assert event["status"] == "counted" and not event["scaled"], event
        assert event["value"] == INSTRUCTIONS * (2 if event["name"].startswith("cycles") else 1)


@case("a group of seven says that it needs seven and the PMU has six, and names no watchdog")
def _():
    # Started by us the seventh is refused, and six ran; on a CPU all open and none ever runs, so
    # that nothing was counted there (exit status 6).
    for name, left, size in (("group-7", 6, 7), ("group-8", 6, 8), ("group-7-machine", 0, 7)):
        found = events(name, 0 if left else 6)
        assert len(found) == size, found
        assert all(e["value"] == INSTRUCTIONS for e in found[:left]), found
        for event in found[left:]:
            assert event["status"] == "not_counted" and event["value"] is None, event
            assert f"needs {size} counters, but the PMU has 6" in event["reason"], event
    text = told("group-7-text").err
    assert "watchdog" not in text and "needs 7 counters" in text, text


@case("counters that open and always read 0 are not trusted, by name or by raw code")
def _():
    found = {e["name"]: e for e in events("zeros")}
    for name in ("stalled-cycles-frontend:u", "stalled-cycles-backend:u", *RAW_ZEROS):
        assert found[name]["value"] is None, found[name]
        assert found[name]["status"] == "not_trusted", found[name]
        assert "0" in found[name]["reason"], found[name]
    for name in ("branches:u", "branch-misses:u", "cache-misses:u", "L1-dcache-loads:u"):
        assert found[name]["value"] is None, found[name]
        assert found[name]["status"] == "not_supported", found[name]
    assert [e["value"] for e in events("codes")] == [INSTRUCTIONS, 2 * INSTRUCTIONS,
                                                     2 * INSTRUCTIONS], events("codes")
    text = told("count-text").err
    assert re.search(r"stalled-cycles-backend:u.*not trusted", text), text


@case("no metric is made of a counter that is not trusted")
def _():
    data = document("default")["data"]
    bad = [e["name"] for e in data["events"] if e["value"] is None]
    assert bad, data["events"]
    for metric in data["metrics"]:
        if metric["value"] is None:
            assert metric["value_reason"], metric
    known = {m["name"]: m["value"] for m in data["metrics"] if m["value"] is not None}
    assert not any("stall" in name or "miss" in name for name in known), known


@case("assay doctor calls the PMU cut down, with its six counters and what does not count")
def _():
    data = document("doctor")["data"]
    found = {c["name"]: c for c in data["capabilities"]}
    pmu = found["pmu"]
    assert pmu["status"] == "limited" and "armv8_pmuv3: 6 counters" in pmu["reason"], pmu
    assert "cycles, instructions trusted" in pmu["reason"], pmu
    assert "stalled-cycles-frontend, stalled-cycles-backend zero" in pmu["reason"], pmu
    assert "full PMU" in pmu["fix"] and "watchdog" not in pmu["fix"], pmu
    tier = {t["name"]: t for t in data["tiers"]}["counting"]
    assert tier["text"].startswith("a limited PMU") and not tier["best"], tier
    for name in ("sampling", "user-stacks", "kernel-stacks", "perf-buffers", "tracepoints", "bpf",
                 "btf", "uprobes", "preload", "ptrace"):
        assert found[name]["status"] == "ok", found[name]


@case("assay topdown says that the PMU is cut down and makes no tree of zeros")
def _():
    step = told("topdown", status=None)
    if "unknown command 'topdown'" in step.err:
        skip("assay topdown is not in this version")
    assert step.status in (0, 3, 6), step
    assert "limited" in step.out + step.err, step
    if step.status == 0:
        for metric in json.loads(step.out)["data"]["metrics"]:
            if "stall" in metric["name"] or "bound" in metric["name"]:
                assert metric["value"] is None, metric


@case("assay cache asks for this CPU's own events in a run of its own, and zeros fill no row")
def _():
    for name in ("cache", "cache-again"):
        data = document(name)["data"]
        levels = {level["name"]: level for level in data["levels"]}
        # Neoverse N1 has a table: L2 and the walks were asked for, and read 0 here.
        for level in ("L2", "dTLB", "iTLB"):
            assert levels[level]["misses"] is None, levels[level]
            assert "0" in levels[level]["misses_reason"], levels[level]
            assert "not known" not in levels[level]["misses_reason"], levels[level]
        assert data["verdict"]["category"] == "unclear", data["verdict"]
        ipc = next(m for m in data["metrics"] if m["name"] == "ipc")
        assert abs(ipc["value"] - 0.5) < 0.01, ipc  # two cycles for each instruction, by QEMU


@case("samples of cycles lie in the hot function, one for each period")
def _():
    for kind in ("framed", "omit"):
        data = document(f"record-{kind}-auto")["data"]
        assert data["events"] == ["cycles:u"] and data["lost"] == 0, data
        # 10,000,000 steps of 4 instructions of 2 cycles each, less what the compiler saves.
        assert 550 <= data["samples"] <= 820, data
        assert rows(f"report-{kind}-auto")["hot"]["self_share"] > 0.98, rows(f"report-{kind}-auto")


@case("stacks are whole, with frame pointers and without, by the program's tables")
def _():
    for kind in ("framed", "omit"):
        for stack in ("auto", "dwarf"):
            data = document(f"record-{kind}-{stack}")["data"]
            assert data["broken"] == 0 and data["truncated"] == 0, data
            found = rows(f"report-{kind}-{stack}")
            for name in ("main", "outer", "middle", "hot"):
                assert found[name]["total_share"] > 0.98, (kind, stack, name, found)


@case("frame pointers alone give the stack of a program that has them")
def _():
    found = rows("report-framed-fp")
    for name in ("main", "outer", "hot"):
        assert found[name]["total_share"] > 0.98, (name, found)


@case("who asks for nothing gets cycles, as they are trusted here")
def _():
    data = document("record-default")["data"]
    assert data["events"] == ["cycles"] and data["samples"] > 20, data


@case("the hot loop is annotated with the instructions of aarch64")
def _():
    text = told("annotate").out
    assert "b.ne" in text or "cbnz" in text, text[-2000:]


@case("what does not count cannot be sampled, and the reason is told")
def _():
    for name in ("record-zero", "record-raw-zero"):
        step = told(name, status=6)
        assert "cannot be sampled" in step.err and len(step.err.splitlines()) == 2, step
    assert "LBR" in told("record-branches", status=6).err


def unit_case(name):
    @case(f"the unit tests of {name} hold on aarch64")
    def _():
        step = told(f"unit-{name}", status=None)
        bad = re.findall(r"^not ok \d+ (?!# SKIP).*", step.out, re.MULTILINE)
        assert step.status == 0 and not bad and re.search(r"^ok ", step.out, re.MULTILINE), step


for unit in UNIT:
    unit_case(unit)


@case("our stacks are glibc's, in programs that a counter stops again and again")
def _():
    moments = same = 0
    for name in WITNESSES:
        found = re.findall(r"# (\d+) moments: (\d+) as .* deepest (\d+)", told(name).out)
        moments += sum(int(row[0]) for row in found)
        same += sum(int(row[1]) for row in found)
        if "signals" in name:  # a handler in a handler
            assert max(int(row[2]) for row in found) >= 12, found
    assert moments > 5000 and same > 0.95 * moments, (moments, same)


main()
