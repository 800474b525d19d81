"""`assay ab --run`: two revisions of a repository, built apart, and the user's tree left alone."""
import hashlib
import json
import os
import signal
import subprocess

from tap import ASSAY, assay, case, main, need, run, wait_for

GIT = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a",
       "GIT_COMMITTER_EMAIL": "a@b", "GIT_CONFIG_GLOBAL": "/dev/null"}
HERE = os.getcwd()


def git(*words, cwd="repo"):
    r = run("git", *words, cwd=cwd, env=GIT)
    assert r.status == 0, r
    return r.out.strip()


def write(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w", encoding="ascii") as f:
        f.write(text)
    os.chmod(path, mode)


def repository():
    """Two commits: `work` loops 2000 times in the first, 20000 times in the second."""
    need("git")
    os.makedirs("scratch")
    git("init", "-q", "-b", "main", "repo", cwd=".")
    for number, loops in enumerate((2000, 20000)):
        write("repo/work.sh", f"#!/bin/sh\ni=0\nwhile [ $i -lt {loops} ]; do i=$((i+1)); done\n"
              "echo done\n", 0o755)
        write("repo/Makefile", "built:\n\t@echo making; cp work.sh built\n")
        write("repo/sub/name", "sub\n")
        write("repo/.gitignore", "built\n")
        git("add", "--all")
        git("commit", "-q", "-m", f"commit {number}")


def ab(*words, cwd="repo", env=None, status=None):
    r = assay("ab", *words, cwd=cwd, env={**GIT, "TMPDIR": os.path.abspath("scratch"),
                                          **(env or {})})
    assert status is None or r.status == status, r
    return r


def tree_of(folder="repo"):
    """Each file but git's objects, with its bytes."""
    found = {}
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not place.endswith(".git") or name != "objects"]
        for name in files:
            with open(os.path.join(place, name), "rb") as f:
                found[os.path.join(place, name)] = hashlib.sha256(f.read()).hexdigest()
    return found


def assert_untouched(before):
    after = tree_of()
    # git itself may leave the empty folder .git/worktrees; no file of ours stays.
    assert before == after, {k for k in before.keys() | after.keys()
                             if before.get(k) != after.get(k)}
    assert len(git("worktree", "list").splitlines()) == 1, git("worktree", "list")
    left = [name for name in os.listdir("scratch") if not name.endswith(".log")]
    assert not left, left


@case("two revisions are built in folders of their own, compared, and removed")
def _():
    repository()
    before = tree_of()
    r = ab("--json", "--build", "make", "--run", "./built", "main~1", "--", "main", status=1)
    d = json.loads(r.out)["data"]
    assert d["verdict"]["outcome"] == "regressed" and d["same_output"] is True, d["verdict"]
    assert d["a"]["revision"] == "main~1" and d["b"]["commit"] == git("rev-parse", "main"), d["a"]
    assert_untouched(before)


@case("the working tree is its files with their changes, new ones too; the tree stays dirty")
def _():
    repository()
    write("repo/work.sh", "#!/bin/sh\ncat new\n", 0o755)
    write("repo/new", "new\n")
    git("add", "work.sh")
    before, status = tree_of(), git("status", "--porcelain")
    r = ab("-n", "2", "--build", "make", "--run", "sh -c './built; ls'", "HEAD", "--", ".",
           status=5)
    assert "line 1 is 'done' in A and 'new' in B" in r.err, r
    r = ab("--json", "-n", "2", "--build", "make", "--run", "./built", "WORKTREE", "--", ".",
           status=3)
    assert json.loads(r.out)["data"]["same_output"] is True, r
    assert git("status", "--porcelain") == status
    assert_untouched(before)


@case("the same revision on both sides is allowed, and so is a revision without a build")
def _():
    repository()
    r = ab("--json", "-n", "2", "--run", "./work.sh", "HEAD~1", "--", "HEAD~1", status=3)
    d = json.loads(r.out)["data"]
    assert d["a"]["commit"] == d["b"]["commit"], d


@case("a build that fails shows the end of its output, is exit 5, and leaves no folder")
def _():
    repository()
    before = tree_of()
    r = ab("--build", "seq 1 100; echo broken >&2; exit 7", "--run", "./x", "main~1", "--", "main",
           status=5)
    lines = r.err.splitlines()
    assert "broken" in lines and "100" in lines and "5" not in lines, r
    assert "the build of 'main~1'" in r.err and "status 7" in r.err, r
    kept = r.err.split("its full output is in ")[1].strip()
    with open(kept, encoding="ascii") as f:
        assert f.read().startswith("1\n2\n"), kept
    assert_untouched(before)


