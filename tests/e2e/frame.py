"""The frame of the command line: help, suggestions, exit statuses, output that goes nowhere."""
import json
import os
import pty
import re
import subprocess

from tap import ASSAY, assay, case, commands, main, need, run, skip


def options_of(command):
    """The long options that the help of a command lists."""
    return set(re.findall(r"--([a-z][a-z-]*)", assay("help", command).out))


@case("--version says the name and the version")
def _():
    r = assay("--version")
    assert r.status == 0 and re.fullmatch(r"assay \d+\.\d+\.\d+\n", r.out) and not r.err, r


@case("--version --verbose names the libraries with the versions that are in use")
def _():
    r = assay("--version", "--verbose")
    assert r.status == 0 and not r.err and r.out.startswith(assay("--version").out), r
    versions = dict(line.split(maxsplit=1) for line in r.out.splitlines()[1:])
    assert list(versions) == ["glibc", "libbpf", "sqlite", "zstd", "zlib", "liblzma",
                              "jansson", "capstone"], versions
    assert all(re.fullmatch(r"\d+\.\d+(\.\d+)*|not installed", v) for v in versions.values()), r
    for name, package in (("libbpf", "libbpf"), ("sqlite", "sqlite3"),
                          ("zstd", "libzstd"), ("zlib", "zlib"), ("liblzma", "liblzma"),
                          ("jansson", "jansson"), ("capstone", "capstone")):
        built = run(need("pkg-config"), "--modversion", package).out
        assert built.startswith(versions[name]) or versions[name] == "not installed", (name, built)
    assert versions["glibc"] == os.confstr("CS_GNU_LIBC_VERSION").split()[1], r


@case("--help and no words at all list every command, and only on stdout")
def _():
    for r in (assay("--help"), assay("-h"), assay(), assay("help")):
        assert r.status == 0 and not r.err, r
        for name in commands():
            assert re.search(rf"^  {name} ", r.out, re.MULTILINE), (name, str(r))


@case("--help groups the commands by the question they answer")
def _():
    lines = assay("--help").out.splitlines()
    questions = ["What to change", "Where the time goes", "Why it is slow there",
                 "What if it were faster", "Did it help", "Files and machine"]
    at = [lines.index(question) for question in questions]
    assert at == sorted(at), at
    for question, command in (("What to change", "run"), ("Did it help", "ab"),
                              ("Files and machine", "doctor")):
        index = lines.index(question)
        group = lines[index + 1:lines.index("", index)]
        assert any(line.split()[:1] == [command] for line in group), (question, group)


@case("the help of each command opens with an example and lists its options")
def _():
    for name in commands():
        r = assay(name, "--help")
        assert r.status == 0 and not r.err, r
        assert r.out.splitlines()[0].startswith("  assay "), r
        assert f"usage: assay {name} " in r.out, r
        assert {"json", "agent", "quiet", "color", "help"} <= options_of(name), r
        assert r.out == assay("help", name).out, r


@case("an unknown command exits 2 and suggests the nearest one")
def _():
    r = assay("hepl")
    assert r.status == 2 and not r.out, r
    assert r.err == "assay: unknown command 'hepl'\n  did you mean `assay help`?\n", r
    r = assay("zzzzzzzzzz")
    assert r.status == 2 and "assay --help" in r.err, r


@case("an unknown option exits 2 and suggests the nearest one")
def _():
    for name in commands():
        r = assay(name, "--jsno")
        assert r.status == 2 and not r.out and "did you mean --json?" in r.err, r
        r = assay(name, "-\u00e9")
        assert r.status == 2 and len(r.err.splitlines()) == 2, r


@case("an option without its value, with too much value or with a wrong choice exits 2")
def _():
    for words in (("--color",), ("--color=mauve",), ("--quiet=yes",)):
        r = assay("help", *words)
        assert r.status == 2 and len(r.err.splitlines()) == 2, r


