#!/usr/bin/env python3
"""unchanged.py [BUILD] --keep DIR - the program of the demo, again and again, with nothing changed.

Beside each load `assay run` looks at examples/service once, and then ROUNDS times more, each time
with `--against` the run before.  Two questions:

  first    is post_bookings() named first, or the machine called too noisy?
  promise  does it ever say that a promised gain arrived?  Nothing was changed.

Each run takes a minute.  Started again with the same DIR it continues where it stopped; the
evidence stays there (some MB for each run).  Prints a line for each run, then two tables in
Markdown.

    --load LIST    idle,spin           --rounds N     20
    --minutes N    begin no run that would end later than in N minutes
    --budget TIME  60s, for each run   --table        only the tables of what is there

Exit status: 0 all runs are there and all right, 1 one is wrong, 3 some are left."""
import argparse
import collections
import json
import os
import sys
import time

from loads import Others, beside
from calibrate import budget_of, commit_of, loads_of, machine, seconds_of
from truth_table import plain, run

PLACE = "post_bookings"
WORK = "1500"  # requests, as tools/demo has them


def rows_of(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def has_run(path):
    """There is a run to compare with: one that failed left none."""
    return any(not row["error"] for row in rows_of(path))


def row_of(data, seconds):
    """What is kept of one run."""
    answer, after = data["answer"], data.get("round") or {}
    row = {name: answer.get(name) for name in
           ("kind", "confidence", "gain", "gain_lo", "gain_hi", "hypothesis")}
    return {**row, "function": plain(answer.get("function")), "seconds": round(seconds, 1),
            "promise": (after.get("promise") or {}).get("result"),
            "verdict": after.get("outcome"), "error": None}


def first_is_right(row):
    return row["kind"] == "too_noisy" or row["function"] == PLACE


def words_of(row):
    if row["error"]:
        return f"no answer: {row['error']}"
    said = row["function"] or row["hypothesis"] or row["kind"]
    return f"{said}, {row['confidence']}; {row['verdict'] or 'first run'}, " \
           f"promise {row['promise'] or '-'}, others {100 * row['others_share']:.0f} %"


def measure(options, load, until):
    """The runs beside one load that are left."""
    folder = os.path.join(options.keep, load)
    path, tool = folder + ".jsonl", os.path.join(options.build, "assay")
    service = os.path.join(options.build, "examples", "service", "service")
    os.makedirs(folder, exist_ok=True)
    left = options.rounds + 1 - len(rows_of(path))
    if left <= 0 or time.monotonic() > until:
        return
    with beside(load) as check, open(path, "a", encoding="utf-8") as file:
        for _ in range(left):
            if time.monotonic() > until:
                return
            against = ["--against", "latest"] if has_run(path) else []
            others = Others()
            try:
                row = row_of(*run(tool, [service, WORK], options.budget, folder,
                                  5 * seconds_of(options.budget) + 120, against))
            except ValueError as error:
                row = {"error": str(error)}
            row.update(others_share=round(others.share(), 3), commit=options.commit,
                       machine=options.machine)
            check()
            file.write(json.dumps(row) + "\n")
            file.flush()
            print(f"{load}: {words_of(row)}", flush=True)


def tables(rows_by_load):
    """Markdown, and whether all of it is right."""
    lines = ["| load | runs | post_bookings() first | too noisy | another | no answer |",
             "|---|---|---|---|---|---|"]
    right = True
    for load, rows in rows_by_load.items():
        answers = [row for row in rows if not row["error"]]
        noisy = sum(row["kind"] == "too_noisy" for row in answers)
        wrong = [row for row in answers if not first_is_right(row)]
        named = collections.Counter(f"{row['function'] or row['hypothesis'] or row['kind']} "
                                    f"({row['confidence']})" for row in wrong)
        lines.append(f"| {load} | {len(rows)} | {len(answers) - noisy - len(wrong)} | {noisy} | "
                     + (", ".join(f"{count} {name}" for name, count in named.items()) or "0")
                     + f" | {len(rows) - len(answers)} |")
        right = right and not wrong and len(answers) == len(rows)
    lines += ["", "| load | comparisons | verdicts | promise |", "|---|---|---|---|"]
    for load, rows in rows_by_load.items():
        compared = [row for row in rows if not row["error"] and row["verdict"]]
        verdicts = collections.Counter(row["verdict"] for row in compared)
        promises = collections.Counter(row["promise"] for row in compared)
        lines.append(f"| {load} | {len(compared)} | " + " | ".join(
            ", ".join(f"{count} {name}" for name, count in sorted(counts.items(), key=str))
            for counts in (verdicts, promises)) + " |")
        right = right and not promises["arrived"] and not promises["more"]
    return "\n".join(lines), right


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("build", nargs="?", default="build")
    parser.add_argument("--keep", required=True)
    parser.add_argument("--load", type=loads_of, default=["idle", "spin"])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--budget", type=budget_of, default="60s")
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    options.build, options.keep = os.path.abspath(options.build), os.path.abspath(options.keep)
    options.commit, options.machine = commit_of(options.build), machine()
    until = time.monotonic() + 60 * options.minutes - seconds_of(options.budget)
    for load in options.load:
        if not options.table:
            measure(options, load, until)
    rows = {load: rows_of(os.path.join(options.keep, load + ".jsonl")) for load in options.load}
    text, right = tables(rows)
    print("\n" + text)
    if any(len(found) <= options.rounds for found in rows.values()):
        sys.exit(3)
    sys.exit(0 if right else 1)


if __name__ == "__main__":
    main()
