"""`assay scale`: the law is found in programs that count to it, and doubt is said."""
import json
import os
import signal
import sqlite3
import subprocess
import time
import xml.etree.ElementTree as xml

from tap import ASSAY, BUILD, assay, case, main, measured, script, skip

WORKLOADS = os.path.join(BUILD, "tests", "workloads")
LAWS, NOP, TEAM = (os.path.join(WORKLOADS, name) for name in ("laws", "nop", "team"))


def scale(*words, status=0, **how):
    """Run with --json; the document's data and the document."""
    r = assay("scale", "--json", *words, **how)
    assert r.status in (status if isinstance(status, tuple) else (status,)), r
    d = json.loads(r.out)
    return d["data"], d


def law_of(law, *words, status=0):
    """The law of a program by CPU time, which other programs disturb little.  Noise can leave it
    open (exit status 3), which is a right answer, but not the one that is looked for."""
    return scale("--metric", "cpu", "-n", "25", *words, f"{LAWS} {law} {{n}}",
                 status=(status, 3))[0]


@measured("each of the five laws is found")
def _():
    undecided = 0
    for word, law in (("1", "O(1)"), ("log", "O(log n)"), ("n", "O(n)"), ("nlog", "O(n log n)"),
                      ("n2", "O(n^2)")):
        verdict = law_of(word)["verdict"]
        undecided += not verdict["clear"]
        assert verdict["law"] == law or not verdict["clear"], (word, verdict)
    assert undecided <= 1, undecided


@measured("what grows faster than n^2 is not called n^2")
def _():
    verdict = law_of("n3")["verdict"]
    assert verdict["law"] == "worse than O(n^2)" and verdict["tail_slope_lo"] > 2.2, verdict


@measured("every size has its words, runs, prediction and multiple")
def _():
    data, d = scale("-n", "8", "--sizes", "10..1000x10,500", f"{LAWS} n {{n}}", status=(0, 3))
    assert [p["n"] for p in data["points"]] == [10, 100, 500, 1000], data
    for point in data["points"]:
        assert point["argv"] == [LAWS, "n", str(point["n"])], point
        assert len(point["runs"]) == 8 and point["predicted_ns"] > 0, point
        assert abs(point["per_unit_ns"] * point["n"] / point["median_ns"] - 1) < 1e-5, point
        assert point["p95_times_first"] is None and point["p95_times_first_reason"], point
    assert data["points"][0]["times_first"] == 1 < data["points"][3]["times_first"], data
    assert [f["law"] for f in data["fits"]] == ["O(1)", "O(log n)", "O(n)", "O(n log n)",
                                                "O(n^2)"], data
    assert d["schema"] == "assay.scale/1" and not d["partial"], d


@case("sizes are run in turns, every other round backwards")
def _():
    data, _ = scale("-n", "2", "--sizes", "1,2,3", f"{NOP} {{n}}", status=3)
    assert [[r["position"] for r in p["runs"]] for p in data["points"]] == [
        [1, 6], [2, 5], [3, 4]], data


@measured("--expect is a gate: 0 when met, 1 when worse, 2 for a law that is none")
def _():
    for law, status in (("O(n)", 0), ("n log n", 0), ("O(log n)", 1)):
        verdict = law_of("n", "--expect", law, status=status)["verdict"]
        assert verdict["expectation"] == ("worse" if status else "met"), verdict
    assert assay("scale", "--expect", "n^9", f"{LAWS} n {{n}}").status == 2


@case("too few sizes, runs or too near sizes are said, with what to add, and are exit 3")
def _():
    for words, doubt in ((("-n", "8", "--sizes", "1,1000"), "few-sizes"),
                         (("-n", "2"), "few-runs"),
                         (("-n", "8", "--sizes", "100,110,120,130,140"), "near-sizes")):
        verdict = scale(*words, f"{LAWS} n {{n}}", status=3)[0]["verdict"]
        assert verdict["doubt"] == doubt and not verdict["clear"], verdict
        assert verdict["suggested_sizes"] or verdict["suggested_runs"], verdict
        assert verdict["advice"], verdict


