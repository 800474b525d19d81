"""data/cpus: the codes are those of the sources, and `assay stat` knows the names of this CPU."""
import ctypes
import glob
import json
import os
import re

from tap import SOURCE, assay, case, main, skip

TABLES = os.path.join(SOURCE, "data", "cpus")
TRUE = "/bin/true"


def table(name):
    """Event -> config of one table."""
    with open(os.path.join(TABLES, name + ".txt"), encoding="ascii") as f:
        rows = (line.split() for line in f if line.startswith("event "))
        return {row[1]: int(row[2], 16) for row in rows}


def facts():
    """The collected sources, section by section; they are not part of the project."""
    shared = [os.environ[name] for name in ("ASSAY_SHARED",) if name in os.environ] or [
        os.path.join(SOURCE, folder, "shared") for folder in ("..", os.path.join("..", ".."))]
    for folder in shared:
        path = os.path.join(folder, "facts", "pmu.md")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                parts = re.split(r"^##+ ", f.read(), flags=re.M)
            return {part.split(" ", 1)[0].rstrip("."): part for part in parts}
    return skip("the collected sources (shared/facts/pmu.md) are not here")


def rows(text):
    for line in text.splitlines():
        if line.startswith("|") and not line.startswith("|---"):
            yield [cell.strip() for cell in line.strip("|").split("|")]


def codes(cell):
    return [int(code, 16) for code in re.findall(r"0x[0-9a-f]+", cell)]


def named(cell):
    """Names and codes of a pair of cells: "A / B" and "0x1 / 0x2"."""
    return [word.strip() for word in cell.split(" / ")]


def same(events, name, code, where):
    """The one event of this name, or whose name ends so, has this code."""
    found = [n for n in events if n.lower() == name.lower()] or [
        n for n in events if n.lower().endswith("." + name.lower())]
    assert found, f"{where}: no event {name}"
    for n in found:
        assert events[n] == code, f"{where}: {n} is {events[n]:#x}, the source says {code:#x}"


def check_skylake(text):
    """Skylake: every event of the source has its code."""
    events, seen = table("skylake"), 0
    for row in rows(text):
        if len(row) != 4 or row[0] == "event":
            continue
        for name, code in ((row[0], row[1]), (row[2], row[3])):
            for n, c in zip(named(name), codes(code)):
                same(events, n, c, "skylake")
                seen += 1
    assert seen >= 17, seen


def check_perf_metrics(text):
    """Perf-metrics: the pseudo events, and the events beside them."""
    seen = 0
    new = ("sapphire_rapids", "granite_rapids", "golden_cove", "lion_cove")
    for row in rows(text):
        if row[0].startswith("pseudo"):
            continue
        names = named(row[0].split(" (")[0])
        names = names[:1] + [n if n.startswith("topdown") else "topdown-" + n for n in names[1:]]
        who = new + (("ice_lake",) if row[2] == "x" else ())
        for name, code in zip(names, codes(row[1])):
            for cpu in who:
                same(table(cpu), name, code, cpu)
                seen += 1
        if row[2] != "x":
            assert not set(names) & set(table("ice_lake")), names
    for line in text.splitlines():
        pairs = re.findall(r"([A-Z][A-Z0-9_.]+)[ (]+(0x[0-9a-f]+)", line)
        who = (("ice_lake",) if line.startswith("- ICX") else
               ("sapphire_rapids", "granite_rapids") if line.startswith("- SPR") else
               new if line.startswith("- Programmable") else ())
        for cpu in who:
            for name, code in pairs:
                name = {"CYCLES_0": "CYCLES_0_UOPS_DELIV.CORE"}.get(name, name)
                same(table(cpu), name, int(code, 16), cpu)
                seen += 1
    assert seen >= 60, seen


def check_e_cores(text):
    """E cores: the four numbers of level 1, and those of level 2."""
    seen = 0
    files = {"Gracemont": "gracemont", "Crestmont / SRF": "crestmont", "Skymont (LNL)": "skymont"}
    parts = ("TOPDOWN_FE_BOUND", "TOPDOWN_BAD_SPECULATION", "TOPDOWN_BE_BOUND", "TOPDOWN_RETIRING")
    for row in rows(text):
        if row[0] not in files:
            continue
        events = table(files[row[0]])
        for part, cell in zip(parts, row[1:5]):
            have = {code for name, code in events.items() if name.startswith(part + ".ALL")
                    and "ALLOC" not in name}
            assert have == set(codes(cell)), (row[0], part, have, cell)
            seen += 1
        with open(os.path.join(TABLES, files[row[0]] + ".txt"), encoding="ascii") as f:
            assert re.search(rf"^width +{row[5].split()[0]}$", f.read(), re.M), row
    level2 = {"FRONTEND_LATENCY": "FE latency", "FRONTEND_BANDWIDTH": "FE bandwidth",
              "MISPREDICT": "mispredict", "MACHINE_CLEARS": "machine clears",
              "ALLOC_RESTRICTIONS": r"core \(ALLOC_RESTRICTIONS\)"}
    for name, word in level2.items():
        code = int(re.search(word + r" (0x[0-9a-f]+)", text).group(1), 16)
        for cpu in files.values():
            same(table(cpu), name, code, cpu)
            seen += 1
    assert seen == 27, seen


