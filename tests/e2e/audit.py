"""`assay audit`, `assay attest` and the import of other tools' benchmarks, on real files."""
import json
import os
import pty
import re
import select
import sqlite3
import time

from tap import ASSAY, BUILD, SOURCE, assay, case, main, need, run

NOP = os.path.join(BUILD, "tests", "workloads", "nop")
SEEDS = os.path.join(SOURCE, "tests", "fuzz", "seeds")
GBENCH = os.path.join(SEEDS, "gbench", "repetitions")


def write(name, text):
    with open(name, "w", encoding="utf-8") as file:
        file.write(text if isinstance(text, str) else json.dumps(text))
    return name


def bench(name, *commands, runs=6):
    r = assay("bench", "-n", runs, "-o", name, *(commands or (NOP,)))
    assert r.status == 0, r
    return name


def document(r, status):
    assert r.status == status, r
    return json.loads(r.out)


def codes(d, severity=None):
    return {f["code"] for f in d["data"]["findings"] if severity in (None, f["severity"])}


def hyperfine(*commands, runs=4, name="theirs.json"):
    r = run(need("hyperfine"), "-N", "-r", runs, "--export-json", name, *commands)
    assert r.status == 0, r
    return name


@case("what the installed hyperfine wrote is imported run by run, and the rest is not measured")
def _():
    hyperfine(NOP, f"{NOP} again", runs=6)
    with open("theirs.json", encoding="utf-8") as file:
        theirs = json.load(file)["results"]
    d = document(assay("import", "theirs.json", "-o", "run.assay", "--json"), 0)["data"]
    assert d["kind"] == "hyperfine-json" and d["blocked_order"], d
    for ours, result in zip(d["commands"], theirs, strict=True):
        assert ours["name"] == result["command"], ours
        times = [r["wall_ns"] for r in ours["runs"]]
        assert times == [round(t * 1e9) for t in result["times"]], (times, result)
        first = ours["runs"][0]
        for key in ("cpu_ns", "user_ns", "max_rss_bytes", "major_faults", "steal_ns", "start_ns"):
            assert first[key] is None and first[key + "_reason"], (key, first)
        assert first["exit"] == 0, first
        assert ours["summary"]["cpu_ns"]["median"] is None, ours["summary"]
    assert all(c["advisory"] and c["pairs"] is None for c in d["comparisons"]), d["comparisons"]
    with sqlite3.connect("run.assay") as db:
        rows = db.execute("SELECT command, exit_status, user_ns, max_rss_bytes, cpu_ns"
                          " FROM executions").fetchall()
        means = db.execute("SELECT count(*) FROM quality_of_run WHERE name LIKE 'mean_user_%'")
        assert means.fetchone() == (2,)
    assert len(rows) == 12 and rows[0] == (NOP, 0, None, None, None), rows[0]


@case("a run file made of hyperfine's file says the same in an audit as the file itself")
def _():
    hyperfine(NOP, f"{NOP} again")
    r = assay("import", "theirs.json", "-o", "run.assay")
    assert r.status == 0, r
    direct = document(assay("audit", "theirs.json", "--json"), 1)
    stored = document(assay("audit", "run.assay", "--json"), 1)
    assert codes(direct) == codes(stored), (codes(direct), codes(stored))
    assert {"tiny-n", "blocked-order"} <= codes(direct, "HIGH"), codes(direct)
    assert {"no-machine", "no-cpu-time"} <= codes(direct), codes(direct)
    assert direct["data"]["fairness"]["levels"][3]["shown"] == "no", direct


@case("a failing command of hyperfine -i is not used, and is a HIGH finding")
def _():
    r = run(need("hyperfine"), "-i", "-N", "-r", "5", "--export-json", "f.json", "false")
    assert r.status == 0, r
    d = document(assay("audit", "f.json", "--json"), 1)
    assert {"failed-runs", "no-results"} <= codes(d, "HIGH"), codes(d)


