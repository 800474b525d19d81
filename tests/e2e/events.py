"""A program's own events: assay.h writes them when it is asked to, `assay import` reads them."""
import json
import os
import sqlite3

from tap import SOURCE, assay, case, main, need, run

PROGRAM = r"""
#include <pthread.h>
#include "assay.h"

static void *work(void *unused)
{
	for (int i = 0; i < 1000; i++) {
		ASSAY_SPAN("in a \"loop\"", "CPU");
		ASSAY_PROGRESS;
	}
	{
		ASSAY_SPAN("sleep", "IO");
		usleep(20000);
	}
	return unused;
}

int main(void)
{
	pthread_t threads[4];

	ASSAY_RUN_START("four\nthreads");
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	ASSAY_SAMPLE_COLLECTED(4000);
	ASSAY_HYPOTHESIS("lock_thrash", "rejects", "no lock is taken");
	ASSAY_RUN_COMPLETE(2);
	return 0;
}
"""


def program(compiler="gcc", *words):
    """The program above, built without a warning."""
    name = "program.cc" if "+" in compiler else "program.c"
    with open(name, "w", encoding="ascii") as file:
        file.write("#define _GNU_SOURCE\n" * ("+" not in compiler) + PROGRAM)
    r = run(need(compiler), "-O2", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror",
            *words, "-I", os.path.join(SOURCE, "include"), "-pthread", "-o", "program", name)
    assert r.status == 0 and not r.err, r
    return os.path.abspath("program")


def imported(path, *words):
    r = assay("import", path, "--json", *words)
    assert r.status == 0, r
    return json.loads(r.out)


