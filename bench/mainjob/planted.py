#!/usr/bin/env python3
"""planted.py [BUILD] [PROGRAM...] - does `assay run` name the planted bottleneck first?

Runs the main job on tests/workloads/planted and clean, or with --set heldout on the programs of
bench/mainjob/heldout, and holds its answer against truth.txt: the place that is named first, the
explanations that are supported, and that nothing is blamed in a clean program.  Also told: how long
it took against its budget and against its own plan.

    --budget TIME  60s     --rounds N  1     --keep DIR  (keep the evidence there)
    --set planted|heldout"""
import argparse
import os
import shutil
import tempfile

from truth_table import NO_BLAME, TRUTH, plain, program_of, run, truths


def judge(data, supported, first, never):
    """What is wrong with the answer; nothing: it is right."""
    wrong = []
    answer = data["answer"]
    names = {row["hypothesis"] for row in data["ledger"] if row["verdict"] == "supports"}
    said = plain(answer.get("function")) or answer.get("hypothesis") or answer["kind"]
    if supported == ["-"]:
        if names - NO_BLAME:
            wrong.append(f"blames {', '.join(sorted(names - NO_BLAME))}")
    elif not names & set(supported):
        verdicts = {row["hypothesis"]: row["verdict"] for row in data["ledger"]}
        wrong.append(f"{supported[0]} is {verdicts.get(supported[0], 'not there')}")
    right_place = "*" in first or said in first
    right_cause = answer.get("hypothesis") in supported
    if not right_place and not right_cause:
        wrong.append(f"names {said}")
    if said in never:
        wrong.append(f"names {said}, which must not be")
    return wrong


def row_of(program, data, seconds, wrong):
    """One line of the table."""
    names = sorted(row["hypothesis"] for row in data["ledger"] if row["verdict"] == "supports")
    planned = sum(row["seconds"] or 0 for row in data["plan"])
    answer = data["answer"]
    return (f"| {program} | {plain(answer.get('function'))} {answer.get('location') or ''} "
            f"{answer.get('hypothesis') or ''} {answer['gain'] and round(answer['gain'], 3)}"
            f" | {', '.join(names)} | {seconds:.0f}, {planned:.0f} | {'; '.join(wrong) or 'yes'} |")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("build", nargs="?", default="build")
    parser.add_argument("programs", nargs="*")
    parser.add_argument("--budget", default="60s")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--keep")
    parser.add_argument("--set", choices=TRUTH, default="planted", dest="which")
    options = parser.parse_intermixed_args()
    build = os.path.abspath(options.build)
    right = total = 0
    print("| program | first answer | supported | seconds, plan | right |\n|---|---|---|---|---|")
    for program, supported, first, never in truths(TRUTH[options.which]):
        name = os.path.splitext(os.path.basename(program))[0]
        if options.programs and name not in options.programs:
            continue
        path = program_of(build, options.which, program)
        if not path:
            print(f"| {program} | not run: no compiler for it here | | | |")
            continue
        for _ in range(options.rounds):
            folder = tempfile.mkdtemp()
            data, seconds = run(os.path.join(build, "assay"), path, options.budget, folder)
            wrong = judge(data, supported, first, never)
            print(row_of(program, data, seconds, wrong), flush=True)
            total, right = total + 1, right + (not wrong)
            if options.keep:
                shutil.copytree(os.path.join(folder, "assay-out"),
                                os.path.join(options.keep, program.replace("/", "-")),
                                symlinks=True, dirs_exist_ok=True)
            shutil.rmtree(folder)
    print(f"\n{right} of {total} right")


main()
