"""assay tune: nothing without a yes, and every old value back, whatever dies in between."""
import json
import os
import pty
import random
import signal
import subprocess
import time

from tap import ASSAY, assay, case, main, need, run, skip

CPU = "sys/devices/system/cpu/"
POLICIES = 16
PLAIN = {
    CPU + "intel_pstate/no_turbo": "0",
    "proc/sys/kernel/nmi_watchdog": "1",
    "proc/sys/kernel/timer_migration": "1",
    "proc/sys/kernel/numa_balancing": "1",
    "proc/sys/kernel/perf_event_paranoid": "4",
    "proc/sys/vm/swappiness": "60",
    "sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never",
    CPU + "smt/control": "on",
}
SWAPPINESS = "/proc/sys/vm/swappiness"


def put(root, path, text):
    path = os.path.join(root, path.lstrip("/"))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text + "\n")


def tree():
    """A machine of plain files; returns its folder and what assay has to be told."""
    root = os.path.abspath("machine")
    put(root, "proc/sys/kernel/random/boot_id", "11-22-33")
    for path, value in PLAIN.items():
        put(root, path, value)
    for i in range(POLICIES):
        folder = f"{CPU}cpufreq/policy{i}/"
        put(root, folder + "scaling_governor", "powersave")
        put(root, folder + "scaling_available_governors", "performance powersave")
        put(root, folder + "energy_performance_preference", "balance_power")
        put(root, folder + "scaling_min_freq", str(800000 + i))
        put(root, folder + "scaling_max_freq", "4700000")
    return root, {"ASSAY_TUNE_ROOT": root}


def values(root):
    """path -> first line, or the word in brackets, of every setting."""
    found = {}
    for folder, _, files in os.walk(root):
        for name in files:
            path = os.path.join(folder, name)
            if "/var/lib/" not in path:
                with open(path, encoding="utf-8") as file:
                    line = file.readline().strip()
                found[path] = line.split("[")[1].split("]")[0] if "[" in line else line
    return found


def rows_of(result):
    document = json.loads(result.out)
    assert document["schema"] == "assay.tune/1", document
    return {row["path"]: row for row in document["data"]["rows"]}


def start(*words, env):
    return subprocess.Popen([ASSAY, "tune", *words], env={**os.environ, **env},
                            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL, start_new_session=True)


def wait_for(condition, what):
    for _ in range(600):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError(f"still waiting for {what}")


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
    agent = assay("tune", "plan", "--agent", env=env)
    assert agent.out.isascii() and len(agent.out.splitlines()) <= 40, agent
    assert agent.out.splitlines()[-1].endswith("assay tune apply"), agent


@case("without a terminal and without --yes nothing is changed, and the way out is told")
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
    assert r.status == 0 and "nothing is changed" in r.out, r


@case("kill -9 at any moment of apply or revert: revert brings every value back")
def _():
    root, env = tree()
    before = values(root)
    begun = time.monotonic()
    assert assay("tune", "apply", "--yes", env=env).status == 0
    length_s = time.monotonic() - begun
    tuned = values(root)
    assert assay("tune", "revert", env=env).status == 0
    partly = 0
    for seed in range(40):
        moment = random.Random(seed)
        # Reverting writes all values in its first milliseconds, then the journal.
        for words, power in ((["apply", "--yes"], 1), (["revert"], 4)):
            child = start(*words, env=env)
            time.sleep(length_s * moment.random() ** power)
            child.kill()
            child.wait()
            partly += values(root) not in (before, tuned)
        r = assay("tune", "revert", env=env)
        assert r.status == 0 and "left" not in r.out and "stuck" not in r.out, (seed, str(r))
        now = values(root)
        wrong = {p: (v, now[p]) for p, v in before.items() if now[p] != v}
        assert not wrong, (seed, wrong)
    assert partly, "no kill hit between the first and the last write"


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
    assert "nothing is changed" in assay("tune", "status", env=env).out


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
        wait_for(lambda: os.path.exists("started"), "the program")
        assert values(root) != before
        os.unlink("started")
        target = int(run("sh", "-c", f"cat /proc/{child.pid}/task/*/children").out.split()[0])
        targets = run("sh", "-c", f"cat /proc/{target}/task/*/children").out.split()
        if whole:
            os.killpg(child.pid, signal.SIGKILL)
        else:
            child.kill()
        child.wait()
        wait_for(lambda: values(root) == before, "the guardian")
        for pid in targets:  # the sleep, which runs on as the spawner promises
            try:
                os.kill(int(pid), signal.SIGKILL)
            except ProcessLookupError:
                pass
        wait_for(lambda: assay("tune", "status", env=env).out.startswith("status: nothing"),
                 "the journal's end")


@case("Ctrl-C during run ends the program, reverts and exits with 130")
def _():
    root, env = tree()
    before = values(root)
    child = start("run", "--yes", "--", "sh", "-c", "echo > started; exec sleep 60", env=env)
    wait_for(lambda: os.path.exists("started"), "the program")
    child.send_signal(signal.SIGINT)
    assert child.wait() == 130
    assert values(root) == before


@case("while a run holds the machine nobody else changes it")
def _():
    root, env = tree()
    child = start("run", "--yes", "--", "sh", "-c", "echo > started; exec sleep 60", env=env)
    wait_for(lambda: os.path.exists("started"), "the program")
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
    assert "earlier boot" in r.out and "status: nothing is changed" in r.out, r
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
    assert r.status == 0 and "not assay's" in r.out, r
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


@case("the real machine: one harmless knob there and back")
def _():
    if os.getuid() != 0 or not os.access(SWAPPINESS, os.W_OK):
        skip("vm.swappiness is not ours to write")
    with open(SWAPPINESS, encoding="ascii") as file:
        old = file.read().strip()
    if assay("tune", "status", "--agent").out.splitlines()[0] != "status: nothing is changed":
        skip("this machine is tuned already")
    if int(old) <= 1:
        skip(f"vm.swappiness is {old} already")
    try:
        r = assay("tune", "run", "--yes", "--only", "swappiness", "--", "cat", SWAPPINESS)
        assert r.status == 0 and r.out.split()[0] == "1", r
    finally:
        assert assay("tune", "revert").status == 0
        with open(SWAPPINESS, encoding="ascii") as file:
            assert file.read().strip() == old


main()
