"""`assay causal` as a user meets it: forms of the answer, progress points, all that can be wrong.

Bounds are loose and budgets short.  How exact the figures are is measured by bench/causal, the
engine itself is tested by causal.py."""
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time

from tap import ASSAY, BUILD, SOURCE, assay, case, main, measured, need, no_kernel_engine, run, skip

SHAPES = os.path.join(BUILD, "tests/workloads/shapes")
POINTS = os.path.join(BUILD, "tests/workloads/points")
CHAINS = os.path.join(BUILD, "tests/workloads/chains")
ONCE = os.path.join(BUILD, "tests/workloads/once")
LIBRARY = os.path.join(BUILD, "tests/workloads/library")
FOLDER = tempfile.TemporaryDirectory()  # gone at the end

COZ_HEADER = r"""
#include <dlfcn.h>
#include <stddef.h>
typedef struct { size_t count, backoff; } coz_counter_t;
static coz_counter_t *coz_find(int type, const char *name)
{ coz_counter_t *(*f)(int, const char *); *(void **)&f = dlsym(RTLD_DEFAULT, "_coz_get_counter");
  return f ? f(type, name) : NULL; }
#define COZ_ADD(type, name) do { static coz_counter_t *c; static int asked; \
  if (!asked) { c = coz_find(type, name); asked = 1; } \
  if (c) __atomic_add_fetch(&c->count, 1, __ATOMIC_RELAXED); } while (0)
#define COZ_PROGRESS_NAMED(name) COZ_ADD(1, name)
#define COZ_BEGIN(name) COZ_ADD(2, name)
#define COZ_END(name) COZ_ADD(3, name)
"""
PROGRAM = r"""
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef COZ
#include "coz.h"
#else
#define COZ_PROGRESS_NAMED(name)
#define COZ_BEGIN(name)
#define COZ_END(name)
#endif
static volatile unsigned long sum;
__attribute__((noinline)) static void heavy(unsigned long n)
{
	unsigned long x = n;
	while (n--)
		x = x * 6364136223846793005UL + 1;
	sum += x;
}
__attribute__((noinline)) static void handle(void)
{
	heavy(300000);
}
int main(int count, char **words)
{
	for (int i = count > 1 ? atoi(words[1]) : 1000000; i > 0; i--) {
		COZ_BEGIN("request");
		handle();
		COZ_END("request");
		if (count > 2)
			COZ_PROGRESS_NAMED("tick");
	}
	return 0;
}
"""


def built(name, *flags):
    """PROGRAM, made once for each set of switches."""
    path = os.path.join(FOLDER.name, name)
    if not os.path.exists(path):
        for file, text in (("coz.h", COZ_HEADER), ("p.c", PROGRAM)):
            with open(os.path.join(FOLDER.name, file), "w", encoding="ascii") as out:
                out.write(text)
        r = run(need("gcc"), "-O1", *flags, os.path.join(FOLDER.name, "p.c"), "-o", path)
        assert r.status == 0, r
    return path


_able = []


def able():
    """Skip where the engine cannot work at all."""
    if not _able:
        _able.append(assay("causal", "--budget", "1s", "--", POINTS, "assay", "0.1"))
    if _able[0].status == 6:
        skip(_able[0].err.splitlines()[0])


def causal(*words, status=0, **how):
    able()
    r = assay("causal", *words, **how)
    assert r.status == status, r
    return r


def answer(*words, status=0, **how):
    return json.loads(causal("--json", *words, status=status, **how).out)


def gain(data, location, speedup):
    """None: not tried, or not known."""
    return next((p["gain"] for t in data["targets"] if t["location"] == location
                 for p in t["points"] if p["speedup"] == speedup), None)


