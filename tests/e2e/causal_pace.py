"""What sets the pace of a program: where it is a clock, or another program, `assay causal` promises
no gain, and says what the work costs."""
import json
import os

from tap import BUILD, assay, main, measured, no_kernel_engine

PACE = os.path.join(BUILD, "tests/workloads/pace")


def look(what, *words):
    """The data of experiments on one of the programs."""
    r = assay("causal", "--json", "--speedup", "50", "--budget", "4s", *words, "--", PACE, what,
              "60")
    assert r.status == 0, r
    return json.loads(r.out)["data"]


def told(data):
    return [p["gain"] for t in data["targets"] + data["flat"] for p in t["points"]
            if p["gain"] is not None]


@measured("a clock: no gain, and the CPU time of a visit")
def _():
    data = look("frames", "-f", "draw+", "--progress", "draw")
    assert data["pace"] == "clock" and data["paced_by_clock"], data
    assert not told(data) and not data["targets"][0]["sentence"], data
    assert "pace" in data["targets"][0]["points"][1]["gain_reason"], data
    assert 4.5e6 < data["visit_ns"] < 5.6e6, data
    assert 0 < data["work_ns"] < data["visit_ns"], data


@measured("a sleep of always the same length is no clock: faster work is a gain")
def _():
    data = look("pauses", "-f", "draw+", "--progress", "draw")
    assert data["pace"] == "own" and told(data), data


@measured("who answers another process, one request at a time, does not set the pace")
def _():
    for what in ("unix", "tcp"):
        data = look(what, "-f", "spin", "--progress", "reply")
        assert data["pace"] == "peer", (what, data)
        assert not told(data), data
        assert any(g["name"] == "peer" and g["bad"] and "connections" in g["text"]
                   for g in data["guards"]), data


@measured("who always has requests to answer sets its own pace", alone=True)
def _():
    data = look("queue", "-f", "reply+", "--progress", "reply")
    if any(g["name"] == "crowded" and g["value"] > .2 for g in data["guards"]):
        assert data["pace"] == "peer" and not told(data), data  # on a busy machine: cannot tell
    else:
        assert data["pace"] == "own" and told(data), data


@measured("the answer in words names the cost and no gain")
def _():
    r = assay("causal", "--speedup", "50", "--budget", "3s", "-f", "draw", "--progress", "draw",
              "--", PACE, "frames", "60")
    assert r.status == 0 and "a clock sets the pace" in r.err, r
    assert "a visit takes" in r.err and "CPU time of a visit" in r.err, r
    assert "faster (" not in r.err and "steep" not in r.err, r


main(unless=no_kernel_engine())
