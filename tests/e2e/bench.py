"""`assay bench`: every run kept, whatever happens to one of them."""
import csv
import json
import os
import signal
import sqlite3
import subprocess
import time

from bench_run import FAULTS, NOP, SPIN, bench, started
from tap import ASSAY, assay, case, main, measured, need, run, script, wait_for


def on_run(number, action):
    """A script that does `action` on its n-th run and succeeds on all others."""
    return script("counted", "echo x >> count", f"[ $(wc -l < count) = {number} ] && {action}",
                  "exit 0")


@case("each command has its words, its runs and a summary")
def _():
    d = bench("-n", "12", f"{SPIN} 1", f"'{NOP}' 'a b' \"\" c\\ d")
    first, second = d["data"]["commands"]
    assert first["argv"] == [SPIN, "1"], first
    assert second["argv"] == [NOP, "a b", "", "c d"], second
    for command in (first, second):
        assert len(command["runs"]) == 12, command
        for one in command["runs"]:
            assert one["wall_ns"] > 0 and one["cpu_ns"] >= 0 and one["max_rss_bytes"] > 0, one
            assert one["exit"] == 0 and one["signal"] == 0 and one["used"], one
        s = command["summary"]["wall_ns"]
        # The interval is widened when neighbouring runs are alike, also past the sample.
        assert s["median_lo"] <= s["median"] <= s["median_hi"], s
        assert s["min"] <= s["median"] <= s["max"], s
    assert d["schema"] == "assay.bench/1" and d["partial"] is False, d
    assert d["fingerprint"]["key"], d


@case("commands are run in turns, every other round backwards")
def _():
    d = bench("-n", "4", NOP, f"{NOP} b")
    a, b = ([r["position"] for r in c["runs"]] for c in d["data"]["commands"])
    assert a == [1, 4, 5, 8] and b == [2, 3, 6, 7], (a, b)


@measured("of two very different commands the faster one is named with a ratio")
def _():
    d = bench("-n", "12", f"{SPIN} 40", NOP)
    one, = d["data"]["comparisons"]
    assert one["faster"] == 1 and one["slower"] == 0 and one["outcome"] == "slower", one
    assert one["times"] > 1 and one["lo"] <= one["times"] <= one["hi"], one
    r = assay("bench", "-n", "12", f"{SPIN} 40", NOP)
    assert "times faster than" in r.out and r.status == 0, r


@case("a percentile that the runs cannot tell is null with the runs it takes")
def _():
    s = bench("-n", "10", NOP)["data"]["commands"][0]["summary"]["wall_ns"]
    p99 = next(p for p in s["percentiles"] if p["share"] == 0.99)
    assert p99["value"] is None and p99["value_reason"] and p99["runs_needed"] == 299, p99
    assert "worst of 10" in assay("bench", "-n", "10", NOP).out


@case("the number of runs is chosen, at least 10 and within its bounds")
def _():
    assert len(bench("--budget", "1ms", NOP)["data"]["commands"][0]["runs"]) == 10
    count = len(bench("--budget", "1m", "--max-runs", "15", NOP)["data"]["commands"][0]["runs"])
    assert count == 15, count


@case("a crash on run 7 is named, the six runs before it are kept, and it is exit 5")
def _():
    d = bench("-n", "20", "-o", "crash.assay", on_run(7, "kill -SEGV $$"), status=5)
    command = d["data"]["commands"][0]
    assert len(command["runs"]) == 7 and d["partial"] is True, d
    assert command["runs"][6]["signal"] == signal.SIGSEGV and not command["runs"][6]["used"]
    assert command["summary"]["runs_used"] == 6 == command["summary"]["wall_ns"]["count"], command
    rows = sqlite3.connect("crash.assay").execute(
        "SELECT signal, command FROM executions").fetchall()
    assert len(rows) == 7 and rows[6][0] == signal.SIGSEGV and "counted" in rows[0][1], rows
    os.remove("count")
    r = assay("bench", "-n", "20", on_run(7, "exit 3"))
    assert r.status == 5 and "run 7 exited with status 3" in r.out, r
    assert "6 good runs" in r.out, r


@case("--ignore-failure goes on, and uses the runs that failed")
def _():
    command = bench("-n", "9", "-i", on_run(7, "exit 3"))["data"]["commands"][0]
    assert [r["exit"] for r in command["runs"]] == [0] * 6 + [3, 0, 0], command
    assert command["summary"]["runs_used"] == 9 and command["summary"]["failed"] == 1, command


