"""Files that nobody wrote: the generators of hostile.py with other numbers, and the seeds of the
fuzz targets with numbers, pieces and lengths exchanged.  Each is imported by itself, within the
limits of cost.py and without a crash.

    ninja -C build-asan tests/attack/import-many     three times as fast and more
    ASSAY_MUTATIONS=100000 ASSAY=build-asan/assay tests/attack/mutate.py
    ASSAY_MUTATION=4711 ...   only that one, whose files are kept

A mutation is made from ASSAY_TEST_SEED and its number alone."""
import concurrent.futures
import functools
import glob
import os
import random
import shutil
import struct
import tempfile

import hostile
from cost import SLOWER, Batch, check, cost_of
from tap import SEED, SOURCE, Crash, case, main

COUNT = int(os.environ.get("ASSAY_MUTATIONS", str(500 // SLOWER)))
LARGEST = 300000  # bytes of one file
IMPORTED = ("perf_data", "perf_script", "perf_stat", "pprof", "folded", "callgrind", "cachegrind",
            "coz", "events", "gbench", "hyperfine")
PROGRAMS = ("binary", "names", "unwind", "eh_frame")
NUMBERS = (0, 1, 2, 7, 0x7F, 0x80, 0xFF, 0xFFFF, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**63,
           2**64 - 1)
# generator -> ranges of its numbers
DRAWN = {
    hostile.dwarf_folders: {"rows": (1, 2**50), "files": (0, 1), "junk": (1, 9000)},
    hostile.dwarf_flags: {"specs": (1, 9000), "entries": (1, 30000)},
    hostile.dwarf_units: {"units": (1, 3000), "files": (1, 9000)},
    hostile.dwarf_names: {"functions": (1, 4000), "length": (1, 200000)},
    hostile.dwarf_paths: {"files": (1, 4000), "length": (2, 200000), "up": (0, 50000)},
    hostile.go_table: {"functions": (1, 8000), "length": (1, 200000)},
    hostile.symbol_names: {"functions": (1, 9000), "length": (2, 65000)},
    hostile.packed_sections: {"each": (1 << 20, 40 << 20), "old": (0, 1)},
    hostile.jit_moves: {"lines": (1, 9000), "moves": (1, 3000)},
    hostile.jit_nested: {"codes": (1, 3000), "asked": (1, 3000)},
    hostile.perf_ids: {"attrs": (1, 3000), "ids": (1, 9000)},
    hostile.perf_forks: {"maps": (1, 2000), "forks": (1, 2000)},
    hostile.perf_hidden: {"maps": (1, 4000), "samples": (1, 4000)},
    hostile.perf_spaces: {"execs": (1, 4000), "samples": (1, 4000)},
    hostile.pprof_lines: {"lines": (1, 4000), "samples": (1, 100000), "packed": (0, 1)},
    hostile.pprof_stacks: {"depth": (1, 4000), "samples": (1, 500), "packed": (0, 1)},
    hostile.pprof_zeros: {"size": (2, 30 << 20)},
    hostile.folded_short: {"lines": (1, 20000)},
}


def seeds(names):
    """The files of these fuzz targets."""
    found = [path for name in names for path in sorted(
        glob.glob(os.path.join(SOURCE, "tests/fuzz/seeds", name, "*")))]
    assert found, names
    return found


def drawn(chance):
    """A generator with numbers between one and its most, small ones as often as large ones."""
    make = chance.choice(list(DRAWN))
    numbers = {}
    for name, (least, most) in DRAWN[make].items():
        numbers[name] = min(most, max(least, int(2 ** chance.uniform(0, most.bit_length()))))
        if most == 1:
            numbers[name] = chance.random() < 0.5
    return make(**numbers)


def bent(chance, data, other):
    """The bytes with one thing exchanged."""
    data, size = bytearray(data), max(1, len(data))
    at, length = chance.randrange(size), int(2 ** chance.uniform(0, size.bit_length()))
    what = chance.randrange(7)
    number = chance.choice((*NUMBERS, size, chance.randrange(size)))
    if what == 0:  # a number in its place
        wide = chance.choice((1, 2, 4, 8))
        data[at // wide * wide:at // wide * wide + wide] = struct.pack("<Q", number)[:wide]
    elif what == 1:  # LEB128, or digits
        data[at:at + 1] = hostile.uleb(number) if chance.random() < 0.5 else b"%d" % number
    elif what == 2:  # a piece many times
        data[at:at] = data[at:at + length] * min(1 + LARGEST // (length + 1), int(
            2 ** chance.uniform(0, 14)))
    elif what == 3:
        del data[at:at + length]
    elif what == 4:  # a piece of another file, or of this one
        source = chance.choice((bytes(data), other)) or b"\0"
        begin = chance.randrange(len(source))
        data[at:at + length] = source[begin:begin + length]
    elif what == 5:
        data[at] ^= 1 << chance.randrange(8)
    else:  # a stretch of one byte
        data[at:at] = bytes((chance.choice((0, 1, 0x20, 0x2C, 0x5B, 0x7B, 0x80, 0xFF)),)) * length
    return bytes(data[:LARGEST])


def made(number):
    """The files of a mutation, in the working folder; the first is to be imported."""
    chance = random.Random(f"{SEED} {number}")
    if chance.random() < 0.2:
        paths = drawn(chance)
        at = chance.randrange(len(paths))
    else:
        program = chance.random() < 0.3
        path = chance.choice(seeds(PROGRAMS if program else IMPORTED))
        if not program and chance.random() < 0.1:  # JIT code
            paths, at = hostile.jit_moves(50, 20), 1
            path = chance.choice(seeds(("jit",)))
        elif program:
            addrs = [hostile.BASE + chance.randrange(1 << 16) for _ in range(50)]
            paths, at = [hostile.recording_of("m.data", os.path.abspath("m.elf"), addrs),
                         os.path.abspath("m.elf")], 1
        else:
            paths, at = [os.path.abspath("m")], 0
        shutil.copyfile(path, paths[at])
    with open(paths[at], "rb") as file:
        data = file.read()[:LARGEST]
    with open(chance.choice(seeds(IMPORTED + PROGRAMS)), "rb") as file:
        other = file.read()
    for _ in range(chance.choice((0, 1, 1, 2, 3, 6))):
        data = bent(chance, data, other) if data else other
    return [*(path for i, path in enumerate(paths) if i < at), hostile.save(paths[at], data),
            *paths[at + 1:]]


def made_apart(number):
    """The same in a child: a program starts with the peak memory of who started it."""
    pid = os.fork()
    if not pid:
        try:
            hostile.save("paths", "\n".join(made(number)).encode())
        finally:
            os._exit(0)
    os.waitpid(pid, 0)
    with open("paths", encoding="utf-8") as file:
        return file.read().split("\n")


@functools.cache
def batch():
    """One for each process."""
    return Batch()


def tried(number):
    """None, or what is wrong with it.  In a process of its own: folders are the process's."""
    with tempfile.TemporaryDirectory(prefix="assay-mutation.") as folder:
        os.chdir(folder)
        try:
            if batch().child:
                paths = made(number)
                cost = batch().cost(paths[0])
            else:
                paths = made_apart(number)
                cost = cost_of("import", paths[0], "-o", "x.assay")
            check(paths, cost)
            if cost.status not in (0, 2, 3):
                return f"{number}: {cost}"
            return None
        except (AssertionError, Crash) as error:
            return f"ASSAY_MUTATION={number}: {str(error)[:1500]}"
        finally:
            os.chdir("/")


@case("mutations: whatever a file holds, reading it stays within its limits")
def _():
    if "ASSAY_MUTATION" in os.environ:
        os.chdir(tempfile.mkdtemp(prefix="assay-mutation."))  # stays, to be looked at
        paths = made(int(os.environ["ASSAY_MUTATION"]))
        print(f"# {paths}", flush=True)
        check(paths, cost_of("import", paths[0]))
        return
    first = int(os.environ.get("ASSAY_MUTATION_FIRST", "0"))
    numbers = range(first, first + COUNT)
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        wrong = [text for text in pool.map(tried, numbers, chunksize=20) if text]
    print(f"# {COUNT} mutations from {first}, {len(wrong)} wrong", flush=True)
    assert not wrong, "\n".join(wrong[:10])


if __name__ == "__main__":
    main()
