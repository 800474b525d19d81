"""`assay run`: the main job from the program to the verified directory.

What is measured is not judged here (bench does that): only that each phase leaves its file or its
reason, that the directory says the truth about itself, and that no program is harmed."""
import hashlib
import json
import os
import re
import signal

from run_parts import ALWAYS, SHORT, manifest, measured_directory, phase, program, read
from tap import ASSAY, assay, case, main, measured, need, run, script


@measured("a program is measured in phases, and the directory is complete and verified")
def _():
    r = assay("run", *SHORT, "--", program(), "60")
    assert r.status == 0, r
    assert "Plan:" in r.err and "heavy" in r.out, r
    assert "rounds," not in r.out, "the program's words are not ours"
    m = manifest()
    assert m["state"] == "complete", m
    files = {f["path"]: f for f in m["files"]}
    assert ALWAYS <= set(files), ALWAYS - set(files)
    for path, row in files.items():
        with open(os.path.join("assay-out/latest", path), "rb") as file:
            data = file.read()
        assert hashlib.sha256(data).hexdigest() == row["sha256"], path
        assert len(data) == row["bytes"], path
    for row in m["phases"]:
        assert row["outcome"] in ("done", "watched") or row["reason"], row
        assert not row["file"] or row["outcome"] == "failed" or row["file"] in files, row
    assert read("assay-out/latest/golden/stdout") == "60 rounds, 0 lines\n"
    r = run("sha256sum", "-c", "golden_checksums.txt", cwd="assay-out/latest")
    assert r.status == 0, r
    r = assay("run", "--check", "assay-out/latest")
    assert r.status == 0 and "complete and unchanged" in r.out, r


@measured("assay -- PROGRAM is the same, and --json prints one document")
def _():
    r = assay("--", "true")
    assert r.status == 0, r
    r = assay("run", "--json", *SHORT, "--", program(), "60")
    assert r.status == 0, r
    document = json.loads(r.out)
    data = document["data"]
    assert document["schema"] == "assay.run/1" and document["partial"] is False, document
    assert document["fingerprint"]["key"], document
    for name in ("answer", "hotspots", "flat", "ledger", "artifacts", "plan", "phases"):
        assert name in data, name
    assert {p["phase"] for p in data["plan"]} >= {"baseline", "profile", "causal"}, data["plan"]
    for step in data["plan"]:
        assert step["seconds"] is not None or step["seconds_reason"], step
        assert step["seconds"] is None or abs(step["expected_ns"] - 1e9 * step["seconds"]) < 1, step
    assert data["budget_ns"] == 6 * 10**9 and isinstance(data["wall_ns"], int), data
    kept = json.loads(read(os.path.join(data["directory"], "report.json")))
    assert kept["data"]["answer"] == data["answer"]
    assert data["round"] is None and data["round_reason"], data


@measured("a program without names is told to get them, and no line of the C library is blamed")
def _():
    bare = program() + "-bare"
    assert run(need("strip"), "-o", bare, program()).status == 0
    r = assay("run", "--json", *SHORT, "--", bare, "200")
    assert r.status == 0, r
    answer = json.loads(r.out)["data"]["answer"]
    assert answer["location"] == "[work-bare]", answer
    assert "get the function names of [work-bare]" in answer["sentence"], answer
    assert answer["next"] == f"assay doctor {bare}", answer
    r = assay("doctor", bare)
    assert "stripped" in r.out, r


@measured("the next command has the stdin of the runs, and names files that are there")
def _():
    with open("lines.txt", "w", encoding="ascii") as file:
        file.write("1\n2\n")
    r = assay("run", "--json", *SHORT, "-o", "kept", "--input", "lines.txt", "--", program(), "60")
    assert r.status == 0, r
    following = json.loads(r.out)["data"]["answer"]["next"]
    assert "< " in following or "kept/profile.assay" in following, following


@case("each phase can be typed by the user as the manifest has it")
def _():
    command = phase("profile", measured_directory("d"))["command"]
    assert command.startswith(ASSAY) or "assay" in command, command
    r = run("sh", "-c", re.sub(r"-o \S+/profile.assay", "-o again.assay", command))
    assert r.status == 0 and os.path.exists("again.assay"), r
    assert r.out == "100 rounds, 0 lines\n", r


