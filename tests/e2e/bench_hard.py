"""`assay bench` where things go wrong.  The list, and where each line of it is tried (here, or in
bench.py as "b: the beginning of the sentence"):

start   not found                       b: a program that is not there
        not executable, no #! line      a file that cannot be executed
        setuid target                   a setuid program
        working directory gone          the working directory may be gone
        argv: newlines, not UTF-8       words with newlines and bytes
run     crash at run 7                  b: a crash on run 7; the end of stderr
        exit 3 sometimes                b: --ignore-failure goes on
        time limit, whole group         b: a run past the time limit
        much stdout                     hundreds of megabytes
        much stderr                     much on stderr
        slow reader                     a slow reader
        reads stdin                     b: stdin is /dev/null
        leaves children                 b: processes that a run leaves
        daemon, double fork             a daemon is noticed
        kills its group, its parent     killing its group; killing its parent
        out of memory                   out of memory
        throttled                       a CPU quota
        CPU taken away                  nowhere: it would be taken from everybody
        clock set, suspended            the clock nobody can set
        0 ns                            an empty program
signals Ctrl-C twice                    the second Ctrl-C
        SIGTERM, SIGHUP                 SIGTERM and SIGHUP
        SIGPIPE                         nobody reads
        two at once                     two at once
storage disk full, read-only            a full disk; a read-only folder
        quota                           nowhere: no quotas here; EDQUOT takes the way of a full disk
        rename across file systems      a link to another file system
data    n = 1, all equal                one run; unit: bench_noise_test.c
        NaN, older schema               a forged run file
        100,000 runs                    thousands of runs; bench/many_runs.py
        other host, empty history       the gate's: tests/e2e/gate.py"""
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import time

from bench_run import FAULTS, NOP, SPIN, bench, started
from tap import ASSAY, assay, case, main, need, run, script, skip


def refused(r, status, *words):
    """One sentence and one way out."""
    assert r.status == status and len(r.err.splitlines()) == 2, r
    assert all(word in r.err for word in words), r


def need_root():
    if os.geteuid():
        skip("it takes root")


class Mount:
    """A tmpfs of its own, or skip."""

    def __init__(self, options):
        need_root()
        os.mkdir("disk")
        r = run(need("mount"), "-t", "tmpfs", "-o", options, "assay-test", "disk")
        if r.status:
            skip("a tmpfs cannot be mounted")

    def __enter__(self):
        return os.path.abspath("disk")

    def __exit__(self, *_):
        run("umount", "-l", "disk")


@case("a file that cannot be executed is told before the first run")
def _():
    with open("plain", "w", encoding="ascii") as f:
        f.write("echo hi\n")
    refused(assay("bench", "./plain"), 5, "plain")
    refused(assay("bench", script("headless", "echo hi", head="")), 5, "#! line", "sh")


@case("a setuid program is run and measured")
def _():
    need_root()
    shutil.copy(NOP, "setuid")
    os.chown("setuid", 65534, 65534)
    os.chmod("setuid", 0o4755)
    assert bench("-n", "3", "./setuid")["data"]["commands"][0]["summary"]["runs_used"] == 3


@case("the working directory may be gone; a baseline cannot be kept in it")
def _():
    gone = "mkdir d && cd d && rmdir ../d && exec \"$@\""
    r = run("sh", "-c", gone, "sh", ASSAY, "bench", "-n", "2", NOP)
    assert r.status == 0 and "2 runs" in r.out, r
    r = run("sh", "-c", gone, "sh", ASSAY, "bench", "-n", "2", "--save", "x", NOP)
    refused(r, 7, ".assay", "-o")


@case("words with newlines and bytes that are no UTF-8 make a valid document")
def _():
    with subprocess.Popen([ASSAY, "bench", "--json", "-n", "2", "--", NOP, "a\nb", b"\xff\xfe"],
                          stdout=subprocess.PIPE) as tool:
        out = tool.communicate(timeout=60)[0]
    argv = json.loads(out.decode("utf-8"))["data"]["commands"][0]["argv"]
    assert argv[1] == "a\nb" and len(argv) == 3, argv


