"""assay tune: nothing without a yes, and every old value back, whatever dies in between."""
import json
import os
import pty
import signal
import subprocess
import time

from fake_machine import CPU, POLICIES, SWAPPINESS, put, tree, values
from tap import ASSAY, assay, case, chance, main, need, own_mounts, run, skip, wait_for


def rows_of(result):
    document = json.loads(result.out)
    assert document["schema"] == "assay.tune/1", document
    return {row["path"]: row for row in document["data"]["rows"]}


def start(*words, env):
    return subprocess.Popen([ASSAY, "tune", *words], env={**os.environ, **env},
                            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL, start_new_session=True)


@case("a plan lists each knob with its reason and risk, and changes nothing")
def _():
    root, env = tree()
    before = values(root)
    r = assay("tune", "plan", "--json", env=env)
    assert r.status == 0, r
    rows = rows_of(r)
    row = rows[SWAPPINESS]
    assert (row["now"], row["wanted"], row["state"]) == ("60", "1", "change"), row
    assert row["why"] and row["risk"], row
    assert rows["/" + CPU + "smt/control"]["optional"] is True
    boost = rows["/" + CPU + "cpufreq/boost"]
    assert boost["state"] == "absent" and boost["now"] is None and boost["now_reason"], boost
    text = assay("tune", "plan", env=env)
    assert text.out.count("powersave -> performance") == 1, text  # 16 files, one line
    assert values(root) == before and not os.path.exists(root + "/var")
    assert boost["reason"] != boost["why"] and "cpufreq" in boost["reason"], boost
    assert "absent: boost (" in text.out, text
    agent = assay("tune", "plan", "--agent", env=env)
    assert agent.out.isascii() and len(agent.out.splitlines()) <= 40, agent
    assert agent.out.splitlines()[-1].endswith("assay tune apply"), agent


@case("without a terminal and without --yes nothing changes, and the way out is told")
def _():
    root, env = tree()
    before = values(root)
    for words in (["apply"], ["run", "--", "true"]):
        r = assay("tune", *words, env=env)
        assert r.status == 2 and "--yes" in r.err, r
    assert values(root) == before


@case("on a terminal each group is asked for, and only a yes changes it")
def _():
    root, env = tree()
    before = values(root)
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(ASSAY, ["assay", "tune", "apply"], {**os.environ, **env})
    seen = b""
    answers = {b"frequency": b"n\n", b"quiet": b"\n", b"memory": b"y\n"}
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:
            break
        if not piece:
            break
        seen += piece
        for group in [g for g in answers if b"group " + g + b"? [y/N]" in seen]:
            os.write(terminal, answers.pop(group))
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(status) == 0 and not answers, seen.decode()
    now = values(root)
    changed = {path[len(root):] for path in before if now[path] != before[path]}
    assert changed == {SWAPPINESS, "/proc/sys/kernel/numa_balancing",
                       "/sys/kernel/mm/transparent_hugepage/enabled"}, changed


@case("apply, twice, then revert: every value is the first one; a second revert does nothing")
def _():
    root, env = tree()
    before = values(root)
    for count in (5 + 1 + 3 * POLICIES, 0):
        r = assay("tune", "apply", "--yes", "--json", env=env)
        assert r.status == 0, r
        states = [row["state"] for row in rows_of(r).values()]
        assert states.count("applied") == count and "failed" not in states, (count, states)
    now = values(root)
    assert now[f"{root}/{CPU}cpufreq/policy3/scaling_min_freq"] == "4700000"
    assert now[f"{root}/{CPU}smt/control"] == "on"  # only when asked
    assert now[f"{root}/proc/sys/kernel/perf_event_paranoid"] == "4"
    r = assay("tune", "status", "--json", env=env)
    assert {row["state"] for row in rows_of(r).values()} == {"active"}, r
    r = assay("tune", "revert", "--json", env=env)
    assert r.status == 0 and {x["state"] for x in rows_of(r).values()} == {"reverted"}, r
    assert values(root) == before
    r = assay("tune", "revert", env=env)
    assert r.status == 0 and "no setting is changed now" in r.out, r