@case("an empty name of a file is wrong usage, told before anything runs")
def _():
    for words in (("stat", "-o", "", "--", "true"), ("stat", "--json=", "--", "true"),
                  ("run", "-o", "", "--", "true"), ("run", "--check", ""), ("env", "-o", "")):
        r = assay(*words)
        assert r.status == 2 and "empty name" in r.err and len(r.err.splitlines()) == 2, r


@case("too many words and too few words exit 2 and show the usage")
def _():
    for words in (("completions",), ("completions", "bash", "zsh"), ("help", "a", "b")):
        r = assay(*words)
        assert r.status == 2 and "usage: assay " in r.err and not r.out, r


@case("a program behind -- without a command is meant for `run`, or told what to use instead")
def _():
    r = assay("--", "true")
    if "run" in commands():
        assert r.status == 0, r
    else:
        assert r.status == 2 and "assay stat -- PROGRAM" in r.err, r


@case("a program handed to a command that runs none is refused")
def _():
    r = assay("completions", "bash", "--", "true")
    assert r.status == 2 and "runs no program" in r.err and "usage: " in r.err, r


@case("--json and --agent together want the same stdout and are refused")
def _():
    for name in commands():
        r = assay(name, "--json", "--agent")
        assert r.status == 2 and not r.out and "--json=FILE" in r.err, r


@case("errors are one sentence and one way out, without a stack of messages")
def _():
    for words in (("nonsense",), ("help", "nonsense"), ("completions", "tcsh")):
        lines = assay(*words).err.splitlines()
        assert len(lines) == 2, lines
        assert lines[0].startswith("assay: ") and lines[1].startswith("  "), lines


@case("a full disk behind stdout exits 7 and is said")
def _():
    for words in (("--help",), ("--version",), ("help", "help"), ("completions", "bash")):
        with open("/dev/full", "wb") as full:
            r = assay(*words, stdout=full)
        assert r.status == 7 and "cannot write to stdout: no space left" in r.err, r


@case("a closed stdout exits 7 and not by a signal")
def _():
    for words in (("--help",), ("--version",), ("completions", "zsh")):
        r = run("sh", "-c", 'exec "$@" >&-', "sh", ASSAY, *words)
        assert r.status == 7, r


@case("a reader that goes away (| head) ends it with 7, without a signal and without a word")
def _():
    for words in (("completions", "bash"), ("env",), ("doctor", "--json")):
        read_end, write_end = os.pipe()
        os.close(read_end)
        r = assay(*words, stdout=write_end)
        os.close(write_end)
        assert r.status == 7 and not r.err, r


@case("help opens with the main job")
def _():
    lines = assay("--help").out.splitlines()
    assert lines[2] == "  assay -- ./program input", lines[:4]


@case("help --json is the table of commands: each option, its value and its choices")
def _():
    r = assay("help", "--json")
    assert r.status == 0 and not r.err, r
    document = json.loads(r.out)
    assert document["schema"] == "assay.help/1", document["schema"]
    found = {c["name"]: c for c in document["data"]["commands"]}
    assert list(found) == commands(), list(found)
    common = {o["name"] for o in document["data"]["common_options"]}
    for name, command in found.items():
        assert options_of(name) >= common | {o["name"] for o in command["options"]}, name
        assert command["examples"][0]["line"].startswith("assay "), command
    engine = next(o for o in found["stat"]["options"] if o["name"] == "engine")
    assert engine["choices"] == ["auto", "pmu", "sim"], engine
    one = json.loads(assay("help", "--json", "stat").out)["data"]["commands"]
    assert one == [found["stat"]], one
    assert json.loads(assay("completions", "fish", "--json").out)["data"]["script"] == \
        assay("completions", "fish").out


@case("help --agent is plain, at most 40 lines, and ends with a command")
def _():
    for words in ([], *([name] for name in commands())):
        r = assay("help", "--agent", *words)
        lines = r.out.splitlines()
        assert r.status == 0 and r.out.isascii() and len(lines) <= 40, (len(lines), str(r))
        assert lines[-1].startswith("next: "), r
    assert len(assay("completions", "bash", "--agent").out.splitlines()) == 2


