"""The causal engine on programs whose truth is known, and the promise that the target is sacred.

The bounds are loose: a wrong rule fails them.  bench/causal measures how exact the figures are."""
import functools
import json
import os
import shutil
import signal
import subprocess
import sys
import time

from tap import BUILD, SOURCE, case, chance, main, measured, no_kernel_engine, run, skip, wait_for

sys.path.insert(0, os.path.join(SOURCE, "bench", "causal"))
from truth import calm_pairs, gains, place_of  # noqa: E402  pylint: disable=wrong-import-position
sys.path.append(os.path.join(SOURCE, "bench", "calibration"))  # it has another truth.py
from loads import beside  # noqa: E402  pylint: disable=wrong-import-position

ENGINE = os.path.join(BUILD, "tests/causal/causal-engine")
SHAPES = os.path.join(BUILD, "tests/workloads/shapes")
POINTS = os.path.join(BUILD, "tests/workloads/points")


@functools.cache
def reason():
    """Why the engine cannot work at all; None: it can."""
    r = run(ENGINE, "--target", place_of(POINTS, "work"), "--", POINTS, "assay", "0.1")
    return r.err.splitlines()[0] if r.status == 3 else None


def able():
    """Skip where the engine cannot work at all."""
    if reason():
        skip(reason())


def experiment(program, *words, targets, options=(), env=None, limit_s=90):
    """Pairs and the summary of one run of the engine."""
    able()
    argv = [ENGINE]
    for function in targets:
        argv += ["--target", place_of(program, function)]
    r = run(*argv, *options, "--", program, *words, env=env, limit_s=limit_s)
    assert r.status == 0, r
    lines = [json.loads(line) for line in r.out.splitlines()]
    return lines[:-1], lines[-1]["summary"], r


def calm(pairs, point):
    """The gains, from pairs in which nobody else wanted the CPUs where there are enough of them."""
    return gains(calm_pairs(pairs, .15, 3), point)


@measured("a line that takes most of a thread promises most of the gain")
def _():
    pairs, _, r = experiment(SHAPES, "split", "5", targets=["work_a", "work_b"],
                             options=["--levels", "1000"])
    gain = calm(pairs, "round")
    assert gain["work_a", 1000] > gain["work_b", 1000] + 10, (gain, r)
    assert 35 < gain["work_a", 1000] < 95 and 5 < gain["work_b", 1000] < 60, (gain, r)


@measured("both sides of a hand-off over raw futexes matter, the longer one more", alone=True)
def _():
    pairs, _, r = experiment(SHAPES, "fping", "6", targets=["work_a", "work_b"],
                             options=["--levels", "1000"])
    gain = calm(pairs, "round")
    assert gain["work_b", 1000] > gain["work_a", 1000] + 5, (gain, r)
    assert gain["work_b", 1000] > 25 and gain["work_a", 1000] > 5, (gain, r)


@measured("a producer that waits anyway promises nothing, its consumer does", alone=True)
def _():
    pairs, _, r = experiment(SHAPES, "fpipe", "6", targets=["work_a", "work_b"],
                             options=["--levels", "1000"])
    gain = calm(pairs, "round")
    assert gain["work_a", 1000] < 20 < gain["work_b", 1000], (gain, r)
    assert sum(p["faster"]["pauses"] for p in pairs) > 0, r


@measured("while others have the CPUs a program stands still, and its gains stay", alone=True)
def _():
    able()
    with beside("spin"):
        pairs, _, r = experiment(SHAPES, "barrier", "8", targets=["work_a", "work_b"],
                                 options=["--levels", "500"])
    bases = [pair["base"] for pair in pairs]
    stood = sum(base["owed"] for base in bases) / sum(base["wall"] for base in bases)
    gain = gains(pairs, "round")
    assert stood > .1, (stood, r)  # nothing else delays it without a speed-up
    assert abs(gain["work_a", 500] - 33) < 20 and abs(gain["work_b", 500]) < 20, (gain, r)


@measured("a thread of low priority that gets no CPU does not stop its program", alone=True)
def _():
    able()
    rates = []
    with beside("spin"):
        for shape in ("split", "behind"):
            pairs, _, _ = experiment(SHAPES, shape, "6", targets=["work_a"],
                                     options=["--levels", "500"])
            bases = [pair["base"] for pair in pairs]
            rates.append(sum(base["points"]["round"][0] for base in bases) /
                         sum(base["wall"] for base in bases))
    assert rates[1] > .5 * rates[0], rates  # 0.2 when it counts as robbed


