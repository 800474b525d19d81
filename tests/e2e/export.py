"""`assay export`: every format holds what the report says, to the sample."""
import json
import os
import re
import socket
import sqlite3

import runs
from tap import assay, case, main, need, run

FORMATS = {"folded": "assay.folded", "pprof": "assay.pb.gz", "speedscope": "assay.speedscope.json",
           "firefox": "assay.firefox.json", "perfscript": "assay.perf.txt",
           "chrome": "assay.trace.json", "json": "assay.profile.json"}


def exported(path, form, *words):
    """The file's text (pprof: its name), checked against what the command says of it."""
    summary = runs.document("export", path, "--format", form, *words)["data"]
    assert summary["format"] == form and summary["file"] == FORMATS[form], summary
    assert summary["bytes"] == os.path.getsize(summary["file"]), summary
    if form == "pprof":
        return summary["file"]
    with open(summary["file"], encoding="utf-8") as file:
        return file.read()


def folded_chains(text):
    for line in text.splitlines():
        chain, weight = line.rsplit(" ", 1)
        yield chain.split(";"), int(weight)


def in_range(index, table):
    assert isinstance(index, int) and 0 <= index < len(table), (index, len(table))
    return table[index]


def speedscope_chains(text):
    """The rules of speedscope's schema, by hand."""
    d = json.loads(text)
    assert d["$schema"] == "https://www.speedscope.app/file-format-schema.json", d
    assert set(d) <= {"$schema", "shared", "profiles", "name", "activeProfileIndex", "exporter"}
    frames = d["shared"]["frames"]
    for frame in frames:
        assert isinstance(frame["name"], str) and set(frame) <= {"name", "file", "line", "col"}
    in_range(d["activeProfileIndex"], d["profiles"])
    for profile in d["profiles"]:
        assert set(profile) == {"type", "name", "unit", "startValue", "endValue", "samples",
                                "weights"}, profile
        assert profile["type"] == "sampled" and profile["unit"] in ("none", "nanoseconds")
        assert len(profile["samples"]) == len(profile["weights"])
        assert profile["endValue"] - profile["startValue"] == sum(profile["weights"])
        for chain, weight in zip(profile["samples"], profile["weights"]):
            yield [in_range(i, frames)["name"] for i in chain], weight


def firefox_chains(text):
    """Version 60 of the processed format: columns of equal length, indices that exist."""
    d = json.loads(text)
    assert d["meta"]["preprocessedProfileVersion"] == 60 and d["meta"]["interval"] > 0
    assert any(c["color"] == "grey" for c in d["meta"]["categories"])
    shared = d["shared"]
    for name in ("stackTable", "frameTable", "funcTable", "resourceTable", "sources",
                 "nativeSymbols"):
        table = shared[name]
        assert all(len(c) == table["length"] for k, c in table.items() if k != "length"), name
    stacks, frames, funcs = shared["stackTable"], shared["frameTable"], shared["funcTable"]
    names = [in_range(i, shared["stringArray"]) for i in funcs["name"]]
    for kind in frames["category"]:
        in_range(kind, d["meta"]["categories"])
    for source in funcs["source"]:
        assert source is None or in_range(source, shared["sources"]["filename"]) is not None
    for resource in funcs["resource"]:
        assert resource == -1 or in_range(shared["resourceTable"]["lib"][resource], d["libs"])
    for thread in d["threads"]:
        samples = thread["samples"]
        assert len(samples["stack"]) == len(samples["time"]) == samples["length"]
        assert samples["time"] == sorted(samples["time"]) and isinstance(thread["pid"], str)
        for stack in samples["stack"]:
            chain = []
            while stack is not None:
                chain.append(names[frames["func"][in_range(stack, stacks["frame"])]])
                above = stacks["prefix"][stack]
                assert above is None or above < stack
                stack = above
            yield chain[::-1], 1


def perf_script_chains(text):
    head = re.compile(r"\S.*? +\d+/\d+ +(\[\d+\] +)?\d+\.\d{9}: +(\d+) (\S+): $")
    for block in text.split("\n\n")[:-1]:
        first, *rest = block.split("\n")
        assert head.match(first), first
        frames = [re.fullmatch(r"\t +[0-9a-f]+ (.+) \((.+)\)", line) for line in rest]
        assert all(frames), block
        yield [re.sub(r"\+0x[0-9a-f]+$", "", f[1]) for f in reversed(frames)], 1


def chrome_chains(text):
    d = json.loads(text)
    nodes = d["stackFrames"]
    for event in d["traceEvents"]:
        assert event["ph"] in "MX" and (event["ph"] == "M" or event["dur"] >= 0), event
    for sample in d["samples"]:
        chain, node = [], sample["sf"]
        while node is not None:
            chain.append(nodes[node]["name"])
            node = nodes[node].get("parent")
        yield chain[::-1], sample["weight"]


