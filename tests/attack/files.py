"""Harm to whoever opens a file, or measures as root: files, links and pipes that others planted."""
import contextlib
import glob
import json
import os
import re
import shutil
import signal
import sqlite3
import struct
import subprocess
import time

from runs import MIXED, made
from tap import ASSAY, BUILD, assay, case, main, need, own_mounts, run, script, skip, wait_for

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
    apart = own_mounts()
    shutil.copy(os.path.join(BUILD, "tests/workloads/spin"), "mapped")
    os.mkfifo("pipe")
    # In its own mount namespace the file that it runs is the pipe; from outside it is the file.
    words = [*apart, "sh", "-c",
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


OTHER = 65534


def planted(name, target=None, folder="sticky"):
    """A link that another user put into a directory that is open to all, as /tmp is."""
    os.makedirs(folder, exist_ok=True)
    os.chmod(folder, 0o1777)
    path = os.path.join(folder, name)
    if target:
        os.symlink(os.path.abspath(target), path)
        os.chown(path, OTHER, OTHER, follow_symlinks=False)
    return path


def refused(r, *words):
    assert r.status == 7, r
    for word in (*words, f"user {OTHER}", "SUDO_UID"):
        assert word in r.err, r


@case("root writes through no link that another user planted")
def _():
    as_root()
    made(MIXED, "run.assay")
    with open("victim", "w", encoding="ascii") as file:
        file.write("precious")
    for words in (("report", "run.assay", "--json=" + planted("a", "victim")),
                  ("export", "run.assay", "--format", "folded", "-o", planted("b", "victim")),
                  ("flame", "run.assay", "-o", planted("c", "victim"))):
        refused(assay(*words), "a link on the way belongs to")
    for words in (("record", "-o", planted("d", "dangling"), "--", "true"),
                  ("stat", "-o", planted("e", "dangling"), "--", "true"),
                  ("bench", "--runs", "2", "-o", planted("f", "dangling"), "--", "true"),
                  ("bench", "--program-output", planted("g", "dangling"), "--", "true")):
        r = assay(*words)
        assert r.status == 7 and "a link on the way belongs to user" in r.err, r
    os.mkdir("target")
    refused(assay("record", "-o", os.path.join(planted("h", "target"), "x.assay"), "--", "true"))
    with open("victim", encoding="ascii") as file:
        assert file.read() == "precious"
    assert not os.path.exists("dangling") and not os.listdir("target")


@case("root writes in no directory of another user, and says how to")
def _():
    as_root()
    with open("victim", "w", encoding="ascii") as file:
        file.write("precious")
    os.makedirs("theirs/assay-out")
    os.symlink(os.path.abspath("victim"), "theirs/assay-out/history.ndjson")
    for path in ("theirs", "theirs/assay-out"):
        os.chown(path, OTHER, OTHER)
    refused(assay("run", "--budget", "5s", "--", "true", cwd="theirs"), "-o")
    refused(assay("record", "-o", "theirs/run.assay", "--", "true"), "its directory belongs to")
    os.chown("theirs", 0, 0)
    refused(assay("run", "--budget", "5s", "--", "true", cwd="theirs"), "the directory belongs to")
    with open("victim", encoding="ascii") as file:
        assert file.read() == "precious"
    os.chown("theirs", OTHER, OTHER)
    r = assay("record", "-o", "theirs/run.assay", "--", "true", env={"SUDO_UID": str(OTHER)})
    assert r.status == 0 and os.path.exists("theirs/run.assay"), r


@case("root replaces no file, and fills no pipe, of another user")
def _():
    as_root()
    path = planted("x.assay")
    made(MIXED, "run.assay")
    for name in (path, path + ".part"):
        shutil.copy("run.assay", name)
    os.chown(path + ".part", OTHER, OTHER)
    refused(assay("record", "-o", path, "--", "true"), "the file belongs to")
    os.chown(path, OTHER, OTHER)
    refused(assay("record", "-o", path, "--", "true"), "the file belongs to")
    pipe = planted("pipe")
    os.mkfifo(pipe)
    os.chown(pipe, OTHER, OTHER)
    assert assay("report", "run.assay", "--json=" + pipe, limit_s=10).status == 7


@case("another user's link in /tmp leads no user astray")
def _():
    as_root()
    made(MIXED, "run.assay")
    os.chmod(".", 0o755)
    os.chmod("run.assay", 0o644)
    link = planted("a", "theirs/victim")
    os.chown(link, OTHER - 1, OTHER - 1, follow_symlinks=False)
    os.mkdir("theirs")
    os.chown("theirs", OTHER, OTHER)
    with open("theirs/victim", "w", encoding="ascii") as file:
        file.write("precious")
    os.chown("theirs/victim", OTHER, OTHER)
    r = run("setpriv", f"--reuid={OTHER}", "--clear-groups", ASSAY, "report", "run.assay",
            "--json=" + link, env={"HOME": "/nonexistent"})
    assert r.status == 7 and f"belongs to user {OTHER - 1}" in r.err, r
    with open("theirs/victim", encoding="ascii") as file:
        assert file.read() == "precious"


@case("links of one's own are followed and stay links")
def _():
    made(MIXED, "run.assay")
    os.makedirs("far/away")
    os.symlink("far", "near")
    os.symlink("away/x.json", "far/link")
    os.symlink("near/away/x.assay", "x")
    assert assay("report", "run.assay", "--json=near/link").status == 0
    assert os.path.getsize("far/away/x.json") > 2 and os.path.islink("far/link")
    for _ in range(2):  # made, then replaced
        assert assay("record", "-o", "x", "--", "true").status == 0
        assert os.path.islink("x") and os.listdir("far/away") in (
            ["x.json", "x.assay"], ["x.assay", "x.json"])
    r = assay("record", "-o", "/proc/self/cwd/y.assay", "--", "true")
    assert r.status == 0 and os.path.exists("y.assay"), r


@case("a journal that appears beside a file that is being written deletes nothing")
def _():
    with open("victim", "w", encoding="ascii") as file:
        file.write("precious")
    text = journal_naming("victim", 100)
    with subprocess.Popen([ASSAY, "record", "-o", "run.assay", "--", "sh", "-c",
                           "for i in 1 2 3 4 5 6; do sleep 0.5; done"],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as child:
        wait_for(lambda: os.path.exists("run.assay") or child.poll() is not None)
        while child.poll() is None:
            if not os.path.exists("run.assay-journal"):
                with open("new", "wb") as file:
                    file.write(text)
                with contextlib.suppress(FileExistsError):
                    os.link("new", "run.assay-journal")
            time.sleep(0.001)
        told_last = child.stderr.read().decode()
    assert os.path.exists("victim"), told_last


def modes(*names):
    return {name: oct(os.stat(name).st_mode & 0o777) for name in names}


@case("run files, stored input and evidence are for their owner only")
def _():
    os.umask(0o022)
    r = assay("record", "-o", "a.assay", "--", "true")
    assert r.status == 0, r
    with open("b.assay", "wb"):
        pass
    r = assay("stat", "-o", "b.assay", "--", "true")
    assert set(modes("a.assay", "b.assay").values()) == {"0o600"}, modes("a.assay", "b.assay")
    r = assay("run", "--budget", "5s", "--", "cat", stdin="secret", limit_s=120)
    files = [n for n in glob.glob("assay-out/**", recursive=True) if not os.path.islink(n)]
    wrong = {name: mode for name, mode in modes(*files).items()
             if mode != ("0o700" if os.path.isdir(name) else "0o600")}
    assert any(name.endswith("/input") for name in files), files
    assert not wrong, wrong
    made(MIXED, "run.assay")
    assert assay("flame", "run.assay", "-o", "a.svg").status == 0
    assert assay("report", "run.assay", "--json=a.json").status == 0
    assert set(modes("a.svg", "a.json").values()) == {"0o644"}


def repository():
    """A repository whose configuration runs a program wherever git lets it; its marker is "ran"."""
    git = need("git")
    evil = script("evil.sh", f"echo \"$0 $*\" >> {os.path.abspath('ran')}", "cat")
    os.mkdir("repo")
    inside = {"cwd": "repo", "env": {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}}

    def ask(*words):
        assert run(git, "-c", "user.name=x", "-c", "user.email=x@example.org", *words,
                   **inside).status == 0, words
    with open("repo.txt", "w", encoding="ascii") as file:
        file.write("text")
    ask("init", "-q")
    for name in ("file", "other"):
        shutil.copy("repo.txt", "repo/" + name)
    with open("repo/.gitattributes", "w", encoding="ascii") as file:
        file.write("file filter=evil\nother filter=a=b\n")
    ask("add", "--all")
    ask("commit", "-q", "-m", "x")
    with open("repo/.git/included", "w", encoding="ascii") as file:
        file.write(f'[filter "a=b"]\n\tclean = {evil}\n\trequired\n')
    for key, value in (("core.fsmonitor", evil), ("core.hooksPath", os.path.abspath("hooks")),
                       ("filter.evil.clean", evil), ("filter.evil.process", evil),
                       ("diff.external", evil), ("core.pager", evil), ("pager.status", evil),
                       ("core.sshCommand", evil), ("include.path", "included")):
        ask("config", key, value)
    os.mkdir("hooks")
    shutil.copy(evil, "hooks/post-index-change")
    for name in ("file", "other"):  # the index must look at the contents
        shutil.copy("repo.txt", "repo/" + name)
        os.utime("repo/" + name, (1, 1))


def attested(**how):
    bench = assay("bench", "--runs", "5", "-o", "run.assay", "--", "true", cwd="repo")
    assert os.path.exists("repo/run.assay"), bench
    asked = assay("attest", "--template", "run.assay", cwd="repo", **how)
    with open("answers", "w", encoding="ascii") as file:
        file.write(re.sub(r"=$", "=pass", asked.out, flags=re.MULTILINE))
    r = assay("attest", "run.assay", "--json", "--answers", "../answers", cwd="repo", **how)
    assert r.status in (0, 1), r
    return json.loads(r.out)["data"]


def nothing_ran():
    if os.path.exists("ran"):
        with open("ran", encoding="ascii") as file:
            raise AssertionError(file.read())


@case("attest runs nothing that a repository's configuration names")
def _():
    repository()
    d = attested(env={"GIT_CONFIG_GLOBAL": "/dev/null"})
    nothing_ran()
    assert d["git"]["commit"] and d["git"]["dirty"] is False, d["git"]


@case("root asks git nothing in another user's repository, and says so")
def _():
    as_root()
    repository()
    os.chown("repo/.git", OTHER, OTHER)
    with open("trusting", "w", encoding="ascii") as file:
        file.write("[safe]\n\tdirectory = *\n")
    d = attested(env={"GIT_CONFIG_GLOBAL": os.path.abspath("trusting")})
    nothing_ran()
    assert "commit" not in d["git"] or not d["git"]["commit"], d["git"]
    assert any(f"the repository belongs to user {OTHER}" in question["evidence"]
               for question in d["questions"]), d["questions"]


@case("what a killed simulation left in TMPDIR goes with the next one, and a live one stays")
def _():
    need("valgrind")
    os.mkdir("tmp")
    where = {"TMPDIR": os.path.abspath("tmp")}
    spin = os.path.join(BUILD, "tests/workloads/spin")

    def start():
        child = subprocess.Popen([ASSAY, "stat", "--engine", "sim", "--", spin, "100000"],
                                 env={**os.environ, **where}, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL, start_new_session=True)
        mine = f"assay-simulate-{child.pid}-"
        wait_for(lambda: [n for n in os.listdir("tmp") if n.startswith(mine)
                          and os.listdir("tmp/" + n)])
        return child

    def left():
        return [name.split("-")[2] for name in os.listdir("tmp")]
    killed, live = start(), start()
    try:
        assert sorted(left()) == sorted([str(killed.pid), str(live.pid)]), left()
        os.killpg(killed.pid, signal.SIGKILL)
        killed.wait()
        os.makedirs("tmp/assay-simulate-1-theirs")
        os.makedirs("tmp/assay-simulate-2-empty")
        if os.geteuid() == 0:
            os.chown("tmp/assay-simulate-1-theirs", OTHER, OTHER)
        stays = sorted(["1"] * (os.geteuid() == 0) + [str(live.pid)])

        def is_swept():  # not while the killed valgrind is still dying
            r = assay("stat", "--engine", "sim", "--", "true", env=where)
            assert r.status == 0, r
            return sorted(left()) == stays
        wait_for(is_swept)
    finally:
        for child in (killed, live):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()


main()