@measured("a wait for a device can be made shorter, and time on the CPU is not counted with it")
def _():
    pairs, _, r = experiment(SHAPES, "device", "4", targets=["wait_b"],
                             options=["--levels", "1000", "--wait"])
    assert all(p["faster"]["hits"] > 5 for p in pairs), r
    assert 35 < calm(pairs, "round")["wait_b", 1000] < 95, r
    pairs, _, r = experiment(SHAPES, "device", "2", targets=["work_a"],
                             options=["--levels", "1000", "--wait"])
    assert all(p["faster"]["hits"] == 0 for p in pairs), r


@measured("a target can be limited to one caller")
def _():
    shared = ["--levels", "500", "--caller", place_of(SHAPES, "split").split(":", 1)[1]]
    pairs, _, r = experiment(SHAPES, "split", "2", targets=["work_a"], options=shared)
    assert sum(p["base"]["hits"] for p in pairs) > 20, r
    pairs, _, r = experiment(SHAPES, "shared", "2", targets=["work_a"], options=shared)
    assert pairs and all(p["base"]["hits"] == 0 for p in pairs), r


@measured("coz's functions count throughput and latency in a program that is annotated for coz")
def _():
    pairs, _, r = experiment(POINTS, "coz", "2", targets=["work"], options=["--levels", "500"])
    assert pairs, r
    tick, request = (pairs[0]["base"]["points"][name] for name in ("tick", "request"))
    assert tick[0] > 5 and tick[0] == tick[1], r
    assert abs(request[0] - tick[0]) <= 1 and request[2] <= 1 and request[3] <= 1, r


@measured("assay.h counts the same, and nothing happens without assay")
def _():
    assert "rounds" in run(POINTS, "assay", "0.2").out
    pairs, _, r = experiment(POINTS, "assay", "4", targets=["work"], options=["--levels", "500"])
    points = pairs[0]["base"]["points"]
    assert points["tick"][0] > 5 and abs(points["request"][0] - points["tick"][0]) <= 1, r
    assert 25 < calm(pairs, "tick")["work", 500] < 75, r


@measured("a function and a system call are progress points of a program without any")
def _():
    offset = place_of(POINTS, "work").split(":")[2]
    pairs, _, r = experiment(POINTS, "plain", "2", targets=["work"], options=[
        "--levels", "500", "--uprobe", f"work:{POINTS}:{offset}"])
    assert pairs and pairs[0]["base"]["points"]["work"][0] > 5, r
    pairs, _, r = experiment(SHAPES, "iopipe", "2", targets=["work_b"], options=[
        "--levels", "500", "--syscall", "write"])
    points = pairs[0]["base"]["points"]
    assert points["write"][0] > points["round"][0] >= 1, r


@measured("children of the target run as if nothing were there")
def _():
    pairs, summary, r = experiment(POINTS, "children", "3", targets=["work"],
                                   options=["--levels", "1000"])
    assert pairs and summary["executions"] == 1, r
    assert all(p[half]["points"]["tick"][0] < 10000 for p in pairs
               for half in ("base", "faster")), r


@case("a thousand threads have a seat each")
def _():
    pairs, _, r = experiment(POINTS, "threads", "4", targets=["work"],
                             options=["--levels", "500"])
    assert max(p["base"]["threads"] for p in pairs) > 900, r
    assert all(p["base"]["no_seat"] == 0 and p["base"]["unheard"] == 0 for p in pairs), r


@case("a thread that blocks all signals is left alone, and that is counted")
def _():
    pairs, _, r = experiment(POINTS, "masked", "3", targets=["work"], options=["--levels", "500"])
    assert pairs and all(p["faster"]["pauses"] == 0 for p in pairs), r
    assert sum(p["faster"]["masked"] for p in pairs) > 0, r


@measured("jemalloc in the target does not matter")
def _():
    found = [path for path in ("/usr/lib/x86_64-linux-gnu/libjemalloc.so.2",
                               "/usr/lib/aarch64-linux-gnu/libjemalloc.so.2")
             if os.path.exists(path)]
    if not found:
        skip("libjemalloc2 is not installed")
    pairs, _, r = experiment(SHAPES, "fping", "2", targets=["work_b"],
                             options=["--levels", "1000"], env={"LD_PRELOAD": found[0]})
    assert pairs and pairs[0]["base"]["points"]["round"][0] > 5, r


@measured("a program that execs another one is followed, a short one is started again")
def _():
    able()
    r = run(ENGINE, "--target", place_of(SHAPES, "work_a"), "--levels", "500", "--budget", "4",
            "--", "/usr/bin/env", "X=1", SHAPES, "split", "2")
    lines = [json.loads(line) for line in r.out.splitlines()]
    assert r.status == 0 and lines[-1]["summary"]["executions"] > 1, r
    assert lines[-1]["summary"]["pairs"] > 3, r