@measured("the longer part of a thread promises more, with every field of the contract", alone=True)
def _():
    document = answer("-f", "work_a", "-f", "work_b", "--budget", "10s", "--", SHAPES, "split",
                      "60")
    data = document["data"]
    a, b = (gain(data, name, 1.0) for name in ("work_a", "work_b"))
    assert a is not None and b is not None and a > b and a > .2, (a, b, data)
    assert document["schema"] == "assay.causal/1", document
    for target in data["targets"]:
        assert {"location", "file", "line", "function", "kind", "slope", "slope_lo", "slope_hi",
                "max_gain", "class", "sample_share", "pairs", "sentence",
                "points"} <= set(target), target
        assert [p["speedup"] for p in target["points"]] == [.25, .5, .75, 1], target
    assert data["progress"][0]["name"] == "round" and data["progress"][0]["chosen"], data
    assert data["pairs"] > 3 and data["coz_file"] is None and data["coz_file_reason"], data


@measured("time in a library without frame pointers counts for the line that called it", alone=True)
def _():
    path = os.path.join(SOURCE, "tests", "workloads", "causal", "library.c")
    with open(path, encoding="ascii") as file:
        lines = file.read().splitlines()
    a, b = ("library.c:%d" % (1 + next(i for i, line in enumerate(lines) if mark in line))
            for mark in ("/* work a */", "/* work b */"))
    for engine in ("bpf", "preload"):
        document = answer("--engine", engine, "--budget", "8s", "--speedup", "50", "--", LIBRARY,
                          "60")
        data = document["data"]
        gains = [gain(data, name, .5) for name in (a, b)]
        assert None not in gains and abs(gains[0] - .35) < .1 and abs(gains[1] - .15) < .1, (
            engine, gains, data["targets"])
        shares = {t["location"]: t["sample_share"] for t in data["targets"]}
        assert .6 < shares[a] < .8 and .2 < shares[b] < .4, shares
        assert "outside-scope" not in [w["code"] for w in document["warnings"]], document


CALLER = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
__attribute__((noinline)) int format(char *to, unsigned i)
{
	return snprintf(to, 64, "%08.3f %x %s", i / 7.0, i, "text"); /* in the C library */
}
__attribute__((noinline)) long enter(int fd, char *page)
{
	return read(fd, page, 65536); /* in the kernel */
}
int main(int argc, char **argv)
{
	static char page[65536];
	FILE *zeros = fopen("/dev/zero", "r");
	char text[64];
	long sum = 0;

	for (unsigned i = 0; i < strtoul(argv[argc - 1], NULL, 10); i++) {
		for (int j = 0; j < 1000; j++)
			sum += format(text, i + j);
		for (int j = 0; j < 100; j++)
			sum += enter(fileno(zeros), page);
		write(1, "x", 1);
	}
	return sum == 0;
}
"""


@measured("so does time in Debian's C library and in the kernel")
def _():
    with open("caller.c", "w", encoding="ascii") as file:
        file.write(CALLER)
    assert run(need("gcc"), "-O1", "-g", "caller.c", "-o", "caller").status == 0
    data = answer("--progress", "syscall:write", "--budget", "4s", "--", "./caller", "100000",
                  stdout=subprocess.PIPE)["data"]
    shares = {t["location"]: t["sample_share"] for t in data["targets"]}
    lines = CALLER.splitlines()
    for mark in ("in the C library", "in the kernel"):
        name = "caller.c:%d" % (1 + next(i for i, line in enumerate(lines) if mark in line))
        assert shares.get(name, 0) > .15, (name, shares)
    assert sum(shares.values()) > .8, shares


def same_gains(first, data):
    """coz's form does not say which pairs were disturbed: with one, the gains may differ."""
    for ours, read in zip(first["targets"], data["targets"]):
        assert ours["location"] == read["location"], (ours, read)
        for one, other in zip(ours["points"], read["points"]):
            assert first["disturbed"] or (one["gain"] is None) == (other["gain"] is None), (
                one, other)
            assert first["disturbed"] or one["gain"] is None or abs(
                one["gain"] - other["gain"]) < 1e-6, (one, other)


