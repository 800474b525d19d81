"""`assay ab`: verdicts on work that is known, and what stands on each side of --."""
import json
import os
import signal
import sqlite3
import subprocess

from tap import (ASSAY, BUILD, assay, case, lines_in, main, measured, need, run, script, skip,
                 wait_for)

WORKLOADS = os.path.join(BUILD, "tests", "workloads")
NOP, SPIN = (os.path.join(WORKLOADS, name) for name in ("nop", "spin"))


def ab(*words, status=None, **how):
    r = assay("ab", "--json", *words, **how)
    assert status is None or r.status == status, r
    return r.status, json.loads(r.out)


@measured("ten per cent more work is a regression, exit 1, in both metrics' direction")
def _():
    status, d = ab(SPIN, "100", "--", SPIN, "110")
    verdict = d["data"]["verdict"]
    assert status == 1 and verdict["outcome"] == "regressed", d["data"]["metrics"]
    assert verdict["lo"] <= verdict["effect"] <= verdict["hi"] and verdict["effect"] > 0, verdict
    assert verdict["p"] < 0.01, verdict


@measured("ten per cent less work is an improvement, exit 0")
def _():
    status, d = ab("--budget", "20s", SPIN, "110", "--", SPIN, "100", "--budget", "60s")
    assert d["data"]["b"]["argv"] == [SPIN, "100", "--budget", "60s"], d["data"]["b"]["argv"]
    assert d["data"]["verdict"]["outcome"] == "improved" and status == 0, d["data"]["metrics"]


@measured("the same program on both sides never regresses here, and its status says which it is")
def _():
    status, d = ab("--budget", "5s", "--min-effect", "10%", SPIN, "20", "--", SPIN, "20")
    outcome = d["data"]["verdict"]["outcome"]
    assert outcome in ("equivalent", "inconclusive"), d["data"]["metrics"]
    assert status == {"equivalent": 0, "inconclusive": 3}[outcome], (status, outcome)


@case("two pairs are inconclusive, exit 3, and say so before they run and how many it takes")
def _():
    status, d = ab("-n", "2", NOP, "--", NOP)
    assert status == 3 and d["data"]["verdict"]["outcome"] == "inconclusive", d
    assert len(d["data"]["pairs"]) == 2, d
    assert d["data"]["metrics"][0]["pairs_needed"] > 2, d
    assert d["data"]["metrics"][0]["lo"] is None and d["data"]["metrics"][0]["lo_reason"], d
    assert [w["code"] for w in d["warnings"]] == ["few-pairs"], d["warnings"]


@case("people and agents are warned of too few pairs once, people before the runs")
def _():
    warning = "2 pairs cannot tell a change from chance"
    r = assay("ab", "-n", "2", NOP, "--", NOP)
    assert r.err.startswith(f"assay: {warning}") and "use -n 3" in r.err, r
    assert (r.out + r.err).count(warning) == 1, r
    r = assay("ab", "--agent", "-n", "2", NOP, "--", NOP)
    assert r.out.count(warning) == 1 and warning not in r.err, r
    r = assay("ab", "--json=ab.json", "-n", "2", NOP, "--", NOP)
    assert (r.out + r.err).count(warning) == 1, r
    with open("ab.json", encoding="utf-8") as f:
        assert [w["code"] for w in json.load(f)["warnings"]] == ["few-pairs"]
    r = assay("ab", "--quiet", "-n", "2", NOP, "--", NOP)
    assert warning not in r.out + r.err, r


@case("p, interval and verdict of every metric agree, and the interval says how sure it is")
def _():
    for n in ("3", "5", "9"):
        _, d = ab("-n", n, NOP, "--", NOP)
        for m in d["data"]["metrics"]:
            beyond = m["lo"] > 0 or m["hi"] < 0
            assert m["never_varies"] or m["confidence"] in (0.95, 0.99, 0.995), m
            assert m["outcome"] == "equivalent" or beyond == (m["p"] < m["alpha"]), m
            assert beyond or m["outcome"] not in ("improved", "regressed"), m