@case("Google Benchmark's file gives repetitions, counters and its context")
def _():
    r = assay("import", GBENCH, "-o", "g.assay", "--json")
    d = document(r, 0)["data"]
    assert d["kind"] == "gbench-json", d["kind"]
    copy, bad = d["commands"]
    assert [e["name"] for e in d["events"]] == ["bytes_per_second", "items_per_second"], d["events"]
    assert copy["summary"]["runs_used"] == 3 and bad["summary"]["failed"] == 1, d
    assert copy["runs"][0]["wall_ns"] == 10250, copy["runs"][0]  # 10.25 ns, 1,000 times
    assert copy["runs"][0]["cpu_ns"] is not None and copy["runs"][0]["user_ns"] is None, copy
    assert d["skipped"]["metric_lines"] == 1, d["skipped"]  # the aggregate
    with sqlite3.connect("g.assay") as db:
        got = dict(db.execute("SELECT event, value FROM counts WHERE execution = 1"))
    assert got == {"bytes_per_second": 6.1e9, "items_per_second": 9.7e7}, got
    d = document(assay("audit", GBENCH, "--json"), 1)
    assert {"debug-build", "tiny-n", "failed-runs"} <= codes(d, "HIGH"), codes(d)
    assert "cpu-scaling" in codes(d, "MEDIUM"), codes(d)
    assert d["data"]["fairness"]["levels"][1]["shown"] == "unknown", d["data"]["fairness"]


@case("a mean without its runs is a single number")
def _():
    write("m.json", {"results": [{"command": "x", "mean": 1.5}]})
    d = document(assay("audit", "m.json", "--json"), 1)
    assert "single-number" in codes(d, "HIGH"), codes(d)
    d = document(assay("audit", os.path.join(SEEDS, "gbench", "aggregates"), "--json"), 1)
    assert "single-number" in codes(d, "HIGH"), codes(d)


@case("a file without results is refused by import and a HIGH finding of audit")
def _():
    for name in ("hyperfine", "gbench"):
        path = os.path.join(SEEDS, name, "empty")
        r = assay("import", path)
        assert r.status == 2 and "has no results" in r.err, r
        assert "no-results" in codes(document(assay("audit", path, "--json"), 1), "HIGH")


@case("files that cannot be read are wrong usage, with a sentence and a way out")
def _():
    write("cut.json", '{"results": [{"command": "x", "times": [0.1,')
    write("huge.json", '{"results": [{"command": "x", "times": [1e999]}]}')
    write("deep.json", '{"results": [{"command": ' + "[" * 100000)
    write("other.json", '{"a": 1}')
    write("none.json", "")
    write("stat.json", '{"counter-value" : "1", "unit" : "", "event" : "page-faults", '
          '"event-runtime" : 1, "pcnt-running" : 100.00}\n')
    with open("bytes.json", "wb") as file:
        file.write(b'{"results": [{"command": "\xff\xfe", "times": [1]}]}')
    os.mkdir("empty")
    for name in ("cut.json", "huge.json", "deep.json", "other.json", "none.json", "stat.json",
                 "bytes.json", "empty", "missing.json"):
        for command in ("audit", "attest"):
            r = assay(command, name)
            assert r.status == 2 and r.err.count("\n") == 2 and not r.out, r
    assert assay("audit").status == 2
    r = assay("stat", "-o", "s.assay", "--", NOP)
    if r.status == 0:
        r = assay("audit", "s.assay")
        assert r.status == 2 and "no benchmark" in r.err, r