@case("Ctrl-C ends it with 130; the runs so far are shown and stored, marked partial")
def _():
    with subprocess.Popen([ASSAY, "bench", "--json", "-n", "100000", "-o", "cut.assay",
                           script("step", "echo x >> steps", "sleep 0.01")],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as tool:
        started("steps")
        time.sleep(0.3)
        tool.send_signal(signal.SIGINT)
        out, err = tool.communicate(timeout=60)
    assert tool.returncode == 130, (tool.returncode, err)
    d = json.loads(out)
    count = len(d["data"]["commands"][0]["runs"])
    assert d["partial"] is True and count >= 2, d
    base = sqlite3.connect("cut.assay")
    assert base.execute("SELECT count(*) FROM execution").fetchone()[0] == count
    assert base.execute("SELECT value FROM meta WHERE key = 'partial'").fetchone()[0] == 1


@case("kill -9 during run k leaves at least k - 1 runs, Ctrl-C too; both marked partial")
def _():
    # Each run is stored before the next one as long as that takes a twentieth of a run: runs of
    # 60 ms leave it 3 ms, which a sanitizer on a busy machine keeps.
    counting = script("counting", "echo x >> count", "sleep 0.06")
    for name, sent, status in (("int", signal.SIGINT, 130), ("kill", signal.SIGKILL, -9)):
        for k in (2, 7, 23):
            if os.path.exists("count"):
                os.unlink("count")
            with subprocess.Popen([ASSAY, "bench", "-n", "1000", "-o", f"{name}{k}.assay",
                                   counting],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as tool:
                while not os.path.exists("count") or os.path.getsize("count") < 2 * k:
                    time.sleep(0.001)
                tool.send_signal(sent)
                begun = os.path.getsize("count") // 2
            assert tool.returncode == status, tool.returncode
            base = sqlite3.connect(f"{name}{k}.assay")
            kept = base.execute("SELECT count(*) FROM execution").fetchone()[0]
            partial = base.execute("SELECT value FROM meta WHERE key = 'partial'").fetchone()
            assert kept >= begun - 1 and partial[0] == 1, (name, k, begun, kept, partial)
            assert assay("audit", f"{name}{k}.assay").status in (0, 1)


@case("a program that is not there is told once, before the first run")
def _():
    r = assay("bench", f"touch {os.getcwd()}/ran", "no-such-program-here a b")
    assert r.status == 5 and r.out == "" and "no-such-program-here" in r.err, r
    assert len(r.err.splitlines()) == 2 and not os.path.exists("ran"), r


@case("wrong words are refused with a way out")
def _():
    for words in (("",), ("'a",), (), ("-n", "0", NOP), ("--save", "a/b", NOP),
                  ("-o", "x.assay", "--save", "x", NOP), ("--input", "missing", NOP),
                  ("--min-runs", "9", "--max-runs", "3", NOP), ("--prepare", "'", NOP)):
        r = assay("bench", *words)
        assert r.status == 2, r
        lines = r.err.splitlines()
        assert len(lines) == 2 and lines[0].startswith("assay: "), r


@case("the peak RSS of a small child after a large one is its own")
def _():
    large, small = bench("-n", "4", f"{FAULTS} 25600", NOP)["data"]["commands"]
    floor = small["summary"]["max_rss_floor_bytes"]
    assert min(r["max_rss_bytes"] for r in large["runs"]) > 100e6, large
    assert max(r["max_rss_bytes"] for r in small["runs"]) < max(4e6, floor + 1e6), small
    assert floor < 30e6, floor  # a sanitizer adds 10 MB


@case("stdin is /dev/null, or a file from its beginning on each run")
def _():
    with open("words", "w", encoding="ascii") as f:
        f.write("one two\n")
    reader = script("reader", "cat >> seen")
    bench("-n", "3", reader, stdin="not for it\n")
    assert os.path.getsize("seen") == 0
    bench("-n", "3", "--input", "words", reader)
    with open("seen", encoding="ascii") as f:
        assert f.read() == "one two\n" * 3


@case("output goes nowhere, to a file, or through; --json keeps stdout for itself")
def _():
    assert assay("bench", "-n", "2", "-q", "echo loud").out.count("loud\n") == 0
    bench("-n", "2", "--program-output", "kept", "echo loud")
    with open("kept", encoding="ascii") as f:
        assert f.read() == "loud\n"
    r = assay("bench", "-n", "2", "--program-output", "inherit", "echo loud")
    assert r.out == "loud\n" * 2 and "median" in r.err, r
    r = assay("bench", "--json", "-n", "2", "--program-output", "inherit", "echo loud")
    json.loads(r.out)
    assert r.err == "loud\n" * 2, r


@case("processes that a run leaves behind are noticed")
def _():
    leaver = script("leaver", f"{SPIN} 300 &", "exit 0")
    command = bench("-n", "2", leaver)["data"]["commands"][0]
    assert [r["leftovers"] for r in command["runs"]] == [True, True], command
    assert "left processes running" in assay("bench", "-n", "1", leaver).out


@case("a run past the time limit is stopped with all its processes")
def _():
    stuck = script("stuck", "trap '' TERM", "sleep 1000 &", "echo $! > child", "wait", "wait",
                   "sleep 1000")
    d = bench("-n", "3", "--time-limit", "300ms", stuck, status=5)
    one, = d["data"]["commands"][0]["runs"]
    assert one["timed_out"] and one["signal"] == signal.SIGKILL and not one["used"], one
    with open("child", encoding="ascii") as f:
        child = int(f.read())
    wait_for(lambda: not os.path.exists(f"/proc/{child}"))
    r = assay("bench", "-n", "3", "--time-limit", "200ms", "sleep 1000")
    assert r.status == 5 and "time limit" in r.out, r


@case("--prepare is run before each run, and its failure is named")
def _():
    order = script("order", "echo prepare >> log")
    target = script("target", "echo run >> log")
    bench("-n", "3", "--prepare", order, target)
    with open("log", encoding="ascii") as f:
        assert f.read().split() == ["prepare", "run"] * 3
    r = assay("bench", "-n", "3", "--prepare", "false", target)
    assert r.status == 5 and "--prepare" in r.err, r


@case("warm-ups are run, marked and not used")
def _():
    command = bench("-n", "5", "--warmup", "2", NOP)["data"]["commands"][0]
    assert [r["warmup"] for r in command["runs"]] == [True, True] + [False] * 5, command
    assert command["summary"]["runs_used"] == 5, command


@case("without --shell a pipe is only a word, and a warning says so; with it a shell runs")
def _():
    d = bench("-n", "2", "echo a | wc")
    assert d["data"]["commands"][0]["argv"] == ["echo", "a", "|", "wc"], d
    assert d["warnings"][0]["code"] == "no-shell" and "--shell" in d["warnings"][0]["hint"], d
    d = bench("-n", "2", "--shell", "echo a | wc > shell-ran")
    assert d["data"]["commands"][0]["argv"][:2] == ["/bin/sh", "-c"], d
    assert os.path.getsize("shell-ran") > 0 and d["warnings"] == [], d


@case("the environment's size differs between runs")
def _():
    bench("-n", "6", script("sizes", "env | wc -c >> sizes.txt"))
    with open("sizes.txt", encoding="ascii") as f:
        assert len(set(f.read().split())) > 1


@case("exports hold the same runs, in hyperfine's keys, as Markdown and as CSV")
def _():
    d = bench("-n", "6", "--export-json", "h.json", "--export-markdown", "t.md", "--export-csv",
              "r.csv", NOP, f"{SPIN} 1")
    with open("h.json", encoding="utf-8") as f:
        results = json.load(f)["results"]
    ours = d["data"]["commands"]
    for theirs, command in zip(results, ours):
        assert {"command", "mean", "stddev", "median", "user", "system", "min", "max", "times",
                "exit_codes"} <= set(theirs), theirs
        assert [round(t * 1e9) for t in theirs["times"]] == [
            r["wall_ns"] for r in command["runs"]], theirs
    with open("r.csv", encoding="utf-8", newline="") as f:
        rows = list(csv.DictReader(f))
    assert len(rows) == 12 and int(rows[0]["wall_ns"]) == ours[0]["runs"][0]["wall_ns"], rows
    with open("t.md", encoding="utf-8") as f:
        lines = f.read().splitlines()
    bars = 9 if "Corrected [ms]" in lines[0] else 8  # beside other programs
    assert len(lines) == 4 and all(line.count("|") == bars for line in lines), lines


@case("hyperfine's own keys are all in the exported JSON")
def _():
    hyperfine = need("hyperfine")
    r = run(hyperfine, "-N", "-r", "3", "--export-json", "theirs.json", NOP)
    assert r.status == 0, r
    bench("-n", "3", "--export-json", "ours.json", NOP)
    keys = []
    for name in ("theirs.json", "ours.json"):
        with open(name, encoding="utf-8") as f:
            keys.append(set(json.load(f)["results"][0]))
    assert keys[0] <= keys[1], keys


@case("--save keeps a baseline by name")
def _():
    bench("-n", "3", "--save", "before", NOP)
    base = sqlite3.connect(".assay/before.assay")
    assert base.execute("SELECT count(*) FROM executions WHERE NOT warmup").fetchone()[0] == 3
    assert base.execute("SELECT count(*) FROM command").fetchone()[0] == 1


@case("an agent gets plain ASCII of at most 40 lines that ends with the next command")
def _():
    r = assay("bench", "--agent", "-n", "8", NOP, f"{SPIN} 1")
    lines = r.out.splitlines()
    assert r.status == 0 and r.out.isascii() and len(lines) <= 40, r
    assert lines[-1].startswith("next: assay "), r


main()
