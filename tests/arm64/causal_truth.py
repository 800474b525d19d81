"""causal_truth.py - what `assay causal` says in an emulated machine (machine.py), and the truth."""
import json
import os
import shutil
import sys
import tempfile

import machine
from tap import ASSAY, BUILD, SOURCE, skip

sys.path.insert(0, os.path.join(SOURCE, "bench", "causal"))
from truth import FORMULA  # noqa: E402  pylint: disable=wrong-import-position

ROOT = os.environ["ASSAY_ARM64_ROOT"]
KERNEL = os.path.join(os.path.dirname(ROOT), "vmlinuz")
PROGRAMS = os.path.join(BUILD, "tests", "arm64")
LIMIT_S = 500
POINTS = 0.15  # how far from the truth a gain may be
CAUSAL = "assay causal --json --speedup 50"
BOTH = CAUSAL + " -f work_a -f work_b"
BTF = "test -e /sys/kernel/btf/vmlinux"


def files(scratch):
    """Path in the machine -> path here; the programs keep their names and lines."""
    found = machine.assay_files(ASSAY, scratch)
    for name in ("test-inject", "test-remote"):
        found[f"bin/{name}"] = machine.strip(os.path.join(PROGRAMS, name), scratch)
    for name in ("attached", "batch", "shapes", "shapes-static"):
        found[f"bin/{name}"] = os.path.join(PROGRAMS, name)
    found["lib/libgcc_s.so.1"] = os.path.join(ROOT, machine.LIBRARIES, "libgcc_s.so.1")
    return found


def boot(steps, processors):
    """Run the steps on a processor with all that QEMU has: SVE, signed pointers, guarded pages."""
    with tempfile.TemporaryDirectory(prefix="assay-arm64.") as scratch:
        log = os.environ.get("ASSAY_ARM64_LOG")
        try:
            return machine.run(ROOT, KERNEL, files(scratch), steps, scratch, LIMIT_S,
                               model="max,pauth-impdef=on", processors=processors)
        finally:
            if log:
                shutil.copy(os.path.join(scratch, "console.log"), f"{log}.causal{processors}")


def done(step, status=0):
    """The step, which must have ended so."""
    assert step.status == status, step
    return step


def able(btf):
    """Skip where the kernel of the machine cannot have the engine."""
    if btf.status:
        skip("the kernel of the emulated machine has no BTF")


def points(step):
    """Target -> its point at 50 %, and the names of what speaks against it."""
    data = json.loads(done(step).out)["data"]
    found = {target["location"]: point for target in data["targets"] + data["flat"]
             for point in target["points"] if point["speedup"] == 0.5}
    return found, [guard["name"] for guard in data["guards"] if guard["bad"]]


def wrong(step):
    """What is not as the truth of the shape that the step is named after; what disturbs."""
    found, bad = points(step)
    truth = dict(zip(("work_a", "work_b"), FORMULA[step.name.split("-")[0]](.5)))
    gains = {target: point["gain"] for target, point in found.items()}
    near = set(gains) == set(truth) and None not in gains.values() and all(
        abs(gains[target] - truth[target]) < POINTS for target in truth)
    if near and max(gains, key=gains.get) == max(truth, key=truth.get):
        return None, bad
    return f"{gains}, in truth {truth}\n{step}", bad
