"""`assay ab`: verdicts on work that is known, and what stands on each side of --."""
import json
import os
import signal
import sqlite3
import subprocess
import time

from tap import ASSAY, BUILD, assay, case, main

WORKLOADS = os.path.join(BUILD, "tests", "workloads")
NOP, SPIN = (os.path.join(WORKLOADS, name) for name in ("nop", "spin"))


def ab(*words, status=None, **how):
    r = assay("ab", "--json", *words, **how)
    assert status is None or r.status == status, r
    return r.status, json.loads(r.out)


@case("ten per cent more work is a regression, exit 1, in both metrics' direction")
def _():
    status, d = ab(SPIN, "100", "--", SPIN, "110")
    verdict = d["data"]["verdict"]
    assert status == 1 and verdict["outcome"] == "regressed", d["data"]["metrics"]
    assert verdict["lo"] <= verdict["effect"] <= verdict["hi"] and verdict["effect"] > 0, verdict
    assert verdict["p"] < 0.01, verdict


@case("ten per cent less work is an improvement, exit 0")
def _():
    status, d = ab(SPIN, "110", "--", SPIN, "100", "--budget", "60s")
    assert d["data"]["b"]["argv"] == [SPIN, "100", "--budget", "60s"], d["data"]["b"]["argv"]
    assert d["data"]["verdict"]["outcome"] == "improved" and status == 0, d["data"]["metrics"]


@case("the same program on both sides never regresses here, and its status says which it is")
def _():
    status, d = ab("--budget", "5s", "--min-effect", "10%", SPIN, "20", "--", SPIN, "20")
    outcome = d["data"]["verdict"]["outcome"]
    assert outcome in ("equivalent", "inconclusive"), d["data"]["metrics"]
    assert status == {"equivalent": 0, "inconclusive": 3}[outcome], (status, outcome)


@case("too few pairs are inconclusive, exit 3, and say how many it takes")
def _():
    status, d = ab("-n", "3", NOP, "--", NOP)
    assert status == 3 and d["data"]["verdict"]["outcome"] == "inconclusive", d
    assert len(d["data"]["pairs"]) == 3, d
    assert d["data"]["metrics"][0]["pairs_needed"] > 3, d
    assert d["data"]["metrics"][0]["lo"] is None and d["data"]["metrics"][0]["lo_reason"], d


@case("pairs are neighbours in the order A B, B A")
def _():
    _, d = ab("-n", "6", NOP, "--", NOP)
    assert [p["first"] for p in d["data"]["pairs"]] == ["a", "b"] * 3, d["data"]["pairs"]
    assert {"wall", "cpu"} >= {m["name"] for m in d["data"]["metrics"]}, d


@case("a side is one quoted command or a program with its words, options of its own included")
def _():
    _, d = ab("-n", "2", f"{NOP} 'a b' -n", "--", NOP, "-n", "--", "c d")
    assert d["data"]["a"]["argv"] == [NOP, "a b", "-n"], d["data"]["a"]["argv"]
    assert d["data"]["b"]["argv"] == [NOP, "-n", "--", "c d"], d["data"]["b"]["argv"]
    _, d = ab("-n", "2", NOP, "-n", "x y", "--", NOP)
    assert d["data"]["a"]["argv"] == [NOP, "-n", "x y"], d["data"]["a"]["argv"]


@case("one program, none, or a wrong effect is refused with a way out")
def _():
    for words in ((NOP,), (NOP, "--"), ("--", NOP), (), ("--min-effect", "x", NOP, "--", NOP),
                  ("--min-effect", "200%", NOP, "--", NOP), ("-n", "0", NOP, "--", NOP)):
        r = assay("ab", *words)
        assert r.status == 2 and len(r.err.splitlines()) == 2, r


@case("a side that fails is exit 5, with the pairs before it")
def _():
    with open("fails", "w", encoding="ascii") as f:
        f.write("#!/bin/sh\necho x >> count\n[ $(wc -l < count) -lt 4 ]\n")
    os.chmod("fails", 0o755)
    status, d = ab("-n", "10", NOP, "--", "./fails")
    assert status == 5 and d["partial"] is True and len(d["data"]["pairs"]) == 3, d
    assert assay("ab", NOP, "--", "no-such-program-here").status == 5


@case("Ctrl-C is exit 130, and what was measured is shown and stored")
def _():
    with subprocess.Popen([ASSAY, "ab", "--json", "-n", "100000", "-o", "cut.assay", NOP, "--",
                           "sleep", "0.01"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as tool:
        time.sleep(1)
        tool.send_signal(signal.SIGINT)
        out, err = tool.communicate(timeout=60)
    assert tool.returncode == 130, (tool.returncode, err)
    d = json.loads(out)
    assert d["partial"] is True and d["data"]["pairs"], d
    rows = sqlite3.connect("cut.assay").execute(
        "SELECT command, count(*) FROM executions GROUP BY command").fetchall()
    assert len(rows) == 2, rows


@case("the text and the agent's text hold verdict, effect, interval, p and pairs")
def _():
    r = assay("ab", "-n", "12", f"{SPIN} 1", "--", f"{SPIN} 20")
    assert r.status == 1 and "regressed: B takes" in r.out and "12 pairs" in r.out, r
    r = assay("ab", "--agent", "-n", "12", f"{SPIN} 1", "--", f"{SPIN} 20")
    assert r.out.isascii() and "verdict: regressed" in r.out and " p = " in r.out, r
    assert r.out.splitlines()[-1].startswith("next: "), r


main()