def killed_at_write(count, *words, env=None):
    """assay tune, killed with SIGKILL at its write number `count`, or to its end without."""
    return run(need("strace"), "-qq", "-o", "/dev/null", "-e", "trace=write", "-e",
               f"inject=write:signal=KILL:when={count}", ASSAY, "tune", *words, env=env)


@case("kill -9 at any write of apply or revert: revert brings every value back")
def _():
    root, env = tree()
    before = values(root)
    assert assay("tune", "apply", "--yes", env=env).status == 0
    tuned = values(root)
    assert assay("tune", "revert", env=env).status == 0
    partly = 0
    for trial in range(24):
        killed_at_write(chance.randint(1, 2 * len(tuned)), "apply", "--yes", env=env)
        partly += values(root) not in (before, tuned)
        killed_at_write(chance.randint(1, len(tuned)), "revert", env=env)
        partly += values(root) not in (before, tuned)
        r = assay("tune", "revert", env=env)
        assert r.status == 0 and "left" not in r.out and "stuck" not in r.out, (trial, str(r))
        now = values(root)
        wrong = {p: (v, now[p]) for p, v in before.items() if now[p] != v}
        assert not wrong, (trial, wrong)
    assert partly, "no kill hit between the first and the last write"


@case("kill -9 at a random moment: revert brings every value back")
def _():
    root, env = tree()
    before = values(root)
    for trial in range(24):
        for words in (["apply", "--yes"], ["revert"]):
            child = start(*words, env=env)
            time.sleep(chance.uniform(0, 0.02))
            child.kill()
            child.wait()
        r = assay("tune", "revert", env=env)
        assert r.status == 0 and "left" not in r.out and "stuck" not in r.out, (trial, str(r))
        assert values(root) == before, (seed, statuses)


@case("somebody else's change is left alone, and said")
def _():
    root, env = tree()
    before = values(root)
    assert assay("tune", "apply", "--yes", env=env).status == 0
    put(root, SWAPPINESS, "33")
    r = assay("tune", "revert", "--json", env=env)
    row = rows_of(r)[SWAPPINESS]
    assert r.status == 0 and row["state"] == "left" and row["old"] == "60", r
    assert json.loads(r.out)["warnings"][0]["code"] == "tune-left", r
    assert values(root) == {**before, root + SWAPPINESS: "33"}
    assert "no setting is changed now" in assay("tune", "status", env=env).out


@case("a knob that had to be named is counted and told like the others")
def _():
    root, env = tree()
    assert assay("tune", "apply", "--yes=profiling,memory", env=env).status == 0
    r = assay("tune", "status", env=env)
    assert "status: 4 active" in r.out and "needs --only" not in r.out, r
    put(root, "proc/sys/kernel/perf_event_paranoid", "3")
    r = assay("tune", "revert", "--only", "memory", env=env)
    assert r.status == 2 and values(root)[root + SWAPPINESS] == "1", r
    r = assay("tune", "revert", "--json", env=env)
    assert r.status == 0 and json.loads(r.out)["warnings"][0]["code"] == "tune-left", r


@case("run: tuned inside, as before outside, with the program's end told")
def _():
    root, env = tree()
    before = values(root)
    r = assay("tune", "run", "--yes", "--", "cat", root + SWAPPINESS, env=env)
    assert r.status == 0 and r.out.splitlines()[0] == "1", r
    assert values(root) == before
    r = assay("tune", "run", "--yes", "--", "sh", "-c", "exit 3", env=env)
    assert r.status == 5, r
    r = assay("tune", "run", "--yes", "--target-status", "--", "sh", "-c", "exit 3", env=env)
    assert r.status == 3, r
    r = assay("tune", "run", "--yes", "--json", "--", "echo", "hello", env=env)
    data = json.loads(r.out)["data"]
    assert data["target"] == {"exit": 0, "signal": 0} and "hello" in r.err, r
    assert {row["state"] for row in data["reverted"]} == {"reverted"}, r
    r = assay("tune", "run", "--yes", "--", "./no-such-program", env=env)
    assert r.status == 5, r
    assert values(root) == before


