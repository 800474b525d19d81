"""Names that a hostile binary, recording or file brings: neither the terminal, nor a report, nor
GitHub, nor the reader of a document takes them for more than a name.

Looked at are bytes, not text: a terminal reads 0x9b as the start of an order where it is no part of
a character."""
import json
import os
import re
import sqlite3
import subprocess
import xml.etree.ElementTree as ET

import runs
from tap import ASSAY, Crash, CRASHES, case, main, need, run, script

HIDDEN = [*range(0x20), *range(0x7f, 0xa0), 0xad, 0x61c, 0x200b, 0x200e, 0x200f,
          *range(0x2028, 0x202f), *range(0x2060, 0x2070), 0xfeff, 0xe0041]
MARKUP = ("<img src=x onerror=alert(1)>", "<!-- ", "[text](http://evil.example)",
          "![i](//evil.example/i.png)", "@everyone", "&lt;b&gt;", "**bold**", "a|b\\|<i>c", "`<b>",
          "``<u>`", "www.evil.example", "#123", "<https://evil.example>")
STEER = "\x1b[2J\x9b31m\u202egnp.exe\u2066\u2028\u200b\ufeff\x07\x7f\udc9bH\udcff"
LINES = "\n::error::forged\nnext: rm -rf x\r\n ##[error]forged"
FOREIGN = "größe_日本語_\u0915\u094d\u200d\u0937"  # letters of all scripts stay, with their joiner
EVIL = "evil" + "".join(MARKUP) + STEER + LINES + FOREIGN
EVIL_UTF8 = EVIL.replace("\udc9b", "").replace("\udcff", "")


def raw(text):
    return text.encode("utf-8", "surrogateescape")


def printed(*words, **how):
    """stdout and stderr of assay as bytes, after the look for a crash."""
    done = subprocess.run([raw(ASSAY), *(raw(str(word)) for word in words)], capture_output=True,
                          stdin=subprocess.DEVNULL, timeout=60, check=False, **how)
    if -done.returncode in CRASHES or b"Sanitizer: " in done.stderr:
        raise Crash(repr(done))
    return done


def calm(data, *, breaks="\n\t", what=""):
    """The text of `data`, which is UTF-8 and holds nothing that a terminal would obey."""
    text = data.decode("utf-8")  # or it raises
    bad = [hex(ord(c)) for c in text if ord(c) in HIDDEN and c not in breaks]
    assert not bad, (what, bad, text[:3000])
    assert not re.search(r"^(::error|next: rm)", text, re.MULTILINE), (what, text[:3000])
    return text


def shows(*words, status=None, **how):
    """Both outputs of a command, calm."""
    done = printed(*words, **how)
    assert status is None or done.returncode == status, done
    return calm(done.stdout, what=words) + calm(done.stderr, what=words)


def profile(path="run.assay"):
    runs.made(runs.MIXED, path)
    with sqlite3.connect(path) as db:
        for old in ("lex", "work", "libz.so", "worker"):
            assert db.execute("UPDATE text SET text = CAST(? AS TEXT) WHERE text = ?",
                              (raw(EVIL + old), old)).rowcount == 1
    return path


# ---- a reader of Markdown that knows tables, code spans and nothing else ----

def cells(line):
    """A table row as GitHub splits it: a backslash takes the next character with it."""
    if not line.startswith("|"):
        return [line]
    return [cell.replace("\\|", "|") for cell in
            re.findall(r"((?:\\[!-/:-@\[-`{-~]|[^|])+)", line)]


def outside_code(text):
    """What is left of a text without its code spans."""
    out, at = "", 0
    while at < len(text):
        ticks = re.compile("`+").match(text, at)
        if not ticks:
            out, at = out + text[at], at + 1
            continue
        size = len(ticks.group())
        end = re.compile(f"(?<!`){'`' * size}(?!`)").search(text, ticks.end())
        out, at = (out + " ", end.end()) if end else (out + ticks.group(), ticks.end())
    return out


def only_text(markdown, what=""):
    """No name is more than a name in this Markdown."""
    for line in markdown.split("\n"):
        for cell in cells(line):
            left = outside_code(cell).replace("&#124;", "")
            found = re.search(r"<[a-zA-Z/!?]|[\[\]]\(|!\[|@\w|&#?\w+;|://|www\.|\*\*bold|"
                              r"(?<!\w)#\d|`", left)
            assert not found, (what, found, left, line)


