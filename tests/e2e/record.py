"""`assay record`: the right shares, whole stacks, every way a target can behave, honest gaps."""
import json
import os
import re
import signal
import subprocess
import sys
import time

from tap import (ASSAY, BUILD, assay, case, cpu_s_below, main, measured, need, run, skip,
                 wait_for)

WORKLOADS = os.path.join(BUILD, "tests", "workloads")
FAULTS, FORKS, NOP, SHARES, SPIN = (
    os.path.join(WORKLOADS, name) for name in ("faults", "forks", "nop", "shares", "spin"))
NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--")


def record(*words, status=0, **how):
    """Run with --json; the document, checked to be the only thing on stdout."""
    r = assay("record", "--json", *words, **how)
    if r.status == 6 and status != 6:
        skip(r.err.splitlines()[0])
    assert r.status == status, r
    return json.loads(r.out)


def report(path="assay.run.assay", *words):
    r = assay("report", path, "--json", *words)
    assert r.status == 0, r
    return {row["name"]: row for row in json.loads(r.out)["data"]["rows"]}


def sql(query, path="assay.run.assay"):
    r = run(need("sqlite3"), path, query)
    assert r.status == 0, r
    return r.out.strip()


def codes(document):
    return [w["code"] for w in document["warnings"]]


def refused(r, status, *words):
    """One sentence, one way out, the right status, nothing else."""
    assert r.status == status, r
    lines = r.err.splitlines()
    assert len(lines) == 2 and lines[0].startswith("assay: ") and lines[1].startswith("  "), r
    for word in words:
        assert word in r.err, r


def within(part, whole, truth, samples, lost=0):
    """A share of `samples` is within five standard errors, and what was lost, of the truth."""
    error = 5 * (truth * (1 - truth) / samples) ** 0.5 + 0.02 + lost / (samples + lost)
    assert abs(part / whole - truth) < error, (part / whole, truth, error)


@case("three quarters of the work get three quarters of the samples, on whole stacks")
def _():
    d = record("-F", "1999", "--", SHARES, "60")["data"]
    rows = report()
    heavy, light = rows["heavy"], rows["light"]
    both = heavy["self"] + light["self"]
    within(heavy["self"], both, 0.75, d["samples"])
    assert both > 0.9 * rows["main"]["total"], rows
    assert rows["main"]["total_share"] > 0.95, rows["main"]
    assert d["samples"] > 100 and d["lost"] == 0 and d["truncated"] == 0, d
    assert d["events"] in (["cpu-clock"], ["cycles"], ["cpu-clock:u"], ["cycles:u"]), d
    assert d["bytes"] == os.path.getsize("assay.run.assay"), d
    assert d["overhead"]["recorder_cpu_ns"] > 0 and d["overhead"]["target_cpu_ns"] > 0, d
    assert d["rate_hz"] == 1999 and d["period"] is None and d["period_reason"], d
    assert d["next"] == "assay report assay.run.assay", d


@case("the run file says what the summary says")
def _():
    d = record("-o", "x.assay", "--", SPIN, "50")["data"]
    assert int(sql("select count(*) from sample", "x.assay")) == d["samples"], d
    assert int(sql("select value from meta where key='partial'", "x.assay")) == 0
    times = sql("select count(*) from sample a join sample b on b.id = a.id + 1 "
                "where b.time_ns < a.time_ns", "x.assay")
    assert times == "0", times
    assert sql("select exit_status from executions", "x.assay") == "0"


def may_be_real_time():
    """Whether a program that is started here may have SCHED_FIFO, as the reader of rings wants."""
    return run(sys.executable, "-c", "import os\nos.sched_setscheduler(0, os.SCHED_FIFO, "
               "os.sched_param(1))").status == 0


@measured("500 threads are followed")
def _():
    d = record("-F", "4999", "--", SHARES, "1", "500")
    tids = int(sql("select count(distinct tid) from thread"))
    assert tids > 250, (tids, d)
    # A reader that is not real-time may come late.
    assert not may_be_real_time() or d["data"]["lost"] == 0, d
    rows = report()
    within(rows["heavy"]["self"], rows["heavy"]["self"] + rows["light"]["self"], 0.75,
           d["data"]["samples"], d["data"]["lost"])


