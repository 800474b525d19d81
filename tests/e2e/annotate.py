"""`assay annotate`: a real program with samples at known addresses, and what may be gone."""
import json
import os
import re
import shutil
import sqlite3
import subprocess

from tap import BUILD, SOURCE, assay, case, main, need, run, skip

HOT = os.path.join(BUILD, "tests/workloads/hot")
TEXT = os.path.join(SOURCE, "tests/workloads/hot.c")
MAKE_RUN = os.path.join(BUILD, "tests/unit/make-run")
MAKER = os.path.join(BUILD, "tests/workloads/sampled-run")


def line_of(mark):
    """The number of the source line that carries this mark."""
    with open(TEXT, encoding="utf-8") as file:
        return [i for i, line in enumerate(file, 1) if f"mark: {mark} " in line][0]


def symbols(program):
    """name -> (address, size), from nm."""
    rows = [line.split() for line in run(need("nm"), "-S", program).out.splitlines()]
    return {row[3]: (int(row[0], 16), int(row[1], 16)) for row in rows if len(row) == 4}


def recorded(samples, program=HOT, output="x.assay"):
    """A run with these samples: [(count, event, period, addr, *callers)]."""
    lines = "".join(f"{event} {period} {' '.join(f'{a:x}' for a in addrs)}\n" * count
                    for count, event, period, *addrs in samples)
    done = subprocess.run([MAKER, program, output], input=lines, text=True, check=False,
                          capture_output=True)
    assert done.returncode == 0, done
    return output


def annotated(path, function, *words):
    r = assay("annotate", path, function, "--json", *words)
    assert r.status == 0, r
    return json.loads(r.out)["data"]


def instructions_of(function):
    """[(address, is a call)] as objdump sees them."""
    begin, size = symbols(HOT)[function]
    text = run(need("objdump"), "-d", "--no-show-raw-insn", f"--start-address={begin}",
               f"--stop-address={begin + size}", HOT).out
    rows = re.findall(r"^ +([0-9a-f]+):\t(\S+)", text, re.MULTILINE)
    return [(int(addr, 16), word.startswith(("call", "bl"))) for addr, word in rows]


def usual():
    """Samples on every instruction of hot(), below its call, and in main's range nowhere."""
    rows = instructions_of("hot")
    call = next(addr for addr, is_call in rows if is_call)
    back = next(addr for addr, _ in rows if addr > call)  # the return address
    callee = symbols(HOT)["callee"][0]
    samples = [(i % 3 + 1, "cpu-clock", 1000000, addr) for i, (addr, _) in enumerate(rows)]
    samples += [(40, "cpu-clock", 1000000, callee, back - 1)]
    samples += [(7, "page-faults", 1, rows[3][0])]
    return rows, call, samples


def sums(data, key):
    return [sum(row["self"][e] for row in data[key]) for e in range(len(data["events"]))]


@case("lines and instructions each add up to the function's samples, for every event")
def _():
    rows, _, samples = usual()
    data = annotated(recorded(samples), "hot")
    own = [sum(i % 3 + 1 for i in range(len(rows))), 7]
    assert [e["self"] for e in data["events"]] == own, data["events"]
    assert sums(data, "lines") == own and sums(data, "instructions") == own, data
    for key in ("lines", "instructions"):
        for e in range(2):
            total = sum(row["self_share"][e] for row in data[key])
            assert abs(total - 1) < 1e-9, (key, total)


@case("the instructions are objdump's, at the same addresses")
def _():
    rows, _, samples = usual()
    data = annotated(recorded(samples), "hot")
    assert [int(i["addr"], 16) for i in data["instructions"]] == [a for a, _ in rows], data


@case("what was called is counted below the call, and the call is named")
def _():
    _, call, samples = usual()
    data = annotated(recorded(samples), "hot")
    row = next(i for i in data["instructions"] if int(i["addr"], 16) == call)
    assert row["below"] == [40, 0] and row["kind"] == "call", row
    assert row["target_name"] == "callee", row
    line = next(i for i in data["lines"] if i["line"] == line_of("call"))
    assert line["below"][0] == 40, line
    assert sum(i["below"][0] for i in data["instructions"]) == 40, data


@case("inlined code stands at its own line, under the name it came from")
def _():
    _, _, samples = usual()
    data = annotated(recorded(samples), "hot")
    line = next(i for i in data["lines"] if i["line"] == line_of("inlined"))
    assert line["inlined_from"] == "mix" and "value << 13" in line["text"], line
    assert 0 < data["events"][0]["inlined"] < data["events"][0]["self"], data["events"]


