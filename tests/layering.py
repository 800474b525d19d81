"""The house is one-way: what a room may include compiles, what it may not include does not.

For each ordered pair of rooms (A, B) one line, `#include "B/header.h"`, is compiled with exactly
the flags that the build compiles A with.  The matrix stands here once more, apart from the
meson.build files, so that a folder added there in passing is noticed.

    layering.py SOURCE BUILD"""
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

SOURCE, BUILD = (os.path.abspath(path) for path in sys.argv[1:3])

# room -> the rooms whose public headers it may include
MAY_INCLUDE = {
    "wire": set(),
    "base": set(),
    "runtime": {"wire"},
    "code": {"base"},
    "model": {"base"},
    "source": {"wire", "base"},
    "ingest": {"wire", "code", "model", "base"},
    "drive": {"source", "ingest", "code", "base"},
    "analyze": {"code", "model", "base", "data"},
    "render": {"analyze", "base"},
    "cli": {"render", "drive", "analyze", "ingest", "source", "code", "model", "base", "wire"},
}
# Not decided by the design: drive sees the record format only through the headers of source and
# ingest, and cli may or may not list the embedded texts.
EITHER_WAY = {("drive", "wire"), ("cli", "data")}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def c_files(*tops):
    """The C files and headers below these folders; without git, for a tree from an archive."""
    return [os.path.relpath(os.path.join(folder, name), SOURCE)
            for top in tops for folder, _, names in os.walk(os.path.join(SOURCE, top))
            for name in names if name.endswith((".c", ".h"))]


def folder_of(room):
    return os.path.join(SOURCE, room if room == "data" else os.path.join("src", room))


def headers_of(room):
    """Public headers, as others would write them in an include."""
    top = os.path.join(folder_of(room), "include")
    return sorted(os.path.relpath(os.path.join(folder, name), top)
                  for folder, _, names in os.walk(top) for name in names if name.endswith(".h"))


def flags_of_rooms():
    """room -> (compiler and flags, working folder), from the compile commands of its first file."""
    flags = {}
    with open(os.path.join(BUILD, "compile_commands.json"), encoding="utf-8") as file:
        for entry in json.load(file):
            path = os.path.normpath(os.path.join(entry["directory"], entry["file"]))
            parts = os.path.relpath(path, SOURCE).split(os.sep)
            if parts[0] != "src" or len(parts) < 3 or path.endswith(".bpf.c"):
                continue
            words, kept = shlex.split(entry["command"]), []
            while words:
                word = words.pop(0)
                if word in ("-o", "-MF", "-MQ", "-c"):
                    words.pop(0)
                elif word not in ("-MD", "-MMD"):
                    kept.append(word)
            flags.setdefault(parts[1], (kept, entry["directory"]))
    return flags


def compiles(flags, header, scratch):
    path = os.path.join(scratch, "one_line.c")
    with open(path, "w", encoding="ascii") as file:
        file.write(f'#include "{header}"\n')
    words, folder = flags
    done = subprocess.run([*words, "-fsyntax-only", "-w", "-fdiagnostics-color=never", path],
                          cwd=folder, capture_output=True, text=True, check=False)
    found = "No such file" not in done.stderr and "file not found" not in done.stderr
    return done.returncode == 0, found, done.stderr


def pair(flags, room, other, scratch):
    """What is wrong with room including other; None: nothing.  Raises LookupError to skip."""
    if room not in flags:
        raise LookupError(f"{room} has no source file yet")
    headers = headers_of(other)
    if not headers:
        raise LookupError(f"{other} has no public header yet")
    for header in headers:
        good, found, complaint = compiles(flags[room], header, scratch)
        if other == room or other in MAY_INCLUDE[room]:
            if not good:
                return f"{header} does not compile in {room}:\n{complaint}"
        elif found and (room, other) not in EITHER_WAY:
            return f"{room} can include {header}, which the house forbids"
    return None


def climbing_includes():
    """Includes by ../ are for a subfolder of a room (bpf/) and end in that room."""
    found = []
    for path in c_files("src", "tests", "examples", "data", "include"):
        room = os.sep.join(path.split(os.sep)[:2])
        with open(os.path.join(SOURCE, path), encoding="utf-8", errors="replace") as file:
            for _, name in INCLUDE.findall(file.read()):
                target = os.path.normpath(os.path.join(os.path.dirname(path), name))
                if ".." in name.split("/") and not target.startswith(room + os.sep):
                    found.append(f"{path} includes {name}")
    return found


def private_includes():
    """A quoted include is public (room/name.h), or a file beside the one that includes it."""
    public = {header for room in [*MAY_INCLUDE, "data"] for header in headers_of(room)}
    found = []
    for path in c_files("src"):
        with open(os.path.join(SOURCE, path), encoding="utf-8", errors="replace") as file:
            for bracket, name in INCLUDE.findall(file.read()):
                beside = os.path.join(SOURCE, os.path.dirname(path), name)
                room = os.path.join(folder_of(path.split(os.sep)[1]), name)
                generated = name.endswith(".skel.h")
                if bracket == '"' and name not in public and not generated \
                        and not os.path.exists(beside) and not os.path.exists(room):
                    found.append(f"{path} includes {name}, which is neither public nor its own")
    return found


def unknown_rooms():
    rooms = [name for name in sorted(os.listdir(os.path.join(SOURCE, "src")))
             if os.path.isdir(os.path.join(SOURCE, "src", name))]
    return [f"src/{name} is no room of the house" for name in rooms if name not in MAY_INCLUDE]


def main():
    flags, failed, number = flags_of_rooms(), 0, 0
    rooms = list(MAY_INCLUDE)
    whole = (("the house has these eleven rooms and no other", unknown_rooms),
             ("no include climbs out of its room", climbing_includes),
             ("no room includes a private header of another", private_includes))
    pairs = [(a, b) for a in rooms for b in [*rooms, "data"] if b != "cli"]
    print(f"1..{len(whole) + len(pairs)}")

    def say(good, sentence, detail="", skipped=""):
        nonlocal number, failed
        number += 1
        failed += not good
        print(f"{'ok' if good else 'not ok'} {number} - {sentence}"
              + (f" # SKIP {skipped}" if skipped else ""))
        for line in detail.splitlines():
            print(f"#   {line}")

    for sentence, check in whole:
        wrong = check()
        say(not wrong, sentence, "\n".join(wrong))
    with tempfile.TemporaryDirectory() as scratch:
        for room, other in pairs:
            may = other == room or other in MAY_INCLUDE[room]
            free = (room, other) in EITHER_WAY
            sentence = f"{room} {'may' if may or free else 'cannot'} include {other}"
            try:
                wrong = pair(flags, room, other, scratch)
                say(not wrong, sentence, wrong or "")
            except LookupError as reason:
                say(True, sentence, skipped=reason.args[0])
    sys.exit(1 if failed else 0)


main()