@case("5,000 forks leave samples of the parent, and what is not covered is said")
def _():
    d = record("--", FORKS, "5000")
    assert d["data"]["samples"] > 20, d
    if d["data"]["events"] == ["cpu-clock"]:
        assert d["data"]["sampled_share"] < 0.8 and "short-lived-tasks" in codes(d), d


@case("an exec chain ends under the name of the last program, children have theirs")
def _():
    record("--", "sh", "-c", f"{SPIN} 60 & exec sh -c 'exec {SPIN} 60'")
    names = sql("select distinct t.text from thread join text t on t.id = thread.name").split()
    assert "spin" in names, names
    pids = int(sql("select count(distinct pid) from thread join text t on t.id = thread.name "
                   "where t.text = 'spin'"))
    assert pids == 2, pids
    assert report()["main"]["self_share"] > 0.8


@case("several events are sampled side by side, each under its name")
def _():
    d = record("-e", "cpu-clock,page-faults", "-c", "100000", "--", SPIN, "30")
    assert len(d["data"]["events"]) == 2 and d["data"]["period"] == 100000, d
    d = record("-e", "page-faults", "-c", "1", "--", "ls", "-la", "/usr/bin")
    assert d["data"]["samples"] > 20, d


def fault_samples():
    """How many samples of faults there are, and how many faults they stand for."""
    return [int(word) for word in
            sql("select count(*), ifnull(sum(period), 0) from samples "
                "where event like 'page-faults%'").split("|")]


@case("beside a clock each fault is a sample, as many as the kernel counted for the program")
def _():
    d = record("-e", "cpu-clock", "-e", "page-faults", "--", FAULTS, "2000")["data"]
    samples, faults = fault_samples()
    # The kernel also counts those between fork and exec, but not twice those of its own.
    counted = int(sql("select minor_faults + major_faults from executions"))
    assert samples == faults and counted - 300 - d["lost"] < faults < counted + 100, (d, counted)
    assert d["rate_hz"] == 997 and d["period"] is None, d
    assert [event.split(":")[0] for event in d["each"]] == ["page-faults"], d
    r = assay("record", "-e", "page-faults", "--", FAULTS, "2000")
    assert r.status == 0 and ", one for each" in r.err and "Hz" not in r.err, r


@case("-c thins faults out and keeps their total, -F warns that theirs is an estimate")
def _():
    d = record("-e", "page-faults", "-c", "100", "--", FAULTS, "5000")
    samples, faults = fault_samples()
    assert faults == samples * 100 and d["data"]["each"] == [], (samples, faults, d)
    # On each CPU up to a period is never over.
    assert 5000 - 100 * os.cpu_count() <= faults + 100 * d["data"]["lost"] < 5400, (faults, d)
    assert "estimated-totals" not in codes(d), d
    d = record("-e", "cpu-clock,page-faults", "-F", "999", "--", FAULTS, "5000")
    assert "estimated-totals" in codes(d) and d["data"]["each"] == [], d


@case("without stacks, and with frame pointers only, samples have what was asked for")
def _():
    record("--stack", "none", "--", SPIN, "50")
    assert report()["main"]["self_share"] > 0.8
    # One address each, which can be in functions that were inlined into one another.
    addresses = "select max(n) from (select count(distinct location) n from chains group by stack)"
    assert sql(addresses) == "1", sql(addresses)
    record("--stack", "fp", "-q", "--", SPIN, "50")
    assert report()["main"]["self_share"] > 0.8


@case("the start can be put off, and the end brought forward without harm to the program")
def _():
    d = record("--delay", "1h", "--", "sh", "-c", f"{SPIN} 30; echo done >mark")
    assert d["data"]["samples"] == 0 and "no-samples" in codes(d), d
    assert os.path.exists("mark")
    d = record("--duration", "1ms", "--", "sh", "-c", f"{SPIN} 100; echo done >mark2")
    assert os.path.exists("mark2") and d["data"]["execution"]["exit"] == 0, d
    assert d["data"]["reached_hz"] is None and d["data"]["reached_hz_reason"], d


