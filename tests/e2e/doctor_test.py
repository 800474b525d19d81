#!/usr/bin/env python3
"""doctor_test.py ASSAY - the built program itself: the contract of `assay doctor`, its runtime really
preloaded, nothing left behind.  A truth the machine cannot show is skipped with its reason."""
import json
import os
import shutil
import subprocess
import sys

ASSAY = sys.argv[1]
STATUSES = {"ok", "limited", "no"}


def run(*words, prefix=()):
    return subprocess.run([*prefix, ASSAY, "doctor", *words], capture_output=True, text=True,
                          timeout=60, check=False)


def document(**more):
    done = run("--json", **more)
    assert done.returncode == 0, done.stderr
    assert done.stderr == "", done.stderr
    return json.loads(done.stdout)


def capabilities(doc):
    return {c["name"]: c for c in doc["data"]["capabilities"]}


def the_json_keeps_the_contract():
    doc = document()
    assert doc["schema"] == "assay.doctor/1" and doc["partial"] is False
    found = capabilities(doc)
    assert len(found) == len(doc["data"]["capabilities"]) >= 20
    for one in found.values():
        assert one["status"] in STATUSES and one["reason"], one
        assert (one["fix"] is None) == (one["status"] == "ok"), one
    assert doc["data"]["target"] is None and doc["data"]["target_reason"]


def the_runtime_is_preloaded_from_beside_the_program():
    assert capabilities(document())["preload"]["status"] == "ok"


def a_program_alone_says_where_its_runtime_should_be(folder="/tmp"):
    path = os.path.join(folder, f"assay-alone-{os.getpid()}")
    shutil.copy(ASSAY, path)
    try:
        done = subprocess.run([path, "doctor", "--json"], capture_output=True, check=True)
    finally:
        os.unlink(path)
    preload = capabilities(json.loads(done.stdout))["preload"]
    assert preload["status"] == "no" and "libassay-rt.so" in preload["reason"], preload


def the_agent_text_is_short_ascii_and_ends_with_a_command():
    done = run("--agent")
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and len(lines) <= 40 and done.stdout.isascii()
    assert lines[-1].startswith("next: assay "), lines[-1]


def nothing_is_left_behind():
    if os.geteuid() or not shutil.which("bpftool"):
        return "needs root and bpftool"
    before = subprocess.run(["bpftool", "prog", "list"], capture_output=True, check=True).stdout
    run()
    after = subprocess.run(["bpftool", "prog", "list"], capture_output=True, check=True).stdout
    assert before.count(b"assay_probe") == after.count(b"assay_probe") == 0
    return None


def what_root_would_add_is_told_to_nobody_only():
    if os.geteuid() or not shutil.which("setpriv"):
        return "needs root and setpriv"
    nobody = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
    if subprocess.run([*nobody, ASSAY, "--version"], capture_output=True, check=False).returncode:
        return "nobody cannot reach the build folder"
    doc = document(prefix=nobody)
    assert capabilities(doc)["privileges"]["status"] == "limited"
    if capabilities(document())["privileges"]["status"] == "ok":
        assert "bpf" in doc["data"]["root_adds"], doc["data"]["root_adds"]
        assert document()["data"]["root_adds"] == []
    return None


def every_capability_is_in_the_manual():
    page = os.path.join(os.path.dirname(__file__), "../../docs/commands/doctor.md")
    with open(page, encoding="utf-8") as f:
        text = f.read()
    for name in capabilities(document()):
        assert f"`{name}`" in text, f"docs/commands/doctor.md lacks {name}"


def main():
    tests = [the_json_keeps_the_contract, the_runtime_is_preloaded_from_beside_the_program,
             a_program_alone_says_where_its_runtime_should_be,
             the_agent_text_is_short_ascii_and_ends_with_a_command, nothing_is_left_behind,
             what_root_would_add_is_told_to_nobody_only, every_capability_is_in_the_manual]
    failed = 0
    print(f"1..{len(tests)}")
    for number, test in enumerate(tests, 1):
        try:
            reason = test()
            print(f"ok {number} {test.__name__}" + (f" # SKIP {reason}" if reason else ""))
        except (AssertionError, subprocess.SubprocessError, KeyError, ValueError) as e:
            failed += 1
            print(f"not ok {number} {test.__name__}\n# {e!r}")
    sys.exit(failed > 0)


main()
