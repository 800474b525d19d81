"""The catalogue of data/patterns: each pattern is found in its planted program and in no other, and
none in a clean one.  All of them on stored stacks of these programs, some on the programs."""
import functools
import importlib.util
import json
import os
import re
import shutil
import sqlite3
import tempfile

from tap import BUILD, SOURCE, case, main, measured, need, run

FOLDER = tempfile.TemporaryDirectory()  # gone at the end
STORED = os.path.join(SOURCE, "tests", "golden", "patterns")
CLEAN = ("clean_arithmetic", "clean_pipeline", "clean_sort", "clean_stream")
# On programs: names that are exported or the program's own, so that no debug symbols are needed.
REAL = {"text": ["regex_compile_again", "getenv_again"],
        "calls": ["stat_storm", "small_writes", "poll_busy"],
        "objects": ["exceptions_as_flow", "map_walk", "string_building"]}


def planted():
    """bench/mainjob/patterns.py, which builds and records the planted programs."""
    path = os.path.join(SOURCE, "bench", "mainjob", "patterns.py")
    spec = importlib.util.spec_from_file_location("planted_patterns", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def expanded(path):
    """A stored program in the words of tests/unit/profile_text.h."""
    lines, stacks = ["event cpu-clock ns", "thread 1 1 prog", "period 1000000"], {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            word, rest = line.rstrip("\n").split(" ", 1)
            if word == "fact":
                lines.append(line.rstrip("\n"))
            elif word == "order":
                for sample in rest.split():
                    stack, _, thread = sample.partition(":")
                    lines += [f"thread 1 {thread or 1} prog", f"1 {stacks[stack]}"]
            else:  # libraries are the system's
                stacks[word] = re.sub(r"@([^;/]*\.so)", r"@/usr/lib/\1", rest)
    return "\n".join(lines) + "\n"


@functools.lru_cache(maxsize=None)
def stored(name):
    """What is found in the stored stacks of a program."""
    folder = os.path.join(FOLDER.name, name)
    os.makedirs(folder, exist_ok=True)
    text = os.path.join(folder, "text")
    with open(text, "w", encoding="utf-8") as file:
        file.write(expanded(os.path.join(STORED, name + ".txt")))
    profile = os.path.join(folder, "profile.assay")
    r = run(os.path.join(BUILD, "tests", "unit", "make-run"), text, profile)
    assert r.status == 0, r
    shutil.copy(profile, os.path.join(folder, "observed.assay"))
    r = run(os.path.join(BUILD, "tests", "unit", "ledger-evaluate"), folder)
    assert r.status == 0, r
    return json.loads(r.out)["patterns"]


@case("the catalogue has more than 40 patterns, and a stored planted program for each")
def _():
    names = set(planted().patterns())
    files = {name[:-4] for name in os.listdir(STORED)}
    assert len(names) >= 40, len(names)
    assert files == names | set(CLEAN), files ^ (names | set(CLEAN))


@case("each pattern is found in the stacks of its planted program, and no other is")
def _():
    wrong = {}
    for name in sorted(planted().patterns()):
        found = [row["pattern"] for row in stored(name)]
        if found != [name]:
            wrong[name] = found
    assert not wrong, wrong


@case("nothing is found in the stacks of the clean programs")
def _():
    for name in CLEAN:
        assert not stored(name), (name, stored(name))


@case("the share of each match can be found again with its SQL, and its words are complete")
def _():
    for name in sorted(planted().patterns()):
        for row in stored(name):
            with sqlite3.connect(os.path.join(FOLDER.name, name, row["path"])) as db:
                value = db.execute(row["query"]).fetchone()[0]
            assert abs(value - row["share"]) < 1e-9, (name, value, row["share"])
            for key in ("means", "advice", "refute"):
                words = row[key]
                assert words and not re.search(r"[{}]|unknown number|\s\s", words), (name, words)
            assert re.search(r"\d %", row["means"]), row["means"]


@measured("planted programs are recorded here, and each has its own pattern")
def _():
    module, built = planted(), {}
    for program, cases in REAL.items():
        source = next(name for name in os.listdir(module.PLANTS) if name.split(".")[0] == program)
        need("g++" if source.endswith(".cc") else "gcc")
        built[program] = os.path.join(FOLDER.name, program)
        words = module.COMPILERS[source.rsplit(".", 1)[1]]
        r = run(*words, "-o", built[program], os.path.join(module.PLANTS, source))
        assert r.status == 0, r
        for name in cases:
            folder = os.path.join(FOLDER.name, "real_" + name)
            module.measure(BUILD, [built[program], name], folder)
            found = [row["pattern"] for row in module.judged(BUILD, folder)]
            assert found == [name], (name, found)


main()