@case("the reader of Markdown in this test sees what a browser would")
def _():
    for bad in ("a <img src=x>", "`a` <b>", "`` `<b> `", "| `a\\\\| <b>` |", "@you", "[a](b)"):
        try:
            only_text(bad)
        except AssertionError:
            continue
        raise AssertionError(f"not seen: {bad}")
    only_text("| `a\\|<b>` | 3 < 4 & 5 |\n`` `<b> `` [pmu] C# f() a_b")


@case("report, annotate, diff, flame and export show a hostile run file, and stay calm")
def _():
    path = profile()
    profile("other.assay")
    for words in (("report", path), ("report", path, "--agent"), ("report", path, "--sort", "self"),
                  ("report", path, "--by", "thread"), ("report", path, "--by", "module"),
                  ("diff", path, "other.assay"), ("diff", path, "other.assay", "--agent"),
                  ("annotate", path, "evil"), ("annotate", path, EVIL + "lex"),
                  ("annotate", path, EVIL + "lex", "--agent"), ("flame", path),
                  ("flame", path, "-o", "f.svg", "--agent"), ("export", path, "--format", "pprof")):
        shows(*words)
    text = shows("report", path, "--limit", "0", status=0)
    assert "größe" in text or "日本語" in text, text
    assert shows("report", path, "--agent", status=0).isascii()


@case("a runner of GitHub finds no workflow command in what is printed there")
def _():
    path = profile()
    on_github = {**os.environ, "GITHUB_ACTIONS": "true"}
    for words in (("report", path), ("report", path, "--agent"), ("report", "x" + LINES),
                  ("report", path, "--by", "thread"), ("diff", path, path),
                  ("bench", "-n", "2", "--name", "::error::forged", "true"),
                  ("bench", "-n", "2", "--", "true", "::add-mask::x", "x " * 40, "::error::x")):
        text = shows(*words, env=on_github)
        assert not re.search(r"^\s*::|##\[", text, re.MULTILINE), (words, text)


@case("documents are UTF-8 and escape what a terminal would obey, and say the same")
def _():
    path = profile()
    for words in (("report", path, "--json", "--limit", "0"), ("diff", path, path, "--json"),
                  ("export", path, "--format", "json", "-o", "-"),
                  ("export", path, "--format", "speedscope", "-o", "-"),
                  ("export", path, "--format", "chrome", "-o", "-")):
        text = calm(printed(*words).stdout, what=words)
        assert "\\u202e" in text and "\\u009b" in text, words
        json.loads(text)
    names = [r["name"] for r in json.loads(
        printed("report", path, "--json", "--limit", "0").stdout)["data"]["rows"]]
    want = raw(EVIL + "lex").decode("utf-8", "replace")
    assert want in names, (want, names)


@case("a flame graph holds neither markup nor orders")
def _():
    path = profile()
    shows("flame", path, "-o", "f.svg", status=0)
    with open("f.svg", "rb") as file:
        text = calm(file.read(), breaks="\n\t\r")
    assert not re.search(r"\\u(202[0-9a-e]|2066|009b|001b)", text), "the script would put it there"
    ET.fromstring(text)


@case("text formats hold no order; bytes that are no UTF-8 are kept")
def _():
    path = profile()
    for form in ("folded", "perfscript"):
        data = printed("export", path, "--format", form, "-o", "-").stdout
        assert b"\xff" in data, form
        calm(data.decode("utf-8", "ignore").encode(), what=form)


FOLDED = ";".join(("main", EVIL.replace(";", ":").replace("\n", " "))) + " 12\n"
SCRIPT = ("prog" + STEER.replace("\x1b", "") + "  7/7 [000] 1.000000000:  1000 cpu-clock:\n"
          "\t  401000 " + EVIL.replace("\n", " ") + "+0x10 (/tmp/" + STEER + ")\n\n")


@case("import tells of hostile text files in one calm screen, also under a hostile name")
def _():
    os.mkdir(raw("d" + STEER))
    results = [{"command": EVIL_UTF8, "times": [1, 2, 3]}]
    for name, text in (("a.folded", FOLDED), ("a.txt", SCRIPT),
                       ("a.json", json.dumps({"results": results}))):
        path = os.path.join("d" + STEER, name)
        with open(raw(path), "wb") as file:
            file.write(raw(text))
        for words in (("import", path), ("import", path, "-o", "new.assay"), ("import", path,
                      "--agent"), ("doctor", path), ("audit", path), ("report", path)):
            shows(*words)
        json.loads(calm(printed("import", path, "--json").stdout))
        if name != "a.json":
            shows("report", "new.assay", status=0)