@case("no repository, an unknown revision and half an order are refused with a way out")
def _():
    repository()
    before = tree_of()
    os.makedirs("plain")
    words = ("--run", "./work.sh")
    for r, text in (
            (ab(*words, "main", "--", "HEAD", cwd="plain", env={"GIT_CEILING_DIRECTORIES": HERE
                                                                + ":" + os.getcwd()}),
             "not in a git work tree"),
            (ab(*words, "main", "--", "no-such"), "git has no revision 'no-such'"),
            (ab(*words, "--", "main", "x", "--", "main"), None),
            (ab(*words, "main", "x", "--", "main"), "one revision each"),
            (ab("--build", "make", "main", "--", "HEAD"), "--build needs --run")):
        assert r.status == 2 and len(r.err.splitlines()) == 2, r
        assert text is None or text in r.err, r
    assert_untouched(before)


@case("a command runs where the user stands, with paths of that folder")
def _():
    repository()
    write("repo/sub/here.sh", "#!/bin/sh\ncat name\n", 0o755)
    r = ab("--json", "-n", "2", "--run", "./here.sh", ".", "--", ".", cwd="repo/sub", status=3)
    assert json.loads(r.out)["data"]["same_output"] is True, r
    r = ab("-n", "2", "--run", "./here.sh", "HEAD", "--", ".", cwd="repo/sub", status=5)
    assert "here.sh" in r.err, r


@case("outputs that differ end it with the first line that does; =no goes on")
def _():
    repository()
    write("repo/work.sh", "#!/bin/sh\necho done\necho more\n", 0o755)
    words = ("--run", "./work.sh", "HEAD~1", "--", ".")
    r = ab("-n", "3", *words, status=5)
    assert "line 2 is '(nothing)' in A and 'more' in B" in r.err, r
    assert len(r.err.splitlines()) == 2 and not r.out, r
    ab("--same-output=no", "-n", "2", *words, status=3)


@case("submodules are named, hooks do not run, and a hook's index is not touched")
def _():
    repository()
    write("repo/.gitmodules", "[submodule \"x\"]\n\tpath = x\n\turl = ./x\n")
    git("add", ".gitmodules")
    git("commit", "-q", "-m", "submodule")
    write("repo/.git/hooks/post-checkout", "#!/bin/sh\necho ran >> ../../ran\ntouch /tmp/ran.$$\n",
          0o755)
    before = tree_of()
    index = os.path.abspath("repo/.git/index")
    r = ab("--json", "-n", "2", "--run", "./work.sh", "HEAD", "--", ".",
           env={"GIT_INDEX_FILE": index}, status=3)
    codes = [w["code"] for w in json.loads(r.out)["warnings"]]
    assert [code for code in codes if code != "few-pairs"] == ["submodules"] * 2, r
    assert not os.path.exists("ran")
    assert_untouched(before)


def start(*words):
    # The caller waits for it.
    return subprocess.Popen([ASSAY, "ab", *words], cwd="repo",  # pylint: disable=R1732
                            env={**os.environ, **GIT, "TMPDIR": os.path.abspath("scratch")},
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


@case("Ctrl-C in the build ends it with its children, exit 130, and everything is removed")
def _():
    repository()
    before = tree_of()
    flag = os.path.abspath("flag")
    tool = start("--build", f"sleep 600 & echo $! > {flag}.new; mv {flag}.new {flag}; wait",
                 "--run", "./work.sh", "main", "--", "main")
    wait_for(lambda: os.path.exists(flag))
    tool.send_signal(signal.SIGINT)
    tool.communicate(timeout=60)
    assert tool.returncode == 130, tool.returncode
    with open(flag, encoding="ascii") as f:
        assert not os.path.exists(f"/proc/{f.read().strip()}/fd/0")
    assert_untouched(before)


@case("what kill -9 left is removed by the next run, a living one's and the user's own are not")
def _():
    repository()
    before = tree_of()
    flags = [os.path.abspath(name) for name in ("dead", "alive")]
    tools = [start("--build", f"touch {flag}; exec sleep 600", "--run", "./work.sh", "main", "--",
                   "main") for flag in flags]
    wait_for(lambda: all(os.path.exists(flag) for flag in flags))
    assert len(git("worktree", "list").splitlines()) == 5, git("worktree", "list")
    tools[0].kill()
    tools[0].communicate()
    git("worktree", "add", "-q", "--detach", "../mine")
    ab("-n", "2", "--run", "./work.sh", "main", "--", "main", status=3)
    assert len(git("worktree", "list").splitlines()) == 4, git("worktree", "list")
    assert len(os.listdir("scratch")) == 1, os.listdir("scratch")
    tools[1].send_signal(signal.SIGTERM)
    tools[1].communicate(timeout=60)
    git("worktree", "remove", "../mine")
    assert_untouched(before)


main()
