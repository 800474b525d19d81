"""The documents say what the program does: options, links and commands in them are real."""
import os
import re
import subprocess

from tap import SOURCE, assay, case, commands, main

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
# As a command line: quoted, or with an option, a placeholder or a file behind it; no "assay is".
CALL = re.compile(r"(?<=[`'])assay ([a-z]+)|(?<![\w./])assay ([a-z]+)"
                  r"(?=[`']| --?[a-z]| -- | [<\[%]| [A-Z]{2}| [\w.]+\.assay)")
STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
COMMON = {"json", "agent", "quiet", "color", "help"}


def read(path):
    with open(os.path.join(SOURCE, path), encoding="utf-8") as file:
        return file.read()


def pages():
    """Every Markdown file of the project, build folders left out."""
    found = []
    for folder, names, files in os.walk(SOURCE):
        names[:] = [n for n in names if not n.startswith(("build", ".git", "node_modules"))]
        found += [os.path.relpath(os.path.join(folder, f), SOURCE)
                  for f in files if f.endswith(".md")]
    return sorted(found)


def spoken(folder, *ends):
    """{path: text} of a folder; of C files only the strings, those in pieces put together."""
    texts = {}
    for top, _, files in os.walk(os.path.join(SOURCE, folder)):
        for path in (os.path.relpath(os.path.join(top, f), SOURCE) for f in files):
            if not path.endswith(ends):
                continue
            text = read(path)
            if path.endswith((".c", ".h")):
                text = "\n".join(STRING.findall(re.sub(r'"\s*\n\s*"', "", text)))
            texts[path] = text
    return texts


def options_of(command):
    return set(re.findall(r"^ +(?:-\w, |    )?--([a-z][a-z-]*)", assay("help", command).out,
                          re.MULTILINE))


def fenced(text, *languages):
    """Lines of the fenced blocks in one of these languages."""
    lines, inside = [], False
    for line in text.splitlines():
        if line.startswith("```"):
            inside = not inside and line[3:].strip() in languages
        elif inside:
            lines.append(line)
    return lines


def make_targets():
    return set(re.findall(r"^([a-z][a-z0-9-]*):", read("Makefile"), re.MULTILINE))


def shell_words(page):
    """The command lines of a page's sh blocks, without prompt and comment."""
    for line in fenced(read(page), "sh"):
        yield line.removeprefix("$ ").split("#")[0].split()
    for line in fenced(read(page), "console"):  # what was typed, among what was answered
        if line.startswith("$ "):
            yield line[2:].split("#")[0].split()


@case("every command has its page under docs/commands, and every page its command")
def _():
    folder = os.path.join(SOURCE, "docs", "commands")
    written = {name[:-3] for name in os.listdir(folder) if name.endswith(".md")}
    assert written == set(commands()), sorted(written ^ set(commands()))


@case("the page of each command names each of its options, and no other")
def _():
    for name in commands():
        text = read(f"docs/commands/{name}.md")
        real = options_of(name) - COMMON
        missing = {o for o in real if f"--{o}" not in text}
        assert not missing, f"docs/commands/{name}.md does not name {sorted(missing)}"
        rows = set(re.findall(r"^\| `(?:-\w, )?--([a-z-]+)", text, re.MULTILINE))
        wrong = rows - real - COMMON
        assert not wrong, f"docs/commands/{name}.md describes {sorted(wrong)}, which do not exist"


@case("docs/format.md names the schema number that the code writes")
def _():
    code = re.findall(r"STORE_VERSION = (\d+)", read("src/model/include/model/store.h"))
    text = read("docs/format.md")
    assert re.findall(r"schema number, now (\d+)", text) == code, code
    assert re.findall(r"user version (\d+),", text) == code, code