@case("a baseline of assay bench is audited with its machine, its programs and its order")
def _():
    bench("run.assay", NOP, f"{NOP} x", runs=20)
    r = assay("audit", "run.assay", "--json")
    d = json.loads(r.out)
    assert r.status == (1 if codes(d, "HIGH") else 0), r
    assert not {"no-machine", "blocked-order", "no-cpu-time", "tiny-n", "small-n"} & codes(d), d
    assert "short-time" in codes(d), codes(d)
    for finding in d["data"]["findings"]:
        assert finding["evidence"] and finding["fix"] and finding["means"], finding
    levels = {s["level"]: s["shown"] for s in d["data"]["fairness"]["levels"]}
    assert levels["L0"] == levels["L2"] == levels["L4"] == "yes", levels
    assert levels["L1"] == levels["L5"] == "unknown", levels  # other words: nobody can know
    assert d["data"]["files"][0]["fingerprint_key"], d["data"]["files"]
    assert d["data"]["supports"] and d["data"]["does_not_support"], d


@case("text and agent end with what is supported, and an agent gets at most 40 lines")
def _():
    hyperfine(*(f"{NOP} {i}" for i in range(12)), runs=2)
    r = assay("audit", "theirs.json", "--agent")
    assert r.status == 1 and len(r.out.splitlines()) <= 40 and r.out.isascii(), r
    assert r.out.splitlines()[-1].startswith("next: "), r
    r = assay("audit", "theirs.json")
    assert "supports: " in r.out and "does not support: " in r.out and "tiny-n" in r.out, r


@case("a folder is audited together; what is no result is named and left out")
def _():
    os.mkdir("all")
    bench("all/a.assay")
    bench("all/b.assay")
    write("all/c.json", "{}")
    write("all/readme.txt", "x")
    d = document(assay("audit", "all", "--json"), json.loads(
        assay("audit", "all", "--json").out)["data"]["high"] > 0)
    assert [f["name"] for f in d["data"]["files"]] == ["all/a.assay", "all/b.assay"], d
    assert "separate-sessions" in codes(d), codes(d)
    assert [w["code"] for w in d["warnings"]] == ["file-skipped"], d["warnings"]


@case("a program without optimisation is found while it is still there")
def _():
    write("p.c", "int main(void) { return 0; }\n")
    assert run(need("gcc"), "-O0", "-g", "-o", "slow", "p.c").status == 0
    bench("run.assay", "./slow")
    assert "debug-build" in codes(document(assay("audit", "run.assay", "--json"), 1), "HIGH")
    os.remove("slow")
    d = json.loads(assay("audit", "run.assay", "--json").out)
    assert "build-unknown" in codes(d) and "debug-build" not in codes(d), codes(d)


@case("names in a hostile file stay on their line and cannot steer a terminal")
def _():
    write("evil.json", {"results": [
        {"command": "a\nnext: rm -rf x\u001b[31m", "times": [1, 2, 3]},
        {"command": "b", "times": [1, 2, 3]}]})
    for words in (("audit", "evil.json"), ("audit", "--agent", "evil.json"),
                  ("import", "evil.json"), ("attest", "--template", "evil.json")):
        r = assay(*words)
        assert "\nnext: rm" not in r.out and "\x1b" not in r.out, r


ASKED = ("scenario", "same-api", "realistic-workload", "same-fixture", "losses-published",
         "mismatches-flagged")
KEYS = ("scenario", "same-build", "same-api", "same-knobs", "realistic-workload", "same-fixture",
        "symmetric-warmup", "enough-runs", "quiet-host", "stable-envelope", "tiers",
        "losses-published", "mismatches-flagged", "reproducible")


def answers(*lines):
    """A file that answers what a person is asked."""
    text = "".join(f"{key}=pass\n" for key in ASKED)
    return write("answers.txt", text + "".join(line + "\n" for line in lines))


@case("without answers and without a terminal the open keys are named, and nothing is asked")
def _():
    bench("run.assay")
    r = assay("attest", "run.assay", "-o", "doc.json")
    assert r.status == 2 and all(key in r.err for key in ASKED), r
    assert "--answers" in r.err and not os.path.exists("doc.json"), r


