"""The simulator: exact counts, the right cause of planted bottlenecks, and what it does when it is
stopped, missing, or meets code that it does not know."""
import json
import os
import platform
import re
import shutil
import signal
import sqlite3
import subprocess

from golang import go_build
from tap import (ASSAY, BUILD, assay, below, case, cpu_s_below, main, measured, need, run, script,
                 skip, wait_for)

WORKLOADS = os.path.join(BUILD, "tests", "workloads")
NOP, PLANTED, SPIN, ALGORITHM = (os.path.join(WORKLOADS, name)
                                 for name in ("nop", "bound", "spin", "algorithm"))
ROUNDS = int(os.environ.get("ASSAY_SIM_ROUNDS", "1"))
LARGEST_MIB = 256


def stat(*words, status=0, **how):
    """Run the simulator with --json; the document."""
    need("valgrind")
    r = assay("stat", "--engine", "sim", "--json", *words, **how)
    assert r.status == status, r
    return json.loads(r.out)


def events(document):
    return {e["name"]: e for e in document["data"]["events"]}


def codes(document):
    return [w["code"] for w in document["warnings"]]


def cache_kib(level):
    """The cache of a level, of the data, as sysfs tells it; 0: it does not."""
    base = "/sys/devices/system/cpu/cpu0/cache"
    for index in os.listdir(base) if os.path.isdir(base) else []:
        try:
            words = []
            for name in ("level", "type", "size"):
                with open(f"{base}/{index}/{name}", encoding="ascii") as file:
                    words.append(file.read().strip())
        except OSError:
            continue
        if words[0] == str(level) and words[1] != "Instruction":
            return int(words[2].rstrip("K"))
    return 0


def last_level_mib():
    return max(cache_kib(3), cache_kib(2)) // 1024


def planted_mib():
    """Twice the last level, a power of two, at least 64 MiB."""
    mib = 64
    while mib < 2 * last_level_mib():
        mib *= 2
    if mib > LARGEST_MIB:
        skip(f"a last level of {last_level_mib()} MiB needs more memory than the test takes")
    return str(mib)


@case("three runs have identical counts, each marked as simulated")
def _():
    d = stat("-r", "3", "-e", "instructions,L1-dcache-load-misses,LLC-load-misses,branch-misses",
             "--", SPIN, "2")
    assert d["data"]["engine"] == "sim", d
    runs = [r["events"] for r in d["data"]["runs"]]
    assert len(runs) == 3 and runs[0] == runs[1] == runs[2], runs
    assert all(e["simulated"] and e["status"] == "counted" for e in d["data"]["events"]), d
    assert d["data"]["runs"][0]["wall_ns"] is None, d
    assert "simulated" in codes(d) and "simulated-caches" in codes(d), d


@case("instructions grow by exactly the same number for the same work more")
def _():
    counts = [events(stat("-e", "instructions", "--", SPIN, str(n)))["instructions"]["value"]
              for n in (1, 2, 3)]
    first, second = counts[1] - counts[0], counts[2] - counts[1]
    assert first > 1000000 and abs(first - second) <= 64, counts


@case("the text says simulated at each number, and what is not simulated")
def _():
    need("valgrind")
    r = assay("stat", "--engine", "sim", "--", NOP)
    assert r.status == 0 and r.err.count("simulated\n") >= 10, r
    assert "prefetching" in r.err and "not the program's own time" in r.err, r
    r = assay("stat", "--engine", "sim", "--agent", "-e", "instructions", "--", NOP)
    assert r.status == 0 and "(simulated)" in r.err, r


@case("what cannot be simulated is not supported with the reason, and --strict exits 6")
def _():
    d = stat("-e", "instructions,cycles,page-faults,instructions:k", "--", NOP)
    e = events(d)
    assert e["instructions"]["value"] > 10000, e
    for name, word in (("cycles", "not time"), ("page-faults", "simulator has only"),
                       ("instructions:k", "only user code")):
        assert e[name]["value"] is None and e[name]["status"] == "not_supported", e
        assert word in e[name]["reason"], e
    stat("--strict", "-e", "instructions,cycles", "--", NOP, status=6)


@case("the program keeps stdin, stdout, words, folder and exit status, and finds no new files")
def _():
    need("valgrind")
    os.mkdir("scratch")
    os.mkdir("here")
    r = run(ASSAY, "stat", "--engine", "sim", "-e", "instructions", "--", "sh", "-c",
            'read line; echo "$line $1"; pwd; exit 3', "sh", "a b", stdin="hello\n", cwd="here",
            env={"TMPDIR": os.path.abspath("scratch")})
    assert r.status == 5, r
    assert r.out == f"hello a b\n{os.path.realpath('here')}\n", r
    assert "exited with status 3" in r.err, r
    assert os.listdir("here") == [] and os.listdir("scratch") == [], os.listdir("scratch")
    r = assay("stat", "--engine", "sim", "-e", "instructions", "--target-status", "--", "sh", "-c",
              "exit 3")
    assert r.status == 3, r