def check_amd(text):
    """AMD: every event of the source has its code, on the generation it is for."""
    seen, base = 0, ""
    for row in rows(text):
        if row[0] == "event" or len(row) != 3:
            continue
        names, numbers = named(row[0]), codes(row[2])
        for i, code in enumerate(numbers):
            name = names[min(i, len(names) - 1)]
            only = re.search(r"\(Zen (\d)\)", name)
            name = re.sub(r" \(Zen \d\)", "", name)
            who = ["zen" + only.group(1)] if only else ["zen4", "zen5"]
            if "cmask" in row[0]:
                who, name = [("zen4", "zen5")[i]], f"{base}.cmask{(6, 8)[i]}"
            elif name.startswith("."):
                name = names[0].split(".")[0] + name
            else:
                base = name
            for cpu in who:
                same(table(cpu), name, code, cpu)
                seen += 1
    assert seen >= 26, seen


def check_arm(text):
    """ARM: slot events, widths and parts are those of the source."""
    seen = 0
    files = {"0xd0c": ["neoverse_n1"], "0xd40": ["neoverse_v1"], "0xd4f": ["neoverse_v2"],
             "0xd49": ["neoverse_n2_r0p0", "neoverse_n2"], "0xd8e": ["neoverse_n3"],
             "0xd84": ["neoverse_v3"]}
    slots = {"STALL_SLOT": 0x3f, "STALL_SLOT_FRONTEND": 0x3e, "OP_RETIRED": 0x3a, "OP_SPEC": 0x3b}
    for name, code in re.findall(r"([A-Z_]{6,}) (0x[0-9a-f]+)", text):
        slots[name] = int(code, 16)
    assert slots["BR_MIS_PRED"] == 0x10 and slots["STALL_FRONTEND_FLUSH"] == 0x8162, slots
    for part, names in files.items():
        assert part in text, part
        for cpu in names:
            events = table(cpu)
            with open(os.path.join(TABLES, cpu + ".txt"), encoding="ascii") as f:
                assert f"arm 0x41 {part}" in f.read(), cpu
            for name, code in slots.items():
                if name.lower() in events:
                    same(events, name, code, cpu)
                    seen += 1
    assert seen >= 60, seen


def check_caches(text):
    """Caches, TLBs and branches: names and codes of ARM, codes of the others, are in the tables."""
    seen = 0
    columns = {1: ["skylake"], 2: ["ice_lake"], 3: ["sapphire_rapids", "granite_rapids"],
               4: ["zen4", "zen5"]}
    for row in rows(text):
        if row[0].startswith("ARM name"):
            continue
        arm = re.sub(r" \([^)]*\)", "", row[0])
        pairs = re.findall(r"([a-z0-9_]+) (0x[0-9a-f]+)", arm)
        assert pairs, row
        for name, code in pairs:
            if name.startswith("_"):
                continue  # a short form: checked under its whole name above
            for cpu in ("neoverse_v1", "neoverse_n2", "neoverse_v2", "neoverse_n3", "neoverse_v3"):
                same(table(cpu), name, int(code, 16), cpu)
                seen += 1
        for column, cpus in columns.items():
            cell = row[column] if row[column] != "same" else row[column - 1]
            if cell == "same":
                cell = row[1]
            for code in codes(cell):
                # Lion Cove's and Zen 5's own, and one that the source marks as unchecked.
                if "Lion Cove" in cell and code == 0x551:
                    same(table("lion_cove"), "L1D.REPLACEMENT", code, "lion_cove")
                    continue
                if "Zen 5" in cell and code == 0x29f:
                    same(table("zen5"), "bp_redirects.ex_redir", code, "zen5")
                    continue
                if "[B]" in cell:
                    continue
                for cpu in cpus:
                    assert code in table(cpu).values(), (cpu, row[0], hex(code))
                    seen += 1
    assert seen >= 150, seen


@case("every event of the collected sources has its code in the table of each CPU it is for")
def _():
    parts = facts()
    for number, check in (("1.1", check_skylake), ("1.2", check_perf_metrics),
                          ("1.3", check_e_cores), ("1.4", check_amd), ("1.5", check_arm),
                          ("2", check_caches)):
        check(parts[number])