@case("every relative link in a document leads somewhere")
def _():
    broken = []
    for page in pages():
        for target in LINK.findall(read(page)):
            if re.match(r"[a-z]+:", target) or target.startswith("#"):
                continue
            path = os.path.join(SOURCE, os.path.dirname(page), target.split("#")[0])
            if not os.path.exists(path):
                broken.append(f"{page} -> {target}")
    assert not broken, broken


@case("the files that the documents for developers name are there")
def _():
    folders = [SOURCE] + [folder for folder, names, _ in os.walk(os.path.join(SOURCE, "src"))
                          if os.path.basename(folder) == "include"]
    for page in ("ARCHITECTURE.md", "CONTRIBUTING.md"):
        for path in re.findall(r"`([\w.-]+(?:/[\w.-]+)+)`", read(page)):
            if re.search(r"[A-Z]{3}|^x_|^seeds/", path):  # src/cli/NAME.c, x_open/x_close
                continue
            assert any(os.path.exists(os.path.join(folder, path)) for folder in folders), \
                f"{page}: {path} is not there"


@case("every page under docs/ is reached from docs/README.md")
def _():
    reached, todo = set(), ["docs/README.md"]
    while todo:
        page = todo.pop()
        if page in reached:
            continue
        reached.add(page)
        for target in LINK.findall(read(page)):
            path = os.path.normpath(os.path.join(os.path.dirname(page), target.split("#")[0]))
            if path.endswith(".md") and os.path.exists(os.path.join(SOURCE, path)):
                todo.append(path)
            elif os.path.isdir(os.path.join(SOURCE, path)):
                todo += [p for p in pages() if os.path.dirname(p) == path]
    lost = [p for p in pages() if p.startswith("docs/") and p not in reached]
    assert not lost, lost


@case("the commands in shell blocks of the documents exist, with their options")
def _():
    known, targets, wrong = commands(), make_targets(), []
    for page in pages():
        for words in shell_words(page):
            if words[:1] == ["make"]:
                wrong += [f"{page}: make {w}" for w in words[1:]
                          if re.fullmatch("[a-z][a-z0-9-]*", w) and w not in targets]
            if not words or words[0] not in ("assay", "build/assay"):
                continue
            rest = words[1:]
            if not rest or rest[0] in ("--help", "--version", "COMMAND", "--"):
                continue
            if rest[0] not in known:
                wrong.append(f"{page}: assay {rest[0]}")
                continue
            own = rest[:rest.index("--")] if "--" in rest else rest
            wrong += [f"{page}: assay {rest[0]} {w}" for w in own if w.startswith("--")
                      and w[2:].split("=")[0] not in options_of(rest[0])]
    assert not wrong, wrong


@case("the commands that assay itself names exist")
def _():
    known, calls = set(commands()), {}
    for path, text in {**spoken("src", ".c", ".h"), **spoken("data", "")}.items():
        for words in CALL.findall(text):
            calls.setdefault("".join(words), path)
    assert len(calls) > len(known) / 2, calls
    wrong = {name: path for name, path in calls.items() if name not in known}
    assert not wrong, wrong


@case("the commands that need a capability exist")
def _():
    rows = re.findall(r"^commands +(.*)", read("data/capabilities.txt"), re.MULTILINE)
    wrong = {word for row in rows for word in row.split()} - set(commands())
    assert rows and not wrong, wrong


@case("docs/format.md lists the views of a run file, each once")
def _():
    made = re.findall(r"CREATE VIEW (\w+)", read("src/model/store_views.c"))
    table = read("docs/format.md").split("| view |")[1].split("\n\n")[0]
    listed = re.findall(r"^\| `(\w+)`", table, re.MULTILINE)
    assert made and sorted(listed) == sorted(made), set(listed) ^ set(made)


@case("each target that the Makefile promises in its help is there")
def _():
    listed = set(re.findall(r"^make ([a-z0-9-]+)", subprocess.run(
        ["make", "-s", "-C", SOURCE, "help"], capture_output=True, text=True,
        check=True).stdout, re.MULTILINE))
    assert listed == make_targets(), (listed, make_targets())


main()