@case("--check finds a changed byte and a removed file, and tells of a partial directory")
def _():
    measured_directory("d")
    with open("d/report.md", "r+b") as file:
        file.write(b"X")
    os.unlink("d/golden_checksums.txt")
    r = assay("run", "--check", "d")
    assert r.status == 1, r
    assert re.search(r"changed +report.md", r.out) and re.search(r"missing +golden_ch", r.out), r
    r = assay("run", "--check", "d", "--json")
    findings = json.loads(r.out)["data"]["findings"]
    assert {(f["fault"], f["path"]) for f in findings} == {
        ("changed", "report.md"), ("missing", "golden_checksums.txt")}, findings
    r = assay("run", "--check", "nowhere")
    assert r.status == 2 and "nowhere" in r.err, r
    os.mkdir("empty")
    r = assay("run", "--check", "empty")
    assert r.status == 2 and "MANIFEST.json" in r.err, r


@case("a directory is never overwritten, and latest leads to the newest")
def _():
    assert assay("run", *SHORT, "--", program(), "10").status == 0
    first = os.readlink("assay-out/latest")
    assert assay("run", *SHORT, "--", program(), "10").status == 0
    second = os.readlink("assay-out/latest")
    assert first != second and os.path.isdir(os.path.join("assay-out", first))
    r = assay("run", *SHORT, "-o", f"assay-out/{first}", "--", program(), "10")
    assert r.status == 2 and "never overwrites" in r.err, r


@measured("what comes on stdin is kept and replayed to every run")
def _():
    r = assay("run", *SHORT, "-o", "d", "--", program(), "30", stdin="a\nb\nc\n")
    assert r.status == 0, r
    assert read("d/input") == "a\nb\nc\n"
    assert read("d/golden/stdout") == "30 rounds, 3 lines\n"
    assert "output-differs" not in read("d/report.json"), read("d/report.json")
    for name in ("baseline", "observed", "profile"):
        assert phase(name, "d")["outcome"] in ("done", "watched"), phase(name, "d")
    with open("in", "w", encoding="ascii") as file:
        file.write("x\n")
    r = assay("run", *SHORT, "-o", "e", "--input", "in", "--", program(), "30", stdin="a\n")
    assert r.status == 0 and read("e/golden/stdout") == "30 rounds, 1 lines\n", r
    r = assay("run", *SHORT, "-o", "f", "--input", "nowhere", "--", program(), "30")
    assert r.status == 2 and "cannot read nowhere" in r.err and "--input" in r.err, r
    assert not os.path.exists("f"), "nothing was made"


@measured("output that differs from run to run is told, and the baseline is made without it")
def _():
    path = script("vary", "echo $$", "sleep 0.05")
    r = assay("run", *SHORT, "--phase", "baseline,observed", "-o", "d", "--", path)
    assert r.status in (0, 3), r
    assert "differs from run to run" in r.out, r
    assert phase("baseline", "d")["outcome"] in ("done", "watched"), phase("baseline", "d")


@case("output that is another in one phase is told with the name of the phase")
def _():
    path = script("odd", 'if [ -n "$ASSAY_EVENTS" ]; then echo odd; else echo even; fi')
    r = assay("run", *SHORT, "--phase", "baseline,observed", "-o", "d", "--", path)
    assert r.status in (0, 3), r
    assert "output differs from the first run" in r.out and "observed" in r.out, r
    assert read("d/log/observed.stdout") == "odd\n"


@case("a program that fails ends it with status 5 and its own words, and the directory says so")
def _():
    path = script("bad", "echo the disk is on fire >&2", "exit 3")
    r = assay("run", "-o", "d", "--", path)
    assert r.status == 5 and "exited with status 3" in r.err and "disk is on fire" in r.err, r
    assert manifest("d")["state"] == "partial"
    assert "disk is on fire" in phase("trial", "d")["reason"]
    assert assay("run", "--check", "d").status == 3
    r = assay("run", "--", "./nowhere")
    assert r.status == 5 and "nowhere" in r.err, r
    assert not os.path.exists("assay-out"), "nothing was started"


@case("a phase that failed is not explained by what the program said")
def _():
    path = script("sly", 'if [ -n "$ASSAY_EVENTS" ]', "then",
                  '    echo "assay: all is well" >&2', "    exit 3", "fi")
    r = assay("run", *SHORT, "--phase", "observed", "-o", "d", "--", path)
    assert r.status in (0, 3), r
    row = phase("observed", "d")
    assert row["outcome"] == "failed" and "all is well" not in row["reason"], row
    assert "log/observed.txt" in row["reason"], row
    assert "all is well" in read("d/log/observed.txt")


