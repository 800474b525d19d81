#!/usr/bin/env python3
"""patterns.py [BUILD] [CASE...] - is each pattern found in its planted program, and in no other?

Builds the programs of tests/workloads/patterns, records each case (assay record, assay stat --proc)
and holds the whole catalogue against it; the same for the clean programs, in which nothing may be
found, and for those of the other truth tables, whose findings are listed and not judged.

    --keep DIR   keep the run files there     --store DIR  thin the stacks out and write them there:
                                              what tests/e2e/patterns.py reads"""
import argparse
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
PLANTS = os.path.join(SOURCE, "tests", "workloads", "patterns")
CLEAN = ["clean/arithmetic", "clean/pipeline", "clean/sort", "clean/stream"]
PLANTED = ["planted/" + name for name in (
    "chase", "churn", "convoy", "faults", "mispredict", "off_critical", "quadratic", "starved",
    "syscalls")]
COMPILERS = {"c": ["gcc", "-O2", "-g", "-pthread", "-D_GNU_SOURCE"], "cc": ["g++", "-O2", "-g"],
             "rs": ["rustc", "-O", "-g"], "go": ["go", "build"]}
LIBRARIES = {"work": ["-lm", "-lsqlite3"]}
SCRIPT = "x = 0\nfor i in range(1500000): x = (x * 31 + i) % 1000003\nprint(x)"
# Of a stored program: samples, and frames outside and inside the kernel.
SAMPLES, FRAMES, KERNEL_FRAMES = 200, 14, 8
START = {"_start", "__libc_start_main", "__libc_start_call_main", "__libc_start_main_impl", "main",
         "plants_main", "runtime.main", "runtime.goexit", "main.main"}


def patterns():
    """pattern -> the program that its case is planted in."""
    found, folder = {}, os.path.join(SOURCE, "data", "patterns")
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="ascii") as file:
            text = file.read()
        found.update(re.findall(r"^pattern +(\S+)$.*?^plant +(\S+)$", text, re.M | re.S))
    return found


def program_of(build, name):
    """The path of a planted program, built when its source is newer; None: no compiler here."""
    source = next(os.path.join(PLANTS, file) for file in sorted(os.listdir(PLANTS))
                  if file.split(".")[0] == name and not file.endswith(".h"))
    words = COMPILERS[source.rsplit(".", 1)[1]]
    made = os.path.join(build, "bench", "patterns", name)
    if not os.path.exists(made) or os.path.getmtime(made) < os.path.getmtime(source):
        if not shutil.which(words[0]):
            return None
        os.makedirs(os.path.dirname(made), exist_ok=True)
        subprocess.run([*words, "-o", made, source, *LIBRARIES.get(name, [])], check=True)
    return made


def command_of(build, case, plant):
    if plant == "-":
        return [sys.executable, "-c", SCRIPT]
    program = program_of(build, plant)
    return [program, case] if program else None


def judged(build, folder):
    """What of the catalogue is found in the run files of a folder."""
    r = subprocess.run([os.path.join(build, "tests", "unit", "ledger-evaluate"), folder],
                       capture_output=True, text=True, check=True)
    return json.loads(r.stdout)["patterns"]


