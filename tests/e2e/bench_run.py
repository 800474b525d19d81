"""bench_run.py - what the tests of `assay bench` share."""
import json
import os

from tap import BUILD, assay, wait_for

WORKLOADS = os.path.join(BUILD, "tests", "workloads")
NOP, FAULTS, SPIN = (os.path.join(WORKLOADS, name) for name in ("nop", "faults", "spin"))


def bench(*words, status=0, **how):
    """Run with --json; the document, checked to be the only thing on stdout."""
    r = assay("bench", "--json", *words, **how)
    assert r.status == status, r
    return json.loads(r.out)


def started(path):
    """Wait until a file is there and not empty."""
    wait_for(lambda: os.path.exists(path) and os.path.getsize(path))