@measured("all forms of one answer: file, report, curves, coz's, and shown again without a run")
def _():
    causal("-f", "work_a", "--budget", "4s", "-o", "r.assay", "--json=first.json", "--markdown",
           "r.md", "--svg", "r.svg", "--coz", "r.coz", "--", SHAPES, "split", "60")
    with open("first.json", encoding="utf-8") as file:
        first = json.load(file)["data"]
    with open("r.md", encoding="utf-8") as file:
        assert "work_a" in file.read()
    with open("r.svg", encoding="utf-8") as file:
        text = file.read()
    assert text.startswith("<svg") and "work_a" in text and text.rstrip().endswith("</svg>")
    shown = json.loads(assay("causal", "--json", "--show", "r.assay").out)["data"]
    assert shown["targets"] == first["targets"] and shown["pairs"] == first["pairs"], shown
    r = assay("import", "r.coz", "--json", "-o", "i.assay")
    assert r.status == 0, r
    data = json.loads(r.out)["data"]
    assert data["kind"] == "coz" and data["pairs"] == first["pairs"] + first["disturbed"], data
    same_gains(first, data)
    r = assay("causal", "--json", "--coz", "both.coz", "--show", "r.assay", "i.assay")
    assert json.loads(r.out)["data"]["pairs"] == first["pairs"] + data["pairs"], r
    assert len(json.loads(r.out)["data"]["targets"]) == 1, r
    assert "work_a" in assay("causal", "--show", "r.assay", "--agent").out


@case("--show refuses what it cannot show, with the way out")
def _():
    r = assay("causal", "--show", "none.assay")
    assert r.status == 2 and "none.assay" in r.err, r
    with open("x.assay", "w", encoding="ascii") as file:
        file.write("no run")
    assert assay("causal", "--show", "x.assay").status == 2
    r = assay("causal", "--show", "x.assay", "y.assay", "--svg", "y.svg")
    assert r.status == 2, r
    r = assay("causal", "--show", "x.assay", "--budget", "5s")
    assert r.status == 2 and "--budget" in r.err, r
    with open("p.coz", "w", encoding="ascii") as file:
        file.write("experiment\tselected=a.c:1\tspeedup=0.50\tduration=5\tselected-samples=1\n"
                   "throughput-point\tname=p\tdelta=9\n")
    r = assay("import", "p.coz", "--json", "-o", "p.assay")
    assert r.status == 3 and json.loads(r.out)["data"]["alone"] == 1, r
    assert assay("causal", "--show", "p.assay", "--progress", "q").status == 2


@measured("a program with coz.h runs unchanged; two kinds of points want a word, which helps")
def _():
    program = built("coz", "-g", "-DCOZ")
    r = causal("-f", "heavy", "--budget", "2s", "--", program, "1000000", "both", status=2)
    assert "tick" in r.err and "request" in r.err and "--progress" in r.err, r
    data = answer("-f", "heavy", "--budget", "3s", "--progress", "tick", "--", program,
                  "1000000", "both")["data"]
    chosen = [p for p in data["progress"] if p["chosen"]]
    assert [p["name"] for p in chosen] == ["tick"] and chosen[0]["visits"] > 20, data
    assert {p["kind"] for p in data["progress"]} == {"throughput", "latency"}, data


@measured("begin and end are a latency that a faster line shortens")
def _():
    data = answer("-f", "heavy", "--budget", "3s", "--", built("coz", "-g", "-DCOZ"))["data"]
    assert [p["kind"] for p in data["progress"]] == ["latency"], data
    assert data["pairs"] >= 1, data


