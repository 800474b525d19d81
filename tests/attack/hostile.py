"""hostile.py - small files that ask for much: each is a recording, a profile or a program with one
size that multiplies another.

    for name, make in CASES.items():
        paths = make()   # written into the working folder; the first is the one to import

What is not a profile itself (a program, a JIT's dump) comes with a recording that has a sample in
each place worth naming, so `assay import` reads both.  Every number is a parameter: mutate.py draws
others."""
import gzip
import os
import struct
import zlib

BASE = 0x400000  # where programs are mapped
PID = 4321
_IP_TID_TIME = 1 | 2 | 4  # PERF_SAMPLE_*
_HEADER = 104


def uleb(number):
    """LEB128."""
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(out) + bytes([number])


def save(path, data):
    """The file, by its whole path."""
    with open(path, "wb") as file:
        file.write(data)
    return os.path.abspath(path)


# ---- recordings ----

def record(kind, body, misc=2):
    """One record of perf.data."""
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def mapped(path, start=BASE, size=1 << 24, pid=PID):
    """PERF_RECORD_MMAP."""
    name = path.encode()
    name += bytes(8 - len(name) % 8)
    return record(1, struct.pack("<IIQQQ", pid, pid, start, size, 0) + name)


def sample(addr, time=1000, pid=PID):
    """PERF_RECORD_SAMPLE of the attr below."""
    return record(9, struct.pack("<QIIQ", addr, pid, pid, time))


def fork(pid, parent, time):
    """PERF_RECORD_FORK."""
    return record(7, struct.pack("<IIIIQ", pid, parent, pid, parent, time))


def attr(kind=_IP_TID_TIME, ids=(0, 0), flags=0, size=128):
    """One entry of the attrs with the section of its ids."""
    body = struct.pack("<IIQQQQQ", 0, size, 0, 1, kind, 0, flags)
    return body.ljust(size, b"\0") + struct.pack("<QQ", *ids)


def recording(path, data, attrs=None, entry=144):
    """perf.data with one event, or these, of `entry` bytes each."""
    attrs = attrs or attr()
    head = struct.pack("<8sQQQQQQQQ", b"PERFILE2", _HEADER, entry, _HEADER, len(attrs),
                       _HEADER + len(attrs), len(data), 0, 0) + bytes(32)
    return save(path, head + attrs + data)


def recording_of(path, program, addrs):
    """Samples at these addresses of a program."""
    return recording(path, mapped(program) + b"".join(sample(at) for at in addrs))


# ---- programs ----

def elf(path, sections, entries=()):
    """An x86-64 program whose only segment is the whole file, mapped at BASE; sections: name ->
    bytes or (bytes, flags).  entries: (name, type, link) for tables of symbols."""
    names, heads, body = b"\0", [], b""
    kinds = {name: (kind, link) for name, kind, link in entries}
    order = list(sections)
    for name, content in sections.items():
        data, flags = content if isinstance(content, tuple) else (content, 0)
        kind, link = kinds.get(name, (1, None))
        heads.append([len(names), kind, flags, 0, 64 + 56 + len(body), len(data),
                      order.index(link) + 1 if link else 0, 0, 1, 24 if link else 0])
        if name == ".text":
            heads[-1][3] = BASE + heads[-1][4]
        names += name.encode() + b"\0"
        body += data
    heads.append([len(names), 3, 0, 0, 64 + 56 + len(body), len(names) + 10, 0, 0, 1, 0])
    names += b".shstrtab\0"
    body += names
    at = 64 + 56 + len(body)
    table = bytes(64) + b"".join(struct.pack("<IIQQQQIIQQ", *head) for head in heads)
    size = at + len(table)
    head = b"\x7fELF\2\1\1".ljust(16, b"\0") + struct.pack(
        "<HHIQQQIHHHHHH", 3, 62, 1, BASE, 64, at, 0, 64, 56, 1, 64, len(heads) + 1, len(heads))
    load = struct.pack("<IIQQQQQQ", 1, 5, 0, BASE, BASE, size, size, 4096)
    return save(path, head + load + body + table)


def unit(entries, specs, version=5, lines=0):
    """.debug_info and .debug_abbrev of one unit that covers BASE and 1 MiB behind it.  specs: the
    abbreviations 2 and on; entries: what stands behind the unit's own entry."""
    abbrev = uleb(1) + uleb(0x11) + b"\1"  # compile unit, with children
    for name, form in ((0x11, 1), (0x12, 6), (0x10, 0x17)):  # low, high, stmt_list
        abbrev += uleb(name) + uleb(form)
    abbrev += b"\0\0" + specs + b"\0"
    body = uleb(1) + struct.pack("<QII", BASE, 1 << 20, lines) + entries + b"\0"
    head = struct.pack("<HBBI", version, 1, 8, 0)
    return {".debug_info": struct.pack("<I", len(head) + len(body)) + head + body,
            ".debug_abbrev": abbrev}