@case("who asks for a failure gets sentence and hint, and the target sees nothing of that")
def _():
    r = run("sh", "-c", 'ASSAY_FAILURE=3 exec "$0" stat -o x.assay -- ./nowhere 3>why', ASSAY)
    assert r.status == 5, r
    sentence, hint = read("why").splitlines()
    assert f"assay: {sentence}\n  {hint}\n" == r.err, r
    path = script("look", "env | grep ASSAY_F; ls -l /proc/self/fd | grep why; true")
    r = run("sh", "-c", 'ASSAY_FAILURE=3 exec "$0" stat -o x.assay -- "$1" 3>why', ASSAY, path)
    assert r.status == 0 and not r.out and not read("why"), r
    plain, told = (run("sh", "-c", f'{setting} "$0" env --json 3>why', ASSAY)
                   for setting in ("", "ASSAY_FAILURE=3"))
    hashes = [json.loads(r.out)["data"]["fields"]["env"]["names_hash"] for r in (plain, told)]
    assert hashes[0] == hashes[1], "the fingerprint is of what the target inherits"


@case("--target-status is how the program ended, and 0 when that was well")
def _():
    for last, status in (("exit 7", 7), ("kill -USR1 $$", 128 + signal.SIGUSR1)):
        r = assay("run", *SHORT, "--target-status", "--", script("fails", last))
        assert r.status == status and len(r.err.splitlines()) == 2, r
    r = assay("run", *SHORT, "--phase", "baseline", "--target-status", "--", "true")
    assert r.status == 0, r


@measured("a command line longer than one word may be is measured as it stands")
def _():
    words = map(str, range(40000))
    r = assay("run", *SHORT, "-o", "d", "--phase", "baseline", "--", "true", *words)
    assert r.status in (0, 3), (r.status, r.err[-300:])
    assert phase("baseline", "d")["outcome"] == "done", phase("baseline", "d")["reason"]
    with open("my program", "wb") as file, open(program(), "rb") as from_file:
        file.write(from_file.read())
    os.chmod("my program", 0o755)
    r = assay("run", *SHORT, "-o", "e", "--phase", "baseline", "--", "./my program")
    assert r.status in (0, 3), r
    assert phase("baseline", "e")["outcome"] == "done", phase("baseline", "e")


@case("a stdin that cannot be read is told in one sentence")
def _():
    r = run("sh", "-c", 'exec "$0" run -- true < .', ASSAY)
    assert r.status == 2 and "cannot read stdin: it is a directory" in r.err, r
    assert len(r.err.splitlines()) == 2, r


@case("the golden output that the user names must come")
def _():
    with open("right", "w", encoding="ascii") as file:
        file.write("10 rounds, 0 lines\n")
    r = assay("run", *SHORT, "--phase", "baseline", "-o", "d", "--golden", "right", "--",
              program(), "10")
    assert r.status in (0, 3), r
    r = assay("run", *SHORT, "-o", "e", "--golden", "right", "--", program(), "11")
    assert r.status == 5 and "the output differs from" in r.err, r
    r = assay("run", *SHORT, "-o", "f", "--golden", "nowhere", "--", program(), "11")
    assert r.status == 2 and "cannot read nowhere" in r.err and "--golden" in r.err, r
    assert not os.path.exists("f"), "nothing was made"


@measured("after a change it says what moved, multiplies the rounds, and keeps the history")
def _():
    quick = ("--budget", "10s", "--phase", "baseline")
    script("prog", f"exec {program()} 120")
    assert assay("run", *quick, "--", "./prog").status in (0, 3)
    script("prog", f"{program()} 60 > /dev/null", "echo '120 rounds, 0 lines'")
    r = assay("run", *quick, "--against", "latest", "--json", "--", "./prog")
    assert r.status in (0, 3), r
    document = json.loads(r.out)["data"]["round"]
    assert document["round"] == 1 and document["advisory"] is True, document
    assert document["outcome"] in ("improved", "inconclusive"), document
    assert abs(document["compounded_ratio"] - document["ratio"]) < 1e-12, document
    script("prog", f"exec {program()} 240")
    r = assay("run", *quick, "--against", "latest", "--json", "--", "./prog")
    third = json.loads(r.out)["data"]["round"]
    assert third["round"] == 2, third
    assert abs(third["compounded_ratio"] - document["ratio"] * third["ratio"]) < 1e-9, third
    assert third["output_changed"] is True, third
    assert r.status == 1 if third["outcome"] == "regressed" else r.status in (0, 3), r
    lines = [json.loads(line) for line in read("assay-out/history.ndjson").splitlines()]
    assert [line["round"] for line in lines] == [0, 1, 2], lines
    assert read("assay-out/HISTORY.md").count("| 2 |") >= 1
    assert read("assay-out/latest/HISTORY.md").count("\n| ") == 4, "three rounds and the heading"