@measured("functions, lines, system calls and USDT probes are progress")
def _():
    for point, words in (("usdt:test:done", ("usdt", "20")), ("test:gated", ("usdt", "20")),
                         ("work", ("plain", "20"))):
        data = answer("--progress", point, "-f", "work", "--budget", "2s", "--", POINTS,
                      *words)["data"]
        name = point.replace("usdt:", "")
        assert [p["name"] for p in data["progress"] if p["visits"] > 5] == [name], data
    r = causal("--progress", "usdt:test:nix", "--", POINTS, "usdt", "1", status=2)
    assert "test:done" in r.err, r
    r = causal("--progress", "usdt:a:b", "--", SHAPES, "split", "1", status=2)
    assert "sys/sdt.h" in r.err, r


@measured("a program that says nothing gets a function that is named, with reasons and runners-up")
def _():
    document = answer("--progress", "auto", "--budget", "6s", "--", built("plain", "-g"))
    notes = [w for w in document["warnings"] if w["code"].startswith("progress-")]
    assert len(notes) == 1, document["warnings"]
    assert "handle" in notes[0]["text"] and "/s" in notes[0]["text"], notes
    chosen = [p["name"] for p in document["data"]["progress"] if p["chosen"]]
    assert chosen == ["handle"], document["data"]["progress"]


def whole_runs_noted(document):
    return [w["code"] for w in document["warnings"]].count("whole-runs") == 1


def check_end_as_progress(*words):
    """What is on the longest path to the end gains, by whole runs with and without."""
    document = answer(*words, "--speedup", "100", "-f", "tail+", "-f", "other+", "--budget", "9s",
                      "--", ONCE, "1000000")
    data = document["data"]
    assert whole_runs_noted(document), document["warnings"]
    chosen = [p for p in data["progress"] if p["chosen"]]
    assert [(p["name"], p["kind"]) for p in chosen] == [("end", "end")], data["progress"]
    assert data["pairs"] >= 4, data
    tail = gain(data, "tail+", 1.0)
    assert tail and tail > .15 and tail > (gain(data, "other+", 1.0) or 0), data


@measured("the end of a program is its progress: whole runs are compared")
def _():
    check_end_as_progress("--progress", "end")


@measured("whole runs are compared where nothing comes again, if there are several threads")
def _():
    check_end_as_progress("--progress", "auto")
    r = causal("--json", "--progress", "auto", "--budget", "3s", "--", built("plain", "-g"), "90",
               status=3)
    document = json.loads(r.out)  # one thread: no
    assert not whole_runs_noted(document), document["warnings"]


@measured("whole runs, sampled from inside")
def _():
    document = answer("--engine", "preload", "--speedup", "100", "-f", "spin", "--budget", "6s",
                      "--", ONCE, "1000000")
    assert whole_runs_noted(document), document["warnings"]
    assert (gain(document["data"], "spin", 1.0) or 0) > .5, document["data"]


@case("a program that takes too long for whole runs is not started a second time")
def _():
    starts = os.path.join(FOLDER.name, "starts")
    causal("--budget", "1s", "--", "sh", "-c", f"echo >> {starts}; exec sleep 8", status=3)
    with open(starts, encoding="ascii") as file:
        assert len(file.readlines()) == 1


@case("whole runs that are too long, too short or not ours are refused with the way out")
def _():
    r = causal("--progress", "end", "--budget", "1s", "--", "sleep", "3", status=3)
    assert "--budget" in r.err and "more than" in r.err, r
    r = causal("--progress", "end", "--budget", "2s", "--", ONCE, "1", status=3)
    assert "too short" in r.err, r
    r = causal("--progress", "end", "-p", "1", status=2)
    assert "without -p" in r.err, r


def check_chosen_progress(shape, target, points=()):
    """Progress is found on the stacks, and with it the gain of what takes most of the time."""
    # All of the time is the target's: at 100 % no virtual time is left, and few pairs count.
    document = answer("--progress", "auto", "--budget", "9s", "--speedup", "50", "-f", target,
                      "--", CHAINS, shape, "60")
    data = document["data"]
    chosen = [p for p in data["progress"] if p["chosen"]]
    assert len(chosen) == 1 and 20 <= chosen[0]["per_second"] <= 10000, data
    assert chosen[0]["name"].startswith(points + ("chains.c:",)), chosen
    note = next(w["text"] for w in document["warnings"] if w["code"] == "progress-chosen")
    assert chosen[0]["name"] in note and "% of the stacks" in note, note
    assert "counting costs" in note, note
    assert data["pairs"] >= 1 and (gain(data, target, 0.5) or 0) > .3, data