@case("run keeps what an earlier apply has changed")
def _():
    root, env = tree()
    before = values(root)
    assert assay("tune", "apply", "--yes", "--only", "swappiness", env=env).status == 0
    assert assay("tune", "run", "--yes", "--", "true", env=env).status == 0
    assert values(root) == {**before, root + SWAPPINESS: "1"}
    assert assay("tune", "revert", env=env).status == 0
    assert values(root) == before


@case("the guardian reverts when the tool is killed, alone or with its whole process group")
def _():
    root, env = tree()
    before = values(root)
    for whole in (False, True):
        child = start("run", "--yes", "--", "sh", "-c", "echo > started; exec sleep 60", env=env)
        wait_for(lambda: os.path.exists("started"))
        assert values(root) != before
        os.unlink("started")
        target = int(run("sh", "-c", f"cat /proc/{child.pid}/task/*/children").out.split()[0])
        targets = run("sh", "-c", f"cat /proc/{target}/task/*/children").out.split()
        if whole:
            os.killpg(child.pid, signal.SIGKILL)
        else:
            child.kill()
        child.wait()
        wait_for(lambda: values(root) == before)  # by the guardian
        for pid in targets:  # the sleep, which runs on as the spawner promises
            try:
                os.kill(int(pid), signal.SIGKILL)
            except ProcessLookupError:
                pass
        wait_for(lambda: assay("tune", "status", env=env).out.startswith("status: no setting"))


@case("Ctrl-C during run ends the program, reverts and exits with 130")
def _():
    root, env = tree()
    before = values(root)
    child = start("run", "--yes", "--", "sh", "-c", "echo > started; exec sleep 60", env=env)
    wait_for(lambda: os.path.exists("started"))
    child.send_signal(signal.SIGINT)
    assert child.wait() == 130
    assert values(root) == before


@case("while a run holds the machine nobody else changes it")
def _():
    root, env = tree()
    child = start("run", "--yes", "--", "sh", "-c", "echo > started; exec sleep 60", env=env)
    wait_for(lambda: os.path.exists("started"))
    tuned = values(root)
    r = assay("tune", "revert", env=env)
    assert r.status == 6 and "another assay tune" in r.err, r
    assert str(child.pid) in r.err, r
    assert values(root) == tuned
    child.send_signal(signal.SIGTERM)
    child.wait()


@case("changes of an earlier boot are void, and said so")
def _():
    root, env = tree()
    assert assay("tune", "apply", "--yes", env=env).status == 0
    tuned = values(root)
    put(root, "proc/sys/kernel/random/boot_id", "44-55")
    r = assay("tune", "status", env=env)
    assert "earlier boot" in r.out and "status: no setting is changed now" in r.out, r
    r = assay("tune", "revert", env=env)
    assert r.status == 0 and "earlier boot" in r.out, r
    tuned[root + "/proc/sys/kernel/random/boot_id"] = "44-55"
    assert values(root) == tuned
    assert "earlier boot" not in assay("tune", "status", env=env).out


@case("a broken journal is passed over, with a warning")
def _():
    root, env = tree()
    assert assay("tune", "apply", "--yes", "--only", "swappiness", env=env).status == 0
    with open(root + "/var/lib/assay/tune/11-22-33.ndjson", "ab") as file:
        file.write(b"\xff\x00garbage\n{\"event\":")
    r = assay("tune", "revert", env=env)
    assert r.status == 0 and "foreign lines" in r.out, r
    assert values(root)[root + SWAPPINESS] == "60"


@case("wrong words are refused with the nearest right one")
def _():
    _, env = tree()
    r = assay("tune", "plan", "--only", "swapiness", env=env)
    assert r.status == 2 and "swappiness" in r.err, r
    r = assay("tune", "aply", env=env)
    assert r.status == 2 and "apply" in r.err, r
    assert assay("tune", env=env).status == 2
    r = assay("tune", "run", "--yes", env=env)
    assert r.status == 2 and "--" in r.err, r


