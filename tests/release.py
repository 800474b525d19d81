"""What a release consists of: the tarball, the package, the version that all of them name."""
import os
import re
import shutil
import tarfile

from tap import SOURCE, assay, case, main, run

PARTS = ("meson.build", "CHANGELOG.md", "debian/changelog", "tools/release", "tools/version")


def tool(name, *words, source=SOURCE, **how):
    return run(os.path.join(source, "tools", name), *words, **how)


def read(path):
    with open(os.path.join(SOURCE, path), encoding="utf-8") as file:
        return file.read()


def tarball(folder, **how):
    """The one that tools/dist writes into the folder."""
    r = tool("dist", os.path.abspath(folder), **how)
    assert r.status == 0, r
    return r.out.strip()


def body(path):
    with open(path, "rb") as file:
        return file.read()


def unpacked():
    """A folder with the files of the tarball."""
    with tarfile.open(tarball("dist")) as tar:
        names = sorted(member.name.split("/", 1)[1] for member in tar if member.isfile())
        tar.extractall(".")
    (folder,) = (name for name in os.listdir(".") if name.startswith("assay-"))
    return os.path.abspath(folder), names


@case("two tarballs of one commit are the same bytes, and so is one made from the unpacked one")
def _():
    first = body(tarball("first"))
    assert first == body(tarball("second", env={"TZ": "Asia/Tokyo", "LC_ALL": "C"}))
    folder, _ = unpacked()
    assert first == body(tarball("third", source=folder))
    assert first != body(tarball("later", env={"SOURCE_DATE_EPOCH": "1"}))


@case("without git the files of the project are those of the tarball, whatever was built there")
def _():
    folder, names = unpacked()
    for made in ("build/x.c", "build-asan/x.c", "assay-out/latest/x.json", "old.assay",
                 "tests/__pycache__/x.pyc", "examples/service/service"):
        path = os.path.join(folder, made)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        shutil.copy(os.path.join(folder, "Makefile"), path)
    with open(os.path.join(folder, ".gitignore"), "a", encoding="ascii") as file:
        file.write("\n# *.c\n")
    r = tool("files", source=folder)
    assert r.status == 0 and sorted(r.out.splitlines()) == names, set(r.out.splitlines()) ^ {*names}
    r = tool("files", "*.c", "*.h", source=folder)
    assert r.out.splitlines() and set(r.out.splitlines()) == {
        name for name in names if name.endswith((".c", ".h"))}, r


@case("the version is the same everywhere")
def _():
    r = tool("release", "version")
    assert r.status == 0 and assay("--version").out in r.out, r


@case("a version that differs is named before anything is released")
def _():
    for part in PARTS:
        os.makedirs(os.path.dirname(part) or ".", exist_ok=True)
        shutil.copy(os.path.join(SOURCE, part), part)
    assert tool("release", "version", source=".").status == 0
    for part, old, new in (("CHANGELOG.md", "## ", "## 9"), ("debian/changelog", "(", "(9")):
        with open(part, "w", encoding="utf-8") as file:
            file.write(read(part).replace(old, new, 1))
        r = tool("release", "version", source=".")
        assert r.status == 1 and f"{part} '9" in r.err, r
        shutil.copy(os.path.join(SOURCE, part), part)


@case("the package is built from what tools/setup installs, and recommends what assay can use")
def _():
    kinds = {}
    for line in tool("setup", "--list", "build", "demo").out.splitlines():
        kind, package, _, _ = line.split("|")
        kinds.setdefault(kind, set()).add(package)
    control = read("debian/control")
    depends = re.search(r"^Build-Depends:(.*(?:\n .*)*)", control, re.MULTILINE)[1]
    packages = set(re.findall(r"([a-z0-9][a-z0-9+.-]+)(?::any)?(?: \([^)]*\))?(?:,|$)",
                              re.sub(r"\s+", " ", depends))) - {"debhelper-compat"}
    # gcc and the C library are taken for granted in Debian; its build leaves the tests out.
    assert packages == kinds["build"] - {"gcc", "libc6-dev", "libcmocka-dev"}, \
        packages ^ kinds["build"]
    recommends = set(re.search(r"^Recommends: (.*)", control, re.MULTILINE)[1].split(", "))
    assert recommends - {"libcapstone4"} == kinds["demo"] - {"patch"}, recommends


@case("tools/release --dry-run names every step and does none")
def _():
    r = tool("release", "--dry-run")
    steps = [line.split()[0] for line in r.out.splitlines()]
    assert r.status == 0 and steps == [
        "tree", "version", "setup", "ci", "dist", "deb", "machine", "tarball", "package"], r
    r = tool("release", "nothing")
    assert r.status == 1 and "tarball" in r.err, r


main()
