"""`assay harness`: what it writes builds without a warning, works, and is measured at once."""
import json
import os
import re

from tap import assay, case, main, need, run, skip

STRICT = ["-O2", "-g", "-Wall", "-Wextra", "-Werror"]


def written(*words):
    """The JSON of a harness written in the scratch folder."""
    r = assay("harness", *words, "--json")
    assert r.status == 0, r
    return json.loads(r.out)["data"]


def said(program, *words):
    """What a run of a harness printed."""
    r = run(program, *words)
    assert r.status == 0, r
    assert re.fullmatch(r"\d+ iterations, checksum [0-9a-f]{16}\n", r.out), r
    assert re.search(r"[0-9.]+ ns per iteration", r.err), r
    return r.out


def instructions(program, iterations):
    """Instructions of an iteration as cachegrind counts them: exact on any machine."""
    counts = []
    for count in (10, 10 + iterations):
        r = run(need("valgrind"), "--tool=cachegrind", "--cache-sim=no",
                "--cachegrind-out-file=counted", program, "-n", count)
        assert r.status == 0, r
        with open("counted", encoding="utf-8") as file:
            counts.append(int(re.search(r"^summary: (\d+)", file.read(), re.MULTILINE)[1]))
    return (counts[1] - counts[0]) / iterations


def built_with(compiler, source, program):
    r = run(need(compiler), *STRICT, "-o", program, source)
    assert r.status == 0 and not r.err, r
    return os.path.abspath(program)


@case("the harness builds without a warning under gcc and clang, and with the command it names")
def _():
    d = written("parse_line")
    assert d["path"] == "parse_line.c" and d["lang"] == "c", d
    for compiler in ("gcc", "clang"):
        for level in ("-O0", "-O3"):
            r = run(need(compiler), *STRICT, level, "-std=c11", "-D_GNU_SOURCE", "-o",
                    "out", d["path"])
            assert r.status == 0 and not r.err, r
    need("cc")
    r = run("sh", "-c", d["build"])
    assert r.status == 0 and not r.err, r
    assert any(step["line"].startswith("assay bench") for step in d["next"]), d
    with open(d["path"], encoding="ascii") as file:
        assert d["build"] in file.read()


@case("the work is not removed: an iteration does all of it, and eightfold work is eightfold")
def _():
    written("small")
    with open("small.c", encoding="ascii") as file:
        text = file.read()
    assert "small_items = 1024" in text
    with open("large.c", "w", encoding="ascii") as file:
        file.write(text.replace("small_items = 1024", "small_items = 8192"))
    for compiler in ("gcc", "clang"):
        small = built_with(compiler, "small.c", "small")
        large = built_with(compiler, "large.c", "large")
        first, second = instructions(small, 1000), instructions(large, 1000)
        assert first > 0.1 * 1024, (compiler, first)  # vectors do several items at once
        assert 7 < second / first < 9, (compiler, first, second)


@case("the same number of iterations prints the same words, seconds are kept, nonsense is refused")
def _():
    written("again")
    program = built_with("gcc", "again.c", "again")
    assert said(program, "-n", "1000") == said(program, "-n", "1000")
    r = run(program, "0.2")
    assert r.status == 0 and float(re.match(r"([0-9.]+) s", r.err)[1]) >= 0.2, r
    for words in (["x"], ["0"], ["-1"], ["-n"], ["-n", "0"], ["-n", "1", "2"], ["1", "2"], ["nan"]):
        r = run(program, *words)
        assert r.status == 2 and "usage" in r.err, r


@case("assay bench measures it, and assay record finds its work as the hottest function")
def _():
    written("spin")
    program = built_with("gcc", "spin.c", "spin")
    r = assay("bench", "-n", "5", "--json", f"{program} -n 20000")
    assert r.status == 0, r
    assert json.loads(r.out)["data"]["commands"][0]["summary"]["wall_ns"]["median"] > 0, r
    r = assay("record", "-F", "999", "-o", "run.assay", "--", program, "0.5")
    if r.status == 6:
        skip("samples cannot be taken here: " + r.err.splitlines()[0])
    assert r.status == 0, r
    rows = json.loads(assay("report", "run.assay", "--json").out)["data"]["rows"]
    assert rows[0]["name"] == "spin_work" and rows[0]["self_share"] > 0.8, rows[:3]


@case("the Rust harness builds without a warning, works, and its work is not removed")
def _():
    d = written("mix", "--lang", "rust")
    assert d["path"] == "mix.rs" and "rustc" in d["build"], d
    if run(need("rustc"), "--version").status != 0:
        skip("rustc is there and does not run")
    r = run("sh", "-c", d["build"] + " -D warnings", limit_s=120)
    assert r.status == 0 and not r.err, r
    assert instructions("./mix", 1000) > 0.1 * 1024
    assert said("./mix", "-n", "20000") == said("./mix", "-n", "20000")
    r = run("./mix", "-n")
    assert r.status == 2 and "usage" in r.err, r


@case("a file that is there is never overwritten, unless --force says so")
def _():
    with open("mine.c", "w", encoding="ascii") as file:
        file.write("precious\n")
    r = assay("harness", "mine")
    assert r.status == 2, r
    assert r.err == ("assay: mine.c already exists and was not changed\n"
                     "  choose another name, use -o FILE, or replace it with --force\n"), r
    with open("mine.c", encoding="ascii") as file:
        assert file.read() == "precious\n"
    os.symlink("nowhere", "link.c")
    assert assay("harness", "link").status == 2 and os.path.islink("link.c")
    assert assay("harness", "mine", "--force").status == 0
    with open("mine.c", encoding="ascii") as file:
        assert "mine_work" in file.read()


@case("a bad name, a folder that is missing and a full answer on stdout each have their words")
def _():
    for name in ("9lives", "a-b", "a b", "../x", ""):
        r = assay("harness", name)
        assert r.status == 2 and len(r.err.splitlines()) == 2, r
    assert not os.listdir("."), os.listdir(".")
    r = assay("harness", "x", "-o", "missing/x.c")
    assert r.status == 7 and "missing/x.c" in r.err, r
    r = assay("harness", "x", "-o", "-")
    assert r.status == 0 and r.out.startswith("/* x.c - ") and "x_work" in r.out, r
    assert r.err.splitlines()[-1].endswith(" -o x x.c"), r
    assert "build" in r.err and not os.listdir("."), r
    r = assay("harness", "x", "-o", "-", "--json")
    assert r.status == 2 and "both use stdout" in r.err, r
    assert written("y", "-o", "z.rs")["lang"] == "rust"
    assert assay("harness").status == 2


main()
