"""`assay stat`: right counts beside perf's, honest gaps, and every bad input."""
import json
import os
import re
import signal
import subprocess
import time

from tap import ASSAY, BUILD, assay, case, lines_in, main, need, run, script, skip, wait_for

WORKLOADS = os.path.join(BUILD, "tests", "workloads")
NOP, FAULTS, FORKS, PINGPONG, SPIN = (
    os.path.join(WORKLOADS, name) for name in ("nop", "faults", "forks", "pingpong", "spin"))
NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--")


def stat(*words, status=0, **how):
    """Run with --json; the document, checked to be the only thing on stdout."""
    r = assay("stat", "--json", *words, **how)
    assert r.status == status, r
    return json.loads(r.out)


def events(document):
    return {e["name"]: e for e in document["data"]["events"]}


def has_pmu():
    return any(name == "cpu" or name.startswith(("cpu_", "arm"))
               for name in os.listdir("/sys/bus/event_source/devices"))


def perf_counts(text):
    """Event -> count from `perf stat -x,`."""
    rows = (line.split(",") for line in text.splitlines() if "," in line)
    return {row[2]: float(row[0]) for row in rows if re.fullmatch(r"[0-9.]+", row[0])}


def refused(r, status, *words):
    """One sentence, one way out, the right status, nothing else."""
    assert r.status == status, r
    lines = r.err.splitlines()
    assert len(lines) == 2 and lines[0].startswith("assay: ") and lines[1].startswith("  "), r
    for word in words:
        assert word in r.err, r


@case("three events have numbers, and cycles without a PMU is null with the reason")
def _():
    d = stat("-e", "task-clock,context-switches,page-faults,cycles", "--", SPIN, "10")
    e = events(d)
    assert e["task-clock"]["value"] > 0 and e["task-clock"]["unit"] == "ns", e
    assert isinstance(e["context-switches"]["value"], (int, float)), e
    assert e["page-faults"]["value"] > 20, e
    if has_pmu():
        skip("this machine has a PMU")
    assert e["cycles"]["value"] is None and "no PMU" in e["cycles"]["reason"], e
    assert e["cycles"]["status"] == "not_supported", e


@case("--strict exits 6 when an event has no value, and still shows the rest")
def _():
    if has_pmu():
        skip("this machine has a PMU")
    d = stat("--strict", "-e", "task-clock,cycles", "--", NOP, status=6)
    assert events(d)["task-clock"]["value"] > 0, d


@case("page faults agree with perf's within 2 %")
def _():
    perf = need("perf")
    for pages in (1000, 20000):
        ours = events(stat("-r", "3", "-e", "page-faults", "--", FAULTS, pages))["page-faults"]
        r = run(perf, "stat", "-x,", "-r", "3", "-e", "page-faults", FAULTS, pages)
        theirs = perf_counts(r.err)["page-faults"]
        assert abs(ours["value"] - theirs) <= 0.02 * theirs, (ours["value"], theirs)
        assert ours["value"] >= pages, ours


