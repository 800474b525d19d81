"""bench/calibration judges answers as truth.txt says, counts them right, and continues a long run
where it stopped.  Nothing is measured here."""
import importlib
import json
import os
import random
import re
import resource
import sys
import tempfile
import time
import unittest.mock

from tap import BUILD, SOURCE, assay, case, main, run, script

FOLDER = os.path.join(SOURCE, "bench", "calibration")
sys.path.insert(0, FOLDER)
fit, keep, loads, tables, truth, unchanged = map(
    importlib.import_module, ("fit", "keep", "loads", "tables", "truth", "unchanged"))

PLANTED = truth.Truth("planted.c", "calibration", "check", "slow", {"slow", "malloc"}, {"main"},
                      {"setup"}, same_gain={"slow"}, gain=0.6)
CLEAN = truth.Truth("clean.c", "calibration", "train", None, {"main"}, {"part"}, causes=set(),
                    clean=True)
RULES = fit.read_rules(fit.RULES)
GAINS = ("gain", "gain_lo", "gain_hi", "gain_at", "gain_all", "gain_all_lo", "gain_all_hi")


def read(*parts):
    with open(os.path.join(SOURCE, *parts), encoding="utf-8") as file:
        return file.read()


def answer(function=None, confidence="high", kind="change", hypothesis=None, gains=()):
    """As assay run prints it; `gains`: those with all of the work gone, value, lowest, highest."""
    return {"kind": kind, "confidence": confidence, "hypothesis": hypothesis,
            **({"function": function} if function else {}), **dict.fromkeys(GAINS),
            **dict(zip(GAINS[-3:], gains))}


def row(program, load, number, said=None, **other):
    return {"program": program, "load": load, "round": number, "commit": "abc", "tool": "def",
            "budget": "60s", "machine": "2 CPUs", "others_share": 0.02, "seconds": 55.0,
            "error": None, "answer": said, **other}


