"""What the tests say about themselves: second tries and unstable cases are counted and named."""
import json
import os
import re
import shutil
import sys
import unittest.mock

import busy
from tap import SOURCE, case, main, run, script

SUMMARY = os.path.join(SOURCE, "tools", "test-summary")
HEAD = """import sys
import busy
from tap import case, chance, main, measured, skip
tries = []
"""
FLAKY = """
@measured("a measurement")
def _():
    tries.append(1)
    assert len(tries) > %d, "it was # 7\\nand more"
"""


def program(*parts):
    """A program of cases, run in a folder of its own: what it said, and its exit status."""
    with open("cases.py", "w", encoding="utf-8") as file:
        file.write("".join((HEAD, *parts, "\nmain()\n")))
    return run(sys.executable, "cases.py", env={
        "ASSAY": os.path.abspath("assay"), "PYTHONPATH": os.path.join(SOURCE, "tests", "e2e"),
        "PYTHONDONTWRITEBYTECODE": "1", "ASSAY_TEST_SEED": None})


def test(name, r):
    """The row that meson writes about a program."""
    return {"name": f"assay:e2e / {name}", "stdout": r.out, "stderr": r.err,
            "result": "FAIL" if r.status else "OK"}


def summary(*tests):
    with open("testlog.json", "w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in tests)
    r = run(SUMMARY, "testlog.json")
    return r.status, r.out.splitlines()


@case("a measurement that is right on its second try passes, is counted and named with its reason")
def _():
    status, lines = summary(test("flaky", program(FLAKY % 1)), test("right", program(FLAKY % 0)))
    assert status == 0, lines
    assert lines == ["0 unstable",
                     "second try flaky: a measurement (cases.py:9: AssertionError: it was # 7)",
                     "1 passed on a second try", "2 passed, 0 failed, 0 skipped"], lines


@case("a measurement that is wrong twice fails on a quiet machine")
def _():
    r = program("busy.LIMIT = busy.SLOWED_LIMIT = 1e9\n", FLAKY % 2)
    assert r.status == 1, r
    status, lines = summary(test("wrong", r))
    assert status == 1 and lines[0] == "FAIL wrong: a measurement", lines
    assert lines[-3:] == ["0 unstable", "0 passed on a second try",
                          "0 passed, 1 failed, 0 skipped"], lines
    assert "other programs used" in lines[-4], lines


@case("and is unstable on a busy one: counted by itself, named with the reason, and no failure")
def _():
    r = program("busy.LIMIT = -1e9\n", FLAKY % 2, '@case("sure")\ndef _():\n    pass\n')
    assert r.status == 0, r
    status, lines = summary(test("wrong", r))
    assert status == 0, lines
    assert re.fullmatch(r"unstable wrong: a measurement \(other programs used -?\d+ % of the "
                        r"CPUs, and the host slowed them by \d+ %: "
                        r"cases.py:10: AssertionError: it was # 7\)", lines[0]), lines
    assert lines[1:] == ["1 unstable", "0 passed on a second try",
                         "1 passed, 0 failed, 0 skipped"], lines


@case("a case that is no measurement has one try, and fails on the busiest machine")
def _():
    r = program("busy.LIMIT = -1e9\n", FLAKY.replace("@measured", "@case") % 1)
    status, lines = summary(test("once", r))
    assert r.status == 1 and status == 1, (r, lines)
    assert lines[0] == "FAIL once: a measurement", lines
    assert lines[-1] == "0 passed, 1 failed, 0 skipped", lines


@case("an error that is no wrong result, as a crash of assay, fails at once")
def _():
    with open("assay", "w", encoding="ascii") as file:
        file.write("#!/bin/sh\nkill -SEGV $$\n")
    os.chmod("assay", 0o755)
    for body in ("assay('x')", "{}['key']"):
        r = program("busy.LIMIT = -1e9\nfrom tap import assay\n",
                    FLAKY.replace("assert", f"{body}; assert") % 0)
        assert r.status == 1 and r.out.count("Traceback") == 1, r
        status, lines = summary(test("dies", r))
        assert status == 1 and lines[-3:] == ["0 unstable", "0 passed on a second try",
                                              "0 passed, 1 failed, 0 skipped"], lines


@case("a hang fails at once, and so does a crash of any program of the build folder")
def _():
    script("victim", "kill -SEGV $$")
    for body in ("run('sleep', '9', limit_s=0.1)", "wait_for(lambda: False, 0.1)",
                 f"run({os.path.abspath('victim')!r})"):
        r = program("busy.LIMIT = -1e9\nfrom tap import run, wait_for\n",
                    FLAKY.replace("assert", f"{body}; assert") % 2)
        assert r.status == 1 and r.out.count("Traceback") == 1, (body, r)


@case("what an orphan uses is ours, alive or ended, and it does not stay as a zombie")
def _():
    r = program('''
import os
import signal
import subprocess
import time
from tap import cpu_s_below, wait_for
SPIN = "echo $$ >pid.new; mv pid.new pid; i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"
@case("orphans")
def _():
    for end in (SPIN, SPIN + "; exec sleep 600"):
        before = busy.now()[2]
        with subprocess.Popen(["sh", "-c", f"sh -c '{end}' & wait"]) as tool:
            wait_for(lambda: os.path.exists("pid"))
            tool.kill()
        with open("pid", encoding="ascii") as file:
            pid = int(file.read())
        os.remove("pid")
        if "sleep" in end:
            wait_for(lambda: open(f"/proc/{pid}/comm").read() == "sleep\\n")
        else:
            wait_for(lambda: not os.path.exists(f"/proc/{pid}"), 10)
        used = busy.now()[2] - before
        assert used > 0.05, used
        if "sleep" in end:
            os.kill(pid, signal.SIGKILL)
''')
    assert r.status == 0, r


@case("others are what all CPUs did without the case's own programs")
def _():
    watch = busy.Watch()
    total, worked, ours = watch.begin
    assert total > worked > 0 and ours > 0, watch.begin
    for added, share in (((1000, 590, 5.0), .09), ((1000, 500, 5.0), 0), ((1000, 900, 0.0), .9)):
        with unittest.mock.patch.object(busy, "now", lambda a=added: (
                total + a[0], worked + a[1], ours + a[2])):
            with unittest.mock.patch.object(busy, "pace", lambda: [8] * 9 + [10]):
                assert watch.busy() == (share > busy.LIMIT), (added, watch.share)
        assert abs(watch.share - share) < 1e-9, (added, watch.share)
    assert watch.reason() == "other programs used 90 % of the CPUs, and the host slowed them by " \
        "2 %", watch.reason()


@case("a host that slows the CPU is seen in a loop that always does the same")
def _():
    assert busy.slowed([7] * 100) == 0 and abs(busy.slowed([10] * 50 + [30] * 50) - .5) < 1e-9
    assert all(each > 0 for each in busy.pace(20))
    for times, seen in (([10] * 90 + [17] * 10, False), ([10] * 50 + [17] * 50, True)):
        watch = busy.Watch()
        quiet = watch.begin
        with unittest.mock.patch.object(busy, "pace", lambda t=times: t), \
                unittest.mock.patch.object(busy, "now", lambda q=quiet: (q[0] + 1000, *q[1:])):
            assert watch.busy() == seen, watch.reason()


@case("skips are listed by reason, and a program that dies is a failure")
def _():
    r = program('@case("a")\ndef _():\n    skip("no perf")\n', '@case("b")\ndef _():\n'
                '    skip("no perf")\n', '@case("c")\ndef _():\n    sys.exit(3)\n')
    assert r.status == 3, r
    status, lines = summary(test("dies", r))
    assert status == 1 and "FAIL dies: ended with fail after 2 of 3 cases" in lines, lines
    assert "skip dies: 2 cases (no perf)" in lines, lines
    assert lines[-1] == "0 passed, 1 failed, 2 skipped", lines
    assert summary()[0] == 1, "nothing ran at all"


@case("chance is the same in each run, and the seed is told")
def _():
    body = '@case("draw")\ndef _():\n    print("#", chance.random())\n'
    first, again = program(body), program(body)
    assert first.out == again.out and "# seed: 1 (ASSAY_TEST_SEED)" in first.out, first
    other = program(body.replace("draw", "other"))
    assert other.out.splitlines()[2] != first.out.splitlines()[2], (first, other)


@case("a second try waits until the other tests are out, and they wait for its end")
def _():
    beside = HEAD + '''
import os, time
@measured("slow")
def _():
    tries.append(1)
    with open("log", "a", encoding="ascii") as file:
        file.write(f"{sys.argv[2]} in\\\\n")
    time.sleep(0.3)
    with open("log", "a", encoding="ascii") as file:
        file.write(f"{sys.argv[2]} out\\\\n")
    assert len(tries) > 1, "x"
main()
'''.replace("\\\\n", "\\n").replace('"log"', repr(os.path.abspath("log")))
    with open("beside.py", "w", encoding="utf-8") as file:
        file.write(beside)
    both = script("both", *(f"{sys.executable} beside.py slow {name} &" for name in "ab"), "wait")
    r = run(both, env={"ASSAY": os.path.abspath("assay"), "PYTHONDONTWRITEBYTECODE": "1",
                       "PYTHONPATH": os.path.join(SOURCE, "tests", "e2e")})
    assert r.out.count("# second try: ") == 2, r
    with open("log", encoding="ascii") as file:
        lines = file.read().split()
    steps = list(zip(lines[::2], lines[1::2]))
    seconds = [i for i, step in enumerate(steps) if steps[:i + 1].count(step) == 2]
    ins = [i for i in seconds if steps[i][1] == "in"]
    assert len(ins) == 2, steps
    for i in ins:  # nothing between in and out of a second try, and nobody was in before it
        assert steps[i + 1] == (steps[i][0], "out"), steps
        assert sum(1 if what == "in" else -1 for _, what in steps[:i]) == 0, steps


@case("a program of cases that a case runs is in the place of that case")
def _():
    with open("inner.py", "w", encoding="utf-8") as file:
        file.write(HEAD + FLAKY % 1 + "\nmain()\n")
    r = program(f'''
from tap import run
@measured("outer", alone=True)
def _():
    r = run(sys.executable, {os.path.abspath("inner.py")!r}, limit_s=30)
    assert "# second try: " in r.out, r
''')
    assert r.status == 0 and r.out.splitlines()[-1] == "ok 1 - outer", r


@case(".ci/run adds up its steps, and names second tries and unstable cases once more")
def _():
    for folder in (".ci", "tools", "bin"):
        os.mkdir(folder)
    shutil.copy(os.path.join(SOURCE, ".ci", "run"), ".ci")
    script("bin/make", 'case $1 in', "test) echo 'unstable a: b (c)'; echo '1 unstable'",
           "echo 'second try d: e (f)'; echo '1 passed on a second try'",
           "echo '5 passed, 0 failed, 2 skipped' ;;", "demo) echo demo ;;",
           "*) echo '0 unstable'; echo '0 passed on a second try'",
           "echo '3 passed, 0 failed, 1 skipped' ;;", "esac")
    for name in ("bin/meson", "bin/ninja", "tools/setup", "tools/fuzz-smoke"):
        script(name, "true")
    script("tools/run-tests", "echo 'second try g: h (i)'", "echo '1 passed on a second try'",
           "echo '2 passed, 0 failed, 0 skipped'")
    r = run(".ci/run", env={"PATH": f"{os.path.abspath('bin')}:/usr/bin:/bin"})
    assert r.status == 0, r
    assert r.out.splitlines()[-6:] == [
        "unstable test: a: b (c)", "1 unstable", "second try test: d: e (f)",
        "second try sanitizers: g: h (i)", "2 passed on a second try",
        "16 passed, 0 failed, 4 skipped"], r


main()