@case("the end of stderr of a run that failed is shown and kept, the signal has its name")
def _():
    dies = script("dies", "echo x >> count", "echo \"this is run $(wc -l < count)\" >&2",
                  "[ $(wc -l < count) = 7 ] && kill -SEGV $$", "exit 0")
    r = assay("bench", "-n", "20", dies)
    assert r.status == 5 and "run 7" in r.out and "SIGSEGV" in r.out, r
    assert "this is run 7" in r.out and "this is run 6" not in r.out, r
    os.remove("count")
    d = bench("-n", "20", "-o", "kept.assay", dies, status=5)
    assert d["data"]["failure_stderr"] == "this is run 7\n", d
    base = sqlite3.connect("kept.assay")
    assert base.execute("SELECT value FROM fingerprint WHERE name = 'stderr'").fetchone() == (
        "this is run 7\n",)
    assert bench("-n", "3", "false", status=5)["data"]["failure_stderr"] is None


@case("hundreds of megabytes on stdout go nowhere, or are compared and refused")
def _():
    flood = script("flood", "yes | head -c 300000000")
    assert bench("-n", "2", flood)["data"]["commands"][0]["summary"]["runs_used"] == 2
    with open("expected", "w", encoding="ascii") as f:
        f.write("y\n" * 1000)
    d = bench("-n", "2", "--golden", "expected", flood, status=5)
    assert d["data"]["commands"][0]["runs"][0]["wrong_output"], d
    assert "line 1001 " in d["warnings"][0]["text"], d["warnings"]


@case("much on stderr does not fill the memory, and its end is kept")
def _():
    flood = script("flood", "yes | head -c 200000000 >&2", "echo the end >&2", "exit 1")
    d = bench("-n", "2", flood, status=5)
    text = d["data"]["failure_stderr"]
    assert len(text) <= 4096 and text.endswith("y\nthe end\n"), text[-80:]


@case("a slow reader of the program's output only makes it slow")
def _():
    r = run("sh", "-c", f"{ASSAY} bench -n 2 --program-output inherit 'seq 200000' | "
            "(sleep 1; wc -l)")
    assert r.status == 0 and r.out.strip() == "400000" and "2 runs" in r.err, r


@case("a daemon is noticed: its own session, two forks, nothing open")
def _():
    daemon = script("daemon", "(setsid sleep 1 < /dev/null > /dev/null 2>&1 &)", "exit 0")
    one, = bench("-n", "1", daemon)["data"]["commands"][0]["runs"]
    assert one["leftovers"], one


@case("killing its group kills a run, not the benchmark")
def _():
    d = bench("-n", "3", script("angry", "kill -KILL 0"), status=5)
    one, = d["data"]["commands"][0]["runs"]
    assert one["signal"] == signal.SIGKILL and d["partial"], d


@case("killing its parent ends the benchmark with a sentence, the runs before it are kept")
def _():
    # The third run waits until the two before it have been told: they may come in one batch.
    angry = script("angry", "echo x >> count", "[ $(wc -l < count) = 3 ] && kill -KILL $PPID",
                   "exit 0")
    r = assay("bench", "-n", "5", "--time-limit", "50s", "-o", "kept.assay", angry)
    assert r.status == 5 and "spawner was killed" in r.err and "2 runs" in r.out, r
    base = sqlite3.connect("kept.assay")
    assert base.execute("SELECT count(*) FROM execution").fetchone()[0] == 2


