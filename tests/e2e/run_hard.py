"""`assay run` when something goes wrong: endless programs, Ctrl-C, kill -9, a full disk, no rights.

No program is harmed, and the directory says the truth about itself."""
import os
import shutil
import signal
import subprocess
import time

from run_parts import FOLDER, SHORT, manifest, phase, program, read
from tap import ASSAY, assay, case, main, measured, need, run, script, skip, wait_for


def ended(pid):
    """Whether a process has ended, or is a zombie."""
    try:
        return ") Z " in read(f"/proc/{pid}/stat")
    except (FileNotFoundError, ProcessLookupError):
        return True


def started(*words, **how):
    """assay in the background, with its words in files."""
    out, err = open("out", "wb"), open("err", "wb")
    return subprocess.Popen([ASSAY, *words], stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                            start_new_session=True, **how)


@measured("a program without an end is watched for a while in each phase, and stopped")
def _():
    path = script("server", "echo $$ >> pids", "while :; do :; done")
    r = assay("run", "--budget", "10s", "-o", "d", "--", path, limit_s=180)
    assert r.status in (0, 3), r
    assert "did not end by itself" in r.out, r
    assert phase("trial", "d")["outcome"] == "watched"
    assert phase("profile", "d")["outcome"] == "watched", phase("profile", "d")
    assert phase("baseline", "d")["reason"], phase("baseline", "d")
    assert manifest("d")["state"] == "complete"
    for pid in read("pids").split():
        wait_for(lambda: ended(pid), 5)  # pylint: disable=cell-var-from-loop


@case("Ctrl-C stops the phase, and the report of what is there is made")
def _():
    child = started("run", "-o", "d", "--skip", "causal", "--", program(), "1500")
    wait_for(lambda: os.path.exists("d/profile.assay"))
    child.send_signal(signal.SIGINT)
    status = child.wait(timeout=60)
    assert status == 130, (status, read("err"))
    m = manifest("d")
    assert m["state"] == "partial", m["state"]
    assert any(p["outcome"] == "interrupted" for p in m["phases"]), m["phases"]
    assert os.path.exists("d/report.md") and "evidence" in read("out"), read("out")
    r = assay("run", "--check", "d")
    assert r.status == 3 and "partial" in r.out, r


def kill_at(moment, file, skipped=""):
    """kill -9 of assay once `file` is there: the target lives on and ends by itself."""
    path = script("target", f"echo $$ >> {moment}.pids", "sleep 2", f"echo done >> {moment}.ends")
    child = started("run", "-o", moment, "--skip", "causal,counters,calls" + skipped, "--", path)
    if file:
        wait_for(lambda: os.path.exists(f"{moment}/{file}"))
    count = 2 if file else 1  # of the program: the trial, then this phase
    pids = wait_for(lambda: os.path.exists(f"{moment}.pids") and
                    len(read(f"{moment}.pids").split()) >= count and read(f"{moment}.pids"))
    child.kill()
    child.wait()
    pid = int(pids.split()[-1])
    time.sleep(0.3)
    assert not ended(pid), "the target died with assay"
    wait_for(lambda: ended(pid))
    ends = read(f"{moment}.ends").split()
    assert len(ends) == len(pids.split()), "the target did not come to its own end"
    assert manifest(moment)["state"] == "running"
    r = assay("run", "--check", moment)
    assert r.status == 3 and str(child.pid) in r.out, r
    r = assay("run", "--against", moment, "--", "true")
    assert r.status == 2 and "partial" in r.err, r
    for name in os.listdir(moment):
        if name.endswith(".assay"):
            r = run(need("sqlite3"), f"{moment}/{name}", "PRAGMA integrity_check")
            assert r.status == 0 and r.out.strip() == "ok", r


@case("kill -9 during the first run leaves the target alone and a directory that says partial")
def _():
    kill_at("trial", "")