@case("a user who is not root gets the plan, and the exact command for the rest")
def _():
    setpriv = need("setpriv")
    if os.getuid() != 0:
        skip("only root can become another user")
    root, env = tree()
    before = values(root)
    os.chmod(".", 0o755)
    nobody = [setpriv, "--reuid=65534", "--regid=65534", "--clear-groups", ASSAY, "tune"]
    if run(*nobody, "--help").status != 0:
        skip("the build folder is closed to other users")
    assert run(*nobody, "plan", env=env).status == 0
    r = run(*nobody, "apply", "--only", "swappiness", env=env)
    assert r.status == 6 and f"sudo {ASSAY} tune apply --only swappiness" in r.err, r
    assert values(root) == before


# Knobs of this machine that a test may turn for a second: nothing depends on them meanwhile.
REAL = {
    "swappiness": "/proc/sys/vm/swappiness",
    "timer_migration": "/proc/sys/kernel/timer_migration",
    "dirty_ratio": "/proc/sys/vm/dirty_ratio",
    "dirty_background_ratio": "/proc/sys/vm/dirty_background_ratio",
    "soft_watchdog": "/proc/sys/kernel/soft_watchdog",
    "perf_buffer_kb": "/proc/sys/kernel/perf_event_mlock_kb",
    "transparent_hugepages": "/sys/kernel/mm/transparent_hugepage/enabled",
    "numa_balancing": "/proc/sys/kernel/numa_balancing",
}


def line_of(path):
    with open(path, encoding="ascii") as file:
        return file.readline().strip()


class RealMachine:
    """The real knobs, put back by hand at the end, whatever happened."""

    def __enter__(self):
        self.before = {}
        for path in REAL.values():
            if os.access(path, os.W_OK):
                self.before[path] = line_of(path)
        if os.getuid() != 0 or not self.before:
            skip("no knob of this machine is ours to write")
        status = assay("tune", "status", "--agent").out
        if not status.startswith("status: no setting is changed now\n"):
            skip("this machine is tuned already")
        return self

    def now(self):
        return {path: line_of(path) for path in self.before}

    def __exit__(self, *_):
        assay("tune", "revert")
        for path, line in self.before.items():
            if line_of(path) != line:
                value = line.split("[")[1].split("]")[0] if "[" in line else line
                with open(path, "w", encoding="ascii") as file:
                    file.write(value + "\n")


ONLY = ["--only", ",".join(REAL), "--yes"]


@case("the real machine: tuned inside of run, as before outside")
def _():
    with RealMachine() as machine:
        if int(line_of(SWAPPINESS)) <= 1:
            skip("vm.swappiness is as wanted already")
        r = assay("tune", "run", *ONLY, "--", "cat", SWAPPINESS)
        assert r.status == 0 and r.out.split()[0] == "1", r
        assert machine.now() == machine.before


@case("the real machine: apply twice, told in env and in every document, and back")
def _():
    with RealMachine() as machine:
        if int(line_of(SWAPPINESS)) <= 1:
            skip("vm.swappiness is as wanted already")
        for _ in range(2):
            assert assay("tune", "apply", *ONLY).status == 0
        assert machine.now() != machine.before
        status = json.loads(assay("tune", "status", "--json").out)["data"]
        row = {row["path"]: row for row in status["rows"]}[SWAPPINESS]
        assert row["state"] == "active" and "--yes" in row["by"] and row["time_ns"], row
        tuning = json.loads(assay("env", "--json").out)["data"]["fields"]["tuning"]
        assert tuning["journal"] == status["journal_id"], tuning
        assert f"swappiness {row['old']} -> 1" in tuning["active"], tuning
        assert assay("tune", "revert").status == 0
        assert machine.now() == machine.before
        tuning = json.loads(assay("env", "--json").out)["data"]["fields"]["tuning"]
        assert tuning["active"] == "none" and tuning["journal"] is None, tuning