@case("out of memory: a limit makes it fail, the kernel's killer is a signal")
def _():
    limited = script("limited", "ulimit -v 40000", f"exec {FAULTS} 50000")
    d = bench("-n", "3", limited, status=5)
    one, = d["data"]["commands"][0]["runs"]
    assert (one["exit"] or one["signal"]) and not one["used"], one
    group = "/sys/fs/cgroup/memory/assay-test"
    try:
        os.mkdir(group)
        with open(group + "/memory.limit_in_bytes", "w", encoding="ascii") as f:
            f.write("16777216")
    except OSError:
        skip("no memory control group can be made")
    try:
        killed = script("killed", f"echo $$ > {group}/cgroup.procs", f"exec {FAULTS} 25600")
        one, = bench("-n", "3", killed, status=5)["data"]["commands"][0]["runs"]
        assert one["signal"] == signal.SIGKILL, one
    finally:
        os.rmdir(group)


@case("a CPU quota that is used up makes runs dirty")
def _():
    group = "/sys/fs/cgroup/cpu/assay-test"
    try:
        os.mkdir(group)
        with open(group + "/cpu.cfs_quota_us", "w", encoding="ascii") as f:
            f.write("5000")
    except OSError:
        skip("no CPU control group can be made")
    try:
        r = run("sh", "-c", f"echo $$ > {group}/cgroup.procs && exec {ASSAY} bench --json -n 4 "
                f"'{SPIN} 40'")
        d = json.loads(r.out)["data"]["commands"][0]
        assert any("throttled by the CPU quota" in one["noise"] for one in d["runs"]), d["runs"]
        assert d["summary"]["dirty"] + d["summary"]["clean_wall_ns"]["count"] == 4, d["summary"]
    finally:
        os.rmdir(group)


@case("the clock nobody can set is used, and what was done to it is stored")
def _():
    before = time.monotonic_ns()
    bench("-n", "3", "-o", "clock.assay", NOP)
    base = sqlite3.connect("clock.assay")
    for (start_ns,) in base.execute("SELECT start_ns FROM execution"):
        assert before < start_ns < time.monotonic_ns(), start_ns
    quality = dict(base.execute("SELECT name, value FROM quality_of_run"))
    assert quality["suspended_ns"] == 0 and "clock_slew_ns" in quality, quality


@case("an empty program takes more than no time")
def _():
    assert all(r["wall_ns"] > 0 for r in bench("-n", "50", NOP)["data"]["commands"][0]["runs"])


