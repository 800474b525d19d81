"""`assay doctor`: the contract, its runtime really preloaded, programs, nothing left behind."""
import json
import os
import re
import shutil

from tap import ASSAY, SOURCE, assay, case, main, need, run, skip

NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--")


def document(*words, prefix=()):
    r = run(*prefix, ASSAY, "doctor", "--json", *words)
    assert r.status == 0 and r.err == "", r
    return json.loads(r.out)


def capabilities(d):
    return {c["name"]: c for c in d["data"]["capabilities"]}


@case("every capability in the document has a status, a reason, and a fix if it is not ok")
def _():
    d = document()
    assert d["schema"] == "assay.doctor/1" and d["partial"] is False and d["fingerprint"]["key"], d
    found = capabilities(d)
    assert len(found) == len(d["data"]["capabilities"]) >= 20
    for one in found.values():
        assert one["status"] in {"ok", "limited", "no"} and one["reason"], one
        assert (one["fix"] is None) == (one["status"] == "ok"), one
    assert d["data"]["target"] is None and d["data"]["target_reason"]


@case("the runtime is preloaded from beside the program")
def _():
    assert capabilities(document())["preload"]["status"] == "ok"


@case("a program alone says where its runtime should be")
def _():
    shutil.copy(ASSAY, "alone")
    preload = capabilities(json.loads(run("./alone", "doctor", "--json").out))["preload"]
    assert preload["status"] == "no" and "libassay-rt.so" in preload["reason"], preload


@case("libc's debug file is found where report finds it, also in a cache")
def _():
    objcopy, readelf = need("objcopy"), need("readelf")
    path = re.search(r"libc\.so\S* => (\S+)", run(need("ldd"), ASSAY).out)[1]
    build_id = re.search(r"Build ID: (\w+)", run(readelf, "-n", path).out)[1]
    folder = os.path.abspath(f"cache/debuginfod_client/{build_id}")
    os.makedirs(folder)
    with open("info", "wb") as f:
        f.write(bytes(64))
    done = run(objcopy, "--add-section", ".debug_info=info", path, f"{folder}/debuginfo")
    assert done.status == 0, done
    place = {"XDG_CACHE_HOME": os.path.abspath("cache"), "DEBUGINFOD_URLS": ""}
    d = document(prefix=["env"] + [f"{key}={value}" for key, value in place.items()])
    found = capabilities(d)["debug-files"]
    assert found["status"] == "ok", found
    assert f"in {folder}" in found["reason"] or "in /usr/lib/debug" in found["reason"], found


@case("--agent is short plain ASCII and ends with the next command, also with a program")
def _():
    for words in ((), ("/bin/ls",)):
        r = assay("doctor", "--agent", *words)
        lines = r.out.splitlines()
        assert r.status == 0 and len(lines) <= 40 and r.out.isascii(), r
        assert lines[-1].startswith("next: assay "), r


@case("nothing is left behind in the kernel")
def _():
    if os.geteuid():
        skip("not root")
    bpftool = need("bpftool")
    assay("doctor")
    assert "assay_probe" not in run(bpftool, "prog", "list").out


@case("what root would add is told to those who are not root")
def _():
    if os.geteuid():
        skip("not root, so nothing to drop")
    need("setpriv")
    if run(*NOBODY, ASSAY, "--version").status:
        skip("nobody cannot reach the build folder")
    d = document(prefix=NOBODY)
    assert capabilities(d)["privileges"]["status"] == "limited", d
    if capabilities(document())["privileges"]["status"] == "ok":
        assert "kernel-stacks" in d["data"]["root_adds"], d["data"]["root_adds"]
        assert document()["data"]["root_adds"] == []


@case("every capability is in the manual")
def _():
    with open(os.path.join(SOURCE, "docs/commands/doctor.md"), encoding="utf-8") as f:
        text = f.read()
    for name in capabilities(document()):
        assert f"`{name}`" in text, f"docs/commands/doctor.md lacks {name}"


@case("Debian's ls: a stripped PIE with a build-id, found through PATH")
def _():
    t = document("ls")["data"]["target"]
    assert t["path"].endswith("/ls") and t["build_id"], t
    assert {f["name"] for f in t["findings"]} >= {"symbols", "frame pointers"}, t["findings"]


@case("a program of the fingerprint: env -- PROGRAM has a build group")
def _():
    r = assay("env", "--json", "--", "/bin/ls")
    build = json.loads(r.out)["data"]["fields"]["build"]
    assert build["build_id"] and build["size_bytes"], build


@case("what is no program is refused with one sentence, a way out and status 5")
def _():
    with open("text", "w", encoding="ascii") as f:
        f.write("just text\n")
    for word in ("no-such-program", "./text", "/"):
        r = assay("doctor", word)
        assert r.status == 5 and len(r.err.splitlines()) == 2, r


main()