@case("a function that was only inlined has lines, and says where its instructions are")
def _():
    _, _, samples = usual()
    data = annotated(recorded(samples), "mix")
    assert data["inlined_only"] and data["lines"], data
    assert data["instructions"] is None and "hot" in data["instructions_reason"], data


@case("the page shows source, instructions, jumps, the call and the note about skid")
def _():
    _, _, samples = usual()
    r = assay("annotate", recorded(samples), "hot", "--all")
    assert r.status == 0, r
    for word in ("cpu-clock", "page-faults", "value << 13", "(inlined from mix)", "callee",
                 "L1:", "samples land on or shortly after"):
        assert word in r.out, (word, r)
    assert "..." not in r.out, r


@case("cold parts are left out with their sum, so that the column still adds up")
def _():
    rows, _, samples = usual()
    samples += [(1000, "cpu-clock", 1000000, rows[0][0])]
    r = assay("annotate", recorded(samples), "hot", "--limit", "1", "-e", "cpu-clock")
    listing = r.out.split("instructions, below")[1]
    shares = [float(x) for x in re.findall(r"^ {1,7}([0-9.]+) %", listing, re.MULTILINE)]
    if len(rows) > 40:
        assert " instructions\n" in listing, r
    assert abs(sum(shares) - 100) < 0.05 * len(shares) + 0.01, (sum(shares), r)


@case("--by line shows the source lines and no instruction")
def _():
    _, _, samples = usual()
    path = recorded(samples)
    r = assay("annotate", path, "hot", "--by", "line")
    assert r.status == 0 and "sum = mix(sum + i);" in r.out, r
    assert "instructions, below" not in r.out, r
    data = annotated(path, "hot", "--by", "line")
    assert data["instructions"] is None and data["instructions_reason"], data
    assert sums(data, "lines") == [e["self"] for e in data["events"]], data


@case("-e shows one event, --intel the other order of operands")
def _():
    _, _, samples = usual()
    path = recorded(samples)
    data = annotated(path, "hot", "-e", "page-faults")
    assert [e["name"] for e in data["events"]] == ["page-faults"], data
    att, intel = annotated(path, "hot"), annotated(path, "hot", "--intel")
    if os.uname().machine != "x86_64":
        skip("the order of operands differs on x86 only")
    assert any("%" in i["text"] for i in att["instructions"]), att
    assert not any("%" in i["text"] for i in intel["instructions"]), intel


@case("a program that was replaced keeps its lines and says that it was replaced")
def _():
    _, _, samples = usual()
    shutil.copy(HOT, "prog")
    path = recorded(samples, program=os.path.abspath("prog"))
    before = annotated(path, "hot")
    os.remove("prog")
    shutil.copy(os.path.join(BUILD, "tests/workloads/nop"), "prog")
    data = annotated(path, "hot")
    assert data["instructions"] is None and "replaced" in data["instructions_reason"], data
    assert [(i["line"], i["self"]) for i in data["lines"]] == \
        [(i["line"], i["self"]) for i in before["lines"]], data
    r = assay("annotate", path, "hot")
    assert r.status == 0 and "was replaced" in r.out and "sum = mix(" in r.out, r


@case("a program deleted while it ran is known by its build-id, and a replaced one is told as such")
def _():
    _, _, samples = usual()
    shutil.copy(HOT, "prog")
    path = recorded(samples, program=os.path.abspath("prog"))
    with sqlite3.connect(path) as db:  # as the kernel names it
        db.execute("UPDATE text SET text = text || ' (deleted)' WHERE text = ?",
                   [os.path.abspath("prog")])
    db.close()
    assert annotated(path, "hot")["instructions"], path
    os.remove("prog")
    shutil.copy(os.path.join(BUILD, "tests/workloads/nop"), "prog")
    reason = annotated(path, "hot")["instructions_reason"]
    assert re.search(r"prog was replaced after the recording \(build id [0-9a-f]{12}, now ", reason)
    assert "restore the old file and use --symfs" in assay("annotate", path, "hot").out


@case("--symfs finds the program elsewhere, with the recorded build-id only")
def _():
    _, _, samples = usual()
    shutil.copy(HOT, "prog")
    home = os.path.abspath("prog")
    path = recorded(samples, program=home)
    os.makedirs("old" + os.path.dirname(home))
    shutil.move("prog", "old" + home)
    gone = annotated(path, "hot")
    assert gone["instructions"] is None and "prog" in gone["instructions_reason"], gone
    assert annotated(path, "hot", "--symfs", "old")["instructions"], path


