"""The planted and clean programs keep what truth.txt says of them: names, marks, one output."""
import os
import re

from tap import BUILD, SOURCE, case, main, need, run, script

WORKLOADS = os.path.join(BUILD, "tests", "workloads")
FOLDER = os.path.join(SOURCE, "tests", "workloads")
EXAMPLE = os.path.join(SOURCE, "examples", "service")
FEW = {"quadratic": "2000", "mispredict": "100000", "chase": "10000", "churn": "1000",
       "syscalls": "1000", "arithmetic": "100000"}  # others: 20


def truth():
    """program -> (supported, first, also first, never), the cells as lists."""
    rows = {}
    with open(os.path.join(FOLDER, "planted", "truth.txt"), encoding="ascii") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                name, *cells = (cell.strip() for cell in line.split("|"))
                rows[name] = [cell.split(",") if cell != "-" else [] for cell in cells]
    return rows


def source_of(name):
    with open(os.path.join(FOLDER, name + ".c"), encoding="ascii") as file:
        return file.read()


@case("truth.txt has a row of four cells for every planted and clean program, and no other")
def _():
    files = {f"{folder}/{name[:-2]}" for folder in ("planted", "clean")
             for name in os.listdir(os.path.join(FOLDER, folder)) if name.endswith(".c")}
    rows = truth()
    assert files == set(rows), files ^ set(rows)
    assert all(len(cells) == 4 for cells in rows.values()), rows
    assert sum(name.startswith("planted/") for name in rows) == 9, rows
    assert not any(rows[name][0] for name in rows if name.startswith("clean/")), rows


@case("each program prints the same words each time, and refuses a count that is none")
def _():
    for name in truth():
        path, count = os.path.join(WORKLOADS, name), FEW.get(os.path.basename(name), "20")
        first = run(path, count)
        assert first.status == 0 and re.search("checksum [0-9a-f]{16}\n$", first.out), first
        assert run(path, count).out == first.out, name
        for words in (["x"], ["0"], ["-5"], ["1", "2"]):
            r = run(path, *words)
            assert r.status == 2 and "usage" in r.err, r


@case("the functions that must be first are in the binaries, and marked in the sources")
def _():
    for name, (_, first, _, never) in truth().items():
        symbols = run(need("nm"), os.path.join(WORKLOADS, name)).out
        for function in first + never:
            if function != "*":
                assert re.search(rf" t {function}$", symbols, re.MULTILINE), (name, function)
        head = source_of(name).split("*/")[0]
        for mark in re.findall(r"\[mark: ([A-Z]+)\]", head):
            assert len(re.findall(rf"/\* {mark}\b", source_of(name))) == 1, (name, mark)
        assert ("[mark: " in head) == name.startswith("planted/"), name


@case("fix.patch of the service applies, and the fixed one prints the same bytes")
def _():
    need("patch")
    script("build", f"cp {EXAMPLE}/service.c {EXAMPLE}/fix.patch . && patch -s -p1 <fix.patch &&"
           f" gcc -O2 -Wall -Wextra -Werror -I {SOURCE}/include -pthread -o fixed service.c")
    need("gcc")
    r = run("./build")
    assert r.status == 0 and not r.err, r
    plain = run(os.path.join(BUILD, "examples", "service", "service"), "1000")
    fixed = run("./fixed", "1000")
    assert plain.status == 0 and plain.out.count("\n") == 3, plain
    assert fixed.out == plain.out, (plain, fixed)


main()
