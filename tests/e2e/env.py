"""assay env: the fingerprint as every user gets it, and the three classes with their statuses."""
import json
import os
import re
import shutil

from tap import ASSAY, SOURCE, assay, case, main, need, run, skip

KEY = re.compile(r"[0-9a-f]{16}")
_taken = []


def fields_of(document):
    """{"group.name": value or None}, the reasons left out; none may be empty."""
    fields = {}
    for group, members in document["data"]["fields"].items():
        for name, value in members.items():
            if name.endswith("_reason") and members.get(name[:-len("_reason")], "") is None:
                assert value in ("absent", "denied"), (group, name, value)
                continue
            if value is None:
                assert f"{name}_reason" in members, (group, name)
            else:
                assert isinstance(value, str) and value.strip(), (group, name, value)
            fields[f"{group}.{name}"] = value
    return fields


def document_of(*words, **how):
    r = assay("env", "--json", *words, **how)
    assert r.status == 0 and not r.err, r
    return json.loads(r.out)


def document_with(path, **changes):
    """Write this machine's document, taken once and made quiet, with some "group__name" changed."""
    if not _taken:
        _taken.append(json.dumps(document_of()))
    document = json.loads(_taken[0])
    for name in document["data"]["fields"]["noise"]:
        if document["data"]["fields"]["noise"][name] is not None:
            document["data"]["fields"]["noise"][name] = "0.00"
    for name, value in changes.items():
        group, name = name.split("__")
        document["data"]["fields"][group][name] = value
        if value is None:
            document["data"]["fields"][group][name + "_reason"] = "denied"
    with open(path, "w", encoding="utf-8") as file:
        json.dump(document, file)
    return path


@case("at least 60 fields, each a value, absent or denied, never an empty text")
def _():
    document = document_of()
    assert len(fields_of(document)) >= 60, len(fields_of(document))
    assert {"cpu", "freq", "memory", "kernel", "security", "limits", "clock", "noise", "storage",
            "env", "identity"} <= set(document["data"]["fields"])
    assert document["data"]["class"] is None and document["data"]["class_reason"]
    assert KEY.fullmatch(document["data"]["key"]), document["data"]["key"]
    assert document["fingerprint"]["key"] == document["data"]["key"]


@case("an unprivileged user gets the same fields and the same key")
def _():
    setpriv = need("setpriv")
    if os.getuid() != 0:
        skip("only root can become another user")
    shutil.copy(ASSAY, "assay")
    os.chmod("assay", 0o755)
    os.chmod(".", 0o755)
    r = run(setpriv, "--reuid=65534", "--regid=65534", "--clear-groups", "./assay", "env", "--json")
    assert r.status == 0 and not r.err, r
    theirs, ours = json.loads(r.out), json.loads(run("./assay", "env", "--json").out)
    assert set(fields_of(theirs)) == set(fields_of(ours))
    assert theirs["data"]["key"] == ours["data"]["key"]


@case("the key is the same on every call and does not follow the working directory")
def _():
    keys = {document_of()["data"]["key"], document_of(cwd="/")["data"]["key"],
            document_of("--storage", "/proc")["data"]["key"]}
    assert len(keys) == 1, keys


@case("--storage describes the file system of a path, and one that is not there exits 2")
def _():
    assert fields_of(document_of("--storage", "/proc"))["storage.filesystem"] == "proc"
    r = assay("env", "--storage", "/no/such/place")
    assert r.status == 2 and len(r.err.splitlines()) == 2 and not r.out, r


@case("values of the environment stay secret, those that change speed are shown")
def _():
    r = assay("env", "--json", env={"MY_TOKEN": "hunter2hunter2", "OMP_NUM_THREADS": "3"})
    assert "hunter2" not in r.out and "MY_TOKEN" not in r.out, r
    assert fields_of(json.loads(r.out))["env.OMP_NUM_THREADS"] == "3", r


@case("-o writes the document, whole, and a place that cannot be written exits 7")
def _():
    r = assay("env", "-o", "here.json")
    assert r.status == 0, r
    with open("here.json", encoding="utf-8") as file:
        assert len(fields_of(json.load(file))) >= 60
    r = assay("env", "-o", "no/such/folder/x.json")
    assert r.status == 7 and "no/such/folder/x.json" in r.err, r
    r = assay("env", "-o", "a.json", "--json=b.json")
    assert r.status == 2 and not os.path.exists("a.json"), r