@case("what cannot be done is said calmly: options, commands, files, programs")
def _():
    for words in (("report", "--" + EVIL), (EVIL,), ("report", EVIL), ("report", "a" + STEER),
                  ("import", "a" + STEER), ("doctor", "a" + STEER), ("run", "--", "./a" + STEER),
                  ("stat", "-e", "x" + STEER, "--", "true"), ("bench", "-n", "2", "./a" + STEER),
                  ("record", "-o", "no/" + STEER, "--", "true"), ("gate", "-b", STEER),
                  ("run", "--phase", STEER, "--", "true"), ("help", STEER),
                  ("stat", "-I", "\x9bx", "--", "true"), ("tune", STEER), ("env", "--diff", STEER,
                  STEER), ("run", "--check", STEER), ("run", "--check", STEER, "--agent")):
        done = printed(*words)
        assert done.returncode, words
        calm(done.stdout, what=words)
        assert len(calm(done.stderr, what=words).splitlines()) <= 4, done


@case("a command with hostile words can still be typed again from what is shown")
def _():
    word = "\u202e\x9b'\udcff\\"
    done = printed("bench", "-n", "2", "--json", "--", "true", word)
    shows("bench", "-n", "2", "--", "true", word, status=0)
    name = json.loads(done.stdout)["data"]["commands"][0]["name"]
    assert run("bash", "-c", f"printf '%s' {name.split(' ', 1)[1]} | od -An -tx1").out.split() == \
        [f"{byte:02x}" for byte in raw(word)], name


@case("Markdown of bench and gate holds names only, and GitHub gets no orders")
def _():
    words = ("true", "|\\|<img src=x>`<b>", "@everyone", STEER, LINES)
    done = printed("bench", "-n", "3", "-o", "a.assay", "--export-markdown", "b.md", "--", *words)
    assert done.returncode == 0, done
    with open("budgets.txt", "wb") as file:
        file.write(raw("true* wall median 1ns # @everyone <b> [x](y) ::error::\u202e %0A\n"))
    for more in ((), ("--budgets", "budgets.txt")):
        shows("gate", "-b", "a.assay", "--candidate", "a.assay", "--markdown", "g.md", "--github",
              *more)
        if not more:
            for name in ("b.md", "g.md"):
                with open(name, "rb") as file:
                    only_text(calm(file.read(), what=name), name)


@case("the evidence directory of a program with hostile functions is only text")
def _():
    with open("p.c", "w", encoding="ascii") as file:
        file.write("static volatile unsigned long sum;\n__attribute__((noinline)) void heavy("
                   "unsigned long n) { while (n--) sum += n; }\nint main(void) { for (int i = 0; "
                   "i < 15; i++) heavy(1000000); return 0; }\n")
    assert run(need("gcc"), "-O1", "-fno-inline", "p.c", "-o", "p").status == 0
    r = run(need("objcopy"), "--redefine-sym", "heavy=" + EVIL_UTF8, "p", "q")
    assert r.status == 0, r
    shows("run", "--budget", "12s", "--skip", "causal,counters", "-o", "out", "--", "./q", status=0)
    for name in sorted(os.listdir("out")):
        path = os.path.join("out", name)
        if name.endswith((".md", ".json", ".sql", ".ndjson", ".txt")):
            with open(path, "rb") as file:
                text = calm(file.read(), what=name)
            if name.endswith(".md"):
                only_text(text, name)
    with open("out/report.md", encoding="utf-8") as file:
        assert "größe_日本語" in file.read()
    assert run(need("sqlite3"), cwd="out", stdin="".join(
        open("out/queries.sql", encoding="utf-8"))).status == 0
    shows("run", "--check", "out", status=0)
    shows("ledger", "out")


@case("a build and a program that print orders are quoted without them")
def _():
    tool = script("dies", "printf '\\033[2J\\233H\\342\\200\\256last words\\n' >&2", "exit 3")
    text = shows("bench", "-n", "2", tool, status=5)
    assert "last words" in text, text
    for words in (("init", "-q"), ("commit", "-q", "--allow-empty", "-m", "a")):
        r = run(need("git"), "-c", "user.name=a", "-c", "user.email=a@b", *words)
        assert r.status == 0, r
    text = shows("ab", "--build", tool, "--run", "true", "HEAD", "--", "HEAD")
    assert "last words" in text, text


main()