def json_chains(text):
    d = json.loads(text)
    for sample in d["samples"]:
        chain, stack = [], sample["stack"]
        in_range(sample["thread"], d["threads"])
        while stack is not None:
            node = in_range(stack, d["stacks"])
            chain.append(d["functions"][d["frames"][node["frame"]]["function"]]["name"])
            stack = node["parent"]
        yield chain[::-1], sample.get("samples", 1)
    assert d["total_period"] == sum(s["period"] for s in d["samples"])


def pprof_chains(file, value=0):
    """What `go tool pprof -raw` understood."""
    r = run(need("go"), "tool", "pprof", "-raw", file)
    assert r.status == 0, r
    part, locations, samples = None, {}, []
    for line in r.out.splitlines():
        if line in ("Samples:", "Locations", "Mappings"):
            part = line
        elif part == "Samples:" and (m := re.match(r"\s*(\d+) +(\d+): ([\d ]+)", line)):
            samples.append(([int(i) for i in m[3].split()], int(m[1 + value])))
        elif part == "Locations":
            m = re.fullmatch(r"\s*(?:(\d+): 0x[0-9a-f]+ (?:M=\d+ )?)?\s*(.*) \S*:\d+(?::\d+)? "
                             r"s=\d+(?:\(.*\))?", line)
            assert m, line
            if m[1]:
                last = locations[int(m[1])] = []
            last.append(m[2])
    for ids, weight in samples:
        yield [name for i in ids for name in locations[i]][::-1], weight


READERS = {"folded": folded_chains, "pprof": pprof_chains, "speedscope": speedscope_chains,
           "firefox": firefox_chains, "perfscript": perf_script_chains, "chrome": chrome_chains,
           "json": json_chains}


def agrees(form, *words):
    """Samples in all, and self and total of each function, as `assay report` has them."""
    path = runs.made(runs.MIXED)
    chains = list(READERS[form](exported(path, form, *words)))
    data, rows = runs.reported(path, *[w for w in words if w != "--merged"])
    assert sum(weight for _, weight in chains) == data["total_samples"], (form, data)
    assert runs.tally(chains) == rows, (form, runs.tally(chains), rows)


for name in FORMATS:
    @case(f"{name}: self and total of each function are the report's")
    def _(form=name):
        agrees(form)

    @case(f"{name}: and with filters too")
    def _(form=name):
        agrees(form, "--thread", "main", "--function", "main", "--time", "5ms..58ms")


@case("speedscope and json merged: the same totals in fewer rows")
def _():
    path = runs.made(runs.MIXED)
    for form in ("speedscope", "json"):
        whole = len(list(READERS[form](exported(path, form))))
        agrees(form, "--merged")
        assert len(list(READERS[form](exported(path, form, "--merged")))) < whole, form


@case("the other event is exported when asked for, and its absence is told")
def _():
    path = runs.made(runs.MIXED)
    assert exported(path, "folded", "--event", "cycles") == "main;parse 9\n"
    assert runs.document("export", path, "--format", "json")["data"]["samples_of_other_events"] == 9
    assert "9 samples of other events" in assay("export", path, "--format", "json").out


@case("go tool pprof -top prints the report's numbers, and the whole time")
def _():
    path = runs.made(runs.MIXED)
    _, rows = runs.reported(path)
    r = run(need("go"), "tool", "pprof", "-top", "-nodecount=0", "-nodefraction=0",
            "-sample_index=samples", exported(path, "pprof"))
    assert r.status == 0 and "Total samples = 83" in r.out, r
    top = {}
    for line in r.out.splitlines():
        m = re.fullmatch(r" +(\d+) +\S+% +\S+% +(\d+) +\S+% +(.+?)(?: \(inline\))?", line)
        if m:
            top[m[3]] = (int(m[1]), int(m[2]))
    assert top == rows, (top, rows)
    time = sum(w for _, w in pprof_chains("assay.pb.gz", value=1))
    assert time == 59 * 1000000 + 24 * 3000000, time


@case("folded by period sums to the time, and marks the kernel when asked")
def _():
    path = runs.made(runs.MIXED)
    text = exported(path, "folded", "--weight", "period", "--kernel-marks")
    assert sum(w for _, w in folded_chains(text)) == 59 * 1000000 + 24 * 3000000, text
    assert "main;read;do_syscall_[k];copy_user_[k] 3000000\n" in text, text


@case("separators, new lines and bad bytes in names break no format")
def _():
    path = runs.made(runs.MIXED)
    runs.rename(path, "lex", "a;b\nc\td \x01\x7f\"\\</script>]]>")
    for form in FORMATS:
        file = exported(path, form)
        if form == "pprof":  # -raw prints names as they are
            r = run(need("go"), "tool", "pprof", "-top", "-sample_index=samples", file)
            assert "Total samples = 83" in r.out, r
        else:
            assert sum(weight for _, weight in READERS[form](file)) == 83, form
    assert "a:b c d" in exported(path, "folded")


@case("perf's folding rule reads the perf script text to the same stacks")
def _():
    path = runs.made(runs.MIXED)
    stacks = {}
    for chain, weight in perf_script_chains(exported(path, "perfscript")):
        line = ";".join(chain)
        stacks[line] = stacks.get(line, 0) + weight
    assert stacks == {";".join(c): w for c, w in folded_chains(exported(path, "folded"))}, stacks


