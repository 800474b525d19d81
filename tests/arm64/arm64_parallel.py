"""assay causal on aarch64 with two processors: threads in parallel.

The emulated machine runs in real time here, so it wants both CPUs of this one for itself; each try
boots it anew.  The bounds are loose, see causal_truth.py."""
from causal_truth import BOTH, BTF, able, boot, wrong
from tap import main, measured

STEPS = {
    "fpipe-bpf": f"{BOTH} --engine bpf --budget 5s -- shapes fpipe 60",
    "pipe-preload": f"{BOTH} --engine preload --budget 5s -- shapes pipe 60",
}


def check(name):
    told = boot({"btf": BTF, name: STEPS[name]}, 2)
    if name.endswith("-bpf"):
        able(told["btf"])
    why, bad = wrong(told[name])
    assert not why, f"{why}\ndisturbed: {bad}"


@measured("a producer that waits anyway promises nothing, its consumer does", alone=True)
def _():
    check("fpipe-bpf")


@measured("a queue over a condition is seen from inside the program too", alone=True)
def _():
    check("pipe-preload")


main()