@case("source that is not here is said to be missing; --source finds it again")
def _():
    _, _, samples = usual()
    shutil.copy(TEXT, "hot.c")
    run(need("cc"), "-O2", "-g", "hot.c", "-o", "prog")
    path = recorded([(5, "cpu-clock", 1, symbols("prog")["hot"][0])],
                    program=os.path.abspath("prog"))
    os.makedirs("elsewhere")
    shutil.move("hot.c", "elsewhere/hot.c")
    gone = annotated(path, "hot")
    assert gone["files"][0]["found"] is None and gone["files"][0]["found_reason"], gone
    assert gone["lines"][0]["text"] is None and gone["lines"][0]["line"], gone
    assert "--source" in assay("annotate", path, "hot").out
    for rule in ("elsewhere", f"{os.getcwd()}={os.getcwd()}/elsewhere"):
        data = annotated(path, "hot", "--source", rule)
        assert data["lines"][0]["text"] is not None, (rule, data)


@case("a source file that was changed after the recording is told")
def _():
    shutil.copy(TEXT, "hot.c")
    run(need("cc"), "-O2", "-g", "hot.c", "-o", "prog")
    path = recorded([(5, "cpu-clock", 1, symbols("prog")["hot"][0])],
                    program=os.path.abspath("prog"))
    os.utime("hot.c", (1e9, 1e9))
    assert not annotated(path, "hot")["files"][0]["changed"]
    os.utime("hot.c", (2 ** 32, 2 ** 32))
    assert annotated(path, "hot")["files"][0]["changed"]
    assert "changed after the recording" in assay("annotate", path, "hot").out


@case("a run without addresses still has its lines")
def _():
    with open("x.txt", "w", encoding="utf-8") as file:
        file.write("event cpu-clock ns\nperiod 1000\n3 main:5;work:20\n1 main:5;work:21\n"
                   "4 main:5;work:20;leaf:7\n2 -\n")
    assert run(MAKE_RUN, "x.txt", "x.assay").status == 0
    data = annotated("x.assay", "work")
    assert [(i["line"], i["self"], i["below"]) for i in data["lines"]] == \
        [(20, [3], [4]), (21, [1], [0])], data
    assert data["instructions"] is None and data["instructions_reason"], data
    event = data["events"][0]
    assert (event["run_samples"], event["self"], event["total"]) == (10, 4, 8), event


@case("the page of lines is the one that was agreed on")
def _():
    with open("prog.c", "w", encoding="utf-8") as file:
        file.write("".join(f"line {i};\n" for i in range(1, 101)))
    with open("x.txt", "w", encoding="utf-8") as file:
        file.write("event cpu-clock ns\nperiod 1000\n60 main:5;work:20\n30 main:5;work:80\n"
                   "6 main:5;work:20;leaf:7\n4 main:5;work:21;+twist@prog:50\n")
    assert run(MAKE_RUN, "x.txt", "x.assay").status == 0
    r = assay("annotate", "x.assay", "work", "--limit", "2")
    with open(os.path.join(SOURCE, "tests/golden/annotate/lines.txt"), encoding="utf-8") as file:
        assert r.out == file.read(), r


@case("an unknown function, event, module or run is one sentence with the way out")
def _():
    _, _, samples = usual()
    path = recorded(samples)
    for words, sentence, hint in (
            ((path, "hpt"), "no function", "'hot'"),
            ((path, "hot", "-e", "cpu-clok"), "no samples of event", "cpu-clock"),
            ((path, "hot", "--module", "libc.so.6"), "libc.so.6", "it has samples in"),
            ((path, "0x1"), "0x1", "nm and objdump"),
            (("nothing.assay", "hot"), "nothing.assay", ""),
            ((path, "hot", "--limit", "0"), "limit", ""),
            ((path,), "", "")):
        r = assay("annotate", *words)
        assert r.status == 2 and sentence in r.err and hint in r.err, r
        assert len(r.err.splitlines()) <= 3, r


@case("--agent is ASCII, at most 40 lines, and ends with the next command")
def _():
    _, _, samples = usual()
    r = assay("annotate", recorded(samples), "hot", "--agent")
    lines = r.out.splitlines()
    assert r.status == 0 and r.out.isascii() and len(lines) <= 40, r
    assert lines[-1].startswith("next: assay "), r


main()
