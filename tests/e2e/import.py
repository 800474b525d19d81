"""`assay import`: perf's own output read back, and every file that cannot be."""
import json
import os
import sqlite3
import tempfile

from tap import assay, case, main, need, run, skip

FOLDER = tempfile.TemporaryDirectory()  # gone at the end
EVENTS = "task-clock,context-switches,page-faults"


def written(text):
    """A file with this text."""
    path = os.path.join(FOLDER.name, f"{len(os.listdir(FOLDER.name))}.txt")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def imported(path, *words, **how):
    r = assay("import", "--json", path, *words, **how)
    assert r.status == 0, r
    return json.loads(r.out)


def perf_stat(*options):
    """A file that the installed perf wrote, or skip."""
    path = written("")
    r = run(need("perf"), "stat", *options, "-o", path, "--", "sleep", "0.05")
    if r.status != 0:
        skip("perf stat does not run here")
    return path


def values(document):
    return {e["name"].split(":")[0]: e["value"] for e in document["data"]["events"]}


@case("the JSON of the installed perf is read, and agrees with what stands in it")
def _():
    path = perf_stat("-j", "-e", EVENTS)
    with open(path, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file if line.startswith("{")]
    d = imported(path)
    assert d["schema"] == "assay.import/1" and d["data"]["kind"] == "perf-stat-json", d
    assert d["data"]["samples"] is None and d["data"]["samples_reason"], d
    got = values(d)
    for line in lines:
        if line["counter-value"].startswith("<"):
            continue
        factor = 1e6 if line["unit"] == "msec" else 1
        name = line["event"].split(":")[0]
        if got[name] is not None:  # context-switches:u of an unprivileged perf is not trusted
            assert abs(got[name] - float(line["counter-value"]) * factor) < 1, (name, d)
    assert not any(d["data"]["skipped"].values()), d


@case("the fields of the installed perf are read with any separator, per CPU and in intervals")
def _():
    for options in (["-x,"], ["-x;"], ["-x|", "-r", "2"], ["-x::", "-I", "20"]):
        d = imported(perf_stat(*options, "-e", EVENTS))
        assert d["data"]["kind"] == "perf-stat-csv", d
        assert len(d["data"]["events"]) == 3, (options, d)
        assert values(d)["task-clock"] > 0, (options, d)
        assert not any(d["data"]["skipped"].values()), (options, d)
        assert bool(d["data"]["intervals"]) == ("-I" in options), (options, d)


@case("the output is read from a pipe, with the program's own words in between")
def _():
    text = "hello\n5,,page-faults,9,100.00,,\n"
    r = assay("import", "-", "--json", stdin=text)
    assert r.status == 0, r
    d = json.loads(r.out)
    assert values(d) == {"page-faults": 5}, r
    assert d["data"]["skipped"]["foreign_lines"] == 1, r
    assert [w["code"] for w in d["warnings"]] == ["import-lines-skipped"], r


@case("what was not counted is null with its reason, whatever share the line carries")
def _():
    d = imported(written("<not supported>;;cycles;0;100.00;;\n"
                         "<not counted>;;branches;0;100.00;;\n"))
    for event, status in zip(d["data"]["events"], ("not_supported", "not_counted")):
        assert event["value"] is None and event["value_reason"], d
        assert event["status"] == status, d


@case("an estimate stays what perf wrote, and says how much of the time was counted")
def _():
    d = imported(written("600,,cycles,40,40.00,,\n"))
    event = d["data"]["events"][0]
    assert event["value"] == 600 and event["scaled"] and event["running_share"] == 0.4, d


@case("a file that was cut off keeps its whole lines and is marked partial")
def _():
    path = written("5,,page-faults,9,100.00,,\n6,,cont")
    d = imported(path)
    assert d["partial"] and values(d) == {"page-faults": 5}, d
    assert d["data"]["skipped"]["truncated_lines"] == 1, d
    r = assay("import", path)
    assert r.status == 0 and "cut off" in r.out, r


@case("-o keeps it as a run that sqlite3 reads, not scaled again")
def _():
    path = os.path.join(FOLDER.name, "x.assay")
    imported(written("600,,cycles,40,40.00,,\n"), "-o", path)
    rows = sqlite3.connect(path).execute(
        "SELECT event, value, raw, running_share FROM counts").fetchall()
    assert rows == [("cycles", 600, None, 0.4)], rows


@case("a file that cannot be understood is refused in one sentence with the way out")
def _():
    for path, word in ((written(""), "empty"), (written("x\0y" * 1000), "unknown file format"),
                       (written(" Performance counter stats for 'x':\n"), "perf stat -j"),
                       ("/nonexistent/file", "no such file"), ("/", "directory")):
        r = assay("import", path)
        assert r.status == 2 and word in r.err, r
        assert len(r.err.splitlines()) == 2, r


@case("a run file that cannot be written is exit 7")
def _():
    r = assay("import", written("5,,page-faults,9,100.00,,\n"), "-o", "/nonexistent/x.assay")
    assert r.status == 7, r


@case("--agent is ASCII, at most 40 lines, and ends with the next command")
def _():
    text = "".join(f"{i},,event{i},9,100.00,,\n" for i in range(100))
    r = assay("import", "--agent", written(text))
    lines = r.out.splitlines()
    assert r.status == 0 and r.out.isascii() and len(lines) <= 40, r
    assert "nan" not in r.out and lines[-1].startswith("next: assay "), r


main()
