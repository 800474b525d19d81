#!/usr/bin/env python3
"""tables.py DIR - what the answers in a directory of calibrate.py are worth, as Markdown.

    tables.py DIR >bench/calibration/RESULTS.md
    --rounds N   3: how many there should be

Says how many runs there are of how many, so that a part of them can be looked at.  The truth is
that of a quiet machine, at every load.  The rounds of one program are not independent: an interval
is rather too narrow than too wide."""
import argparse
import collections
import math
import statistics

import keep
from truth import OUTCOMES, PARTS, judge, plain, programs, reason, said_of
from loads import LOADS, USUAL

WORDS = ("high", "medium", "low")
# What issue and README ask for.
ASKED_OF_WORD = {"high": 0.95, "medium": 0.75}
ASKED_OF_LOAD = {"idle": 0.85, "spin": 0.70, "runs": 0.70}
# Of all CPUs, by other programs: from here on the machine was not idle (as tests/e2e/busy.py says).
NOT_IDLE = 0.10
TITLES = {"right": "right", "one_away": "one call away", "wrong": "wrong",
          "missed": "nothing stands out, but it does", "too_noisy": "too noisy",
          "not_measured": "not measured", "failed": "no answer"}


def wilson(hits, count, z=1.96):
    """The 95 % interval of a share by Wilson's score."""
    if not count:
        return 0.0, 1.0
    share, square = hits / count, z * z / count
    middle = (share + square / 2) / (1 + square)
    half = z * math.sqrt(share * (1 - share) / count + square / count / 4) / (1 + square)
    return max(0.0, middle - half), min(1.0, middle + half)


def percent(share):
    return "-" if share is None else f"{100 * share:.0f} %"


def share_text(hits, count):
    if not count:
        return "-"
    low, high = wilson(hits, count)
    return f"{100 * hits / count:.0f} % ({100 * low:.0f} to {100 * high:.0f})"


def table(head, rows):
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head)] +
                     ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |"
                      for row in rows])


def judged(rows, truths):
    """The rows of programs that truth.txt has, each with its `truth`, `outcome`, `said` and
    `confidence`; a run without an answer has the outcome `failed`."""
    found = []
    for row in rows:
        truth = truths.get(row["program"])
        if not truth:
            continue
        row = dict(row, truth=truth, outcome="failed", said=row["error"], confidence=None)
        if not row["error"]:
            answer = row["answer"]
            row.update(outcome=judge(truth, answer), said=said_of(answer),
                       confidence=answer.get("confidence") or "none")
        found.append(row)
    return found


def counts_of(rows):
    return collections.Counter(row["outcome"] for row in rows)


def by_load(rows):
    """(name, rows) of each load that there are answers of, then of all when there are several."""
    groups = {load: [row for row in rows if row["load"] == load] for load in LOADS}
    found = [(load, part) for load, part in groups.items() if part]
    return found + [("all", rows)] * (len(found) > 1)


def runs(rows, count, rounds):
    """What was run: how many of how many, and how quiet it was."""
    loads = [load for load in LOADS
             if load in USUAL or any(row["load"] == load for row in rows)]
    lines = []
    for load in loads:
        part = [row for row in rows if row["load"] == load]
        others = [row["others_share"] for row in part]
        seconds = [row["seconds"] for row in part if row["seconds"] is not None]
        lines.append((load, f"{len(part)} of {count * rounds}",
                      f"{percent(statistics.median(others))} ({percent(max(others))})"
                      if others else "-",
                      f"{statistics.median(seconds):.0f} ({max(seconds):.0f})" if seconds else "-"))
    return table(("load", "runs", "CPUs used by others, median (most)", "seconds, median (most)"),
                 lines)


def first_answers(rows):
    """Of all runs, also of those without an answer."""
    lines = []
    for load, part in by_load(rows):
        counts = counts_of(part)
        lines.append((load, len(part), share_text(counts["right"], len(part)),
                      percent(ASKED_OF_LOAD.get(load)),
                      *(counts[outcome] for outcome in TITLES if outcome != "right")))
    return table(("load", "runs", "right", "asked",
                  *(title for outcome, title in TITLES.items() if outcome != "right")), lines)


def by_confidence(rows):
    """The share is that of the answers that claim something: without `too noisy`, `not measured`
    and runs without an answer."""
    lines = []
    others = {row["confidence"] for row in rows} - {*WORDS, None}
    for load, part in by_load(rows):
        for word in (*WORDS, *sorted(others)):
            own = [row for row in part if row["confidence"] == word]
            counts = counts_of(own)
            claims = len(own) - counts["too_noisy"] - counts["not_measured"]
            lines.append((load, word, len(own), *(counts[outcome] for outcome in OUTCOMES),
                          share_text(counts["right"], claims), percent(ASKED_OF_WORD.get(word))))
    return table(("load", "confidence", "answers", *(TITLES[outcome] for outcome in OUTCOMES),
                  "right of what claims something", "asked"), [line for line in lines if line[2]])


