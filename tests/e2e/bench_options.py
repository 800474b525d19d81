"""`assay bench`: parameters, set-up and clean-up, golden output, cold files, rates, noise."""
import csv
import hashlib
import json
import os
import signal
import sqlite3
import statistics
import subprocess
import time

from bench_run import FAULTS, NOP, SPIN, bench
from tap import ASSAY, BUILD, assay, case, chance, main, measured, run, script, skip

BARE = os.path.join(BUILD, "bench", "bare")


def lines_of(path):
    with open(path, encoding="ascii") as f:
        return f.read().split("\n")[:-1]


@case("set-up runs before all runs, clean-up after them, each text once")
def _():
    log = script("log", "echo $1 >> order")
    bench("-n", "2", "--setup", f"{log} setup", "--prepare", f"{log} prepare", "--cleanup",
          f"{log} cleanup", f"{log} a", f"{log} b")
    assert lines_of("order") == ["setup", "prepare", "a", "prepare", "b", "prepare", "b",
                                 "prepare", "a", "cleanup"], lines_of("order")


@case("a set-up that fails ends it before the first run, with what it said")
def _():
    bad = script("bad", "echo the reason >&2", "exit 4")
    r = assay("bench", "-n", "2", "--setup", bad, "--cleanup", "touch cleaned", "touch ran")
    assert r.status == 5 and "--setup" in r.err and "the reason" in r.err, r
    assert os.path.exists("cleaned") and not os.path.exists("ran")


@case("the clean-up is run after a failure and after Ctrl-C, and its own failure is told")
def _():
    r = assay("bench", "-n", "2", "--cleanup", "touch cleaned", "false")
    assert r.status == 5 and os.path.exists("cleaned"), r
    r = assay("bench", "-n", "2", "--cleanup", "false", NOP)
    assert r.status == 5 and "--cleanup" in r.err and "2 runs" in r.out, r
    slow = script("slow", "echo x > ready", "exec sleep 100")
    with subprocess.Popen([ASSAY, "bench", "--cleanup", "touch after", slow],
                          stdout=subprocess.DEVNULL) as tool:
        while not os.path.exists("ready"):
            time.sleep(0.02)
        time.sleep(0.2)
        tool.send_signal(signal.SIGINT)
        assert tool.wait(60) == 130
    assert os.path.exists("after")


@case("-P NAME MIN MAX makes one command of each number, in exact steps")
def _():
    d = bench("-n", "2", "-P", "x", "0.1", "0.3", "-D", "0.1", f"{NOP} {{x}} a{{x}}b {{y}}")
    commands = d["data"]["commands"]
    assert [c["argv"][1:] for c in commands] == [
        [v, f"a{v}b", "{y}"] for v in ("0.1", "0.2", "0.3")], commands
    assert [c["parameters"] for c in commands] == [{"x": v} for v in ("0.1", "0.2", "0.3")]
    d = bench("-n", "1", "--parameter-scan", "n", "-2", "3", "-D", "2", "--", NOP, "{n}")
    assert [c["argv"][1] for c in d["data"]["commands"]] == ["-2", "0", "2"], d


@case("several parameters give all combinations, in set-up, preparation and clean-up too")
def _():
    log = script("log", "echo $* >> order")
    d = bench("-n", "1", "-L", "mode", "a,,b", "-P", "x", "1", "2", "--setup", f"{log} s{{x}}",
              "--prepare", f"{log} p{{mode}}{{x}}", "--cleanup", f"{log} c{{x}}",
              f"{log} {{x}} '{{mode}}'")
    assert [c["parameters"] for c in d["data"]["commands"]] == [
        {"x": x, "mode": mode} for x in "12" for mode in ("a", "", "b")], d
    got = lines_of("order")
    assert got[:2] == ["s1", "s2"] and got[-2:] == ["c1", "c2"], got
    assert got[2:8] == ["pa1", "1 a", "p1", "1", "pb1", "1 b"], got


@case("parameters stand in the table, in hyperfine's JSON and in the CSV")
def _():
    r = assay("bench", "-n", "2", "-L", "mode", "fast,slow", "--export-json", "h.json",
              "--export-csv", "r.csv", f"{NOP} {{mode}}")
    assert r.status == 0 and any(line.split()[:1] == ["slow"] for line in r.out.splitlines()), r
    with open("h.json", encoding="utf-8") as f:
        assert [x["parameters"] for x in json.load(f)["results"]] == [
            {"mode": "fast"}, {"mode": "slow"}]
    with open("r.csv", encoding="utf-8", newline="") as f:
        rows = csv.DictReader(f)
        assert {row["parameter_mode"] for row in rows} == {"fast", "slow"}
        assert rows.fieldnames[-3:] == ["dirty", "parameter_mode", "queue_ns"], rows.fieldnames


