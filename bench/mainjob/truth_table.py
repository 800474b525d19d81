"""truth_table.py - what the benchmarks of the main job share: programs, truths, names and a run.

A table of truths has one program a line and columns with | between them; `truths` knows those of
tests/workloads/planted and bench/mainjob/heldout."""
import json
import os
import re
import shutil
import signal
import subprocess
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
WORKLOADS = os.path.join(SOURCE, "tests", "workloads")
HELDOUT = os.path.join(HERE, "heldout")
TRUTH = {"planted": os.path.join(WORKLOADS, "planted", "truth.txt"),
         "heldout": os.path.join(HELDOUT, "truth.txt")}
# How a program is built: optimised, with debug information, as people build them.
COMPILERS = {".c": ["gcc", "-O2", "-g", "-pthread", "-o"],
             ".cc": ["g++", "-O2", "-g", "-pthread", "-o"],
             ".rs": ["rustc", "-O", "-g", "-o"],
             ".go": ["go", "build", "-o"]}
# Explanations that say where, or that the machine was not quiet: no blame.
NO_BLAME = {"one_hot_function", "hot_but_off_the_critical_path", "noise"}


def rows_of(table):
    """The columns of each line of a table that is no comment."""
    with open(table, encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                yield [word.strip() for word in line.split("|")]


def truths(table):
    """(program, supported, first and also first, never) of each line."""
    for program, supported, first, also, never in rows_of(table):
        yield program, supported.split(","), [first] + also.split(","), never.split(",")


def built(source, made, words=()):
    """`made`, which is built with the additional `words` when `source` is newer.  None: this
    machine has no compiler for it."""
    compiler = COMPILERS[os.path.splitext(source)[1]]
    if not os.path.exists(made) or os.path.getmtime(made) < os.path.getmtime(source):
        if not shutil.which(compiler[0]):
            return None
        os.makedirs(os.path.dirname(made), exist_ok=True)
        subprocess.run([*compiler, made, *words, source], check=True)
    return made


def program_of(build, which, program):
    """The path of a program of the set.  None: this machine has no compiler for it."""
    if which == "planted":
        return os.path.join(build, "tests", "workloads", program)
    return built(os.path.join(HELDOUT, program),
                 os.path.join(build, "bench", "heldout", os.path.splitext(program)[0]))


def plain(name):
    """Only the last word of a function's name: without module, class, template, parameters and
    what gcc adds to the name of a copy of its own."""
    name = (name or "").replace("(anonymous namespace)", "").split("@")[0]
    name = re.sub(r"\(\*?\w+\)\.", "", name)  # Go: main.(*Table).put
    while re.search(r"<[^<>]*>", name):
        name = re.sub(r"<[^<>]*>", "", name)
    name = re.sub(r"::h[0-9a-f]{16}$", "", name.split("(")[0])
    name = re.sub(r"(\.(constprop|isra|part|cold|lto_priv)(\.\d+)?)+$", "", name)
    return re.split(r"::|[. ]", name)[-1]


def start(argv, **how):
    """A process that leads its own group, so that end() ends all of it.  Not a session of its own:
    where the kernel shares the CPUs out among sessions first (autogroups), as many processes get
    more or less of them by where they were started."""
    return subprocess.Popen(argv, stdin=subprocess.DEVNULL, process_group=0, **how)


def end(process, patience=10):
    """Ends a process that leads its own group, with all that it has started."""
    for number, seconds in ((signal.SIGTERM, patience), (signal.SIGKILL, None)):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            pass
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            pass


def run(tool, program, budget, folder, limit=None, options=()):
    """What `assay run` says of a program, a path or a list of words (the `data` of its JSON), and
    how many seconds it took.  ValueError: it gave no answer, also within `limit` seconds."""
    began = time.monotonic()
    words = [program] if isinstance(program, str) else program
    job = start([tool, "run", "--json", "--budget", budget, *options, "--", *words], cwd=folder,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        text, said = job.communicate(timeout=limit)
    except subprocess.TimeoutExpired as error:
        raise ValueError(f"no end after {limit:.0f} s") from error
    finally:
        end(job)
    try:
        data = json.loads(text)["data"]
        data["answer"]["kind"]
    except (ValueError, KeyError, TypeError) as error:
        lines = said.decode(errors="replace").strip().splitlines() or ["no answer"]
        raise ValueError(f"exit status {job.returncode}: {lines[-1]}") from error
    return data, time.monotonic() - began