@case("the real machine: kill -9 at any write, then revert, 24 times")
def _():
    with RealMachine() as machine:
        partly = 0
        for seed in range(24):
            killed_at_write(1 + seed, "apply", *ONLY)
            partly += machine.now() != machine.before
            if seed % 2:
                killed_at_write(1 + seed // 2, "revert")
            r = assay("tune", "revert")
            assert r.status == 0 and "left" not in r.out, (trial, str(r))
            assert machine.now() == machine.before, seed
        assert partly, "no kill hit after the first write"


@case("a state that differs from its snapshot is exit status 1, and told")
def _():
    root, env = tree()
    r = assay("tune", "status", "--snapshot", "-o", "tuning.json", env=env)
    assert r.status == 0, r
    with open("tuning.json", encoding="utf-8") as file:
        snapshot = json.load(file)["data"]["snapshot"]
    assert {"knob": "swappiness", "path": SWAPPINESS, "value": "60"} in snapshot, snapshot
    assert assay("tune", "status", "--expect", "tuning.json", env=env).status == 0
    put(root, SWAPPINESS, "61")
    os.unlink(f"{root}/proc/sys/kernel/nmi_watchdog")
    r = assay("tune", "status", "--expect", "tuning.json", "--json", env=env)
    different = [row for row in rows_of(r).values() if row["state"] == "differs"]
    assert r.status == 1 and len(different) == 2, r
    assert {(row["now"], row["wanted"]) for row in different} == {("61", "60"), (None, "1")}, r
    r = assay("tune", "status", "--expect", "tuning.json", "--only", "numa_balancing", env=env)
    assert r.status == 0, r
    r = assay("tune", "status", "--expect", "no-such-file", env=env)
    assert r.status == 2 and len(r.err.splitlines()) == 2, r
    r = assay("tune", "status", "--expect", ASSAY, env=env)
    assert r.status == 2 and "--snapshot" in r.err, r


@case("--yes with groups agrees to these and changes only these")
def _():
    root, env = tree()
    before = values(root)
    r = assay("tune", "apply", "--yes=quiet,smt", env=env)
    assert r.status == 0, r
    now = values(root)
    changed = {path[len(root):] for path in before if now[path] != before[path]}
    assert changed == {"/proc/sys/kernel/nmi_watchdog", "/proc/sys/kernel/timer_migration",
                       "/" + CPU + "smt/control"}, changed
    assert assay("tune", "apply", "--yes=quit", env=env).status == 2
    assert assay("tune", "revert", env=env).status == 0
    assert values(root) == before
    assert assay("tune", "apply", "-y", "--only", "swappiness", env=env).status == 0
    assert values(root)[root + SWAPPINESS] == "1"


@case("settings of the program alone need no consent and change nothing else")
def _():
    root, env = tree()
    before = values(root)
    cpu = str(max(os.sched_getaffinity(0)))
    r = assay("tune", "run", "--cpus", cpu, "--no-aslr", "--", "sh", "-c",
              "grep Cpus_allowed_list /proc/self/status; cat /proc/self/personality; exit 3",
              env=env)
    assert r.status == 5, r
    assert r.out.split() == ["Cpus_allowed_list:", cpu, "00040000"], r
    r = assay("tune", "run", "--cpus", cpu, "--target-status", "--", "sh", "-c", "exit 3", env=env)
    assert r.status == 3 and r.out == "", r
    assert values(root) == before and not os.path.exists(root + "/var")
    for words in (["--cpus", "x"], ["--cpus", "2-1"], ["--cpus", ""]):
        assert assay("tune", "run", *words, "--", "true", env=env).status == 2, words
    r = assay("tune", "run", "--cpus", "1023", "--", "true", env=env)
    assert r.status == 6 and "1023" in r.err and len(r.err.splitlines()) == 2, r


@case("real-time priority and processors that stay awake are the program's, and end with it")
def _():
    if os.getuid() != 0 or not os.access("/dev/cpu_dma_latency", os.W_OK):
        skip("only root has real-time priority and /dev/cpu_dma_latency")
    r = assay("tune", "run", "--fifo", "--awake", "--json", "--", ASSAY, "env", "--json")
    document = json.loads(r.out)
    inner = json.loads(r.err)["data"]["fields"]
    assert inner["tuning"]["idle_latency"] == "0 us", inner["tuning"]
    assert "FIFO" in inner["limits"]["scheduling_policy"].upper(), inner["limits"]
    assert document["data"]["process"]["fifo"] is True, document
    outer = json.loads(assay("env", "--json").out)["data"]["fields"]
    assert outer["tuning"]["idle_latency"] != "0 us", outer["tuning"]


@case("interrupts are kept off the named processors, and come back")
def _():
    root, env = tree()
    put(root, CPU + "online", "0-3")
    put(root, "proc/irq/24/smp_affinity_list", "0-3")
    put(root, "proc/irq/25/smp_affinity_list", "0")
    r = assay("tune", "apply", "--only", "irq", "--yes", env=env)
    assert "--cpus" in r.out and values(root)[root + "/proc/irq/24/smp_affinity_list"] == "0-3", r
    r = assay("tune", "apply", "--only", "irq", "--cpus", "1,3", "--yes", env=env)
    assert r.status == 0, r
    assert values(root)[root + "/proc/irq/24/smp_affinity_list"] == "0,2"
    assert values(root)[root + "/proc/irq/25/smp_affinity_list"] == "0"
    assert assay("tune", "revert", env=env).status == 0
    assert values(root)[root + "/proc/irq/24/smp_affinity_list"] == "0-3"


def in_namespace(script, env):
    """A shell with mounts of its own."""
    return run(*own_mounts(), "sh", "-ec", script, env=env)


@case("a read-only /proc is told as denied, with the way out, and nothing changes")
def _():
    root, env = tree()
    before = values(root)
    r = in_namespace(f"mount --bind {root}/proc {root}/proc; "
                     f"mount -o remount,bind,ro {root}/proc; "
                     f"exec {ASSAY} tune apply --yes --only swappiness", env)
    assert r.status == 6 and "read-only" in r.out and "container" in r.out, r
    assert values(root) == before


@case("with a full disk for the journal nothing changes, and exit status 7")
def _():
    root, env = tree()
    before = values(root)
    os.makedirs(root + "/var/lib/assay/tune")
    for room in ("4k", "8k"):  # no page for a file, and one page for the first half of the lines
        r = in_namespace(f"mount -t tmpfs -o size={room} none {root}/var/lib/assay/tune; "
                         f"head -c {0 if room == '8k' else 4096} /dev/zero "
                         f"> {root}/var/lib/assay/tune/fill; "
                         f"exec {ASSAY} tune apply --yes", env)
        assert r.status == 7 and "changes nothing without a journal" in r.err, r
        assert values(root) == before


@case("two at once: one waits or is refused, and every value comes back")
def _():
    root, env = tree()
    before = values(root)
    for seed in range(6):
        children = [start(*words, env=env) for words in
                    (["apply", "--yes"], ["revert"], ["apply", "--yes"], ["revert"])]
        statuses = [child.wait() for child in children]
        assert set(statuses) <= {0, 6}, (seed, statuses)
        assert assay("tune", "revert", env=env).status == 0
        assert values(root) == before, (seed, statuses)


@case("a plan tells who uses the processors now")
def _():
    with subprocess.Popen(["sh", "-c", "while :; do :; done"]) as child:
        try:
            data = json.loads(assay("tune", "plan", "--json").out)["data"]
        finally:
            child.kill()
    assert data["busy_seconds"] > 0 and 1 <= len(data["busy"]) <= 3, data["busy"]
    assert {noise["name"] for noise in data["noise"]} >= {"load"}, data["noise"]
    assert all(0 < busy["cpus"] for busy in data["busy"]), data["busy"]
    r = json.loads(assay("tune", "plan", "--no-noise", "--json").out)["data"]
    assert r["busy"] == [] and r["busy_seconds"] is None and r["busy_seconds_reason"], r


main()