@case("{n} is filled in --prepare and --input, and --env puts it in a variable")
def _():
    for n in (1, 2, 4):
        with open(f"in.{n}", "w", encoding="ascii") as f:
            f.write(f"input {n}\n")
    reader = script("reader", 'read line; echo "$line size $SIZE" >> seen')
    prepare = script("prepare", "echo prepared $1 >> seen")
    scale("-n", "1", "--sizes", "1,2,4", "--env", "SIZE", "--input", "in.{n}", "--prepare",
          f"{prepare} {{n}}", reader, status=3, env={"SIZE": "old"})
    with open("seen", encoding="ascii") as f:
        assert f.read().splitlines() == [line for n in (1, 2, 4) for line in (
            f"prepared {n}", f"input {n} size {n}")]


@case("words behind -- are filled too; a pipe needs --shell")
def _():
    data, _ = scale("-n", "1", "--sizes", "3,7", "--", NOP, "a b", "x{n}y{n}", status=3)
    assert data["points"][1]["argv"] == [NOP, "a b", "x7y7"], data
    data, _ = scale("-n", "1", "--sizes", "3", "--shell", "echo {n} | cat > got", status=3)
    with open("got", encoding="ascii") as f:
        assert f.read() == "3\n"
    _, d = scale("-n", "1", "--sizes", "3,4,5", "echo {n} | cat", status=3)
    assert [w["code"] for w in d["warnings"]] == ["no-shell"], d


@case("wrong words are refused with a way out, before anything is run")
def _():
    ran = f"touch {os.getcwd()}/ran{{n}}"
    for words in ((), (NOP,), ("--sizes", "a,b", ran), ("--sizes", "", ran),
                  ("--sizes", "5..1", ran), ("--sizes", "0", ran), ("--sizes", "-3", ran),
                  ("--sizes", "1,2,x", ran), ("--sizes", "9" * 30, ran),
                  ("--sizes", "1..5000+1", ran), ("--env", "A=B", ran), ("-n", "0", ran),
                  ("--threads", "1,2", "--sizes", "1,2", ran), ("--input", "no.{n}", ran),
                  ("--threads", "1,2", "--expect", "O(n)", ran), ("--prepare", "'", ran)):
        r = assay("scale", *words)
        lines = r.err.splitlines()
        assert r.status == 2 and len(lines) == 2 and lines[0].startswith("assay: "), r
    assert assay("scale", "no-such-program-here {n}").status == 5
    assert [f for f in os.listdir(".") if f.startswith("ran")] == []


@case("decreasing and repeated sizes are put in order, and repetition is told")
def _():
    data, d = scale("-n", "1", "--sizes", "30,20,10,20", f"{NOP} {{n}}", status=3)
    assert [p["n"] for p in data["points"]] == [10, 20, 30], data
    assert d["warnings"][0]["code"] == "repeated-sizes", d


@case("a size that crashes ends it with 5, is named, and the others are kept")
def _():
    crash = script("crash", '[ "$1" = 100 ] && kill -SEGV $$', "exit 0")
    data, d = scale("-n", "5", "-o", "crash.assay", f"{crash} {{n}}", status=5)
    runs = {p["n"]: p["runs"] for p in data["points"]}
    assert d["partial"] and len(runs[50]) == 1 and runs[100][0]["signal"] == signal.SIGSEGV, d
    r = assay("scale", "-n", "5", f"{crash} {{n}}")
    assert r.status == 5 and "n = 100: run 1 was killed by signal 11" in r.out, r
    rows = sqlite3.connect("crash.assay").execute("SELECT count(*) FROM execution").fetchone()
    assert rows[0] == 4, rows