def measure(build, words, folder):
    os.makedirs(folder, exist_ok=True)
    assay = os.path.join(build, "assay")
    for command, output in ((["record", "-F", "4999"], "profile"),
                            (["stat", "--proc"], "observed")):
        subprocess.run([assay, *command, "-o", os.path.join(folder, output + ".assay"), "--",
                        *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)


def bare_name(name):
    """Without parameters and the type that a template returns, and with <> for its arguments."""
    name, depth = re.sub(r"\s+", " ", name), 0
    if name.endswith((")", ") const")) and not name.endswith("()"):
        for i in range(name.rindex(")"), 0, -1):
            depth += (name[i] == ")") - (name[i] == "(")
            if not depth:
                name = name[:i]
                break
    if not name.startswith("<") and "operator" not in name:
        while re.search(r"<[^<>]+>", name.replace("<>", "")):
            name = re.sub(r"<(?:[^<>]|<>)+>", "<>", name)
    name = re.sub(r"^.* (std::)", r"\1", name)
    return name + "()" if name.endswith("operator()") else name  # the first is its name


def frame_text(name, module, inlined, program):
    """As tests/unit/profile_text.h writes a frame; of a path only its last part is kept."""
    name = bare_name((name or "?").replace(";", ",").split("@")[0])
    base = os.path.basename(module or "[unknown]")
    return ("+" if inlined else "") + name + ("" if base.startswith(program) else "@" + base)


def thinned(frames):
    """Outermost first: without what starts a program, and what comes on top of an interrupt or is
    deep in the kernel or in recursion; no rule looks at it."""
    frames = [frame for frame in frames if frame.split("@")[0].lstrip("+") not in START]
    for i, frame in enumerate(frames):
        if frame.startswith("asm_sysvec"):
            frames = frames[:i]
            break
    kernel = [frame for frame in frames if frame.endswith("@[kernel]")]
    user = [frame for frame in frames if not frame.endswith("@[kernel]")][-FRAMES:]
    return ";".join(user + kernel[:KERNEL_FRAMES]).lstrip("+")


def stacks_of(db, program):
    """stack -> its frames as text, outermost first."""
    rows = db.execute(
        "SELECT c.stack, c.location, n.text, p.text FROM chains c"
        " LEFT JOIN function f ON f.id = c.function LEFT JOIN text n ON n.id = f.name"
        " LEFT JOIN module m ON m.id = c.module LEFT JOIN text p ON p.id = m.path"
        " ORDER BY c.stack, c.depth DESC").fetchall()
    stacks, before = {}, (None, None)
    for stack, location, name, module in rows:
        inlined = before == (stack, location)
        before = (stack, location)
        stacks.setdefault(stack, []).append(frame_text(name, module, inlined, program))
    return {stack: thinned(frames) for stack, frames in stacks.items()}


def store(folder, program, path):
    """Thinned out: every n-th sample, in order of time, with the facts that rules ask for."""
    with sqlite3.connect(os.path.join(folder, "profile.assay")) as db:
        texts = stacks_of(db, program)
        samples = db.execute("SELECT stack, thread FROM sample ORDER BY time_ns").fetchall()
    with sqlite3.connect(os.path.join(folder, "observed.assay")) as db:
        facts = db.execute("SELECT name, value FROM facts WHERE value IS NOT NULL AND name IN"
                           " ('read_calls', 'write_calls', 'read_chars', 'write_chars',"
                           " 'on_cpu_ns', 'threads_most', 'sync_waiters')").fetchall()
    step = max(1, len(samples) // SAMPLES)
    samples = [(texts[stack], thread) for stack, thread in samples[::step] if texts.get(stack)]
    ids = {text: i for i, text in enumerate(dict.fromkeys(text for text, _ in samples))}
    with open(path, "w", encoding="utf-8") as file:
        for name, value in facts:
            file.write(f"fact {name} {value:.0f}\n")
        for text, i in ids.items():
            file.write(f"{i} {text}\n")
        # Of a sample: its stack, and its thread if that is not the first.
        file.write("order " + " ".join(f"{ids[text]}" if thread == 1 else f"{ids[text]}:{thread}"
                                       for text, thread in samples) + "\n")


def judge(build, case, command, folder):
    """A line about one program, and whether it is as it should be."""
    measure(build, command, folder)
    rows = judged(build, folder)
    found = [row["pattern"] for row in rows]
    right = case in PLANTED or found == ([] if case in CLEAN else [case])
    word = "listed" if case in PLANTED else "right" if right else "WRONG"
    said = ", ".join(f"{row['pattern']} {100 * row['share']:.0f} % {row['function']}"
                     for row in rows)
    print(f"{case}: {word}: {said or 'nothing'}", flush=True)
    return right


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", nargs="?", default="build")
    parser.add_argument("cases", nargs="*")
    parser.add_argument("--keep")
    parser.add_argument("--store")
    parser.add_argument("-j", "--jobs", type=int, default=1)
    words = parser.parse_args()
    build = os.path.abspath(words.build)
    todo = {case: command_of(build, case, plant) for case, plant in patterns().items()}
    todo.update({name: [os.path.join(build, "tests", "workloads", name)]
                 for name in CLEAN + PLANTED})
    missing = [case for case, command in todo.items() if not command]
    todo = {case: command for case, command in todo.items()
            if command and (not words.cases or case in words.cases)}
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(words.jobs) as pool:
        folders = {case: os.path.join(words.keep or scratch, case.replace("/", "_"))
                   for case in todo}
        right = sum(pool.map(lambda case: judge(build, case, todo[case], folders[case]), todo))
        for case in todo if words.store else []:
            if case not in PLANTED:
                store(folders[case], os.path.basename(todo[case][0]),
                      os.path.join(words.store, case.replace("/", "_") + ".txt"))
    print(f"{right} of {len(todo)} right; no compiler for: {', '.join(missing) or 'none'}")
    return 0 if right == len(todo) else 1


if __name__ == "__main__":
    sys.exit(main())