@measured("progress is found on the stacks: a function")
def _():
    check_chosen_progress("calls", "leaf", ("round_do", "parse", "render", "scan"))


@measured("progress is found on the stacks: a loop where nothing is called")
def _():
    check_chosen_progress("loop", "loop")


@measured("progress is found on the stacks: not a function that is called too often")
def _():
    check_chosen_progress("often", "often+")


@measured("a function with everything it calls: 42 % in total, nothing by itself", alone=True)
def _():
    for engine in ("bpf", "preload"):
        data = answer("--engine", engine, "--speedup", "100", "-f", "parse+", "-f", "render+",
                      "-f", "parse", "--budget", "9s", "--", CHAINS, "calls", "60", "tell")["data"]
        gains = [gain(data, name, 1.0) for name in ("parse+", "render+")]
        assert None not in gains, (engine, data)
        assert abs(gains[0] - .42) < .1 and abs(gains[1] - .58) < .1, (engine, gains)
        targets = {t["location"]: t for t in data["targets"] + data["flat"]}
        assert targets["parse"]["sample_share"] < .05, (engine, targets["parse"])
        assert targets["parse+"]["function"] == "parse", targets["parse+"]
        assert abs(targets["parse+"]["sample_share"] - .42) < .06, (engine, targets["parse+"])


@measured("a target behind a probe of 100,000 visits per second is refused in words, or right")
def _():
    able()
    r = assay("causal", "--json", "--progress", "tick", "--speedup", "100", "-f", "heavy+",
              "--budget", "6s", "--", CHAINS, "ticks", "60")
    document = json.loads(r.out)
    data = document["data"]
    if r.status == 3:
        assert "visited less often" in data["no_answer"], data
        assert "probe-distorts" in [w["code"] for w in document["warnings"]], document
        assert not any(p["gain"] for t in data["targets"] for p in t["points"]), data
    else:
        points = [p for t in data["targets"] + data["flat"] for p in t["points"]
                  if p["gain"] is not None]
        assert r.status == 0 and all(p["lo"] - .03 < .84 < p["hi"] + .03 for p in points), r


@case("no progress point at all is status 3 and a reason")
def _():
    data = answer("--budget", "2s", "--progress", "nothing here", "--", POINTS, "plain", "20",
                  status=3)["data"]
    assert "progress" in data["no_answer"], data


@measured("a program that a clock paces is recognised")
def _():
    data = answer("-f", "work", "--budget", "3s", "--", POINTS, "paced", "20")["data"]
    assert data["paced_by_clock"], data


@case("a line without code names the nearest one, a name without code is refused")
def _():
    program = built("plain", "-g")
    number = PROGRAM.split("heavy(unsigned long n)")[0].count("\n") + 2  # of the {
    r = causal("-f", "p.c:1", "--", program, status=2)
    assert "nearest" in r.err and "p.c:" in r.err, (number, r)
    r = causal("-f", "no_such_function", "--", program, status=2)
    assert "no_such_function" in r.err, r