@case("a fingerprint against itself is FULLY_COMPARABLE and exits 0")
def _():
    a = document_with("a.json")
    r = assay("env", "--diff", a, a, "--json")
    data = json.loads(r.out)["data"]
    assert r.status == 0 and data["class"] == "FULLY_COMPARABLE" and not data["differences"], r
    assert not json.loads(r.out)["warnings"], r


@case("a warning is ADVISORY, exits 0 and stands in the envelope")
def _():
    a, b = document_with("a.json"), document_with("b.json", cpu__microcode="0xother")
    r = assay("env", "--diff", a, b, "--json")
    document = json.loads(r.out)
    assert r.status == 0 and document["data"]["class"] == "ADVISORY", r
    assert [w["code"] for w in document["warnings"]] == ["fingerprint-advisory"], r
    assert assay("env", "--diff", a, b).out.splitlines()[-1].startswith("ADVISORY: 1 warning;")


@case("a blocking difference is NOT_COMPARABLE, named first, and exits 4")
def _():
    a = document_with("a.json")
    b = document_with("b.json", cpu__model="Another CPU", cpu__microcode="x", env__count="0")
    r = assay("env", "--diff", a, b, "--json")
    data = json.loads(r.out)["data"]
    assert r.status == 4 and data["class"] == "NOT_COMPARABLE", r
    assert [d["severity"] for d in data["differences"]] == ["BLOCK", "WARN", "INFO"], r
    first = data["differences"][0]
    assert first["field"] == "cpu.model" and first["b"] == "Another CPU" and first["reason"], r
    assert data["a"]["key"] != data["b"]["key"] and data["block_count"] == 1, r
    text = assay("env", "--diff", a, b)
    assert text.status == 4 and text.out.splitlines()[-1] == (
        "NOT_COMPARABLE: 1 blocking difference; do not compare numbers from a.json and b.json"), \
        text
    agent = assay("env", "--diff", a, b, "--agent")
    assert agent.status == 4 and "BLOCK cpu.model" in agent.out, agent
    assert len(agent.out.splitlines()) <= 40 and agent.out.isascii(), agent


@case("what one side could not read warns at most")
def _():
    a, b = document_with("a.json"), document_with("b.json", cpu__model=None)
    r = assay("env", "--diff", a, b, "--json")
    data = json.loads(r.out)["data"]
    assert r.status == 0 and data["class"] == "ADVISORY", r
    assert data["differences"][0]["b"] is None, r
    assert data["differences"][0]["b_reason"] == "denied", r


@case("- is this machine: under taskset it is not comparable with the whole of it")
def _():
    taskset = need("taskset")
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        skip("one cpu only")
    assert assay("env", "-o", "a.json").status == 0
    r = run(taskset, "-c", cpus[0], ASSAY, "env", "--diff", "a.json", "-")
    assert r.status == 4 and "BLOCK  limits.affinity" in r.out, r


@case("a document that is not ours exits 2 with what is wrong")
def _():
    with open("hyperfine.json", "w", encoding="utf-8") as file:
        file.write('{"results": []}')
    with open("cut.json", "w", encoding="utf-8") as file:
        file.write('{"schema": "assay.env/1", "da')
    for name, words in (("hyperfine.json", "not an assay document"),
                        ("cut.json", "not valid JSON"), ("nothing.json", "no such file")):
        r = assay("env", "--diff", name, "-")
        assert r.status == 2 and words in r.err and name in r.err and not r.out, r
        assert len(r.err.splitlines()) == 2, r


@case("--diff wants two, and two without --diff are refused")
def _():
    for words in (("--diff",), ("--diff", "a"), ("a", "b")):
        r = assay("env", *words)
        assert r.status == 2 and "--diff A" in r.err and not r.out, r


@case("the rules in the documentation's table are groups that exist")
def _():
    with open(os.path.join(SOURCE, "docs", "commands", "env.md"), encoding="utf-8") as file:
        text = file.read()
    groups = set(document_of()["data"]["fields"]) | {"job"}  # that one is of run files only
    assert groups == set(re.findall(r"^\| `([a-z]+)` \|", text, re.MULTILINE)), groups


main()
