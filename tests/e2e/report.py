"""`assay report`: screens, documents, and what is refused."""
import json
import sqlite3

import golden
from tap import assay, case, main, run

MINE = """event cpu-clock ns
period 1000000
thread 7 7 prog
10 main:3;work:5;leaf@libm.so:9
20 main:3;work:6;+tiny:7
30 main:4;twice:8;twice:8;leaf@libm.so:9
5 ?@libx.so;leaf@libm.so
1 -
"""


def report(*words):
    """The document for the run MINE."""
    golden.make_run(MINE, "mine.assay")
    r = assay("report", "mine.assay", "--json", *words)
    assert r.status == 0, r
    return json.loads(r.out)


@case("the screens are as they were read last")
def _():
    golden.check("report.txt")


@case("the document has the rows of the contract, whole names, and they add up")
def _():
    d = report()
    assert d["schema"] == "assay.report/1", d
    data = d["data"]
    rows = data["rows"]
    assert data["total_samples"] == 66 == sum(r["self"] for r in rows), data
    for r in rows:
        assert set(r) >= {"name", "file", "line", "module", "self", "total", "self_share",
                          "total_share"}, r
        assert r["file"] is not None or r["file_reason"], r
    assert abs(sum(r["self_share"] for r in rows) - 1) < 1e-9
    main_row = next(r for r in rows if r["name"] == "main")
    assert (main_row["self"], main_row["total"], main_row["module"]) == (0, 60, "prog"), main_row


@case("--json holds every row unless told otherwise")
def _():
    golden.make_run("event cycles\n" + "".join(f"1 main;f{i}\n" for i in range(100)), "many.assay")
    whole = json.loads(assay("report", "many.assay", "--json").out)["data"]
    assert len(whole["rows"]) == 101 == whole["row_count"], whole["row_count"]
    few = json.loads(assay("report", "many.assay", "--json", "--limit", "7").out)["data"]
    assert len(few["rows"]) == 7 and few["row_count"] == 101
    text = assay("report", "many.assay").out
    assert "71 more rows" in text, text


@case("what was not measured is null with a reason, never 0")
def _():
    quality = report()["data"]["quality"]
    for key in ("lost_samples", "overhead_share", "recorder_cpu_ns"):
        assert quality[key] is None and quality[key + "_reason"], quality


@case("callers come as flat rows with depth and parent")
def _():
    data = report("--callers", "leaf")["data"]
    assert data["direction"] == "callers" and data["function"] == "leaf", data
    rows = data["rows"]
    assert rows[0]["name"] == "leaf" and rows[0]["depth"] == 0 and rows[0]["parent"] is None
    for i, row in enumerate(rows[1:], 1):
        assert row["parent"] < i and rows[row["parent"]]["depth"] == row["depth"] - 1, rows
        assert row["total"] <= rows[row["parent"]]["total"], rows


@case("agents get at most 40 lines of ASCII that end with the next command")
def _():
    golden.make_run("event cycles\nflags truncated broken\n" + "".join(
        f"note n{i}|something {i}|do {i}\n" for i in range(9)) + "".join(
        f"1 main;f\u00fc{i}\n" for i in range(100)), "many.assay")
    for words in ([], ["--by", "line"], ["--callees", "main"], ["--by", "thread"]):
        r = assay("report", "many.assay", "--agent", *words)
        assert r.status == 0 and r.out.isascii(), r
        lines = r.out.splitlines()
        assert len(lines) <= 40, (len(lines), r)
        assert lines[-1].startswith("next: assay "), r


@case("names for the next command are quoted for the shell")
def _():
    golden.make_run("event cycles\n9 it's a $(trap)\n", "trap.assay")
    last = assay("report", "trap.assay", "--agent").out.splitlines()[-1]
    r = run("sh", "-c", "printf '%s|' " + last.removeprefix("next: assay "))
    assert r.out == "annotate|trap.assay|it's a $(trap)|", r


@case("the views of the run file agree with the document")
def _():
    rows = {(r["name"], r["module"] or ""): (r["self"], r["total"])
            for r in report()["data"]["rows"]}
    with sqlite3.connect("mine.assay") as db:
        views = {(f, m or ""): (s, t) for f, m, s, t in db.execute(
            "SELECT function, module, self, total FROM top_functions")}
    assert rows == views, (rows, views)


@case("words that mean nothing here are refused with the way out")
def _():
    golden.make_run(MINE, "mine.assay")
    for words, said in ((["--callers", "laef"], "leaf"), (["--callers", "i"], "full name"),
                        (["--event", "cpu-clok"], "cpu-clock"), (["--thread", "prg"], "prog"),
                        (["--module", "libn.so"], "did you mean"), (["--min", "x"], "percentage"),
                        (["--time", "3"], "2s..5s"), (["--limit", "-1"], "whole number"),
                        (["--by", "colour"], "function|line"),
                        (["--callers", "a", "--callees", "b"], "choose one")):
        r = assay("report", "mine.assay", *words)
        assert r.status == 2 and said in r.err and not r.out, r


@case("a file that is no run, and a run without samples, are refused in one sentence")
def _():
    with open("x.assay", "w", encoding="utf-8") as file:
        file.write("not a run")
    golden.make_run("command stat\nevent cycles\n", "counts.assay")
    for name in ("x.assay", "none.assay", "counts.assay"):
        r = assay("report", name)
        assert r.status == 2 and not r.out and len(r.err.splitlines()) == 2, r


@case("a partial run is shown and said to be partial")
def _():
    golden.make_run(MINE + "partial\n", "part.assay")
    r = assay("report", "part.assay")
    assert r.status == 0 and "partial" in r.out, r
    assert json.loads(assay("report", "part.assay", "--json").out)["partial"] is True


main()