def interrupted(words, *signals):
    """Send signals to a benchmark whose command has written `ready`; status and document."""
    with subprocess.Popen([ASSAY, "bench", "--json", "-n", "9", *words], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as tool:
        started("ready")
        for number in signals:
            time.sleep(0.3)
            tool.send_signal(number)
        out, err = tool.communicate(timeout=60)
    return tool.returncode, json.loads(out), err


@case("the second Ctrl-C kills a command that ignores the first; the clean-up is run")
def _():
    deaf = script("deaf", "trap '' INT", "echo x > ready", "sleep 100", "sleep 100")
    status, d, _ = interrupted(["--cleanup", "touch cleaned", deaf], signal.SIGINT, signal.SIGINT)
    one, = d["data"]["commands"][0]["runs"]
    assert status == 130 and one["interrupted"] and one["signal"] == signal.SIGKILL, d
    assert d["partial"] and os.path.exists("cleaned")


@case("SIGTERM and SIGHUP end it as Ctrl-C does")
def _():
    slow = script("slow", "echo x > ready", "exec sleep 100")
    for number in (signal.SIGTERM, signal.SIGHUP):
        status, d, _ = interrupted([slow], number)
        one, = d["data"]["commands"][0]["runs"]
        assert status == 130 and one["signal"] == number and d["partial"], d
        os.remove("ready")


@case("nobody reads: the runs are stored all the same, and it is told")
def _():
    r = run("sh", "-c", f"({ASSAY} bench -n 3 -o kept.assay {NOP}; echo $? > status) | true")
    assert r.status == 0, r
    with open("status", encoding="ascii") as f:
        status = int(f.read())
    assert status in (0, 7, 128 + signal.SIGPIPE), status
    base = sqlite3.connect("kept.assay")
    assert base.execute("SELECT count(*) FROM execution").fetchone()[0] == 3


@case("two at once on one name: the second is refused, the first is whole")
def _():
    slow = script("slow", "echo x >> ready", "sleep 0.2")
    with subprocess.Popen([ASSAY, "bench", "-n", "8", "--save", "one", slow],
                          stdout=subprocess.DEVNULL) as tool:
        started("ready")
        refused(assay("bench", "-n", "2", "--save", "one", NOP), 7, "another assay")
        assert tool.wait(60) == 0
    base = sqlite3.connect(".assay/one.assay")
    assert base.execute("SELECT count(*) FROM execution").fetchone()[0] == 8


@case("a full disk: the result is shown, the file before it is whole")
def _():
    with Mount("size=200k") as disk:
        path = os.path.join(disk, "run.assay")
        bench("-n", "3", "-o", path, NOP)
        with open(os.path.join(disk, "rest"), "wb") as f:
            try:
                while True:
                    os.write(f.fileno(), b"x" * 4096)
            except OSError:
                pass
        r = assay("bench", "-n", "5", "-o", path, NOP)
        assert r.status == 7 and "free some space" in r.err, r
        base = sqlite3.connect(path)
        assert base.execute("SELECT count(*) FROM execution").fetchone()[0] == 3
        base.close()
        r = assay("bench", "-n", "5", "--golden-save", os.path.join(disk, "new"), "seq 100000")
        assert r.status == 7 and not os.path.exists(os.path.join(disk, "new")), r


@case("a read-only folder is told before the first run")
def _():
    with Mount("size=200k,ro") as disk:
        r = assay("bench", "-o", os.path.join(disk, "run.assay"), f"touch {os.getcwd()}/ran")
        refused(r, 7, "run.assay", "-o")
        assert not os.path.exists("ran")


@case("a link to another file system stays a link, its target is replaced")
def _():
    with Mount("size=2m") as disk:
        path = os.path.join(disk, "real.assay")
        bench("-n", "2", "-o", path, NOP)
        os.symlink(path, "link.assay")
        bench("-n", "4", "-o", "link.assay", NOP)
        assert os.path.islink("link.assay")
        base = sqlite3.connect(path)
        assert base.execute("SELECT count(*) FROM execution").fetchone()[0] == 4
        base.close()


@case("one run has a median and no interval")
def _():
    s = bench("-n", "1", "--ops", "5K", NOP)["data"]["commands"][0]
    wall = s["summary"]["wall_ns"]
    assert wall["median"] == wall["min"] == wall["max"] and wall["median_lo"] is None, wall
    assert s["ops_per_s"]["median"] > 0 and s["ops_per_s"]["lo"] is None, s["ops_per_s"]
    assert "no interval with fewer than 6 runs" in assay("bench", "-n", "1", "--ops", "5K", NOP).out


@case("a forged run file is refused with a reason: not a number, an older schema")
def _():
    for sql in ("UPDATE execution SET wall_ns = 'nan'", "UPDATE execution SET wall_ns = 1e400",
                "PRAGMA user_version = 0"):
        bench("-n", "2", "-o", "forged.assay", NOP)
        base = sqlite3.connect("forged.assay")
        base.execute(sql)
        base.commit()
        base.close()
        refused(assay("report", "forged.assay"), 2, "forged.assay")


@case("thousands of runs: memory grows by 130 bytes a run at most")
def _():
    floor = bench("-n", "1", NOP)["data"]["commands"][0]["summary"]["max_rss_floor_bytes"]
    if floor > 4e6:
        skip("a sanitizer keeps memory")
    # Measured by assay itself: a child of this large process cannot show a smaller peak.  The
    # kernel counts pages in batches for each CPU, so a peak is off by some 0.3 MB.
    peaks = [sorted(run["max_rss_bytes"] for run in bench(
        "-n", "3", "--", ASSAY, "bench", "-n", str(count), NOP)["data"]["commands"][0]["runs"])
             for count in (500, 10500)]
    assert peaks[1][1] - peaks[0][1] < 10000 * 130, peaks


main()