@case("two machines are not compared: status 4")
def _():
    quick = ("--budget", "10s", "--phase", "baseline")
    assert assay("run", *quick, "-o", "a", "--", program(), "10").status in (0, 3)
    r = run(need("sqlite3"), "a/baseline.assay",
            "UPDATE text SET text = 'another processor' WHERE id IN (SELECT f.value FROM field f "
            "JOIN text n ON n.id = f.name JOIN text g ON g.id = f.\"group\" "
            "WHERE g.text = 'cpu' AND n.text = 'model')")
    assert r.status == 0, r
    r = assay("run", *quick, "-o", "b", "--against", "a", "--", program(), "10")
    assert r.status == 4, r


@case("every number of report.json stands in queries.sql, which runs as it is")
def _():
    sqlite3 = need("sqlite3")
    measured_directory("d")
    data = json.loads(read("d/report.json"))["data"]
    wanted = {row["name"]: row["value"] for row in data["signals"]
              if row["value"] is not None and row["query"]}
    for spot in data["hotspots"] + data["flat"]:
        first = spot["evidence"][0]
        if first["query"]:
            wanted[f"{spot['location']} ({spot['category']}), {first['mechanism']}"] = spot["value"]
    os.chdir("d")
    r = run("sh", "-c", f"{sqlite3} < queries.sql")
    assert r.status == 0 and not r.err, r
    found = dict(line.rsplit("|", 1) for line in r.out.splitlines())
    assert set(wanted) <= set(found) and len(wanted) > 40, set(wanted) ^ set(found)
    for name, value in wanted.items():
        assert abs(float(found[name]) - value) <= 1e-9 * max(1, abs(value)), (name, value, found)
    # One query alone, with the run file that it was told for.
    row = next(row for row in data["signals"] if row["name"] == "cpus_used")
    r = run(sqlite3, row["path"], row["query"])
    assert abs(float(r.out) - row["value"]) < 1e-9, r
    assert "queries.sql" in {file["path"] for file in data["artifacts"]}, data["artifacts"]
    assert assay("run", "--check", ".").status == 0


@case("report.md is two pages for a person, without queries")
def _():
    text = read(measured_directory("d") + "/report.md")
    assert "SELECT" not in text and len(text) < 8000, len(text)
    assert "SELECT" not in read("d/hotspot_table.md")
    for title in ("Summary", "Hotspots", "Why it is slow there", "Experiments",
                  "Recommendations", "Not measured", "Machine"):
        assert f"\n## {title}\n" in text, (title, text)


@case("what is wrong is told before anything runs")
def _():
    for words, what in (
            (("--budget", "1s", "--", "true"), "too short"),
            (("--phase", "profil", "--", "true"), "unknown phase 'profil'"),
            (("--skip", "a,b", "--", "true"), "unknown phase 'a'"),
            (("--against", "latest", "--", "true"), "no evidence directory"),
            (("--input", "nowhere", "--", "true"), "cannot read nowhere"),
            (("--input", ".", "--", "true"), "not a regular file"),
            (("--golden", "nowhere", "--", "true"), "cannot read nowhere"),
            ((), "needs a program")):
        r = assay("run", *words)
        assert r.status == 2 and what in r.err, r
        assert len(r.err.splitlines()) == 2, r
    assert not os.path.exists("assay-out")


@case("--agent is at most 40 lines of ASCII")
def _():
    r = assay("run", *SHORT, "--agent", "--", program(), "60")
    assert r.status in (0, 3), r
    assert r.out.isascii() and len(r.out.splitlines()) <= 40, r
    assert not r.err, r
    r = assay("run", *SHORT, "--agent", "--against", "latest", "--", program(), "60")
    assert r.status in (0, 1, 3), r
    assert r.out.isascii() and len(r.out.splitlines()) <= 40 and "round 1" in r.out, r


main()
