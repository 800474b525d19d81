"""machine.py - an emulated arm64 machine with a real PMU driver, for one list of commands.

    steps = {"hello": "echo hello"}
    told = machine.run(root, kernel, files, steps, limit_s=120)
    told["hello"].out == "hello\n"

A root file system in memory is made of the files and of the libraries that they need, taken from
the unpacked Debian packages; Debian's kernel boots it in QEMU.  With one processor the machine's
time is the number of its instructions (-icount), so counts repeat to the instruction, and idle time
is skipped.  With more they run in parallel, and in real time."""
import base64
import gzip
import os
import re
import stat
import subprocess
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
LIBRARIES = "usr/lib/aarch64-linux-gnu"
LOADER = "lib/ld-linux-aarch64.so.1"
NEEDED = re.compile(r"\((?:NEEDED)\).*\[(.*)\]")


class Told:
    """What a step did: status, out, err."""

    def __init__(self, name, command, status, out, err):
        self.name, self.command = name, command
        self.status, self.out, self.err = status, out, err

    def __str__(self):
        return (f"{self.name}: {self.command}\nexit status {self.status}\n"
                f"--- stdout\n{self.out[-3000:]}\n--- stderr\n{self.err[-3000:]}")


class Broken(Exception):
    """The machine did not come to its end."""


class Archive:
    """A cpio archive in the kernel's form ("newc"); folders come before what is in them."""

    def __init__(self, file):
        self.file, self.seen = file, set()

    def _entry(self, name, mode, body):
        head = "070701" + "".join(f"{value:08x}" for value in (
            len(self.seen), mode, 0, 0, 1, 0, len(body), 0, 0, 0, 0, len(name) + 1, 0))
        self.file.write(head.encode() + name.encode() + b"\0")
        self.file.write(b"\0" * (-(len(head) + len(name) + 1) % 4))
        self.file.write(body + b"\0" * (-len(body) % 4))
        self.seen.add(name)

    def folder(self, name):
        if name and name not in self.seen:
            self.folder(os.path.dirname(name))
            self._entry(name, stat.S_IFDIR | 0o755, b"")

    def put(self, name, body, mode=0o755):
        if name not in self.seen:
            self.folder(os.path.dirname(name))
            self._entry(name, stat.S_IFREG | mode, body)

    def end(self):
        self._entry("TRAILER!!!", 0, b"")


def read(path):
    with open(path, "rb") as file:
        return file.read()


def needed(path):
    """The libraries that a program or library asks for; none when it is a script or static."""
    with open(path, "rb") as file:
        if file.read(4) != b"\x7fELF":
            return []
    out = subprocess.run(["readelf", "-d", path], capture_output=True, text=True, check=True)
    return NEEDED.findall(out.stdout)


def add_libraries(archive, root, path):
    """What `path` needs, and what that needs."""
    for name in needed(path):
        found = os.path.join(root, LIBRARIES, name)
        inside = f"lib/{name}"
        if inside in archive.seen:
            continue
        if os.path.exists(found):
            archive.put(inside, read(found))
            add_libraries(archive, root, found)
        elif name != os.path.basename(LOADER):
            raise Broken(f"{path} needs {name}, which no package has")


def image_write(path, root, files, steps):
    """files: path in the machine -> path here."""
    with open(path, "wb") as out:
        archive = Archive(out)
        for folder in ("bin", "dev", "lib", "proc", "sys", "tmp"):
            archive.folder(folder)
        archive.put("init", read(os.path.join(HERE, "init")))
        archive.put("steps", "".join(f"{n} {c}\n" for n, c in steps.items()).encode(), 0o644)
        archive.put("bin/busybox", read(os.path.join(root, "bin/busybox")))
        archive.put(LOADER, read(os.path.join(root, LIBRARIES, os.path.basename(LOADER))))
        for inside, here in files.items():
            archive.put(inside, read(here))
            add_libraries(archive, root, here)
        archive.end()


def unpack(lines):
    try:
        return gzip.decompress(base64.b64decode("".join(lines))).decode(errors="replace")
    except (ValueError, EOFError, OSError, zlib.error) as error:
        raise Broken(f"the console lost something: {error}") from None


def console_read(text, steps):
    """Step name -> Told, from what came through the console."""
    told, part, name, status = {}, None, None, None
    bodies = {}
    for line in text.replace("\r", "").splitlines():
        if line.startswith("@@ step "):
            _, _, name, status, _ = line.split()
            bodies, part = {"out": [], "err": []}, None
        elif line in ("@@ out", "@@ err"):
            part = line[3:]
        elif line == "@@ end":
            told[name] = Told(name, steps[name], int(status), unpack(bodies["out"]),
                              unpack(bodies["err"]))
            part = None
        elif part:
            bodies[part].append(line)
    return told


def strip(path, scratch):
    """A copy without debug information: it would only fill the machine's memory."""
    copy = os.path.join(scratch, os.path.basename(path))
    subprocess.run(["aarch64-linux-gnu-strip", "-o", copy, path], check=True)
    return copy


def assay_files(assay, scratch):
    """The program and what it preloads: path in the machine -> path here."""
    folder = os.path.dirname(assay)
    beside = [assay] + [os.path.join(folder, f"libassay-rt{suffix}.so")
                        for suffix in ("", "-interpose")]
    return {f"bin/{os.path.basename(path)}": strip(path, scratch) for path in beside}


def emulate(command, log, limit_s):
    """Run the machine to its end, or for so long."""
    with open(log, "wb") as out, subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out,
                                                  stderr=subprocess.STDOUT) as child:
        try:
            child.wait(limit_s)
        except subprocess.TimeoutExpired:
            child.kill()


def run(root, kernel, files, steps, scratch, limit_s, *, model="neoverse-n1", processors=1):
    """Boot, run the steps, switch off; step name -> Told of each that came to its end."""
    image = os.path.join(scratch, "initramfs.cpio")
    image_write(image, root, files, steps)
    pace = (["-icount", "shift=1,sleep=off"] if processors == 1 else
            ["-smp", str(processors), "-accel", "tcg,thread=multi"])
    command = ["qemu-system-aarch64", "-M", "virt", "-cpu", model, *pace,
               "-m", "768", "-nographic", "-no-reboot",
               "-nic", "none", "-kernel", kernel, "-initrd", image,
               "-append", "console=ttyAMA0 quiet panic=-1"]
    log = os.path.join(scratch, "console.log")
    emulate(command, log, limit_s)
    text = read(log).decode(errors="replace")
    told = console_read(text, steps)
    if "@@ done" not in text:
        last = "\n".join(text.splitlines()[-15:])
        raise Broken(f"{len(told)} of {len(steps)} steps were done in {limit_s} s; the console "
                     f"ends with\n{last}")
    return told
