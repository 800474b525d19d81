"""golang.py - Go programs that a case builds for itself."""
import os

from tap import need, run, skip


def go_build(source, *flags):
    """The file that this text is built to; the case is skipped where Go cannot build."""
    name = os.path.abspath("go-program")
    with open(name + ".go", "w", encoding="ascii") as file:
        file.write(source)
    r = run(need("go"), "build", *flags, "-o", name, name + ".go", limit_s=240,
            env={"GOCACHE": os.path.abspath("cache"), "GO111MODULE": "off", "HOME": os.getcwd()})
    assert "go-program.go:" not in r.err, r  # the text itself is wrong
    if r.status:
        skip("go cannot build here: " + r.err.splitlines()[0][:80])
    return name