def reasons(rows):
    """Of the answers with the right place, where truth.txt knows which explanations are true."""
    lines = []
    for load, part in by_load(rows):
        counts = collections.Counter(reason(row["truth"], row["answer"]) for row in part
                                     if row["outcome"] == "right")
        lines.append((load, *(counts[word] for word in ("right", "none", "another", "blame"))))
    return table(("load", "true explanation", "none given", "another one",
                  "one, where none is true"), lines)


def has_gain(row):
    """A right answer that names the place, or what truth.txt says has the same gain: of another
    function another gain is true."""
    truth = row["truth"]
    return truth.gain is not None and row["outcome"] == "right" and \
        plain(row["answer"].get("function")) in truth.same_gain


def coverage(rows):
    lines = []
    for load, part in by_load(rows):
        told = [(row["truth"].gain, row["answer"]) for row in part if has_gain(row)]
        held = [(gain, answer["gain_all_lo"], answer["gain_all_hi"], answer["gain_all"])
                for gain, answer in told
                if None not in (answer["gain_all"], answer["gain_all_lo"], answer["gain_all_hi"])]
        inside = sum(low <= gain <= high for gain, low, high, _ in held)
        widths = [high - low for _, low, high, _ in held]
        away = [abs(gain - said) for gain, _, _, said in held]
        lines.append((load, len(told), len(held), share_text(inside, len(held)),
                      sum(gain < low for gain, low, _, _ in held),
                      sum(gain > high for gain, _, high, _ in held),
                      f"{100 * statistics.median(widths):.0f}" if widths else "-",
                      f"{100 * statistics.median(away):.0f}" if away else "-"))
    return table(("load", "right answers with a known gain", "with bounds", "bounds hold it",
                  "promised too much", "promised too little", "median width, points",
                  "median error, points"), lines)


def not_right(rows):
    """Every answer that is not right; the surest first, the rounds that say the same together."""
    groups = collections.defaultdict(list)
    for row in rows:
        if row["outcome"] != "right":
            word = row["confidence"]
            order = WORDS.index(word) if word in WORDS else len(WORDS)
            groups[order, row["program"], list(LOADS).index(row["load"]), row["outcome"],
                   row["said"]].append(row)
    lines = []
    for (_, program, *_), same in sorted(groups.items()):
        one = same[0]
        gains = [row["answer"]["gain_all"] for row in same
                 if not row["error"] and row["answer"].get("gain_all") is not None]
        lines.append((one["confidence"] or "-", program, one["truth"].part, one["load"],
                      ", ".join(str(row["round"]) for row in
                                sorted(same, key=lambda row: row["round"])),
                      TITLES[one["outcome"]], one["said"], one["truth"].place or "none",
                      percent(statistics.median(gains) if gains else None),
                      percent(one["truth"].gain)))
    return table(("confidence", "program", "part", "load", "rounds", "what it is", "named",
                  "right is", "gain promised", "true gain of the place"), lines)


def parts_of(rows):
    """(title, rows): all, the half that may be fitted to, and the half that may not."""
    yield "all programs", rows
    for part in PARTS:
        yield f"`{part}`", [row for row in rows if row["truth"].part == part]
    yield ("`check`, only the new programs (the rules had not seen these)",
           [row for row in rows if row["truth"].part == "check"
            and row["truth"].which == "calibration"])


def versions_of(rows):
    counts = collections.Counter((row["commit"] or "unknown", row["tool"], row["budget"],
                                  row["machine"]) for row in rows)
    return "; ".join(f"{count} runs by commit {commit} (program {tool}), budget {budget}, {machine}"
                     for (commit, tool, budget, machine), count in sorted(counts.items()))


def report(rows, truths, rounds):
    """All of it, from the rows of keep.read()."""
    rows = judged(rows, truths)
    loads = {row["load"] for row in rows} | set(USUAL)
    rounds = max([rounds, *(row["round"] for row in rows)])
    whole = len(truths) * len(loads) * rounds
    busy = sum(row["load"] == "idle" and row["others_share"] > NOT_IDLE for row in rows)
    yield "# Calibration of `assay run`"
    yield ("Written by `bench/calibration/tables.py`; what was asked and how to read it: "
           "[README.md](../README.md#calibration).")
    yield (f"**{len(rows)} of {whole} runs** ({len(truths)} programs, {len(loads)} loads, {rounds} "
           f"rounds{'' if len(rows) == whole else ': incomplete'}). {versions_of(rows)}.")
    yield runs(rows, len(truths), rounds)
    if busy:
        yield (f"**{busy} idle runs were not idle**: other programs used more than "
               f"{percent(NOT_IDLE)} of the CPUs.")
    for title, own in parts_of(rows):
        if own:
            yield f"## First answer: {title}\n\n{first_answers(own)}"
            yield f"By confidence:\n\n{by_confidence(own)}"
    yield f"## Explanations of right places\n\n{reasons(rows)}"
    yield f"## Gain when all of the work is gone, against the measured one\n\n{coverage(rows)}"
    yield f"## Answers that are not right\n\n{not_right(rows)}"


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    truths = {truth.name: truth for truth in programs()}
    print("\n\n".join(report(keep.read(options.folder).values(), truths, options.rounds)))


if __name__ == "__main__":
    main()
