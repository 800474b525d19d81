"""keep.py - the directory of answers: a small JSON file for each program, load and round.

A file is there whole or not at all, and has what assay said, not what that is worth: tables.py
judges it by the truth of today, so that a corrected truth.txt needs no new runs.  The answer has
the features of its confidence (`confidence_features`), which fit.py fits weights to; the signals
are kept for features that nobody has thought of yet.

    program, load, round     which run it is
    commit, tool             of the sources around the build; the program itself, by its checksum
    machine                  CPUs and kernel
    began, seconds, budget   when, how long it took, how long it might
    others_share             of all CPUs, what other programs took meanwhile, the load among them
    error                    why there is no answer; null: there is one
    answer                   as in the JSON of assay run
    hotspots, flat           the first of each, with rank, gains and how many methods agree
    ledger, signals          hypothesis -> verdict, name -> value"""
import json
import os
import sys

PLACES = 5
PLACE = ("rank", "function", "location", "value", "gain", "gain_lo", "gain_hi", "gain_at",
         "gain_all", "gain_all_lo", "gain_all_hi", "gain_basis", "agree", "asked", "confidence",
         "hypothesis")


def summary(data):
    """What is kept of the `data` of assay run --json."""
    return {"answer": data["answer"],
            **{key: [{name: row.get(name) for name in PLACE} for row in data.get(key, [])[:PLACES]]
               for key in ("hotspots", "flat")},
            "ledger": {row["hypothesis"]: row["verdict"] for row in data.get("ledger", [])},
            "signals": {row["name"]: row["value"] for row in data.get("signals", [])}}


def key_of(row):
    return row["program"], row["load"], row["round"]


def name_of(key):
    program, load, number = key
    return f"{program.replace('/', '-')}.{load}.{number}"


def write(folder, row):
    """On the disk when this returns; the same run made again takes the place of the one before."""
    path = os.path.join(folder, name_of(key_of(row)) + ".json")
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(row, file, indent=1)
        file.write("\n")
        file.flush()
        os.fsync(file.fileno())
    os.replace(path + ".new", path)


def read(folder):
    """(program, load, round) -> its row, for all files of the directory."""
    rows = {}
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".json"):
            continue
        try:
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                row = json.load(file)
            if not row["error"]:
                row["answer"]["kind"]  # what the judge asks for
            rows[key_of(row)] = row
        except (ValueError, KeyError, TypeError):
            print(f"{name}: skipped, not an answer of calibrate.py", file=sys.stderr)
    return rows


def is_answered(rows, key):
    """A run without an answer is tried again."""
    return key in rows and not rows[key]["error"]