@case("a CPU that is not known is omitted or null, never a number")
def _():
    with open("perf.txt", "w", encoding="ascii") as file:
        file.write("a b 10/11 1.000000001: 7 cycles: \n\t40 f (/bin/x)\n\n"
                   "a b 10/11 [003] 1.000000002: 7 cycles: \n\t40 f (/bin/x)\n\n")
    r = assay("import", "perf.txt", "-o", "run.assay")
    assert r.status == 0, r
    heads = exported("run.assay", "perfscript").splitlines()[::3]
    assert [re.sub(r" +", " ", head) for head in heads] == [
        "a b 10/11 1.000000001: 7 cycles: ", "a b 10/11 [003] 1.000000002: 7 cycles: "], heads
    assert [s["cpu"] for s in json.loads(exported("run.assay", "json"))["samples"]] == [None, 3]
    assert [s.get("cpu") for s in json.loads(exported("run.assay", "chrome"))["samples"]] \
        == [None, 3]
    for form in ("folded", "speedscope", "firefox"):
        assert "4294967295" not in exported("run.assay", form), form
    with sqlite3.connect("run.assay") as db:
        assert db.execute("SELECT cpu FROM samples ORDER BY id").fetchall() == [(None,), (3,)]


@case("a clock's samples become slices that cover their periods")
def _():
    path = runs.made("event cpu-clock ns\nperiod 1000000\nthread 1 1 a\n"
                     "3 main;f\n2 main;g\nstep 50000000\n1 main;g\n1 main;g\n")
    slices = [e for e in json.loads(exported(path, "chrome"))["traceEvents"] if e["ph"] == "X"]
    by_name = {n: sum(e["dur"] for e in slices if e["name"] == n) for n in ("f", "g")}
    assert by_name == {"f": 2000, "g": 4000}, slices  # the trace starts at the first sample


@case("-o - writes to stdout and talks on stderr")
def _():
    path = runs.made(runs.MIXED)
    r = assay("export", path, "--format", "folded", "-o", "-")
    assert r.status == 0 and "main;parse 12\n" in r.out and "83 samples" in r.err, r
    r = assay("export", path, "--format", "folded", "-o", "-", "--json")
    assert r.status == 2 and "stdout" in r.err, r


@case("--agent is plain and ends with the next command")
def _():
    path = runs.made(runs.MIXED, "my run.assay")
    r = assay("export", path, "--format", "chrome", "--agent")
    assert r.status == 0 and r.out.isascii(), r
    assert r.out.splitlines()[-1] == "next: assay report 'my run.assay' --agent", r


@case("an unknown format is refused with the list, and no format as well")
def _():
    path = runs.made(runs.MIXED)
    for words in (["--format", "prof"], []):
        r = assay("export", path, *words)
        assert r.status == 2 and all(f in r.err for f in FORMATS), r


@case("a failed export leaves the old file and nothing else")
def _():
    path = runs.made(runs.MIXED)
    with open("out", "w", encoding="utf-8") as file:
        file.write("old")
    before = sorted(os.listdir("."))
    r = assay("export", path, "--format", "json", "-o", "out", "--thread", "nobody")
    assert r.status == 2 and "nobody" in r.err, r
    assert sorted(os.listdir(".")) == before, os.listdir(".")
    with open("out", encoding="utf-8") as file:
        assert file.read() == "old"
    r = assay("export", path, "--format", "json", "-o", "/dev/full")
    assert r.status == 7 and "space" in r.err, r


@case("-o - writes to whatever stdout is: a file behind other text, a pipe, a socket")
def _():
    path = runs.made(runs.MIXED)
    assert assay("export", path, "--format", "folded", "--quiet", "-o", "text").status == 0
    with open("text", encoding="utf-8") as file:
        text = file.read()
    words = ("export", path, "--format", "folded", "--quiet", "-o", "-")
    assert assay(*words).out == text
    with open("behind", "w+", encoding="utf-8") as file:
        file.write("head\n")
        file.flush()
        assert assay(*words, stdout=file).status == 0
        file.seek(0)
        assert file.read() == "head\n" + text
    ours, its = socket.socketpair()
    with ours, its:
        r = assay(*words, stdout=its)
        its.close()
        assert r.status == 0, r
        assert b"".join(iter(lambda: ours.recv(65536), b"")).decode() == text


@case("a run without samples says how to take some")
def _():
    r = assay("stat", "-o", "counts.assay", "--", "true")
    assert r.status == 0, r
    r = assay("export", "counts.assay", "--format", "pprof")
    assert r.status == 2 and "no samples" in r.err and "assay record" in r.err, r
    assert not os.path.exists("assay.pb.gz")


@case("options that a format has no use for are refused")
def _():
    path = runs.made(runs.MIXED)
    assert assay("export", path, "--format", "chrome", "--merged").status == 2
    assert assay("export", path, "--format", "pprof", "--weight", "period").status == 2


main()