@case("a running process is sampled by its number until it ends")
def _():
    with subprocess.Popen([SHARES, "300", "2"]) as child:
        time.sleep(0.1)
        d = record("-p", child.pid)
        child.wait()
    rows = report()
    assert d["data"]["samples"] > 50, d
    assert rows["heavy"]["self"] > 0 and rows["heavy"]["total_share"] < 1, rows
    assert d["data"]["overhead"]["target_cpu_ns"] is None, d


@case("a watch of a process ends after its duration, and the process runs on")
def _():
    with subprocess.Popen([SPIN, "100000"]) as child:
        try:
            d = record("-p", child.pid, "--duration", "300ms")
            assert child.poll() is None, "it was harmed"
            assert d["data"]["samples"] > 0, d
        finally:
            child.kill()


@case("the whole machine: short-lived and running processes have names, idle has no samples")
def _():
    if os.geteuid() != 0:
        skip("not root")
    with subprocess.Popen([SPIN, "100000"]) as child:
        try:
            d = record("-a", "--", "sh", "-c",
                       "for i in 1 2 3 4 5 6 7 8 9; do ls -la /usr/bin; done")
        finally:
            child.kill()
    names = sql("select distinct t.text from thread join text t on t.id = thread.name").split()
    assert "spin" in names and "ls" in names, (names, d)
    assert sql("select count(*) from sample join thread on thread.id = sample.thread "
               "where pid = 0") == "0"


def machine_as_root(*words):
    """The warnings of `record -a` behind these words, by their code, while a spin of ours runs."""
    if os.geteuid() != 0:
        skip("not root")
    with subprocess.Popen([SPIN, "100000"]) as child:
        try:
            r = run(*words, ASSAY, "record", "-a", "--json", "--", NOP)
        finally:
            child.kill()
    if r.status == 6:
        skip(r.err.splitlines()[0])
    assert r.status == 0, r
    return {w["code"]: w for w in json.loads(r.out)["warnings"]}


# In a sandbox of landlock that forbids nothing but to make block devices, and to look at others.
SANDBOX = """
import ctypes, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
ruleset = libc.syscall(444, struct.pack("Q", 1 << 11), ctypes.c_size_t(8), 0)
if ruleset < 0 or libc.prctl(38, 1, 0, 0, 0) or libc.syscall(446, ruleset, 0):
    sys.exit(f"no sandbox: {os.strerror(ctypes.get_errno())}")
os.execv(sys.argv[1], sys.argv[1:])
"""


@case("the whole machine as root: who may not read all mappings is told why, never to be root")
def _():
    less = machine_as_root(need("setpriv"), "--bounding-set=-sys_ptrace", "--")["maps-denied"]
    assert "CAP_SYS_PTRACE" in less["hint"] and "as root" not in less["hint"], less
    if run(sys.executable, "-c", SANDBOX, "/bin/true").status != 0:
        skip("no landlock")
    sandboxed = machine_as_root(sys.executable, "-c", SANDBOX)["maps-denied"]
    assert "outside of the sandbox" in sandboxed["hint"], sandboxed
    assert re.search(r" of \d+ processes \(such as process \d+\)", sandboxed["text"]), sandboxed


@case("the whole machine from within a container: what has no names there is said")
def _():
    words = ("unshare", "--pid", "--fork", "--mount-proc")
    if os.geteuid() != 0 or run(*words, "true").status != 0:
        skip("no PID namespace of its own")
    assert "--pid=host" in machine_as_root(*words)["outside-container"]["hint"]