@measured("without -g functions are tried; a stripped program, DWARF 4 and DWARF 5 work")
def _():
    data = answer("--progress", "handle", "--budget", "3s", "--", built("no-g"))["data"]
    # A sample in one of its callers is rare, and may become a target too.
    hottest = max(data["targets"], key=lambda target: target["sample_share"] or 0)
    assert hottest["location"] == "heavy", data
    assert all(target["line"] is None for target in data["targets"]), data
    for version in ("4", "5"):
        program = built("dwarf" + version, "-g", "-gdwarf-" + version)
        data = answer("--progress", "handle", "--budget", "3s", "--", program)["data"]
        assert data["targets"] and data["targets"][0]["location"].startswith("p.c:"), data
    program = os.path.abspath("bare")
    shutil.copy(built("coz", "-g", "-DCOZ"), program)
    assert run(need("strip"), program).status == 0
    # perf keeps what it samples in ~/.debug, by build id: of the whole machine, this program too.
    home = {"HOME": os.path.abspath("."), "XDG_CACHE_HOME": None}
    data = answer("--budget", "3s", "--", program, status=3, env=home)["data"]
    assert "-g" in data["no_answer"] and "strip" in data["no_answer"], data


@measured("a program that ends too early, crashes or cannot be started is told apart")
def _():
    data = answer("--budget", "2s", "--", POINTS, "assay", "0.05", status=3)["data"]
    assert data["no_answer"], data
    document = answer("-f", "work", "--budget", "4s", "--progress", "tick", "--", POINTS, "crash",
                      "2")
    assert document["data"]["pairs"] >= 1, document
    assert "target-crashed" in [w["code"] for w in document["warnings"]], document
    document = answer("--budget", "2s", "--", "/bin/false", status=5)
    assert "target-failed" in [w["code"] for w in document["warnings"]], document
    assert causal("--", "/no/such/program", status=5).err
    assert causal("--", "/etc/passwd", status=5).err


@case("wrong words are refused")
def _():
    for words in (("--budget", "soon"), ("--period", "0"), ("--nonsense",), ("-f",)):
        r = assay("causal", *words, "--", POINTS, "assay", "1")
        assert r.status == 2 and r.err, r
    assert assay("causal").status == 2


@measured("Ctrl-C keeps what was measured: status 130, the text and the file")
def _():
    able()
    with subprocess.Popen([ASSAY, "causal", "-f", "work_a", "-o", "c.assay", "--", SHAPES, "split",
                           "60"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True) as tool:
        time.sleep(4)
        tool.send_signal(signal.SIGINT)
        err = tool.communicate(timeout=30)[1]
    assert tool.returncode == 130 and "pairs of experiments" in err, (tool.returncode, err)
    r = assay("causal", "--show", "c.assay", "--json")
    assert r.status == 0 and json.loads(r.out)["data"]["pairs"] >= 1, r


@case("a result that cannot be written is status 7 and names the file")
def _():
    r = causal("-f", "work_a", "--budget", "2s", "--svg", "/dev/full/x.svg", "--", SHAPES,
               "split", "20", status=7)
    assert "/dev/full" in r.err, r


@case("a user without rights is refused with the way out, or served")
def _():
    if os.geteuid() != 0:
        skip("not root: there is no other user to be")
    setpriv = need("setpriv")
    for path in (ASSAY, os.path.join(BUILD, "libassay-rt.so"),
                 os.path.join(BUILD, "libassay-rt-interpose.so"), SHAPES):
        if os.path.exists(path):
            shutil.copy(path, ".")
    os.chmod(".", 0o777)
    r = run(setpriv, "--reuid=65534", "--regid=65534", "--clear-groups", "./assay", "causal", "-f",
            "work_a", "--budget", "2s", "--", "./shapes", "split", "20",
            env={"HOME": os.getcwd()})
    assert r.status in (0, 3, 6), r
    if r.status == 6:
        assert "root" in r.err or "CAP_" in r.err, r


@measured("children of the program do not matter; an exec wants the program itself")
def _():
    data = answer("-f", "work", "--budget", "3s", "--progress", "tick", "--", POINTS, "children",
                  "20")["data"]
    assert data["pairs"] >= 1, data
    r = causal("-f", "work_a", "--budget", "4s", "--", "/usr/bin/env", "X=1", SHAPES, "split",
               "20", status=2)
    assert "work_a" in r.err, r  # env has no such function


main(unless=no_kernel_engine())