@case("attached to the same ping-pong, assay and perf count exactly the same switches and faults")
def _():
    perf = need("perf")
    names = "context-switches,page-faults"
    with subprocess.Popen([PINGPONG, "20000", "wait"], stdin=subprocess.PIPE,
                          stdout=subprocess.DEVNULL) as target:
        asleep = 0
        while asleep < 5:  # it waits for its line: nothing moves while the tools attach
            with open(f"/proc/{target.pid}/stat", encoding="ascii") as f:
                asleep = asleep + 1 if f.read().rsplit(")", 1)[1].split()[0] == "S" else 0
            time.sleep(0.02)
        ours = subprocess.Popen([ASSAY, "stat", "--json", "-e", names, "-p", str(target.pid)],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        theirs = subprocess.Popen([perf, "stat", "-x,", "-e", names, "-p", str(target.pid)],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for tool in (ours, theirs):  # both have their events open
            for _ in range(500):
                links = os.listdir(f"/proc/{tool.pid}/fd")
                opened = sum("perf_event" in os.readlink(f"/proc/{tool.pid}/fd/{n}") for n in links
                             if os.path.lexists(f"/proc/{tool.pid}/fd/{n}"))
                if opened >= 2:
                    break
                time.sleep(0.01)
        time.sleep(0.3)
        target.stdin.write(b"go\n")
        target.stdin.close()
        target.wait(60)
    out, err = ours.communicate(timeout=60)
    counts = perf_counts(theirs.communicate(timeout=60)[1].decode())
    e = events(json.loads(out))
    for name in names.split(","):
        assert e[name]["value"] == counts[name], (name, e[name], counts, err)
    assert e["context-switches"]["value"] >= 39990, e


@case("5,000 children are all counted")
def _():
    d = stat("-e", "page-faults", "--", FORKS, "5000")
    one = stat("-e", "page-faults", "--", FORKS, "0")
    per_child = (events(d)["page-faults"]["value"] - events(one)["page-faults"]["value"]) / 5000
    assert per_child >= 1, per_child


@case("-r gives each run and medians; peak RSS of a small child after a large one is its own")
def _():
    d = stat("-r", "4", "-e", "page-faults", "--", FAULTS, "25600")
    assert len(d["data"]["runs"]) == 4, d
    assert all(len(r["events"]) == 1 and r["events"][0] > 25600 for r in d["data"]["runs"]), d
    assert d["data"]["summary"]["max_rss_bytes"] > 100e6, d
    small = stat("--", NOP)["data"]["runs"][0]
    assert small["max_rss_bytes"] < max(4e6, small["max_rss_floor_bytes"] + 1e6), small


@case("every run of many counts its own events, none reads zero")
def _():
    d = stat("-r", "300", "-e", "page-faults,task-clock", "--", NOP)
    faults = [r["events"][0] for r in d["data"]["runs"]]
    assert len(faults) == 300 and min(faults) > 20 and max(faults) < 4 * min(faults), faults


@case("a target that leaves a process behind is noticed, and later runs do not count it")
def _():
    d = stat("-r", "3", "-e", "page-faults", "--", "sh", "-c", f"{SPIN} 200 & exit 0")
    assert [r["leftovers"] for r in d["data"]["runs"]] == [True] * 3, d
    task = stat("-r", "3", "-e", "task-clock", "--", "sh", "-c", f"{SPIN} 1000 & exit 0")
    last = task["data"]["runs"][2]["events"][0]
    assert last < 50e6, task["data"]["runs"]


@case("intervals add up to the whole")
def _():
    d = stat("-I", "20", "-e", "task-clock,page-faults", "--", SPIN, "300")
    parts = [i["events"] for i in d["data"]["intervals"]]
    assert len(parts) >= 2, d
    for k, event in enumerate(d["data"]["events"]):
        assert abs(sum(p[k] for p in parts) - event["value"]) < 1, (k, parts, event)


@case("the kernel's share of a short run is not measured, and a longer run is the way out")
def _():
    for repeat in ("1", "5"):
        r = assay("stat", "-r", repeat, "-M", "kernel_share", "--json", "--", NOP)
        assert r.status == 0, r
        share = next(m for m in json.loads(r.out)["data"]["metrics"] if m["name"] == "kernel_share")
        assert share["value"] is None and "longer run" in share["value_reason"], share
        assert share["assessment"] == "none", share
    r = assay("stat", "-M", "kernel_share", "--", NOP)
    assert "not measured: kernel_share (the kernel splits" in r.err, r


@case("an event of two metrics has one row")
def _():
    r = assay("stat", "-e", "cycles", "-M", "ipc", "-M", "cpi", "--json", "--", NOP)
    assert r.status == 0, r
    seen = [(e["name"], e.get("core")) for e in json.loads(r.out)["data"]["events"]]
    assert len(seen) == len(set(seen)) and len(seen) >= 2, seen


@case("groups, modifiers, raw codes, tracepoints and aliases are understood")
def _():
    d = stat("-e", "{task-clock,page-faults},faults:u,r1c2:u,cs", "--", NOP)
    names = [e["name"] for e in d["data"]["events"]]
    assert names == ["task-clock", "page-faults", "faults:u", "r1c2:u", "cs"], names
    assert d["data"]["events"][0]["group"] == d["data"]["events"][1]["group"], d


@case("sched:sched_switch is counted as root, also where tracefs is not mounted")
def _():
    if os.geteuid() != 0:
        skip("not root")
    e = events(stat("-e", "sched:sched_switch", "--", "sleep", "0.01"))["sched:sched_switch"]
    if e["value"] is None:
        skip("no tracepoints here: " + e["reason"])
    assert e["value"] >= 1, e


@case("a user-side context switch would always read 0, so it is refused as such")
def _():
    e = events(stat("-e", "cs:u", "--", NOP))["cs:u"]
    assert e["value"] is None and "kernel" in e["reason"], e


@case("unprivileged: user-side counts are named :u, the rest says what would help")
def _():
    if os.geteuid() != 0:
        skip("not root, so nothing to drop")
    with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as f:
        level = int(f.read())
    r = run(*NOBODY, ASSAY, "stat", "--json", "-e", "page-faults,context-switches", "--", NOP)
    assert r.status == 0, r
    e = {name.split(":")[0]: v for name, v in events(json.loads(r.out)).items()}
    if level <= 1:
        skip(f"perf_event_paranoid is {level}: nothing is forbidden")
    assert "perf_event_paranoid" in e["context-switches"]["reason"], e
    if level == 2:
        assert e["page-faults"]["name"] == "page-faults:u" and e["page-faults"]["value"] > 0, e


@case("with --json on stdout the program's stdout goes to stderr; --json=FILE leaves it alone")
def _():
    r = assay("stat", "--json", "--", "echo", "hello")
    json.loads(r.out)
    assert r.err == "hello\n", r
    r = assay("stat", "--json=out.json", "-q", "--", "echo", "hello")
    assert r.out == "hello\n", r
    with open("out.json", encoding="utf-8") as f:
        assert json.load(f)["schema"] == "assay.stat/1"


@case("the target's stdin, environment and signal settings are its own")
def _():
    r = assay("stat", "-q", "--", "cat", stdin="through\n")
    assert r.out == "through\n", r
    grep = ("grep", "^Sig[IBC]", "/proc/self/status")
    assert assay("stat", "-q", "--", *grep).out == run(*grep).out
    assert assay("stat", "-q", "--", "env").out == run("env").out


@case("the target's failure is exit 5, with --target-status its own")
def _():
    assert assay("stat", "--", "false").status == 5
    assert assay("stat", "--target-status", "--", "sh", "-c", "exit 7").status == 7
    r = assay("stat", "--", FORKS, "0", "11")
    assert r.status == 5 and "signal 11" in r.err, r
    assert assay("stat", "--target-status", "--", FORKS, "0", "11").status == 139


@case("a program that is not there, not executable, a folder or for another machine")
def _():
    refused(assay("stat", "--", "no-such-program-here"), 5, "no-such-program-here")
    with open("plain", "w", encoding="ascii") as f:
        f.write("text\n")
    refused(assay("stat", "--", "./plain"), 5, "./plain", "chmod")
    os.mkdir("folder")
    refused(assay("stat", "--", "./folder"), 5, "./folder")
    with open("/bin/true", "rb") as f:
        elf = bytearray(f.read())
    elf[18:20] = (243).to_bytes(2, "little")  # e_machine: RISC-V
    with open("foreign", "wb") as f:
        f.write(elf)
    os.chmod("foreign", 0o755)
    refused(assay("stat", "--", "./foreign"), 5, "./foreign")
    elf[4] = 1  # 32 bit
    with open("narrow", "wb") as f:
        f.write(elf)
    os.chmod("narrow", 0o755)
    refused(assay("stat", "--", "./narrow"), 5, "./narrow")
    os.chmod("plain", 0o755)
    refused(assay("stat", "--", "./plain"), 5, "#!")


@case("unknown events and malformed groups name the place and the way out")
def _():
    refused(assay("stat", "-e", "cylces", "--", NOP), 2, "cylces", "cycles")
    refused(assay("stat", "-e", "cycles:x", "--", NOP), 2, "'x'")
    refused(assay("stat", "-e", "task-clock,,cs", "--", NOP), 2, "empty")
    refused(assay("stat", "-e", "", "--", NOP), 2, "empty")
    refused(assay("stat", "-e", "{cycles,instructions", "--", NOP), 2, "closing brace")
    refused(assay("stat", "-e", "{cycles,{cs}}", "--", NOP), 2, "another group")
    refused(assay("stat", "-e", "{}", "--", NOP), 2, "empty")
    refused(assay("stat", "-e", "cycles}", "--", NOP), 2, "brace")
    refused(assay("stat", "-e", "nopmu/event=1/", "--", NOP), 2, "nopmu")
    refused(assay("stat", "-e", "cpu/event=1", "--", NOP), 2, "slash")
    refused(assay("stat", "--set", "defualt", "--", NOP), 2, "default")
    refused(assay("stat", "-M", "ipcc", "--", NOP), 2, "ipc")
    refused(assay("stat", "-r", "0", "--", NOP), 2, "repeat")
    refused(assay("stat", "-I", "0", "--", NOP), 2, "-I")
    refused(assay("stat"), 2, "usage")


@case("a process that does not exist is exit 5")
def _():
    child = subprocess.Popen([NOP])
    child.wait()
    refused(assay("stat", "-p", child.pid), 5, str(child.pid))
    refused(assay("stat", "-p", "abc"), 2, "abc")


@case("10,000 events are counted, or refused with the limit that is in the way")
def _():
    many = ",".join(["task-clock"] * 10000)
    r = assay("stat", "--json", "-e", many, "--", NOP)
    if r.status != 0:
        refused(r, 6, "open files", "ulimit")
        return
    e = json.loads(r.out)["data"]["events"]
    assert len(e) == 10000 and e[9999]["value"] > 0, e[9999]
    r = run("sh", "-c", f"ulimit -n 256; exec {ASSAY} stat -e {many} -- {NOP}")
    refused(r, 6, "open files", "ulimit")


@case("Ctrl-C ends the program and keeps what was measured, exit 130")
def _():
    for how in ("group", "assay", "group", "assay"):
        step = script("step", "echo x >> steps", "sleep 0.2")
        child = subprocess.Popen([ASSAY, "stat", "--json", "-r", "500", "-e", "task-clock", "--",
                                  step], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 start_new_session=True)
        wait_for(lambda: lines_in("steps") >= 3)
        os.remove("steps")
        if how == "group":
            os.killpg(child.pid, signal.SIGINT)
        else:
            os.kill(child.pid, signal.SIGINT)
        out, _ = child.communicate(timeout=20)
        assert child.returncode == 130, (how, child.returncode, out[:400])
        d = json.loads(out)
        assert d["partial"] and 2 <= len(d["data"]["runs"]) < 500, d["data"]["runs"]
        assert d["data"]["summary"]["runs_used"] == len(d["data"]["runs"]) - 1, d


@case("a second Ctrl-C ends a program that ignores the first")
def _():
    child = subprocess.Popen([ASSAY, "stat", "--json", "-e", "task-clock", "--", "sh", "-c",
                              "trap '' INT; echo > ready; while :; do sleep 0.05; done"],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             start_new_session=True)
    wait_for(lambda: lines_in("ready"))
    os.kill(child.pid, signal.SIGINT)
    time.sleep(0.3)
    assert child.poll() is None, "the first one must let the program decide"
    os.kill(child.pid, signal.SIGINT)
    out, _ = child.communicate(timeout=20)
    assert child.returncode == 130 and json.loads(out)["data"]["runs"][0]["signal"] == 9, out


@case("kill -9 of assay leaves the target running to its own end")
def _():
    child = subprocess.Popen([ASSAY, "stat", "--", "sh", "-c",
                              "echo > ready; sleep 0.6; echo alive > mark"],
                             stderr=subprocess.DEVNULL, start_new_session=True)
    wait_for(lambda: lines_in("ready"))
    child.kill()
    child.wait()
    wait_for(lambda: lines_in("mark"), 30)


@case("kill -9 of assay leaves a readable run file with the runs so far, marked partial")
def _():
    sqlite = need("sqlite3")
    step = script("step", "echo x >> steps", "sleep 0.05")
    child = subprocess.Popen([ASSAY, "stat", "-o", "run.assay", "-r", "1000", "-e", "task-clock",
                              "--", step], stderr=subprocess.DEVNULL)
    wait_for(lambda: lines_in("steps") > 5)
    child.kill()
    child.wait()
    count = run(sqlite, "run.assay", "select count(*) from executions")
    assert count.status == 0 and int(count.out) >= 3, count
    partial = run(sqlite, "run.assay", "select value from meta where key='partial'")
    assert partial.out.strip() == "1", partial


@case("-o stores the run, and plain SQL finds the numbers again")
def _():
    sqlite = need("sqlite3")
    d = stat("-o", "run.assay", "-r", "2", "-e", "page-faults", "--", NOP)
    r = run(sqlite, "run.assay", "select value from counts where event='page-faults'")
    assert [float(v) for v in r.out.split()] == [x["events"][0] for x in d["data"]["runs"]], r


@case("an output folder that cannot be written is exit 7, before anything runs")
def _():
    refused(assay("stat", "-o", "no/such/folder/run.assay", "--", "touch", "ran"), 7, "no/such")
    assert not os.path.exists("ran")
    if os.geteuid() != 0:
        skip("not root: cannot drop privileges to meet a closed folder")
    os.mkdir("closed", 0o755)
    os.chmod(".", 0o755)
    refused(run(*NOBODY, ASSAY, "stat", "-o", "closed/run.assay", "--", NOP), 7, "closed")


@case("a full disk is exit 7; what was measured is shown and the old file stays")
def _():
    if os.geteuid() != 0:
        skip("not root: cannot mount a small tmpfs")
    os.mkdir("small")
    if run("mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", "small").status != 0:
        skip("cannot mount a tmpfs here")
    try:
        r = assay("stat", "-o", "small/run.assay", "-r", "2000", "-I", "1", "-e",
                  ",".join(["task-clock"] * 50), "--", NOP, limit_s=120)
        assert r.status == 7 and "no space" in r.err, r
        assert "task-clock" in r.err, r
        with open("small/old.json", "w", encoding="ascii") as f:
            f.write("old")
        run("sh", "-c", "dd if=/dev/zero of=small/fill bs=1k 2>/dev/null")
        r = assay("stat", "--json=small/old.json", "--", NOP)
        assert r.status == 7 and "no space" in r.err, r
        with open("small/old.json", encoding="ascii") as f:
            assert f.read() == "old"
        assert not [n for n in os.listdir("small") if n.endswith(".tmp")]
    finally:
        run("umount", "small")


@case("the whole machine can be counted while a program runs")
def _():
    if os.geteuid() != 0:
        skip("not root")
    d = stat("-a", "-e", "cpu-clock,context-switches", "--", "sleep", "0.1")
    e = events(d)
    assert e["cpu-clock"]["value"] > 0.09e9 * os.cpu_count(), e
    assert d["data"]["summary"]["cpu_ns"] is None, d


@case("--agent is plain ASCII within 40 lines and ends with the next command")
def _():
    r = assay("stat", "--agent", "--", NOP)
    lines = r.err.splitlines()
    assert r.err.isascii() and len(lines) <= 40 and lines[-1].startswith("next: assay "), r


@case("words with newlines and escapes are shown on one line, as a shell reads them back")
def _():
    words = ("sh", "-c", "true\n" * 60, "\033[2J", "a b")
    target = stat("--", *words)["data"]["target"]
    assert "\n" not in target and "\033" not in target, target
    back = run(need("bash"), "-c", f"printf '%s\\0' {target}")
    assert back.out.split("\0")[:-1] == list(words), back
    for form in ((), ("--agent",)):
        r = assay("stat", *form, "--", *words)
        assert r.status == 0 and "\033" not in r.err and len(r.err.splitlines()) <= 40, r
    r = assay("stat", "--", "true", *map(str, range(20000)))
    assert r.status == 0 and len(r.err) < 5000, len(r.err)


@case("with no right to count what others run there is no result, and that is exit 6")
def _():
    if os.geteuid() != 0:
        skip("not root, so nothing to drop")
    with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as f:
        if int(f.read()) <= 0:
            skip("perf_event_paranoid lets everybody count the whole machine")
    r = run(*NOBODY, ASSAY, "stat", "-a", "-e", "task-clock,page-faults,cpu-migrations", "--", NOP)
    assert r.status == 6 and "not permitted" in r.err, r
    # For one program 1 would do, for the whole machine it does not.
    assert "perf_event_paranoid=0" in r.err and "perf_event_paranoid=1" not in r.err, r


main()