def line_table(tables, program=b"\0\1\1"):
    """.debug_line of version 5: tables are the folders and files."""
    head = struct.pack("<BBBbBB", 1, 1, 1, -5, 14, 13) + bytes(
        (0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1)) + tables
    body = struct.pack("<HBBI", 5, 8, 0, len(head)) + head + program
    return struct.pack("<I", len(body)) + body


def dwarf_folders(rows=1 << 40, files=False, junk=8000):
    """Folders (or files) of zero width: flag_present takes no byte, so any number fits."""
    table = b"\1" + uleb(1) + uleb(0x19) + uleb(rows)
    tables = (b"\1" + uleb(1) + uleb(0x08) + uleb(0) if files else b"") + table
    sections = unit(b"", b"")
    sections[".debug_line"] = line_table(tables + bytes(junk))
    program = elf("folders", sections)
    return [recording_of("folders.data", program, [BASE + 0x10]), program]


def dwarf_flags(specs=3000, entries=6000):
    """Entries of one byte each, with thousands of attributes that take none."""
    wide = uleb(2) + uleb(0x34) + b"\0" + (uleb(0x3F) + uleb(0x19)) * specs + uleb(
        0x3A) + uleb(0x0F) + b"\0\0"
    sections = unit((uleb(2) + b"\1") * entries, wide)
    program = elf("flags", sections)
    return [recording_of("flags.data", program, [BASE + 0x10]), program]


def dwarf_units(units=4000, files=4000):
    """Many units that share one table of lines, each of which reads its files again."""
    one = unit(b"", b"")
    info, names = b"", b"\1" + uleb(1) + uleb(0x08) + uleb(1) + b"x\0"
    for i in range(units):
        body = bytearray(one[".debug_info"])
        struct.pack_into("<QI", body, 13, BASE + i * 16, 16)
        info += bytes(body)
    tables = names + b"\1" + uleb(1) + uleb(0x08) + uleb(files) + b"y\0" * files
    one[".debug_info"] = info
    one[".debug_line"] = line_table(tables)
    program = elf("units", one)
    return [recording_of("units.data", program,
                         [BASE + i * 16 + 1 for i in range(units)]), program]


def dwarf_names(functions=4000, length=500000):
    """Functions whose names are ends of one long text."""
    specs = uleb(2) + uleb(0x2E) + b"\0"  # subprogram
    for name, form in ((3, 0x0E), (0x11, 1), (0x12, 6)):
        specs += uleb(name) + uleb(form)
    entries = b"".join(uleb(2) + struct.pack("<IQI", i, BASE + i * 16, 16)
                       for i in range(functions))
    sections = unit(entries, specs + b"\0\0")
    sections[".debug_str"] = b"n" * length + b"\0"
    program = elf("names", sections)
    return [recording_of("names.data", program,
                         [BASE + i * 16 + 1 for i in range(functions)]), program]