@case("unprivileged: the user side is sampled, and what is missing is said")
def _():
    if os.geteuid() != 0:
        skip("not root, so nothing to drop")
    with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as f:
        level = int(f.read())
    os.chmod(".", 0o777)
    r = run(*NOBODY, ASSAY, "record", "--json", "--", SHARES, "40")
    if level > 2:
        refused(r, 6, "perf_event_paranoid")
        skip(f"perf_event_paranoid is {level}: nothing is permitted")
    assert r.status == 0, r
    d = json.loads(r.out)
    assert d["data"]["samples"] > 30 and d["data"]["lost"] == 0, d
    rows = report()
    assert rows["main"]["total_share"] > 0.9, rows
    if level == 2:
        assert d["data"]["events"][0].endswith(":u") and "kernel-not-sampled" in codes(d), d
        refused(run(*NOBODY, ASSAY, "record", "-a", "--", NOP), 6, "perf_event_paranoid")
        r = run(*NOBODY, ASSAY, "record", "--json", "--", "su", "--help")
        assert "setuid-target" in codes(json.loads(r.out)), r


@case("scarce locked memory makes rings smaller and says so")
def _():
    if os.geteuid() != 0:
        skip("not root, so nothing to drop")
    os.chmod(".", 0o777)
    r = run(*NOBODY, "sh", "-c", f"ulimit -l 64; exec {ASSAY} record --json -- {SPIN} 50")
    if r.status == 6:
        skip(r.err.splitlines()[0])
    d = json.loads(r.out)
    assert d["data"]["ring_bytes"] < 1 << 20 and "small-rings" in codes(d), d
    assert d["data"]["stack_dump_bytes"] >= 8192 and d["data"]["lost"] == 0, d


@case("a target that closes every descriptor, and one without any environment")
def _():
    d = record("--", need("python3"), "-c",
               "import os; os.closerange(0, 4096); sum(range(4000000))")
    assert d["data"]["samples"] > 5, d
    d = record("--", "env", "-i", SPIN, "30")
    assert d["data"]["samples"] > 5, d


@case("stdin, stdout and environment are the program's own")
def _():
    r = assay("record", "-q", "--", "cat", stdin="through\n")
    assert r.out == "through\n", r
    assert assay("record", "-q", "--", "env").out == run("env").out
    grep = ("grep", "^Sig[IBC]", "/proc/self/status")
    assert assay("record", "-q", "--", *grep).out == run(*grep).out
    nice = ("cut", "-d", " ", "-f", "19", "/proc/self/stat")
    assert assay("record", "-q", "--", *nice).out == run(*nice).out


@case("the target's failure is exit 5, with --target-status its own, and the samples are kept")
def _():
    d = record("--", "sh", "-c", f"{SPIN} 30; exit 7", status=5)
    assert d["data"]["execution"]["exit"] == 7 and d["data"]["samples"] > 5, d
    assert assay("record", "--target-status", "--", "sh", "-c", "exit 7").status == 7
    assert assay("record", "--target-status", "--", FORKS, "0", "11").status == 139


@case("what cannot be recorded is refused with the reason and the way out")
def _():
    refused(assay("record", "--", "no-such-program-here"), 5, "no-such-program-here")
    assert not os.path.exists("assay.run.assay"), "nothing was measured"
    refused(assay("record", "-e", "cylces", "--", NOP), 2, "cycles")
    refused(assay("record", "-F", "0", "--", NOP), 2, "frequency")
    refused(assay("record", "-F", "1000", "-c", "5", "--", NOP), 2, "-F and -c")
    refused(assay("record", "-c", "100", "-e", "cpu-clock", "--", NOP), 2, "10000")
    refused(assay("record", "-F", "1000000", "--", NOP), 6, "perf_event_max_sample_rate")
    refused(assay("record", "--delay", "soon", "--", NOP), 2, "soon")
    refused(assay("record", "--stack", "magic", "--", NOP), 2, "lbr")
    refused(assay("record", "-a", "-p", "1", "--", NOP), 2, "exclude")
    refused(assay("record"), 2, "usage")
    refused(assay("record", "-o", "no/such/folder/x.assay", "--", "touch", "ran"), 7, "no/such")
    assert not os.path.exists("ran")
    child = subprocess.Popen([NOP])
    child.wait()
    refused(assay("record", "-p", child.pid), 5, str(child.pid))
    if not any(n == "cpu" or n.startswith(("cpu_", "arm"))
               for n in os.listdir("/sys/bus/event_source/devices")):
        refused(assay("record", "-e", "cycles", "--", NOP), 6, "cycles", "PMU")
        refused(assay("record", "--stack", "lbr", "--", NOP), 6, "LBR")


