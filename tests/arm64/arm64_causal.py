"""assay causal on aarch64: programs whose truth is known, started or running already, both engines.

One emulated machine whose time is the number of its instructions, so that the load of this one does
not matter.  The bounds are loose, see causal_truth.py."""
import functools
import re

from causal_truth import BOTH, BTF, CAUSAL, able, boot, done, points, wrong
from tap import case, main

WAITS = ("read", "recv", "epoll", "poll", "sleep", "futex", "wait")
WAIT_S, LOOK_S = 8, 3
# Two fifths of the work: more rounds in a time that costs.
LESS = "60 40 40"

# What must be as before.  The kernel's page for uprobes stays in a process until its end.
STATE = ("state() { grep -v uprobes /proc/$p/maps; grep -E '^(Sig(Cgt|Ign|Blk)|Tracer)' "
         "/proc/$p/status; ls /proc/$p/fd; }")
NOW = "$(cut -d ' ' -f 1 /proc/uptime)"

STEPS = {
    "btf": BTF,
    "remote": "CMOCKA_MESSAGE_OUTPUT=TAP test-remote",
    "inject": "ASSAY_KILL_STRIDE=7 CMOCKA_MESSAGE_OUTPUT=TAP test-inject",
    "split-bpf": f"{BOTH} --engine bpf --budget 4s -- shapes split 60",
    "split-preload": f"{BOTH} --engine preload --budget 3s -- shapes split 60",
    "fping-bpf": f"{BOTH} --engine bpf --budget 5s -- shapes fping {LESS}",
    "ping-preload": f"batch {BOTH} --engine preload --budget 4s -- shapes ping {LESS}",
    "static": f"{BOTH} --progress progress --budget 3s -- shapes-static fping {LESS}",
    "caller-bpf": f"{CAUSAL} -f work_a@split --budget 2s -- shapes split 60",
    "caller-preload": f"{CAUSAL} -f work_a@split --engine preload --budget 1s -- shapes split 60",
    "other-caller": f"{CAUSAL} -f work_a@split --budget 2s -- shapes fping {LESS}",
    "device": f"{CAUSAL} --waits wait_b --budget 5s -- shapes device 60",
    "fping-attach": f"{STATE}; shapes fping {LESS} >/dev/null & p=$!; sleep 1; state >before; "
                    f"{BOTH} -p $p --progress progress --budget 8s; s=$?; state >after; "
                    "cmp before after >&2 || exit 90; kill $p; wait $p; [ $? = 143 ] || exit 91; "
                    "exit $s",
    **{f"wait-{how}": f"a={NOW}; attached {how} {WAIT_S} & p=$!; sleep {LOOK_S}; "
                      "assay causal -p $p --progress progress --budget 100ms >/dev/null; s=$?; "
                      f"wait $p || exit 90; echo $a {NOW}; exit $s" for how in WAITS},
}


@functools.cache
def told():
    """Boot once; a failure is told by every case."""
    return boot(STEPS, 1)


def check(name):
    """Nothing can disturb: what is off is wrong."""
    why, _ = wrong(told()[name])
    assert not why, why


@case("a line that takes most of a thread promises most of the gain")
def _():
    able(told()["btf"])
    check("split-bpf")


@case("so it does where the program samples itself")
def _():
    check("split-preload")


@case("both sides of a hand-off over raw futexes matter, the longer one more")
def _():
    able(told()["btf"])
    check("fping-bpf")


@case("a hand-off over a condition is seen from inside the program too")
def _():
    check("ping-preload")


@case("a process that runs is given the handler, measured, and left as it was")
def _():
    able(told()["btf"])
    check("fping-attach")


@case("no call that a process waits in notices that it was attached to, and none lasts longer")
def _():
    able(told()["btf"])
    for how in WAITS:
        step = done(told()[f"wait-{how}"], status=3)
        said, times = step.out.splitlines()
        begun, ended = map(float, times.split())
        assert said == f"{how} 1 0", step
        assert WAIT_S - 0.1 < ended - begun < WAIT_S + LOOK_S / 2, step


@case("a stopped thread gets its registers, its vectors, its call and its signals back")
def _():
    step = done(told()["remote"])
    # A skip is one too many: this processor has all.
    bad = re.findall(r"^not ok .*", step.out, re.MULTILINE)
    assert not bad and re.search(r"^ok .*vectors", step.out, re.MULTILINE), step


@case("a tool that is killed before any of its calls harms nobody")
def _():
    step = done(told()["inject"])
    assert not re.findall(r"^not ok .*", step.out, re.MULTILINE), step


@case("a static program is given the handler")
def _():
    able(told()["btf"])
    found, _ = points(told()["static"])
    assert found["work_a"]["hits"] > 20 and found["work_b"]["hits"] > 20, told()["static"]


@case("a target can be limited to one caller, also in a function that keeps no frame")
def _():
    able(told()["btf"])
    for name in ("caller-bpf", "caller-preload"):
        found, _ = points(told()[name])
        assert found["work_a@split"]["hits"] > 20, told()[name]
    found, _ = points(told()["other-caller"])
    point = found["work_a@split"]
    assert point["n"] > 0 and point["hits"] == 0, told()["other-caller"]


@case("a wait for a device can be made shorter")
def _():
    able(told()["btf"])
    found, _ = points(told()["device"])
    # 1 ms after 7 units of work is a quarter of a round.
    assert found["wait_b"]["hits"] > 20 and 0.03 < found["wait_b"]["gain"] < 0.27, told()["device"]


main()