def dwarf_paths(files=4000, length=400000, up=0):
    """A line each in files whose folder is one long text, of which `up` parts are left again."""
    folder = b"f/" * (length // 2) + b"../" * up
    tables = b"\1" + uleb(1) + uleb(0x08) + uleb(2) + b"x\0" + folder + b"\0"
    tables += b"\2" + uleb(1) + uleb(0x08) + uleb(2) + uleb(0x0B) + uleb(files)
    for i in range(files):
        tables += b"%d\0\1" % i
    program = b"\0\x09\2" + struct.pack("<Q", BASE)
    for i in range(files):
        program += b"\4" + uleb(i) + b"\1\2\x10"  # file, copy, advance
    sections = unit(b"", b"")
    sections[".debug_line"] = line_table(tables, program + b"\0\1\1")
    path = elf("paths", sections)
    return [recording_of("paths.data", path, [BASE + i * 16 + 1 for i in range(files)]), path]


def go_table(functions=8000, length=900000):
    """Go's function table: names are ends of one long text."""
    head = struct.pack("<IBBBB8Q", 0xFFFFFFF1, 0, 0, 1, 8, functions, 0, BASE, 72, 0, 0, 0,
                       72 + length + 1)
    table = b"".join(struct.pack("<II", i * 16, 8 * functions + 4 + i * 8)
                     for i in range(functions)) + struct.pack("<I", functions * 16)
    about = b"".join(struct.pack("<II", 0, i) for i in range(functions))
    program = elf("go", {".gopclntab": head + b"g" * length + b"\0" + table + about})
    return [recording_of("go.data", program,
                         [BASE + i * 16 + 1 for i in range(functions)]), program]


def symbol_names(functions=20000, length=65000):
    """The same with plain symbols."""
    symbols = bytes(24) + b"".join(
        struct.pack("<IBBHQQ", 1 + i % (length - 1), 0x12, 0, 1, BASE + i * 16, 16)
        for i in range(functions))
    program = elf("symbols", {".text": (b"\x90" * 64, 6), ".symtab": symbols,
                              ".strtab": b"\0" + b"s" * length + b"\0"},
                  [(".symtab", 2, ".strtab"), (".strtab", 3, None)])
    return [recording_of("symbols.data", program,
                         [BASE + i * 16 + 1 for i in range(functions)]), program]


def packed_sections(each=300 << 20, old=False):
    """Sections that unpack to hundreds of MiB each."""
    packer = zlib.compressobj(9)
    piece, packed = bytes(1 << 20), b""
    for _ in range(each >> 20):
        packed += packer.compress(piece)
    packed += packer.flush()
    if old:
        content = b"ZLIB" + struct.pack(">Q", each >> 20 << 20) + packed
    else:
        content = (struct.pack("<IIQQ", 1, 0, each >> 20 << 20, 1) + packed, 1 << 11)
    names = ("abbrev", "str", "line_str", "str_offsets", "addr", "ranges", "rnglists", "line",
             "aranges", "info")
    sections = {(".zdebug_" if old else ".debug_") + name: content for name in names}
    program = elf("packed", sections)
    return [recording_of("packed.data", program, [BASE + 0x10]), program]


# ---- code that a program made ----

def _jit(records, addrs):
    dump = save(f"jit-{PID}.dump", struct.pack("<IIIIIIQQ", 0x4A695444, 1, 40, 62, 0, PID, 1, 0) +
                b"".join(struct.pack("<IIQ", kind, 16 + len(body), 1) + body
                         for kind, body in records))
    data = mapped(dump, 1 << 40, 4096) + mapped("//anon", BASE, 1 << 30)
    return [recording("jit.data", data + b"".join(sample(at) for at in addrs)), dump]


def _load(addr, size, index, name=b"f"):
    return 0, struct.pack("<IIQQQQ", PID, PID, addr, addr, size, index) + name + b"\0" + b"\x90"


def jit_moves(lines=20000, moves=5000):
    """Each move of a function copies all its lines."""
    table = struct.pack("<QQ", BASE, lines) + b"".join(
        struct.pack("<QII", BASE + i, i, 0) + (b"file\0" if not i else b"\xff\0")
        for i in range(lines))
    records = [(2, table), _load(BASE, 1 << 16, 7)]
    for i in range(moves):
        records.append((1, struct.pack("<IIQQQQQ", PID, PID, BASE + i * 16, BASE + i * 16,
                                       BASE + i * 16 + 16, 1 << 16, 7)))
    return _jit(records, [BASE + i for i in range(0, 1 << 16, 64)])


def jit_nested(codes=15000, asked=15000):
    """Functions that all cover the same addresses."""
    return _jit([_load(BASE + i, (1 << 24) - 2 * i, i, b"f%d" % i) for i in range(codes)],
                [BASE + (1 << 20) + i for i in range(asked)])


# ---- recordings that multiply ----

def perf_ids(attrs=3000, ids=34000):
    """Every event names the same long table of ids."""
    data = mapped("/nowhere") + sample(BASE)
    at = _HEADER + attrs * 80 + len(data)
    path = recording("ids.data", data,
                     b"".join(attr(ids=(at, ids * 8), size=64) for _ in range(attrs)), 80)
    with open(path, "ab") as file:
        file.write(b"".join(struct.pack("<Q", i * 0x9E3779B97F4A7C15 % 2**64) for i in range(ids)))
    return [path]


def perf_forks(maps=6000, forks=6000):
    """A process with many mappings forks, and each child maps one more: a copy each."""
    data = b"".join(mapped("/nowhere", BASE + i * 8192, 4096) for i in range(maps))
    for i in range(forks):
        data += fork(PID + 1 + i, PID, 2000 + i) + mapped("/nowhere", 4096, 4096, PID + 1 + i)
    return [recording("forks.data", data + sample(BASE, 10**6))]


def perf_hidden(maps=20000, samples=30000):
    """Mappings one above the other, and samples that look through all of them."""
    data = b"".join(mapped("/nowhere", BASE, 4096 + i) for i in range(maps))
    return [recording("hidden.data", data + b"".join(
        sample(1 << 30, 10**6 + i) for i in range(samples)))]


def perf_spaces(execs=20000, samples=30000):
    """A process that starts another program all the time, and samples from before that."""
    comm = struct.pack("<II", PID, PID) + b"x\0\0\0\0\0\0\0"
    data = mapped("/nowhere") + b"".join(
        record(3, comm + struct.pack("<IIQ", PID, PID, 2000 + i), 1 << 13) for i in range(execs))
    data += b"".join(sample(BASE, 1000 + i % 900) for i in range(samples))
    return [recording("spaces.data", data, attr(flags=1 << 18))]


# ---- pprof ----

def _field(number, data):
    return uleb(number << 3 | 2) + uleb(len(data)) + data if isinstance(
        data, bytes) else uleb(number << 3) + uleb(data)


def pprof(path, parts, packed):
    """A Profile of one type, `samples`, whose other fields are given."""
    data = _field(1, _field(1, 1) + _field(2, 2)) + b"".join(parts)
    for text in (b"", b"samples", b"count", b"f", b"file"):
        data += _field(6, text)
    return save(path, gzip.compress(data, 9) if packed else data)


def pprof_lines(lines=4000, samples=400000, packed=True):
    """A place with thousands of inlined functions, in every sample."""
    function = _field(5, _field(1, 1) + _field(2, 3) + _field(4, 4))
    place = _field(4, _field(1, 1) + b"".join(
        _field(4, _field(1, 1) + _field(2, i)) for i in range(lines)))
    one = _field(2, _field(1, 1) + _field(2, 1))
    return [pprof("lines.pb.gz", [function, place, one * samples], packed)]


def pprof_stacks(depth=4000, samples=2000, packed=True):
    """Deep stacks of which no two are the same."""
    parts = [_field(5, _field(1, 1) + _field(2, 3))]
    parts += [_field(4, _field(1, i + 1) + _field(4, _field(1, 1) + _field(2, i)))
              for i in range(100)]
    body = bytes(1 + i % 97 for i in range(depth))
    for i in range(samples):
        parts.append(_field(2, _field(1, body[i % 97:] + bytes((1 + i % 100, 1 + i // 100 % 100))) +
                            _field(2, 1)))
    return [pprof("stacks.pb.gz", parts, packed)]


def pprof_zeros(size=200 << 20):
    """Nothing but strings of no length, well packed."""
    return [pprof("zeros.pb.gz", [_field(2, _field(1, 1) + _field(2, 1)),
                                  b"\x32\0" * (size // 2)], True)]


def deep_profile(depth=4000, name=300, path="deep.pb"):
    """A profile whose run is small and whose folded text is not: every beginning of one deep stack
    has a sample."""
    data = _field(1, _field(1, 1) + _field(2, 2))
    for i in range(depth):
        data += _field(5, _field(1, i + 1) + _field(2, 5 + i))
        data += _field(4, _field(1, i + 1) + _field(4, _field(1, i + 1)))
    body = b"".join(uleb(depth - i) for i in range(depth))
    for i in range(0, depth):
        data += _field(2, _field(1, body[-2 * i:] if i else uleb(1)) + _field(2, 1))
    for text in [b"", b"samples", b"count", b"f", b"file"] + [
            b"%d" % i + b"n" * name for i in range(depth)]:
        data += _field(6, text)
    return save(path, data)


def folded_short(lines=100000):
    """Lines with the shortest names there are."""
    text = b"".join(b"a%d;b 1\n" % (i % 10) if i % 2 else b"a;" * (i % 40) + b"b%d 1\n" % i
                    for i in range(lines))
    return [save("short.folded", text)]


def digits(length=400000):
    """Text that could be a field of perf stat's for as long as it goes."""
    return [save("digits.txt", b"1" * length)]


CASES = {
    "DWARF 5 folders of zero width": dwarf_folders,
    "DWARF 5 files of zero width": lambda: dwarf_folders(files=True),
    "entries with attributes of zero width": dwarf_flags,
    "units that share a table of lines": dwarf_units,
    "DWARF names that are ends of one text": dwarf_names,
    "paths in one long folder": dwarf_paths,
    "a path that goes up a million times": lambda: dwarf_paths(2, 2000000, up=1000000),
    "Go's table with names that are ends of one text": go_table,
    "symbols whose names are ends of one text": symbol_names,
    "packed sections": packed_sections,
    "packed sections in the old form": lambda: packed_sections(old=True),
    "jitdump moves that copy lines": jit_moves,
    "jitdump code that covers itself": jit_nested,
    "perf attributes times ids": perf_ids,
    "perf forks times mappings": perf_forks,
    "perf mappings that hide each other": perf_hidden,
    "perf programs that start programs": perf_spaces,
    "pprof inlined functions times samples": pprof_lines,
    "pprof inlined functions times samples, not packed": lambda: pprof_lines(packed=False),
    "pprof deep stacks": pprof_stacks,
    "pprof that unpacks to strings": pprof_zeros,
    "folded stacks with short names": folded_short,
    "digits without an end": digits,
}