@case("wrong parameters, amounts and contradictions are refused with a way out")
def _():
    for words in (("-P", "x", "1"), ("-P", "x", "a", "3", NOP), ("-P", "x", "3", "1", NOP),
                  ("-P", "x", "1", "3", "-D", "0", NOP), ("-D", "2", NOP),
                  ("-P", "x", "1", "2000", NOP), ("-L", "{x}", "a,b", NOP),
                  ("-L", "x", "a", "-L", "x", "b", NOP), ("-L", "x", "a,b"), ("--ops", "0", NOP),
                  ("--ops", "-5", NOP), ("--bytes", "5X", NOP), ("--ops", "5KiB", NOP),
                  ("--bytes", "99999999999T", NOP), ("--cache", "hot", NOP),
                  ("--cache", "warm", "--cold-file", NOP, NOP), ("--cold-file", "missing", NOP),
                  ("--cold-file", ".", NOP), ("--golden", "missing", NOP), ("--golden", ".", NOP),
                  ("--golden", "a", "--golden-save", "b", NOP),
                  ("--golden-save", "b", "--program-output", "inherit", NOP)):
        r = assay("bench", *words)
        assert r.status == 2 and len(r.err.splitlines()) == 2, r


@case("an exact number of runs and bounds of it exclude each other")
def _():
    r = assay("bench", "-n", "3", "--min-runs", "5", "true")
    assert r.status == 2 and "-n excludes" in r.err and len(r.err.splitlines()) == 2, r


@case("--golden-save keeps the first output, --golden holds every run against it")
def _():
    d = bench("-n", "3", "--golden-save", "golden", "seq 30000")
    with open("golden", "rb") as f:
        content = f.read()
    assert content == b"".join(b"%d\n" % i for i in range(1, 30001))
    assert d["data"]["output_sha256"] == hashlib.sha256(content).hexdigest(), d
    d = bench("-n", "3", "--warmup", "1", "--prepare", "echo noise", "-o", "kept.assay",
              "--golden", "golden", "seq 30000")
    assert d["data"]["output_sha256"] == hashlib.sha256(content).hexdigest(), d
    base = sqlite3.connect("kept.assay")
    assert base.execute("SELECT value FROM fingerprint WHERE name = 'sha256'").fetchone()[0] == (
        hashlib.sha256(content).hexdigest())


@case("another output is named with run and line, kept out of the numbers, and is exit 5")
def _():
    with open("golden", "w", encoding="ascii") as f:
        f.write("one\ntwo\nthree\n")
    turns = script("turns", "echo x >> count", "echo one", "[ $(wc -l < count) = 3 ] && "
                   "printf 'tw\\001o\\nthree\\n' || printf 'two\\nthree\\n'")
    r = assay("bench", "-n", "5", "-o", "kept.assay", "--golden", "golden", turns)
    assert r.status == 5 and "run 3 printed the wrong output" in r.out, r
    assert "run 3" in r.err + r.out and "line 2 is 'tw?o' where 'two'" in r.err + r.out, r
    flags = [f & 4096 for (f,) in sqlite3.connect("kept.assay").execute(
        "SELECT flags FROM execution ORDER BY id")]
    assert flags == [0, 0, 4096], flags
    for text, where in (("one\ntwo\n", "line 3 is '' where 'three'"),
                        ("one\ntwo\nthree\nfour\n", "line 4 is 'four' where ''"),
                        ("one\ntwo\nthree", "line 3 is 'three' where 'three'")):
        with open("out", "w", encoding="ascii") as f:
            f.write(text)
        d = bench("-n", "2", "--golden", "golden", "cat out", status=5)
        assert where in d["warnings"][0]["text"], d["warnings"]
        assert d["data"]["commands"][0]["summary"]["runs_used"] == 0, d


@case("a cold file is read from disk again, and the run says that it was cold")
def _():
    with open("data", "wb") as f:
        f.write(chance.randbytes(4 << 20))
    d = bench("-n", "2", "-o", "kept.assay", "--cold-file", "data", "cat data")
    assert d["data"]["cache_state"] == "cold files: data", d["data"]
    base = sqlite3.connect("kept.assay")
    assert base.execute("SELECT value FROM fingerprint WHERE name = 'cache_state'").fetchone()[
        0] == "cold files: data"
    assert bench("-n", "2", NOP)["data"]["cache_state"] == "warm"
    d = bench("-n", "2", "--cold-file", NOP, f"{NOP}", "--prepare", f"{NOP}")
    assert all(w["code"] == "not-cold" for w in d["warnings"]), d["warnings"]


