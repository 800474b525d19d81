"""`assay import` of profiles: recordings that the installed perf makes here, and every shared one,
counted against perf itself; then what is damaged."""
import collections
import glob
import gzip
import json
import os
import re
import sqlite3
import subprocess
import tempfile

import perf_file
from tap import ASSAY, SOURCE, assay, case, main, need, run, skip

FOLDER = tempfile.TemporaryDirectory()  # gone at the end
SHARED = os.path.join(os.environ.get("ASSAY_SHARED", os.path.join(SOURCE, "..", "shared")),
                      "perfdata")
PROGRAM = r"""
#include <unistd.h>
static volatile unsigned long sum;
__attribute__((noinline)) static void leaf(unsigned n)
{ for (unsigned i = 0; i < n; i++) sum += i; }
__attribute__((noinline)) static void middle(unsigned n) { leaf(n); sum++; }
int main(int count, char **words)
{ (void)words; for (int i = 0; i < 40 || count > 1; i++) middle(3000000); return 0; }
"""


def path_of(name):
    return os.path.join(FOLDER.name, name)


def imported(path, *words, **how):
    r = assay("import", "--json", path, *words, **how)
    assert r.status == 0, r
    return json.loads(r.out)


def target():
    """A program with a known call chain, made once."""
    program = path_of("work")
    if not os.path.exists(program):
        with open(program + ".c", "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        r = run(need("gcc"), "-O1", "-g", "-fno-omit-frame-pointer", program + ".c", "-o", program)
        assert r.status == 0, r
    return program


def taken(name, *options):
    """A recording by the installed perf, made once; None when it refuses."""
    path = path_of(name)
    if not os.path.exists(path):
        r = run(need("perf"), "record", "-qN", "-o", path, *options, target())
        if r.status != 0:
            return None
    return path


def recorded(name, *options):
    """The same, or skip."""
    return taken(name, *options) or skip("perf record does not work here")


def piped(*options):
    """What perf record sends through a pipe, or skip."""
    with subprocess.Popen([need("perf"), "record", "-qN", "-o", "-", *options, target()],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as perf:
        out = perf.communicate(timeout=60)[0]
    return out if perf.returncode == 0 else skip("perf record does not work here")


def perf_samples(path):
    """Samples per event as perf itself counts them; None when it refuses the file."""
    r = run(need("perf"), "report", "--stats", "-i", path)
    found = re.findall(r"^(\S.*) stats:\n\s+SAMPLE events:\s+(\d+)", r.out, re.MULTILINE)
    return None if r.status != 0 else {name: int(count) for name, count in found
                                       if name != "Aggregated"}


def agree(path):
    """Our counts are perf's, event by event."""
    want, d = perf_samples(path), imported(path)["data"]
    assert want, path
    assert d["samples"] == sum(want.values()), (path, want, d)
    assert sorted(e["samples"] for e in d["events"] if e["samples"]) == sorted(want.values()), d
    assert not any(d["skipped"][key] for key in d["skipped"] if key.endswith("samples")), d
    return d


FRESH = {
    "flat": ["-F", "999"], "fp": ["-F", "999", "-g"],
    "several": ["-F", "499", "-e", "cpu-clock:u,task-clock:u"],
    "group": ["-F", "499", "-e", "{cpu-clock:u,task-clock:u}"],
    "group-chains": ["-F", "499", "-g", "-e", "{cpu-clock,page-faults}"],
    "group-read": ["-F", "499", "-g", "-e", "{cpu-clock,page-faults}:S"],
    "packed": ["-F", "999", "-z", "-g"], "packed-group": ["-z", "-e", "{cpu-clock,task-clock}:S"],
    "dwarf": ["-F", "199", "--call-graph", "dwarf,4096"],
    "period": ["-e", "cpu-clock:u", "-c", "1000000", "-d"],
    "weight": ["-F", "499", "-e", "cpu-clock:u", "-W", "-d", "--phys-data"],
    "all-cpus": ["-F", "499", "-a", "-e", "cpu-clock", "--sample-cpu"],
    "switches": ["-F", "499", "-g", "--switch-events", "--namespaces"],
}


@case("recordings of the installed perf have the samples that it counts: chains, groups, -z, ...")
def _():
    refused = [name for name, options in FRESH.items() if not taken(name, *options)]
    if len(refused) == len(FRESH):
        skip("perf record does not work here")
    assert not {"flat", "fp", "packed", "group", "dwarf"} & set(refused), refused
    for name in FRESH.keys() - set(refused):
        d = agree(path_of(name))
        assert d["kind"] == "perf-data", d


def same_as_script(text, output, event):
    """Samples and weight of each function of the program, on any level, as perf script has them."""
    want, weight = collections.Counter(), collections.Counter()
    for head, *frames in (part.splitlines() for part in text.strip().split("\n\n")):
        period, name = head.split()[:2]
        if name == event + ":":
            for function in {frame.split()[1] for frame in frames}:
                want[function] += 1
                weight[function] += int(period)
    data = json.loads(assay("report", output, "--json", "-e", event).out)["data"]
    rows = {row["name"]: row for row in data["rows"]}
    for function in ("leaf", "middle", "main"):
        got = rows.get(function, {"total": 0, "total_weight": 0})
        assert got["total"] == want[function], (event, function, got, want)
        assert got["total_weight"] == weight[function], (event, function, got, weight)
    return want


@case("who calls the hot function, and how much that is, are those of perf script")
def _():
    for name in ("fp", "dwarf", "packed", "group-chains", "group-read"):
        path = recorded(name, *FRESH[name])
        r = run(need("perf"), "script", "-i", path, "-F", "event,period,ip,sym")
        output = path_of(name + ".assay")
        first, *others = imported(path, "-o", output)["data"]["events"]
        assert {"leaf", "main"} <= set(same_as_script(r.out, output, first["name"])), (name, r)
        for event in others:
            if event["samples"]:
                same_as_script(r.out, output, event["name"])


@case("every shared recording has the samples that perf counts; an empty event is one")
def _():
    paths = sorted(p for p in glob.glob(os.path.join(SHARED, "*"))
                   if re.search(r"perf\.data|\.data$", p) and "corrupted" not in p)
    refused = 0
    for path in [*paths, perf_file.write(path_of("made"), 0, [b""] * 9)]:
        if perf_samples(path):
            agree(path)
        else:
            refused += 1
            assert imported(path)["data"]["samples"] > 0, path
    assert refused <= 3, refused


@case("a recording that is corrupt before its first sample is refused with a sentence")
def _():
    whole = piped("-F", "999")
    at, size = 16, 0
    while int.from_bytes(whole[at:at + 4], "little") != 9:  # PERF_RECORD_SAMPLE
        size = int.from_bytes(whole[at + 6:at + 8], "little")
        assert size > 0, (at, len(whole))
        at += size
    with open(path_of("corrupt"), "wb") as file:
        file.write(whole[:at + 6] + bytes(2) + whole[at + 8:])
    r = assay("import", path_of("corrupt"))
    assert r.status == 2 and f"the record at byte {at} claims a size of 0 bytes" in r.err, r


@case("the kernel of another machine gets no names from the one that runs here")
def _():
    path = perf_file.write(path_of("foreign"), 0, [b""] * 9, at=perf_file.KERNEL + 0x1000,
                           release="4.14.0-other")
    d = imported(path)
    assert any("another kernel" in w["text"] for w in d["warnings"]), d
    assert d["data"]["holds"]["functions"] == 0, d


@case("what perf record sends through a pipe is read from stdin and from a file")
def _():
    for options in (["-F", "999", "-g"], ["-F", "999", "-z"], ["-e", "{cpu-clock,task-clock}:S"]):
        with open(path_of("pipe"), "wb") as file:
            file.write(piped(*options))
        # perf 6.1 cannot unpack what it sent through a pipe itself.
        d = agree(path_of("pipe")) if perf_samples(path_of("pipe")) else \
            imported(path_of("pipe"))["data"]
        assert d["samples"] > 0, d
        with open(path_of("pipe"), "rb") as file:
            out = subprocess.run([ASSAY, "import", "--json", "-"], stdin=file,
                                 capture_output=True, check=True, timeout=60).stdout
        assert json.loads(out)["data"]["samples"] == d["samples"], out


@case("a running process that perf attached to is imported")
def _():
    perf, program = need("perf"), target()
    with subprocess.Popen([program, "forever"]) as child:
        r = run(perf, "record", "-qN", "-o", path_of("attached"), "-F", "999", "-p", child.pid,
                "--", "sleep", "0.5")
        child.kill()
    if r.status != 0 or not perf_samples(path_of("attached")):
        skip("perf record -p does not work here")
    agree(path_of("attached"))


@case("the hot function and its callers have their names in the run file")
def _():
    for name in ("fp", "dwarf"):
        output = path_of(name + ".assay")
        d = imported(recorded(name, *FRESH[name]), "-o", output)
        assert d["data"]["holds"]["functions"] > 0, d
        with sqlite3.connect(output) as base:
            names = {row[0] for row in base.execute(
                "SELECT t.text FROM function f JOIN text t ON t.id = f.name")}
            stored = base.execute("SELECT count(*) FROM sample").fetchone()[0]
        assert {"leaf", "main"} <= names, names
        assert stored == d["data"]["samples"], (stored, d)


@case("perf script's text of a recording gives the same samples and weight")
def _():
    path = recorded("script", "-F", "999", "-g")
    d = imported(path)["data"]
    for fields in ([], ["-F", "+srcline"], ["-F", "comm,pid,tid,time,event,ip,sym,dso,period"],
                   ["-F", "pid,time,event,ip,sym"], ["-F", "comm,tid,event,ip,sym,symoff,dso"]):
        r = run(need("perf"), "script", "-i", path, *fields)
        with open(path_of("text"), "w", encoding="utf-8") as file:
            file.write(r.out)
        t = imported(path_of("text"))["data"]
        assert t["kind"] == "perf-script", t
        assert t["samples"] == d["samples"], (fields, t, d)
        if not fields:
            assert t["events"][0]["weight"] == d["events"][0]["weight"], (t, d)
        assert not t["skipped"]["malformed_lines"] and not t["skipped"]["foreign_lines"], t


@case("folded stacks are read from stdin, and their weight is their sum")
def _():
    d = json.loads(assay("import", "--json", "-", stdin="a;b;c 12\na;b 3\n").out)["data"]
    assert (d["kind"], d["samples"], d["events"][0]["weight"]) == ("folded", 15, 15), d


@case("folded text counts samples: one column of them, the same after pprof and back")
def _():
    with open(path_of("few.folded"), "w", encoding="ascii") as f:
        f.write("main;run;leaf 12\nmain;run 3\n")
    for name in ("few.folded", "few.pb.gz"):
        d = imported(path_of(name), "-o", path_of("few.assay"))
        assert d["data"]["samples"] == 15 and d["warnings"] == [], d
        r = assay("report", path_of("few.assay"))
        head = next(line for line in r.out.splitlines() if line.startswith("  "))
        assert r.out.startswith("15 samples, lost 0, ") and head.count("samples") == 1, r
        assert re.search(r"80\.0 % +80\.0 % +12 +leaf", r.out), r
        rows = sqlite3.connect(path_of("few.assay")).execute(
            "SELECT function, self, total FROM top_functions").fetchall()
        assert rows == [("leaf", 12, 12), ("run", 3, 15), ("main", 0, 15)], rows
        r = assay("export", path_of("few.assay"), "-f", "folded", "-o", "-")
        assert sorted(r.out.splitlines()) == ["main;run 3", "main;run;leaf 12"], r
        r = assay("export", path_of("few.assay"), "-f", "pprof", "-o", path_of("few.pb.gz"))
        assert r.status == 0 and r.out.startswith("15 samples, written to "), r


@case("callgrind's and cachegrind's files add up to their own summaries")
def _():
    valgrind, program = need("valgrind"), target()
    for tool in ("callgrind", "cachegrind"):
        out = path_of(tool)
        r = run(valgrind, f"--tool={tool}", f"--{tool}-out-file={out}", program, limit_s=120)
        if r.status != 0:
            skip("valgrind does not run here")
        with open(out, encoding="utf-8") as file:
            total = int(re.search(r"^(?:totals|summary):\s+(\d+)", file.read(),
                                  re.MULTILINE)[1])
        d = imported(out)["data"]
        assert d["kind"] == "callgrind" and d["events"][0]["name"] == "Ir", d
        assert d["events"][0]["weight"] == d["events"][0]["value"] == total, (total, d)


@case("a pprof profile of Go is read, and agrees with go tool pprof")
def _():
    go = need("go")
    source = path_of("main.go")
    with open(source, "w", encoding="utf-8") as file:
        file.write('package main\nimport ("os"; "runtime/pprof")\nvar s int\n'
                   'func leaf(n int) { for i := 0; i < n; i++ { s += i % 7 } }\n'
                   'func main() { f, _ := os.Create(os.Args[1]); pprof.StartCPUProfile(f)\n'
                   'for i := 0; i < 100; i++ { leaf(5000000) }\n'
                   'pprof.StopCPUProfile(); f.Close() }\n')
    env = {"GOCACHE": path_of("cache"), "HOME": FOLDER.name, "GO111MODULE": "off",
           "GOPATH": path_of("gopath")}
    r = run(go, "run", source, path_of("cpu.pprof"), env=env, limit_s=240)
    if r.status != 0 or not os.path.exists(path_of("cpu.pprof")):
        skip("go cannot build here")
    top = run(go, "tool", "pprof", "-raw", path_of("cpu.pprof"), env=env).out
    rows = re.findall(r"^\s+(\d+)\s+(\d+): [\d ]+$", top, re.MULTILINE)
    d = imported(path_of("cpu.pprof"))["data"]
    assert d["kind"] == "pprof" and d["events"][0]["name"] == "cpu", d
    assert d["events"][0]["unit"] == "ns", d
    assert d["events"][0]["weight"] == sum(int(row[1]) for row in rows), (rows, d)
    with gzip.open(path_of("cpu.pprof")) as packed, open(path_of("raw.pprof"), "wb") as raw:
        raw.write(packed.read())
    assert imported(path_of("raw.pprof"))["data"]["samples"] == d["samples"], d


@case("a recording that is cut off keeps what came before, with a warning and exit status 0")
def _():
    path = recorded("cut", "-F", "1999", "-g")
    whole = imported(path)["data"]["samples"]
    with open(path, "rb") as file:
        body = file.read()
    seen = 0
    for part in (2, 3, 4, 5, 6, 7):
        with open(path_of("part"), "wb") as file:
            file.write(body[:len(body) * part // 8])
        r = assay("import", "--json", path_of("part"))
        if r.status == 2:
            assert "nothing to import" in r.err, r
            continue
        d = json.loads(r.out)
        assert r.status == 0 and d["partial"], r
        assert "import-damaged" in [w["code"] for w in d["warnings"]], r
        assert seen <= d["data"]["samples"] <= whole, (seen, d)
        seen = d["data"]["samples"]
    assert seen > 0


@case("the experiments of coz have the members of every import, and the next command can be typed")
def _():
    with open("profile.coz", "w", encoding="ascii") as file:
        for speedup, visits in (("0.00", 100), ("0.50", 150)):
            file.write(f"experiment\tselected=w.c:5\tspeedup={speedup}\tduration=100000000\t"
                       f"selected-samples=10\nprogress-point\tname=x\ttype=source\t"
                       f"delta={visits}\n")
    data = json.loads(assay("import", "--json", "profile.coz").out)["data"]
    assert data["kind"] == "coz" and data["events"] == [] and data["skipped"], data
    assert data["samples"] is None and data["samples_reason"], data
    target = (data["targets"] + data["flat"])[0]
    assert target["function"] is None and target["function_reason"], target
    with open("my stacks", "w", encoding="ascii") as file:
        file.write("main;work 3\n")
    r = assay("import", "my stacks", "-o", "my run.assay", "--agent")
    assert r.out.splitlines()[-1] == "next: assay report 'my run.assay'", r
    r = assay("import", "-", stdin="main;work 3\n")
    assert r.out.splitlines()[-1].endswith("next: assay import - -o run.assay < FILE"), r


@case("content of no known format is refused with the list of what can be read")
def _():
    with open(path_of("noise"), "wb") as file:
        file.write(bytes(range(256)) * 64)
    r = assay("import", path_of("noise"))
    assert r.status == 2 and "perf.data" in r.err and "pprof" in r.err, r


main()