@measured("the run file holds targets, points, experiments and visits")
def _():
    experiment(SHAPES, "split", "3", targets=["work_a"], options=["--save", "c.assay"])
    if not shutil.which("sqlite3"):
        skip("sqlite3 is not installed")
    r = run("sqlite3", "c.assay", "SELECT count(*), sum(arrivals) > 0, min(speedup_permille), "
            "max(speedup_permille) > 0 FROM visit v JOIN experiment e ON e.id = v.experiment "
            "JOIN progress_point p ON p.id = v.point JOIN causal_target t ON t.id = e.target")
    count, visited, least, some = r.out.strip().split("|")
    assert int(count) > 3 and (visited, least, some) == ("1", "0", "1"), r


@case("a static program and a process that runs have no counters: refused with the reason")
def _():
    able()
    with open("s.c", "w", encoding="ascii") as file:
        file.write("#include <unistd.h>\nint main(void) { sleep(8); return 0; }\n")
    if run("cc", "-static", "s.c", "-o", "s").status:
        skip("no static C library")
    r = run(ENGINE, "--target", place_of(SHAPES, "work_a"), "--", os.path.abspath("s"))
    assert r.status == 4 and "runtime" in r.err and "static" in r.err, r
    r = run(ENGINE, "--target", place_of(SHAPES, "work_a"), "--pid", os.getpid())
    assert r.status == 4 and "already running" in r.err and "--progress" in r.err, r


@case("a user without rights is refused with the way out")
def _():
    if os.geteuid() != 0:
        skip("not root: there is no other user to be")
    for path in (ENGINE, os.path.join(os.path.dirname(ENGINE), "libassay-rt.so"), SHAPES):
        shutil.copy(path, ".")
    os.chmod(".", 0o755)
    with subprocess.Popen(["./causal-engine", "--engine", "bpf", "--target", "A:shapes:0:1", "--",
                           "./shapes", "split", "1"], user=65534, group=65534, extra_groups=[],
                          stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as child:
        err = child.communicate(timeout=30)[1]
    assert child.returncode == 3 and ("root" in err or "CAP_" in err), (child.returncode, err)


def whole(file):
    file.seek(0)
    return file.read()


def relatives():
    """Spawners and targets that live: by their name or by what stands in their environment."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", errors="replace", encoding="utf-8") as file:
                target = "assay-causal" in file.read()
            with open(f"/proc/{pid}/comm", encoding="utf-8") as file:
                spawner = file.read() == "assay-spawner\n"
            if target or (spawner and os.readlink(f"/proc/{pid}/exe") == ENGINE):
                found.append(pid)
        except OSError:
            continue
    return found


def holders():
    """Those of them that hold a BPF program, link or perf event open."""
    found = []
    for pid in relatives():
        try:
            links = [os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")]
        except OSError:
            continue
        found += [(pid, link) for link in links if "bpf" in link or "perf_event" in link]
    return found


def writes_to(pid, path):
    """Whether its messages go there."""
    try:
        return os.readlink(f"/proc/{pid}/fd/2") == os.path.realpath(path)
    except OSError:
        return False


def begun(mark, path):
    """Whether the target of this mark began, as a word; None while somebody may still begin it."""
    alive = any(writes_to(pid, path) for pid in relatives())
    return "yes" if os.path.exists(mark) else None if alive else "never"


@case("the tool is killed at any moment: the target runs on and nothing stays behind")
def _():
    able()
    for trial in range(3):
        with open("out", "w+", encoding="ascii") as out:
            with subprocess.Popen([ENGINE, "--target", place_of(SHAPES, "work_a"), "--", SHAPES,
                                   "fpipe", "3"], stdout=subprocess.DEVNULL, stderr=out,
                                  env={**os.environ, "SHAPES_MARK": f"mark{trial}"}) as tool:
                time.sleep(chance.uniform(0.1, 2.5))
                tool.send_signal(signal.SIGKILL)
                tool.wait()
            assert not holders(), holders()
            if wait_for(lambda: begun(f"mark{trial}", "out"), 30) == "never":
                continue
            text = wait_for(lambda: "rounds" in whole(out) and whole(out), 30)
            assert int(text.split()[0]) > 50, (trial, text)


@measured("Ctrl-C keeps the pairs that were measured")
def _():
    able()
    with subprocess.Popen([ENGINE, "--target", place_of(SHAPES, "work_a"), "--levels", "500",
                           "--", SHAPES, "split", "30"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True) as tool:
        time.sleep(3)
        tool.send_signal(signal.SIGINT)
        out = tool.communicate(timeout=30)[0]
    summary = json.loads(out.splitlines()[-1])["summary"]
    assert summary["stopped"] and summary["pairs"] >= 1, out


main(unless=no_kernel_engine())
