"""`assay diff`: screens, documents, and when two runs cannot be compared."""
import json

import golden
from tap import assay, case, main, measured, need

OLD = "event cpu-clock ns\nperiod 1000000\nexecution 2 2\n1000 main;slow\n1000 main;other\n"
NEW = "event cpu-clock ns\nperiod 1000000\nexecution 2 2\n300 main;slow\n1000 main;other\n"


@case("the screens are as they were read last")
def _():
    golden.check("diff.txt")


@case("the document has share, cost and interval of each row")
def _():
    golden.make_run(OLD, "a.assay")
    golden.make_run(NEW, "b.assay")
    r = assay("diff", "a.assay", "b.assay", "--json")
    assert r.status == 0, r
    data = json.loads(r.out)["data"]
    row = data["rows"][0]
    assert row["name"] in ("slow", "other") and row["verdict"] == "changed", row
    slow = next(x for x in data["rows"] if x["name"] == "slow")
    assert abs(slow["change_share"] - (300 / 1300 - 0.5)) < 1e-9, slow
    assert slow["change_low_share"] < slow["change_share"] < slow["change_high_share"] < 0, slow
    assert slow["cost_change"] == -7e8 and slow["cost_changed"], slow
    other = next(x for x in data["rows"] if x["name"] == "other")
    assert other["verdict"] == "changed" and not other["cost_changed"], other
    assert data["changed"] + data["possible"] + data["same"] == len(data["rows"]), data


@case("a run compared with itself shows no change")
def _():
    golden.make_run(OLD, "a.assay")
    for by in ("function", "line", "module", "file"):
        r = assay("diff", "a.assay", "a.assay", "--by", by)
        assert r.status == 0 and "0 changed" in r.out, r


@case("other events, other machines and other kinds of runs are exit 4, with the reasons")
def _():
    golden.make_run(OLD + "field cpu model Ore\n", "a.assay")
    golden.make_run(NEW + "field cpu model Tin\n", "machine.assay")
    golden.make_run(NEW.replace("cpu-clock ns", "cycles"), "event.assay")
    golden.make_run("command stat\nevent cpu-clock\n", "counts.assay")
    for name, said in (("machine", "cpu.model"), ("event", "cycles"), ("counts", "assay stat")):
        r = assay("diff", "a.assay", f"{name}.assay")
        assert r.status == 4 and said in r.out, r
        d = json.loads(assay("diff", "a.assay", f"{name}.assay", "--json").out)["data"]
        assert not d["comparable"] and d["refusals"] and not d["rows"], d
    r = assay("diff", "a.assay", "machine.assay", "--force")
    assert r.status == 0 and "forced" in r.out, r


@case("agents get at most 40 lines that end with the next command")
def _():
    golden.make_run("event cycles\n" + "".join(f"50 main;f{i}\n" for i in range(60)), "a.assay")
    golden.make_run("event cycles\n" + "".join(f"50 main;g{i}\n" for i in range(60)), "b.assay")
    r = assay("diff", "a.assay", "b.assay", "--agent")
    lines = r.out.splitlines()
    assert r.status == 0 and len(lines) <= 40 and r.out.isascii(), r
    assert lines[-1].startswith("next: assay "), r


@case("two runs without samples, and a file that is none, are wrong usage")
def _():
    golden.make_run("command stat\nevent cycles\n", "counts.assay")
    for words in (("counts.assay", "counts.assay"), ("counts.assay", "none.assay"), ("x",)):
        r = assay("diff", *words)
        assert r.status == 2 and not r.out and r.err, r


@measured("runs with counts are compared event by event, and say which explains the time")
def _():
    work = "i=0; while [ $i -lt {} ]; do i=$((i+1)); done"
    for name, steps in (("a.assay", 20000), ("b.assay", 100000)):
        r = assay("stat", "-r", "6", "-e", "task-clock,page-faults,cycles,instructions", "-o", name,
                  "--", "sh", "-c", work.format(steps))
        assert r.status == 0, r
    r = assay("diff", "a.assay", "b.assay", "--json")
    assert r.status == 0, r
    data = json.loads(r.out)["data"]
    counts = data["counts"]
    assert data["rows"] is None and data["rows_reason"], data
    assert counts["a_runs"] == counts["b_runs"] == 6, counts
    events = {e["name"].split(":")[0]: e for e in counts["events"]}
    # Five times the steps: whatever else runs on the machine, CPU time has gone up.
    assert counts["time"]["change_share"] > 0.2 and counts["time"]["moved"], counts["time"]
    assert events["task-clock"]["change_low_share"] > 0, events["task-clock"]
    if events["cycles"]["a"] is None:
        assert events["cycles"]["a_reason"] and counts["instructions_share"] is None, counts
    else:
        assert counts["instructions_share"] > 0.5, counts
    for words in ((), ("--agent",)):
        r = assay("diff", "a.assay", "b.assay", *words)
        assert r.status == 0 and "task-clock" in r.out and "counts" in r.out, r
    assert len(r.out.splitlines()) <= 40, r


@case("a single run of each side has a change without an interval")
def _():
    for name in ("a.assay", "b.assay"):
        r = assay("stat", "-e", "task-clock", "-o", name, "--", "true")
        assert r.status == 0, r
    r = assay("diff", "a.assay", "b.assay", "--json")
    assert r.status == 0, r
    event = json.loads(r.out)["data"]["counts"]["events"][0]
    assert event["change_share"] is not None and event["moved"] is None, event
    assert event["change_low_share_reason"], event


@case("counts of two simulations are compared exactly, and time is not; nor with a measured run")
def _():
    need("valgrind")
    work = "i=0; while [ $i -lt {} ]; do i=$((i+1)); done"
    for name, steps in (("a.assay", 100), ("b.assay", 300)):
        r = assay("stat", "--engine", "sim", "-e", "instructions", "-o", name,
                  "--", "sh", "-c", work.format(steps))
        assert r.status == 0, r
    r = assay("diff", "a.assay", "b.assay", "--json")
    assert r.status == 0, r
    counts = json.loads(r.out)["data"]["counts"]
    event = counts["events"][0]
    assert counts["a_simulated"] and counts["b_simulated"], counts
    assert event["simulated"] and event["exact"] and event["moved"], event
    assert event["difference"] == event["b"] - event["a"] > 0, event
    assert abs(event["change_share"] - (event["b"] / event["a"] - 1)) < 1e-9, event
    assert event["change_low_share"] is None and event["change_low_share_reason"], event
    assert counts["time"]["a"] is None and "simulated" in counts["time"]["a_reason"], counts
    for words in ((), ("--agent",)):
        r = assay("diff", "a.assay", "b.assay", *words)
        assert r.status == 0 and "simulated" in r.out and "not timed" in r.out, r
        assert "too few runs" not in r.out and "unknown" not in r.out and " ms" not in r.out, r
    r = assay("stat", "-e", "instructions,task-clock", "-o", "m.assay", "--", "true")
    assert r.status == 0, r
    r = assay("diff", "a.assay", "m.assay", "--json")
    counts = json.loads(r.out)["data"]["counts"]
    assert counts["a_simulated"] and not counts["b_simulated"], counts
    assert all(e["change_share"] is None and e["change_share_reason"] for e in counts["events"])
    assert "can be compared" in assay("diff", "a.assay", "m.assay").out


main()
