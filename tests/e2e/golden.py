"""golden.py - screens that were read once and must not change unseen.

A file below tests/golden/report holds command lines and what they print:

    $ assay report mine.assay --by line

The runs it names are made from the .in files beside it.  ASSAY_ACCEPT=1 writes what is printed now
into the file; read the difference before it is committed."""
import os
import shlex

from tap import BUILD, SOURCE, assay, run

FOLDER = os.path.join(SOURCE, "tests", "golden", "report")


def make_run(text, path):
    """The run that this text describes (tests/unit/profile_text.h), as a file."""
    with open("run.in", "w", encoding="utf-8") as file:
        file.write(text)
    r = run(os.path.join(BUILD, "tests", "unit", "make-run"), "run.in", path)
    assert r.status == 0, r
    return path


def make_runs():
    """Every .in file as NAME.assay in the working folder."""
    for name in os.listdir(FOLDER):
        if name.endswith(".in"):
            with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
                make_run(file.read(), name[:-3] + ".assay")


def screen(line):
    """A command line and all it prints; a status that is not 0 is told."""
    r = assay(*shlex.split(line)[1:], env={"NO_COLOR": "1", "COLUMNS": None})
    status = f"[exit {r.status}]\n" if r.status else ""
    return f"$ {line}\n{r.out}{r.err}{status}\n"


def check(name):
    """Compare, or accept, tests/golden/report/NAME."""
    path = os.path.join(FOLDER, name)
    make_runs()
    with open(path, encoding="utf-8") as file:
        expected = file.read()
    lines = [line[2:] for line in expected.splitlines() if line.startswith("$ ")]
    got = "".join(screen(line) for line in lines)
    if os.environ.get("ASSAY_ACCEPT"):
        with open(path, "w", encoding="utf-8") as file:
            file.write(got)
        return
    for want, have in zip(expected.splitlines() + [""], got.splitlines() + [""]):
        assert want == have, f"{name}\nexpected: {want}\n     got: {have}"
    assert expected == got, f"{name} has another length"
