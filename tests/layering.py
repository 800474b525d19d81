"""The house is one-way: what a room may include compiles, what it may not include does not.

For each ordered pair of rooms (A, B) a file that includes the headers of B, or looks for them, is
compiled with exactly the flags that the build compiles A with.  The same holds between the folders
of a room that has some: each is built alone, and sees only the ones named here.  The matrix is here
once more, apart from the meson.build files, so that a folder added there in passing is noticed.

    layering.py SOURCE BUILD"""
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

from place import place_for

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
    "job": {"render", "drive", "analyze", "ingest", "source", "code", "model", "base", "wire"},
    "cli": {"job", "render", "drive", "analyze", "ingest", "source", "code", "model", "base",
            "wire"},
}
# room -> its folders, lowest first -> the folders of the same room whose headers each may include
FOLDERS = {
    "analyze": {
        "book": set(),
        "profile": {"book"},
        "cpu": {"book", "profile"},
        "compare": {"book", "profile", "cpu"},
        "causal": set(),
        "answer": {"book", "profile", "cpu", "compare", "causal"},
    },
    "render": {"text": set(), "json": {"text"}, "markdown": {"text"}, "svg": {"text"},
               "export": {"text"}},
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


def parts_of(room):
    """What of a room is built alone: its folders, or the room."""
    return [f"{room}/{folder}" for folder in FOLDERS.get(room, ())] or [room]


def may_include(part, other):
    """Both are rooms, or folders of one room."""
    if part == other:
        return True
    if "/" in part and "/" in other:
        room, folder = part.split("/")
        return other.split("/")[1] in FOLDERS[room][folder]
    return other in MAY_INCLUDE[part]


def headers_of(room):
    """Public headers of a room or a folder, as others would write them in an include."""
    tops = [os.path.join(folder_of(part), "include") for part in parts_of(room)]
    return sorted(os.path.relpath(os.path.join(folder, name), top) for top in tops
                  for folder, _, names in os.walk(top) for name in names if name.endswith(".h"))


def flags_of_parts():
    """room or room/folder -> (compiler and flags, working folder), those of its first file."""
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
            part = "/".join(parts[1:3] if parts[1] in FOLDERS else parts[1:2])
            flags.setdefault(part, (kept, entry["directory"]))
    return flags


def complaint(flags, text, scratch):
    """What the compiler says against a file with this text; None: nothing."""
    path = os.path.join(scratch, "one.c")
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    words, folder = flags
    with place_for(BUILD):
        done = subprocess.run([*words, "-fsyntax-only", "-w", "-fdiagnostics-color=never", path],
                              cwd=folder, capture_output=True, text=True, check=False)
    return done.stderr if done.returncode else None


def included(headers):
    return "".join(f'#include "{header}"\n' for header in headers)


def refused(headers):
    """Does not compile where one of them can be found."""
    return "".join(f'#if __has_include("{header}")\n#error {header}\n#endif\n'
                   for header in headers)


def pair(flags, room, other, scratch):
    """What is wrong with room including other; None: nothing.  Raises LookupError to skip.  What
    a room may not include, none of its folders may; what it may, the uppermost of them tries."""
    may = may_include(room, other)
    if not may and (room, other) in EITHER_WAY:
        return None
    headers = headers_of(other)
    for part in parts_of(room)[-1:] if may else parts_of(room):
        if part not in flags:
            raise LookupError(f"{part} has no source file yet")
        said = complaint(flags[part], included(headers) if may else refused(headers), scratch)
        if said:
            return f"{other} in {part}, which {'may' if may else 'cannot'} include it:\n{said}"
    return None


def needy_headers(flags, scratch):
    """Public headers that do not compile without another one before them."""
    uppermost = max(MAY_INCLUDE, key=lambda room: len(MAY_INCLUDE[room]))
    return [f"{header}:\n{said}" for room in MAY_INCLUDE for header in headers_of(room)
            if (said := complaint(flags[room if room in flags else uppermost], included([header]),
                                  scratch))]


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
    def folders(*path):
        top = os.path.join(SOURCE, *path)
        return [name for name in sorted(os.listdir(top)) if os.path.isdir(os.path.join(top, name))]
    return [f"src/{name} is no room of the house"
            for name in folders("src") if name not in MAY_INCLUDE] \
        + [f"src/{room}/{name} is no folder of this room"
           for room in FOLDERS for name in folders("src", room) if name not in FOLDERS[room]]


def main():
    flags, failed, number = flags_of_parts(), 0, 0
    rooms = list(MAY_INCLUDE)
    whole = (("the house has these twelve rooms and no other", unknown_rooms),
             ("no include climbs out of its room", climbing_includes),
             ("no room includes a private header of another", private_includes))
    # Nobody can include a room without a public header: the runtime, which is loaded by others.
    pairs = [(a, b) for a in rooms for b in [*rooms, "data"]
             if b != "cli" and headers_of(b) and not (a == b and a in FOLDERS)]
    pairs += [(a, b) for room in FOLDERS for a in parts_of(room) for b in parts_of(room)]
    print(f"1..{len(whole) + 1 + len(pairs)}")

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
        wrong = needy_headers(flags, scratch)
        say(not wrong, "each public header compiles by itself", "\n".join(wrong))
        for room, other in pairs:
            may = may_include(room, other)
            free = (room, other) in EITHER_WAY
            sentence = f"{room} {'may' if may or free else 'cannot'} include {other}"
            try:
                wrong = pair(flags, room, other, scratch)
                say(not wrong, sentence, wrong or "")
            except LookupError as reason:
                say(True, sentence, skipped=reason.args[0])
    sys.exit(1 if failed else 0)


main()