@case("pairs are neighbours in the order A B, B A")
def _():
    _, d = ab("-n", "6", NOP, "--", NOP)
    assert [p["first"] for p in d["data"]["pairs"]] == ["a", "b"] * 3, d["data"]["pairs"]
    names = [m["name"] for m in d["data"]["metrics"] if m["decides"]]
    wall = "corrected wall" if d["data"]["corrected_wall"]["decides"] else "wall"
    assert names in ([wall, "cpu"], [wall]), d["data"]["metrics"]


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
    step = script("step", "echo x >> steps", "sleep 0.01")
    with subprocess.Popen([ASSAY, "ab", "--json", "-n", "100000", "-o", "cut.assay", NOP, "--",
                           step], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as tool:
        wait_for(lambda: lines_in("steps") > 5)
        tool.send_signal(signal.SIGINT)
        out, err = tool.communicate(timeout=60)
    assert tool.returncode == 130, (tool.returncode, err)
    d = json.loads(out)
    assert d["partial"] is True and d["data"]["pairs"], d
    rows = sqlite3.connect("cut.assay").execute(
        "SELECT command, count(*) FROM executions GROUP BY command").fetchall()
    assert len(rows) == 2, rows


@measured("the text and the agent's text hold verdict, effect, interval, p and pairs")
def _():
    r = assay("ab", "-n", "12", f"{SPIN} 1", "--", f"{SPIN} 20")
    assert r.status == 1 and "regressed: B takes" in r.out and "12 pairs" in r.out, r
    assert " (between +" in r.out and "does not support: " in r.out, r
    assert "BelowParity" in r.out, r
    r = assay("ab", "--agent", "-n", "12", f"{SPIN} 1", "--", f"{SPIN} 20")
    assert r.out.isascii() and "verdict: regressed" in r.out and " p = " in r.out, r
    assert r.out.splitlines()[-1].startswith("next: "), r


@case("the agent's text is at most 600 bytes and holds what it takes to act on it")
def _():
    os.symlink(SPIN, "spin")
    r = assay("ab", "--agent", "-n", "12", "-o", "kept.assay", "./spin 1", "--", "./spin 20")
    assert len(r.out) <= 600, (len(r.out), r)
    for part in ("A: ./spin 1", "wall: A ", " ms, +", " [+", " p = ", "12 pairs",
                 "FULLY_COMPARABLE", "runs: kept.assay"):
        assert part in r.out, (part, r)


@case("memory and page faults are told beside, and do not make a regression")
def _():
    faults = os.path.join(WORKLOADS, "faults")
    _, d = ab("-n", "12", faults, "100", "--", faults, "3000")
    beside = {m["name"]: m for m in d["data"]["metrics"] if not m["decides"]}
    assert beside["faults"]["outcome"] == "regressed", beside
    # Left out below what can be seen: with a sanitizer in it the starter itself takes more.
    if "memory" in beside:
        assert beside["memory"]["median_b_bytes"] > beside["memory"]["median_a_bytes"], beside
    else:
        assert d["data"]["b"]["summary"]["max_rss_floor_bytes"] > 8 << 20, d["data"]["b"]["summary"]
    assert d["data"]["explanation"] is None or "page faults from" in d["data"]["explanation"][
        "text"], d["data"]["explanation"]


@case("--same-output compares what A and B print before anything is measured")
def _():
    _, d = ab("-n", "2", "--same-output", "echo x", "--", "printf 'x\\n'")
    assert d["data"]["same_output"] is True, d["data"]
    r = assay("ab", "-n", "2", "--same-output", "printf 'x\\ny\\001\\n'", "--", "printf 'x\\nz'")
    assert r.status == 5 and "line 2 is 'y?' in A and 'z' in B" in r.err, r
    r = assay("ab", "-n", "2", "--same-output", "false", "--", "false")
    assert r.status == 5 and "A exited with status 1" in r.err, r
    _, d = ab("-n", "2", "echo x", "--", "echo y")
    assert d["data"]["same_output"] is None and d["data"]["same_output_reason"], d["data"]


@case("programs that were built differently are compared with a warning that names it")
def _():
    cc = need("cc")
    with open("p.c", "w", encoding="ascii") as f:
        f.write("int main(void) { return 0; }\n")
    for name, flags in (("fast", "-O2"), ("slow", "-O0"), ("asan", "-O2 -fsanitize=address")):
        if run(cc, "-g", *flags.split(), "-o", name, "p.c").status:
            skip("the compiler cannot link " + flags)
    _, d = ab("-n", "2", "./fast", "--", "./slow")
    found = d["data"]["build_differences"]
    assert [(x["what"], x["a"], x["b"]) for x in found] == [("optimisation", "-O2", "-O0")], found
    assert d["data"]["verdict"]["comparability"] == "ADVISORY", d["data"]["verdict"]
    _, d = ab("-n", "2", "./fast", "--", "./asan")
    assert any("sanitizers is none in A and address in B" in w["text"] for w in d["warnings"]), d
    _, d = ab("-n", "3", "./fast", "--", "./fast")
    assert not d["warnings"] and not d["data"]["build_differences"], d["warnings"]


@measured("--events counts over more runs; what has no counter has a reason")
def _():
    _, d = ab("-n", "6", "--events", f"{SPIN} 1", "--", f"{SPIN} 2")
    events = {e["name"].split(":")[0]: e for e in d["data"]["events"]}
    assert events["page-faults"]["a"] > 0, events
    assert events["task-clock"]["b"] > events["task-clock"]["a"], events
    for event in events.values():
        assert event["a"] is not None or event["a_reason"], event
    assert d["data"]["explanation"]["text"], d["data"]


@case("--after multiplies this change with earlier ones, and refuses a run of something else")
def _():
    ab("-n", "6", "-o", "one.assay", f"{SPIN} 5", "--", f"{SPIN} 10")
    _, d = ab("-n", "6", "--after", "one.assay", "--after", "one.assay", f"{SPIN} 10", "--",
              f"{SPIN} 5")
    first, second, last = d["data"]["compound"]
    assert first["run"] == "one.assay" and last["run"] == "", d["data"]["compound"]
    product = (1 + first["effect"]) * (1 + second["effect"]) * (1 + last["effect"]) - 1
    assert abs(last["cumulative"] - product) < 1e-9, d["data"]["compound"]
    assay("bench", "-n", "2", "-o", "other.assay", NOP)
    for name in ("other.assay", "none.assay"):
        r = assay("ab", "--after", name, NOP, "--", NOP)
        assert r.status == 2 and len(r.err.splitlines()) == 2, r


@case("processes that A leaves running are named: they run on beside B")
def _():
    r = assay("ab", "-n", "3", "sh -c 'sleep 2 & true'", "--", NOP)
    assert "A left processes running in " in r.out, r
    _, d = ab("-n", "3", "sh -c 'sleep 2 & true'", "--", NOP)
    assert d["data"]["disturbed"]["a_leftover_runs"] >= 1, d["data"]["disturbed"]


main()
