"""Every command that the demo, the tests and assay call is in the table of tools/setup: they run
with a PATH of a bare Debian and that table (tools/bare-path), where any other command is named."""
import glob
import os
import re

from tap import ASSAY, BUILD, SOURCE, case, main, need, run

# Cases that call many different programs and take little time.
QUICK = (
    ("ab_revisions", ""),
    ("annotate", "at the same addresses"),
    ("doctor", "nothing is left behind in the kernel"),
    ("export", "pprof"),
    ("frame", "completions are valid"),
    ("harness", "the Rust harness"),
    ("install", "the installed program runs"),
    ("planted", "fix.patch of the service applies"),
    ("tune", "kill -9 at any write"),
)
PYTHON_CALLS = re.compile(
    r"""\b(?:need|which|run|Popen|call|check_output|check_call)\(\s*\[?"([a-z][\w+.-]*)\"""")
C_CALLS = re.compile(r"""(?:argv|words|program)(?:\[\w*\])+ = \{?\s*"([a-z][a-z0-9-]*)\"""")
C_LOOKS = re.compile(r"""\bbinary_find\("([a-z][a-z0-9-]*)\"""")
C_STARTS = re.compile(r"\b(?:helper_ask|helper_run|helper_start|posix_spawnp)\(")


def bare_path(*words, env=None, **how):
    need("dpkg-query")
    return run(os.path.join(SOURCE, "tools", "bare-path"), *words,
               env={"ASSAY": ASSAY, "ASSAY_SOURCE": SOURCE, **(env or {})}, **how)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def assert_complete(r):
    """It ended well, called nothing else, and did not do without something either."""
    assert r.status == 0 and "bare-path:" not in r.err, r
    lacking = [line for line in r.out.splitlines()
               if re.search("not installed|is not in PATH|command not found", line)]
    assert not lacking, (lacking, r)


@case("the demo calls nothing but what tools/setup installs for it, and lacks nothing")
def _():
    r = bare_path("build", "demo", "--", os.path.join(SOURCE, "tools", "demo"), BUILD,
                  env={"ASSAY_DEMO_BUDGET": "5s"}, limit_s=120)
    assert_complete(r)
    assert "patching file" in r.out, r


@case("what simulates counters is installed for the demo too")
def _():
    assert_complete(bare_path("build", "demo", "--", "python3",
                              os.path.join(SOURCE, "tests/e2e/simulated.py"),
                              "is given to llvm-mca"))


@case("tests call nothing but what tools/setup installs for them")
def _():
    lines = [f"python3 {SOURCE}/tests/e2e/{name}.py '{words}'" for name, words in QUICK]
    r = bare_path("build", "demo", "test", "--", "sh", "-ec", "\n".join(lines), limit_s=200)
    assert r.status == 0 and "bare-path:" not in r.err, r
    assert len(re.findall(r"^1\.\.[1-9]", r.out, re.MULTILINE)) == len(QUICK), r


@case("every program that a test or assay itself names is in the table, or in a bare Debian")
def _():
    rows = run(os.path.join(SOURCE, "tools", "setup"), "--list", "build", "demo", "test",
               "optional").out
    probes = {line.split("|")[2] for line in rows.splitlines()}
    called = {}
    for path in glob.glob(f"{SOURCE}/tests/**/*.py", recursive=True):
        if "/arm64/" not in path and path != os.path.abspath(__file__):
            for name in PYTHON_CALLS.findall(read(path)):
                called[name] = os.path.relpath(path, SOURCE)
    for path in glob.glob(f"{SOURCE}/src/**/*.c", recursive=True):
        text = read(path)
        for name in C_LOOKS.findall(text) + C_CALLS.findall(text) * bool(C_STARTS.search(text)):
            called[name] = os.path.relpath(path, SOURCE)
    assert {"valgrind", "llvm-mca", "git", "perf", "gcc"} <= called.keys(), called
    unknown = sorted(called.keys() - probes)
    r = bare_path("build", "demo", "test", "--", "sh", "-c",
                  'for name; do case $(command -v "$name") in ""|*/tripwires/*) echo "$name"; '
                  'esac; done', "sh", *unknown)
    missing = {name: called[name] for name in r.out.split()}
    assert r.status == 0 and not missing, missing


@case("a command that is taken out of the table is named")
def _():
    need("patch")
    r = bare_path("--without", "patch", "build", "demo", "--", "sh", "-c", "patch --version; true")
    assert r.status == 1 and "tools/setup under build, demo: patch, by sh" in r.err, r
    r = bare_path("build", "demo", "--", "sh", "-c", f"patch --version && {ASSAY} --version")
    assert r.status == 0 and "bare-path" not in r.err, r


main()