@case("kill -9 while it is counted leaves the target alone and a directory that says partial")
def _():
    kill_at("counted", "log/observed.txt")


@case("kill -9 while it is sampled leaves the target alone and a directory that says partial")
def _():
    kill_at("sampled", "profile.assay", ",observed")


@case("kill -9 during the baseline leaves the target alone and a directory that says partial")
def _():
    kill_at("baseline", "baseline.assay", ",observed,profile")


@case("kill -9 during the experiments leaves the target alone, which ends with its own output")
def _():
    child = started("run", "-o", "d", "--phase", "causal", "--", program(), "2500")
    wait_for(lambda: os.path.exists("d/causal.assay"))
    pids = wait_for(lambda: run(need("pgrep"), "-f", f"^{program()} 2500").out.split())
    time.sleep(1)
    child.kill()
    child.wait()
    wait_for(lambda: all(ended(pid) for pid in pids))
    assert read("d/log/causal.stdout") == "2500 rounds, 0 lines\n"
    assert assay("run", "--check", "d").status == 3


@case("a full disk ends it with status 7, and what was written stays valid")
def _():
    if os.geteuid() != 0:
        skip("only root can mount a small file system")
    os.mkdir("small")
    if run("mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", "small").status:
        skip("this container may not mount a tmpfs")
    try:
        path = script("target", "echo fine")
        r = assay("run", *SHORT, "-o", "small/d", "--", path)
        assert r.status == 7, r
        assert "small/d" in r.err or "could not be written" in r.err, r
        if os.path.exists("small/d/MANIFEST.json"):
            assert manifest("small/d")["state"] in ("running", "partial")
    finally:
        run("umount", "small")


@case("why a phase has no file is found behind megabytes of the program's own words")
def _():
    path = script("loud", "head -c 5000000 /dev/zero | tr '\\0' x >&2",
                  '[ -z "$ASSAY_EVENTS" ] || rm -f "$(dirname "$ASSAY_EVENTS")"/observed.assay*')
    r = assay("run", *SHORT, "--phase", "observed", "-o", "d", "--", path)
    assert r.status == 7, r
    assert "cannot write the phase observed: cannot write d/observed.assay" in r.err, r
    assert phase("observed", "d")["reason"].startswith("cannot write d/observed.assay"), r
    assert phase("observed", "d")["fix"] in r.err, r


@case("a ledger too large to be read is told, and costs this run nothing")
def _():
    os.mkdir("assay-out")
    for name in ("ledger.ndjson", "history.ndjson"):
        with open(f"assay-out/{name}", "wb") as file:
            file.truncate(70 << 20)
    r = assay("run", "--budget", "8s", "--phase", "baseline", "--", program(), "10")
    assert r.status in (0, 3) and "cannot read assay-out/ledger.ndjson" in r.out, r
    assert "cannot read assay-out/history.ndjson" in r.out, r
    assert manifest()["state"] == "complete" and os.path.exists("assay-out/latest/hypothesis.md")


@measured("an ordinary user gets an answer, and each phase that is refused says why")
def _():
    if os.geteuid() != 0:
        skip("this is an ordinary user's run already")
    need("setpriv")
    work = os.path.join(os.getcwd(), "of-nobody")
    os.chmod(os.getcwd(), 0o755)
    os.chmod(FOLDER.name, 0o755)
    os.mkdir(work)
    os.chown(work, 65534, 65534)
    r = run("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", ASSAY, "run",
            *SHORT, "-o", "d", "--", shutil.copy(program(), work), "60", cwd=work,
            env={"HOME": work})
    assert r.status in (0, 3), r
    for row in manifest(os.path.join(work, "d"))["phases"]:
        assert row["outcome"] in ("done", "watched") or row["reason"], row
    baseline = phase("baseline", os.path.join(work, "d"))
    assert baseline["outcome"] in ("done", "watched"), baseline  # cut where the machine is busy
    assert assay("run", "--check", os.path.join(work, "d")).status == 0


main()
