"""How a program's time grows with its input, and how often its code runs, in the answer of run."""
import json
import os

from tap import BUILD, assay, case, main, measured, need, script

ALGORITHM = os.path.join(BUILD, "tests", "workloads", "algorithm")


def answer(*words, status=0, budget="40s", skip="causal,counters,baseline"):
    """The data of a run without the phases that tell nothing here."""
    r = assay("run", "--json", "-o", "out", "--budget", budget, "--skip", skip, *words, limit_s=300)
    assert r.status == status, r
    return json.loads(r.out)["data"] if r.out else r


def phases(data):
    return {p["phase"]: p for p in data["phases"]}


def lines_write(count):
    with open("lines.txt", "w", encoding="ascii") as file:
        for i in range(count):
            file.write(f"a{i * 7919 % 1000003:07} some text to read\n")


def row(data, name):
    return [r for r in data["ledger"] if r["hypothesis"] == name][0]


@measured("a list that is searched for each line grows as n^2, and the why says so with its counts")
def _():
    need("valgrind")
    lines_write(14000)
    d = answer("--", ALGORITHM, "unique", "lines.txt")
    assert d["answer"]["function"] == "is_known", d["answer"]
    chain = d["answer"]["chain"]
    assert set(chain[0]) >= {"function", "location", "total_share", "calls"}, chain
    assert chain[0]["function"] == "is_known" and chain[-1]["function"] == "main", chain
    assert chain[0]["location"] == d["answer"]["location"], d["answer"]
    assert d["answer"]["gain_basis"] in ("arithmetic", "experiment"), d["answer"]
    growth = d["growth"]
    assert [round(s["size_share"], 1) for s in growth["sizes"]] == [1, 0.5, 0.2], growth
    assert growth["power"] > 1.5 and growth["law"].startswith("n^"), growth
    hot = [f for f in growth["functions"] if f["function"] == "is_known"][0]
    assert hot["total"]["power"] > 1.5, hot
    assert row(d, "grows_faster_than_its_input")["verdict"] == "supports", d["ledger"]
    assert d["answer"]["hypothesis"] == "grows_faster_than_its_input", d["answer"]
    why = d["answer"]["why"]
    assert "its time grows as n^" in why and ": twice the input takes" in why, why
    assert "trips per call, called" in why and "algorithm.c:" in why, why
    for name in ("smaller", "smallest"):
        assert phases(d)[name]["outcome"] == "done", phases(d)[name]
        assert os.path.isfile(os.path.join("out", name, "lines.txt"))
    assert assay("run", "--check", "out").status == 0


@measured("a program that looks at each line once is not called quadratic")
def _():
    lines_write(14000)
    d = answer("--", ALGORITHM, "sum", "lines.txt", "400", skip="causal,counters,baseline,calls")
    assert 0.8 < d["growth"]["power"] < 1.2 and d["growth"]["law"] == "n", d["growth"]
    assert row(d, "grows_faster_than_its_input")["verdict"] == "rejects", d["ledger"]
    assert "grows" not in d["answer"]["why"], d["answer"]


@measured("--sizes fills in {n}: the largest is measured, the others tell the growth")
def _():
    d = answer("--sizes", "15k,30k,60k", "--", ALGORITHM, "append", "{n}",
               skip="causal,counters,baseline,calls")
    assert [s["size_share"] for s in d["growth"]["sizes"]] == [1, 0.5, 0.25], d["growth"]
    assert d["growth"]["power"] > 1.5, d["growth"]
    assert "append 60000" in d["target"] and "append 30000" in phases(d)["smaller"]["command"], d


@case("the input of a smaller run is a part of stdin, or the command that --smaller names")
def _():
    lines_write(2000)  # 2,000 rounds of them: well above the 20 ms that a run must take, on any CPU
    with open("lines.txt", encoding="ascii") as file:
        text = file.read()
    r = assay("run", "--json", "-o", "one", "--budget", "20s", "--phase",
              "profile,smaller,smallest", "--", ALGORITHM, "sum", "-", "2000", stdin=text)
    d = json.loads(r.out)["data"]
    assert phases(d)["smaller"]["command"].endswith("one/smaller/input"), phases(d)["smaller"]
    with open("one/smaller/input", encoding="ascii") as file:
        half = file.read()
    assert text.startswith(half) and half.endswith("\n") and abs(2 * len(half) - len(text)) < 100
    d = answer("--smaller", f"{ALGORITHM} sum lines.txt 1000", "--", ALGORITHM, "sum", "lines.txt",
               "4000", skip="causal,counters,baseline,calls,observed")
    assert [s["size_share"] for s in d["growth"]["sizes"]] == [1, 0.25], d["growth"]
    assert "sum lines.txt 1000" in phases(d)["smaller"]["command"], phases(d)["smaller"]
    assert phases(d)["smallest"]["outcome"] == "skipped", phases(d)["smallest"]


@case("a program that fails on a part of its input has no growth, and still an answer")
def _():
    lines_write(2000)
    whole = script("whole", 'test "$(wc -l < "$1")" = 2000 || exit 3', f'{ALGORITHM} sum "$1" 4000')
    d = answer("--", whole, "lines.txt", skip="causal,counters,baseline,calls,observed")
    assert d["growth"] is None and d["answer"]["kind"] == "change", d["answer"]
    assert phases(d)["smaller"]["outcome"] == "failed", phases(d)["smaller"]
    assert "status 3" in phases(d)["smaller"]["reason"], phases(d)["smaller"]


@case("no input is cut when it is not clear which one, or when it is not text")
def _():
    lines_write(2000)
    with open("bytes.bin", "wb") as file:
        file.write(bytes(range(256)) * 1000)
    for words, reason in ((("lines.txt", "bytes.bin"), None), (("bytes.bin",), "no smaller input"),
                          (("lines.txt", "./lines.txt"), "several arguments")):
        d = answer("--", "sh", "-c", "sleep 0.1", "sh", *words,
                   skip="causal,counters,calls,baseline")
        phase = phases(d)["smaller"]
        assert (reason is None) == (phase["outcome"] == "done"), phase
        assert reason is None or reason in phase["reason"], phase
        os.rename("out", "out" + str(len(os.listdir("."))))
    text = script("text", *[":"] * 40, "sleep 0.1")
    for words in (("sh", text), (text,)):
        d = answer("--", *words, skip="causal,counters,calls,baseline,observed")
        assert "no smaller input" in phases(d)["smaller"]["reason"], phases(d)["smaller"]
        os.rename("out", "out" + str(len(os.listdir("."))))


@case("sizes that cannot be used are refused in one sentence")
def _():
    for words, text in ((("--sizes", "1k,2k", "--", "true"), "needs {n}"),
                        (("--sizes", "1k", "--", "true", "{n}"), "at least two"),
                        (("--sizes", "1k,2k", "--smaller", "true", "--", "true", "{n}"), "exclude"),
                        (("--smaller", "no-such-program", "--", "true"), "no-such-program")):
        r = assay("run", "-o", "out", *words)
        assert r.status in (2, 5) and text in r.err and len(r.err.splitlines()) <= 2, r
        assert not os.path.exists("out"), words


main()