def lines_of(text, *words):
    """The lines of a Markdown table that begin with these cells, as lists of cells."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()]
    return [cells for cells in rows if cells[:len(words)] == list(words)]


def parts_of(*rows, rounds=3):
    """What tables.py prints of these rows: title -> text."""
    text = "\n\n".join(tables.report(rows, {"planted.c": PLANTED, "clean.c": CLEAN}, rounds))
    return dict(zip(["# "] + re.findall(r"^## (.*)$", text, re.M), re.split(r"^## .*$", text,
                                                                           flags=re.M)))


@case("every kind and every confidence that an answer can have is known to the judge")
def _():
    source = read("src", "analyze", "answer", "answer.c")
    kinds = re.findall(r'\[ANSWER_\w+\] = "(\w+)"', source.split("answer_kind_word")[1])
    assert len(kinds) >= 4, kinds
    for kind in kinds:
        for one in (PLANTED, CLEAN):
            assert truth.judge(one, answer("slow", kind=kind)) in truth.OUTCOMES, kind
    words = re.findall(r'"(\w+)"', re.search(r"\nconst char \*confidence_word\(.*?\n}", read(
        "src", "analyze", "answer", "confidence.c"), re.S)[0])
    assert set(words) == set(tables.WORDS) == set(fit.WORDS), words
    assert set(tables.TITLES) == {*truth.OUTCOMES, "failed"}
    try:
        truth.judge(PLANTED, answer("slow", kind="something new"))
    except ValueError:
        return
    raise AssertionError("an unknown kind of answer was judged")


@case("an answer is right, one call away, wrong, missed, or says that it cannot tell")
def _():
    def outcomes(said):
        return truth.judge(PLANTED, said), truth.judge(CLEAN, said)
    assert outcomes(answer("slow")) == ("right", "wrong")
    assert outcomes(answer("Table<int>::slow(int) [clone]")) == ("right", "wrong")
    assert outcomes(answer("slow.part.0")) == ("right", "wrong")
    assert outcomes(answer("main")) == ("one_away", "right")
    assert outcomes(answer("part")) == ("wrong", "one_away")
    assert outcomes(answer("setup")) == ("wrong", "wrong")
    anything = truth.Truth("any.c", "planted", "train", None, {"*"}, never={"setup"}, clean=True)
    assert truth.judge(anything, answer("whatever")) == "right"
    assert truth.judge(anything, answer("setup")) == "wrong"
    assert outcomes(answer(kind="nothing_stands_out")) == ("missed", "right")
    for kind in ("too_noisy", "not_measured"):
        assert outcomes(answer(kind=kind)) == (kind, kind)


@case("an answer without a place is right only where its explanation is true")
def _():
    known = {one.name: one for one in truth.programs()}
    starved = answer(hypothesis="cpu_starvation")
    right = {name for name, one in known.items() if truth.judge(one, starved) == "right"}
    assert right == {"planted/starved", "crowd.cc"}, right
    assert truth.judge(known["planted/starved"], answer("idle_work")) == "wrong"
    assert truth.said_of(starved) == "cpu_starvation"


@case("the explanation is judged apart from the place, where it is known")
def _():
    known = {one.name: one for one in truth.programs()}
    for name, said, want in (
            ("planted/chase", "memory_latency", "right"), ("planted/chase", None, "none"),
            ("planted/chase", "one_hot_function", "none"), ("planted/chase", "noise", "none"),
            ("planted/chase", "lock_thrash", "another"),
            ("clean/sort", "memory_latency", "blame"), ("clean/sort", None, "none"),
            ("clinic.c", "memory_latency", None)):
        found = truth.reason(known[name], answer("walk", hypothesis=said))
        assert found == want, (name, said, found)


@case("truth.txt has a row for every program, with places that are in its source")
def _():
    known = list(truth.programs())
    new = [one for one in known if one.which == "calibration"]
    assert len(known) >= 24 and len(new) >= 8, known
    assert {one.name for one in new} == set(os.listdir(os.path.join(FOLDER, "programs")))
    for part in (known, new):
        assert 2 * sum(one.part == "check" for one in part) == len(part), part
    assert len({one.short for one in known}) == len(known)
    for one in new:
        source = read(FOLDER, "programs", one.name)
        for name in {one.place} - {None}:
            assert re.search(rf"\b{name}\(", source), (one.name, name)
        assert one.clean == (one.gain is None) and 0 < (one.gain or 0.5) < 1, one
        assert one.clean or re.search(r"WITHOUT|cfg!\(without\)|main\.without", source), one.name
        assert not one.right & (one.near | one.never) and not one.near & one.never, one
        clock = re.search(r'clock_gettime|chrono|Instant|<time\.h>|"time"|sleep', source)
        assert not clock, (one.name, clock)  # work is counted in iterations


@case("the interval of a share is Wilson's")
def _():
    for hits, count, low, high in ((8, 10, 0.490, 0.943), (10, 10, 0.722, 1), (0, 10, 0, 0.278),
                                   (95, 100, 0.888, 0.978), (0, 0, 0, 1)):
        found = tables.wilson(hits, count)
        assert abs(found[0] - low) < 1e-3 and abs(found[1] - high) < 1e-3, (hits, count, found)


@case("shares are of the answers that claim something, first answers of all runs")
def _():
    page = parts_of(row("planted.c", "idle", 1, answer("slow")),
                    row("planted.c", "idle", 2, answer("setup")),
                    row("planted.c", "idle", 3, answer(kind="too_noisy", confidence="low")),
                    row("planted.c", "spin", 1, answer(kind="nothing_stands_out",
                                                       confidence="low")),
                    row("clean.c", "idle", 1, answer("main", "medium")),
                    row("clean.c", "idle", 2, error="exit status 1: no"))
    text = page["First answer: all programs"]
    first, by_word = text.split("By confidence:")
    assert lines_of(first, "idle", "5")[0][2:] == [
        "40 % (12 to 77)", "85 %", "0", "1", "0", "1", "0", "1"], first
    assert lines_of(first, "spin")[0][1:4] == ["1", "0 % (0 to 79)", "70 %"], first
    assert lines_of(by_word, "idle", "high")[0][2:] == [
        "2", "1", "0", "1", "0", "0", "0", "50 % (9 to 91)", "95 %"], by_word
    assert lines_of(by_word, "idle", "low")[0][2:] == [
        "1", "0", "0", "0", "0", "1", "0", "-", "-"], by_word
    assert lines_of(by_word, "spin", "low")[0][-2:] == ["0 % (0 to 79)", "-"], by_word
    assert not lines_of(page["First answer: `train`"], "idle", "high"), page
    assert lines_of(page["First answer: `check`"], "idle", "high"), page


@case("a part of the runs is said to be one, and an idle run beside others is told")
def _():
    page = parts_of(row("planted.c", "idle", 1, answer("slow")),
                    row("planted.c", "idle", 2, answer("slow"), others_share=0.3))["# "]
    assert "**2 of 18 runs** (2 programs, 3 loads, 3 rounds: incomplete)" in page, page
    assert lines_of(page, "idle", "2 of 6") and lines_of(page, "runs2", "0 of 6"), page
    assert "**1 idle runs were not idle**" in page, page
    whole = [row(name, load, number, answer("main")) for name in ("planted.c", "clean.c")
             for load in loads.USUAL for number in (1, 2, 3)]
    page = parts_of(*whole)["# "]
    assert "**18 of 18 runs** (2 programs, 3 loads, 3 rounds)" in page and "not idle" not in page
    assert "**18 of 36 runs**" in parts_of(*whole, rounds=6)["# "]
    assert "**0 of 18 runs**" in parts_of()["# "]


@case("answers that are not right are listed, the surest first, rounds that agree in one line")
def _():
    page = parts_of(row("planted.c", "idle", 3, answer("main", "low")),
                    row("planted.c", "spin", 2, answer("setup", gains=(0.3, 0.2, 0.4))),
                    row("planted.c", "spin", 1, answer("setup", gains=(0.5, 0.2, 0.4))),
                    row("planted.c", "spin", 3, answer("slow")),
                    row("clean.c", "idle", 1, error="a | b"))["Answers that are not right"]
    assert [line for line in page.splitlines() if line.startswith("| ")][1:] == [
        "| high | planted.c | check | spin | 1, 2 | wrong | setup | slow | 40 % | 60 % |",
        "| low | planted.c | check | idle | 3 | one call away | main | slow | - | 60 % |",
        "| - | clean.c | train | idle | 1 | no answer | a \\| b | none | - | - |"], page


@case("a promised gain is held against the measured one only for the place that it is true of")
def _():
    page = parts_of(row("planted.c", "idle", 1, answer("slow", gains=(0.58, 0.5, 0.7))),
                    row("planted.c", "idle", 2, answer("slow", gains=(0.9, 0.8, 1.0))),
                    row("planted.c", "idle", 3, answer("slow", gains=(0.4, 0.3, 0.5))),
                    row("planted.c", "spin", 1, answer("slow")),
                    row("planted.c", "spin", 2, answer("malloc", gains=(0.1, 0.1, 0.1))),
                    row("planted.c", "spin", 3, answer("main", gains=(0.6, 0.5, 0.7))))
    text = page["Gain when all of the work is gone, against the measured one"]
    assert lines_of(text, "idle")[0][1:] == ["3", "3", "33 % (6 to 79)", "1", "1", "20", "20"], text
    assert lines_of(text, "spin")[0][1:] == ["1", "0", "-", "0", "0", "-", "-"], text


@case("what assay run prints can be kept, read and judged")
def _():
    program = os.path.join(BUILD, "tests", "workloads", "clean", "arithmetic")
    r = assay("run", "--json", "--budget", "5s", "--", program, "20000000")
    data = json.loads(r.out)["data"]
    kept = {"program": "clean/arithmetic", "load": "idle", "round": 1, "error": None,
            **keep.summary(data)}
    keep.write(".", kept)
    found = keep.read(".")["clean/arithmetic", "idle", 1]
    assert found == kept and found["signals"] and found["ledger"], kept
    known = {one.name: one for one in truth.programs()}
    assert truth.judge(known["clean/arithmetic"], found["answer"]) in truth.OUTCOMES, found
    assert found["answer"]["confidence"] in tables.WORDS, found["answer"]
    said = found["answer"]
    if said["kind"] == "change":  # fit.py has the model of the C code
        guess = RULES.probability(said["confidence_features"])
        assert abs(guess - said["confidence_probability"]) < 1e-9, said
        assert RULES.word(guess) == said["confidence"], said
    missing = [name for name in GAINS if name not in found["answer"]]
    assert not missing and "hypothesis" in found["answer"], missing


@case("the features of the rules are those of the C code, and every one has a weight")
def _():
    source = read("src", "analyze", "answer", "confidence.c")
    assert set(RULES.names) == set(re.findall(r'\[CONFIDENCE_\w+\] = "(\w+)"', source))
    assert {"intercept", "high", "medium"} <= set(RULES.weights)
    assert set(RULES.most) < set(RULES.names)
    assert RULES.probability({}) < RULES.weights["medium"]
    assert RULES.probability({"proven": 1, "second_method": 1}) >= RULES.weights["high"]
    assert RULES.probability({"proven": 1, "second_method": 1, "doubted": 1}) == \
        RULES.most["doubted"]
    assert RULES.probability({"proven": None}) == RULES.probability({})
    try:
        RULES.probability({"nothing_like_that": 1})
    except ValueError:
        return
    raise AssertionError("an unknown feature was taken")


def answers_by(weights, count, programs):
    """Answers that are right as often as a model with these weights says; the seed is fixed."""
    draw, rows = random.Random(14), []
    for number in range(count):
        features = {"proven": float(draw.random() < 0.5), "share": draw.random(),
                    "gap": draw.uniform(-1, 5), "noise": 0.0, "samples": None}
        total = weights["intercept"] + sum(weights.get(name, 0) * (value or 0)
                                           for name, value in features.items())
        rows.append({"program": f"p{number % programs}", "part": "train", "features": features,
                     "right": float(draw.random() < fit.sigmoid(total))})
    return rows


@case("fit.py finds the weights that made the answers, and what is constant keeps none")
def _():
    true = {"intercept": -1.0, "proven": 2.0, "gap": 0.5}
    rows = answers_by(true, 2000, 10)
    weights, errors = fit.fit(RULES, rows, 0.01)
    for name, weight, error in zip(["intercept", *RULES.names], weights, errors):
        if name in ("noise", "samples", "objections"):
            assert weight == 0 and error is None, (name, weight)
        elif name in ("intercept", "proven", "gap", "share"):
            assert abs(weight - true.get(name, 0)) < 4 * error < 1.2, (name, weight, error)
    rights = [row["right"] for row in rows]
    loss = fit.log_loss(fit.left_out(RULES, rows, 1), rights)
    share = sum(rights) / len(rights)
    assert loss < fit.log_loss([share] * len(rows), rights) - 0.05, loss
    strict, _ = fit.fit(RULES, rows, 1e6)
    assert max(map(abs, strict[1:])) < 0.01, strict  # held at 0


@case("a program is judged by weights that have not seen it")
def _():
    # Within each program all answers are alike, and the two halves contradict each other.
    rows = [{"program": f"p{number}", "part": "train", "features": {"proven": float(number % 2)},
             "right": float(number % 2 == (number < 2))} for number in range(4) for _ in range(5)]
    seen = [RULES.probability(row["features"], fit.fit(RULES, rows, 1e-3)[0]) for row in rows]
    unseen = fit.left_out(RULES, rows, 1e-3)
    rights = [row["right"] for row in rows]
    assert fit.log_loss(unseen, rights) > fit.log_loss(seen, rights) + 0.1


@case("fit.py prints a table, and refuses what it cannot fit")
def _():
    os.makedirs("kept")
    said = dict(answer("earliest"), confidence_features={"proven": 1.0, "second_method": 1.0})
    keep.write("kept", row("clinic.c", "idle", 1, said))
    keep.write("kept", row("clinic.c", "idle", 2, answer(kind="too_noisy", confidence="low")))
    words = sys.executable, os.path.join(FOLDER, "fit.py")
    r = run(*words, "kept")
    assert r.status == 0 and "1 answers; passed over" in r.out, r
    assert lines_of(r.out, "high", "1")[0][-1] == "100 %", r.out
    assert "Not fitted: `train` needs right and wrong answers of two programs" in r.out, r.out
    for number in range(1, 7):
        for name, function in (("clinic.c", "earliest"), ("survey.cc", "column_means"),
                               ("archive.cc", "store")):
            right = number % 3 > 0
            keep.write("kept", row(name, "spin", number, dict(
                answer(function if right else "nobody"),
                confidence_features={"proven": float(right), "share": number / 10})))
    r = run(*words, "kept", "--ridge", "0.5")
    assert r.status == 0 and "Lines for data/confidence.rules" in r.out, r
    assert float(lines_of(r.out, "proven")[0][2]) > 0.5, r.out
    assert lines_of(r.out, "noise")[0][-1] == "constant", r.out
    os.makedirs("empty")
    r = run(*words, "empty")
    assert r.status == 1 and "no answer there has features" in r.err, r


def fake_build():
    """A build whose assay notes that it was called, and has no answer the second time."""
    os.makedirs("build/bench/calibration")
    script("build/bench/calibration/clinic", "exit 0")
    said = {"data": {"answer": answer("earliest(struct clinic const*)"), "hotspots": [],
                     "ledger": [{"hypothesis": "noise", "verdict": "rejects"}],
                     "signals": [{"name": "s", "value": None}]}}
    calls = os.path.abspath("calls")
    script("build/assay", f"echo $* >>{calls}", f"[ $(wc -l <{calls}) = 2 ] && exit 1",
           "mkdir -p assay-out/one && echo x >assay-out/one/file",
           f"echo '{json.dumps(said)}'")
    return calls


def calibrate(*words):
    return run(sys.executable, os.path.join(FOLDER, "calibrate.py"), "build", "--keep", "kept",
               "--only", "clinic", "--load", "idle", *words)


@case("a run that stopped continues: what has an answer is not run again, what failed is")
def _():
    calls = fake_build()
    r = calibrate("--rounds", "2", "--minutes", "0.5")
    assert r.status == 3 and not os.path.exists(calls), r  # a run takes 60 s
    r = calibrate("--rounds", "2", "--evidence", "evidence")
    assert r.status == 3 and "no answer: exit status 1" in r.out, r
    assert "idle 1 clinic.c: earliest, high: right" in r.out, r
    assert sorted(os.listdir("kept")) == ["clinic.c.idle.1.json", "clinic.c.idle.2.json"]
    assert os.listdir("evidence/clinic.c.idle.1") == ["one"]
    r = calibrate("--rounds", "2")
    assert r.status == 0 and "2 runs, 1 with an answer, 1 left" in r.out, r
    with open(calls, encoding="utf-8") as file:
        assert file.read().count("run --json --budget 60s -- ") == 3
    os.remove(calls)
    assert calibrate("--rounds", "2").status == 0 and not os.path.exists(calls)
    r = calibrate("--round", "5", "--list")
    assert r.status == 0 and r.out.endswith("1 left\nidle 5 clinic.c\n"), r
    with open("kept/broken.json", "w", encoding="utf-8") as file:
        file.write('{"program": ')
    r = run(sys.executable, os.path.join(FOLDER, "tables.py"), "kept")
    assert r.status == 0 and "**2 of 324 runs**" in r.out and "broken.json: skipped" in r.err, r


@case("the runs of a load of runs are made at once, each one once")
def _():
    fake_build()
    # Each notes when it begins and ends; it waits until as many as there should be are under way.
    lanes, log = 1 + loads.LOADS["runs"] * loads.cpus(), os.path.abspath("log")
    said = json.dumps({"data": {"answer": answer("earliest"), "hotspots": [], "signals": []}})
    script("build/assay", f"echo begin >>{log}", "n=0",
           f"while [ $(grep -c begin {log}) -lt {lanes} ] && [ $n -lt 600 ]; do",
           "sleep 0.1; n=$((n + 1)); done", f"echo end >>{log}", f"echo '{said}'")
    r = run(sys.executable, os.path.join(FOLDER, "calibrate.py"), "build", "--keep", "kept",
            "--only", "clinic", "--load", "runs", "--rounds", str(lanes + 2))
    assert r.status == 0 and r.out.count("clinic.c: earliest, high: right") == lanes + 2, r
    with open(log, encoding="utf-8") as file:
        words = file.read().split()
    assert words[:lanes] == ["begin"] * lanes and words.count("begin") == lanes + 2, words
    assert len(os.listdir("kept")) == lanes + 2, os.listdir("kept")


@case("wrong words of calibrate.py are refused")
def _():
    fake_build()
    for words, reason in ((("--load", "idle,noise"), "unknown load 'noise'"),
                          (("--only", "clinic", "nobody"), "unknown program 'nobody'"),
                          (("--round", "0"), "not a list of rounds"),
                          (("--budget", "60"), "not a time")):
        r = calibrate(*words)
        assert r.status != 0 and reason in r.err and not os.path.exists("calls"), r


@case("a load has its processes, is missed when one ends, and leaves none behind")
def _():
    def children():
        return set(read(f"/proc/self/task/{os.getpid()}/children").split())
    before = children()
    # It sleeps: tests beside this one want the CPUs.
    with unittest.mock.patch.object(loads, "SPIN", "import time\ntime.sleep(600)"), \
            loads.beside("spin2") as check:
        mine = [int(pid) for pid in children() - before]
        assert len(mine) == 2 * loads.cpus(), mine
        check()
        os.kill(mine[0], 9)
        try:
            for _ in range(500):
                time.sleep(0.02)
                check()
            raise AssertionError("nobody missed the process")
        except SystemExit as error:
            assert "status -9" in str(error), error
    assert children() == before


@case("what other programs used is all CPU time without that of our own children")
def _():
    def own():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    def at(now, busy, ask):
        """ask() at a time when others had been busy for so long."""
        with unittest.mock.patch.object(loads, "busy_seconds", lambda: busy + own()), \
                unittest.mock.patch.object(loads.time, "monotonic", lambda: now):
            return ask()
    others, before = at(50, 7, loads.Others), own()
    assert run(sys.executable, "-c", "sum(range(10 ** 6))").status == 0 and own() > before
    share = at(60, 12, others.share)
    assert abs(share - 0.5 / os.cpu_count()) < 1e-6, share


@case("of the demo's runs with nothing changed a wrong place and an arrived promise are wrong")
def _():
    def told(function="post_bookings", kind="change", promise="open", confidence="low"):
        return unchanged.row_of({"answer": {**answer(function, confidence, kind)},
                                 "round": {"outcome": "equivalent",
                                           "promise": {"result": promise}}}, 50)

    assert unchanged.tables({"idle": [told(), told(None, "too_noisy")]})[1]
    for wrong in (told("take_digest", confidence="high"), told(promise="arrived"),
                  told(promise="more"), {"error": "exit status 5"}):
        text, right = unchanged.tables({"spin": [told(), wrong]})
        assert not right, text
    text, _ = unchanged.tables({"idle": [told(), told(None, "too_noisy")]})
    assert lines_of(text, "idle", "2", "1", "1", "0", "0"), text
    text, _ = unchanged.tables({"spin": [told(), told("take_digest", confidence="high")]})
    assert lines_of(text, "spin", "2", "1", "0", "1 take_digest (high)", "0"), text
    assert lines_of(text, "spin", "2", "2 equivalent", "2 open"), text


@case("of the demo's runs the first after a failure has nothing to be compared with")
def _():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "idle.jsonl")
        assert not unchanged.has_run(path)
        for error, there in (("exit status 5", False), (None, True), ("again", True)):
            with open(path, "a", encoding="utf-8") as file:
                file.write(json.dumps({"error": error}) + "\n")
            assert unchanged.has_run(path) == there, error


main()
