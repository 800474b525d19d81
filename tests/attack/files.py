"""Harm to whoever opens a file, or measures as root: files, links and pipes that others planted."""
import glob
import os
import shutil
import signal
import sqlite3
import struct
import subprocess

from runs import MIXED, made
from tap import BUILD, assay, case, main, skip, wait_for

MAGIC = bytes.fromhex("d9d505f920a163d7")  # begins a journal of SQLite, and ends one with a name


def journal_naming(path, size, start=MAGIC):
    """A journal that tells SQLite to delete `path` when it is rolled back, filled to `size`."""
    name = os.path.abspath(path).encode()
    tail = name + struct.pack(">II", len(name), sum(name)) + MAGIC
    return start + b"\0" * max(0, size - len(start) - len(tail)) + tail


def told(run_file):
    r = assay("report", run_file)
    return r.status, r.out.replace(run_file, "RUN")


def state():
    """Names, bytes and times of everything in the working folder."""
    def one(name):
        with open(name, "rb") as file:
            return file.read(), os.stat(name).st_mtime_ns
    return {name: one(name) for name in glob.glob("**", recursive=True) if os.path.isfile(name)}


@case("a journal beside a run file never deletes another file, whatever its size")
def _():
    made(MIXED, "run.assay")
    wrong = []
    for size in (0, 28, 100, 200, 511, 512, 513, 600, 1024, 4096):
        for start in (MAGIC, b"x" * 8, b"x"):
            with open("victim", "w", encoding="ascii") as file:
                file.write("precious")
            with open("run.assay-journal", "wb") as file:
                file.write(journal_naming("victim", size, start))
            for words in (("report", "run.assay"), ("flame", "-o", "x.svg", "run.assay"),
                          ("diff", "run.assay", "run.assay")):
                r = assay(*words)
                if not os.path.exists("victim") or not os.path.exists("run.assay-journal"):
                    wrong.append((size, start, words))
                    break
                assert r.status == 2 and "the journal beside it is not from assay" in r.err, r
    assert not wrong, wrong


@case("a directory whose run file has such a journal is checked without harm")
def _():
    r = assay("run", "--budget", "5s", "-o", "out", "--", "true", limit_s=120)
    files = glob.glob("out/**/*.assay", recursive=True)
    assert files, r
    with open("victim", "w", encoding="ascii") as file:
        file.write("precious")
    for name in files:
        with open(name + "-journal", "wb") as file:
            file.write(journal_naming("victim", 100))
    before = state()
    r = assay("run", "--check", "out")
    assert state() == before, r
    assert r.status == 1 and "the journal beside it is not from assay" in r.out, r


@case("a recording that was killed inside a transaction is read, and nothing is written")
def _():
    made(MIXED, "run.assay")
    expected = told("run.assay")
    with sqlite3.connect("run.assay", isolation_level=None) as db:
        db.execute("PRAGMA cache_size = 1")
        db.execute("BEGIN")
        db.execute("DELETE FROM segment")
        db.execute("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9000)"
                   " INSERT INTO text SELECT i + 9000, 'text ' || i FROM n")
        for end in ("", "-journal"):
            with open("run.assay" + end, "rb") as old, open("killed.assay" + end, "wb") as new:
                new.write(old.read())
        db.execute("ROLLBACK")
    assert os.path.getsize("killed.assay-journal") > 512
    before = state()
    assert told("killed.assay") == expected
    assert state() == before, "reading changed something"
    os.chmod("killed.assay", 0o400)
    os.chmod("killed.assay-journal", 0o400)
    assert told("killed.assay") == expected
    os.remove("killed.assay-journal")  # without it the file is what the killed writer left
    assert assay("report", "killed.assay").status == 2
    with open("killed.assay-journal", "wb") as file:
        file.write(b"")
    assert assay("report", "killed.assay").status == 2


@case("a journal that is a pipe, a link or a directory is refused at once")
def _():
    made(MIXED, "run.assay")
    for plant in (os.mkfifo, os.mkdir, lambda name: os.symlink("run.assay", name)):
        plant("run.assay-journal")
        r = assay("report", "run.assay", limit_s=10)
        assert r.status == 2 and "the journal beside it is not from assay" in r.err, r
        (os.rmdir if os.path.isdir("run.assay-journal") else os.remove)("run.assay-journal")


def as_root():
    if os.geteuid() != 0:
        skip("needs root")


@case("a pipe mounted over a mapped file does not hang record -a")
def _():
    as_root()
    shutil.copy(os.path.join(BUILD, "tests/workloads/spin"), "mapped")
    os.mkfifo("pipe")
    # In its own mount namespace the file that it runs is the pipe; from outside it is the file.
    words = ["unshare", "-m", "sh", "-c",
             "./mapped 100000 & while ! readlink /proc/$!/exe | grep -q mapped; do :; done;"
             "mount --bind pipe mapped && touch ready && wait"]
    with subprocess.Popen(words, start_new_session=True) as child:
        try:
            wait_for(lambda: os.path.exists("ready"))
            r = assay("record", "-a", "-o", "all.assay", "--", "sleep", "1", limit_s=60)
            assert r.status == 0, r
        finally:
            os.killpg(child.pid, signal.SIGKILL)


@case("a pipe in the place of any file that is read is refused at once")
def _():
    os.mkfifo("pipe")
    os.mkdir("out")
    os.mkfifo("out/MANIFEST.json")
    os.mkdir("repository")
    os.mkdir("repository/.git")
    os.mkfifo("repository/.git/HEAD")
    made(MIXED, "run.assay")
    for words, how in (
            (("run", "--check", "out"), {}),
            (("report", "pipe"), {}),
            (("bench", "--golden", "pipe", "--", "true"), {}),
            (("bench", "--input", "pipe", "--", "true"), {}),
            (("bench", "--cold-file", "pipe", "--", "true"), {}),
            (("run", "--golden", "pipe", "--", "true"), {}),
            (("run", "--input", "pipe", "--", "true"), {}),
            (("gate", "--baseline", "pipe", "--", "true"), {}),
            (("env",), {"cwd": "repository"})):
        r = assay(*words, limit_s=20, **how)
        assert r.status in (0, 2, 3, 5), r
        assert r.status == 0 or "pipe" in r.err or "MANIFEST" in r.err, r


@case("import reads a named pipe that the user names")
def _():
    os.mkfifo("pipe")
    with subprocess.Popen(["sh", "-c", "printf 'main;work 3\\n' > pipe"]) as writer:
        r = assay("import", "pipe", "-o", "run.assay", limit_s=20)
        assert r.status == 0, r
        assert writer.wait(20) == 0
    assert "work" in assay("report", "run.assay").out


main()
