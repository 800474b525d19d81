"""runs.py - what the cases of flame and export share: a run with everything in it, and the report's
numbers in a form that exported files can be compared with."""
import json
import os
import sqlite3

from tap import BUILD, assay, run

# Recursion, inlined functions, two threads, two events, the kernel, code and samples without names.
MIXED = """
event cpu-clock ns
thread 100 100 main
period 1000000
30 main;parse:3;+lex:12;next_token@libc.so.6
12 main;parse:4
5 main;fib;fib;fib
7 main;?@libz.so
3 main;read@libc.so.6;do_syscall@[kernel];copy_user@[kernel]
2 -
thread 100 101 worker
period 3000000
20 start;work;parse:3;+lex:12
flags truncated
4 std::map<int, char>::find(int const&);<evil> & "q";x
flags
event cycles
period 7
9 main;parse:4
"""


def made(text, name="run.assay"):
    """A run file in the working folder; "\\udcff" in the text is the byte ff."""
    with open(name + ".txt", "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)
    r = run(os.path.join(BUILD, "tests", "unit", "make-run"), name + ".txt", name)
    assert r.status == 0, r
    return name


def rename(path, old, new):
    """Call a function otherwise: what the text form cannot write."""
    with sqlite3.connect(path) as db:
        assert db.execute("UPDATE text SET text = ? WHERE text = ?", (new, old)).rowcount == 1


def document(*words):
    r = assay(*words, "--json")
    assert r.status == 0, r
    return json.loads(r.out)


def shown(name, module):
    """What exports call a row of the report: there is no column for the module."""
    base = module.split("/")[-1]
    if name != "[unknown]" or not module:
        return name
    return base if base.startswith("[") else f"[{base}]"


def reported(path, *words):
    """The report's data, and {name: (self, total)} of its functions in samples."""
    data = document("report", path, "--limit", "0", *words)["data"]
    rows = {shown(r["name"], r["module"] or ""): (r["self"], r["total"]) for r in data["rows"]}
    assert len(rows) == len(data["rows"]), data
    return data, rows


def tally(chains):
    """{name: (self, total)} of (outermost first names, weight): recursion counts once."""
    own, total = {}, {}
    for names, weight in chains:
        own[names[-1]] = own.get(names[-1], 0) + weight
        for name in set(names):
            total[name] = total.get(name, 0) + weight
    return {name: (own.get(name, 0), total[name]) for name in total}