def on_terminal(*words, **env):
    """What a command writes to a terminal."""
    controller, terminal = pty.openpty()
    names = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "TERM")}
    with subprocess.Popen([ASSAY, *words], stdin=subprocess.DEVNULL, stdout=terminal,
                          stderr=terminal, env={**names, "TERM": "xterm", **env}) as child:
        os.close(terminal)
        text = b""
        while True:
            try:
                piece = os.read(controller, 65536)
            except OSError:  # EIO: the last writer closed the terminal
                break
            if not piece:
                break
            text += piece
        child.wait(timeout=60)
    os.close(controller)
    return text.decode(errors="replace")


@case("NO_COLOR, TERM=dumb and --color=never keep colours off a terminal")
def _():
    if "env" not in commands():
        skip("this build has no command that colours its output")
    assert "\033[" in on_terminal("env", "--color=always")
    assert "\033[" not in on_terminal("env", NO_COLOR="1")
    assert "\033[" not in on_terminal("env", TERM="dumb")
    assert "\033[" not in on_terminal("env", "--color=never")
    # The line of progress replaces itself, which a dumb terminal cannot do.
    progress = ("bench", "-n", "10", "sleep 0.05", "--color=never")
    assert "\033[K" in on_terminal(*progress)
    assert "\033" not in on_terminal(*progress, TERM="dumb")


@case("--json of a command that needs no program is one document in the envelope")
def _():
    tried = 0
    for name in ("doctor", "env"):
        if name not in commands():
            continue
        tried += 1
        r = assay(name, "--json")
        assert r.status == 0, r
        document = json.loads(r.out)
        assert document["schema"] == f"assay.{name}/1", r
        assert document["tool"]["name"] == "assay", r
        for key in ("argv", "partial", "fingerprint", "warnings", "data"):
            assert key in document, (key, str(r))
    if not tried:
        skip("this build has neither doctor nor env")


@case("--agent is plain ASCII of at most 40 lines")
def _():
    tried = 0
    for name in ("doctor", "env"):
        if name not in commands():
            continue
        tried += 1
        r = assay(name, "--agent", env={"TERM": "xterm"})
        assert r.status == 0 and r.out.isascii() and "\033" not in r.out, r
        assert 0 < len(r.out.splitlines()) <= 40, r
    if not tried:
        skip("this build has neither doctor nor env")


@case("man pages pass mandoc's lint")
def _():
    mandoc = need("mandoc")
    for name in [None] + commands():
        page = assay("help", "--man", *([name] if name else []))
        assert page.status == 0 and page.out.startswith(".TH ASSAY"), page
        with open("page.1", "w", encoding="utf-8") as file:
            file.write(page.out)
        r = run(mandoc, "-T", "lint", "-W", "warning", "page.1")
        # No date: the page belongs to a version, and a build must be reproducible.
        complaints = [line for line in r.out.splitlines() if "missing date" not in line]
        assert not complaints, (name, complaints)


@case("completions are valid for bash, zsh and fish")
def _():
    missing = []
    for shell in ("bash", "zsh", "fish"):
        text = assay("completions", shell)
        assert text.status == 0 and len(text.out) > 500, text
        with open(shell, "w", encoding="utf-8") as file:
            file.write(text.out)
        try:
            r = run(need(shell), "-n", shell)
        except Exception as e:  # pylint: disable=broad-except
            missing.append(str(e))
            continue
        assert r.status == 0 and not r.err, r
    if missing:
        skip(", ".join(missing))


@case("bash completes commands and the options of a command")
def _():
    with open("complete.bash", "w", encoding="utf-8") as file:
        file.write(assay("completions", "bash").out)
    script = ('. ./complete.bash; COMP_WORDS=({words}); COMP_CWORD={at}; _assay 2>/dev/null; '
              'printf "%s\\n" "${{COMPREPLY[@]}}"')
    r = run("bash", "-c", script.format(words="assay comp", at=1))
    assert r.out.split() == ["completions"], r
    r = run("bash", "-c", script.format(words="assay help --ma", at=2))
    assert r.out.split() == ["--man"], r


main()