@case("a file that is no run is never replaced, a run is")
def _():
    with open("mine.txt", "w", encoding="ascii") as f:
        f.write("precious")
    refused(assay("record", "-o", "mine.txt", "--", NOP), 7, "mine.txt")
    record("-o", "a.assay", "--", SPIN, "20")
    record("-o", "a.assay", "--", SPIN, "20")
    assert sorted(os.listdir(".")) == ["a.assay", "mine.txt"], os.listdir(".")


@case("Ctrl-C ends the program, what was sampled is kept, exit 130")
def _():
    for how in ("group", "assay"):
        child = subprocess.Popen([ASSAY, "record", "--json", "--", SPIN, "1000000"],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 start_new_session=True)
        wait_for(lambda: cpu_s_below(child.pid) > 0.5)
        (os.killpg if how == "group" else os.kill)(child.pid, signal.SIGINT)
        out, err = child.communicate(timeout=60)
        if child.returncode == 6:
            skip(err.decode().splitlines()[0])
        assert child.returncode == 130, (how, child.returncode, out)
        d = json.loads(out)
        assert d["partial"] and d["data"]["samples"] > 20, d
        assert d["data"]["execution"]["interrupted"], d
        assert report()["main"]["self_share"] > 0.8


def named_by_every_command(path):
    """A killed recording holds addresses only: whoever shows it names them, all the same way."""
    assert report(path)["main"]["self_share"] > 0.8, report(path)
    r = assay("report", path, "--json")
    texts = [w["text"] for w in json.loads(r.out)["warnings"]]
    assert "names" not in " ".join(texts) and len(texts) == len(set(texts)), texts
    r = assay("diff", path, path, "--all", "--json")
    assert "main" in [row["name"] for row in json.loads(r.out)["data"]["rows"]], r
    for words, product in ((("flame",), "out.svg"), (("export", "-f", "folded"), "out.folded")):
        r = assay(*words, path, "-o", product)
        with open(product, encoding="utf-8") as f:
            text = f.read()
        assert r.status == 0 and "main" in text and "[spin]" not in text, (r, text[-500:])
    r = assay("annotate", path, "main")
    assert r.status == 0 and "main" in r.out, r


@case("kill -9 of assay leaves the target running to its own end and the file readable")
def _():
    busy = f"{SPIN} 100000 & until test -e go; do sleep 0.05; done; kill $!; echo >mark"
    child = subprocess.Popen([ASSAY, "record", "--", "sh", "-c", busy],
                             stderr=subprocess.DEVNULL, start_new_session=True)
    wait_for(lambda: cpu_s_below(child.pid) > 2.5)
    child.kill()
    child.wait()
    with open("go", "w", encoding="ascii"):
        pass
    wait_for(lambda: os.path.exists("mark"))  # unless the target died with assay
    count = sql("select count(*) from sample")
    assert int(count) > 20, count
    assert sql("select value from meta where key='partial'") == "1"
    named_by_every_command("assay.run.assay")


@case("a caller that closed stdout and stderr does not get our words into the run file")
def _():
    r = run("sh", "-c", 'exec "$0" record -o run.assay -- "$1" 1 <&- >&- 2>&-', ASSAY, SPIN)
    assert r.status == 7, r
    r = run(need("sqlite3"), "run.assay", "PRAGMA integrity_check")
    assert r.status == 0 and r.out.strip() == "ok", r
    with open("run.assay", "rb") as file:
        assert b"next: assay report" not in file.read()


@case("--agent is plain ASCII within 40 lines and ends with the next command")
def _():
    r = assay("record", "--agent", "--", SPIN, "20")
    lines = r.err.splitlines()
    assert r.err.isascii() and len(lines) <= 40, r
    assert lines[-1] == "next: assay report assay.run.assay", r


main()
