"""perf_file.py - recordings in perf's format of what few machines record: branches, accesses.

    write("b.data", BRANCH_STACK, [branches([(0x401000, 0x401020, MISPREDICTED)])])

perf reads them as it reads its own, so what they hold is still told by perf and not by us."""
import struct

WEIGHT, DATA_SRC, BRANCH_STACK = 1 << 14, 1 << 15, 1 << 11  # PERF_SAMPLE_*
_IP, _TID, _TIME, _PERIOD = 1, 2, 4, 1 << 8
MISPREDICTED, PREDICTED = 1, 2
PROGRAM, BASE, SIZE = "/nowhere/program", 0x400000, 0x100000  # where it is mapped
KERNEL = 0xffffffff81000000
_ANY_BRANCH, _TYPES = 1 << 3, 1 << 16  # PERF_SAMPLE_BRANCH_ANY, _TYPE_SAVE
_OS_RELEASE, _BRANCHES = 4, 15  # features of the file
_HEADER, _ATTR = 104, 128
_PID = 4321


def branches(entries):
    """The part of a sample that holds branches: (from, to, flags)."""
    return struct.pack("<Q", len(entries)) + b"".join(
        struct.pack("<QQQ", *entry) for entry in entries)


def flags(prediction, cycles=0, kind=0):
    """The flags of a branch; kind: PERF_BR_*, 0 when it was not recorded."""
    return prediction | cycles << 4 | kind << 20


def access(weight, source):
    """The part of a sample that holds a weight and a source of data."""
    return struct.pack("<QQ", weight, source)


def _record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def _padded(text):
    return text.encode() + bytes(8 - len(text) % 8)


def _data(samples, at, release):
    body = b""
    if release:  # a kernel of its own: its text is mapped
        body = _record(1, 1, struct.pack("<IIQQQ", 2**32 - 1, 0, KERNEL, SIZE, KERNEL) +
                       _padded("[kernel.kallsyms]_text"))
    body += _record(3, 0, struct.pack("<II", _PID, _PID) + _padded("program"))
    body += _record(1, 2, struct.pack("<IIQQQ", _PID, _PID, BASE, SIZE, 0) + _padded(PROGRAM))
    for number, sample in enumerate(samples):
        body += _record(9, 1 if at >> 63 else 2, struct.pack(
            "<QIIQQ", at, _PID, _PID, 1000 + number, 1) + sample)
    return body


def write(path, kind, samples, at=BASE + 0x1000, release=None, types=False):
    """A recording of one event, `cycles`: IP, thread, time, period, and what `kind` adds.  release:
    of the kernel that it was made under."""
    attr = struct.pack("<IIQQQQQIIQQQ", 0, _ATTR, 0, 1, _IP | _TID | _TIME | _PERIOD | kind, 0, 0,
                       0, 0, 0, 0, (_ANY_BRANCH | types * _TYPES) * bool(kind & BRANCH_STACK))
    attr += bytes(_ATTR - len(attr)) + struct.pack("<QQ", 0, 0)  # no identifiers
    data = _data(samples, at, release)
    features, parts = 0, []
    if release:
        features |= 1 << _OS_RELEASE
        parts.append(struct.pack("<I", 64) + release.encode().ljust(64, b"\0"))
    if kind & BRANCH_STACK:
        features |= 1 << _BRANCHES
        parts.append(b"")
    begin = _HEADER + len(attr)
    after = begin + len(data) + 16 * len(parts)
    table = b""
    for part in parts:
        table += struct.pack("<QQ", after, len(part))
        after += len(part)
    with open(path, "wb") as file:
        file.write(struct.pack("<8sQQQQQQQQ", b"PERFILE2", _HEADER, len(attr), _HEADER, len(attr),
                               begin, len(data), 0, 0) + struct.pack("<QQQQ", features, 0, 0, 0))
        file.write(attr + data + table + b"".join(parts))
    return path