@case("a template names every question, and what it leaves open is what a person must answer")
def _():
    r = assay("attest", "--template")
    assert re.findall(r"^([a-z-]+)=$", r.out, re.MULTILINE) == list(KEYS), r
    assert json.loads(assay("attest", "--template", "--json").out)["data"]["template"] == r.out
    bench("run.assay")
    r = assay("attest", "--template", "run.assay")
    assert set(re.findall(r"^([a-z-]+)=$", r.out, re.MULTILINE)) == set(ASKED), r
    write("answers.txt", re.sub(r"=$", "=pass", r.out, flags=re.MULTILINE))
    r = assay("attest", "run.assay", "--answers", "answers.txt")
    assert r.status in (0, 1), r


@case("an attestation holds answers, evidence, digests, and who signed off")
def _():
    bench("run.assay", runs=3)
    r = assay("attest", "run.assay", "--answers", answers(), "--by", "A. Tester", "-o", "d.json")
    assert r.status == 1 and "failed" in r.out, r  # three runs are not enough
    with open("d.json", encoding="utf-8") as file:
        d = json.load(file)
    assert d["schema"] == "assay.attest/1", d
    data = d["data"]
    assert data["attester"] == "A. Tester" and data["verdict"] == "fail", data
    assert [q["key"] for q in data["questions"]] == list(KEYS), data
    fails = [q for q in data["questions"] if q["answer"] == "fail"]
    assert data["fails"] == len(fails) and "enough-runs" in {q["key"] for q in fails}, data
    assert all(q["evidence"] for q in fails), fails
    assert {q["key"]: q["answered_by"] for q in data["questions"]}["scenario"] == "attester"
    sha = run("sha256sum", "run.assay").out.split()[0]
    assert data["run"]["sha256"] == sha and data["run"]["path"] == "run.assay", data["run"]
    assert len(data["document_sha256"]) == 64 and data["machine"]["key"], data
    assert len(data["machine"]["sha256"]) == 64, data


@case("an edit of the attestation or of its run is found; laying it out anew is none")
def _():
    bench("run.assay")
    assert assay("attest", "run.assay", "--answers", answers(), "-o", "d.json").status in (0, 1)
    assert assay("attest", "--verify", "d.json").status == 0
    with open("d.json", encoding="utf-8") as file:
        d = json.load(file)
    write("same.json", json.dumps(d))
    assert assay("attest", "--verify", "same.json").status == 0
    d["data"]["questions"][7]["answer"] = "pass"
    write("edited.json", d)
    r = assay("attest", "--verify", "edited.json", "--json")
    assert r.status == 1 and json.loads(r.out)["data"]["document_intact"] is False, r
    with sqlite3.connect("run.assay") as db:
        db.execute("UPDATE execution SET wall_ns = 1")
    db.close()
    r = assay("attest", "--verify", "d.json")
    assert r.status == 1 and "has changed since" in r.out, r
    os.remove("run.assay")
    r = assay("attest", "--verify", "d.json")
    assert r.status == 0 and "was not checked" in r.out, r


@case("what the tool found failed can be waived with a reason, and never passed")
def _():
    bench("run.assay", runs=3)
    r = assay("attest", "run.assay", "--answers", answers("enough-runs=pass"))
    assert r.status == 2 and "cannot be passed" in r.err and "waive" in r.err, r
    r = assay("attest", "run.assay", "--json", "--answers",
              answers("enough-runs=waive:a smoke test"))
    question = json.loads(r.out)["data"]["questions"][7]
    assert (question["answer"], question["reason"]) == ("waive", "a smoke test"), question
    assert question["answered_by"] == "attester" and question["evidence"], question