@case("without the right to it, a cold cache is exit 6 with the way out")
def _():
    if os.geteuid():
        r = assay("bench", "-n", "1", "--cache", "cold", NOP)
    else:
        words = ["setpriv", "--reuid=65534", "--clear-groups", ASSAY, "bench", "-n", "1",
                 "--cache", "cold", "/bin/true"]
        done = subprocess.run(words, capture_output=True, text=True, check=False, cwd="/")
        if "setpriv" in done.stderr or done.returncode == 126:
            skip("rights cannot be given up here")
        r = done
        r.status, r.err = done.returncode, done.stderr
    assert r.status == 6 and "--cold-file" in r.err, r.err


@case("rates come with the interval of the median")
def _():
    d = bench("-n", "8", "--ops", "2K", "--bytes", "1MiB", f"{SPIN} 1")["data"]["commands"][0]
    wall = d["summary"]["wall_ns"]
    for key, amount in (("ops_per_s", 2000), ("bytes_per_s", 1 << 20)):
        assert d[key]["per_run"] == amount, d[key]
        assert abs(d[key]["median"] * wall["median"] / 1e9 / amount - 1) < 1e-6, (d[key], wall)
        assert d[key]["lo"] <= d[key]["median"] <= d[key]["hi"], d[key]
    text = assay("bench", "-n", "8", "--ops", "2K", "--bytes", "1MiB", NOP).out
    assert "ops per second" in text and "bytes per second" in text, text
    d = bench("-n", "2", NOP)["data"]["commands"][0]
    assert d["ops_per_s"] is None and "--ops" in d["ops_per_s_reason"], d


@case("a far tail below 1000 runs is marked; each run says what disturbed it")
def _():
    command = bench("-n", "12", NOP)["data"]["commands"][0]
    marks = {p["share"]: p["conservative"] for p in
             command["summary"]["wall_ns"]["percentiles"]}
    assert marks == {0.5: False, 0.75: False, 0.9: False, 0.95: False, 0.99: False, 0.999: True,
                     0.9999: True}, marks
    for one in command["runs"]:
        assert one["dirty"] == bool(one["noise"]), one
    s = command["summary"]
    assert s["dirty"] == sum(r["dirty"] for r in command["runs"])
    assert s["clean_wall_ns"]["count"] == 12 - s["dirty"], s
    assert s["wall_ns"]["effective_count"] > 0, s


@case("the least peak RSS that can be seen is below 1.4 MB, also with a run file open")
def _():
    for words in ((), ("-o", "x.assay"), ("--save", "x")):
        floors = []
        # One start varies by itself: the kernel counts pages per CPU, up to 32 before it adds them.
        for _ in range(5):
            small = bench("-n", "5", *words, f"{FAULTS} 25600", NOP)["data"]["commands"][1][
                "summary"]
            if small["max_rss_floor_bytes"] > 4e6:
                skip("a sanitizer makes the starter large")
            assert small["max_rss_bytes"]["max"] < 2e6, small
            floors.append(small["max_rss_floor_bytes"])
        assert statistics.median(floors) < 1.4e6, floors


@measured("the peak RSS of a 1.4 MB child after one of 100 MB is what a bare loop sees, within 5 %")
def _():
    # One reading varies by 0.2 MB whoever takes it: the kernel counts pages per CPU.  The bare loop
    # has a size of its own below which it sees nothing; what is too much is what was inherited.
    alone = [int(line) * 1024 for line in run(BARE, "-m", "200", FAULTS, "1").out.split()]
    truth = statistics.median(alone)
    halves = statistics.median(alone[:100]), statistics.median(alone[100:])
    assert abs(halves[0] / halves[1] - 1) < 0.05, f"a bare loop does not agree with itself {halves}"
    for words in ((), ("-o", "peak.assay"), ("--save", "peak")):
        large, small = bench("-n", "60", *words, f"{FAULTS} 25600", f"{FAULTS} 1")["data"][
            "commands"]
        if small["summary"]["max_rss_floor_bytes"] > truth:
            skip("a sanitizer makes the starter large")
        assert min(r["max_rss_bytes"] for r in large["runs"]) > 100e6, large["summary"]
        seen = statistics.median(r["max_rss_bytes"] for r in small["runs"])
        assert 0.8 < seen / truth < 1.05, (words, seen, truth)


main()
