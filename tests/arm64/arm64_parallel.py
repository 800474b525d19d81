"""assay causal on aarch64 with two processors: threads in parallel.

The emulated machine runs in real time here, so it wants both CPUs of this one for itself; where
others keep them busy the cases are skipped.  The bounds are loose, see causal_truth.py."""
import functools

from causal_truth import BOTH, BTF, able, boot, wrong
from tap import case, main, skip

QUEUED = 0.05  # so much of the time not given makes a gain wrong by several points
STEPS = {
    "btf": BTF,
    "fpipe-bpf": f"{BOTH} --engine bpf --budget 5s -- shapes fpipe 60",
    "pipe-preload": f"{BOTH} --engine preload --budget 5s -- shapes pipe 60",
}


@functools.cache
def told():
    """Boot once; a failure is told by every case."""
    return boot(STEPS, 2)


def check(step):
    """Right, or disturbed and so left out."""
    if step.status == 3:
        skip("this machine is too busy for two emulated processors: no experiment in the time")
    why, bad = wrong(step)
    if why and bad:
        skip(f"this machine is too busy for two emulated processors: {', '.join(bad)}")
    if why and told().queued > QUEUED:
        skip(f"the two emulated processors waited for ours {100 * told().queued:.0f} % of the time")
    assert not why, why


@case("a producer that waits anyway promises nothing, its consumer does")
def _():
    able(told()["btf"])
    check(told()["fpipe-bpf"])


@case("a queue over a condition is seen from inside the program too")
def _():
    check(told()["pipe-preload"])


main()