@case("Ctrl-C ends it with 130; what was measured is shown and stored, marked partial")
def _():
    step = script("step", "echo x >> steps", "sleep 0.01")
    with subprocess.Popen([ASSAY, "scale", "--json", "-n", "100000", "-o", "cut.assay",
                           f"{step} {{n}}"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as tool:
        for _ in range(1000):
            if os.path.exists("steps") and os.path.getsize("steps") > 40:
                break
            time.sleep(0.02)
        tool.send_signal(signal.SIGINT)
        out, err = tool.communicate(timeout=60)
    assert tool.returncode == 130, (tool.returncode, err)
    d = json.loads(out)
    assert d["partial"] and all(p["runs"] for p in d["data"]["points"]), d
    base = sqlite3.connect("cut.assay")
    assert base.execute("SELECT value FROM meta WHERE key = 'partial'").fetchone()[0] == 1


@case("200 sizes and huge numbers are run")
def _():
    data, _ = scale("-n", "1", "--sizes", "1..200+1", f"{NOP} {{n}}", status=3)
    assert len(data["points"]) == 200, len(data["points"])
    data, _ = scale("-n", "6", "--sizes", "1,1M,1G,1000G,9007199254740992", f"{NOP} {{n}}",
                    status=(0, 3))
    assert data["points"][4]["argv"][1] == "9007199254740992", data


@case("the picture is whole XML, the page has one row per size, an agent gets plain ASCII")
def _():
    r = assay("scale", "--agent", "-n", "6", "--svg", "law.svg", "--export-markdown", "law.md",
              "--save", "law", f"{LAWS} n2 {{n}}")
    lines = r.out.splitlines()
    assert r.status in (0, 3) and r.out.isascii() and len(lines) <= 40, r
    assert lines[-1].startswith("next: assay "), r
    root = xml.parse("law.svg").getroot()
    points = [e for e in root.iter() if (e.get("class") or "").startswith("point")]
    assert len(points) == 7, points  # six sizes and the legend
    with open("law.svg", encoding="utf-8") as f:
        text = f.read()
    assert "href" not in text and "<script" not in text, "it loads something"
    with open("law.md", encoding="utf-8") as f:
        rows = [line for line in f.read().splitlines() if line.startswith("|")]
    assert len(rows) == 8 and len({row.count("|") for row in rows}) == 1, rows
    assert os.path.exists(".assay/law.assay")


@case("the chart is drawn in the terminal's letters")
def _():
    plain = assay("scale", "-n", "5", f"{NOP} {{n}}", env={"LC_ALL": "C"}).out
    assert plain.isascii() and "o median" in plain, plain
    rich = assay("scale", "-n", "5", f"{NOP} {{n}}", env={"LC_ALL": "C.UTF-8"}).out
    assert "● median" in rich, rich


def team(kind, *words):
    return scale("--budget", "4s", "--threads", "1,2,4", *words, f"{TEAM} {kind} {{t}}",
                 status=(0, 3))[0]


@measured("one lock around all work is seen, and work without one is not blamed", alone=True)
def _():
    if len(os.sched_getaffinity(0)) < 2:
        skip("one CPU: threads cannot scale")
    free, lock = team("free")["verdict"], team("lock")["verdict"]
    assert lock["law"] in ("contention-bound", "coherency-bound"), lock
    # Two CPUs that are two threads of one core bring 1.04 to 1.8 times the work of one, but then
    # each is slower: nobody waits.
    assert free["law"] in ("linear", "unclear"), free
    assert lock["contention"] > 0.5 and lock["speedup"] < free["speedup"], (free, lock)


@case("the thread count comes as {t}, in --env, or in the variables of runtimes")
def _():
    show = script("show", 'echo "$1 $COUNT $OMP_NUM_THREADS" >> seen')
    scale("-n", "1", "--threads", "1,2", f"{show} {{t}}", status=3, env={"OMP_NUM_THREADS": "9"})
    scale("-n", "1", "--threads", "3", "--env", "COUNT", f"{show} -", status=3,
          env={"OMP_NUM_THREADS": None})
    _, d = scale("-n", "1", "--threads", "5", f"{show} -", status=3, env={"OMP_NUM_THREADS": "9"})
    with open("seen", encoding="ascii") as f:
        assert f.read().splitlines() == ["1  9", "2  9", "- 3 ", "-  5"]
    assert d["warnings"][0]["code"] == "thread-count", d
    data, _ = scale("-n", "1", "--threads", "auto", f"{NOP} {{t}}", status=3)
    assert len(data["points"]) >= 3 and data["points"][0]["threads"] == 1, data


main()