@case("processes that the program starts are counted with it")
def _():
    one = events(stat("-e", "instructions", "--", SPIN, "1"))["instructions"]["value"]
    name = script("two.sh", f"{SPIN} 1", f"{SPIN} 1", "true")
    d = stat("-e", "instructions", "--", name)
    assert events(d)["instructions"]["value"] > 2 * one, (d, one)
    assert "several-processes" in codes(d), d


@case("at its time limit it keeps what was simulated and says that only rates are left")
def _():
    d = stat("-e", "instructions,branches", "--time-limit", "2s", "--", SPIN, "100000", limit_s=180)
    assert d["partial"] and "partial-simulation" in codes(d), d
    assert events(d)["instructions"]["value"] > 1000, d
    assert d["data"]["runs"][0]["timed_out"], d


@case("a program that outlives the polite signals is stopped with its counts kept")
def _():
    name = script("stubborn", "trap '' TERM HUP INT QUIT", f"exec {SPIN} 100000")
    d = stat("-e", "instructions", "--time-limit", "2s", "--", name, limit_s=180)
    assert d["data"]["runs"][0]["timed_out"], d
    assert events(d)["instructions"]["value"] > 100000, d


@case("what a program started ends with it when the time is up")
def _():
    both = script("both", f"{SPIN} 100000000 & echo $! > child", f"{SPIN} 100000000")
    stat("-e", "instructions", "--time-limit", "2s", "--", both)
    with open("child", encoding="ascii") as file:
        child = int(file.read())
    assert not os.path.exists(f"/proc/{child}"), "it is still simulated"


@case("at the time limit the program that a shell started is counted, not the shell alone")
def _():
    d = stat("-e", "instructions", "--", "sh", "-c", "true; true")
    shell = events(d)["instructions"]["value"]
    d = stat("-e", "instructions", "--time-limit", "6s", "--", "sh", "-c", f"{SPIN} 100000; true",
             limit_s=180)
    assert d["partial"] and events(d)["instructions"]["value"] > 5 * shell, (d, shell)