@case("what assay.h writes is read back: spans of all threads, claims and the program's numbers")
def _():
    r = run(program(), env={"ASSAY_EVENTS": "run.ndjson"})
    assert r.status == 0 and not r.out and not r.err, r
    with open("run.ndjson", encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    assert [line["event"].split(".")[-1] for line in lines] == [
        "run_start", "sample_collected", "hypothesis_evaluated", "span_summary", "span_summary",
        "run_complete"], lines
    assert lines[0]["scenario"] == "four\nthreads" and lines[0]["run_id"], lines
    d = imported("run.ndjson")
    assert d["schema"] == "assay.import/1" and d["data"]["kind"] == "events", d
    assert not any(d["data"]["skipped"].values()) and not d["warnings"], d
    sleep, loop = d["data"]["spans"]
    assert sleep["name"] == "sleep" and sleep["category"] == "IO" and sleep["count"] == 4, d
    assert loop["name"] == 'in a "loop"' and loop["count"] == 4000, d
    assert sleep["cumulative_ns"] >= 4 * 20e6 and sleep["p50_ns"] >= 20e6 * 31 / 32, d
    assert loop["p50_ns"] <= loop["p95_ns"] <= loop["p99_ns"] <= loop["p999_ns"], d
    assert loop["p999_ns"] <= loop["max_ns"] <= loop["cumulative_ns"], d
    assert d["data"]["claims"] == [{"name": "lock_thrash", "verdict": "rejects",
                                    "evidence": "no lock is taken"}], d
    facts = {fact["name"]: fact["value"] for fact in d["data"]["facts"]}
    assert facts["program_samples"] == 4000 and facts["program_artifacts"] == 2, d
    assert facts["program_seconds"] >= 0.02, d


@case("spans are ranked by cumulative time, count or p95, for people and in the run file")
def _():
    run(program(), env={"ASSAY_EVENTS": "run.ndjson"})
    for by, first in (("cumulative", "sleep"), ("count", 'in a "loop"'), ("p95", "sleep")):
        assert imported("run.ndjson", "--by", by)["data"]["spans"][0]["name"] == first, by
    assert assay("import", "run.ndjson", "--by", "colour").status == 2
    r = assay("import", "run.ndjson", "-o", "run.assay")
    assert r.status == 0 and "sleep" in r.out and "lock_thrash" in r.out, r
    assert "next: sqlite3 run.assay 'SELECT * FROM spans'" in r.out, r
    r = assay("import", "run.ndjson", "--agent")
    assert r.status == 0 and len(r.out.splitlines()) <= 40 and r.out.isascii(), r
    with sqlite3.connect("run.assay") as db:
        rows = db.execute("SELECT name, count FROM spans ORDER BY total_ns DESC").fetchall()
    assert rows == [("sleep", 4), ('in a "loop"', 4000)], rows


@case("without ASSAY_EVENTS nothing is written, and a place that cannot be written is no harm")
def _():
    path = program()
    before = sorted(os.listdir("."))
    for value in (None, "", "/nowhere/at/all", "999", "99999999999999999999"):
        r = run(path, env={"ASSAY_EVENTS": value})
        assert r.status == 0 and not r.out and not r.err, (value, r)
    assert sorted(os.listdir(".")) == before
    r = run(path, env={"ASSAY_EVENTS": "/dev/full"})
    assert r.status == 0 and not r.err, r


@case("a number is a descriptor, and lines are added to a file that is there")
def _():
    path = program()
    r = run("sh", "-c", f"ASSAY_EVENTS=3 {path} 3>three; ASSAY_EVENTS=1 {path} | cat")
    assert r.status == 0 and r.out.count("\n") == 6, r
    with open("three", encoding="utf-8") as file:
        assert file.read().count("\n") == 6
    for _ in range(2):
        run(path, env={"ASSAY_EVENTS": "both"})
    d = imported("both")
    assert len(d["data"]["spans"]) == 4, d
    assert [w["code"] for w in d["warnings"]] == ["events-several-runs"], d


@case("the header is clean in C11 and C++ with both compilers, and in two files of one program")
def _():
    for compiler, standard in (("gcc", "-std=c11"), ("clang", "-std=c11"), ("g++", "-std=c++11"),
                               ("clang++", "-std=c++17")):
        path = program(compiler, standard)
        run(path, env={"ASSAY_EVENTS": f"{compiler}.ndjson"})
        assert len(imported(f"{compiler}.ndjson")["data"]["spans"]) == 2, compiler
    with open("second.c", "w", encoding="ascii") as file:
        file.write('#include "assay.h"\nvoid second(void);\nvoid second(void)\n{\n'
                   '\tASSAY_SPAN("shared", "CPU");\n}\n')
    with open("first.c", "w", encoding="ascii") as file:
        file.write('#include "assay.h"\nvoid second(void);\nint main(void)\n{\n\t{\n'
                   '\t\tASSAY_SPAN("shared", "CPU");\n\t}\n\tsecond();\n'
                   "\tASSAY_RUN_COMPLETE(0);\n\treturn 0;\n}\n")
    r = run("gcc", "-Wall", "-Wextra", "-Werror", "-I", os.path.join(SOURCE, "include"), "-o",
            "two", "first.c", "second.c")
    assert r.status == 0 and not r.err, r
    run("./two", env={"ASSAY_EVENTS": "two.ndjson"})
    span, = imported("two.ndjson")["data"]["spans"]
    assert span["name"] == "shared" and span["count"] == 2, span


@case("a log with other words, in the other spelling and cut off, is read as far as it goes")
def _():
    with open("log", "w", encoding="utf-8") as file:
        file.write('starting up\n\n# a comment\n{"event":"perf.profile.span_summary",'
                   '"span_name":"parse","cumulative":12.5,"count":3,"p50":4,"p95":5}\n'
                   '{"event":"perf.profile.span_summary","span_name":"late","cumul')
    d = imported("log")
    span, = d["data"]["spans"]
    assert span["cumulative_ns"] == 12500 and span["p95_ns"] == 5000, d
    assert span["p99_ns"] is None and span["p99_ns_reason"] and span["evidence"] == "-", d
    assert d["data"]["skipped"]["foreign_lines"] == 1, d
    assert d["data"]["skipped"]["truncated_lines"] == 1 and d["partial"] is True, d


@case("an agent gets at most 40 lines, however much a program says")
def _():
    with open("many.ndjson", "w", encoding="utf-8") as file:
        for i in range(100):
            file.write(json.dumps({"event": "perf.profile.span_summary", "span": f"span {i}" * 9,
                                   "count": i, "cumulative_us": i, "evidence": "long " * 40}))
            file.write("\n")
            file.write(json.dumps({"event": "perf.profile.hypothesis_evaluated", "name": f"h{i}",
                                   "verdict": "supports", "evidence": "long " * 40}) + "\n")
    r = assay("import", "--agent", "many.ndjson")
    assert r.status == 0 and r.out.isascii() and len(r.out.splitlines()) <= 40, r
    assert r.out.splitlines()[-1].endswith("assay import many.ndjson -o run.assay"), r


main()