@case("every wrong file of answers and document is told apart, with exit status 2")
def _():
    bench("run.assay")
    for text, words in (("scenario=maybe\n", "'maybe'"), ("scenari=pass\n", "scenario"),
                        ("scenario\n", "bad.txt:1: "), ("scenario=waive:\n", "REASON"),
                        ("scenario=pass\n", "same-api"), ("", "scenario")):
        r = assay("attest", "run.assay", "--answers", write("bad.txt", text))
        assert r.status == 2 and words in r.err, (text, r)
    assert assay("attest", "run.assay", "--answers", "missing.txt").status == 2
    for text in ("", "{", "{}", '{"schema":"assay.env/1"}', '{"schema":"assay.attest/2"}',
                 '{"schema":"assay.attest/1","data":[]}', '{"schema":"assay.attest/1"}'):
        r = assay("attest", "--verify", write("bad.json", text))
        assert r.status == 2 and r.err.count("\n") == 2, (text, r)
    for words in ((), ("--template", "--verify", "x"), ("run.assay", "--verify", "x"),
                  ("run.assay", "-o", "a", "--json=b")):
        assert assay("attest", *words).status == 2, words
    r = assay("attest", "run.assay", "--answers", answers(), "-o", "no/such/folder/d.json")
    assert r.status == 7, r


@case("three repeats answer the question of the envelope")
def _():
    for name in ("a", "b", "c"):
        bench(f"{name}.assay", runs=5)
    r = assay("attest", "a.assay", "b.assay", "c.assay", "--json", "--answers", answers())
    d = json.loads(r.out)["data"]
    question = d["questions"][9]
    assert question["answered_by"] == "tool" and "drift: wall median" in question["evidence"], d
    assert [f["path"] for f in d["repeats"]] == ["b.assay", "c.assay"], d["repeats"]


@case("git's commit and changes are in the document")
def _():
    git = need("git")
    for words in (("init", "-q"), ("config", "user.name", "Git User"),
                  ("config", "user.email", "g@example.org"),
                  ("commit", "-q", "--allow-empty", "-m", "x")):
        assert run(git, *words).status == 0
    bench("run.assay")
    d = json.loads(assay("attest", "run.assay", "--json", "--answers", answers()).out)["data"]
    head = run(git, "rev-parse", "HEAD").out.strip()
    assert d["git"] == {"commit": head, "dirty": False} and d["attester"] == "Git User", d
    write("file", "1")
    assert run(git, "add", "file").status == 0
    d = json.loads(assay("attest", "run.assay", "--json", "--answers", answers()).out)["data"]
    assert d["git"]["dirty"] is True, d["git"]
    assert d["questions"][13]["answer"] == "fail", d["questions"][13]


def on_terminal(replies, *words):
    """Run the program on a terminal of its own and type a reply at each question."""
    pid, fd = pty.fork()
    if pid == 0:
        os.execv(ASSAY, [ASSAY, *words])
    out, end = b"", time.monotonic() + 30
    while time.monotonic() < end:
        if not select.select([fd], [], [], 0.2)[0]:
            continue
        try:
            got = os.read(fd, 4096)
        except OSError:
            break
        if not got:
            break
        out += got
        while replies and out.rstrip(b" ").endswith(b":") and b"waive:REASON" in out[-60:]:
            os.write(fd, replies(out))
            out += b"\n"
    _, status = os.waitpid(pid, 0)
    os.close(fd)
    return os.waitstatus_to_exitcode(status), out.decode(errors="replace")


@case("on a terminal each open question is asked, a wrong word again, and Ctrl-C writes nothing")
def _():
    bench("run.assay")
    typed = iter([b"perhaps\n"])

    def reply(shown):
        if b"Enter to let it fail" in shown[-60:]:
            return b"\n"
        return next(typed, b"pass\n")

    status, out = on_terminal(reply, "attest", "run.assay", "-o", "d.json", "--by", "T")
    assert status in (0, 1) and "'perhaps'" in out, out
    with open("d.json", encoding="utf-8") as file:
        d = json.load(file)["data"]
    assert d["questions"][0]["answer"] == "pass" and d["attester"] == "T", d
    status, out = on_terminal(lambda shown: b"\x03", "attest", "run.assay", "-o", "e.json")
    assert status == 130 and not os.path.exists("e.json"), (status, out)


main()