@case("Ctrl-C ends it with 130 and keeps the results so far")
def _():
    need("valgrind")
    with subprocess.Popen([ASSAY, "stat", "--engine", "sim", "-e", "instructions", "--json=out",
                           "--", SPIN, "100000"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE) as child:
        wait_for(lambda: cpu_s_below(child.pid) > 1.5)  # behind the start of valgrind
        child.send_signal(signal.SIGINT)
        err = child.communicate(timeout=60)[1].decode()
    assert child.returncode == 130, (child.returncode, err)
    with open("out", encoding="ascii") as file:
        d = json.load(file)
    assert d["partial"] and events(d)["instructions"]["value"] > 1000, d


@case("without valgrind it exits 6 and says how to get it")
def _():
    os.mkdir("bin")
    for command in (("stat", "-e", "instructions"), ("topdown",)):
        r = assay(command[0], "--engine", "sim", *command[1:], "--", NOP,
                  env={"PATH": os.path.abspath("bin")})
        assert r.status == 6 and "apt install valgrind" in r.err, r
        assert len(r.err.splitlines()) == 2, r


@case("code that valgrind does not know is named as that, a crash of the program's own is not")
def _():
    need("valgrind")
    if platform.machine() != "x86_64":
        skip("the instructions of this test are x86-64's")
    gcc = need("gcc")
    for name, code in (("unknown", ".byte 0x62,0xf1,0xfd,0x48,0xef,0xc0"), ("own", "ud2")):
        with open(name + ".c", "w", encoding="ascii") as file:
            file.write(f'int main(void) {{ __asm__ volatile("{code}"); return 0; }}\n')
        assert run(gcc, name + ".c", "-o", name).status == 0
    r = assay("stat", "--engine", "sim", "-e", "instructions", "--", "./unknown")
    assert r.status == 6 and "valgrind cannot simulate an instruction" in r.err, r
    r = assay("stat", "--engine", "sim", "-e", "instructions", "--", "./own")
    assert r.status == 5 and "killed by signal 4" in r.err, r


@case("what the simulator cannot do with stat is refused in one sentence")
def _():
    for words in (("-p", "1"), ("-a",), ("-I", "100"), ("--proc",)):
        r = assay("stat", "--engine", "sim", "-e", "instructions", *words, "--", NOP)
        assert r.status == 2 and "exclude each other" in r.err, r
    r = assay("stat", "--engine", "sim", "-e", "no-such-event", "--", NOP)
    assert r.status == 2 and len(r.err.splitlines()) == 2, r
    r = assay("stat", "--time-limit", "5s", "--", NOP)
    assert r.status == 2 and "--engine sim" in r.err, r


def places(event, function):
    """What run.assay counted there: (file, line, value), largest first."""
    with sqlite3.connect("run.assay") as run_file:
        return [(os.path.basename(file), line, value) for file, line, value in run_file.execute(
            "SELECT coalesce(file, ''), line, value FROM places WHERE event = ? AND function = ? "
            "ORDER BY value DESC", (event, function))]


def line_of(text):
    """The first line of the planted algorithms that holds the text."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "workloads", "simulated",
                        "algorithm.c")
    with open(path, encoding="ascii") as file:
        return 1 + [text in line for line in file].index(True)


LOOPS = "instructions,calls,loop-entries,loop-trips"


@case("calls from a line and trips of a loop are exact")
def _():
    d = stat("-e", LOOPS, "-o", "run.assay", "--", ALGORITHM, "search", "1000", "300")
    assert places("calls", "find") == [("algorithm.c", line_of("sum += find("), 300)], d
    trips = places("loop-trips", "find")
    assert len(trips) == 1 and trips[0][2] == 300 * 500, trips
    entries = [row[2] for row in places("loop-entries", "find")]
    assert entries == [300], entries
    stat("-e", LOOPS, "-o", "run.assay", "--", ALGORITHM, "append", "400")
    assert places("calls", "text_end")[0][2] == 400
    assert sum(row[2] for row in places("loop-trips", "text_end")) == 399 * 400 // 2


@case("instructions are the same with and without calls, and caches can be simulated beside them")
def _():
    seen = []
    for names in ("instructions", "instructions,calls,LLC-load-misses"):
        d = stat("-e", names, "-o", "run.assay", "--", ALGORITHM, "search", "100", "30")
        seen.append(sorted(row[1:] for row in places("instructions", "find")))
    assert seen[0] == seen[1] and seen[0], seen
    assert events(d)["LLC-load-misses"]["value"] > 0 and events(d)["calls"]["value"] > 30, d


@case("a simulation of calls that was cut keeps what it counted")
def _():
    d = stat("-e", LOOPS, "--time-limit", "3s", "-o", "run.assay", "--", ALGORITHM, "search",
             "100000", "1000000", limit_s=180)
    assert d["partial"] and "partial-simulation" in codes(d), d
    assert places("calls", "find")[0][2] > 1, places("calls", "find")


@case("a delay leaves the start of a program out, and the counts are of a part")
def _():
    need("vgdb")
    words = ("-e", LOOPS, "--time-limit", "9s", "-o", "run.assay")
    d = stat(*words, "--delay", "4s", "--", ALGORITHM, "later", "100000", "1000000", limit_s=180)
    assert d["partial"] and "partial-simulation" in codes(d), d
    assert places("calls", "find")[0][2] > 1, places("calls", "find")
    assert not places("calls", "begin"), places("calls", "begin")
    # One that ends by itself after the delay is partial all the same.
    d = stat(*words, "--delay", "0.05s", "--", ALGORITHM, "later", "1000", "100", limit_s=180)
    assert "partial-simulation" in codes(d), d
    r = assay("stat", "--delay", "1s", "--", "true")
    assert r.status == 2 and "--delay needs --engine sim" in r.err, r
    r = assay("stat", "--engine", "sim", "-e", "instructions", "--delay", "1s", "--", "true")
    assert r.status == 2 and "--delay needs calls or loops" in r.err, r
    r = assay("stat", "--engine", "sim", "-e", LOOPS, "--delay", "60s", "--", ALGORITHM, "later",
              "1000", "100", limit_s=180)
    assert r.status == 5 and "ended before the delay" in r.err, r


@case("the calls and loops of a Go program that takes its goroutines off the CPU")
def _():
    program = go_build("package main\n\n//go:noinline\nfunc step(s, n int) int {\n"
                       "\tfor i := 0; i < 10; i++ {\n\t\ts = s*31 + n\n\t}\n\treturn s\n}\n\n"
                       "func main() {\n\ts := 0\n\tfor i := 0; i < 1000000; i++ {\n"
                       "\t\ts = step(s, i)\n\t}\n\tprintln(s)\n}\n")
    d = stat("-e", LOOPS, "-o", "run.assay", "--", program, limit_s=180,
             env={"GODEBUG": "madvdontneed=1"})
    assert not d["partial"], d
    assert sum(row[2] for row in places("calls", "main.step")) == 1000000, \
        places("calls", "main.step")


@case("a stored run and an imported cachegrind.out hold the cost of each line")
def _():
    need("valgrind")
    stat("-e", "instructions", "-o", "run.assay", "--", SPIN, "1")
    r = run("valgrind", "--tool=cachegrind", "--cachegrind-out-file=cg.out", SPIN, "1")
    assert r.status == 0, r
    assert assay("import", "cg.out", "-o", "import.assay").status == 0
    for name, event in (("run.assay", "instructions"), ("import.assay", "Ir")):
        with sqlite3.connect(name) as base:
            by_line = base.execute(
                "select sum(p.value) from place p join event e on e.id = p.event "
                "join text t on t.id = e.name where t.text = ?", (event,)).fetchone()[0]
            total = base.execute(
                "select max(c.value) from count c join event e on e.id = c.event "
                "join text t on t.id = e.name where t.text = ?", (event,)).fetchone()[0]
        assert by_line and by_line == total, (name, by_line, total)


@case("stat without a PMU says that the simulator could count")
def _():
    r = assay("stat", "--json", "-e", "instructions", "--", NOP)
    d = json.loads(r.out)
    if events(d)["instructions"]["value"] is not None:
        skip("this machine has a PMU")
    assert "simulator-could-count" in codes(d), d


def cause(name, mib):
    """The answer of `assay topdown --engine sim` about a planted bottleneck."""
    r = assay("topdown", "--engine", "sim", "--json", "--", PLANTED, name, mib, limit_s=120)
    assert r.status == 0, r
    return json.loads(r.out)["data"]


@measured("each planted bottleneck gets its name")
def _():
    need("valgrind")
    mib = planted_mib()
    for name, category in (("chase", "memory_latency"), ("stream", "memory_bandwidth"),
                           ("sum", "memory_bandwidth"), ("copy", "memory_bandwidth"),
                           ("triad", "memory_bandwidth"), ("gather", "memory"),
                           ("branches", "bad_speculation"), ("targets", "bad_speculation"),
                           ("chain", "core"), ("multiply", "core"), ("divide", "core"),
                           ("code", "frontend"), ("mixed", "mixed")):
        for _ in range(ROUNDS):
            data = cause(name, mib)
            told = {f["function"]: (round(f["time_share"], 2), f["category"], f["why"])
                    for f in data["functions"][:4]}
            assert data["verdict"]["category"] == category, (name, data["verdict"], told,
                                                             data["costs"])
            assert data["engine"] == "sim" and data["verdict"]["advice"], data
            bound = data["verdict"]["speedup_bound"]  # what the kernel takes stays
            assert bound is None or bound * data["kernel_share"] <= 1.001, (name, data["verdict"])


@measured("the cache that a walk waits for is named, though the first simulation leaves L2 out")
def _():
    need("valgrind")
    l2, l3 = cache_kib(2), cache_kib(3)
    if not l2 or l3 < 8 * l2:
        skip("the caches of this machine are not told, or L3 is too small to be told from L2")
    for kib, level in ((l2 // 4, "L2"), (4 * l2, "L3")):
        data = cause("chase", f"{kib}K")
        verdict = data["verdict"]
        assert verdict["category"] == "memory_latency", (kib, verdict, data["costs"])
        assert f"waits for data in {level}" in verdict["why"], (kib, verdict, data["costs"])
        assert data["costs"]["far_cache_ns"] > data["costs"]["cache_ns"], data["costs"]


@measured("a second simulation that fails takes nothing from the first, and it is said")
def _():
    need("valgrind")
    l2, l3 = cache_kib(2), cache_kib(3)
    if not l2 or l3 < 8 * l2:
        skip("the caches of this machine are not told, or L3 is too small to be told from L2")
    os.mkdir("bin")
    script("bin/valgrind", "[ ! -e was ] || { echo no room >&2; exit 1; }", ": >was",
           f'exec {shutil.which("valgrind")} "$@"')
    r = assay("topdown", "--engine", "sim", "--json", "-o", "x.assay", "--", PLANTED,
              "chase", f"{4 * l2}K", env={"PATH": f'{os.path.abspath("bin")}:{os.environ["PATH"]}'})
    data = json.loads(r.out)
    assert r.status == 0 and data["data"]["verdict"]["category"], r
    assert "the simulation with L2 failed: " in r.out, r
    assert os.path.exists("x.assay"), r


@measured("a loop that waits for its own results is given to llvm-mca, or the reason is told")
def _():
    need("valgrind")
    data = cause("chain", "64")
    loop = data["loop"]
    assert loop["function"].startswith("run_chain") and loop["instructions"], loop
    if loop["model"] is None:
        assert "apt install llvm" in loop["model_reason"], loop
        skip("llvm-mca is not installed")
    assert loop["bottleneck"] == "data dependencies", loop
    assert loop["predicted_cycles"] > 3 * loop["throughput_cycles"], loop


@case("topdown's text, agent's lines and report say what was simulated and what was not")
def _():
    need("valgrind")
    r = assay("topdown", "--engine", "sim", "--report", "r.md", "--", PLANTED, "chain")
    assert r.status == 0 and "cause: " in r.err and "not simulated: " in r.err, r
    with open("r.md", encoding="utf-8") as file:
        text = file.read()
    assert "# Why it is slow" in text and "not simulated" in text, text
    r = assay("topdown", "--engine", "sim", "--agent", "--", PLANTED, "chain")
    lines = r.err.splitlines()
    assert r.status == 0 and len(lines) <= 40 and lines[-1].startswith("next: "), r


@case("a function with fewer than 50 samples has no cause in any form, and the words say so")
def _():
    need("valgrind")
    r = assay("topdown", "--engine", "sim", "--json=d.json", "--report", "r.md", "--", SPIN, "4")
    assert r.status == 0, r
    with open("d.json", encoding="utf-8") as file:
        data = json.load(file)["data"]
    with open("r.md", encoding="utf-8") as file:
        report = file.read().splitlines()
    shown = 0
    for f in data["functions"]:
        few = f["samples"] < 50 and f["simulated"]["instructions"] > 0
        rows = [line for where in (report, r.err.splitlines()) for line in where
                if re.search(rf"%.* `?{re.escape(f['function'])}`?( \||$)", line)]
        shown += len(rows) * few
        if few:
            assert f["category"] == "unclear" and "too few to name a cause" in f["why"], f
        assert all(("few samples" in line) == few for line in rows), (f, rows)
    if sum(f["samples"] for f in data["functions"]) < 50:
        assert data["verdict"]["category"] == "unclear", data["verdict"]
        assert shown, (report, r)


@case("Ctrl-C before anything was simulated is 130, and one document that says so")
def _():
    need("valgrind")
    with subprocess.Popen([ASSAY, "topdown", "--engine", "sim", "--json", "--", "sleep", "30"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as child:
        wait_for(lambda: "sleep" in dict(below(child.pid)))
        child.send_signal(signal.SIGINT)
        out = child.communicate(timeout=60)[0]
    document = json.loads(out)
    assert child.returncode == 130 and document["partial"] is True, (child.returncode, document)
    assert document["data"]["verdict"] is None and document["data"]["verdict_reason"], document


@case("a command of many lines is simulated, whatever its lines look like")
def _():
    plain = events(stat("-e", "instructions", "--", "sh", "-c", ":"))
    lines = "\n" * 80 + ": <<'END'\nevents: Ir\nfn=(1) x\n1 2 3\nEND\n:\n"
    long = events(stat("-e", "instructions", "--", "sh", "-c", lines))
    assert long["instructions"]["value"] >= plain["instructions"]["value"] > 1000, (plain, long)


@case("what exec would not start is refused as by every other command, and not simulated")
def _():
    need("valgrind")
    for words in (("stat", "--engine", "sim"), ("cache", "--engine", "sim")):
        for head, why in (("", "#! line"), ("#!/no/such/interpreter", "interpreter")):
            r = assay(*words, "--", script("started", "echo hello", head=head))
            assert r.status == 5 and why in r.err and not r.out, r
            assert len(r.err.splitlines()) == 2, r


@case("a set-uid program cannot be simulated, and the way out is told")
def _():
    need("valgrind")
    shutil.copy(NOP, "gains")
    os.chmod("gains", 0o4755)
    r = assay("stat", "--engine", "sim", "--", "./gains")
    assert r.status == 6 and "set-uid" in r.err and len(r.err.splitlines()) == 2, r


@case("options that only counters know are told to have changed nothing")
def _():
    need("valgrind")
    r = assay("topdown", "--engine", "sim", "--level", "1", "-r", "2", "--json", "--", NOP)
    assert r.status == 0, r
    unused = [w for w in json.loads(r.out)["warnings"] if w["code"] == "option-unused"]
    assert len(unused) == 1 and "--level, --repeat" in unused[0]["text"], unused


main()