def pfm_codes():
    """A function from "pmu::EVENT:UMASK" to the code in Debian's libpfm4; None: it has none."""
    os.environ["LIBPFM_ENCODE_INACTIVE"] = "1"
    try:
        pfm = ctypes.CDLL("libpfm.so.4")
    except OSError:
        return skip("libpfm4 is not installed")
    assert pfm.pfm_initialize() == 0

    def code(name):
        codes, count = ctypes.POINTER(ctypes.c_uint64)(), ctypes.c_int(0)
        if pfm.pfm_get_event_encoding(name.encode(), 0, None, None, ctypes.byref(codes),
                                      ctypes.byref(count)):
            return None
        return codes[0] & ~0x530000  # what is no part of it: user, kernel, interrupt, enabled
    return code


@case("the events that libpfm4 knows too have its codes")
def _():
    code_of, seen = pfm_codes(), 0
    for cpu, pmu in (("skylake", "skl"), ("ice_lake", "icx"), ("sapphire_rapids", "spr"),
                     ("zen2", "amd64_fam17h_zen2"), ("zen3", "amd64_fam19h_zen3"),
                     ("zen4", "amd64_fam19h_zen4")):
        for name, code in table(cpu).items():
            theirs = code_of(f"{pmu}::{name.upper().replace('.', ':', 1)}")
            # Fixed counters have pseudo codes there, with 0 in place of the event.
            if theirs is None or not theirs & 0xff or name == "INST_RETIRED.ANY":
                continue
            assert code == theirs, f"{cpu}: {name} is {code:#x}, in libpfm4 {theirs:#x}"
            seen += 1
    assert seen >= 75, seen


@case("N1 has none of the events that the source says it lacks")
def _():
    events = table("neoverse_n1")
    for name in ("op_retired", "op_spec", "stall", "stall_slot", "l1d_cache_lmiss_rd"):
        assert name not in events, name


def this_cpu():
    """The table of this machine, found without assay; None when there is none."""
    fields = {}
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        for line in f.read().split("\n\n")[0].splitlines():
            key, _, value = line.partition(":")
            fields[key.strip()] = value.strip()
    if "vendor_id" not in fields or os.path.exists("/sys/bus/event_source/devices/cpu_core"):
        skip("only x86 with one kind of core is told apart here")
    who = (fields["vendor_id"], int(fields["cpu family"]), int(fields["model"]))
    for path in glob.glob(os.path.join(TABLES, "*.txt")):
        with open(path, encoding="ascii") as f:
            for words in (line.split()[1:] for line in f if line.startswith("for ")):
                low, _, high = words[2].partition("-")
                if (words[0] == who[0] and int(words[1], 0) == who[1] and len(words) == 3
                        and int(low, 0) <= who[2] <= int(high or low, 0)):
                    return os.path.basename(path)[:-4]
    return None


def stat(*words):
    r = assay("stat", "--json", *words, "--", TRUE)
    assert r.status == 0, r
    return json.loads(r.out)


@case("the vendor's name of an event is understood in any case, and refused with the nearest one")
def _():
    cpu = this_cpu()
    if not cpu:
        skip("this CPU has no table")
    name = max(table(cpu), key=len)
    rows_ = stat("-e", name.swapcase() + ":u")["data"]["events"]
    assert [e["name"] for e in rows_] == [name.swapcase() + ":u"], rows_
    r = assay("stat", "-e", name + "X", "--", TRUE)
    assert r.status == 2 and f"did you mean '{name}'?" in r.err, r


@case("--set counts the CPU's own set, or the generic one and says so")
def _():
    cpu, d = this_cpu(), stat("--set", "branches")
    names = [e["name"].split(":")[0] for e in d["data"]["events"]]
    notes = [w["code"] for w in d["warnings"]]
    if cpu:
        assert set(names) <= set(table(cpu)), (names, cpu)
        assert "generic_set" not in notes, notes
    else:
        assert "branch-misses" in names, names
        assert "generic_set" in notes, notes


@case("a set that this CPU has not is refused with a way out, a set nobody has with the names")
def _():
    cpu = this_cpu()
    r = assay("stat", "--set", "topdown_cycles", "--", TRUE)
    if cpu is None or not cpu.startswith("neoverse"):
        assert r.status == 6 and "unknown event set 'topdown_cycles'" in r.err, r
        assert len(r.err.splitlines()) == 2, r
    r = assay("stat", "--set", "nosuchset", "--", TRUE)
    assert r.status == 2 and "unknown event set 'nosuchset'" in r.err, r


main()
